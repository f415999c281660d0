//! Evaluation of variables, locals, outputs and checks into the world, for planning and applying alike.

mod conditions;
mod list_arguments;
mod variables;

pub use conditions::outcome_of;
pub(crate) use list_arguments::{ListArguments, unknown_list_argument};

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{DeprecationOrigin, Mode as ResourceMode, Name, ResourceInstance};
use groma_config::Output;
use groma_diagnostics::{Diagnostic, Diagnostics, Severity};
use groma_hcl::Expression;
use groma_lang::{FunctionContext, Purity, Scope, evaluate, observing};
use groma_provider::BodyDecoder;
use groma_value::{Deprecation, Kind, Marks, Path, Type, Value, convert};
use indexmap::IndexMap;

use crate::checks::{Checkable, Checks, Verdict, judge};
use crate::deprecation::{report_deprecated_body, report_deprecation, report_own_deprecation};
use crate::options::Input;
use crate::session::Session;
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, Repetition, World};

/// The result of evaluating a boolean argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// A known boolean value.
    Known(bool),
    /// Null, as if the argument were absent.
    Unset,
    /// Unknown until a later evaluation.
    Unknown,
}

/// The context of evaluations, apart from the module instances, and their results.
pub struct Evaluation {
    /// The context of function calls.
    pub functions: Arc<FunctionContext>,
    /// Values of the root module's variables.
    pub inputs: IndexMap<Name, Input>,
    /// The results of conditions.
    pub checks: Checks,
    /// The severity of failed preconditions and postconditions: a refresh-only plan continues with warnings.
    pub unmet: Severity,
    /// Errors and warnings of all evaluations.
    pub diagnostics: Diagnostics,
    /// Errors of data sources inside check blocks, by the address of the check.
    pub unread: HashMap<String, String>,
}

impl Evaluation {
    /// An evaluation as during planning: functions with a result of their own give an unknown value.
    pub fn planning(session: &Session, inputs: IndexMap<Name, Input>) -> Self {
        let functions = FunctionContext {
            working_directory: session.working_directory.clone(),
            home_directory: session.home_directory.clone(),
            // plantimestamp() returns one value during the whole run.
            plan_timestamp: Some(session.timestamp.clone()),
            ..FunctionContext::new(&session.root_directory, Arc::clone(&session.sources))
        };
        Self {
            functions: Arc::new(functions),
            inputs,
            checks: Checks::new(),
            unmet: Severity::Error,
            diagnostics: Diagnostics::new(),
            unread: HashMap::new(),
        }
    }

    /// An evaluation as during apply: functions give their own results.
    pub fn applying(session: &Session, inputs: IndexMap<Name, Input>, plan_timestamp: &str) -> Self {
        let mut evaluation = Self::planning(session, inputs);
        let functions = FunctionContext {
            // timestamp(), uuid() and the like were unknown during planning and get their results now.
            purity: Purity::Immediate,
            // plantimestamp() returns the time of the plan, not of the apply.
            plan_timestamp: Some(plan_timestamp.to_owned()),
            ..(*evaluation.functions).clone()
        };
        evaluation.functions = Arc::new(functions);
        evaluation
    }

    /// Notes a problem, unless it may only follow from one that is noted already.
    pub fn report_unless_failed(&mut self, problem: Diagnostic) {
        if !self.diagnostics.has_errors() {
            self.diagnostics.push(problem);
        }
    }

    /// Evaluates `expression` in `scope`; none after an error, which is noted.
    pub fn value(&mut self, expression: &Expression, scope: &dyn Scope) -> Option<Value> {
        let mut problems = Diagnostics::new();
        let value = evaluate(expression, scope, &mut problems);
        let failed = problems.has_errors();
        self.diagnostics.append(problems);
        (!failed).then_some(value)
    }

    /// Evaluates an expression and reports the deprecation of its value, if there is one.
    pub fn value_with_deprecations(&mut self, expression: &Expression, scope: &dyn Scope) -> Option<Value> {
        let value = self.value(expression, scope)?;
        report_own_deprecation(&value, expression, &mut self.diagnostics);
        Some(value.without_own_deprecations())
    }

