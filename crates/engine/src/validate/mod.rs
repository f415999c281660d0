//! Validation of a configuration without state and without values: everything that is not a literal is unknown (LC-03).

mod imports;
mod resources;

use std::sync::Arc;

use groma_address::InstanceKey;
use groma_config::Configuration;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_plan::ActionInstance;
use groma_provider::{ActionSubject, ConfigSubject};
use groma_value::{Marks, Value};
use indexmap::IndexMap;
use resources::suitable;

use crate::checks::{Checkable, judge};
use crate::config_graph::{ConfigGraph, NodeKind};
use crate::deprecation::report_deprecated_body;
use crate::evaluation::{Evaluation, marked_as_declared};
use crate::options::Input;
use crate::providers::Providers;
use crate::session::Session;
use crate::static_references;
use crate::templates::{Templates, Validity};
use crate::walk::{Outcome, Visit, Walk};
use crate::world::{Expansion, InstanceScope, ModuleId, Repetition, SharedContext, World, declared_type};

/// Whether it is followed here where a secret goes that an output of a module has declared to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredSecrets {
    /// References through the output are followed.
    Followed,
    /// No further than the output, as in Terraform: a plan that leaves something out does not ask where it goes there.
    LeftToThePlan,
}

/// Checks everything that can be checked now.
pub async fn validate(
    session: &Session,
    graph: &Arc<ConfigGraph>,
    templates: &Arc<Templates>,
    providers: &mut Providers,
    secrets: DeclaredSecrets,
) -> Diagnostics {
    let world = World::new(Arc::clone(graph), SharedContext::new(session, templates));
    let walk = Walk::new(&world);
    let evaluation = Evaluation::planning(session, unknown_inputs(session));
    let configuration = &session.configuration;
    let mut validator = Validator { configuration, templates, providers, secrets, world, walk, evaluation };
    while let Some((visit, outcome)) = validator.walk.next() {
        let outcome = match outcome {
            // Nothing is left to a later run here.
            Outcome::Done | Outcome::Deferred => validator.visit(visit).await,
            Outcome::Failed => Outcome::Failed,
        };
        validator.walk.end(&validator.world, visit, outcome);
    }
    static_references::check(&session.configuration, graph, templates, validator.evaluation.diagnostics)
}

fn without_secrets(value: &Value) -> Value {
    let (bare, marks) = value.unmark();
    bare.with_marks(&marks.without(&Marks::SENSITIVE))
}

/// The root module's variables as values of which only the type is known.
fn unknown_inputs(session: &Session) -> IndexMap<groma_address::Name, Input> {
    let variables = &session.configuration.root.variables;
    let unknown = variables.values().map(|variable| {
        (variable.name.clone(), Input { value: variable.any_value(), span: variable.span, origin: None })
    });
    unknown.collect()
}

pub(super) struct Validator<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) templates: &'a Templates,
    pub(super) providers: &'a mut Providers,
    secrets: DeclaredSecrets,
    pub(super) world: World,
    walk: Walk,
    pub(super) evaluation: Evaluation,
}

