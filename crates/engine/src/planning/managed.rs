//! Planning the instances of managed resources.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_diagnostics::Span;
use groma_plan::{Action, ActionReason, Generated, Mode};
use groma_provider::Checked;
use groma_state::{CheckStatus, DeposedKey, ObjectRecord};
use groma_value::Value;

use super::data;
use super::deferral;
use super::evaluated::{self, Evaluated};
use super::event::{Event, Instance, ManagedEvent, ManagedSubject};
use super::inputs::Inputs;
use super::instances;
use super::lists;
use super::managers;
use super::orphans::OrphanedObject;
use super::plan_call::{Disposal, Draft, Lifecycle, PlanCall, PlanCallResult, Prevention, Purpose};
use super::planner::Planner;
use super::results;
use super::triggers;
use crate::call_target::CallTarget;
use crate::config_graph::{ModuleIndex, NodeIndex};
use crate::evaluation::{Evaluation, outcome_of, repetition_of};
use crate::options::Refresh;
use crate::record::Object;
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::{Repetition, World};

pub(super) async fn start_instance(planner: &mut Planner<'_>, instance: Instance) {
    let address = planner.world.instance_address(instance.module, instance.resource, instance.position);
    let Some(template) = planner.inputs.template(&planner.world, instance.module, instance.resource) else {
        return instances::end_instance(planner, instance, Outcome::Failed);
    };
    let Some(template) = managers::choose(planner, instance, &address, template) else { return };
    match address.resource.mode {
        ResourceMode::Managed => start_managed(planner, instance, address, template).await,
        ResourceMode::Data => data::start_data(planner, instance, address, template).await,
        ResourceMode::Ephemeral => data::start_ephemeral(planner, instance, address, template).await,
        ResourceMode::List => lists::start_list(planner, instance, address, template).await,
    }
}

async fn start_managed(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: Arc<Template>,
) {
    // A placeholder for instances of unknown number has no object in the state.
    let many = deferral::stands_for_many(&planner.inputs, &planner.world, instance);
    let record = planner.state.object(&address, None).filter(|_| !many).cloned();
    let importing = if many { None } else { planner.imports.take(&address, &planner.state) };
    let left = deferral::deferral(planner, instance, &address, &template);
    if let Some(reason) = left.filter(|_| planner.managers.is_unready(&template.provider)) {
        return deferral::defer_instance(planner, instance, address, &template, reason);
    }
    let Some(provider) = configured(planner, &template, instance) else { return };
    let (purpose, mut evaluated) =
        purpose(&planner.inputs, &planner.world, &mut planner.evaluation, instance, &address, &template);
    if purpose == Purpose::Refresh && importing.is_some() {
        let (world, evaluation) = (&planner.world, &mut planner.evaluation);
        evaluated.config = evaluated::evaluate_imported(world, evaluation, instance, &address, &template);
    }
    if !many && (purpose != Purpose::Refresh || planner.inputs.mode() != Mode::Destroy) {
        start_deposed(planner, instance, &address, (&template, evaluated.disposal), &provider).await;
    }
    if record.is_none() && purpose != Purpose::Change && importing.is_none() {
        let outcome = if left.is_some() { Outcome::Deferred } else { Outcome::Done };
        let outcome = worse(
            outcome,
            absent(&planner.inputs, &planner.world, &mut planner.evaluation, instance, &address, &template),
        );
        return instances::end_instance(planner, instance, worse(evaluated.outcome, outcome));
    }
    let subject = ManagedSubject {
        instance: Some(instance),
        address: address.clone(),
        deposed: None,
        provider: Arc::clone(&template.provider),
        schema: Arc::clone(&template.schema),
        create_before_destroy: evaluated.create_before_destroy,
        is_kept: evaluated.disposal != Disposal::Destroyed,
        undecided: evaluated.undecided,
        outcome: evaluated.outcome,
        importing: importing.clone(),
    };
    let (refresh, forced) =
        (refresh(&planner.inputs, &planner.world, instance, &address), forced(planner, instance, &address));
    let call = PlanCall {
        target: CallTarget {
            address,
            deposed: None,
            provider,
            schema: Arc::clone(&template.schema),
            body: Some(Arc::clone(&template.body)),
            span: body_span(&planner.world, instance),
            meta: template.meta.clone(),
        },
        lifecycle: Lifecycle {
            ignore: evaluated.ignore,
            create_before_destroy: evaluated.create_before_destroy,
            prevention: evaluated.prevention,
            disposal: evaluated.disposal,
        },
        purpose,
        config: evaluated.config,
        record,
        refresh,
        forced,
        importing,
        generating: None,
        deferral: planner.inputs.deferral(),
        left,
        creates: deferral::creation(&planner.inputs, &planner.world, instance),
        hooks: Arc::clone(&planner.inputs.session().hooks),
    };
    planner.start_call(run_plan_call(subject, call)).await;
}

