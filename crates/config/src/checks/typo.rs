//! Diagnostics about missing arguments that may be misspelled.

use groma_diagnostics::{Diagnostic, Span, suggest};
use groma_hcl::{Attribute, Body};

use crate::model::Module;

/// Attributes `problem`, the missing `argument` of the enclosing resource or module call, to a similarly named
/// argument: if that one is reported as unknown, `problem` is redundant.
#[must_use]
pub fn attribute_to_typo(problem: Diagnostic, module: &Module, argument: &str) -> Diagnostic {
    match problem.subject.and_then(|span| Typo::of(module, span, argument)) {
        Some(Typo::InResource(name) | Typo::InCall(name)) => problem.depending_on(name),
        None => problem,
    }
}

/// Attributes `problem` to a similarly named argument like [`attribute_to_typo`], but drops it for module calls, whose
/// own checks report the argument.
pub(super) fn attribute_to_typo_in_resource(
    problem: Diagnostic,
    module: &Module,
    argument: &str,
) -> Option<Diagnostic> {
    match problem.subject.and_then(|span| Typo::of(module, span, argument)) {
        Some(Typo::InResource(name)) => Some(problem.depending_on(name)),
        Some(Typo::InCall(_)) => None,
        None => Some(problem),
    }
}

/// Attributes `problem`, a missing alias of the provider `name`, to an argument of its blocks that may be a misspelled
/// `alias`.
pub(super) fn attribute_to_alias_typo(problem: Diagnostic, module: &Module, name: &str) -> Diagnostic {
    let blocks = module.providers.values().filter(|block| &*block.provider.name == name);
    match blocks.filter_map(|block| find_typo(&block.body, "alias", |_| true)).next() {
        Some(argument) => problem.depending_on(argument),
        None => problem,
    }
}

/// Span of an argument name that may be a misspelling of another one.
enum Typo {
    InResource(Span),
    InCall(Span),
}

impl Typo {
    /// Finds a possible misspelling of `argument` in the block that contains `span`.
    fn of(module: &Module, span: Span, argument: &str) -> Option<Self> {
        let call = module.calls.values().find(|call| holds(&call.body, span));
        match call.and_then(|call| Some((call, module.children.get(&call.name)?))) {
            Some((call, child)) => {
                let is_foreign = |given: &Attribute| !child.variables.contains_key(&given.name.name);
                find_typo(&call.body, argument, is_foreign).map(Self::InCall)
            }
            None => find_typo(enclosing(module, span)?, argument, |_| true).map(Self::InResource),
        }
    }
}

/// Returns the body of the resource that contains `span`.
fn enclosing(module: &Module, span: Span) -> Option<&Body> {
    // Resources of a file are in source order, so the last one that starts before the span usually contains it.
    let after = module.resources.partition_point(|_, resource| resource.body.span().start() <= span.start());
    let before = after.checked_sub(1).and_then(|at| module.resources.get_index(at));
    let near = before.map(|(_, resource)| &resource.body).filter(|body| holds(body, span));
    near.or_else(|| module.resources.values().map(|resource| &resource.body).find(|body| holds(body, span)))
}

fn holds(body: &Body, span: Span) -> bool {
    body.span().start() <= span.start() && span.end() <= body.span().end()
}

/// Returns the name of an argument similar to `argument`, among those that `may_be` accepts.
fn find_typo(body: &Body, argument: &str, may_be: impl Fn(&Attribute) -> bool) -> Option<Span> {
    let (arguments, _) = body.attributes();
    let mut given = arguments.iter().filter(|given| may_be(given));
    given.find(|given| suggest(&given.name.name, [argument]).is_some()).map(|given| given.name.span)
}
