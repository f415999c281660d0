//! The calls of a life of many instances, prepared by leading it once.

use std::sync::Arc;

use groma_plugin::proto::v6::{self, ClientCapabilities};
use groma_plugin::transport::Connection;
use groma_plugin::wire;
use groma_provider::{Schema, proposed_new_state};
use groma_value::{Type, Value, json};
use prost::Message;
use prost::bytes::Bytes;

use super::calls::{Call, Outcome, ask};

/// What is asked.
pub struct Story {
    /// Once a process.
    pub beginning: Vec<Call>,
    /// To plan each instance from nothing.
    pub plan: Vec<Vec<Call>>,
    /// To make it.
    pub apply: Vec<Vec<Call>>,
    /// To find out that nothing is to be done.
    pub again: Vec<Vec<Call>>,
}

/// The answer about schemas, of which only one is looked at: on the wire the same as the protocol's.
#[derive(Clone, PartialEq, Message)]
struct RawSchemas {
    #[prost(bytes = "vec", optional, tag = "1")]
    provider: Option<Vec<u8>>,
    #[prost(btree_map = "string, bytes", tag = "2")]
    resources: std::collections::BTreeMap<String, Vec<u8>>,
}

impl Story {
    /// Leads the life once: the calls that it took.
    pub async fn prepared(
        connection: &Connection,
        type_name: &str,
        count: usize,
        configuration: &str,
    ) -> Outcome<Self> {
        let (life, beginning) = Life::begun(connection, type_name).await?;
        let mut story = Self { beginning, plan: Vec::new(), apply: Vec::new(), again: Vec::new() };
        for number in 0..count {
            life.lead(&mut story, &configuration.replace('#', &number.to_string())).await?;
        }
        Ok(story)
    }
}

/// A connection, and the type whose objects live.
struct Life<'a> {
    connection: &'a Connection,
    type_name: String,
    schema: Schema,
}

impl<'a> Life<'a> {
    async fn begun(connection: &'a Connection, type_name: &str) -> Outcome<(Self, Vec<Call>)> {
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
        let beginning = vec![
            asked,
            identities,
            Call::new(protocol, ["PrepareProviderConfig", "ValidateProviderConfig"], &validate),
            Call::new(protocol, ["Configure", "ConfigureProvider"], &configure),
        ];
        for call in &beginning {
            ask(connection, call).await?;
        }
        Ok((Self { connection, type_name: type_name.to_owned(), schema }, beginning))
    }

    fn ty(&self) -> &Type {
        self.schema.block.implied_type()
    }

    fn call(&self, names: [&str; 2], message: &impl Message) -> Call {
        Call::new(self.connection.protocol(), names, message)
    }

    /// One instance: planned, made, read, and planned again.
    async fn lead(&self, story: &mut Story, configuration: &str) -> Outcome<()> {
        let config = filled(self.ty(), configuration)?;
        let validate = self.call(
            ["ValidateResourceTypeConfig", "ValidateResourceConfig"],
            &v6::validate_resource_config::Request {
                config: encoded(&config, self.ty())?,
                type_name: self.type_name.clone(),
                client_capabilities: capabilities(),
            },
        );
        let plan = self.plan(&Value::null(self.ty().clone()), &config, Kept::default())?;
        let planned: v6::plan_resource_change::Response = answered(self.connection, &plan).await?;
        sound(&planned.diagnostics)?;
        let apply = self.apply(&config, planned)?;
        let made: v6::apply_resource_change::Response = answered(self.connection, &apply).await?;
        sound(&made.diagnostics)?;
        let object = wire::decode(made.new_state.as_ref(), self.ty()).map_err(|error| error.to_string())?;
        let kept = Kept { private: made.private, identity: made.new_identity };
        let mut again = self.upgrades(&object, &kept)?;
        again.push(self.read(&object, &kept)?);
        again.push(validate.clone());
        again.push(self.plan(&object, &config, kept)?);
        story.plan.push(vec![validate.clone(), plan.clone()]);
        story.apply.push(vec![validate, plan, apply]);
        story.again.push(again);
        Ok(())
    }

    fn plan(&self, prior: &Value, config: &Value, kept: Kept) -> Outcome<Call> {
        let proposed = proposed_new_state(&self.schema.block, prior, config);
        let message = v6::plan_resource_change::Request {
            type_name: self.type_name.clone(),
            prior_state: encoded(prior, self.ty())?,
            proposed_new_state: encoded(&proposed, self.ty())?,
            config: encoded(config, self.ty())?,
            prior_private: kept.private,
            client_capabilities: capabilities(),
            prior_identity: kept.identity,
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

    /// What is stored is brought into today's shape before anything else.
    fn upgrades(&self, object: &Value, kept: &Kept) -> Outcome<Vec<Call>> {
        let state = v6::upgrade_resource_state::Request {
            type_name: self.type_name.clone(),
            version: i64::try_from(self.schema.version).unwrap_or_default(),
            raw_state: Some(stored(object, self.ty())?),
        };
        let mut calls = vec![self.call(["UpgradeResourceState"; 2], &state)];
        let identity = kept.identity.as_ref().and_then(|identity| identity.identity_data.as_ref());
        if let (Some(identity), Some(schema)) = (identity, &self.schema.identity) {
            let ty = schema.implied_type();
            let value = wire::decode(Some(identity), &ty).map_err(|error| error.to_string())?;
            let message = v6::upgrade_resource_identity::Request {
                type_name: self.type_name.clone(),
                version: i64::try_from(schema.version).unwrap_or_default(),
                raw_identity: Some(stored(&value, &ty)?),
            };
            calls.push(self.call(["UpgradeResourceIdentity"; 2], &message));
        }
        Ok(calls)
    }

    fn read(&self, object: &Value, kept: &Kept) -> Outcome<Call> {
        let message = v6::read_resource::Request {
            type_name: self.type_name.clone(),
            current_state: encoded(object, self.ty())?,
            private: kept.private.clone(),
            provider_meta: None,
            client_capabilities: capabilities(),
            current_identity: kept.identity.clone(),
        };
        Ok(self.call(["ReadResource"; 2], &message))
    }
}

/// What is kept with an object.
#[derive(Clone, Default)]
struct Kept {
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

fn sound(problems: &[v6::Diagnostic]) -> Outcome<()> {
    problems.first().map_or(Ok(()), |problem| Err(format!("{}: {}", problem.summary, problem.detail)))
}

fn encoded(value: &Value, ty: &Type) -> Outcome<Option<v6::DynamicValue>> {
    wire::encode(value, ty).map(Some).map_err(|error| error.to_string())
}

fn stored(value: &Value, ty: &Type) -> Outcome<v6::RawState> {
    let mut text = String::new();
    json::write_json(value, ty, &mut text).map_err(|error| error.to_string())?;
    Ok(wire::raw_json(&text.into()))
}

/// The object of `configuration`, with null for all that it does not say.
fn filled(ty: &Type, configuration: &str) -> Outcome<Value> {
    let mut object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(configuration).map_err(|error| format!("{configuration}: {error}"))?;
    for (name, _) in ty.as_object().into_iter().flat_map(|object| object.iter()) {
        object.entry(name.to_string()).or_insert(serde_json::Value::Null);
    }
    let text = serde_json::to_string(&object).map_err(|error| error.to_string())?;
    json::from_json(text.as_bytes(), ty).map_err(|error| error.to_string())
}
