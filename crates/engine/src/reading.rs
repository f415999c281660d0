//! One conversation about a data source or an ephemeral resource, the same while planning and while applying.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_diagnostics::{Diagnostics, Span};
use groma_provider::{BodyDecoder, Checked, DataInput, Schema, Subject};
use groma_value::{Marks, Value};

use crate::client::{capabilities, no_meta};
use crate::ephemeral::{EphemeralSubject, OpenEphemeral};

/// A data source to read, or an ephemeral resource to open.
pub(crate) struct DataTalk {
    pub(crate) address: ResourceInstance,
    pub(crate) provider: Arc<Checked>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) body: Arc<BodyDecoder>,
    pub(crate) span: Span,
    pub(crate) config: Value,
}

/// What came of it.
pub(crate) struct DataRead {
    pub(crate) address: ResourceInstance,
    pub(crate) value: Option<Value>,
    /// What has to be closed.
    pub(crate) open: Option<OpenEphemeral>,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) elapsed: Duration,
}

impl DataTalk {
    /// Checks the configuration, then reads or opens.
    pub(crate) async fn hold(self) -> DataRead {
        let started = Instant::now();
        let subject = Subject { address: &self.address, schema: &self.schema, body: Some(&self.body), span: self.span };
        let mut diagnostics = self.provider.validate(&subject, &self.config).await;
        let mut value = None;
        let mut open = None;
        if !diagnostics.has_errors() {
            let input = DataInput { config: self.config.clone(), meta: no_meta(), capabilities: capabilities() };
            value = match self.address.resource.mode {
                ResourceMode::Ephemeral => {
                    let (opened, problems) = self.provider.open_ephemeral(&subject, input).await;
                    diagnostics.append(problems);
                    open = opened.as_ref().map(|opened| OpenEphemeral::new(self.ephemeral(), opened));
                    opened.map(|opened| opened.result.with_marks(&Marks::EPHEMERAL))
                }
                ResourceMode::Data | ResourceMode::Managed | ResourceMode::List => {
                    let (read, problems) = self.provider.read_data(&subject, input).await;
                    diagnostics.append(problems);
                    read.map(|read| read.state)
                }
            };
        }
        DataRead { address: self.address, value, open, diagnostics, elapsed: started.elapsed() }
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
