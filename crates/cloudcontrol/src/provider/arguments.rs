//! Reading the arguments of the provider block.

use std::collections::BTreeMap;

use groma_value::{Kind, Number, Value};

/// An object of arguments. Arguments that are null or unknown count as not set.
#[derive(Clone)]
pub(super) struct Arguments(Value);

impl Arguments {
    pub(super) fn of(config: &Value) -> Self {
        Self(config.clone())
    }

    fn value(&self, name: &str) -> Option<Value> {
        let value = self.0.as_object()?.get(name)?;
        (!value.is_null() && value.is_known()).then(|| value.clone())
    }

    /// Returns those of these arguments that are not known, as a whole or in part.
    pub(super) fn unknown_of(&self, names: &[&str]) -> Vec<String> {
        let is_unknown = |name: &&&str| {
            let value = self.0.as_object().and_then(|view| view.get(name));
            value.is_some_and(|value| !value.is_wholly_known())
        };
        names.iter().filter(is_unknown).map(|name| (*name).to_owned()).collect()
    }

    /// Returns a string that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.value(name)?.as_number().and_then(Number::to_u64)
    }

    /// Returns the strings of a list or set.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let elements = self.elements(name);
        elements.iter().filter_map(|element| element.as_str().map(str::to_owned)).collect()
    }

    /// Returns the strings of a map.
    pub(super) fn map(&self, name: &str) -> BTreeMap<String, String> {
        let value = self.value(name);
        let Some(view) = value.as_ref().and_then(Value::as_map) else { return BTreeMap::new() };
        view.iter().filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned()))).collect()
    }

    /// Returns a nested object.
    pub(super) fn object(&self, name: &str) -> Option<Self> {
        self.value(name).map(Self)
    }

    /// Returns the objects of a list.
    pub(super) fn objects(&self, name: &str) -> Vec<Self> {
        self.elements(name).into_iter().map(Self).collect()
    }

    fn elements(&self, name: &str) -> Vec<Value> {
        let value = self.value(name);
        match value.as_ref().map(Value::kind) {
            Some(Kind::List(values) | Kind::Set(values)) => values.to_vec(),
            _ => Vec::new(),
        }
    }
}
