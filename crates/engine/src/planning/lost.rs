//! Resources whose instances the plan leaves as they are, whether there are more or fewer than declared: references to a whole resource
//! see what
//! exists.

use std::collections::BTreeMap;

use groma_address::{InstanceKey, Mode as ResourceMode, ResourceInstance};
use groma_value::Value;

use super::planner::Planner;
use crate::plan::Mode;
use crate::record;
use crate::world::ModuleId;

impl Planner<'_> {
    /// Makes references to an expanded resource see its existing instances instead of the declared ones.
    pub(super) fn show_what_there_is(&mut self, module: ModuleId, at: u32) {
        if let Some(lost) = self.lost(module, at) {
            self.world.module_mut(module).resources[at as usize].show_what_there_is(lost);
        }
    }

    /// Returns the orphaned instances that are refreshed together with the declared ones, so that references see their current objects.
    pub(super) fn lost_to_look_at(&self, module: ModuleId, at: u32) -> Vec<ResourceInstance> {
        let place = self.world.resource_address(module, at);
        if self.options.mode != Mode::RefreshOnly || place.resource.mode != ResourceMode::Managed {
            return Vec::new();
        }
        let is_chosen = |address: &ResourceInstance| {
            self.included.as_ref().is_none_or(|included| included.left_over(&self.graph, address))
        };
        // Another provider than that of the block may be configured later.
        let has_manager = |address: &ResourceInstance| {
            self.state.provider(address, None).is_some_and(|config| self.providers.configured(config).is_some())
        };
        let lost = self.lost(module, at).unwrap_or_default();
        lost.into_keys().map(|key| place.instance(key)).filter(is_chosen).filter(has_manager).collect()
    }

    /// Shows one of them as it is now; none where it is gone.
    pub(super) fn show_lost(&mut self, address: &ResourceInstance, object: Option<Value>) {
        if let Some((module, resource)) = self.lost.get(address) {
            self.world.module_mut(*module).resources[*resource as usize].show_lost(&address.key, object);
        }
    }

    /// The objects that a resource has lost and keeps. None where all is done that the block says.
    fn lost(&self, module: ModuleId, at: u32) -> Option<BTreeMap<InstanceKey, Value>> {
        let data = self.world.module(module);
        let place = self.world.resource_address(module, at);
        let template = self.templates.resource(data.of, at)?;
        let is_only_looked_at = match (place.resource.mode, self.options.mode) {
            (ResourceMode::Managed, Mode::RefreshOnly) => true,
            (ResourceMode::Managed | ResourceMode::Data, Mode::Normal | Mode::RefreshOnly) => false,
            (ResourceMode::Ephemeral | ResourceMode::List, _) | (_, Mode::Destroy) => return None,
        };
        if !is_only_looked_at && self.included.is_none() {
            return None;
        }
        let is_beside = |key: &InstanceKey| {
            let included = self.included.as_ref();
            included.is_some_and(|included| !included.left_over(&self.graph, &place.instance(key.clone())))
        };
        let expansion = &data.resources[at as usize].expansion;
        let instances = self.state.resource(&place).into_iter().flat_map(|entry| entry.instances());
        let lost =
            instances.filter(|(key, _)| expansion.position(key).is_none() && (is_only_looked_at || is_beside(key)));
        let objects = lost.filter_map(|(key, instance)| {
            let object = record::decode(&template.schema, instance.current.as_ref()?)?;
            Some((key.clone(), object))
        });
        Some(objects.collect())
    }
}
