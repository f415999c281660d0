//! The provider calls that read a data source or open an ephemeral resource, in plan and apply.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_diagnostics::{Diagnostics, Span};
use groma_plan::DeferralReason;
use groma_provider::{BodyDecoder, Checked, DataInput, Schema, Subject};
use groma_value::{Marks, Value};

use crate::ephemeral::{EphemeralSubject, OpenEphemeral};
use crate::hooks::Hooks;
use crate::options::Deferral;

/// A data source to read, or an ephemeral resource to open.
pub(crate) struct ReadCall {
    pub(crate) address: ResourceInstance,
    pub(crate) provider: Arc<Checked>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) body: Arc<BodyDecoder>,
    pub(crate) span: Span,
    pub(crate) config: Value,
    /// The module's `provider_meta` value; null without such a block.
    pub(crate) meta: Value,
    /// Whether the provider may defer the read to a later run.
    pub(crate) deferral: Deferral,
    /// The receiver of progress reports about renewal.
    pub(crate) hooks: Arc<dyn Hooks>,
}

/// The result of a read.
pub(crate) struct ReadResult {
    pub(crate) address: ResourceInstance,
    pub(crate) config: Value,
    pub(crate) value: Option<Value>,
    /// The reason for deferring it.
    pub(crate) deferred: Option<DeferralReason>,
    /// The ephemeral resource to close, if it was opened.
    pub(crate) open: Option<OpenEphemeral>,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) elapsed: Duration,
}

impl ReadCall {
    /// Checks the configuration, then reads or opens.
    pub(crate) async fn run(self) -> ReadResult {
        let subject = Subject { address: &self.address, schema: &self.schema, body: Some(&self.body), span: self.span };
        let mut diagnostics = self.provider.validate(&subject, &self.config).await;
        // The first call may have waited for the start of the provider.
        let started = Instant::now();
        let mut value = None;
        let mut open = None;
        let mut deferred = None;
        if !diagnostics.has_errors() {
            let capabilities = self.deferral.capabilities();
            let input = DataInput { config: self.config.clone(), meta: self.meta.clone(), capabilities };
            value = match self.address.resource.mode {
                ResourceMode::Ephemeral => {
                    let (opened, problems) = self.provider.open_ephemeral(&subject, input).await;
                    diagnostics.append(problems);
                    deferred = opened.as_ref().and_then(|opened| opened.deferred);
                    let is_open = opened.as_ref().filter(|opened| opened.deferred.is_none());
                    open = is_open.map(|opened| OpenEphemeral::new(self.ephemeral(), opened, &self.hooks));
                    opened.map(|opened| opened.result.with_marks(&Marks::EPHEMERAL))
                }
                ResourceMode::Data | ResourceMode::Managed | ResourceMode::List => {
                    let (read, problems) = self.provider.read_data(&subject, input).await;
                    diagnostics.append(problems);
                    deferred = read.as_ref().and_then(|read| read.deferred);
                    read.map(|read| read.state)
                }
            };
        }
        let deferred = deferred.map(DeferralReason::from);
        let (address, config, elapsed) = (self.address, self.config, started.elapsed());
        ReadResult { address, config, value, deferred, open, diagnostics, elapsed }
    }

    fn ephemeral(&self) -> EphemeralSubject {
        EphemeralSubject {
            address: self.address.clone(),
            provider: Arc::clone(&self.provider),
            schema: Arc::clone(&self.schema),
            body: Arc::clone(&self.body),
            span: self.span,
        }
    }
}
