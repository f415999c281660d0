//! References to whole objects: in `depends_on`, and to the actions of triggers.

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Expression, ExpressionKind, Step, Traversal};
use groma_lang::{Reference, parse_reference};

use super::object::Place;
use super::reference;
use crate::model::Module;

/// Checks that the objects of `depends_on` exist and are named as a whole.
pub(super) fn depends_on(module: &Module, references: &[Traversal], diagnostics: &mut Diagnostics) {
    for written in references {
        let referenced = match parse_reference(written) {
            Ok(referenced) => referenced,
            Err(_) if &*written.root.name == "action" => {
                let detail = "An action is invoked by what happens to a resource; nothing waits for it. Take it out of the list.";
                let problem = Diagnostic::error("Invalid depends_on Action Reference", detail);
                diagnostics.push(problem.at(written.span));
                continue;
            }
            Err(problem) => {
                diagnostics.push(problem);
                continue;
            }
        };
        let mut whole = referenced.clone();
        whole.rest.clear();
        // What comes of a module may be named by its output, and nobody asks for which instances.
        let allowed = usize::from(matches!(referenced.target, Reference::Module(_)));
        if allowed > 0 {
            whole.key = None;
        }
        diagnostics.append(reference::problem(module, &Place::default(), written, &whole));
        if let Some(step) = referenced.rest.get(allowed) {
            let part = match step {
                Step::Attribute { name, .. } => format!(".{name}"),
                Step::Index { .. } => "the index".to_owned(),
            };
            let detail = format!(
                "depends_on names whole objects, such as a resource or a module, not what is in them. Leave {part} out."
            );
            diagnostics.push(Diagnostic::error("Invalid depends_on reference", detail).at(step.span()));
        }
    }
}

/// Checks an element of a trigger's `actions`: an existing `action.TYPE.NAME`, with an optional key.
pub(super) fn action(module: &Module, expression: &Expression) -> Option<Diagnostic> {
    let named = match &expression.kind {
        ExpressionKind::Index(index) => &index.source,
        _ => expression,
    };
    let traversal = named.as_traversal();
    let names = traversal.as_ref().map(|traversal| (&*traversal.root.name, traversal.steps()));
    let is_value = matches!(named.kind, ExpressionKind::String(_) | ExpressionKind::Null | ExpressionKind::Bool(_));
    let summary = match names {
        _ if is_value => "No actions specified",
        Some(("action", [Step::Attribute { name: type_name, .. }, Step::Attribute { name, .. }, ..])) => {
            if module.actions.contains_key(&(type_name.clone(), name.clone())) {
                return None;
            }
            "action_trigger actions references non-existent action"
        }
        Some(("action", _)) => "Invalid reference",
        Some(("module", _)) => "Invalid reference to action outside this module",
        Some(_) => "Invalid action argument inside action_triggers",
        None => "No actions specified",
    };
    let detail = "Each element of \"actions\" names an action block of this module, without quotes: action.TYPE.NAME.";
    Some(Diagnostic::error(summary, detail).at(expression.span))
}
