//! Arguments that are not there because their names are misspelt.

use groma_diagnostics::{Diagnostic, Span, suggest};

use crate::model::Module;

/// `problem`, which is that the resource around its place in `module` has no `argument`: nothing new where the name of one that it has may
/// be that one misspelt, and is told for it.
#[must_use]
pub fn unless_misspelt(problem: Diagnostic, module: &Module, argument: &str) -> Diagnostic {
    match problem.subject.and_then(|place| misspelt(module, place, argument)) {
        Some(name) => problem.provided(name),
        None => problem,
    }
}

fn misspelt(module: &Module, place: Span, argument: &str) -> Option<Span> {
    let mut bodies = module.resources.values().map(|resource| &resource.body);
    let body = bodies.find(|body| body.span().start() <= place.start() && place.end() <= body.span().end())?;
    let (arguments, _) = body.attributes();
    let mut names = arguments.iter().map(|argument| &argument.name);
    names.find(|name| suggest(&name.name, [argument]).is_some()).map(|name| name.span)
}
