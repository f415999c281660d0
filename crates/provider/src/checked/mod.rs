//! The provider as the engine uses it: every call is checked against the contract.

mod action;
mod apply;
mod contract_errors;
mod function;
mod import;
mod list;
mod plan;
mod read;
mod response;
mod stored;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, DiagnosticAddress, Diagnostics, Span};
use groma_value::Value;

pub use action::{ActionSubject, kept_action_config};
pub use apply::{Applied, ApplyInput};
pub use import::{ImportInput, Imported, MoveInput, Moved};
pub use list::{Found, ListInput};
pub use plan::{PlanInput, PlanPurpose, Planned};
pub use read::{DataInput, Opened, Read, ReadData, ReadInput};
pub use stored::{StoredIdentity, StoredState};

use crate::protocol::{
    ClientCapabilities, CloseEphemeralRequest, ConfigureRequest, ProviderSchema, TypeNames, ValidateProviderRequest,
    ValidateRequest,
};
use crate::provider::SchemaLookup;
use crate::{Answer, BodyDecoder, CallFate, Name, Provider, ProviderDiagnostics, Schema};

/// The resource instance that a provider call concerns, used to locate its diagnostics.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The address of the resource instance, with its instance key.
    pub address: &'a ResourceInstance,
    /// The schema of the resource type.
    pub schema: &'a Schema,
    /// The decoder of the resource block, unless the instance is only in the state.
    pub body: Option<&'a BodyDecoder>,
    /// The header of the resource block, for diagnostics without an attribute path.
    pub span: Span,
}

/// The provider configuration that a call concerns, used to locate its diagnostics.
#[derive(Clone, Copy)]
pub struct ConfigSubject<'a> {
    /// The address of the configuration, with its alias.
    pub address: &'a ProviderConfig,
    /// The decoder of the `provider` block, or of an empty body for an implied configuration.
    pub body: &'a BodyDecoder,
}

/// The namespace of a type name: a resource type and a data source may share a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TypeKind {
    Resource,
    Data,
    Ephemeral,
    Action,
    List,
}

/// Fetched schemas by type; `None` for types that the provider does not have.
type KnownSchemas = HashMap<(TypeKind, Name), Option<Arc<Schema>>>;

/// Receives violations by providers that are exempt from the violated rule (LC-17).
pub type LogHook = dyn Fn(&Diagnostic) + Send + Sync;

/// A provider that is held to its contract. The engine makes every provider call through this type (LC-32).
///
/// It owns the provider and caches its schemas. Each call takes marked values: the marks are removed before the
/// provider sees a value, and reapplied to the response (LC-30). Each response is checked before the caller gets it. A
/// violation becomes an error that names the provider, the address, the path and both values (LC-28), and the call then
/// returns `None`, except for [`Checked::apply`], which always returns the object to record. The provider's own
/// diagnostics are located in the configuration (LC-26).
///
/// It keeps no record of objects, does not retry, and does not limit concurrency: that is the engine's part. All
/// methods take `&self` and may be called concurrently. [`Checked::configure`] must be answered before calls that
/// depend on the configuration.
pub struct Checked {
    provider: Arc<dyn Provider>,
    address: ProviderAddress,
    declared: OnceLock<ProviderSchema>,
    schemas: Mutex<KnownSchemas>,
    log: Option<Arc<LogHook>>,
    results: function::ResultHashes,
    configured: Mutex<function::ConfiguredFunctions>,
}

impl Checked {
    /// Wraps `provider`, whose source address `address` appears in the diagnostics.
    pub fn new(provider: Arc<dyn Provider>, address: ProviderAddress) -> Self {
        Self {
            provider,
            address,
            declared: OnceLock::new(),
            schemas: Mutex::default(),
            log: None,
            results: function::ResultHashes::default(),
            configured: Mutex::default(),
        }
    }

    /// Sets the hook that receives violations by exempt providers (LC-17).
    #[must_use]
    pub fn with_log(mut self, log: Arc<LogHook>) -> Self {
        self.log = Some(log);
        self
    }

