//! A provider held to its contract.

mod action;
mod apply;
mod blame;
mod function;
mod identity;
mod import;
mod list;
mod marks;
mod plan;
mod read;
mod settle;
mod stored;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
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

/// What a call is about: for the places and names in its diagnostics.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The resource instance.
    pub address: &'a ResourceInstance,
    /// The schema of its type.
    pub schema: &'a Schema,
    /// Its configuration, when there is one.
    pub body: Option<&'a BodyDecoder>,
    /// Where the resource is declared: for what is about no part of the configuration.
    pub span: Span,
}

/// The configuration of a provider that a call is about.
#[derive(Clone, Copy)]
pub struct ConfigSubject<'a> {
    /// Which one.
    pub address: &'a ProviderConfig,
    /// The provider block, or an empty one in its place.
    pub body: &'a BodyDecoder,
}

/// Which of the kinds of types a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TypeKind {
    Resource,
    Data,
    Ephemeral,
    Action,
    List,
}

/// Schemas that have been asked for; nothing for types that the provider does not have.
type KnownSchemas = HashMap<(TypeKind, Name), Option<Arc<Schema>>>;

/// What becomes of the broken rules of providers that are exempt from them (LC-17).
pub type LogHook = dyn Fn(&Diagnostic) + Send + Sync;

/// A provider as the engine uses it: every call goes through here (LC-32).
///
/// Values may carry marks: they are taken off before the provider sees the value, and put back on what it returns
/// (LC-30). Every response is checked; what breaks the contract is reported as the provider's bug, with the address, the
/// path and both values (LC-28). The provider's own diagnostics come back with the places of the configuration that they
/// are about (LC-26).
pub struct Checked {
    provider: Arc<dyn Provider>,
    address: ProviderAddress,
    declared: OnceLock<ProviderSchema>,
    schemas: Mutex<KnownSchemas>,
    log: Option<Arc<LogHook>>,
    results: function::Results,
    late_functions: Mutex<function::Late>,
}

impl Checked {
    /// Holds `provider`, known as `address`, to its contract.
    pub fn new(provider: Arc<dyn Provider>, address: ProviderAddress) -> Self {
        Self {
            provider,
            address,
            declared: OnceLock::new(),
            schemas: Mutex::default(),
            log: None,
            results: function::Results::default(),
            late_functions: Mutex::default(),
        }
    }

    /// The same, with `log` called for broken rules that the provider is exempt from (LC-17).
    #[must_use]
    pub fn with_log(mut self, log: Arc<LogHook>) -> Self {
        self.log = Some(log);
        self
    }

    /// The provider's address.
    pub fn address(&self) -> &ProviderAddress {
        &self.address
    }

    /// The types and functions it has.
    pub fn type_names(&self) -> TypeNames {
        self.provider.type_names()
    }

    /// What the provider itself declares.
    ///
    /// # Errors
    ///
    /// The provider could not answer, or its schema is unsound.
    pub fn schema(&self) -> Result<&ProviderSchema, Diagnostics> {
        if let Some(declared) = self.declared.get() {
            return Ok(declared);
        }
        let declared = self.provider.schema().map_err(|problems| self.plain(problems))?;
        for schema in std::iter::once(&declared.config).chain(&declared.meta) {
            self.sound(schema, "its configuration")?;
        }
        Ok(self.declared.get_or_init(|| declared))
    }

    /// The schema of a managed resource type; `None` when the provider does not have the type.
    ///
    /// # Errors
    ///
    /// The provider could not answer, or the schema is unsound.
    pub fn resource_schema(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Diagnostics> {
        self.type_schema(TypeKind::Resource, type_name, |provider| provider.resource_schema(type_name))
    }

    /// The schema of a data source; `None` when the provider does not have it.
    ///
    /// # Errors
    ///
    /// The provider could not answer, or the schema is unsound.
    pub fn data_schema(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Diagnostics> {
        self.type_schema(TypeKind::Data, type_name, |provider| provider.data_schema(type_name))
    }

    /// The schema of an ephemeral resource type; `None` when the provider does not have it.
    ///
    /// # Errors
    ///
    /// The provider could not answer, or the schema is unsound.
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
        let schema = load(&*self.provider).map_err(|problems| self.plain(problems))?;
        if let Some(schema) = &schema {
            self.sound(schema, type_name)?;
        }
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner).insert(key, schema.clone());
        Ok(schema)
    }

