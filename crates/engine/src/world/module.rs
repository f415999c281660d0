//! One instance of a module, with the values of what is in it.

use std::cell::OnceCell;

use groma_address::ModuleInstance;
use groma_lang::FunctionContext;
use groma_value::{Type, Value};

use super::expansion::{Expansion, Repetition};
use crate::config_graph::ModuleIndex;
use crate::deprecated_objects::Marker;

/// A module instance, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

impl ModuleId {
    /// The root module.
    pub const ROOT: Self = Self(0);

    /// For indexing.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// One instance of a module.
#[derive(Debug)]
pub struct ModuleData {
    /// Its address.
    pub address: ModuleInstance,
    /// Which module it is an instance of.
    pub of: ModuleIndex,
    /// The instance that calls it.
    pub caller: Option<ModuleId>,
    /// What `count` and `each` were in the call.
    pub repetition: Repetition,
    /// Values of variables.
    pub variables: Vec<Option<Value>>,
    /// Values of locals.
    pub locals: Vec<Option<Value>>,
    /// Values of outputs.
    pub outputs: Vec<Option<Value>>,
    /// Module calls.
    pub calls: Vec<CallData>,
    /// Resources.
    pub resources: Vec<ResourceData>,
    /// What it can call, where that is not the same for all instances of the module.
    pub(super) functions: OnceCell<Box<FunctionContext>>,
}

/// A module call in one instance of the calling module.
#[derive(Debug, Default)]
pub struct CallData {
    /// How it repeats.
    pub expansion: Expansion,
    /// Its instances, in the order of their keys.
    pub instances: Vec<ModuleId>,
}

/// A resource in one module instance.
#[derive(Debug, Default)]
pub struct ResourceData {
    /// How it repeats.
    pub expansion: Expansion,
    /// The value of each instance, in the order of their keys; none before it is planned and after a failure.
    pub values: Vec<Option<Value>>,
    /// Whether an instance is going to change.
    pub pending: bool,
    pub(super) whole: OnceCell<Value>,
    pub(super) marker: Option<Box<Marker>>,
    /// What there is where it is switched off, if it can be.
    pub(super) absent: Option<Box<Value>>,
}

impl ResourceData {
    /// Sets how it repeats.
    pub fn expand(&mut self, expansion: Expansion) {
        self.values = vec![None; expansion.len()];
        self.expansion = expansion;
        self.whole = OnceCell::new();
    }

    /// Gives the instance at `position` its value.
    pub fn settle(&mut self, position: usize, value: Value) {
        let value = self.marked(position, value);
        if let Some(slot) = self.values.get_mut(position) {
            *slot = Some(value);
            self.whole = OnceCell::new();
        }
    }

    /// Leaves out instances without a value: the names that have none, and the numbers after the last that has one.
    pub fn keep_settled(&mut self) {
        let kept = match &self.expansion {
            Expansion::Count(_) => {
                let count = self.values.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
                self.values.truncate(count);
                Expansion::Count(count as u64)
            }
            Expansion::ForEach(elements) => {
                let elements = elements.iter().zip(&self.values).filter(|(_, value)| value.is_some());
                let kept = elements.map(|(element, _)| element.clone()).collect();
                self.values.retain(Option::is_some);
                Expansion::ForEach(kept)
            }
            _ => return,
        };
        self.expansion = kept;
        self.whole = OnceCell::new();
    }

    /// The object of the instance at `position` with marks on what is deprecated about it.
    pub fn marked(&self, position: usize, object: Value) -> Value {
        match &self.marker {
            Some(marker) => marker.mark(object, &self.expansion.key(position)),
            None => object,
        }
    }

    /// The value of the instance at `position`; unknown where there is none.
    pub(super) fn value(&self, position: usize) -> Value {
        self.values.get(position).cloned().flatten().unwrap_or(Value::DYNAMIC)
    }

    /// What the resource's name alone means: the object, or a tuple or object of all of them.
    pub(super) fn whole(&self) -> Value {
        match self.expansion {
            // Most resources do not repeat: nothing is put together then.
            Expansion::Single => self.value(0),
            Expansion::Absent => self.absent.as_deref().cloned().unwrap_or_else(|| Value::null(Type::Dynamic)),
            _ => self.whole.get_or_init(|| self.expansion.collect(|position| self.value(position))).clone(),
        }
    }
}
