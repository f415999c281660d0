//! Resources whose instances the plan leaves as they are, be there more or fewer than the block makes: whoever names one as a whole sees what
//! there is.

use groma_address::{InstanceKey, Mode as ResourceMode};
use groma_value::Value;

use super::planner::Planner;
use crate::plan::Mode;
use crate::record;
use crate::world::ModuleId;

impl Planner<'_> {
    /// Has the name of a resource that was expanded mean what there is, where this is not what the block says.
    pub(super) fn show_what_there_is(&mut self, module: ModuleId, at: u32) {
        if let Some(lost) = self.lost(module, at) {
            self.world.module_mut(module).resources[at as usize].show_what_there_is(lost);
        }
    }

    /// The objects that a resource has lost and keeps. None where all is done that the block says.
    fn lost(&self, module: ModuleId, at: u32) -> Option<Vec<(InstanceKey, Value)>> {
        let leaves_objects = match self.options.mode {
            Mode::RefreshOnly => true,
            Mode::Normal => self.included.is_some(),
            Mode::Destroy => false,
        };
        let data = self.world.module(module);
        let (address, _) = self.world.static_module(module).config.resources.get_index(at as usize)?;
        let template = self.templates.resource(data.of, at)?;
        if !leaves_objects || address.mode != ResourceMode::Managed {
            return None;
        }
        let place = address.absolute(data.address.clone());
        let stays = |key: &InstanceKey| {
            let included = self.included.as_ref().filter(|_| self.options.mode == Mode::Normal);
            included.is_none_or(|included| !included.left_over(&self.graph, &place.instance(key.clone())))
        };
        let expansion = &data.resources[at as usize].expansion;
        let instances = self.state.resource(&place).into_iter().flat_map(|entry| entry.instances());
        let lost = instances.filter(|(key, _)| expansion.position(key).is_none() && stays(key));
        let objects = lost.filter_map(|(key, instance)| {
            let object = record::decode(&template.schema, instance.current.as_ref()?)?;
            Some((key.clone(), object))
        });
        Some(objects.collect())
    }
}
