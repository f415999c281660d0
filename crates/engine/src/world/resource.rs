//! A resource in one module instance, with the objects of its instances.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use groma_address::{InstanceKey, Name};
use groma_value::{Type, Value};

use super::expansion::Expansion;
use crate::deprecation::Marker;

/// A resource in one module instance.
#[derive(Debug, Default)]
pub struct ResourceData {
    /// The expansion of the resource.
    pub expansion: Expansion,
    /// The value of each instance, in the order of their keys; none before it is planned and after a failure.
    pub values: Vec<Option<Value>>,
    /// Whether an instance is going to change.
    pub pending: bool,
    /// The objects of orphaned instances that stay as they are, by key.
    pub(super) orphaned: Option<BTreeMap<InstanceKey, Value>>,
    pub(super) whole: OnceCell<Value>,
    pub(super) marker: Option<Box<Marker>>,
    /// The value of a disabled resource.
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

    /// Makes references see the existing instances: those with a value, and the objects `lost` of orphaned instances that stay.
    pub fn show_existing_instances(&mut self, orphaned: BTreeMap<InstanceKey, Value>) {
        self.orphaned = Some(orphaned);
        self.whole = OnceCell::new();
    }

    /// Shows one of the lost instances with this object; none takes it out.
    pub fn show_orphans(&mut self, key: &InstanceKey, object: Option<Value>) {
        let Some(orphaned) = &mut self.orphaned else { return };
        match object {
            Some(object) => orphaned.insert(key.clone(), object),
            None => orphaned.remove(key),
        };
        self.whole = OnceCell::new();
    }

    /// Leaves out instances without a value: the names that have none, and the numbers after the last that has one.
    pub fn keep_expanded(&mut self) {
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

    /// Returns the value of the instance at `position`; unknown if it is not evaluated yet.
    pub(super) fn value(&self, position: usize) -> Value {
        self.values.get(position).cloned().flatten().unwrap_or(Value::DYNAMIC)
    }

    /// Returns the value of a reference to the whole resource: the object, or a tuple or object of all instances.
    pub(super) fn whole(&self) -> Value {
        match self.expansion {
            // Most resources do not repeat: nothing is put together then.
            Expansion::Single => self.value(0),
            Expansion::Absent => self.absent.as_deref().cloned().unwrap_or_else(|| Value::null(Type::Dynamic)),
            _ => self.whole.get_or_init(|| self.together()).clone(),
        }
    }

    fn together(&self) -> Value {
        match (&self.expansion, &self.orphaned) {
            (Expansion::Count(_), Some(orphaned)) => self.numbers_there(orphaned),
            (Expansion::ForEach(elements), Some(orphaned)) => self.names_there(elements, orphaned),
            (expansion, _) => expansion.collect(|position| self.value(position)),
        }
    }

    fn names_there(&self, elements: &[(Name, Value)], orphaned: &BTreeMap<InstanceKey, Value>) -> Value {
        let of_block = elements.iter().zip(&self.values).filter_map(|((name, _), value)| Some((name, value.as_ref()?)));
        let orphaned = orphaned.iter().filter_map(|(key, object)| match key {
            InstanceKey::String(name) => Some((name, object)),
            InstanceKey::None | InstanceKey::Int(_) => None,
        });
        Value::object(of_block.chain(orphaned).map(|(name, object)| (name.clone(), object.clone())))
    }

    fn numbers_there(&self, orphaned: &BTreeMap<InstanceKey, Value>) -> Value {
        let of_block = (0_u64..).zip(&self.values).filter_map(|(number, value)| Some((number, value.as_ref()?)));
        let orphaned = orphaned.iter().filter_map(|(key, object)| match key {
            InstanceKey::Int(number) => Some((*number, object)),
            InstanceKey::None | InstanceKey::String(_) => None,
        });
        let (numbers, objects): (Vec<u64>, Vec<&Value>) = of_block.chain(orphaned).unzip();
        Expansion::of_recorded(&numbers).collect(|position| {
            let found = numbers.binary_search(&(position as u64));
            found.map_or(Value::DYNAMIC, |at| objects[at].clone())
        })
    }
}
