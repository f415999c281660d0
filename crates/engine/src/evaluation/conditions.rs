//! Check blocks, and conditions of resources.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_config::{Condition, Lifecycle};
use groma_diagnostics::{Diagnostic, Diagnostics, Severity};
use groma_lang::{Scope, observing};
use groma_state::CheckStatus;
use groma_value::Value;

use super::{Evaluation, names, repetition_of};
use crate::checks::{Checkable, Verdict, judge, unknown_assertion, worse};
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, World};

impl Evaluation {
    /// The assertions of a check block: a failure is only a warning, a mistake in them is an error.
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
            let verdict = judge(Checkable::Check, rule, &scope, &mut self.diagnostics);
            let problem = match &verdict {
                Verdict::Fail(message) => Some(Diagnostic::warning("Check block assertion failed", message.clone())),
                Verdict::Unknown => Some(unknown_assertion()),
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

    /// Records the result of reading a data source inside the check block `check`: errors become warnings and the check's result.
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
            let verdict = judge(Checkable::Resource, rule, scope, &mut self.diagnostics);
            self.checks.report(Checkable::Resource, config.clone(), instance.clone(), &verdict);
            match verdict {
                Verdict::Fail(message) => {
                    let problem = self.unmet(summary, message, rule);
                    self.diagnostics.push(observing(problem, &rule.condition, scope).about(address));
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
    pub(super) fn unmet(&self, summary: &str, message: String, rule: &Condition) -> Diagnostic {
        Diagnostic { severity: self.unmet, ..Diagnostic::error(summary, message).at(rule.condition.span) }
    }
}

/// Returns the outcome of an object whose conditions have this status.
pub fn outcome_of(status: CheckStatus) -> Outcome {
    match status {
        CheckStatus::Pass | CheckStatus::Unknown => Outcome::Done,
        CheckStatus::Fail | CheckStatus::Error => Outcome::Failed,
    }
}