/// Returns the purpose of an instance's plan call, with its evaluated configuration as far as the purpose needs it.
fn purpose(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    address: &ResourceInstance,
    template: &Arc<Template>,
) -> (Purpose, Evaluated) {
    match inputs.mode() {
        Mode::Normal => match evaluated::evaluate_instance(inputs, world, evaluation, instance, address, template) {
            Some(evaluated) => (Purpose::Change, evaluated),
            // The object is read all the same, so that the plan shows its drift.
            None => (Purpose::Refresh, Evaluated::nothing(template, Outcome::Failed)),
        },
        Mode::Destroy if stays(inputs, world, instance, address) => {
            (Purpose::Refresh, Evaluated::nothing(template, Outcome::Done))
        }
        Mode::Destroy => (Purpose::Delete(None), evaluated::unevaluated(world, evaluation, instance, template)),
        Mode::RefreshOnly => {
            (Purpose::Refresh, evaluated::evaluate_refreshed(world, evaluation, instance, address, template))
        }
    }
}

/// Ends an instance that has no object and gets none. A refresh-only plan still evaluates its postconditions, with an unknown object.
fn absent(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    address: &ResourceInstance,
    template: &Template,
) -> Outcome {
    if inputs.mode() != Mode::RefreshOnly {
        return Outcome::Done;
    }
    let unknown = Value::unknown(template.schema.block.implied_type().clone());
    outcome_of(postconditions(world, evaluation, instance, address, &unknown))
}

/// Returns the reason for a forced replacement of an instance.
fn forced(planner: &mut Planner<'_>, instance: Instance, address: &ResourceInstance) -> Option<ActionReason> {
    if triggers::triggered(planner, instance) {
        return Some(ActionReason::ReplaceByTriggers);
    }
    planner.inputs.options().replace.contains(address).then_some(ActionReason::ReplaceByRequest)
}

/// Starts planning the deposed objects of an instance.
async fn start_deposed(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: &ResourceInstance,
    (template, disposal): (&Template, Disposal),
    provider: &Arc<Checked>,
) {
    let entry = planner.state.get(address);
    let deposed: Vec<(DeposedKey, Arc<ObjectRecord>)> = entry
        .map(|entry| entry.deposed.iter().map(|(key, object)| (key.clone(), Arc::clone(object))).collect())
        .unwrap_or_default();
    for (key, record) in deposed {
        let own = record.provider().filter(|own| **own != template.provider);
        let config = own.unwrap_or(&template.provider).clone();
        let provider = match own {
            None => Some(Arc::clone(provider)),
            Some(own) => planner.providers.configured(own),
        };
        let Some(provider) = provider else {
            let problem = managers::no_manager(
                &planner.inputs,
                planner.providers,
                &config,
                address,
                header(&planner.world, instance),
            );
            planner.evaluation.diagnostics.push(problem);
            continue;
        };
        let orphan = OrphanedObject {
            address: address.clone(),
            deposed: Some(key),
            record,
            left: planner.managers.deferral_reason(&config),
            config,
            provider,
            schema: Arc::clone(&template.schema),
            create_before_destroy: false,
            span: body_span(&planner.world, instance),
            purpose: if planner.inputs.mode() == Mode::RefreshOnly { Purpose::Refresh } else { Purpose::Delete(None) },
            disposal,
            // `prevent_destroy` protects the current object only.
            prevention: Prevention::None,
            refresh: planner.inputs.options().refresh,
            deferral: planner.inputs.deferral(),
        };
        let (subject, call) = orphan.into_call(Arc::clone(&planner.inputs.session().hooks));
        planner.start_call(run_plan_call(subject, call)).await;
    }
}

