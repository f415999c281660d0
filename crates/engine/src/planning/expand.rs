//! Module calls and resources become instances.

use std::sync::Arc;

use groma_address::{InstanceKey, Mode as ResourceMode, Name};
use groma_config::Resource;
use groma_diagnostics::Diagnostics;
use groma_hcl::ExpressionKind;
use groma_lang::Scope;
use groma_state::State;
use groma_value::Value;

use super::planner::Planner;
use crate::checks::{Checkable, Verdict};
use crate::config_graph::{ModuleIndex, NodeIndex, narrow};
use crate::options::Deferral;
use crate::plan::Mode;
use crate::repetition::{Arguments, expand_or_defer};
use crate::walk::{Outcome, Visit};
use crate::world::{Expansion, InstanceScope, ModuleId, Repetition, World};

impl Planner<'_> {
    pub(super) fn expand_call(&mut self, visit: Visit, at: u32) {
        let config = Arc::clone(&self.world.static_module(visit.module).config);
        let Some((_, call)) = config.calls.get_index(at as usize) else { return self.end(visit, Outcome::Failed) };
        let repeats = call.is_repeated();
        let index = self.world.module(visit.module).of;
        let remains = self.remains.as_ref().filter(|remains| repeats && !remains.needs(index, visit.node));
        if let Some(remains) = remains {
            let address = &self.world.module(visit.module).address;
            let expansion = remains.recorded_call(address, call);
            return self.expanded_call(visit, at, expansion);
        }
        let arguments = Arguments::of_call(call);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, visit.module, &functions);
        let deferral = self.repetition_deferral();
        let Some(expansion) = expand_or_defer(arguments, deferral, &scope, &mut self.evaluation.diagnostics) else {
            return self.end(visit, Outcome::Failed);
        };
        self.expanded_call(visit, at, expansion);
    }

    fn expanded_call(&mut self, visit: Visit, at: u32, expansion: Expansion) {
        let instances = self.world.expand_call(visit.module, at, expansion);
        let is_open = self.world.module(visit.module).calls[at as usize].expansion == Expansion::Unknown;
        self.walk.expanded(&self.world, visit.module, at, &instances);
        self.end(visit, if is_open { Outcome::Deferred } else { Outcome::Done });
    }

    pub(super) fn expand_resource(&mut self, visit: Visit, at: u32) {
        let config = Arc::clone(&self.world.static_module(visit.module).config);
        let Some((_, resource)) = config.resources.get_index(at as usize) else {
            return self.end(visit, Outcome::Failed);
        };
        if self.template(visit.module, at).is_none() {
            return self.end(visit, Outcome::Failed);
        }
        let arguments = Arguments::of_resource(resource);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, visit.module, &functions);
        let expansion = match self.options.mode {
            // What is to be destroyed is what the state has, whatever the configuration says now.
            Mode::Destroy if resource.address.mode != ResourceMode::Ephemeral => {
                let wanted = self.expansion_of_needed_data(visit, resource);
                wanted.unwrap_or_else(|| {
                    let recorded = recorded_expansion(&self.world, &self.state, visit.module, at);
                    if stands_on_elements(resource) { with_elements(recorded, arguments, &scope) } else { recorded }
                })
            }
            Mode::Normal | Mode::RefreshOnly | Mode::Destroy => {
                let deferral = self.repetition_deferral();
                match expand_or_defer(arguments, deferral, &scope, &mut self.evaluation.diagnostics) {
                    Some(expansion) => expansion,
                    None => return self.end(visit, Outcome::Failed),
                }
            }
        };
        self.world.module_mut(visit.module).resources[at as usize].expand(expansion);
        self.show_what_there_is(visit.module, at);
        if self.loses_instances(visit.module, at) {
            self.world.module_mut(visit.module).resources[at as usize].pending = true;
        }
        let positions = self.planned_positions(visit, at);
        if self.included.is_some() {
            let planned: &[usize] = if self.options.mode == Mode::Destroy { &[] } else { &positions };
            self.settle_what_stays(visit.module, at, planned);
        }
        let has_conditions =
            !resource.lifecycle.preconditions.is_empty() || !resource.lifecycle.postconditions.is_empty();
        if has_conditions && self.options.mode != Mode::Destroy {
            self.leave_undecided(visit.module, at, &positions);
        }
        self.begin_instances(visit.module, at, positions);
    }

    /// The conditions of instances that nobody aimed at are not decided.
    fn leave_undecided(&mut self, module: ModuleId, at: u32, planned: &[usize]) {
        for position in 0..self.world.module(module).resources[at as usize].expansion.len() {
            // Positions come in order.
            if planned.binary_search(&position).is_err() {
                let address = self.world.instance_address(module, at, position);
                let block = address.config_resource().to_string();
                self.evaluation.checks.report(Checkable::Resource, block, address.to_string(), &Verdict::Unknown);
            }
        }
    }

    /// Objects that a partial plan leaves as they are have the values that the state has: outputs are made of them, and providers
    /// may be configured with them.
    fn settle_what_stays(&mut self, module: ModuleId, at: u32, planned: &[usize]) {
        let Some(template) = self.template(module, at) else { return };
        for position in 0..self.world.module(module).resources[at as usize].expansion.len() {
            // Positions come in order.
            if planned.binary_search(&position).is_ok() {
                continue;
            }
            let address = self.world.instance_address(module, at, position);
            let record = self.state.object(&address, None);
            if let Some(value) = record.and_then(|record| crate::record::decode(&template.schema, record)) {
                self.world.module_mut(module).resources[at as usize].settle(position, value);
            }
        }
    }

    /// The instances to plan: all, unless targets were chosen.
    fn planned_positions(&self, visit: Visit, at: u32) -> Vec<usize> {
        let data = &self.world.module(visit.module).resources[at as usize];
        let all = 0..data.expansion.len();
        match &self.included {
            None => all.collect(),
            // Some of them may be meant.
            Some(_) if data.expansion == Expansion::Unknown => all.collect(),
            Some(included) => {
                let index = self.world.module(visit.module).of;
                let chosen = |position: &usize| {
                    let address = self.world.instance_address(visit.module, at, *position);
                    let is_recorded = matches!(address.resource.mode, ResourceMode::Managed | ResourceMode::Data);
                    let is_read = is_recorded && included.reads(index, visit.node, &address);
                    is_read || included.instance(index, visit.node, &address)
                };
                all.filter(chosen).collect()
            }
        }
    }

    /// Returns the treatment of unknown repetition. A destroy plan takes the instances from the state.
    fn repetition_deferral(&self) -> Deferral {
        if self.options.mode == Mode::Destroy { Deferral::Refused } else { self.options.deferral }
    }

    /// Whether replacements of an instance create first: its own wish, or that of something that depends on it (PL-11).
    pub(super) fn creates_before_destroy(&self, module: ModuleId, at: u32, own: Option<bool>) -> bool {
        let index = self.world.module(module).of;
        let node = self.world.static_module(module).resource(at as usize);
        own.unwrap_or(false) || self.is_forced_to_create_first(index, node)
    }

    /// Whether replacements of a resource create first because of its own block or a dependent's (PL-11, OD-09).
    pub(super) fn is_forced_to_create_first(&self, index: ModuleIndex, node: NodeIndex) -> bool {
        let forced = self.forced_create_before_destroy.get(index.at()).and_then(|nodes| nodes.get(node.at()));
        forced.copied().unwrap_or(false)
    }

    /// The number of the resource at `address` in a module instance.
    pub(super) fn resource_number(&self, module: ModuleId, address: &groma_address::Resource) -> Option<u32> {
        self.world.static_module(module).config.resources.get_index_of(address).map(narrow)
    }
}