    /// A local value of a module instance.
    pub fn local(&mut self, world: &mut World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((_, local)) = config.locals.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.functions);
        match self.value_with_deprecations(&local.expression, &InstanceScope::new(world, module, &functions)) {
            Some(value) => {
                world.module_mut(module).locals[at as usize] = Some(value);
                Outcome::Done
            }
            None => Outcome::Failed,
        }
    }

    /// The configuration that the block of a resource instance gives; none after an error, which is noted.
    pub fn instance(&mut self, body: &BodyDecoder, address: &ResourceInstance, scope: &dyn Scope) -> Option<Value> {
        let (value, mut problems) = body.evaluate(scope);
        for problem in problems.iter_mut() {
            problem.address.get_or_insert_with(|| Box::new(address.into()));
        }
        // Ephemeral objects are never written to the state, so infinity does no harm there.
        if address.resource.mode != ResourceMode::Ephemeral
            && let Some(index) = infinity_in(&value)
        {
            problems.push(infinite().at(body.span_of(&index)).about(address));
        }
        let failed = problems.has_errors();
        self.diagnostics.append(problems);
        let value = self.used_by(value, body, address);
        (!failed).then_some(value)
    }

    /// Tells what is deprecated about the value that the block of a resource instance gives.
    pub fn used_by(&mut self, value: Value, body: &BodyDecoder, address: &ResourceInstance) -> Value {
        let mut problems = Diagnostics::new();
        let value = report_deprecated_body(value, body, &mut problems);
        self.diagnostics.extend(problems.into_iter().map(|problem| problem.about(address)));
        value
    }

    /// The configuration that a provider block gives; none after an error, which is noted.
    pub fn provider(&mut self, body: &BodyDecoder, scope: &dyn Scope) -> Option<Value> {
        let (value, problems) = body.evaluate(scope);
        let failed = problems.has_errors();
        self.diagnostics.append(problems);
        (!failed).then(|| value.without_deprecations())
    }

    /// An argument of an instance's lifecycle that must be true or false and known; none without one, where it is null, and
    /// after an error, which is noted.
    pub fn truth(&mut self, expression: Option<&Expression>, scope: &dyn Scope) -> Option<bool> {
        let expression = expression?;
        match self.truth_so_far(expression, scope)? {
            Truth::Known(truth) => Some(truth),
            Truth::Unset => None,
            Truth::Unknown => {
                let detail = "This lifecycle argument must be known during planning, but it depends on a value that \
                 is known only after apply.";
                let problem = Diagnostic::error("Invalid lifecycle argument", detail).at(expression.span);
                self.diagnostics.push(observing(problem, expression, scope));
                None
            }
        }
    }

    /// Evaluates a boolean argument that may be unknown. `None` after an error, which is recorded.
    pub fn truth_so_far(&mut self, expression: &Expression, scope: &dyn Scope) -> Option<Truth> {
        let value = self.value(expression, scope)?;
        // Strings such as "true" are converted, as everywhere in the language.
        match convert::convert(&value.unmark().0, &Type::Bool) {
            Ok(truth) => Some(match truth.kind() {
                Kind::Bool(truth) => Truth::Known(truth),
                Kind::Null => Truth::Unset,
                _ => Truth::Unknown,
            }),
            Err(problem) => {
                let detail = format!("This lifecycle argument must be true or false: {}.", problem.message);
                let problem = Diagnostic::error("Invalid lifecycle argument", detail).at(expression.span);
                self.diagnostics.push(observing(problem, expression, scope));
                None
            }
        }
    }
}

/// The address of something in a module, as written and of the instance.
pub(super) fn names(world: &World, module: ModuleId, name: &str) -> (String, String) {
    let path = world.static_module(module).path();
    let address = &world.module(module).address;
    let within = |module: String| if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") };
    (within(path.to_string()), within(address.to_string()))
}

/// Returns the values of `count` and `each` for one instance of a resource.
pub fn repetition_of(world: &World, module: ModuleId, resource: u32, position: usize) -> Repetition {
    world.module(module).resources[resource as usize].expansion.repetition(position)
}

/// Returns the path of a number that the state cannot represent.
fn infinity_in(value: &Value) -> Option<Path> {
    if !value.has_infinity() {
        return None;
    }
    let mut index = None;
    value.walk(|path, inside| {
        if let Kind::Number(number) = inside.kind()
            && number.is_infinite()
        {
            index.get_or_insert_with(|| path.clone());
        }
        index.is_none()
    });
    index
}

/// Returns the error for a number that the state cannot represent.
pub(super) fn infinite() -> Diagnostic {
    let detail = "The value contains an infinite number, for example the result of a division by zero, and the \
     state cannot serialize infinity. Ensure that no divisor is zero, or choose another value for that case.";
    Diagnostic::error("Infinite number not allowed", detail)
}

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
                    // A refresh-only plan reports the failure as a warning and continues with the value.
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
        // Only the outputs of the root module are written to the state.
        if caller.is_none() && value.has_infinity() {
            self.diagnostics.push(infinite().at(output.expression.span));
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
