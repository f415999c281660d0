//! Keys of instances in a saved plan.

use std::borrow::Cow;

use groma_address::InstanceKey;
use serde::{Deserialize, Serialize};

/// The key of an instance.
#[derive(Serialize, Deserialize)]
pub(super) enum Key<'a> {
    None,
    Int(u64),
    String(Cow<'a, str>),
}

impl<'a> Key<'a> {
    pub(super) fn of(key: &'a InstanceKey) -> Self {
        match key {
            InstanceKey::None => Self::None,
            InstanceKey::Int(index) => Self::Int(*index),
            InstanceKey::String(key) => Self::String((&**key).into()),
        }
    }

    pub(super) fn key(self) -> InstanceKey {
        match self {
            Self::None => InstanceKey::None,
            Self::Int(index) => InstanceKey::Int(index),
            Self::String(key) => InstanceKey::String((&*key).into()),
        }
    }
}
