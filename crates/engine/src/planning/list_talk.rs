//! The conversation with a provider about a `list` block: what is searched for, and what is found.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostics, Span};
use groma_provider::{BodyDecoder, Checked, Found, ListInput, Schema, Subject};
use groma_value::Value;

use crate::generate;
use crate::search::{FoundObject, WrittenBlocks};

/// A search that is about to begin.
pub(super) struct Search {
    pub(super) address: ResourceInstance,
    pub(super) provider: Arc<Checked>,
    /// The schema of the search configuration.
    pub(super) schema: Arc<Schema>,
    /// The schema of found objects.
    pub(super) found: Arc<Schema>,
    pub(super) body: Arc<BodyDecoder>,
    pub(super) span: Span,
    pub(super) input: ListInput,
    pub(super) writing: Option<Writing>,
}

/// Settings of the blocks to generate for found objects.
pub(super) struct Writing {
    /// The value of the argument `provider`.
    pub(super) provider: Option<String>,
    /// The prefix of the names of generated resources.
    pub(super) name: String,
}

/// The result of a search.
pub(super) struct ListTalk {
    pub(super) address: ResourceInstance,
    pub(super) identity_version: u64,
    pub(super) config: Value,
    pub(super) found: Option<Vec<FoundObject>>,
    pub(super) diagnostics: Diagnostics,
}

impl Search {
    pub(super) async fn hold(self) -> ListTalk {
        let subject = Subject { address: &self.address, schema: &self.schema, body: Some(&self.body), span: self.span };
        let config = self.input.config.clone();
        let mut diagnostics = self.provider.validate(&subject, &config).await;
        let mut objects = None;
        if !diagnostics.has_errors() {
            let subject = Subject { schema: &self.found, ..subject };
            let (found, problems) = self.provider.list(&subject, self.input.clone()).await;
            diagnostics.append(problems);
            if let Some(found) = found {
                objects = self.objects(found, &mut diagnostics).await;
            }
        }
        let identity_version = self.found.identity.as_ref().map_or(0, |identity| identity.version);
        ListTalk { address: self.address, identity_version, config, found: objects, diagnostics }
    }

    /// The objects with the blocks that were asked for; none after an error.
    async fn objects(&self, found: Vec<Found>, diagnostics: &mut Diagnostics) -> Option<Vec<FoundObject>> {
        let mut objects = Vec::with_capacity(found.len());
        for (position, one) in found.into_iter().enumerate() {
            let written = match &self.writing {
                Some(writing) => Some(self.blocks(writing, position, &one, diagnostics).await?),
                None => None,
            };
            let Found { identity, display_name, object } = one;
            objects.push(FoundObject { display_name, identity, object, written });
        }
        Some(objects)
    }

    async fn blocks(
        &self,
        writing: &Writing,
        position: usize,
        found: &Found,
        diagnostics: &mut Diagnostics,
    ) -> Option<WrittenBlocks> {
        let subject = Subject { address: &self.address, schema: &self.found, body: None, span: self.span };
        let name = format!("{}_{position}", writing.name);
        let named = (&*self.address.resource.type_name, &*name);
        let provider = writing.provider.as_deref();
        let config = match &found.object {
            Some(object) => generate::asked(&self.provider, &subject, object, diagnostics).await?,
            // Its provider has said why it is not there: the block is for people to fill in.
            None => Value::NULL,
        };
        Some(WrittenBlocks {
            resource: generate::resource_text(named, provider, &self.found.block, &config),
            import: generate::import_text(named, provider, &found.identity),
        })
    }
}
