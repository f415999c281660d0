//! Provisioners of the objects that an apply makes and destroys.

use std::sync::Arc;
use std::time::Instant;

use groma_address::{InstanceKey, ResourceInstance};
use groma_config::{Connection, Provisioner, ProvisionerWhen, RemovedFrom};
use groma_diagnostics::Diagnostic;
use groma_state::{DeposedKey, ObjectRecord, ObjectStatus, Outcome as RecordedOutcome};
use groma_value::Value;

use super::applier::Applier;
use super::event::{Event, Provisioned};
use super::talk::ApplyDone;
use crate::evaluation::repetition_of;
use crate::hooks::{Operation, Subject};
use crate::plan::ResourceChange;
use crate::provisioning::{self, Provision, Provisioners};
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, Repetition};

impl Applier<'_> {
    /// Whether something runs once the object of a change has come into being.
    pub(super) fn is_provisioned(&self, change: u32) -> bool {
        let Some((module, resource, _)) = self.place(change) else { return false };
        let config = &self.world.static_module(module).config;
        let block = config.resources.get_index(resource as usize);
        block.is_some_and(|(_, block)| block.provisioners.iter().any(|one| one.when == ProvisionerWhen::Create))
    }

    /// Runs what is to run now that an object is there. Until that is done the object counts as tainted.
    pub(super) fn provision(
        &mut self,
        step: u32,
        change: u32,
        deposed: Option<&DeposedKey>,
        done: ApplyDone,
        started: Instant,
    ) -> Option<Outcome> {
        let ApplyDone { applied, mut diagnostics, .. } = done;
        let applied = applied?;
        let value = applied.state.clone();
        let recorded = self.record(change, deposed, Operation::Create, None, applied, ObjectStatus::Tainted);
        if let Err(problem) = recorded {
            diagnostics.push(problem);
            return Some(self.unprovisioned(Provisioned { change, started, value, diagnostics }));
        }
        self.settle(change, value.clone());
        let address = self.changes[change as usize].address.clone();
        let Some(provisions) = self.creation_provisions(change, &value) else {
            return Some(self.unprovisioned(Provisioned { change, started, value, diagnostics }));
        };
        let (hooks, cancellation) = (Arc::clone(&self.session.hooks), self.session.cancellation.clone());
        self.go_on(step, async move {
            diagnostics.append(provisioning::carry_out(provisions, address, hooks, cancellation).await);
            Event::Provisioned(Box::new(Provisioned { change, started, value, diagnostics }))
        });
        None
    }

    fn creation_provisions(&mut self, change: u32, value: &Value) -> Option<Vec<Provision>> {
        let (module, resource, position) = self.place(change)?;
        let address = &self.changes[change as usize].address;
        let config = Arc::clone(&self.world.static_module(module).config);
        let (_, block) = config.resources.get_index(resource as usize)?;
        let repetition = repetition_of(&self.world, module, resource, position);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition).with_self(value);
        let when = ProvisionerWhen::Create;
        let provisioners = Provisioners { blocks: &block.provisioners, connection: block.connection.as_ref() };
        provisioning::prepare(&provisioners, when, address, &scope, &mut self.evaluation)
    }

    /// Takes in how the provisioners of a new object ended.
    pub(super) fn provisioned(&mut self, mut event: Provisioned) -> Outcome {
        let recorded = match event.diagnostics.has_errors() {
            false => self.make_ready(event.change),
            true => Ok(()),
        };
        event.diagnostics.extend(recorded.err());
        if event.diagnostics.has_errors() {
            return self.unprovisioned(event);
        }
        let Provisioned { change, started, value, diagnostics } = event;
        self.evaluation.diagnostics.append(diagnostics);
        let subject = Subject::of(&self.changes[change as usize].address, None, &value);
        self.session.hooks.apply_complete(&subject, Operation::Create, &value, started.elapsed());
        self.done.count(Operation::Create);
        self.postconditions(change, &value)
    }

    /// Tells that a creation failed although the object is there.
    fn unprovisioned(&mut self, event: Provisioned) -> Outcome {
        let Provisioned { change, started, value, diagnostics } = event;
        let subject = Subject::of(&self.changes[change as usize].address, None, &value);
        self.session.hooks.apply_errored(&subject, Operation::Create, &diagnostics, started.elapsed());
        self.evaluation.diagnostics.append(diagnostics);
        Outcome::Failed
    }

    #[allow(clippy::result_large_err, reason = "a failing disk ends the run")]
    fn make_ready(&mut self, change: u32) -> Result<(), Diagnostic> {
        let ResourceChange { address, provider, .. } = &self.changes[change as usize];
        let Some(tainted) = self.state.object(address, None).cloned() else { return Ok(()) };
        let ready = Arc::new(ObjectRecord { status: ObjectStatus::Ready, ..(*tainted).clone() });
        let outcome = RecordedOutcome::Present(Arc::clone(&ready));
        let noted = self.recorder.finished(address, None, provider, Some(&tainted), outcome);
        self.state.insert(address, None, provider, ready);
        noted
    }

    /// Returns the provisioners that run before an object is destroyed; none for a tainted object, which may never have been complete.
    /// `None` after an
    /// error, which is noted.
    pub(super) fn destruction_provisions(
        &mut self,
        change: u32,
        deposed: Option<&DeposedKey>,
        before: &ObjectRecord,
    ) -> Option<Vec<Provision>> {
        let address = self.changes[change as usize].address.clone();
        if deposed.is_some() || before.status == ObjectStatus::Tainted {
            return Some(Vec::new());
        }
        let Some((module, blocks, connection)) = self.provisioners_of(&address) else { return Some(Vec::new()) };
        let value = self.changes[change as usize].before.clone();
        let repetition = match &address.key {
            InstanceKey::None => Repetition::None,
            InstanceKey::Int(index) => Repetition::Count(*index),
            InstanceKey::String(key) => Repetition::Each(key.clone(), Value::DYNAMIC),
        };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition).with_self(&value);
        let provisioners = Provisioners { blocks: &blocks, connection: connection.as_ref() };
        provisioning::prepare(&provisioners, ProvisionerWhen::Destroy, &address, &scope, &mut self.evaluation)
    }

    /// Returns the provisioners of an object's block, or of the `removed` block that replaced it, and their module instance.
    fn provisioners_of(&self, address: &ResourceInstance) -> Option<(ModuleId, Vec<Provisioner>, Option<Connection>)> {
        if let Some(module) = self.world.find(&address.module)
            && let Some(block) = self.world.static_module(module).config.resources.get(&address.resource)
        {
            return (!block.provisioners.is_empty())
                .then(|| (module, block.provisioners.clone(), block.connection.clone()));
        }
        let root = &self.world.static_module(ModuleId::ROOT).config;
        let wanted = RemovedFrom::Resource(address.config_resource());
        let removed = root.removed.iter().find(|removed| removed.from == wanted)?;
        (!removed.provisioners.is_empty()).then(|| (ModuleId::ROOT, removed.provisioners.clone(), None))
    }
}
