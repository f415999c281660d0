//! Recording of the calls in the lifecycle of many instances, whose requests and responses stay encoded.

use std::sync::Arc;

use groma_plugin::proto::v6::{self, ClientCapabilities};
use groma_plugin::transport::Connection;
use groma_plugin::{MESSAGE_LIMIT, Protocol, Raw, wire};
use groma_provider::{Schema, proposed_new_state};
use groma_value::{Type, Value, json};
use prost::Message;
use prost::bytes::Bytes;
use tonic::Request;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;

/// A result with an error message for the terminal.
pub type Outcome<T> = Result<T, String>;

/// One encoded call, which can be sent repeatedly.
#[derive(Clone, Debug)]
pub struct Call {
    path: PathAndQuery,
    message: Bytes,
}

impl Call {
    /// Creates a call from the method's names in versions 5 and 6.
    pub fn new(protocol: Protocol, names: [&str; 2], message: &impl Message) -> Self {
        let path = match protocol {
            Protocol::V5 => format!("/tfplugin5.Provider/{}", names[0]),
            Protocol::V6 => format!("/tfplugin6.Provider/{}", names[1]),
        };
        let path = PathAndQuery::try_from(path).unwrap_or_else(|_| PathAndQuery::from_static("/"));
        Self { path, message: message.encode_to_vec().into() }
    }
}

/// Sends a call and returns the undecoded response.
pub async fn ask(connection: &Connection, call: &Call) -> Outcome<Bytes> {
    let mut client = Grpc::new(connection.channel())
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    client.ready().await.map_err(|error| error.to_string())?;
    let answer = client.unary(Request::new(call.message.clone()), call.path.clone(), Raw).await;
    Ok(answer.map_err(|status| format!("{}: {status}", call.path))?.into_inner())
}

/// The recorded calls; each inner vector must be sent in order.
pub struct Recording {
    /// Calls once per process.
    pub setup: Vec<Call>,
    /// Calls to plan each new instance.
    pub plan: Vec<Vec<Call>>,
    /// Calls to create each instance.
    pub apply: Vec<Vec<Call>>,
    /// Calls of a no-op plan for each existing instance.
    pub again: Vec<Vec<Call>>,
}

/// The schema response with undecoded schemas, of which one is needed; identical to the protocol's message on the wire.
#[derive(Clone, PartialEq, Message)]
struct RawSchemas {
    #[prost(bytes = "vec", optional, tag = "1")]
    provider: Option<Vec<u8>>,
    #[prost(btree_map = "string, bytes", tag = "2")]
    resources: std::collections::BTreeMap<String, Vec<u8>>,
}

impl Recording {
    /// Runs the lifecycle once and records its calls.
    pub async fn prepared(
        connection: &Connection,
        type_name: &str,
        count: usize,
        configuration: &str,
    ) -> Outcome<Self> {
        let (recorder, setup) = Recorder::start(connection, type_name).await?;
        let mut recording = Self { setup, plan: Vec::new(), apply: Vec::new(), again: Vec::new() };
        for number in 0..count {
            recorder.record(&mut recording, &configuration.replace('#', &number.to_string())).await?;
        }
        Ok(recording)
    }
}

/// A connection and the resource type whose lifecycle is recorded.
struct Recorder<'a> {
    connection: &'a Connection,
    type_name: String,
    schema: Schema,
}

impl<'a> Recorder<'a> {
    async fn start(connection: &'a Connection, type_name: &str) -> Outcome<(Self, Vec<Call>)> {
        let protocol = connection.protocol();
        let request = v6::get_provider_schema::Request {};
        let asked = Call::new(protocol, ["GetSchema", "GetProviderSchema"], &request);
        let request = v6::get_resource_identity_schemas::Request {};
        let identities = Call::new(protocol, ["GetResourceIdentitySchemas"; 2], &request);
        let schemas: RawSchemas = answered(connection, &asked).await?;
        let read = |bytes: &[u8]| wire::schema_of(bytes, protocol).map_err(|error| error.to_string());
        let bytes = schemas.resources.get(type_name).ok_or_else(|| format!("no type is called {type_name}"))?;
        let mut schema = read(bytes)?;
        let known: v6::get_resource_identity_schemas::Response = answered(connection, &identities).await?;
        if let Some(identity) = known.identity_schemas.get(type_name) {
            let identity = wire::identity_schema(identity).map_err(|error| error.to_string())?;
            schema.identity = Some(Arc::new(identity));
        }
        let config = schemas.provider.as_deref().map(read).transpose()?.unwrap_or_default();
        let config = encoded(&filled(config.block.implied_type(), "{}")?, config.block.implied_type())?;
        let validate = v6::validate_provider_config::Request { config: config.clone() };
        let configure = v6::configure_provider::Request {
            terraform_version: String::from("1.15.0"),
            config,
            client_capabilities: capabilities(),
        };
        let setup = vec![
            asked,
            identities,
            Call::new(protocol, ["PrepareProviderConfig", "ValidateProviderConfig"], &validate),
            Call::new(protocol, ["Configure", "ConfigureProvider"], &configure),
        ];
        for call in &setup {
            ask(connection, call).await?;
        }
        Ok((Self { connection, type_name: type_name.to_owned(), schema }, setup))
    }

    fn ty(&self) -> &Type {
        self.schema.block.implied_type()
    }

    fn call(&self, names: [&str; 2], message: &impl Message) -> Call {
        Call::new(self.connection.protocol(), names, message)
    }

