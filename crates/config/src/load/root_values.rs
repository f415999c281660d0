//! Values of root variables for early evaluation.

use std::cell::{Cell, OnceCell};

use groma_address::Name;
use groma_diagnostics::{Diagnostics, Sources};
use groma_value::Value;
use indexmap::IndexMap;

use super::directory::Reader;
use crate::model::Module;
use crate::options::LoadOptions;
use crate::source::Files;
use crate::variables::{collect, missing};

/// Values of root variables, collected on first use: most configurations need none before planning.
pub(super) struct RootValues<'a> {
    root: &'a Module,
    pub(super) options: &'a LoadOptions,
    sources: &'a Sources,
    files: &'a dyn Files,
    values: OnceCell<IndexMap<Name, Value>>,
    /// Whether a file of the root module failed to parse or decode; the error has been reported.
    pub(super) incomplete: bool,
    /// Whether missing values of constant variables have been reported.
    pub(super) constants_checked: Cell<bool>,
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
            constants_checked: Cell::default(),
        }
    }

    /// Returns the values by variable name. Their problems are ignored here; they are reported when all variables are
    /// evaluated.
    pub(super) fn get(&self) -> &IndexMap<Name, Value> {
        self.values.get_or_init(|| {
            let (given, _) = collect(&self.root.variables, &self.options.variables, self.sources, self.files);
            let mut values: IndexMap<Name, Value> =
                given.into_iter().map(|(name, input)| (name, input.value)).collect();
            values.extend(self.options.early_variables.clone());
            values
        })
    }

    /// Reports constant variables without a value, unless a default may be missing because of an error in a file.
    pub(super) fn check_constants(&self, diagnostics: &mut Diagnostics) {
        self.constants_checked.set(true);
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
