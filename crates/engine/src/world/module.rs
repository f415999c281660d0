//! One instance of a module, with the values of what is in it.

use std::cell::OnceCell;

use groma_address::ModuleInstance;
use groma_lang::FunctionContext;
use groma_value::Value;

use super::expansion::{Expansion, Repetition};
use super::resource::ResourceData;
use crate::config_graph::ModuleIndex;

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
