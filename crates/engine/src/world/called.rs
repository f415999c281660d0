//! Values of references to module calls.

use groma_config::Output;
use groma_value::{Type, Value};

use super::{Expansion, ModuleId, World};

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