    /// Records one instance: plan, create, read, and plan again.
    async fn record(&self, recording: &mut Recording, configuration: &str) -> Outcome<()> {
        let config = filled(self.ty(), configuration)?;
        let validate = self.call(
            ["ValidateResourceTypeConfig", "ValidateResourceConfig"],
            &v6::validate_resource_config::Request {
                config: encoded(&config, self.ty())?,
                type_name: self.type_name.clone(),
                client_capabilities: capabilities(),
            },
        );
        let plan = self.plan(&Value::null(self.ty().clone()), &config, Stored::default())?;
        let planned: v6::plan_resource_change::Response = answered(self.connection, &plan).await?;
        check(&planned.diagnostics)?;
        let apply = self.apply(&config, planned)?;
        let made: v6::apply_resource_change::Response = answered(self.connection, &apply).await?;
        check(&made.diagnostics)?;
        let object = wire::decode(made.new_state.as_ref(), self.ty()).map_err(|error| error.to_string())?;
        let stored = Stored { private: made.private, identity: made.new_identity };
        let mut again = self.upgrades(&object, &stored)?;
        again.push(self.read(&object, &stored)?);
        again.push(validate.clone());
        again.push(self.plan(&object, &config, stored)?);
        recording.plan.push(vec![validate.clone(), plan.clone()]);
        recording.apply.push(vec![validate, plan, apply]);
        recording.again.push(again);
        Ok(())
    }

    fn plan(&self, prior: &Value, config: &Value, stored: Stored) -> Outcome<Call> {
        let proposed = proposed_new_state(&self.schema.block, prior, config);
        let message = v6::plan_resource_change::Request {
            type_name: self.type_name.clone(),
            prior_state: encoded(prior, self.ty())?,
            proposed_new_state: encoded(&proposed, self.ty())?,
            config: encoded(config, self.ty())?,
            prior_private: stored.private,
            client_capabilities: capabilities(),
            prior_identity: stored.identity,
            ..Default::default()
        };
        Ok(self.call(["PlanResourceChange"; 2], &message))
    }

    fn apply(&self, config: &Value, planned: v6::plan_resource_change::Response) -> Outcome<Call> {
        let message = v6::apply_resource_change::Request {
            type_name: self.type_name.clone(),
            prior_state: encoded(&Value::null(self.ty().clone()), self.ty())?,
            planned_state: planned.planned_state,
            config: encoded(config, self.ty())?,
            planned_private: planned.planned_private,
            provider_meta: None,
            planned_identity: planned.planned_identity,
        };
        Ok(self.call(["ApplyResourceChange"; 2], &message))
    }

    /// Records the upgrade calls, which precede every other use of a stored object.
    fn upgrades(&self, object: &Value, stored: &Stored) -> Outcome<Vec<Call>> {
        let state = v6::upgrade_resource_state::Request {
            type_name: self.type_name.clone(),
            version: i64::try_from(self.schema.version).unwrap_or_default(),
            raw_state: Some(raw_state(object, self.ty())?),
        };
        let mut calls = vec![self.call(["UpgradeResourceState"; 2], &state)];
        let identity = stored.identity.as_ref().and_then(|identity| identity.identity_data.as_ref());
        if let (Some(identity), Some(schema)) = (identity, &self.schema.identity) {
            let ty = schema.implied_type();
            let value = wire::decode(Some(identity), &ty).map_err(|error| error.to_string())?;
            let message = v6::upgrade_resource_identity::Request {
                type_name: self.type_name.clone(),
                version: i64::try_from(schema.version).unwrap_or_default(),
                raw_identity: Some(raw_state(&value, &ty)?),
            };
            calls.push(self.call(["UpgradeResourceIdentity"; 2], &message));
        }
        Ok(calls)
    }

    fn read(&self, object: &Value, stored: &Stored) -> Outcome<Call> {
        let message = v6::read_resource::Request {
            type_name: self.type_name.clone(),
            current_state: encoded(object, self.ty())?,
            private: stored.private.clone(),
            provider_meta: None,
            client_capabilities: capabilities(),
            current_identity: stored.identity.clone(),
        };
        Ok(self.call(["ReadResource"; 2], &message))
    }
}

/// The provider data stored along with an object.
#[derive(Clone, Default)]
struct Stored {
    private: Bytes,
    identity: Option<v6::ResourceIdentityData>,
}

fn capabilities() -> Option<ClientCapabilities> {
    Some(wire::capabilities_message(groma_provider::ClientCapabilities {
        write_only_attributes_allowed: true,
        ..Default::default()
    }))
}

async fn answered<R: Message + Default>(connection: &Connection, call: &Call) -> Outcome<R> {
    R::decode(ask(connection, call).await?).map_err(|error| error.to_string())
}

fn check(problems: &[v6::Diagnostic]) -> Outcome<()> {
    problems.first().map_or(Ok(()), |problem| Err(format!("{}: {}", problem.summary, problem.detail)))
}

fn encoded(value: &Value, ty: &Type) -> Outcome<Option<v6::DynamicValue>> {
    wire::encode(value, ty).map(Some).map_err(|error| error.to_string())
}

fn raw_state(value: &Value, ty: &Type) -> Outcome<v6::RawState> {
    let mut text = String::new();
    json::write_json(value, ty, &mut text).map_err(|error| error.to_string())?;
    Ok(wire::raw_json(&text.into()))
}

/// Parses `configuration` into an object with null for missing attributes.
fn filled(ty: &Type, configuration: &str) -> Outcome<Value> {
    let mut object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(configuration).map_err(|error| format!("{configuration}: {error}"))?;
    for (name, _) in ty.as_object().into_iter().flat_map(|object| object.iter()) {
        object.entry(name.to_string()).or_insert(serde_json::Value::Null);
    }
    let text = serde_json::to_string(&object).map_err(|error| error.to_string())?;
    json::from_json(text.as_bytes(), ty).map_err(|error| error.to_string())
}
