//! Data resources, read while planning where that is possible (PL-06), and ephemeral resources, which are opened.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, Name, ResourceInstance};
use groma_config::Resource;
use groma_diagnostics::{Diagnostics, Severity};
use groma_plan::{Action, ActionReason, DeferralReason, Mode, ResourceChange};
use groma_provider::{Checked, planned_unknown};
use groma_state::{CheckStatus, State};
use groma_value::{Marks, Value};

use super::deferral;
use super::event::{Event, Instance};
use super::inputs::Inputs;
use super::instances;
use super::managed;
use super::managers;
use super::plan_builder::PlanBuilder;
use super::planner::Planner;
use crate::evaluation::{Evaluation, outcome_of};
use crate::hooks::EphemeralPhase;
use crate::moves::Moves;
use crate::options::{Deferral, Refresh};
use crate::read_call::{ReadCall, ReadResult};
use crate::record::{self, Circumstances, Object};
use crate::repetition::{Arguments, expand_or_defer};
use crate::templates::Template;
use crate::walk::{Outcome, Visit};
use crate::world::{Expansion, InstanceScope, World};

pub(super) async fn start_data(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: Arc<Template>,
) {
    // A destroy plan reads data only for the configuration of providers, and problems with it are warnings.
    if planner.inputs.mode() == Mode::Destroy {
        return start_remaining_data(planner, instance, address, template).await;
    }
    let Some(config) =
        data_config(&planner.inputs, &planner.world, &mut planner.evaluation, instance, &address, &template)
    else {
        return instances::end_instance(planner, instance, Outcome::Failed);
    };
    // Deferral is decided before the provider is asked: it may depend on a provider that is not configured yet.
    if let Some(reason) = deferral::deferral(planner, instance, &address, &template) {
        return deferral::defer_data(planner, instance, address, &template, &config, reason);
    }
    let Some(provider) = managed::configured(planner, &template, instance) else { return };
    // An unknown argument or a pending dependency postpones the read to apply (PL-06, PL-07).
    let reason = if !config.is_wholly_known() {
        Some(ActionReason::ReadBecauseConfigUnknown)
    } else {
        planner
            .pending
            .is_dependency_pending(&planner.inputs, &planner.world, &planner.state, instance)
            .then_some(ActionReason::ReadBecauseDependencyPending)
    };
    if let Some(reason) = reason {
        return defer_read(planner, instance, address, &template, config, reason);
    }
    // The provider itself may still defer the read, if the run allows it (PL-45).
    let deferral = planner.inputs.deferral();
    read_now(planner, instance, address, (provider, &template), config, deferral).await;
}

/// Starts the read of a data source.
pub(super) async fn read_now(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    (provider, template): (Arc<Checked>, &Template),
    config: Value,
    deferral: Deferral,
) {
    let call = ReadCall {
        address,
        provider,
        schema: Arc::clone(&template.schema),
        body: Arc::clone(&template.body),
        span: managed::body_span(&planner.world, instance),
        config,
        meta: template.meta.clone(),
        deferral,
        hooks: Arc::clone(&planner.inputs.session().hooks),
    };
    let call = async move {
        call.hooks.read_start(&call.address);
        Event::Data(instance, Box::new(call.run().await))
    };
    planner.start_call(call).await;
}

pub(super) async fn start_ephemeral(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: Arc<Template>,
) {
    let Some(config) =
        data_config(&planner.inputs, &planner.world, &mut planner.evaluation, instance, &address, &template)
    else {
        return instances::end_instance(planner, instance, Outcome::Failed);
    };
    // References see an unknown ephemeral value, so that it cannot be stored anywhere.
    let unknown = Value::unknown(template.schema.block.implied_type().clone()).with_marks(&Marks::EPHEMERAL);
    if deferral::deferral(planner, instance, &address, &template).is_some() {
        settle(&mut planner.world, instance, unknown);
        return instances::end_instance(planner, instance, Outcome::Deferred);
    }
    let Some(provider) = managed::configured(planner, &template, instance) else { return };
    // Opening needs every argument. Apply opens the resource again anyway, so nothing is lost.
    if !config.is_wholly_known() {
        settle(&mut planner.world, instance, unknown);
        return instances::end_instance(planner, instance, Outcome::Done);
    }
    let span = managed::body_span(&planner.world, instance);
    let (schema, body) = (Arc::clone(&template.schema), Arc::clone(&template.body));
    let deferral = planner.inputs.deferral();
    let meta = template.meta.clone();
    let call = ReadCall {
        address,
        provider,
        schema,
        body,
        span,
        config,
        meta,
        deferral,
        hooks: Arc::clone(&planner.inputs.session().hooks),
    };
    let call = async move {
        call.hooks.ephemeral_start(&call.address, EphemeralPhase::Open);
        Event::Data(instance, Box::new(call.run().await))
    };
    planner.start_call(call).await;
}

