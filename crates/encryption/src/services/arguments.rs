//! The declared arguments of a service, and the values that a configuration sets for them.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::KeyError;

/// A declared argument of a key provider.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// The name, as in OpenTofu's `key_provider` block.
    pub name: &'static str,
    /// The type that a value is converted to.
    pub ty: ArgumentType,
    /// Whether a configuration must set it.
    pub need: Need,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentType {
    /// A string.
    String,
    /// A whole number.
    Number,
    /// A boolean.
    Bool,
    /// A map of strings.
    Map,
    /// A list of strings.
    StringList,
    /// An object, or a nested block, with arguments of its own.
    Object(&'static [Argument]),
    /// Accepted for compatibility and ignored, because it configures something that this client does not do.
    Ignored,
    /// Known from OpenTofu but rejected; holds the advice that the error message gives.
    Unsupported(&'static str),
}

/// Whether an argument must be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A configuration without the argument is an error.
    Required,
    /// The argument has a default, or an environment variable can set it.
    Optional,
}

impl Argument {
    pub(crate) const fn required(name: &'static str, ty: ArgumentType) -> Self {
        Self { name, ty, need: Need::Required }
    }

    pub(crate) const fn optional(name: &'static str, ty: ArgumentType) -> Self {
        Self { name, ty, need: Need::Optional }
    }
}

/// The values of arguments by name. `Debug` prints names only, because values may be secrets.
#[derive(Clone, Default)]
pub struct ArgumentValues(BTreeMap<String, ArgumentValue>);

/// The value of an argument.
#[derive(Clone)]
pub enum ArgumentValue {
    /// For [`ArgumentType::String`].
    String(String),
    /// For [`ArgumentType::Number`].
    Number(i64),
    /// For [`ArgumentType::Bool`].
    Bool(bool),
    /// For [`ArgumentType::Map`].
    Map(BTreeMap<String, String>),
    /// For [`ArgumentType::StringList`].
    StringList(Vec<String>),
    /// For [`ArgumentType::Object`].
    Object(ArgumentValues),
}

impl fmt::Debug for ArgumentValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl FromIterator<(String, ArgumentValue)> for ArgumentValues {
    fn from_iter<I: IntoIterator<Item = (String, ArgumentValue)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl ArgumentValues {
    /// Returns a string; an empty one counts as unset, as in OpenTofu.
    pub fn string(&self, name: &str) -> Option<String> {
        match self.0.get(name) {
            Some(ArgumentValue::String(string)) if !string.is_empty() => Some(string.clone()),
            _ => None,
        }
    }

    /// Returns a string that must be set and not empty.
    ///
    /// # Errors
    /// Fails if it is not.
    pub fn required_string(&self, name: &str) -> Result<String, KeyError> {
        self.string(name).ok_or_else(|| KeyError::argument(format!("{name} must not be empty")))
    }

    /// Returns a whole number.
    pub fn number(&self, name: &str) -> Option<i64> {
        match self.0.get(name) {
            Some(ArgumentValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns a boolean.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            Some(ArgumentValue::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// Returns the values of an object.
    pub fn object(&self, name: &str) -> Option<&Self> {
        match self.0.get(name) {
            Some(ArgumentValue::Object(values)) => Some(values),
            _ => None,
        }
    }

    /// Returns a map of strings; an empty one if it is not set.
    pub fn map(&self, name: &str) -> BTreeMap<String, String> {
        match self.0.get(name) {
            Some(ArgumentValue::Map(map)) => map.clone(),
            _ => BTreeMap::new(),
        }
    }

    /// Returns a list of strings; an empty one if it is not set.
    pub fn strings(&self, name: &str) -> Vec<String> {
        match self.0.get(name) {
            Some(ArgumentValue::StringList(strings)) => strings.clone(),
            _ => Vec::new(),
        }
    }
}
