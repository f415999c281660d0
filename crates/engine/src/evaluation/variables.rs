//! Input variables: what they are given, and the rules for that.

use std::sync::Arc;

use groma_address::Name;
use groma_config::Variable;
use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Span};
use groma_hcl::Expression;
use groma_lang::observing;
use groma_value::Value;

use super::{Evaluation, names};
use crate::checks::{Checkable, Verdict, judge, with_readable_message};
use crate::config_graph::{Deprecations, looks_around};
use crate::deprecation::report_own_deprecation;
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, World};

impl Evaluation {
    /// An input variable of a module instance.
    pub fn variable(&mut self, world: &mut World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((name, variable)) = config.variables.get_index(at as usize) else { return Outcome::Failed };
        let given = match world.module(module).caller {
            None => Some(match self.inputs.get(name) {
                Some(input) => {
                    // A value from the command line or the environment has no span, so the declaration is shown.
                    (Some(input.value.clone()), if input.span.is_none() { variable.span } else { input.span })
                }
                None => (None, variable.span),
            }),
            Some(caller) => self.argument(world, caller, module, name, variable.span),
        };
        let Some((given, span)) = given else { return Outcome::Failed };
        let caller = world.module(module).caller;
        let Some(value) = self.accept(variable, given, span, caller) else { return Outcome::Failed };
        // A variable that is not ephemeral may end up in the state or in a saved plan.
        if !variable.ephemeral && value.deep_marks().is_ephemeral() {
            let detail = format!(
                "The value is ephemeral, but the variable {:?} of the module is not, so its value may be stored in \
                 the state. Declare the variable with \"ephemeral = true\" in the module, or use another value.",
                variable.name
            );
            self.diagnostics.push(Diagnostic::error("Ephemeral value not allowed", detail).at(span));
            return Outcome::Failed;
        }
        world.module_mut(module).variables[at as usize] = Some(value);
        // Rules that refer to other objects have a node of their own, which waits for these.
        if looks_around(variable) {
            return Outcome::Done;
        }
        self.hold_to_rules(world, module, variable, span)
    }

    /// Evaluates the validation rules of a variable, if one of them refers to other objects.
    pub fn validation(&mut self, world: &World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((name, variable)) = config.variables.get_index(at as usize) else { return Outcome::Failed };
        let span = match world.module(module).caller {
            None => self.inputs.get(name).map(|input| input.span).filter(|span| !span.is_none()),
            Some(caller) => argument_of(world, caller, module, name).map(|argument| argument.span),
        };
        self.hold_to_rules(world, module, variable, span.unwrap_or(variable.span))
    }

    /// The value of a module call's argument, and where it is written; none after an error.
    fn argument(
        &mut self,
        world: &World,
        caller: ModuleId,
        module: ModuleId,
        name: &Name,
        otherwise: Span,
    ) -> Option<(Option<Value>, Span)> {
        let Some(argument) = argument_of(world, caller, module, name) else { return Some((None, otherwise)) };
        let functions = Arc::clone(&self.functions);
        // The argument may use the "count" and "each" of the call.
        let scope = InstanceScope::new(world, caller, &functions).repeated(&world.module(module).repetition);
        let value = self.value(&argument, &scope)?;
        // The deprecation is reported here, and again where the module uses the value: its authors may have to know.
        let value = match world.static_module(module).deprecations {
            Deprecations::Reported => {
                report_own_deprecation(&value, &argument, &mut self.diagnostics);
                value
            }
            Deprecations::Ignored => value.without_deprecations(),
        };
        Some((Some(value), argument.span))
    }

