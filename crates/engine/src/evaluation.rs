//! Evaluating variables, locals, outputs and checks into the world: the same when planning and when applying.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{Name, ResourceInstance};
use groma_config::{Condition, Lifecycle, Output, Variable};
use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Span};
use groma_hcl::Expression;
use groma_lang::{FunctionContext, Scope, evaluate, observing};
use groma_provider::BodyDecoder;
use groma_state::CheckStatus;
use groma_value::{Deprecation, Kind, Marks, Type, Value, convert};
use indexmap::IndexMap;

use crate::checks::{Checkable, Checks, UNKNOWN_ASSERTION, Verdict, judge, worse};
use crate::config_graph::{Deprecations, mentions_others};
use crate::deprecation::{tell, tell_body, tell_own};
use crate::options::Input;
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, Repetition, World};

/// What evaluation needs besides the world, and what it finds.
pub struct Evaluation {
    /// What functions need.
    pub functions: Arc<FunctionContext>,
    /// Values of the root module's variables.
    pub inputs: IndexMap<Name, Input>,
    /// Results of conditions.
    pub checks: Checks,
    /// How bad it is that a precondition or a postcondition does not hold: who only looks at what there is goes on.
    pub unmet: Severity,
    /// What went wrong.
    pub diagnostics: Diagnostics,
    /// Why data sources inside check blocks could not be read, by the address of the check.
    pub unread: HashMap<String, String>,
}