/// Whether a destroy plan only refreshes an object, because a targeted one depends on it.
fn stays(inputs: &Inputs<'_>, world: &World, instance: Instance, address: &ResourceInstance) -> bool {
    let (module, node) = node_of(world, instance);
    inputs.targets().is_some_and(|included| !included.instance(module, node, address))
}

/// Returns whether to refresh an object. A targeted destroy does not refresh the dependents that are destroyed with a target.
fn refresh(inputs: &Inputs<'_>, world: &World, instance: Instance, address: &ResourceInstance) -> Refresh {
    let (module, node) = node_of(world, instance);
    match inputs.targets() {
        Some(included) if inputs.mode() == Mode::Destroy && !included.reads(module, node, address) => Refresh::Trust,
        _ => inputs.options().refresh,
    }
}

fn node_of(world: &World, instance: Instance) -> (ModuleIndex, NodeIndex) {
    let module = world.static_module(instance.module);
    (world.module(instance.module).of, module.resource(instance.resource as usize))
}

/// Returns the provider of an instance. Without a provider, it ends the instance.
pub(super) fn configured(planner: &mut Planner<'_>, template: &Template, instance: Instance) -> Option<Arc<Checked>> {
    if let Some(provider) = planner.providers.configured(&template.provider) {
        return Some(provider);
    }
    // If the provider could not be configured, its own error is reported already.
    if !planner.evaluation.diagnostics.has_errors() {
        let address = planner.world.instance_address(instance.module, instance.resource, instance.position);
        let problem = managers::no_manager(
            &planner.inputs,
            planner.providers,
            &template.provider,
            &address,
            header(&planner.world, instance),
        );
        planner.evaluation.diagnostics.push(problem);
    }
    instances::end_instance(planner, instance, Outcome::Failed);
    None
}

pub(super) fn header(world: &World, instance: Instance) -> Span {
    let config = &world.static_module(instance.module).config;
    config.resources.get_index(instance.resource as usize).map(|(_, resource)| resource.header_span).unwrap_or_default()
}

/// Returns the span for problems that a provider has with the arguments as a whole.
pub(super) fn body_span(world: &World, instance: Instance) -> Span {
    let config = &world.static_module(instance.module).config;
    let block = config.resources.get_index(instance.resource as usize);
    block.map(|(_, resource)| resource.body_start()).unwrap_or_default()
}