    /// A value given by `caller`, or from outside, as the variable takes it; none where it does not, which is noted.
    fn accept(
        &mut self,
        variable: &Variable,
        given: Option<Value>,
        span: Span,
        caller: Option<ModuleId>,
    ) -> Option<Value> {
        let Some(given) = given else {
            return variable.default_value().or_else(|| self.without_value(variable, caller));
        };
        match variable.accept(&given) {
            Ok(value) => Some(value),
            Err(problem) => {
                // Only variables of the root module have values from outside the configuration.
                let input = self.inputs.get(&variable.name).filter(|_| caller.is_none());
                let origin = input.and_then(|input| input.origin.as_ref());
                self.diagnostics.push(problem.diagnose(variable, span, origin));
                None
            }
        }
    }

    /// Returns the value of a required variable that is not set. A missing argument of a module call was reported by the configuration; a
    /// missing value of a root variable is recorded here.
    fn without_value(&mut self, variable: &Variable, caller: Option<ModuleId>) -> Option<Value> {
        if caller.is_some() {
            // An unknown value lets evaluation continue without errors that only follow from the missing one.
            return Some(variable.any_value());
        }
        let detail =
            format!("The variable \"{}\" has no default and is not set. Set it in the module call.", variable.name);
        self.diagnostics.push(Diagnostic::error("No value for required variable", detail).at(variable.span));
        None
    }

    fn hold_to_rules(&mut self, world: &World, module: ModuleId, variable: &Variable, span: Span) -> Outcome {
        if variable.validations.is_empty() {
            return Outcome::Done;
        }
        let functions = Arc::clone(&self.functions);
        let scope = InstanceScope::new(world, module, &functions);
        let mut outcome = Outcome::Done;
        for rule in &variable.validations {
            let rule = &*with_readable_message(rule, &scope, &mut self.diagnostics);
            let mut problems = Diagnostics::new();
            let verdict = judge(Checkable::Variable, rule, &scope, &mut problems);
            // The deprecation of compared values is of no interest.
            let mut problems: Diagnostics = problems.into_iter().filter(|problem| problem.origin.is_none()).collect();
            if matches!(verdict, Verdict::Pass | Verdict::Unknown) {
                // The message is not shown in this case.
                problems = problems.into_iter().filter(Diagnostic::is_error).collect();
            }
            if !problems.is_empty() {
                // Without a printable message, the user would see no reason for the error.
                problems.iter_mut().for_each(|problem| problem.severity = Severity::Error);
                outcome = Outcome::Failed;
            }
            self.diagnostics.append(problems);
            if let Verdict::Fail(message) = &verdict {
                let at = world_position(self, rule.condition.span);
                let detail = format!("{message}\n\nThis value was rejected by the validation rule at {at}.");
                let problem = Diagnostic::error("Invalid value for variable", detail).at(shown(variable, span));
                self.diagnostics.push(observing(problem, &rule.condition, &scope));
            }
            if matches!(verdict, Verdict::Fail(_) | Verdict::Error) {
                outcome = Outcome::Failed;
            }
            let (config, object) = names(world, module, &format!("var.{}", variable.name));
            self.checks.report(Checkable::Variable, config, object, &verdict);
        }
        outcome
    }
}

/// Returns the argument of a module call for its variable `name`, if it is set.
fn argument_of(world: &World, caller: ModuleId, module: ModuleId, name: &Name) -> Option<Expression> {
    let site = world.static_module(module).caller?;
    let calling = &world.static_module(caller).config;
    let (_, call) = calling.calls.get_index(site.call as usize)?;
    let (arguments, _) = call.body.attributes();
    arguments.into_iter().find(|argument| argument.name.name == *name).map(|argument| argument.expression)
}

/// Returns the span to show for a problem with a variable's value. The source line of a sensitive argument would reveal it.
fn shown(variable: &Variable, given: Span) -> Span {
    if variable.sensitive { variable.span } else { given }
}

fn world_position(evaluation: &Evaluation, span: Span) -> String {
    match evaluation.functions.sources.locate(span) {
        Some(caller) => {
            format!("{}:{},{}-{}", caller.file.name(), caller.start.line, caller.start.column, caller.end.column)
        }
        None => "an unknown place".to_owned(),
    }
}
