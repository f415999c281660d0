//! Output values: their preconditions, and what others get to see.

use std::sync::Arc;

use groma_address::DeprecationOrigin;
use groma_config::Output;
use groma_diagnostics::{Diagnostic, Severity};
use groma_lang::observing;
use groma_value::{Deprecation, Marks, Value};

use super::values::{Evaluation, names};
use crate::checks::{Checkable, Verdict, judge};
use crate::deprecation::report_deprecation;
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, World};

impl Evaluation {
    /// An output value of a module instance.
    pub fn output(&mut self, world: &mut World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((name, output)) = config.outputs.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.functions);
        let scope = InstanceScope::new(world, module, &functions);
        let (config_address, object) = names(world, module, &format!("output.{name}"));
        let mut holds = true;
        for rule in &output.preconditions {
            let verdict = judge(Checkable::Output, rule, &scope, &mut self.diagnostics);
            self.checks.report(Checkable::Output, config_address.clone(), object.clone(), &verdict);
            match verdict {
                Verdict::Fail(message) => {
                    let problem = self.unmet("Module output value precondition failed", message, rule);
                    self.diagnostics.push(observing(problem, &rule.condition, &scope));
                    holds &= self.unmet != Severity::Error;
                }
                Verdict::Error => holds = false,
                Verdict::Pass | Verdict::Unknown => {}
            }
        }
        if !holds {
            return Outcome::Failed;
        }
        let Some(value) = self.value(&output.expression, &scope) else { return Outcome::Failed };
        let Some(value) = self.publish(output, value, world, module) else {
            return Outcome::Failed;
        };
        world.module_mut(module).outputs[at as usize] = Some(value);
        Outcome::Done
    }

    /// An output's value as those outside see it; none when it must not be seen there.
    fn publish(&mut self, output: &Output, value: Value, world: &World, module: ModuleId) -> Option<Value> {
        let caller = world.module(module).caller;
        // Of what is deprecated itself it is no news that it uses such things.
        let mut value = match output.deprecated {
            None => report_deprecation(value, &output.expression, &mut self.diagnostics),
            Some(_) => value.without_deprecations(),
        };
        if let Some(constraint) = &output.constraint {
            value = match constraint.convert(&value) {
                Ok(converted) => converted,
                Err(problem) => {
                    let detail = format!(
                        "The value does not have the type of the output \"{}\": {}.",
                        output.name, problem.message
                    );
                    self.diagnostics.push(Diagnostic::error("Invalid output value", detail).at(output.expression.span));
                    return None;
                }
            };
        }
        if caller.is_none() && value.has_infinity() {
            self.diagnostics.push(super::values::infinite().at(output.expression.span));
            return None;
        }
        let marks = value.deep_marks();
        if caller.is_none() && !output.sensitive && marks.is_sensitive() {
            let detail = "This output of the root module contains sensitive data, and outputs are visible to other \
             users. If this is intended, add this argument to the output block, which also hides the value on the \
             terminal:\n    sensitive = true\n\nOtherwise, remove the sensitive part from the expression.";
            self.diagnostics.push(Diagnostic::error("Output refers to sensitive values", detail).at(output.span));
            return None;
        }
        if !output.ephemeral && marks.is_ephemeral() {
            let detail = "The value is derived from an ephemeral value, but the output is not ephemeral, so its \
             value would be stored in the state. Use a value that is not ephemeral. Outputs of child modules can \
             also be declared with \"ephemeral = true\".";
            self.diagnostics.push(Diagnostic::error("Ephemeral value not allowed", detail).at(output.expression.span));
            return None;
        }
        Some(marked_as_declared(value, output, world, module))
    }
}

/// With the marks that an output of the module gives to whatever its value is.
pub fn marked_as_declared(mut value: Value, output: &Output, world: &World, module: ModuleId) -> Value {
    if output.sensitive {
        value = value.with_marks(&Marks::SENSITIVE);
    }
    if output.ephemeral {
        value = value.with_marks(&Marks::EPHEMERAL);
    }
    if let (Some(message), Some(caller)) = (&output.deprecated, world.module(module).caller)
        && world.tells_deprecations(caller)
    {
        let path = world.static_module(module).path().clone();
        let origin = DeprecationOrigin::Output { module: path, name: output.name.clone() };
        value = value.with_marks(&Marks::deprecated(Deprecation { message: message.clone(), origin }));
    }
    value
}
