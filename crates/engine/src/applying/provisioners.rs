//! Provisioners of the objects that an apply makes and destroys.

use std::sync::Arc;
use std::time::Instant;

use groma_address::{InstanceKey, ResourceInstance};
use groma_config::{Connection, Provisioner, ProvisionerWhen, RemovedFrom};
use groma_state::{DeposedKey, ObjectRecord, ObjectStatus};
use groma_value::Value;

use super::applier::Applier;
use super::apply_call::ApplyCallResult;
use super::event::{Event, Provisioned};
use super::inputs::Inputs;
use super::results;
use super::values;
use crate::evaluation::{Evaluation, repetition_of};
use crate::hooks::{Operation, Subject};
use crate::provisioning::{self, Provision, Provisioners};
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, Repetition, World};

/// Whether something runs once the object of a change has come into being.
pub(super) fn is_provisioned(inputs: &Inputs<'_>, world: &World, change: u32) -> bool {
    // Objects without an instance in the configuration are only deleted, and have no creation-time provisioners.
    let Some((module, resource, _)) = inputs.instance(change) else { return false };
    let config = &world.static_module(module).config;
    let block = config.resources.get_index(resource as usize);
    block.is_some_and(|(_, block)| block.provisioners.iter().any(|one| one.when == ProvisionerWhen::Create))
}

/// Records a new object as tainted, and runs its creation-time provisioners.
pub(super) fn provision(
    applier: &mut Applier<'_>,
    step: u32,
    change: u32,
    deposed: Option<&DeposedKey>,
    done: ApplyCallResult,
    started: Instant,
) -> Option<Outcome> {
    let ApplyCallResult { applied, mut diagnostics, .. } = done;
    let applied = applied?;
    let value = applied.state.clone();
    // Recorded as tainted first: if the process is killed during a provisioner, the next run replaces the object.
    let recorded = results::record(applier, change, deposed, Operation::Create, None, applied, ObjectStatus::Tainted);
    if let Err(problem) = recorded {
        diagnostics.push(problem);
        return Some(unprovisioned(
            &applier.inputs,
            &mut applier.evaluation,
            Provisioned { change, started, value, diagnostics },
        ));
    }
    // Provisioners and connections may refer to `self`, which is this value.
    applier.settle(change, value.clone());
    let address = applier.inputs.change(change).address.clone();
    let Some(provisions) =
        creation_provisions(&applier.inputs, &applier.world, &mut applier.evaluation, change, &value)
    else {
        return Some(unprovisioned(
            &applier.inputs,
            &mut applier.evaluation,
            Provisioned { change, started, value, diagnostics },
        ));
    };
    let (hooks, cancellation) =
        (Arc::clone(&applier.inputs.session().hooks), applier.inputs.session().cancellation.clone());
    // Another call of the step follows, so its dependents do not start yet.
    applier.continue_with(step, async move {
        diagnostics.append(provisioning::carry_out(provisions, address, hooks, cancellation).await);
        Event::Provisioned(Box::new(Provisioned { change, started, value, diagnostics }))
    });
    None
}

fn creation_provisions(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    change: u32,
    value: &Value,
) -> Option<Vec<Provision>> {
    let (module, resource, position) = inputs.instance(change)?;
    let address = &inputs.change(change).address;
    let config = Arc::clone(&world.static_module(module).config);
    let (_, block) = config.resources.get_index(resource as usize)?;
    let repetition = repetition_of(world, module, resource, position);
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, module, &functions).repeated(&repetition).with_self(value);
    let when = ProvisionerWhen::Create;
    let provisioners = Provisioners { blocks: &block.provisioners, connection: block.connection.as_ref() };
    provisioning::prepare(&provisioners, when, address, &scope, evaluation)
}

/// Processes the result of creation-time provisioners: if all succeeded, the object is no longer tainted.
pub(super) fn provisioned(applier: &mut Applier<'_>, mut event: Provisioned) -> Outcome {
    // A failed creation-time provisioner leaves the object tainted, as in Terraform (PL-05).
    let recorded = match event.diagnostics.has_errors() {
        false => applier.recording.make_ready(applier.inputs.change(event.change)),
        true => Ok(()),
    };
    event.diagnostics.extend(recorded.err());
    if event.diagnostics.has_errors() {
        // Failing to record the result counts as failure, because the state still says that the object is tainted.
        return unprovisioned(&applier.inputs, &mut applier.evaluation, event);
    }
    let Provisioned { change, started, value, diagnostics } = event;
    applier.evaluation.diagnostics.append(diagnostics);
    let subject = Subject::of(&applier.inputs.change(change).address, None, &value);
    applier.inputs.session().hooks.apply_complete(&subject, Operation::Create, &value, started.elapsed());
    applier.recording.count(Operation::Create);
    values::postconditions(&applier.inputs, &applier.world, &mut applier.evaluation, change, &value)
}

/// Reports a creation whose provisioners failed. The object exists and stays tainted.
fn unprovisioned(inputs: &Inputs<'_>, evaluation: &mut Evaluation, event: Provisioned) -> Outcome {
    let Provisioned { change, started, value, diagnostics } = event;
    let subject = Subject::of(&inputs.change(change).address, None, &value);
    inputs.session().hooks.apply_errored(&subject, Operation::Create, &diagnostics, started.elapsed());
    evaluation.diagnostics.append(diagnostics);
    Outcome::Failed
}

/// Returns the provisioners that run before an object is destroyed; none for a tainted object, which may never have been complete. `None`
/// after a reported error.
pub(super) fn destruction_provisions(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    change: u32,
    deposed: Option<&DeposedKey>,
    before: &ObjectRecord,
) -> Option<Vec<Provision>> {
    let address = inputs.change(change).address.clone();
    // Terraform runs destroy-time provisioners only for current, complete objects.
    if deposed.is_some() || before.status == ObjectStatus::Tainted {
        return Some(Vec::new());
    }
    let Some((module, blocks, connection)) = provisioners_of(world, &address) else { return Some(Vec::new()) };
    let value = inputs.change(change).before.clone();
    let repetition = match &address.key {
        InstanceKey::None => Repetition::None,
        InstanceKey::Int(index) => Repetition::Count(*index),
        // The value of the element is not stored in the state, so only the key is known.
        InstanceKey::String(key) => Repetition::Each(key.clone(), Value::DYNAMIC),
    };
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, module, &functions).repeated(&repetition).with_self(&value);
    let provisioners = Provisioners { blocks: &blocks, connection: connection.as_ref() };
    provisioning::prepare(&provisioners, ProvisionerWhen::Destroy, &address, &scope, evaluation)
}

/// Returns the provisioners of an object's block, or of the `removed` block that replaced it, and their module instance.
fn provisioners_of(
    world: &World,
    address: &ResourceInstance,
) -> Option<(ModuleId, Vec<Provisioner>, Option<Connection>)> {
    // A block that exists wins over a `removed` block of the same address.
    if let Some(module) = world.find(&address.module)
        && let Some(block) = world.static_module(module).config.resources.get(&address.resource)
    {
        return (!block.provisioners.is_empty())
            .then(|| (module, block.provisioners.clone(), block.connection.clone()));
    }
    let root = &world.static_module(ModuleId::ROOT).config;
    let wanted = RemovedFrom::Resource(address.config_resource());
    let removed = root.removed.iter().find(|removed| removed.from == wanted)?;
    (!removed.provisioners.is_empty()).then(|| (ModuleId::ROOT, removed.provisioners.clone(), None))
}
