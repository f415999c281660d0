//! The decoded blocks of a file.

use groma_diagnostics::Diagnostic;

use super::output::OutputDraft;
use super::required_providers::RequiredProviders;
use super::variable::VariableDraft;
use crate::model::encryption::EncryptionBlock;
use crate::model::module::ActionBlock;
use crate::model::module_call::ModuleCall;
use crate::model::named_value::Check;
use crate::model::named_value::Local;
use crate::model::provider::{ProviderBlock, ProviderMeta};
use crate::model::refactoring::{Import, Moved, Removed};
use crate::model::resource::Resource;
use crate::model::settings::{Backend, VersionRequirement};

/// A `required_version` argument with its error, which is dropped if an override file replaces the argument.
#[derive(Clone, Debug)]
pub(crate) struct RequiredVersion {
    pub(crate) requirement: VersionRequirement,
    pub(crate) problem: Option<Diagnostic>,
}

/// The decoded blocks of one file, by kind and in source order.
#[derive(Debug, Default)]
pub(crate) struct FileContent {
    pub(crate) required_versions: Vec<RequiredVersion>,
    pub(crate) required_providers: Vec<RequiredProviders>,
    pub(crate) backends: Vec<Backend>,
    pub(crate) clouds: Vec<Backend>,
    pub(crate) encryptions: Vec<EncryptionBlock>,
    pub(crate) provider_metas: Vec<ProviderMeta>,
    pub(crate) providers: Vec<ProviderBlock>,
    pub(crate) variables: Vec<VariableDraft>,
    pub(crate) locals: Vec<Local>,
    pub(crate) outputs: Vec<OutputDraft>,
    pub(crate) calls: Vec<ModuleCall>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) checks: Vec<(Check, Option<Resource>)>,
    pub(crate) moved: Vec<Moved>,
    pub(crate) removed: Vec<Removed>,
    pub(crate) imports: Vec<Import>,
    pub(crate) actions: Vec<ActionBlock>,
}
