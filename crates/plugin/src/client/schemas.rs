//! The schemas of a provider, each decoded on first use.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use groma_provider::{
    FunctionSignature, Name, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, Schema, SchemaLookup, TypeNames,
};
use prost::Message;

use crate::Protocol;
use crate::proto::v6;
use crate::wire::{self, WireError};

/// The schema response with undecoded schemas: a large provider has thousands of types, of which a configuration uses a
/// few. On the wire it is identical to the message in the protocol definition.
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

/// An action's schema, which the protocol wraps in another message.
#[derive(Clone, PartialEq, Message)]
struct RawAction {
    #[prost(bytes = "vec", optional, tag = "1")]
    schema: Option<Vec<u8>>,
}

/// The namespace of a type name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Resource,
    Data,
    Ephemeral,
    List,
    Action,
    StateStore,
}

/// The declarations of a provider, decoded on demand.
pub(super) struct Schemas {
    protocol: Protocol,
    raw: RawSchemas,
    identities: BTreeMap<String, v6::ResourceIdentitySchema>,
    declared: ProviderSchema,
    #[allow(clippy::type_complexity, reason = "a map behind a lock")]
    read: Mutex<HashMap<(Kind, Name), Option<Arc<Schema>>>>,
}

impl Schemas {
    /// Creates the schemas from the responses to the schema call and the identity schema call.
    pub fn new(
        protocol: Protocol,
        raw: RawSchemas,
        identities: impl IntoIterator<Item = (String, v6::ResourceIdentitySchema)>,
    ) -> Result<Self, ProviderDiagnostics> {
        let config = match &raw.provider {
            // Decoded at once, because every run needs the provider's own schema.
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

    /// Returns the protocol version that the schemas are encoded in.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Returns the schema of the provider configuration and the provider's capabilities.
    pub fn declared(&self) -> &ProviderSchema {
        &self.declared
    }

    /// Returns the names of all types and functions.
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

    /// Returns the schema of a type, or `None` if the provider does not have it.
    pub fn lookup(&self, kind: Kind, type_name: &str) -> SchemaLookup {
        let key = (kind, Name::from(type_name));
        // Decoding under the lock is fast, and ensures that each schema is decoded once.
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
        // Identities are declared by resource type; a data source of the same name has none.
        let identity = self.identities.get(type_name).filter(|_| kind == Kind::Resource);
        if let (Some(schema), Some(identity)) = (&mut schema, identity) {
            let identity = wire::identity_schema(identity).map_err(|error| unreadable(&error, type_name))?;
            schema.identity = Some(Arc::new(identity));
        }
        let schema = schema.map(Arc::new);
        // Missing types are remembered too.
        known.insert(key, schema.clone());
        Ok(schema)
    }

    /// Returns the schema of a type that a request names; a missing type is an error.
    pub fn expect(&self, kind: Kind, type_name: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        self.lookup(kind, type_name)?.ok_or_else(|| {
            let detail = format!("The provider has no type named {type_name:?}.");
            ProviderDiagnostic::error("Unsupported resource type", detail).into()
        })
    }

    /// Returns the signature of a function, or `None` if it is unknown or cannot be decoded.
    pub fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.raw.functions.get(name).and_then(|message| wire::function(message).ok()).map(Arc::new)
    }
}

fn read(bytes: &[u8], protocol: Protocol, of: &str) -> Result<Schema, ProviderDiagnostics> {
    wire::schema_of(bytes, protocol).map_err(|error| unreadable(&error, of))
}

fn unreadable(error: &WireError, of: &str) -> ProviderDiagnostics {
    let detail = format!(
        "The provider sent an invalid schema for {of}: {error}. This is a bug in the provider. Please report it in the \
         provider's issue tracker."
    );
    ProviderDiagnostic::error("Invalid provider schema", detail).into()
}