pub(super) fn settle(world: &mut World, instance: Instance, value: Value) {
    let data = &mut world.module_mut(instance.module).resources[instance.resource as usize];
    data.settle(instance.position, value);
}

fn data_config(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    address: &ResourceInstance,
    template: &Template,
) -> Option<Value> {
    let config = Arc::clone(&world.static_module(instance.module).config);
    let (_, resource) = config.resources.get_index(instance.resource as usize)?;
    let repetition = managed::repetition(world, instance);
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, instance.module, &functions).repeated(&repetition);
    // An instance that represents many has no key yet, on which its preconditions may depend.
    let status = match deferral::stands_for_many(inputs, world, instance) {
        true => CheckStatus::Pass,
        false => evaluation.preconditions(&resource.lifecycle, address, &scope),
    };
    if outcome_of(status) == Outcome::Failed {
        return None;
    }
    let value = evaluation.instance(&template.body, address, &scope)?;
    // Ephemeral resources may use ephemeral values; data sources are stored in the state.
    if address.resource.mode == ResourceMode::Data
        && let Some(problem) = template.ephemeral_misuse(&value, address)
    {
        evaluation.diagnostics.push(problem);
        return None;
    }
    Some(value)
}

fn defer_read(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: &Template,
    config: Value,
    reason: ActionReason,
) {
    let after = planned_unknown(&template.schema.block, &config);
    settle(&mut planner.world, instance, after.clone());
    // The stored result is outdated, and without it references cannot use it by mistake.
    planner.state.remove(&address, None);
    // A refresh-only plan has no actions, not even reads.
    if planner.inputs.mode() != Mode::RefreshOnly {
        plan_read(&planner.moves, &mut planner.plan, instance, address.clone(), template, after.clone(), reason);
    }
    // A condition that fails for any result stops the plan.
    let status = managed::postconditions(&planner.world, &mut planner.evaluation, instance, &address, &after);
    instances::end_instance(planner, instance, outcome_of(status));
}

/// Adds the planned read of a data source during apply.
pub(super) fn plan_read(
    moves: &Moves,
    plan: &mut PlanBuilder,
    instance: Instance,
    address: ResourceInstance,
    template: &Template,
    after: Value,
    reason: ActionReason,
) {
    let change = read_change(moves, address, template, after, Some(reason));
    plan.add_change(Some(instance), change);
}

pub(super) fn data_read(planner: &mut Planner<'_>, instance: Instance, read: ReadResult) {
    // In a destroy plan, failed reads are no errors.
    if planner.inputs.mode() == Mode::Destroy && read.address.resource.mode == ResourceMode::Data {
        return remaining_data_read(planner, instance, read);
    }
    // A deferred read has no result that the check could judge.
    if let Some(check) = check_around(&planner.world, instance).filter(|_| read.deferred.is_none()) {
        return checked_data_read(planner, instance, &check, read);
    }
    planner.evaluation.diagnostics.append(read.diagnostics);
    // Opened resources must be closed even if there is no result.
    read.open.into_iter().for_each(|open| planner.ephemerals.push(open));
    let Some(value) = read.value else {
        if read.address.resource.mode == ResourceMode::Ephemeral {
            planner.inputs.session().hooks.ephemeral_errored(&read.address, EphemeralPhase::Open, read.elapsed);
        }
        return instances::end_instance(planner, instance, Outcome::Failed);
    };
    if let Some(reason) = read.deferred {
        return read_later(planner, instance, read.address, reason);
    }
    settle(&mut planner.world, instance, value.clone());
    if read.address.resource.mode == ResourceMode::Ephemeral {
        planner.inputs.session().hooks.ephemeral_complete(&read.address, EphemeralPhase::Open, read.elapsed);
    }
    if read.address.resource.mode == ResourceMode::Data {
        planner.inputs.session().hooks.read_complete(&read.address, &value);
        record_data(planner, instance, &read.address, &value);
    }
    let status = managed::postconditions(&planner.world, &mut planner.evaluation, instance, &read.address, &value);
    instances::end_instance(planner, instance, outcome_of(status));
}