    /// Checks the provider's configuration.
    pub fn validate_provider_config<'a>(
        &'a self,
        subject: &ConfigSubject<'a>,
        config: &Value,
    ) -> Answer<'a, Diagnostics> {
        let subject = *subject;
        let request = ValidateProviderRequest { config: config.unmark_deep().0 };
        self.provider.validate_provider_config(request).map(move |problems| subject.place(problems))
    }

    /// Takes the provider's configuration into use.
    pub fn configure<'a>(
        &'a self,
        subject: &ConfigSubject<'a>,
        mut request: ConfigureRequest,
    ) -> Answer<'a, Diagnostics> {
        let subject = *subject;
        request.config = request.config.unmark_deep().0;
        self.forget_functions();
        self.provider.configure(request).map(move |problems| subject.place(problems))
    }

    /// Checks a configuration of a managed resource, a data source, an ephemeral resource or a list (LC-03).
    pub fn validate<'a>(&'a self, subject: &Subject<'a>, config: &Value) -> Answer<'a, Diagnostics> {
        let request = ValidateRequest {
            type_name: subject.type_name(),
            config: config.unmark_deep().0,
            client_capabilities: ClientCapabilities { write_only_attributes_allowed: true, ..Default::default() },
        };
        let subject = *subject;
        match subject.address.resource.mode {
            groma_address::Mode::Managed => self.provider.validate_resource(request),
            groma_address::Mode::Data => self.provider.validate_data(request),
            groma_address::Mode::Ephemeral => self.provider.validate_ephemeral(request),
            groma_address::Mode::List => self.provider.validate_list(request),
        }
        .map(move |problems| subject.place(problems))
    }

    /// Closes an ephemeral resource.
    pub fn close_ephemeral<'a>(
        &'a self,
        subject: &Subject<'a>,
        private: crate::protocol::Private,
    ) -> Answer<'a, Diagnostics> {
        let subject = *subject;
        self.provider
            .close_ephemeral(CloseEphemeralRequest { type_name: subject.type_name(), private })
            .map(move |problems| subject.place(problems))
    }

    /// How many objects of a type are best given to one [`Checked::read_many`].
    pub fn read_batch_size(&self, type_name: &str) -> usize {
        self.provider.read_batch_size(type_name).max(1)
    }

    /// Asks running operations to end soon (FW-22).
    pub fn stop(&self) {
        self.provider.stop();
    }

    /// Whether the provider has ended and cannot be asked anything any more.
    pub fn has_ended(&self) -> bool {
        self.provider.has_ended()
    }

    /// What the provider can do; the base alone when it cannot even say that.
    fn capabilities(&self) -> crate::protocol::ServerCapabilities {
        self.schema().map(|declared| declared.capabilities).unwrap_or_default()
    }

    /// Whether its objects are nowhere but in the state, and its answers depend on the requests alone.
    pub fn is_pure(&self) -> bool {
        self.capabilities().is_pure
    }

    fn tolerate(&self, diagnostics: Diagnostics) {
        if let Some(log) = &self.log {
            diagnostics.iter().for_each(|diagnostic| log(diagnostic));
        }
    }
}

impl Subject<'_> {
    fn type_name(&self) -> Name {
        self.address.resource.type_name.clone()
    }

    /// The provider's diagnostics with the places they are about (LC-26).
    fn place(&self, problems: ProviderDiagnostics) -> Diagnostics {
        if problems.is_empty() {
            return Diagnostics::new();
        }
        placed(problems, self.body, self.span, Some(self.address))
    }
}

impl ConfigSubject<'_> {
    fn place(&self, problems: ProviderDiagnostics) -> Diagnostics {
        placed(problems, Some(self.body), self.body.opening(), Some(self.address))
    }
}

/// The provider's diagnostics with the places they are about: the argument that the path leads to, or else the block.
fn placed(
    problems: ProviderDiagnostics,
    body: Option<&BodyDecoder>,
    span: Span,
    address: Option<&dyn fmt::Display>,
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
                // It is the same for everything that the provider was still to be asked, and reported once.
                return diagnostic;
            }
            let subject = match body {
                Some(body) if !problem.path.is_empty() => body.span_of(&problem.path),
                _ => span,
            };
            let diagnostic = diagnostic.at(subject);
            match address {
                Some(address) => diagnostic.about(address.to_string()),
                None => diagnostic,
            }
        })
        .collect()
}
