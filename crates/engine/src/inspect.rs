//! Looking at values: what the console sees. Objects are what the state or a plan has; nothing is asked of providers.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_lang::{Availability, FunctionContext, Scope};
use groma_plan::Plan;
use groma_provider::Schema;
use groma_state::State;
use groma_value::{Type, Value};
use indexmap::IndexMap;

use crate::config_graph::NodeKind;
use crate::evaluation::Evaluation;
use crate::options::Input;
use crate::planning::expand::recorded_expansion;
use crate::prepared::Prepared;
use crate::record;
use crate::repetition::{Arguments, expand};
use crate::session::Session;
use crate::walk::{Outcome, Visit, Walk};
use crate::world::{Expansion, InstanceScope, ModuleId, SharedContext, World};

/// The values of a configuration over a state.
pub struct Inspection {
    world: World,
    functions: FunctionContext,
    mistakes: Diagnostics,
}

impl Inspection {
    /// Works out every value that can be worked out; what cannot is unknown.
    pub(crate) fn new(
        session: &Session,
        prepared: &Prepared,
        objects: Objects<'_>,
        inputs: IndexMap<groma_address::Name, Input>,
    ) -> Self {
        let world = World::new(Arc::clone(&prepared.graph), SharedContext::new(session, &prepared.templates));
        let evaluation = match &objects {
            Objects::State(_) => Evaluation::applying(session, inputs, &session.timestamp),
            // What will be another value by then is not known yet.
            Objects::Plan(..) => Evaluation::planning(session, inputs),
        };
        let functions = FunctionContext { availability: Availability::Console, ..(*evaluation.functions).clone() };
        let mut inspector = Inspector { prepared, objects, world, evaluation, mistakes: Diagnostics::new() };
        let mut walk = Walk::new(&inspector.world);
        while let Some((visit, _)) = walk.next() {
            inspector.visit(&mut walk, visit);
            walk.end(&inspector.world, visit, Outcome::Done);
        }
        Self { world: inspector.world, functions, mistakes: inspector.mistakes.without_cascades() }
    }

    /// The mistakes in the values of the configuration: what depends on them is unknown.
    pub fn mistakes(&self) -> &Diagnostics {
        &self.mistakes
    }

    /// Returns the scope of an expression in the root module.
    pub fn scope(&self) -> impl Scope + '_ {
        InstanceScope::new(&self.world, ModuleId::ROOT, &self.functions)
    }
}

/// The source of objects for an evaluation.
pub(crate) enum Objects<'a> {
    /// The state, which says how many there are as well.
    State(&'a State),
    /// A plan, by address: what it makes of objects, and the state that it began with.
    Plan(&'a State, HashMap<&'a ResourceInstance, &'a Value>),
}

impl<'a> Objects<'a> {
    /// The objects that will be there when the plan has been carried out.
    pub(crate) fn of_plan(plan: &'a Plan) -> Self {
        let current = plan.changes.iter().filter(|change| change.deposed.is_none());
        Self::Plan(&plan.prior_state, current.map(|change| (&change.address, &change.after)).collect())
    }
}

struct Inspector<'a> {
    prepared: &'a Prepared,
    objects: Objects<'a>,
    world: World,
    evaluation: Evaluation,
    mistakes: Diagnostics,
}

impl Inspector<'_> {
    fn visit(&mut self, walk: &mut Walk, visit: Visit) {
        let id = visit.module;
        match self.world.static_module(id).kind(visit.node) {
            NodeKind::Variable(at) => {
                self.evaluation.variable(&mut self.world, id, at);
            }
            NodeKind::Local(at) => {
                self.evaluation.local(&mut self.world, id, at);
            }
            NodeKind::Output(at) => {
                self.evaluation.output(&mut self.world, id, at);
            }
            NodeKind::Call(at) => self.expand_call(walk, id, at),
            NodeKind::Resource(at) => self.resource(id, at),
            NodeKind::Validation(at) => {
                self.evaluation.validation(&self.world, id, at);
            }
            NodeKind::Check(_)
            | NodeKind::Import(_)
            | NodeKind::Action(_)
            | NodeKind::Trigger(_)
            | NodeKind::Provider(_)
            | NodeKind::CallOutput { .. }
            | NodeKind::CallEnd(_) => {}
        }
        let problems = std::mem::take(&mut self.evaluation.diagnostics);
        self.mistakes.extend(problems.into_iter().filter(Diagnostic::is_error));
    }

    fn expand_call(&mut self, walk: &mut Walk, module: ModuleId, at: u32) {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, call)) = config.calls.get_index(at as usize) else { return };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        let expansion = expand(Arguments::of_call(call), &scope, &mut self.evaluation.diagnostics).unwrap_or_default();
        let instances = self.world.expand_call(module, at, expansion);
        walk.expanded(&self.world, module, at, &instances);
    }

    fn resource(&mut self, module: ModuleId, at: u32) {
        let expansion = self.expansion(module, at);
        let count = expansion.len();
        self.world.module_mut(module).resources[at as usize].expand(expansion);
        let index = self.world.module(module).of;
        let Some(template) = self.prepared.templates.resource(index, at) else { return };
        for position in 0..count {
            let address = self.world.instance_address(module, at, position);
            if let Some(value) = self.object(&address, &template.schema) {
                let data = &mut self.world.module_mut(module).resources[at as usize];
                data.settle(position, value);
            }
        }
    }

    /// The instances that the state has; where it has none of a resource, those that the configuration asks for, of which nothing else is known.
    fn expansion(&self, module: ModuleId, at: u32) -> Expansion {
        let config = &self.world.static_module(module).config;
        let Some((address, resource)) = config.resources.get_index(at as usize) else { return Expansion::Absent };
        if let Objects::State(state) = self.objects
            && state.resource(&address.absolute(self.world.module(module).address.clone())).is_some()
        {
            return recorded_expansion(&self.world, state, module, at);
        }
        let scope = InstanceScope::new(&self.world, module, &self.evaluation.functions);
        expand(Arguments::of_resource(resource), &scope, &mut Diagnostics::new()).unwrap_or_default()
    }

    /// The object; what nobody has yet is made of attributes that nobody knows.
    fn object(&self, address: &ResourceInstance, schema: &Schema) -> Option<Value> {
        let state = match &self.objects {
            Objects::State(state) => state,
            Objects::Plan(state, planned) => match planned.get(address) {
                Some(value) if !value.is_null() => return Some((*value).clone()),
                _ => state,
            },
        };
        match state.object(address, None) {
            Some(record) => record::decode(schema, record),
            None => Some(unknown_object(schema)),
        }
    }
}

fn unknown_object(schema: &Schema) -> Value {
    match schema.block.implied_type() {
        Type::Object(object) => {
            Value::object(object.iter().map(|(name, ty)| (name.clone(), Value::unknown(ty.clone()))))
        }
        _ => Value::DYNAMIC,
    }
}
