//! The arguments of services: which there are, and what is given for them.

use std::collections::BTreeMap;
use std::fmt;

/// An argument of a key provider.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it must be given.
    pub need: Need,
}

/// What an argument holds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// True or false.
    Flag,
    /// Texts by names.
    Map,
    /// Texts.
    Texts,
    /// Arguments of its own, in an object or in a block.
    Object(&'static [Argument]),
    /// It changes something that is not done here at all: it is taken, and has no effect.
    NoEffect,
    /// OpenTofu has it; it is refused by name, with what to do instead.
    Absent(&'static str),
}

/// Whether an argument must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must.
    Required,
    /// It may be left out.
    Optional,
}

impl Argument {
    pub(super) const fn required(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, need: Need::Required }
    }

    pub(super) const fn optional(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, need: Need::Optional }
    }
}

/// What is given for arguments, by their names. It is never shown: there are secrets in it.
#[derive(Clone, Default)]
pub struct Given(BTreeMap<String, GivenValue>);

/// What is given for an argument.
#[derive(Clone)]
pub enum GivenValue {
    /// For [`Kind::Text`].
    Text(String),
    /// For [`Kind::Number`].
    Number(i64),
    /// For [`Kind::Flag`].
    Flag(bool),
    /// For [`Kind::Map`].
    Map(BTreeMap<String, String>),
    /// For [`Kind::Texts`].
    Texts(Vec<String>),
    /// For [`Kind::Object`].
    Object(Given),
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl FromIterator<(String, GivenValue)> for Given {
    fn from_iter<I: IntoIterator<Item = (String, GivenValue)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Given {
    /// A text that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.0.get(name) {
            Some(GivenValue::Text(text)) if !text.is_empty() => Some(text.clone()),
            _ => None,
        }
    }

    /// A text that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<String, String> {
        self.text(name).ok_or_else(|| format!("{name} must not be empty"))
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        match self.0.get(name) {
            Some(GivenValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            Some(GivenValue::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// What is given for the arguments of an object.
    pub(super) fn object(&self, name: &str) -> Option<&Given> {
        match self.0.get(name) {
            Some(GivenValue::Object(given)) => Some(given),
            _ => None,
        }
    }

    pub(super) fn map(&self, name: &str) -> BTreeMap<String, String> {
        match self.0.get(name) {
            Some(GivenValue::Map(map)) => map.clone(),
            _ => BTreeMap::new(),
        }
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.0.get(name) {
            Some(GivenValue::Texts(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }
}
