//! `removed` and `import` blocks against what is declared.

use std::collections::HashMap;

use groma_address::ModulePath;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};

use crate::decode::place;
use crate::model::{Import, Module, Removed, RemovedFrom};

/// Checks the blocks of `module`.
pub(super) fn check(module: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    for removed in &module.removed {
        diagnostics.append(still_there(module, removed));
    }
    check_imports(module, sources, diagnostics);
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

fn static_target(import: &Import) -> Option<String> {
    let traversal = import.to_expression.as_traversal()?;
    Some(groma_lang::traversal_text(&traversal))
}
