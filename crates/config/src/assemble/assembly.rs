//! A module on its way.

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use indexmap::IndexMap;

use crate::decode::{OutputDraft, RequiredVersion, VariableDraft, place};
use crate::model::Module;

/// A module on its way: variables and outputs are only complete after overrides.
pub(super) struct Assembly<'a> {
    pub(super) module: Module,
    pub(super) variables: IndexMap<Name, VariableDraft>,
    pub(super) outputs: IndexMap<Name, OutputDraft>,
    pub(super) required_versions: Vec<RequiredVersion>,
    /// The location of the first `required_providers` block.
    pub(super) required_providers: Option<Span>,
    pub(super) sources: &'a Sources,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Assembly<'_> {
    pub(super) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }

    pub(super) fn place(&self, span: Span) -> String {
        place(self.sources, span)
    }
}
