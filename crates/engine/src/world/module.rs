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