/// Whether what may be destroyed can depend on the elements of `for_each`.
fn stands_on_elements(resource: &Resource) -> bool {
    let prevent = resource.for_each.as_ref().and(resource.lifecycle.prevent_destroy.as_ref());
    prevent.is_some_and(|prevent| !matches!(prevent.kind, ExpressionKind::Bool(_)))
}

/// The instances of the state with the elements that the configuration has for them, as far as it can be evaluated.
fn with_elements(recorded: Expansion, arguments: Arguments<'_>, scope: &dyn Scope) -> Expansion {
    // Blocks that cannot be evaluated must not prevent destruction.
    let mut problems = Diagnostics::new();
    let configured = expand_or_defer(arguments, Deferral::Refused, scope, &mut problems);
    let (Expansion::ForEach(keys), Some(configured @ Expansion::ForEach(_))) = (&recorded, configured) else {
        return recorded;
    };
    let element = |(key, value): &(Name, Value)| {
        let position = configured.position(&InstanceKey::String(key.clone()));
        match position.map(|position| configured.repetition(position)) {
            Some(Repetition::Each(key, value)) => (key, value),
            _ => (key.clone(), value.clone()),
        }
    };
    Expansion::ForEach(keys.iter().map(element).collect())
}

/// The instances that the state has, in the shape of an expansion.
pub(crate) fn recorded_expansion(world: &World, state: &State, module: ModuleId, at: u32) -> Expansion {
    let data = world.module(module);
    let config = &world.static_module(module).config;
    let Some((address, resource)) = config.resources.get_index(at as usize) else { return Expansion::Absent };
    let absolute = address.absolute(data.address.clone());
    let Some(entry) = state.resource(&absolute) else {
        return match (&resource.count, &resource.for_each) {
            (Some(_), _) => Expansion::Count(0),
            (None, Some(_)) => Expansion::ForEach(Arc::from([])),
            // Not there, so nothing is known of it; what mentions it is not needed to destroy the rest.
            (None, None) => Expansion::Single,
        };
    };
    let mut elements = Vec::new();
    let mut numbers = Vec::new();
    for (key, _) in entry.instances() {
        match key {
            InstanceKey::None => return Expansion::Single,
            InstanceKey::Int(index) => numbers.push(*index),
            InstanceKey::String(key) => elements.push((key.clone(), Value::DYNAMIC)),
        }
    }
    match &numbers[..] {
        [] => Expansion::ForEach(elements.into()),
        numbers => Expansion::of_recorded(numbers),
    }
}