impl Validator<'_> {
    async fn visit(&mut self, visit: Visit) -> Outcome {
        let id = visit.module;
        match self.world.static_module(id).kind(visit.node) {
            NodeKind::Variable(at) => self.variable(id, at),
            NodeKind::Validation(at) => {
                // Uses of the variable are checked even if a rule has errors.
                self.evaluation.validation(&self.world, id, at);
                Outcome::Done
            }
            NodeKind::Local(at) => self.evaluation.local(&mut self.world, id, at),
            NodeKind::Output(at) => self.output(id, at),
            NodeKind::Check(at) => self.check(id, at),
            NodeKind::Import(at) => self.import(id, at),
            NodeKind::Action(at) => self.action(id, at).await,
            // Triggers are evaluated when something changes.
            NodeKind::Trigger(_) => Outcome::Done,
            NodeKind::CallOutput { .. } | NodeKind::CallEnd(_) => Outcome::Done,
            NodeKind::Call(at) => self.call(id, at),
            NodeKind::Provider(at) => self.provider(id, at).await,
            NodeKind::Resource(at) => self.resource(id, at).await,
        }
    }

    /// Checks an argument of a module call against its variable. Nothing else relies on its value: a module is checked for all values
    /// that
    /// its callers could give, as in Terraform.
    fn variable(&mut self, module: ModuleId, at: u32) -> Outcome {
        let outcome = self.evaluation.variable(&mut self.world, module, at);
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, variable)) = config.variables.get_index(at as usize) else { return Outcome::Failed };
        // The argument of this caller is replaced by an unknown value of the declared type.
        self.world.module_mut(module).variables[at as usize] = variable.accept(&variable.any_value()).ok();
        outcome
    }

    /// Callers may not lean on what an output happens to be either: a block that the value makes no instances of could be wrong for it.
    fn output(&mut self, module: ModuleId, at: u32) -> Outcome {
        let outcome = self.evaluation.output(&mut self.world, module, at);
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, output)) = config.outputs.get_index(at as usize) else { return Outcome::Failed };
        if self.world.module(module).outputs[at as usize].is_some() {
            let value = marked_as_declared(Value::unknown(declared_type(output)), output, &self.world, module);
            let value = if self.secrets == DeclaredSecrets::LeftToThePlan { without_secrets(&value) } else { value };
            self.world.module_mut(module).outputs[at as usize] = Some(value);
        }
        outcome
    }

    /// Whether a module is made whatever the values are.
    fn is_always_there(&self, module: ModuleId) -> bool {
        self.world.graph().is_always_there(self.world.module(module).of)
    }

    /// Checks assertions for errors only: nothing is known that decides them. Terraform evaluates their conditions when it plans, so
    /// conditions in a module without instances are never evaluated.
    fn check(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, check)) = config.checks.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        let is_always_there = self.is_always_there(module);
        for rule in &check.assertions {
            // Terraform never evaluates these conditions, so their errors would be false alarms.
            if !is_always_there {
                self.evaluation.value_with_deprecations(&rule.error_message, &scope);
                continue;
            }
            // Whether it holds is not asked yet, nor what it is made of.
            let mut problems = Diagnostics::new();
            judge(Checkable::Check, rule, &scope, &mut problems);
            self.evaluation.diagnostics.append(problems.into_iter().filter(Diagnostic::is_error));
        }
        Outcome::Done
    }

    async fn action(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let index = self.world.module(module).of;
        let Some((_, action)) = config.actions.get_index(at as usize) else { return Outcome::Failed };
        let Some(template) = self.templates.action(index, at).cloned() else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let outer = InstanceScope::new(&self.world, module, &functions);
        for expression in [&action.count, &action.for_each].into_iter().flatten() {
            self.evaluation.value_with_deprecations(expression, &outer);
        }
        suitable(action.count.as_ref(), action.for_each.as_ref(), &outer, &mut self.evaluation.diagnostics);
        let is_repeated = action.count.is_some() || action.for_each.is_some();
        let repetition = if is_repeated { Repetition::Unknown } else { Repetition::None };
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let (value, mut problems) = template.body.evaluate(&scope);
        let value = report_deprecated_body(value, &template.body, &mut problems);
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        let Ok(provider) = self.providers.started(&template.provider.provider) else { return Outcome::Failed };
        if failed || template.validity == Validity::Invalid {
            return Outcome::Failed;
        }
        let opening = template.body.opening();
        // An action without a config block has no body to point at.
        let span = if opening.is_none() { action.span } else { opening };
        let subject = ActionSubject { type_name: &action.type_name, body: &template.body, span };
        let address = ActionInstance {
            module: self.world.module(module).address.clone(),
            type_name: action.type_name.clone(),
            name: action.name.clone(),
            key: InstanceKey::None,
        };
        if let Some(problem) = template.ephemeral_misuse(&value, &address) {
            self.evaluation.diagnostics.push(problem);
            return Outcome::Failed;
        }
        let problems = provider.validate_action(&subject, &value).await;
        let failed = problems.has_errors();
        let problems = problems.into_iter().map(|problem| problem.about(&address));
        self.evaluation.diagnostics.append(problems);
        if failed { Outcome::Failed } else { Outcome::Done }
    }

    fn call(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, call)) = config.calls.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        let repeats = [&call.count, &call.for_each, &call.enabled].into_iter().flatten();
        let mut sound = true;
        for expression in repeats {
            // Every argument is evaluated even after an error, so that all errors appear at once.
            sound &= self.evaluation.value_with_deprecations(expression, &scope).is_some();
        }
        sound &= suitable(call.count.as_ref(), call.for_each.as_ref(), &scope, &mut self.evaluation.diagnostics);
        if !sound {
            return Outcome::Failed;
        }
        let expansion = if call.is_repeated() { Expansion::Abstract } else { Expansion::Single };
        let instances = self.world.expand_call(module, at, expansion);
        if !(call.has_single_instance() && self.is_always_there(module)) {
            // Uses of `count` and `each` that do not match are reported for existing instances.
            instances.iter().for_each(|made| self.world.module_mut(*made).repetition = Repetition::Unknown);
        }
        self.walk.expanded(&self.world, module, at, &instances);
        Outcome::Done
    }

    async fn provider(&mut self, module: ModuleId, at: u32) -> Outcome {
        let index = self.world.module(module).of;
        let Some(block) = self.templates.provider(index, at).cloned() else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let outer = InstanceScope::new(&self.world, module, &functions);
        let mut repetition = Repetition::None;
        if let Some(for_each) = &block.for_each {
            let sound = self.evaluation.value_with_deprecations(for_each, &outer).is_some()
                && suitable(None, Some(for_each), &outer, &mut self.evaluation.diagnostics);
            if !sound {
                return Outcome::Failed;
            }
            repetition = Repetition::Unknown;
        }
        let written = self.world.static_module(module).config.providers.get_index(at as usize);
        // A provider that nothing uses: neither Terraform nor OpenTofu checks its configuration.
        if written.is_some_and(|(_, written)| !self.configuration.is_used(written)) {
            return Outcome::Done;
        }
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let Some(value) = self.evaluation.provider(&block.body, &scope) else { return Outcome::Failed };
        if block.validity == Validity::Invalid {
            return Outcome::Failed;
        }
        let Ok(provider) = self.providers.started(&block.config.provider) else { return Outcome::Failed };
        let subject = ConfigSubject { address: &block.config, body: &block.body };
        let problems = provider.validate_provider_config(&subject, &value).await;
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        if failed { Outcome::Failed } else { Outcome::Done }
    }
}
