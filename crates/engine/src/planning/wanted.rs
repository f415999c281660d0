//! Import targets from import blocks and the command line.

use std::collections::HashMap;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_config::{Import, Module};
use groma_diagnostics::Span;
use groma_provider::ImportTarget;

use crate::options::{MissingResources, PlanOptions};
use crate::plan::Importing;
use crate::session::Session;

/// The import target of one instance.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) importing: Importing,
    /// The location of the target address.
    pub(super) span: Span,
    /// Whether the walk has come by the instance.
    pub(super) met: bool,
    /// The block of the root module, by position; none where a person asks without one.
    pub(super) block: Option<u32>,
}

impl Wanted {
    /// Returns the import target of a plan without import blocks.
    pub(super) fn of_options(options: &PlanOptions) -> HashMap<ResourceInstance, Self> {
        let asked = options.import.iter().map(|(address, id)| {
            let importing = Importing { target: ImportTarget::Id(id.clone()), generated: None };
            (address.clone(), Self { importing, span: Span::NONE, met: false, block: None })
        });
        asked.collect()
    }
}

/// The providers of the imports that have no block.
pub(super) fn providers(session: &Session, options: &PlanOptions) -> Vec<ProviderConfig> {
    if options.missing == MissingResources::Refused {
        return Vec::new();
    }
    let root = &session.configuration.root;
    let missing = root.imports.iter().filter(|import| is_missing(root, import));
    missing.filter_map(|import| provider(session, import)).collect()
}

/// Whether an import is into a resource that has no block.
pub(super) fn is_missing(root: &Module, import: &Import) -> bool {
    import.to.module.is_root() && !root.resources.contains_key(&import.to.resource)
}

/// The provider that an import names or implies.
pub(super) fn provider(session: &Session, import: &Import) -> Option<ProviderConfig> {
    session.configuration.resolve_provider_config(&session.configuration.root.path, &import.local_provider()).ok()
}
