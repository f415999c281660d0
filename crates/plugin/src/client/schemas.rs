//! The schemas of a provider, each read when it is first asked for.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use groma_provider::{
    FunctionSignature, Name, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, Schema, SchemaLookup, TypeNames,
};
use prost::Message;

use crate::Protocol;
use crate::proto::v6;
use crate::wire::{self, WireError};

/// The response to the schema call with the schemas still as bytes: a large provider has thousands of types, of which a
/// configuration uses a few. On the wire it is the same as the response in the protocol's definition.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RawSchemas {
    #[prost(bytes = "vec", optional, tag = "1")]
    provider: Option<Vec<u8>>,
    #[prost(btree_map = "string, bytes", tag = "2")]
    resources: BTreeMap<String, Vec<u8>>,
    #[prost(btree_map = "string, bytes", tag = "3")]
    data_sources: BTreeMap<String, Vec<u8>>,
    #[prost(message, repeated, tag = "4")]
    pub(super) diagnostics: Vec<v6::Diagnostic>,
    #[prost(bytes = "vec", optional, tag = "5")]
    meta: Option<Vec<u8>>,
    #[prost(message, optional, tag = "6")]
    capabilities: Option<v6::ServerCapabilities>,
    #[prost(btree_map = "string, message", tag = "7")]
    functions: BTreeMap<String, v6::Function>,
    #[prost(btree_map = "string, bytes", tag = "8")]
    ephemeral_resources: BTreeMap<String, Vec<u8>>,
    #[prost(btree_map = "string, bytes", tag = "9")]
    lists: BTreeMap<String, Vec<u8>>,
    #[prost(btree_map = "string, bytes", tag = "10")]
    state_stores: BTreeMap<String, Vec<u8>>,
    #[prost(btree_map = "string, message", tag = "11")]
    actions: BTreeMap<String, RawAction>,
}

/// The schema of an action, which has a message of its own around it.
#[derive(Clone, PartialEq, Message)]
struct RawAction {
    #[prost(bytes = "vec", optional, tag = "1")]
    schema: Option<Vec<u8>>,
}

/// Which of the kinds of types a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Resource,
    Data,
    Ephemeral,
    List,
    Action,
    StateStore,
}

/// What a provider declares.
pub(super) struct Schemas {
    protocol: Protocol,
    raw: RawSchemas,
    identities: BTreeMap<String, v6::ResourceIdentitySchema>,
    declared: ProviderSchema,
    #[allow(clippy::type_complexity, reason = "a map behind a lock")]
    read: Mutex<HashMap<(Kind, Name), Option<Arc<Schema>>>>,
}

impl Schemas {
    /// What the two responses say.
    pub fn new(
        protocol: Protocol,
        raw: RawSchemas,
        identities: impl IntoIterator<Item = (String, v6::ResourceIdentitySchema)>,
    ) -> Result<Self, ProviderDiagnostics> {
        let config = match &raw.provider {
            Some(bytes) => read(bytes, protocol, "the provider's configuration")?,
            None => Schema::default(),
        };
        let meta = raw.meta.as_ref().map(|bytes| read(bytes, protocol, "provider_meta")).transpose()?;
        let declared = ProviderSchema {
            config: Arc::new(config),
            meta: meta.map(Arc::new),
            capabilities: wire::server_capabilities(raw.capabilities.as_ref()),
        };
        Ok(Self { protocol, raw, identities: identities.into_iter().collect(), declared, read: Mutex::default() })
    }

    /// The version of the protocol that they are in.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// What the provider itself declares.
    pub fn declared(&self) -> &ProviderSchema {
        &self.declared
    }

    /// The names of all types and functions.
    pub fn type_names(&self) -> TypeNames {
        fn names<T>(map: &BTreeMap<String, T>) -> Vec<Name> {
            map.keys().map(|name| name.as_str().into()).collect()
        }
        TypeNames {
            resources: names(&self.raw.resources),
            data_sources: names(&self.raw.data_sources),
            ephemeral_resources: names(&self.raw.ephemeral_resources),
            functions: names(&self.raw.functions),
            lists: names(&self.raw.lists),
            actions: names(&self.raw.actions),
            state_stores: names(&self.raw.state_stores),
        }
    }

    /// The schema of a type; nothing where the provider does not have it.
    pub fn lookup(&self, kind: Kind, type_name: &str) -> SchemaLookup {
        let key = (kind, Name::from(type_name));
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = known.get(&key) {
            return Ok(schema.clone());
        }
        let bytes = match kind {
            Kind::Resource => self.raw.resources.get(type_name),
            Kind::Data => self.raw.data_sources.get(type_name),
            Kind::Ephemeral => self.raw.ephemeral_resources.get(type_name),
            Kind::List => self.raw.lists.get(type_name),
            Kind::StateStore => self.raw.state_stores.get(type_name),
            Kind::Action => self.raw.actions.get(type_name).and_then(|action| action.schema.as_ref()),
        };
        let mut schema = bytes.map(|bytes| read(bytes, self.protocol, type_name)).transpose()?;
        let identity = self.identities.get(type_name).filter(|_| kind == Kind::Resource);
        if let (Some(schema), Some(identity)) = (&mut schema, identity) {
            let identity = wire::identity_schema(identity).map_err(|error| unreadable(&error, type_name))?;
            schema.identity = Some(Arc::new(identity));
        }
        let schema = schema.map(Arc::new);
        known.insert(key, schema.clone());
        Ok(schema)
    }

    /// The schema of a type that a request is about.
    pub fn expect(&self, kind: Kind, type_name: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        self.lookup(kind, type_name)?.ok_or_else(|| {
            let detail = format!("The provider has no type named {type_name:?}.");
            ProviderDiagnostic::error("Unsupported resource type", detail).into()
        })
    }

    /// The signature of a function; nothing where there is none that can be read.
    pub fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.raw.functions.get(name).and_then(|message| wire::function(message).ok()).map(Arc::new)
    }
}

fn read(bytes: &[u8], protocol: Protocol, of: &str) -> Result<Schema, ProviderDiagnostics> {
    wire::schema_of(bytes, protocol).map_err(|error| unreadable(&error, of))
}

fn unreadable(error: &WireError, of: &str) -> ProviderDiagnostics {
    let detail = format!(
        "The schema of {of} that the provider sent cannot be used: {error}. This is a mistake in the provider; please \
         report it to its authors."
    );
    ProviderDiagnostic::error("Invalid provider schema", detail).into()
}
