//! Plan modifiers of attributes (FW-04 to FW-11).

mod replace;

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Path, Value};

use crate::PrivateData;

pub use replace::{ReplaceDecision, requires_replace, requires_replace_if, requires_replace_if_configured};
pub use replace::{use_non_null_state_for_unknown, use_state_for_unknown};

/// The objects that a plan is made of, as wholes.
#[derive(Clone, Copy)]
pub struct Objects<'a> {
    /// The configuration; null when the object is to be deleted.
    pub config: &'a Value,
    /// The plan so far; null when the object is to be deleted.
    pub plan: &'a Value,
    /// The prior state; null when the object is to be created.
    pub state: &'a Value,
}

/// The inputs of a plan modifier (FW-11).
///
/// Under lists the prior state is matched by position, as the protocol has it; under sets by what the configuration gives
/// (FW-14), so that a removed element does not shift state onto its neighbours.
#[derive(Clone, Copy)]
pub struct ModifierRequest<'a> {
    /// The path of the attribute.
    pub path: &'a Path,
    /// Its value in the configuration.
    pub config: &'a Value,
    /// Its planned value, as the modifier before left it.
    pub plan: &'a Value,
    /// The prior value; null for a creation.
    pub state: &'a Value,
    /// The whole objects: the plan as it was before any modifier.
    pub whole: Objects<'a>,
    /// The private data of the object.
    pub private: &'a PrivateData,
}

/// The decision of a plan modifier.
#[derive(Clone, Debug)]
pub struct ModifierResponse {
    /// The planned value from now on.
    pub plan: Value,
    /// Whether the object must be replaced because of this attribute.
    pub requires_replace: bool,
    /// Errors and warnings for the user; an error stops the further modifiers of this attribute and of everything nested in it
    /// (FW-05).
    pub diagnostics: ProviderDiagnostics,
}

impl ModifierResponse {
    /// Adds an error about the attribute.
    pub fn error(&mut self, path: &Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::error(summary, detail).at(path.clone()));
    }
}

/// A rule about the planned value of an attribute.
pub trait PlanModifier: Send + Sync {
    /// Returns the description, one sentence.
    fn description(&self) -> String;

    /// Returns the description in Markdown.
    fn markdown_description(&self) -> String {
        self.description()
    }

    /// Modifies the planned value of the attribute, or requires a replacement.
    fn modify(&self, request: &ModifierRequest<'_>, response: &mut ModifierResponse);
}

/// A modifier that is a function.
struct FunctionModifier<F> {
    description: String,
    modify: F,
}

impl<F: Fn(&ModifierRequest<'_>, &mut ModifierResponse) + Send + Sync> PlanModifier for FunctionModifier<F> {
    fn description(&self) -> String {
        self.description.clone()
    }

    fn modify(&self, request: &ModifierRequest<'_>, response: &mut ModifierResponse) {
        (self.modify)(request, response);
    }
}

/// A modifier from a function.
pub fn modifier(
    description: impl Into<String>,
    modify: impl Fn(&ModifierRequest<'_>, &mut ModifierResponse) + Send + Sync + 'static,
) -> impl PlanModifier {
    FunctionModifier { description: description.into(), modify }
}