    /// Returns the provider's source address, without a version.
    pub fn address(&self) -> &ProviderAddress {
        &self.address
    }

    /// Returns the names of the provider's resource types, data sources, functions and so on.
    pub fn type_names(&self) -> TypeNames {
        self.provider.type_names()
    }

    /// Returns the schema of the provider configuration and the provider's capabilities. It is fetched once.
    ///
    /// # Errors
    ///
    /// The provider did not answer, or its schema is invalid.
    pub fn schema(&self) -> Result<&ProviderSchema, Diagnostics> {
        if let Some(declared) = self.declared.get() {
            return Ok(declared);
        }
        let declared = self.provider.schema().map_err(|problems| self.without_location(problems))?;
        for schema in std::iter::once(&declared.config).chain(&declared.meta) {
            self.check_schema(schema, "its configuration")?;
        }
        // A concurrent caller may have stored its schema first; both are the same.
        Ok(self.declared.get_or_init(|| declared))
    }

    /// Returns the schema of a managed resource type, or `None` if the provider does not have the type.
    ///
    /// # Errors
    ///
    /// The provider did not answer, or the schema is invalid.
    pub fn resource_schema(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Diagnostics> {
        self.type_schema(TypeKind::Resource, type_name, |provider| provider.resource_schema(type_name))
    }

    /// Returns the schema of a data source, or `None` if the provider does not have it.
    ///
    /// # Errors
    ///
    /// The provider did not answer, or the schema is invalid.
    pub fn data_schema(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Diagnostics> {
        self.type_schema(TypeKind::Data, type_name, |provider| provider.data_schema(type_name))
    }

    /// Returns the schema of an ephemeral resource type, or `None` if the provider does not have the type.
    ///
    /// # Errors
    ///
    /// The provider did not answer, or the schema is invalid.
    pub fn ephemeral_schema(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Diagnostics> {
        self.type_schema(TypeKind::Ephemeral, type_name, |provider| provider.ephemeral_schema(type_name))
    }

    fn type_schema(
        &self,
        kind: TypeKind,
        type_name: &str,
        load: impl FnOnce(&dyn Provider) -> SchemaLookup,
    ) -> Result<Option<Arc<Schema>>, Diagnostics> {
        let key = (kind, Name::from(type_name));
        if let Some(known) = self.schemas.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        // The lock is not held during the load: a plugin takes time to answer, and a schema loaded twice does no harm.
        let schema = load(&*self.provider).map_err(|problems| self.without_location(problems))?;
        if let Some(schema) = &schema {
            self.check_schema(schema, type_name)?;
        }
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner).insert(key, schema.clone());
        Ok(schema)
    }

    /// Validates the configuration of the provider.
    pub fn validate_provider_config<'a>(
        &'a self,
        subject: &ConfigSubject<'a>,
        config: &Value,
    ) -> Answer<'a, Diagnostics> {
        let subject = *subject;
        let request = ValidateProviderRequest { config: config.unmark_deep().0 };
        self.provider.validate_provider_config(request).map(move |problems| subject.locate(problems))
    }