/// Defers a data source or ephemeral resource whose provider deferred the read.
pub(super) fn read_later(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    reason: DeferralReason,
) {
    let Some(template) = managers::template_of(&planner.inputs, &planner.world, &planner.managers, instance) else {
        return;
    };
    if address.resource.mode == ResourceMode::Ephemeral {
        let unknown = Value::unknown(template.schema.block.implied_type().clone()).with_marks(&Marks::EPHEMERAL);
        settle(&mut planner.world, instance, unknown);
        return instances::end_instance(planner, instance, Outcome::Deferred);
    }
    match data_config(&planner.inputs, &planner.world, &mut planner.evaluation, instance, &address, &template) {
        Some(config) => deferral::defer_data(planner, instance, address, &template, &config, reason),
        None => instances::end_instance(planner, instance, Outcome::Failed),
    }
}

pub(super) fn record_data(planner: &mut Planner<'_>, instance: Instance, address: &ResourceInstance, value: &Value) {
    let Some(template) = managers::template_of(&planner.inputs, &planner.world, &planner.managers, instance) else {
        return;
    };
    let object = Object { value: value.clone(), private: Arc::default(), identity: None };
    match record::encode(&template.schema, &object, Circumstances::default()) {
        Ok(record) => {
            planner.state.insert(address, None, &template.provider, Arc::new(record));
        }
        Err(problem) => planner.evaluation.diagnostics.push(record::unrecordable(address, &problem)),
    }
}

/// Returns the change that plans or defers a read.
pub(super) fn read_change(
    moves: &Moves,
    address: ResourceInstance,
    template: &Template,
    after: Value,
    reason: Option<ActionReason>,
) -> ResourceChange {
    ResourceChange {
        previous_address: moves.previous.get(&address).cloned().map(Box::new),
        address,
        deposed: None,
        provider: Arc::clone(&template.provider),
        schema: Arc::clone(&template.schema),
        action: Action::Read,
        reason,
        before: template.schema.block.null_value(),
        after,
        replace_paths: Vec::new(),
        planned_private: Arc::default(),
        planned_identity: None,
        create_before_destroy: false,
        importing: None,
    }
}

/// Returns the check block that contains a data source, if there is one.
pub(super) fn check_around(world: &World, instance: Instance) -> Option<Name> {
    let config = &world.static_module(instance.module).config;
    config.resources.get_index(instance.resource as usize)?.1.check.clone()
}

pub(super) fn checked_data_read(planner: &mut Planner<'_>, instance: Instance, check: &Name, read: ReadResult) {
    let Some(template) = managers::template_of(&planner.inputs, &planner.world, &planner.managers, instance) else {
        return instances::end_instance(planner, instance, Outcome::Failed);
    };
    let ReadResult { address, config, value, diagnostics, .. } = read;
    // Problems inside of a check block are results of the check, not of the run (PL-27).
    let value = value.filter(|_| !diagnostics.has_errors());
    planner.evaluation.checked_data(&planner.world, instance.module, check, diagnostics);
    let (known, outcome) = match value {
        Some(value) => {
            planner.inputs.session().hooks.read_complete(&address, &value);
            settle(&mut planner.world, instance, value.clone());
            (
                value.clone(),
                outcome_of(managed::postconditions(
                    &planner.world,
                    &mut planner.evaluation,
                    instance,
                    &address,
                    &value,
                )),
            )
        }
        None => {
            let unknown = planned_unknown(&template.schema.block, &config);
            settle(&mut planner.world, instance, unknown.clone());
            (unknown, Outcome::Done)
        }
    };
    // The state has no unknown values; the next run reads the data source again.
    record_data(planner, instance, &address, &known.unknown_as_null());
    // Terraform plans to read nested data sources again during apply, because checks are decided last.
    if planner.inputs.mode() == Mode::Normal {
        plan_read(
            &planner.moves,
            &mut planner.plan,
            instance,
            address,
            &template,
            known,
            ActionReason::ReadBecauseCheckNested,
        );
    }
    instances::end_instance(planner, instance, outcome);
}