/// Records the result of a plan call: drift, prior state, value for references, postconditions and planned change.
pub(super) fn managed(planner: &mut Planner<'_>, event: ManagedEvent) {
    let ManagedEvent { mut subject, result } = event;
    let PlanCallResult { generated, previous, prior, gone, mut draft, diagnostics } = result;
    if let (Some(text), Some(importing)) = (generated, &mut subject.importing) {
        planner.plan.add_generated(Generated { id: importing.id().map(str::to_owned), text: text.clone() });
        importing.generated = Some(text);
    }
    if let (Some(found), Some(importing)) = (&prior, &mut subject.importing) {
        importing.complete(found.identity.as_ref());
    }
    let failed = diagnostics.has_errors();
    planner.evaluation.diagnostics.append(diagnostics);
    if !failed {
        results::note_drift(
            &planner.inputs,
            &planner.moves,
            &mut planner.plan,
            &subject,
            &previous,
            prior.as_ref(),
            gone,
        );
        results::note_prior(&mut planner.state, &mut planner.evaluation, &subject, &previous, prior.as_ref());
        let action = draft.as_ref().filter(|draft| draft.deferred.is_none()).map(|draft| draft.action);
        results::update_unchanged_record(&planner.inputs, &planner.world, &mut planner.state, &subject, action);
    }
    let mut outcome = if failed { Outcome::Failed } else { subject.outcome };
    let value = seen_by_others(&subject, draft.as_ref(), prior.as_ref());
    if let (Some(instance), Some(value)) = (subject.instance, &value) {
        let data = &mut planner.world.module_mut(instance.module).resources[instance.resource as usize];
        data.settle(instance.position, value.clone());
        let acts = draft.as_ref().is_some_and(|draft| draft.action != Action::NoOp);
        data.pending |= acts;
    }
    if let Some(draft) = draft.take_if(|draft| draft.deferred.is_some())
        && let Some(reason) = draft.deferred
    {
        deferral::note_deferred(planner, &subject, draft, reason);
        outcome = worse(outcome, Outcome::Deferred);
    }
    let mut undecided = subject.undecided;
    if let (Some(instance), Some(value), Outcome::Done) = (subject.instance, &value, outcome)
        && is_judged(&planner.inputs, draft.as_ref())
    {
        let status = postconditions(&planner.world, &mut planner.evaluation, instance, &subject.address, value);
        outcome = outcome_of(status);
        undecided |= status == CheckStatus::Unknown;
    }
    if let Some(draft) = draft {
        if undecided && draft.action == Action::NoOp {
            planner.plan.add_undecided(subject.address.clone());
        }
        results::note_change(&planner.inputs, &planner.moves, &mut planner.plan, &subject, draft);
    }
    match subject.instance {
        Some(instance) => instances::end_instance(planner, instance, outcome),
        None if subject.deposed.is_none() => {
            instances::show_orphans(&mut planner.world, &planner.schedule, &subject.address, value);
            instances::end_instance_at(planner, &subject.address, outcome);
        }
        None => {}
    }
}

/// Whether the plan evaluates the postconditions of an object.
fn is_judged(inputs: &Inputs<'_>, draft: Option<&Draft>) -> bool {
    match inputs.mode() {
        Mode::Normal => draft.is_some(),
        Mode::RefreshOnly => true,
        Mode::Destroy => false,
    }
}

pub(super) fn postconditions(
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    address: &ResourceInstance,
    value: &Value,
) -> CheckStatus {
    let node_ref = (instance.module, instance.resource, instance.position);
    evaluation.postconditions(world, node_ref, address, value)
}

/// Returns the values of `count` and `each` for an instance.
pub(super) fn repetition(world: &World, instance: Instance) -> Repetition {
    repetition_of(world, instance.module, instance.resource, instance.position)
}

/// Returns the value of an object that references see.
fn seen_by_others(subject: &ManagedSubject, draft: Option<&Draft>, prior: Option<&Object>) -> Option<Value> {
    let stays = |draft: &&Draft| !matches!(draft.action, Action::Delete | Action::Forget);
    match draft.filter(|_| subject.instance.is_some()).filter(stays) {
        Some(draft) => Some(draft.after.clone()),
        // In a refresh-only or destroy plan, references see the current object.
        None => prior.map(|prior| prior.value.clone()),
    }
}

/// The worse of two outcomes.
fn worse(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Outcome::Failed, _) | (_, Outcome::Failed) => Outcome::Failed,
        (Outcome::Deferred, _) | (_, Outcome::Deferred) => Outcome::Deferred,
        (Outcome::Done, Outcome::Done) => Outcome::Done,
    }
}

pub(super) async fn run_plan_call(subject: ManagedSubject, call: PlanCall) -> Event {
    let result = call.run().await;
    Event::Managed(Box::new(ManagedEvent { subject, result }))
}
