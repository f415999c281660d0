//! One instance of a module, with the values of what is in it.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

use groma_address::ModuleInstance;
use groma_config::Output;
use groma_lang::FunctionContext;
use groma_value::{Type, Value};

use super::World;
use super::expansion::{Expansion, Repetition};
use super::resource::ResourceData;
use crate::config_graph::ModuleIndex;
use crate::session::Session;
use crate::templates::Templates;

/// A module instance, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

impl ModuleId {
    /// The number of the root module's instance.
    pub const ROOT: Self = Self(0);

    /// Returns the number as an index into slices.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// One instance of a module.
#[derive(Debug)]
pub struct ModuleData {
    /// The address of the module instance.
    pub address: ModuleInstance,
    /// The module in the configuration.
    pub of: ModuleIndex,
    /// The instance that calls it.
    pub caller: Option<ModuleId>,
    /// The values of `count` and `each` in the call.
    pub repetition: Repetition,
    /// The values of variables, by position.
    pub variables: Vec<Option<Value>>,
    /// The values of locals, by position.
    pub locals: Vec<Option<Value>>,
    /// The values of outputs, by position.
    pub outputs: Vec<Option<Value>>,
    /// The module calls, by position.
    pub calls: Vec<CallData>,
    /// The resources, by position.
    pub resources: Vec<ResourceData>,
    /// The functions of this instance, if they are not the same for all instances of the module.
    pub(super) functions: OnceCell<Box<FunctionContext>>,
}

/// A module call in one instance of the calling module.
#[derive(Debug, Default)]
pub struct CallData {
    /// The expansion of the call.
    pub expansion: Expansion,
    /// Its instances, in the order of their keys.
    pub instances: Vec<ModuleId>,
}

/// The data of a run that all module instances share.
#[derive(Clone, Debug)]
pub struct SharedContext {
    /// `terraform.workspace`
    pub workspace: String,
    /// `path.cwd`
    pub working_directory: PathBuf,
    /// `path.root`, as people see it: `.` unless the configuration is elsewhere.
    pub root_directory: PathBuf,
    /// `terraform.applying`
    pub applying: bool,
    /// The prepared blocks, bound to their schemas.
    pub(super) templates: Arc<Templates>,
}

impl SharedContext {
    /// Creates the shared data of a walk that does not apply.
    pub(crate) fn new(session: &Session, templates: &Arc<Templates>) -> Self {
        Self {
            workspace: session.workspace.clone(),
            working_directory: session.working_directory.clone(),
            root_directory: session.root_directory.clone(),
            applying: false,
            templates: Arc::clone(templates),
        }
    }

    /// Creates the shared data of the walk that applies.
    pub(crate) fn applying(session: &Session, templates: &Arc<Templates>) -> Self {
        Self { applying: true, ..Self::new(session, templates) }
    }
}

impl World {
    /// Returns the value of a reference to a whole module call: an object of its outputs, or a collection of one object for each
    /// instance.
    pub(super) fn whole_call(&self, module: ModuleId, call: usize) -> Value {
        let data = &self.module(module).calls[call];
        let one = |position: usize| data.instances.get(position).map_or(Value::DYNAMIC, |id| self.outputs(*id));
        let repeats = matches!(data.expansion, Expansion::Abstract | Expansion::Count(_) | Expansion::ForEach(_));
        let Some(ty) = self.type_of_one(module, call).filter(|_| repeats) else { return data.expansion.collect(one) };
        match &data.expansion {
            Expansion::Abstract => self.any_instances(module, call, ty),
            // Where every output says of what type it is, those of all instances are of one type, however many there are.
            Expansion::Count(_) if !ty.has_dynamic() => Value::list(ty, (0..data.expansion.len()).map(one).collect()),
            Expansion::ForEach(elements) if !ty.has_dynamic() => {
                let named = elements.iter().enumerate().map(|(position, (key, _))| (key.clone(), one(position)));
                Value::map(ty, named)
            }
            expansion => expansion.collect(one),
        }
    }

    /// Any number of instances, of which only is known what outputs they have.
    fn any_instances(&self, module: ModuleId, call: usize, one: Type) -> Value {
        let written = self.static_module(module).config.calls.get_index(call);
        let has_count = written.is_some_and(|(_, written)| written.count.is_some());
        Value::unknown(if has_count { Type::list(one) } else { Type::map(one) })
    }

    /// Returns the type of the called module's outputs; `None` if the module is missing.
    fn type_of_one(&self, module: ModuleId, call: usize) -> Option<Type> {
        let called = self.graph.module(self.static_module(module).children.get(call).copied().flatten()?);
        Some(Type::object(called.config.outputs.iter().map(|(name, output)| (name.clone(), declared_type(output)))))
    }

    /// The outputs of a module instance as one object.
    fn outputs(&self, id: ModuleId) -> Value {
        let config = &self.static_module(id).config;
        let values = config.outputs.iter().zip(&self.module(id).outputs);
        Value::object(values.map(|((name, output), value)| {
            (name.clone(), value.clone().unwrap_or_else(|| Value::unknown(declared_type(output))))
        }))
    }
}

/// The type that an output says it has.
pub fn declared_type(output: &Output) -> Type {
    output.constraint.as_ref().map_or(Type::Dynamic, |constraint| constraint.ty.without_optional_attributes())
}