impl Evaluation {
    /// Notes a problem, unless it may only follow from one that is noted already.
    pub fn tell_unless_failed(&mut self, problem: Diagnostic) {
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

    /// The same; what is deprecated about the value itself is told.
    pub fn telling_value(&mut self, expression: &Expression, scope: &dyn Scope) -> Option<Value> {
        let value = self.value(expression, scope)?;
        tell_own(&value, expression, &mut self.diagnostics);
        Some(value.without_own_deprecations())
    }

    /// An input variable of a module instance.
    pub fn variable(&mut self, world: &mut World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((name, variable)) = config.variables.get_index(at as usize) else { return Outcome::Failed };
        let given = match world.module(module).caller {
            None => Some(match self.inputs.get(name) {
                Some(input) => {
                    (Some(input.value.clone()), if input.span.is_none() { variable.span } else { input.span })
                }
                None => (None, variable.span),
            }),
            Some(caller) => self.argument(world, caller, module, name, variable.span),
        };
        let Some((given, span)) = given else { return Outcome::Failed };
        let Some(value) = self.accept(variable, given, span) else { return Outcome::Failed };
        if !variable.ephemeral && value.deep_marks().is_ephemeral() {
            let detail = format!(
                "The value is ephemeral, and the variable {:?} of the module is not: what it is given may be kept in the state. Declare it \
                 with \"ephemeral = true\" in the module, or give it another value.",
                variable.name
            );
            self.diagnostics.push(Diagnostic::error("Ephemeral value not allowed", detail).at(span));
            return Outcome::Failed;
        }
        world.module_mut(module).variables[at as usize] = Some(value);
        let own: Vec<&Condition> = variable.validations.iter().filter(|rule| !mentions_others(rule, name)).collect();
        self.validate(world, module, variable, &own, span)
    }

    /// The validation rules of a variable that look at other objects too.
    pub fn validation(&mut self, world: &World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((name, variable)) = config.variables.get_index(at as usize) else { return Outcome::Failed };
        let rules: Vec<&Condition> = variable.validations.iter().filter(|rule| mentions_others(rule, name)).collect();
        self.validate(world, module, variable, &rules, variable.span)
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
        let place = world.static_module(module).caller?;
        let calling = &world.static_module(caller).config;
        let (_, call) = calling.calls.get_index(place.call as usize)?;
        let (arguments, _) = call.body.attributes();
        let Some(argument) = arguments.iter().find(|argument| argument.name.name == *name) else {
            return Some((None, otherwise));
        };
        let functions = Arc::clone(&self.functions);
        let scope = InstanceScope::new(world, caller, &functions).repeated(&world.module(module).repetition);
        let value = self.value(&argument.expression, &scope)?;
        // What is deprecated is told here, and again where the module uses it: its authors may have to know.
        let value = match world.static_module(module).deprecations {
            Deprecations::Told => {
                tell_own(&value, &argument.expression, &mut self.diagnostics);
                value
            }
            Deprecations::Ignored => value.without_deprecations(),
        };
        Some((Some(value), argument.expression.span))
    }

    /// A given value as the variable takes it; none where it does not, which is noted.
    fn accept(&mut self, variable: &Variable, given: Option<Value>, span: Span) -> Option<Value> {
        let Some(given) = given else {
            let default = variable.default_value();
            if default.is_none() {
                let detail =
                    format!("The variable \"{}\" has no default, so it needs a value: give it one.", variable.name);
                self.diagnostics.push(Diagnostic::error("No value for required variable", detail).at(variable.span));
            }
            return default;
        };
        match variable.accept(&given) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.diagnostics.push(problem.diagnose(variable, span));
                None
            }
        }
    }

    fn validate(
        &mut self,
        world: &World,
        module: ModuleId,
        variable: &Variable,
        rules: &[&Condition],
        span: Span,
    ) -> Outcome {
        if rules.is_empty() {
            return Outcome::Done;
        }
        let functions = Arc::clone(&self.functions);
        let scope = InstanceScope::new(world, module, &functions);
        let mut outcome = Outcome::Done;
        for rule in rules {
            let mut problems = Diagnostics::new();
            let verdict = judge(rule, &scope, &mut problems);
            // What a rule compares with need not be told.
            let mut problems: Diagnostics = problems.into_iter().filter(|problem| problem.origin.is_none()).collect();
            if matches!(verdict, Verdict::Pass | Verdict::Unknown) {
                // Nobody is told the message.
                problems = problems.into_iter().filter(Diagnostic::is_error).collect();
            }
            if !problems.is_empty() {
                // A message that cannot be shown leaves whoever gives the value without any reason.
                problems.iter_mut().for_each(|problem| problem.severity = Severity::Error);
                outcome = Outcome::Failed;
            }
            self.diagnostics.append(problems);
            if let Verdict::Fail(message) = &verdict {
                let at = world_position(self, rule.condition.span);
                let detail = format!("{message}\n\nThe validation rule that refuses this value is at {at}.");
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

    /// A local value of a module instance.
    pub fn local(&mut self, world: &mut World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((_, local)) = config.locals.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.functions);
        match self.telling_value(&local.expression, &InstanceScope::new(world, module, &functions)) {
            Some(value) => {
                world.module_mut(module).locals[at as usize] = Some(value);
                Outcome::Done
            }
            None => Outcome::Failed,
        }
    }

    /// An output value of a module instance.
    pub fn output(&mut self, world: &mut World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((name, output)) = config.outputs.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.functions);
        let scope = InstanceScope::new(world, module, &functions);
        let (config_address, object) = names(world, module, &format!("output.{name}"));
        for rule in &output.preconditions {
            let verdict = judge(rule, &scope, &mut self.diagnostics);
            self.checks.report(Checkable::Output, config_address.clone(), object.clone(), &verdict);
            match verdict {
                Verdict::Fail(message) => {
                    let problem = self.unmet("Module output value precondition failed", message, rule);
                    self.diagnostics.push(observing(problem, &rule.condition, &scope));
                    if self.unmet == Severity::Error {
                        return Outcome::Failed;
                    }
                }
                Verdict::Error => return Outcome::Failed,
                Verdict::Pass | Verdict::Unknown => {}
            }
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
            None => tell(value, &output.expression, &mut self.diagnostics),
            Some(_) => value.without_deprecations(),
        };
        if let Some(constraint) = &output.constraint {
            value = match convert::convert(&value, &constraint.ty) {
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
        let marks = value.deep_marks();
        if caller.is_none() && !output.sensitive && marks.is_sensitive() {
            let detail = "This output of the root module holds sensitive data, and outputs are what others get to \
                          see. If that is intended, say so with this argument in the output block, which also hides \
                          the value on the terminal:\n    sensitive = true\n\nIf it is not, take the sensitive part \
                          out of the expression.";
            self.diagnostics.push(Diagnostic::error("Output refers to sensitive values", detail).at(output.span));
            return None;
        }
        if !output.ephemeral && marks.is_ephemeral() {
            let detail = "The value comes from an ephemeral value, but the output is not ephemeral: its value would \
                          be kept in the state. Use a value that is not ephemeral here. An output of a module other \
                          than the root can also be declared with \"ephemeral = true\".";
            self.diagnostics.push(Diagnostic::error("Ephemeral value not allowed", detail).at(output.expression.span));
            return None;
        }
        if output.sensitive {
            value = value.with_marks(&Marks::SENSITIVE);
        }
        if output.ephemeral {
            value = value.with_marks(&Marks::EPHEMERAL);
        }
        if let (Some(message), Some(caller)) = (&output.deprecated, caller)
            && world.tells_deprecations(caller)
        {
            let origin = format!("{}.{}", world.static_module(module).path(), output.name).into();
            value = value.with_marks(&Marks::deprecated(Deprecation { message: message.clone(), origin }));
        }
        Some(value)
    }

    /// The assertions of a check block: a failure is only a warning.
    pub fn check(&mut self, world: &World, module: ModuleId, at: u32) -> Outcome {
        let config = world.static_module(module).config.clone();
        let Some((name, check)) = config.checks.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.functions);
        let scope = InstanceScope::new(world, module, &functions);
        let (config_address, object) = names(world, module, &format!("check.{name}"));
        self.checks.reset(Checkable::Check, &config_address, &object);
        if let Some(problem) = self.unread.get(&object) {
            // The assertions are about what could not be read.
            self.checks.report(Checkable::Check, config_address, object, &Verdict::Fail(problem.clone()));
            return Outcome::Done;
        }
        for rule in &check.assertions {
            let mut problems = Diagnostics::new();
            let verdict = judge(rule, &scope, &mut problems);
            for problem in problems.iter_mut() {
                problem.severity = Severity::Warning;
            }
            self.diagnostics.append(problems);
            let problem = match &verdict {
                Verdict::Fail(message) => Some(Diagnostic::warning("Check block assertion failed", message.clone())),
                Verdict::Unknown => Some(Diagnostic::warning(
                    UNKNOWN_ASSERTION,
                    "The assertion stands on values that only apply will know; it is checked then.",
                )),
                Verdict::Pass | Verdict::Error => None,
            };
            if let Some(problem) = problem {
                let problem = problem.at(rule.condition.span);
                self.diagnostics.push(observing(problem, &rule.condition, &scope));
            }
            self.checks.report(Checkable::Check, config_address.clone(), object.clone(), &verdict);
        }
        Outcome::Done
    }

    /// How reading a data source inside the check block `check` went: what went wrong are warnings, and the check's result.
    pub fn checked_data(&mut self, world: &World, module: ModuleId, check: &str, mut found: Diagnostics) {
        let (_, object) = names(world, module, &format!("check.{check}"));
        let errors: Vec<String> = found
            .iter()
            .filter(|problem| problem.is_error())
            .map(|problem| format!("{}: {}", problem.summary, problem.detail))
            .collect();
        match &errors[..] {
            [] => {
                self.unread.remove(&object);
            }
            [only] => {
                self.unread.insert(object, only.clone());
            }
            many => {
                let list: String = many.iter().map(|problem| format!("\n- {problem}")).collect();
                self.unread.insert(object, format!("{} problems:\n{list}", many.len()));
            }
        }
        for problem in found.iter_mut() {
            problem.severity = Severity::Warning;
        }
        self.diagnostics.append(found);
    }

    /// The configuration that the block of a resource instance gives; none after an error, which is noted.
    pub fn instance(&mut self, body: &BodyDecoder, address: &ResourceInstance, scope: &dyn Scope) -> Option<Value> {
        let (value, mut problems) = body.evaluate(scope);
        for problem in problems.iter_mut() {
            problem.address.get_or_insert_with(|| address.to_string());
        }
        let failed = problems.has_errors();
        self.diagnostics.append(problems);
        let value = self.used_by(value, body, address);
        (!failed).then_some(value)
    }

    /// Tells what is deprecated about the value that the block of a resource instance gives.
    pub fn used_by(&mut self, value: Value, body: &BodyDecoder, address: &ResourceInstance) -> Value {
        let mut problems = Diagnostics::new();
        let value = tell_body(value, body, &mut problems);
        self.diagnostics.extend(problems.into_iter().map(|problem| problem.about(address.to_string())));
        value
    }

    /// The configuration that a provider block gives; none after an error, which is noted.
    pub fn provider(&mut self, body: &BodyDecoder, scope: &dyn Scope) -> Option<Value> {
        let (value, problems) = body.evaluate(scope);
        let failed = problems.has_errors();
        self.diagnostics.append(problems);
        (!failed).then(|| value.without_deprecations())
    }

    /// Preconditions of a resource instance. Gives the worst of their results that matter to what follows.
    pub fn preconditions(
        &mut self,
        lifecycle: &Lifecycle,
        address: &ResourceInstance,
        scope: &dyn Scope,
    ) -> CheckStatus {
        self.conditions(&lifecycle.preconditions, "Resource precondition failed", address, scope)
    }

    /// Postconditions of a resource instance with its new object. Gives the worst of their results that matter to what follows.
    pub fn postconditions(
        &mut self,
        world: &World,
        (module, resource, position): (ModuleId, u32, usize),
        address: &ResourceInstance,
        object: &Value,
    ) -> CheckStatus {
        let config = Arc::clone(&world.static_module(module).config);
        let Some((_, block)) = config.resources.get_index(resource as usize) else { return CheckStatus::Pass };
        if block.lifecycle.postconditions.is_empty() {
            return CheckStatus::Pass;
        }
        let repetition = repetition_of(world, module, resource, position);
        let functions = Arc::clone(&self.functions);
        let object = world.module(module).resources[resource as usize].marked(position, object.clone());
        let scope = InstanceScope::new(world, module, &functions).repeated(&repetition).with_self(&object);
        self.conditions(&block.lifecycle.postconditions, "Resource postcondition failed", address, &scope)
    }

    fn conditions(
        &mut self,
        rules: &[Condition],
        summary: &str,
        address: &ResourceInstance,
        scope: &dyn Scope,
    ) -> CheckStatus {
        if rules.is_empty() {
            return CheckStatus::Pass;
        }
        let (config, instance) = (address.config_resource().to_string(), address.to_string());
        let mut worst = CheckStatus::Pass;
        for rule in rules {
            let verdict = judge(rule, scope, &mut self.diagnostics);
            self.checks.report(Checkable::Resource, config.clone(), instance.clone(), &verdict);
            match verdict {
                Verdict::Fail(message) => {
                    let problem = self.unmet(summary, message, rule);
                    self.diagnostics.push(observing(problem, &rule.condition, scope).about(instance.clone()));
                    if self.unmet == Severity::Error {
                        worst = worse(worst, CheckStatus::Fail);
                    }
                }
                Verdict::Error => worst = worse(worst, CheckStatus::Error),
                Verdict::Unknown => worst = worse(worst, CheckStatus::Unknown),
                Verdict::Pass => {}
            }
        }
        worst
    }

    /// That a condition does not hold.
    fn unmet(&self, summary: &str, message: String, rule: &Condition) -> Diagnostic {
        Diagnostic { severity: self.unmet, ..Diagnostic::error(summary, message).at(rule.condition.span) }
    }

    /// An argument of an instance's lifecycle that must be true or false and known; none without one, where it is null, and
    /// after an error, which is noted.
    pub fn truth(&mut self, expression: Option<&Expression>, scope: &dyn Scope) -> Option<bool> {
        let expression = expression?;
        let value = self.value(expression, scope)?;
        let truth = match convert::convert(&value.unmark().0, &Type::Bool) {
            Ok(truth) => truth,
            Err(problem) => {
                let detail = format!("This lifecycle argument must be true or false: {}.", problem.message);
                let problem = Diagnostic::error("Invalid lifecycle argument", detail).at(expression.span);
                self.diagnostics.push(observing(problem, expression, scope));
                return None;
            }
        };
        match truth.kind() {
            Kind::Bool(truth) => Some(truth),
            Kind::Null => None,
            _ => {
                let detail = "This lifecycle argument must be known when the plan is made, but it stands on something that is not \
                              known before apply.";
                let problem = Diagnostic::error("Invalid lifecycle argument", detail).at(expression.span);
                self.diagnostics.push(observing(problem, expression, scope));
                None
            }
        }
    }
}

/// How something ends whose conditions came out like this.
pub fn outcome_of(status: CheckStatus) -> Outcome {
    match status {
        CheckStatus::Pass | CheckStatus::Unknown => Outcome::Done,
        CheckStatus::Fail | CheckStatus::Error => Outcome::Failed,
    }
}

/// Where a problem with a variable's value is shown: the text that gives a sensitive value would show it.
fn shown(variable: &Variable, given: Span) -> Span {
    if variable.sensitive { variable.span } else { given }
}

fn world_position(evaluation: &Evaluation, span: Span) -> String {
    match evaluation.functions.sources.locate(span) {
        Some(place) => {
            format!("{}:{},{}-{}", place.file.name(), place.start.line, place.start.column, place.end.column)
        }
        None => "an unknown place".to_owned(),
    }
}

/// The address of something in a module, as written and of the instance.
fn names(world: &World, module: ModuleId, name: &str) -> (String, String) {
    let path = world.static_module(module).path();
    let address = &world.module(module).address;
    let within = |module: String| if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") };
    (within(path.to_string()), within(address.to_string()))
}

/// What `count` and `each` mean for one instance of a resource.
pub fn repetition_of(world: &World, module: ModuleId, resource: u32, position: usize) -> Repetition {
    world.module(module).resources[resource as usize].expansion.repetition(position)
}
