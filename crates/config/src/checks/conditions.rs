//! Conditions that could never say anything.

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_lang::{Reference, for_each_traversal, references};

use crate::model::{Condition, Module, Resource, Variable};

/// Checks validations, preconditions, postconditions and assertions.
pub(super) fn check(module: &Module, diagnostics: &mut Diagnostics) {
    for variable in module.variables.values() {
        for validation in &variable.validations {
            check_validation(variable, validation, diagnostics);
        }
    }
    for output in module.outputs.values() {
        output.preconditions.iter().for_each(|condition| refers_to_something(condition, "precondition", diagnostics));
    }
    for resource in module.resources.values() {
        check_resource(resource, diagnostics);
    }
    for check in module.checks.values() {
        check.assertions.iter().for_each(|condition| refers_to_something(condition, "assert", diagnostics));
    }
}

fn check_validation(variable: &Variable, validation: &Condition, diagnostics: &mut Diagnostics) {
    refers_to_something(validation, "validation", diagnostics);
    let (found, _) = references(&validation.condition);
    if !found.iter().any(|reference| reference.target == Reference::Variable(variable.name.clone())) {
        diagnostics.push(
            Diagnostic::error(
                "Invalid variable validation condition",
                format!(
                    "The condition is about values of {name:?}, so it has to refer to var.{name}.",
                    name = variable.name
                ),
            )
            .at(validation.condition.span),
        );
    }
}

fn check_resource(resource: &Resource, diagnostics: &mut Diagnostics) {
    for (kind, conditions) in
        [("precondition", &resource.lifecycle.preconditions), ("postcondition", &resource.lifecycle.postconditions)]
    {
        for condition in conditions {
            refers_to_something(condition, kind, diagnostics);
            let itself = Reference::Resource(resource.address.clone());
            for expression in [&condition.condition, &condition.error_message] {
                let (found, _) = references(expression);
                if found.iter().any(|reference| reference.target == itself) {
                    let advice = if kind == "postcondition" { " Write self for the object itself." } else { "" };
                    diagnostics.push(
                        Diagnostic::error(
                            format!("Invalid reference in {kind}"),
                            format!("{} cannot be named in a condition of its own.{advice}", resource.address),
                        )
                        .at(expression.span),
                    );
                }
            }
        }
    }
}

fn refers_to_something(condition: &Condition, kind: &str, diagnostics: &mut Diagnostics) {
    let mut any = false;
    for_each_traversal(&condition.condition, &mut |_| any = true);
    if !any {
        diagnostics.push(
            Diagnostic::error(
                format!("Invalid {kind} expression"),
                "The condition refers to nothing in the configuration, so it always comes out the same and checks nothing.",
            )
            .at(condition.condition.span),
        );
    }
}
