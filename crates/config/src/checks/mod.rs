//! Static checks of a configuration: references to undeclared objects, invalid module calls, missing provider
//! configurations, unknown backends.

mod backend;
mod calls;
pub(crate) mod discarded;
mod expression_context;
mod named;
mod overrides;
mod own_providers;
mod provider_instances;
mod providers;
mod refactoring;
mod reference;
mod test_providers;
mod typo;
mod walk;

pub use backend::{unknown_backend, unsupported_backend};
pub use calls::deprecated_variable;
pub use overrides::check_overrides;
pub(crate) use reference::undeclared_value;
pub(crate) use test_providers::check as check_test_providers;
pub use typo::attribute_to_typo;

use std::collections::HashSet;
use std::path::Path;

use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Sources, Span};
use groma_hcl::{Expression, Traversal};
use groma_lang::ErrorHandling;

use self::expression_context::ExpressionContext;
use self::walk::Presence;
use crate::configuration::{DeepReference, LoadStatus};
use crate::model::Module;
use crate::options::References;

/// Checks `root` and its descendants. Returns the load status as far as these checks determine it, and the references
/// that only provider schemas can check.
///
/// `used` contains the provider blocks that are used; errors in others are warnings. Commands that evaluate nothing,
/// such as `init` and `get`, pass [`References::Unchecked`]: they must work with undeclared names and missing provider
/// configurations, because the directory may be a module for others to call.
pub(crate) fn check(
    root: &Module,
    references: References,
    used: &HashSet<Span>,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> (LoadStatus, Vec<DeepReference>) {
    // Source addresses of providers are unreliable if a block failed to decode.
    let is_read = !diagnostics.has_errors();
    let mut deep = Vec::new();
    // Separate lists: errors of names alone leave more operations possible (see `LoadStatus`).
    let mut names = Diagnostics::new();
    let mut others = Diagnostics::new();
    // Calls of the same directory share its blocks, so their problems are reported once.
    let mut directories: HashSet<&Path> = HashSet::new();
    let certain = certain_directories(root);
    let mut rest = vec![root];
    while let Some(module) = rest.pop() {
        if directories.insert(&module.directory) {
            if references == References::Checked {
                let presence = match certain.contains(&*module.directory) {
                    true => Presence::Certain,
                    false => Presence::Possible,
                };
                walk::check(module, presence, &mut deep, &mut names);
                check_providers(module, used, &mut deep, &mut names);
            }
            refactoring::check(module, references, sources, &mut others);
            calls::check_discarded(module, sources, &mut others);
            backend::check_called(module, sources, &mut others);
        }
        calls::check(module, &mut others);
        if references == References::Checked {
            // As in Terraform, installing modules does not report errors in their use.
            calls::check_deprecated(module, &mut others);
        }
        // Reversed, because the stack returns the last one first.
        rest.extend(module.children.values().rev().map(AsRef::as_ref));
    }
    if references == References::Checked {
        overrides::check_outputs(root, &mut names);
    }
    let mut passed_on = Diagnostics::new();
    if is_read {
        providers::check(root, &mut passed_on);
    }
    let are_providers_clear = is_read && !passed_on.has_errors();
    others.append(passed_on);
    if references != References::Unchecked {
        backend::check(root, &mut others);
    }
    if references == References::Checked && are_providers_clear {
        providers::check_resources(root, &mut others);
    }
    provider_instances::check(root, sources, &mut others);
    let status = match (names.has_errors(), others.has_errors()) {
        (_, true) => LoadStatus::Invalid,
        (true, false) => LoadStatus::InvalidReferences,
        (false, false) => LoadStatus::Complete,
    };
    diagnostics.append(names);
    diagnostics.append(others);
    (status, deep)
}

/// Returns the directories of modules that have at least one instance, independent of any value.
fn certain_directories(root: &Module) -> HashSet<&Path> {
    let mut directories = HashSet::new();
    let mut rest = vec![root];
    while let Some(module) = rest.pop() {
        directories.insert(&*module.directory);
        let calls = module.calls.values().filter(|call| call.has_single_instance());
        rest.extend(calls.filter_map(|call| module.children.get(&call.name)).map(AsRef::as_ref));
    }
    directories
}

/// Checks the references of an expression that is evaluated in `module` but not part of it, such as console input.
pub fn check_references(module: &Module, expression: &Expression) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    walk::check_expression(module, expression, &mut diagnostics);
    diagnostics
}

/// Checks a reference in a block of `module`. `count`, `each` and `self` are assumed to be available, and errors that
/// `try` can handle are not reported; evaluation detects them.
pub fn check_reference(module: &Module, traversal: &Traversal) -> Option<Diagnostic> {
    let context = ExpressionContext { error_handling: ErrorHandling::Some, ..ExpressionContext::of_any_object() };
    walk::problem(module, traversal, &context)
}

/// Checks the references of provider blocks. Terraform does not evaluate unused blocks, so their errors are warnings.
fn check_providers(
    module: &Module,
    used: &HashSet<Span>,
    deep: &mut Vec<DeepReference>,
    diagnostics: &mut Diagnostics,
) {
    for block in module.providers.values() {
        // Instances are evaluated even if the block is unused.
        if let Some(for_each) = &block.for_each {
            walk::check_provider_instances(module, for_each, diagnostics);
        }
        if used.contains(&block.span) {
            walk::check_provider(module, block, deep, diagnostics);
            continue;
        }
        let mut problems = Diagnostics::new();
        walk::check_provider(module, block, &mut Vec::new(), &mut problems);
        problems.iter_mut().for_each(|problem| problem.severity = Severity::Warning);
        diagnostics.append(problems);
    }
}
