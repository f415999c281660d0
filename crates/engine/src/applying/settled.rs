//! Values that are known before the first step, because the plan does not change them.

use std::collections::{BTreeMap, HashMap, HashSet};

use groma_address::{InstanceKey, Mode as ResourceMode, ResourceInstance};
use groma_state::InstanceView;
use groma_value::Value;

use super::applier::Applier;
use crate::plan::{Action, DeferredChange, Mode, ResourceChange};
use crate::record;
use crate::world::ModuleId;

impl Applier<'_> {
    /// Sets the values of everything that the plan does not change.
    pub(super) fn settle_known(&mut self, deferred: &[DeferredChange]) {
        self.places = self.changes.iter().map(|change| self.world.locate(&change.address)).collect();
        for (change, place) in self.changes.iter().zip(&self.places) {
            if change.deposed.is_some() {
                continue;
            }
            let value =
                if matches!(change.action, Action::Delete | Action::Forget) { &change.before } else { &change.after };
            if let Some((module, resource, position)) = *place {
                let data = &mut self.world.module_mut(module).resources[resource as usize];
                data.settle(position, value.clone());
            }
        }
        self.settle_data();
        for DeferredChange { change, .. } in deferred {
            if let Some((module, resource, position)) = self.world.locate(&change.address)
                && change.deposed.is_none()
                && !change.after.is_null()
            {
                self.world.module_mut(module).resources[resource as usize].settle(position, change.after.clone());
            }
        }
    }

    /// Instances beside those that a partial plan is about are as the state has them.
    pub(super) fn settle_beside(&mut self) {
        let blocks = self.changes.iter().filter_map(|change| self.world.locate_block(&change.address));
        let resources: HashSet<(ModuleId, u32)> = blocks.collect();
        self.settle_recorded(|_| true, |module, resource| resources.contains(&(module, resource)));
    }

    /// Makes references to a resource see its existing instances where the plan leaves them as they are.
    pub(super) fn show_what_there_is(&mut self) {
        let ends = |action| matches!(action, Action::Delete | Action::Forget);
        let gone = |change: &&ResourceChange| change.deposed.is_none() && ends(change.action);
        let gone: HashSet<&ResourceInstance> = self.changes.iter().filter(gone).map(|change| &change.address).collect();
        let blocks = self.changes.iter().filter_map(|change| self.world.locate_block(&change.address));
        let mut lost: HashMap<(ModuleId, u32), BTreeMap<InstanceKey, Value>> =
            blocks.map(|at| (at, BTreeMap::new())).collect();
        for view in self.state.iter() {
            let address = view.address();
            let Some((module, resource)) = self.world.locate_block(&address) else { continue };
            let lost = lost.entry((module, resource)).or_default();
            let template = self.prepared.templates.resource(self.world.module(module).of, resource);
            if self.world.locate(&address).is_none()
                && !gone.contains(&address)
                && let (Some(record), Some(template)) = (&view.record.current, template)
                && let Some(object) = record::decode(&template.schema, record)
            {
                lost.insert(address.key, object);
            }
        }
        for ((module, resource), lost) in lost {
            self.world.module_mut(module).resources[resource as usize].show_what_there_is(lost);
        }
    }

    /// Data that was read while planning is in the state.
    fn settle_data(&mut self) {
        // Where nothing is changed, there is no change either that has the value of an object.
        let only_reads = self.mode == Mode::RefreshOnly;
        self.settle_recorded(|view| only_reads || view.resource.resource.mode != ResourceMode::Managed, |_, _| true);
    }

    /// Objects of the state, of those instances that are meant, in the resources that are.
    fn settle_recorded(&mut self, is_meant: impl Fn(&InstanceView<'_>) -> bool, is_in: impl Fn(ModuleId, u32) -> bool) {
        let mut found = Vec::new();
        for view in self.state.iter().filter(is_meant) {
            let Some((module, resource, position)) = self.world.locate(&view.address()) else { continue };
            if is_in(module, resource)
                && let Some(record) = &view.record.current
                && let Some(template) = self.prepared.templates.resource(self.world.module(module).of, resource)
                && let Some(value) = record::decode(&template.schema, record)
            {
                found.push((module, resource, position, value));
            }
        }
        for (module, resource, position, value) in found {
            self.world.module_mut(module).resources[resource as usize].settle(position, value);
        }
    }
}
