//! Checks of `removed` and `import` blocks against the declarations.

use std::collections::HashMap;

use groma_address::ModulePath;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::{Expression, ExpressionKind, LiteralKey, Step};

use crate::decode::location_text;
use crate::model::{Import, ImportIdentity, Module, Removed, RemovedFrom, Resource};
use crate::options::References;

/// Checks the refactoring blocks of `module`.
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

/// Warns about an import block in a child module, which has no effect: only the caller knows the existing objects.
fn not_in_root(import: &Import) -> Diagnostic {
    Diagnostic::warning(
        "Import block is ignored",
        "Import blocks have an effect in the root module only, but this one is in a child module. Move it to the root module, with the \
         module path in front of the address: module.NAME.TYPE.NAME.",
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
            format!("A removed block refers to {name}, which is still declared here. Remove one of the two blocks."),
        )
        .at(declared),
    )
}

fn descendant<'a>(module: &'a Module, path: &ModulePath) -> Option<&'a Module> {
    path.steps().iter().try_fold(module, |module, name| module.children.get(name).map(AsRef::as_ref))
}

/// Checks import blocks, and reports duplicate targets as far as their keys are constant.
fn check_imports(module: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    let mut seen: HashMap<String, Span> = HashMap::new();
    for import in &module.imports {
        diagnostics.append(needless_provider(module, import));
        diagnostics.append(unfit_key(module, import));
        diagnostics.append(self_reference(import));
        // Keys that need evaluation are unknown here, so such targets are not compared.
        let Some(target) = static_target(import) else { continue };
        let Some(first) = seen.insert(target.clone(), import.span) else { continue };
        diagnostics.push(
            Diagnostic::error(
                format!("Duplicate import configuration for \"{}\"", import.to),
                format!(
                    "{target} is already imported at {}. Remove one of the two blocks.",
                    location_text(sources, first)
                ),
            )
            .at(import.to_expression.span),
        );
    }
}

/// Reports an identification that refers to the resource being imported, which is unknown before the import.
fn self_reference(import: &Import) -> Vec<Diagnostic> {
    let (ImportIdentity::Id(identity) | ImportIdentity::Identity(identity)) = &import.identity;
    let argument = if matches!(import.identity, ImportIdentity::Id(_)) { "id" } else { "identity" };
    let arguments = [
        Some((format!("Invalid import {argument} argument"), identity)),
        import.for_each.as_ref().map(|for_each| ("Invalid for_each argument".to_owned(), for_each)),
    ];
    let wrong = arguments.into_iter().flatten().filter(|(_, expression)| import.names_target(expression));
    let diagnostics = wrong.map(|(summary, expression)| {
        let detail =
            format!("This refers to {}, the object being imported, which is unknown before the import.", import.to);
        Diagnostic::error(summary, detail).at(expression.span)
    });
    diagnostics.collect()
}

fn static_target(import: &Import) -> Option<String> {
    let traversal = import.to_expression.as_traversal()?;
    Some(groma_lang::traversal_text(&traversal))
}

/// Reports a `provider` argument for a declared resource; it is only for resources without a block.
fn needless_provider(module: &Module, import: &Import) -> Option<Diagnostic> {
    let provider = import.provider.as_ref()?;
    let declared = target(module, import)?;
    // An argument that repeats the provider of the resource is redundant, but not wrong.
    if declared.provider.as_ref().is_some_and(|own| own.provider == provider.provider) {
        return None;
    }
    Some(
        Diagnostic::error(
            "Invalid import provider argument",
            format!(
                "{} is declared, and its own block selects the provider. Remove this argument, which is only for imports that generate \
                 configuration.",
                import.to
            ),
        )
        .at(provider.span),
    )
}

/// Reports a constant instance key that the resource cannot have.
fn unfit_key(module: &Module, import: &Import) -> Option<Diagnostic> {
    let declared = target(module, import)?;
    let key = Key::of(&import.to_expression);
    let (to, repeats) = (&import.to, (declared.count.is_some(), declared.for_each.is_some()));
    let detail = match (repeats, key) {
        ((false, false), Some(_)) => {
            format!("{to} has neither \"count\" nor \"for_each\", so it has only one instance. Remove the index.")
        }
        ((true, _), None | Some(Key::Text)) => {
            format!("{to} has \"count\", so its instances have numeric keys. Add an index, for example {to}[0].")
        }
        ((_, true), None | Some(Key::Number)) => {
            format!("{to} has \"for_each\", so its instances have string keys. Add a key, for example {to}[\"a\"].")
        }
        _ => return None,
    };
    Some(Diagnostic::error("Invalid import 'to' expression", detail).at(import.to_expression.span))
}

/// The instance key at the end of an address.
#[derive(Clone, Copy)]
enum Key {
    Number,
    Text,
    /// An expression that may yield a number or a string.
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
            // The steps after an evaluated module key.
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
