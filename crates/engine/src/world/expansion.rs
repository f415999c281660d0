//! Repetition of resources and module calls.

use std::sync::Arc;

use groma_address::{InstanceKey, Name};
use groma_value::Value;

/// The instances of a resource or module call, once its `count` or `for_each` is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Expansion {
    /// The expansion is not evaluated yet.
    #[default]
    Pending,
    /// No repetition: one instance without a key.
    Single,
    /// No repetition, and switched off by `enabled`.
    Absent,
    /// That many instances, numbered from 0.
    Count(u64),
    /// An instance for each element, sorted by key.
    ForEach(Arc<[(Name, Value)]>),
    /// One instance that represents all possible ones, in a validation without values.
    Abstract,
    /// One instance that represents all future ones, because their number depends on values that only a later run
    /// knows. It has no address.
    Unknown,
}

/// The values of `count` and `each` for one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Repetition {
    /// The block does not repeat.
    #[default]
    None,
    /// `count.index`
    Count(u64),
    /// `each.key` and `each.value` of an instance
    Each(Name, Value),
    /// The key and value of an import element, whose key may have any type.
    Element(Value, Value),
    /// All three mean something that is not known: while checking without instances.
    Unknown,
}

impl Repetition {
    /// Returns the meaning of `count` and `each` for an orphan: its key is known, but not its element.
    pub fn of_lost(key: &InstanceKey) -> Self {
        match key {
            InstanceKey::None => Self::None,
            InstanceKey::Int(index) => Self::Count(*index),
            InstanceKey::String(key) => Self::Each(key.clone(), Value::DYNAMIC),
        }
    }
}

/// Nobody takes so many instances out by hand.
const GAP: u64 = 10_000;

impl Expansion {
    /// The expansion in which the instances with these numbers are, which come in order. Numbers that are far from all
    /// others, as only a person can have made them, are left out: their objects go as those without a block do.
    pub fn of_recorded(numbers: &[u64]) -> Self {
        let near = numbers.iter().enumerate().filter(|(at, number)| **number <= 2 * (*at as u64) + GAP);
        Self::Count(near.map(|(_, number)| number + 1).max().unwrap_or_default())
    }

    /// Returns the number of instances.
    pub fn len(&self) -> usize {
        match self {
            Self::Pending | Self::Absent => 0,
            Self::Single | Self::Abstract | Self::Unknown => 1,
            Self::Count(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            Self::ForEach(elements) => elements.len(),
        }
    }

    /// The key of the instance at `position`.
    pub fn key(&self, position: usize) -> InstanceKey {
        match self {
            Self::Pending | Self::Absent | Self::Single | Self::Abstract | Self::Unknown => InstanceKey::None,
            Self::Count(_) => InstanceKey::Int(position as u64),
            Self::ForEach(elements) => {
                elements.get(position).map_or(InstanceKey::None, |(key, _)| InstanceKey::String(key.clone()))
            }
        }
    }

    /// Returns the position of the instance with `key`.
    pub fn position(&self, key: &InstanceKey) -> Option<usize> {
        match (self, key) {
            (Self::Single, InstanceKey::None) | (Self::Abstract, _) => Some(0),
            (Self::Count(count), InstanceKey::Int(index)) if index < count => usize::try_from(*index).ok(),
            (Self::ForEach(elements), InstanceKey::String(key)) => {
                elements.binary_search_by(|(known, _)| known.cmp(key)).ok()
            }
            _ => None,
        }
    }

    /// Returns the values of `count` and `each` for the instance at `position`.
    pub fn repetition(&self, position: usize) -> Repetition {
        match self {
            Self::Pending | Self::Absent | Self::Single => Repetition::None,
            Self::Abstract | Self::Unknown => Repetition::Unknown,
            Self::Count(_) => Repetition::Count(position as u64),
            Self::ForEach(elements) => match elements.get(position) {
                Some((key, value)) => Repetition::Each(key.clone(), value.clone()),
                None => Repetition::None,
            },
        }
    }

    /// Returns the known part of an instance's value. Before planning not even the existence of one of several instances is known, so
    /// that no
    /// error follows from it yet.
    pub fn known(&self, value: Value) -> Value {
        match self {
            Self::Abstract => Value::DYNAMIC.with_marks(value.marks()),
            _ => value,
        }
    }

    /// The whole as one value: the element itself without repetition, a tuple under `count`, an object under `for_each`.
    pub fn collect(&self, element: impl Fn(usize) -> Value) -> Value {
        match self {
            Self::Pending | Self::Abstract | Self::Unknown => Value::DYNAMIC,
            Self::Absent => Value::null(groma_value::Type::Dynamic),
            Self::Single => element(0),
            Self::Count(_) => Value::tuple((0..self.len()).map(element).collect()),
            Self::ForEach(elements) => {
                let named = elements.iter().enumerate().map(|(position, (key, _))| (key.clone(), element(position)));
                Value::object(named)
            }
        }
    }

    /// Returns the instance keys without values.
    pub fn keys(&self) -> ExpansionKeys {
        match self {
            Self::Pending | Self::Abstract => ExpansionKeys::Pending,
            Self::Unknown => ExpansionKeys::Unknown,
            Self::Absent => ExpansionKeys::Absent,
            Self::Single => ExpansionKeys::Single,
            Self::Count(count) => ExpansionKeys::Count(*count),
            Self::ForEach(elements) => ExpansionKeys::ForEach(elements.iter().map(|(key, _)| key.clone()).collect()),
        }
    }
}

/// An [`Expansion`] without the values of its elements: what a plan keeps of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ExpansionKeys {
    /// The block was not reached.
    #[default]
    Pending,
    /// One instance without a key.
    Single,
    /// The block is disabled and has no instance.
    Absent,
    /// That many instances, numbered from 0.
    Count(u64),
    /// One instance for each key.
    ForEach(Vec<Name>),
    /// Left to a later run.
    Unknown,
}

impl ExpansionKeys {
    /// The expansion with these keys; the values of its elements are not known.
    pub fn expansion(&self) -> Expansion {
        match self {
            Self::Pending => Expansion::Pending,
            Self::Unknown => Expansion::Unknown,
            Self::Single => Expansion::Single,
            Self::Absent => Expansion::Absent,
            Self::Count(count) => Expansion::Count(*count),
            Self::ForEach(keys) => Expansion::ForEach(keys.iter().map(|key| (key.clone(), Value::DYNAMIC)).collect()),
        }
    }
}

/// The expansions of all blocks in one module instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ModuleExpansions {
    /// The calling module instance, the call in it, and which of its instances this is; nothing for the root module.
    pub caller: Option<(u32, u32, u32)>,
    /// The expansions of module calls.
    pub calls: Vec<ExpansionKeys>,
    /// The expansions of resources.
    pub resources: Vec<ExpansionKeys>,
}

/// The expansions of all module instances, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Expansions {
    /// In the order in which module instances came into being.
    pub modules: Vec<ModuleExpansions>,
}
