//! Checks before anything is planned: references to undeclared objects, module calls
//! that do not match, missing provider configurations, unknown backends.

mod backend;
mod calls;
mod describe;
pub(crate) mod discarded;
mod misspelt;
mod named;
mod object;
mod outputs;
mod overrides;
mod own_providers;
mod provider_instances;
mod providers;
mod refactoring;
mod reference;
mod test_providers;
mod walk;

pub use backend::UNSUPPORTED_BACKEND;
pub use calls::{DEPRECATED_VARIABLE, deprecated_variable};
pub use misspelt::unless_misspelt;
pub use overrides::check_overrides;
pub(crate) use reference::undeclared_value;
pub(crate) use test_providers::check as check_test_providers;

use std::collections::HashSet;
use std::path::Path;

use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Sources, Span};
use groma_hcl::{Expression, Traversal};
use groma_lang::Shelter;

use self::object::Place;
use self::walk::Presence;
use crate::configuration::{DeepReference, Soundness};
use crate::model::Module;
use crate::options::References;

/// Checks `root` and all modules below it, of whose provider blocks something uses those in `used`, and says what it is good for, and which references schemas can tell more about.
///
/// Commands that evaluate nothing (to install modules, or to list them) accept undeclared names, including those of
/// backends, unless they open a state, and of provider configurations: the directory may be a module that others call.
pub(crate) fn check(
    root: &Module,
    references: References,
    used: &HashSet<Span>,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> (Soundness, Vec<DeepReference>) {
    // Which providers modules mean is known only of what could be read.
    let is_read = !diagnostics.has_errors();
    let mut deep = Vec::new();
    let mut names = Diagnostics::new();
    let mut others = Diagnostics::new();
    // What is wrong inside a folder is said once, however many modules are made of it.
    let mut folders: HashSet<&Path> = HashSet::new();
    let certain = certain_folders(root);
    let mut rest = vec![root];
    while let Some(module) = rest.pop() {
        if folders.insert(&module.directory) {
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
            // As in Terraform, installing modules does not report deprecated uses.
            calls::check_deprecated(module, &mut others);
        }
        rest.extend(module.children.values().rev().map(AsRef::as_ref));
    }
    if references == References::Checked {
        outputs::check(root, &mut names);
    }
    let mut passed_on = Diagnostics::new();
    if is_read {
        providers::check(root, &mut passed_on);
    }
    let are_providers_clear = is_read && !passed_on.has_errors();
    others.append(passed_on);
    if references != References::LeftAlone {
        backend::check(root, &mut others);
    }
    if references == References::Checked && are_providers_clear {
        providers::check_resources(root, &mut others);
    }
    provider_instances::check(root, sources, &mut others);
    let soundness = match (names.has_errors(), others.has_errors()) {
        (_, true) => Soundness::Flawed,
        (true, false) => Soundness::WrongNames,
        (false, false) => Soundness::Sound,
    };
    diagnostics.append(names);
    diagnostics.append(others);
    (soundness, deep)
}

/// The folders of which modules are made whatever the values are.
fn certain_folders(root: &Module) -> HashSet<&Path> {
    let mut folders = HashSet::new();
    let mut rest = vec![root];
    while let Some(module) = rest.pop() {
        folders.insert(&*module.directory);
        let calls = module.calls.values().filter(|call| call.is_always_there());
        rest.extend(calls.filter_map(|call| module.children.get(&call.name)).map(AsRef::as_ref));
    }
    folders
}

/// Checks the references in an expression of `module` outside of all blocks.
pub fn check_references(module: &Module, expression: &Expression) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    walk::check_expression(module, expression, &mut diagnostics);
    diagnostics
}

/// Checks a reference in a block of `module` independently of values. The meaning of `count`, `each` and `self` there is checked
/// separately, and so are function calls.
pub fn check_reference(module: &Module, traversal: &Traversal) -> Option<Diagnostic> {
    let place = Place { shelter: Shelter::Some, ..Place::of_any_object() };
    walk::problem(module, traversal, &place)
}

/// Checks references in provider blocks. Terraform ignores a block that nothing uses: errors in it are warnings here.
fn check_providers(
    module: &Module,
    used: &HashSet<Span>,
    deep: &mut Vec<DeepReference>,
    diagnostics: &mut Diagnostics,
) {
    for block in module.providers.values() {
        // How many there are is worked out whether something uses them or not.
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
