//! The values of root variables that are given from outside.

use std::cell::{Cell, OnceCell};

use groma_address::Name;
use groma_diagnostics::{Diagnostics, Sources};
use groma_value::Value;
use indexmap::IndexMap;

use super::folder::Reader;
use crate::model::Module;
use crate::options::LoadOptions;
use crate::source::Files;
use crate::variables::{collect, missing};

/// Gathered when somebody asks.
pub(super) struct RootValues<'a> {
    root: &'a Module,
    pub(super) options: &'a LoadOptions,
    sources: &'a Sources,
    files: &'a dyn Files,
    values: OnceCell<IndexMap<Name, Value>>,
    /// Whether a file of the root module could not be read as a whole, which has been reported.
    pub(super) incomplete: bool,
    /// Whether constants that nobody gave have been reported.
    pub(super) told: Cell<bool>,
}

impl<'a> RootValues<'a> {
    pub(super) fn new(root: &'a Module, reader: &Reader<'a>) -> Self {
        Self {
            root,
            options: reader.options,
            sources: reader.sources,
            files: reader.files,
            values: OnceCell::new(),
            incomplete: reader.is_incomplete(),
            told: Cell::default(),
        }
    }

    /// Returns the values. Errors in them are reported when all variables are set.
    pub(super) fn get(&self) -> &IndexMap<Name, Value> {
        self.values.get_or_init(|| {
            let (given, _) = collect(&self.root.variables, &self.options.variables, self.sources, self.files);
            let mut values: IndexMap<Name, Value> =
                given.into_iter().map(|(name, input)| (name, input.value)).collect();
            values.extend(self.options.early_variables.clone());
            values
        })
    }

    /// Reports constants that nobody gave. Where the files have mistakes, a default may be lost in one of them.
    pub(super) fn check_constants(&self, diagnostics: &mut Diagnostics) {
        self.told.set(true);
        if self.incomplete {
            return;
        }
        let constants = self.root.variables.values().filter(|variable| variable.constant && variable.is_required());
        for variable in constants {
            if !self.get().contains_key(&variable.name) {
                diagnostics.push(missing(variable));
            }
        }
    }
}
