//! Arguments that are not there because their names are misspelt.

use groma_diagnostics::{Diagnostic, Span, suggest};
use groma_hcl::{Attribute, Body};

use crate::model::Module;

/// `problem`, which is that the resource or the module call around its place in `module` has no `argument`: nothing new where the name of
/// Adds a suggestion to `problem` if an existing argument may be the one that is meant.
#[must_use]
pub fn unless_misspelt(problem: Diagnostic, module: &Module, argument: &str) -> Diagnostic {
    match problem.subject.and_then(|place| Culprit::of(module, place, argument)) {
        Some(Culprit::OfResource(name) | Culprit::OfCall(name)) => problem.provided(name),
        None => problem,
    }
}

/// Returns `problem` with a suggestion; `None` for a module call with such an argument, which the checks of calls report.
pub(super) fn unless_told(problem: Diagnostic, module: &Module, argument: &str) -> Option<Diagnostic> {
    match problem.subject.and_then(|place| Culprit::of(module, place, argument)) {
        Some(Culprit::OfResource(name)) => Some(problem.provided(name)),
        Some(Culprit::OfCall(_)) => None,
        None => Some(problem),
    }
}

/// `problem`, which is that no provider block `name` of the module has the alias that is wanted: nothing new where the name of an argument
/// that one has may be `alias` misspelt.
pub(super) fn unless_alias_misspelt(problem: Diagnostic, module: &Module, name: &str) -> Diagnostic {
    let blocks = module.providers.values().filter(|block| &*block.provider.name == name);
    match blocks.filter_map(|block| misspelt(&block.body, "alias", |_| true)).next() {
        Some(argument) => problem.provided(argument),
        None => problem,
    }
}

/// The name of an argument that may be another one misspelt.
enum Culprit {
    OfResource(Span),
    OfCall(Span),
}

impl Culprit {
    /// Finds an existing name like `argument` in the block of `module` around `place`.
    fn of(module: &Module, place: Span, argument: &str) -> Option<Self> {
        let call = module.calls.values().find(|call| holds(&call.body, place));
        match call.and_then(|call| Some((call, module.children.get(&call.name)?))) {
            Some((call, child)) => {
                let is_foreign = |given: &Attribute| !child.variables.contains_key(&given.name.name);
                misspelt(&call.body, argument, is_foreign).map(Self::OfCall)
            }
            None => misspelt(around(module, place)?, argument, |_| true).map(Self::OfResource),
        }
    }
}

/// The resource around a place.
fn around(module: &Module, place: Span) -> Option<&Body> {
    // Those of a file are in the order of its text, so that the one before the place is mostly it.
    let after = module.resources.partition_point(|_, resource| resource.body.span().start() <= place.start());
    let before = after.checked_sub(1).and_then(|at| module.resources.get_index(at));
    let near = before.map(|(_, resource)| &resource.body).filter(|body| holds(body, place));
    near.or_else(|| module.resources.values().map(|resource| &resource.body).find(|body| holds(body, place)))
}

fn holds(body: &Body, place: Span) -> bool {
    body.span().start() <= place.start() && place.end() <= body.span().end()
}

/// The name of an argument that may be `argument` misspelt, of those that `may_be`.
fn misspelt(body: &Body, argument: &str, may_be: impl Fn(&Attribute) -> bool) -> Option<Span> {
    let (arguments, _) = body.attributes();
    let mut given = arguments.iter().filter(|given| may_be(given));
    given.find(|given| suggest(&given.name.name, [argument]).is_some()).map(|given| given.name.span)
}