    /// Configures the provider, and drops the functions of its previous configuration.
    pub fn configure<'a>(
        &'a self,
        subject: &ConfigSubject<'a>,
        mut request: ConfigureRequest,
    ) -> Answer<'a, Diagnostics> {
        let subject = *subject;
        request.config = request.config.unmark_deep().0;
        // Before the call: a concurrent function lookup must not cache functions of the previous configuration.
        self.forget_functions();
        self.provider.configure(request).map(move |problems| subject.locate(problems))
    }

    /// Validates the configuration of a managed resource, a data source, an ephemeral resource or a list block (LC-03).
    pub fn validate<'a>(&'a self, subject: &Subject<'a>, config: &Value) -> Answer<'a, Diagnostics> {
        let request = ValidateRequest {
            type_name: subject.type_name(),
            config: config.unmark_deep().0,
            // Without this capability, SDK providers reject configured write-only attributes.
            client_capabilities: ClientCapabilities { write_only_attributes_allowed: true, ..Default::default() },
        };
        let subject = *subject;
        match subject.address.resource.mode {
            groma_address::Mode::Managed => self.provider.validate_resource(request),
            groma_address::Mode::Data => self.provider.validate_data(request),
            groma_address::Mode::Ephemeral => self.provider.validate_ephemeral(request),
            groma_address::Mode::List => self.provider.validate_list(request),
        }
        .map(move |problems| subject.locate(problems))
    }

    /// Closes an ephemeral resource, which then must not be renewed any more.
    pub fn close_ephemeral<'a>(
        &'a self,
        subject: &Subject<'a>,
        private: crate::protocol::Private,
    ) -> Answer<'a, Diagnostics> {
        let subject = *subject;
        self.provider
            .close_ephemeral(CloseEphemeralRequest { type_name: subject.type_name(), private })
            .map(move |problems| subject.locate(problems))
    }

    /// Returns the recommended number of objects per [`Checked::read_many`] call; at least one.
    pub fn read_batch_size(&self, type_name: &str) -> usize {
        // Batches of zero objects would make no progress.
        self.provider.read_batch_size(type_name).max(1)
    }

    /// Asks the provider to cancel its running operations (FW-22). They still return responses.
    pub fn stop(&self) {
        self.provider.stop();
    }

    /// Whether the provider process has ended, so that further calls fail.
    pub fn has_ended(&self) -> bool {
        self.provider.has_ended()
    }

    /// Returns the optional features of the provider; none if its schema is unavailable.
    fn capabilities(&self) -> crate::protocol::ServerCapabilities {
        self.schema().map(|declared| declared.capabilities).unwrap_or_default()
    }

    /// Whether the provider is pure: its objects exist only in the state, and its answers depend on the requests alone.
    pub fn is_pure(&self) -> bool {
        self.capabilities().is_pure
    }

    fn tolerate(&self, diagnostics: Diagnostics) {
        if let Some(log) = &self.log {
            // Violations by exempt providers must not fail the run, so they only reach the log (LC-17).
            diagnostics.iter().for_each(|diagnostic| log(diagnostic));
        }
    }
}

impl Subject<'_> {
    fn type_name(&self) -> Name {
        self.address.resource.type_name.clone()
    }

    /// Attaches locations to the provider's diagnostics (LC-26).
    fn locate(&self, problems: ProviderDiagnostics) -> Diagnostics {
        // The common case must not format the address of the instance.
        if problems.is_empty() {
            return Diagnostics::new();
        }
        located(problems, self.body, self.span, Some(self.address.into()))
    }
}

impl ConfigSubject<'_> {
    fn locate(&self, problems: ProviderDiagnostics) -> Diagnostics {
        located(problems, Some(self.body), self.body.opening(), Some(self.address.into()))
    }
}

/// Attaches locations to diagnostics: the argument at the attribute path, or else the block header.
fn located(
    problems: ProviderDiagnostics,
    body: Option<&BodyDecoder>,
    span: Span,
    address: Option<DiagnosticAddress>,
) -> Diagnostics {
    problems
        .into_iter()
        .map(|problem| {
            let diagnostic = if problem.is_error() {
                Diagnostic::error(problem.summary, problem.detail)
            } else {
                Diagnostic::warning(problem.summary, problem.detail)
            };
            if problem.fate == CallFate::Unsent {
                // The provider is gone, and every further call gets this error: without a location they all collapse
                // into one.
                return diagnostic;
            }
            let subject = match body {
                Some(body) if !problem.path.is_empty() => body.span_of(&problem.path),
                _ => span,
            };
            let diagnostic = diagnostic.at(subject);
            match &address {
                Some(address) => diagnostic.about(address.clone()),
                None => diagnostic,
            }
        })
        .collect()
}
