//! Working state of the assembly of a module.

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use indexmap::IndexMap;

use crate::decode::{OutputDraft, RequiredVersion, VariableDraft, location_text};
use crate::model::Module;

/// A module under construction. Variables and outputs are drafts until all overrides are applied.
pub(super) struct Assembly<'a> {
    pub(super) module: Module,
    pub(super) variables: IndexMap<Name, VariableDraft>,
    pub(super) outputs: IndexMap<Name, OutputDraft>,
    pub(super) required_versions: Vec<RequiredVersion>,
    /// Span of the first `required_providers` block.
    pub(super) required_providers: Option<Span>,
    pub(super) sources: &'a Sources,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Assembly<'_> {
    pub(super) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }

    pub(super) fn location(&self, span: Span) -> String {
        location_text(self.sources, span)
    }
}
