//! `removed` and `import` blocks against what is declared.

use std::collections::HashMap;

use groma_address::ModulePath;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::{Expression, ExpressionKind, LiteralKey, Step};

use crate::decode::place;
use crate::model::{Import, ImportIdentity, Module, Removed, RemovedFrom, Resource};
use crate::options::References;

/// Checks the blocks of `module`.
pub(super) fn check(module: &Module, references: References, sources: &Sources, diagnostics: &mut Diagnostics) {
    if references == References::Checked {
        diagnostics.append(module.removed.iter().filter_map(|removed| still_there(module, removed)));
    }
    if module.path.is_root() {
        check_imports(module, sources, diagnostics);
    } else {
        diagnostics.append(module.imports.iter().map(not_in_root));
    }
}

/// Warns of import blocks in a child module, which have no effect: only the root module knows which objects exist.
fn not_in_root(import: &Import) -> Diagnostic {
    Diagnostic::warning(
        "Import block is ignored",
        "Import blocks count in the root module only, and this one is in a module that is called. Move it there, with the steps of the \
         module before the address: module.NAME.TYPE.NAME.",
    )
    .at(import.span)
}

fn still_there(module: &Module, removed: &Removed) -> Option<Diagnostic> {
    let (what, name, declared) = match &removed.from {
        RemovedFrom::Module(path) => {
            let holder = descendant(module, &path.parent()?)?;
            ("module", path.to_string(), holder.calls.get(path.steps().last()?)?.span)
        }
        RemovedFrom::Resource(resource) => {
            let holder = descendant(module, &resource.module)?;
            ("resource", resource.to_string(), holder.resources.get(&resource.resource)?.header_span)
        }
    };
    Some(
        Diagnostic::error(
            format!("Removed {what} still exists"),
            format!("A removed block says that {name} is gone, and here it is declared. Remove one of the two blocks."),
        )
        .at(declared),
    )
}

fn descendant<'a>(module: &'a Module, path: &ModulePath) -> Option<&'a Module> {
    path.steps().iter().try_fold(module, |module, name| module.children.get(name).map(AsRef::as_ref))
}

/// An object is imported once. Only addresses that are written out can be compared here.
fn check_imports(module: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    let mut seen: HashMap<String, Span> = HashMap::new();
    for import in &module.imports {
        diagnostics.append(needless_provider(module, import));
        diagnostics.append(unfit_key(module, import));
        diagnostics.append(stands_on_itself(import));
        let Some(target) = static_target(import) else { continue };
        let Some(first) = seen.insert(target.clone(), import.span) else { continue };
        diagnostics.push(
            Diagnostic::error(
                format!("Duplicate import configuration for \"{}\"", import.to),
                format!("{target} is imported at {} already. Remove one of the two blocks.", place(sources, first)),
            )
            .at(import.to_expression.span),
        );
    }
}

/// Checks that an import's identifier does not depend on the imported object.
fn stands_on_itself(import: &Import) -> Vec<Diagnostic> {
    let (ImportIdentity::Id(identity) | ImportIdentity::Identity(identity)) = &import.identity;
    let argument = if matches!(import.identity, ImportIdentity::Id(_)) { "id" } else { "identity" };
    let arguments = [
        Some((format!("Invalid import {argument} argument"), identity)),
        import.for_each.as_ref().map(|for_each| ("Invalid for_each argument".to_owned(), for_each)),
    ];
    let wrong = arguments.into_iter().flatten().filter(|(_, expression)| import.names_target(expression));
    let told = wrong.map(|(summary, expression)| {
        let detail = format!("This refers to {}, which is what is imported: it is not known before that.", import.to);
        Diagnostic::error(summary, detail).at(expression.span)
    });
    told.collect()
}

fn static_target(import: &Import) -> Option<String> {
    let traversal = import.to_expression.as_traversal()?;
    Some(groma_lang::traversal_text(&traversal))
}

/// The provider of an import is for resources that have no block yet.
fn needless_provider(module: &Module, import: &Import) -> Option<Diagnostic> {
    let provider = import.provider.as_ref()?;
    let declared = target(module, import)?;
    if declared.provider.as_ref().is_some_and(|own| own.provider == provider.provider) {
        return None;
    }
    Some(
        Diagnostic::error(
            "Invalid import provider argument",
            format!(
                "{} is declared, and its own block says which provider it uses. The argument is for imports that generate a block; \
                 remove it.",
                import.to
            ),
        )
        .at(provider.span),
    )
}

/// The key that is written out is one that the resource can have.
fn unfit_key(module: &Module, import: &Import) -> Option<Diagnostic> {
    let declared = target(module, import)?;
    let key = Key::of(&import.to_expression);
    let (to, repeats) = (&import.to, (declared.count.is_some(), declared.for_each.is_some()));
    let detail = match (repeats, key) {
        ((false, false), Some(_)) => {
            format!("{to} has neither \"count\" nor \"for_each\", so that there is only one. Remove the index.")
        }
        ((true, _), None | Some(Key::Text)) => {
            format!("{to} has \"count\", so that each of its instances has a number. Write one in brackets: {to}[0].")
        }
        ((_, true), None | Some(Key::Number)) => {
            format!(
                "{to} has \"for_each\", so that each of its instances has a text for its key. Write one in brackets: {to}[\"a\"]."
            )
        }
        _ => return None,
    };
    Some(Diagnostic::error("Invalid import 'to' expression", detail).at(import.to_expression.span))
}

/// The key of an address.
#[derive(Clone, Copy)]
enum Key {
    Number,
    Text,
    /// A count index or a for_each key, known after evaluation.
    Evaluated,
}

impl Key {
    fn of(address: &Expression) -> Option<Self> {
        let steps = match &address.without_parentheses().kind {
            ExpressionKind::Index(index) if matches!(index.key.kind, ExpressionKind::Template(_)) => {
                return Some(Self::Text);
            }
            ExpressionKind::Index(_) => return Some(Self::Evaluated),
            ExpressionKind::Traversal(traversal) => traversal.steps(),
            // Behind the key of a module that is evaluated.
            ExpressionKind::Relative(relative) => &relative.steps,
            _ => return None,
        };
        match steps.last()? {
            Step::Index { key: LiteralKey::String(_), .. } => Some(Self::Text),
            Step::Index { key: LiteralKey::Number(_), .. } => Some(Self::Number),
            Step::Attribute { .. } => None,
        }
    }
}

fn target<'a>(module: &'a Module, import: &Import) -> Option<&'a Resource> {
    descendant(module, &import.to.module)?.resources.get(&import.to.resource)
}