/// Reads a data source in a destroy plan, if its configuration and provider are known; otherwise uses the recorded result.
pub(super) async fn start_remaining_data(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: Arc<Template>,
) {
    // `-refresh=false` trusts the state, also for data sources that providers are configured with.
    if planner.inputs.options().refresh == Refresh::Trust
        || is_unread_dependent(&planner.inputs, &planner.world, instance, &address)
    {
        return settle_recorded(planner, instance, &address);
    }
    let repetition = managed::repetition(&planner.world, instance);
    let functions = Arc::clone(&planner.evaluation.functions);
    let scope = InstanceScope::new(&planner.world, instance.module, &functions).repeated(&repetition);
    let (config, problems) = template.body.evaluate(&scope);
    let provider = planner.providers.configured(&template.provider);
    // Data that cannot be read again has the value of the last run: a destroy must remain possible.
    let (Some(provider), true) = (provider, config.is_wholly_known() && !problems.has_errors()) else {
        return settle_recorded(planner, instance, &address);
    };
    read_now(planner, instance, address, (provider, &template), config, Deferral::Refused).await;
}

pub(super) fn remaining_data_read(planner: &mut Planner<'_>, instance: Instance, read: ReadResult) {
    let ReadResult { address, value, mut diagnostics, .. } = read;
    if let Some(value) = value.filter(|_| !diagnostics.has_errors()) {
        planner.inputs.session().hooks.read_complete(&address, &value);
        planner.evaluation.diagnostics.append(diagnostics);
        record_data(planner, instance, &address, &value);
        settle(&mut planner.world, instance, value);
        return instances::end_instance(planner, instance, Outcome::Done);
    }
    // A destroy plan evaluates no checks, so problems inside of check blocks are not reported.
    if check_around(&planner.world, instance).is_none() {
        downgrade(&mut diagnostics);
        planner.evaluation.diagnostics.append(diagnostics);
    }
    settle_recorded(planner, instance, &address);
}

/// Returns the data sources that a destroy plan removes from the state.
pub(super) fn removed_data(inputs: &Inputs<'_>, state: &State) -> Vec<ResourceInstance> {
    // Only a destroy plan removes data sources together with their dependents.
    if inputs.mode() != Mode::Destroy {
        return Vec::new();
    }
    let data = state.iter().filter(|view| view.resource.resource.mode == ResourceMode::Data);
    let is_targeted = |address: &ResourceInstance| inputs.targets().is_none_or(|some| some.chosen(address));
    data.map(|view| view.address()).filter(is_targeted).collect()
}

/// Returns the declared instances of a data source that a provider configuration needs in a destroy plan; `None` for other resources, or
/// if `count` or `for_each` cannot be evaluated. The recorded instances are used then.
pub(super) fn expansion_of_needed_data(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &Evaluation,
    visit: Visit,
    resource: &Resource,
) -> Option<Expansion> {
    // Other data sources exist only in the state for a destroy plan, whatever the configuration says.
    let index = world.module(visit.module).of;
    let is_needed = inputs.destroy_needs().is_some_and(|destroy_scope| destroy_scope.needs(index, visit.node));
    if resource.address.mode != ResourceMode::Data || !is_needed {
        return None;
    }
    let scope = InstanceScope::new(world, visit.module, &evaluation.functions);
    let mut problems = Diagnostics::new();
    let wanted = expand_or_defer(Arguments::of_resource(resource), Deferral::Refused, &scope, &mut problems);
    wanted.filter(|_| !problems.has_errors())
}

/// Whether a targeted destroy includes a data source only as a dependent, so that it is not read.
fn is_unread_dependent(inputs: &Inputs<'_>, world: &World, instance: Instance, address: &ResourceInstance) -> bool {
    let module = world.module(instance.module).of;
    let node = world.static_module(instance.module).resource(instance.resource as usize);
    let is_needed = inputs.destroy_needs().is_some_and(|destroy_scope| destroy_scope.needs(module, node));
    !is_needed && inputs.targets().is_some_and(|included| !included.reads(module, node, address))
}

/// Ends a data source with its recorded result.
fn settle_recorded(planner: &mut Planner<'_>, instance: Instance, address: &ResourceInstance) {
    let template = planner.inputs.template(&planner.world, instance.module, instance.resource);
    if let (Some(record), Some(template)) = (planner.state.object(address, None), template)
        && let Some(value) = record::decode(&template.schema, record)
    {
        settle(&mut planner.world, instance, value);
    }
    instances::end_instance(planner, instance, Outcome::Done);
}

/// Turns errors into warnings.
fn downgrade(diagnostics: &mut Diagnostics) {
    for problem in diagnostics.iter_mut() {
        problem.severity = Severity::Warning;
    }
}
