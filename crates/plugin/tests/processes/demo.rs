//! The provider of these tests: every feature of the protocol once, on the scripted provider.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};

use groma_plugin::Protocol;
use groma_provider::{
    Attribute, Block, Description, FunctionError, FunctionSignature, IdentityAttribute, IdentityImport, IdentitySchema,
    ImportTarget, Name, NestedBlock, Nesting, ObjectNesting, ObjectSchema, Parameter, Provider, ProviderDiagnostic,
    Schema, ServerCapabilities, Use,
};
use groma_scripted::{DataScript, EphemeralScript, ResourceScript, Scripted};
use groma_value::{Type, Value};

/// The source address of the provider.
pub const ADDRESS: &str = "registry.terraform.io/example/demo";

/// The private data that every object must have kept since its creation.
const MARK: &[u8] = b"kept since the creation";

/// Whether a run must request the schemas from the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    Needed,
    Optional,
}

/// Creates the provider; for version 5 without nested attributes.
pub fn provider(protocol: Protocol, asking: Asking) -> Arc<dyn Provider> {
    let capabilities = ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: asking == Asking::Optional,
        ..ServerCapabilities::default()
    };
    let signature = FunctionSignature {
        parameters: vec![parameter("text")],
        variadic: Some(parameter("more")),
        return_type: Type::String,
        summary: "Joins texts with dashes.".to_owned(),
        description: Description::default(),
        deprecation: String::new(),
    };
    let demo = Arc::new(
        Scripted::new("demo")
            .capabilities(capabilities)
            .config(Schema::new(Block::new(
                [("region", Attribute::optional(Type::String))],
                [("retry", NestedBlock::new(Nesting::Single, Block::new([("tries", number())], no_blocks())))],
            )))
            .resource("demo_thing", demo_resource(protocol))
            .data(
                "demo_lookup",
                DataScript::new(lookup()).returning(|config| {
                    let key = text_of(config, "key");
                    vec![("found", Value::string(format!("found {key}")))]
                }),
            )
            .ephemeral("demo_token", EphemeralScript::new(token()))
            .function("join", signature, |arguments| {
                match arguments.iter().map(|a| a.as_str()).collect::<Option<Vec<_>>>() {
                    Some(texts) if texts.contains(&"bad") => {
                        Err(FunctionError::new("bad is not joined".to_owned()).at(0))
                    }
                    Some(texts) => Ok(Value::string(texts.join("-"))),
                    None => Err(FunctionError::new("not a text".to_owned())),
                }
            }),
    );
    // Weak, so that the static does not keep the provider alive.
    let _ = SERVED.set(Arc::downgrade(&demo));
    demo
}

fn number() -> Attribute {
    Attribute::optional(Type::Number)
}

fn no_blocks() -> Vec<(Name, NestedBlock)> {
    Vec::new()
}

fn parameter(name: &str) -> Parameter {
    Parameter {
        name: name.into(),
        ty: Type::String,
        allow_null: false,
        allow_unknown: false,
        description: Description::default(),
    }
}

fn lookup() -> Schema {
    Schema::new(Block::new(
        [("key", Attribute::required(Type::String)), ("found", Attribute::computed(Type::String))],
        no_blocks(),
    ))
}

fn token() -> Schema {
    Schema::new(Block::new(
        [("user", Attribute::required(Type::String)), ("token", Attribute::computed(Type::String).sensitive())],
        no_blocks(),
    ))
}

fn demo_schema(protocol: Protocol) -> Schema {
    let mut attributes = vec![
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::required(Type::String)),
        ("kind", Attribute::optional(Type::String)),
        ("size", number()),
        ("tags", Attribute::optional(Type::map(Type::String))),
        ("anything", Attribute::optional(Type::Dynamic)),
        ("secret", Attribute::optional(Type::String).write_only()),
        ("secret_length", Attribute::computed(Type::Number)),
    ];
    if protocol == Protocol::V6 {
        let parts = ObjectSchema::new(
            ObjectNesting::List,
            [("label", Attribute::required(Type::String)), ("weight", Attribute::optional(Type::Number))],
        );
        attributes.push(("parts", Attribute::nested(parts, Use::Optional)));
    }
    let rule = Block::new([("port", Attribute::required(Type::Number))], no_blocks());
    let ty = || IdentityAttribute { ty: Type::String, import: IdentityImport::Required, description: String::new() };
    let identity = IdentitySchema { version: 0, attributes: BTreeMap::from([(Name::from("id"), ty())]) };
    Schema::new(Block::new(attributes, [("rule", NestedBlock::new(Nesting::Set, rule))]))
        .versioned(1)
        .identified_by(identity)
}

/// A resource without storage of its own: its objects exist only in the state.
fn demo_resource(protocol: Protocol) -> ResourceScript {
    let schema = demo_schema(protocol);
    let block = Arc::clone(&schema.block);
    ResourceScript::new(schema)
        .replace_on("kind")
        .on_read(|request, _| {
            let mut diagnostics = groma_provider::ProviderDiagnostics::new();
            // Imported objects have no private data yet.
            if !request.private.is_empty() && *request.private != *MARK {
                diagnostics.push(ProviderDiagnostic::error("Private data lost", "It is not what apply returned."));
            }
            groma_provider::ReadResponse {
                new_state: request.current_state.clone(),
                private: request.private.clone(),
                deferred: None,
                new_identity: Some(identity_of(&request.current_state)),
                diagnostics,
            }
        })
        .on_plan(|request, good| {
            let mut response = good();
            response.planned_private = Arc::from(&b"planned"[..]);
            // The identity is known after the creation.
            if !request.prior_state.is_null() && !request.proposed_new_state.is_null() {
                response.planned_identity = Some(identity_of(&request.prior_state));
            }
            response
        })
        .on_apply(|request, good| {
            let name = text_of(&request.config, "name");
            match &*name {
                "crash" => std::process::abort(),
                "panic" => panic!("a provider's panic"),
                "stop" => wait_for_stop(),
                "hang" => std::thread::sleep(std::time::Duration::from_secs(3600)),
                _ => {}
            }
            let mut response = good();
            if request.planned_state.is_null() {
                return response;
            }
            // The apply must receive exactly the private data that the plan returned.
            if *request.planned_private != *b"planned" {
                response
                    .diagnostics
                    .push(ProviderDiagnostic::error("Private data lost", "It is not what plan returned."));
            }
            let length = text_of(&request.config, "secret").len();
            let state = response.new_state.take().unwrap_or(Value::NULL);
            let unknown_before = request.planned_state.attribute("secret_length").is_some_and(|v| !v.is_known());
            let length = i64::try_from(length).unwrap_or_default();
            // An update keeps the length that was stored, because the write-only value may be absent then.
            let state = if unknown_before { with(&state, "secret_length", Value::number(length)) } else { state };
            response.new_identity = Some(identity_of(&state));
            response.new_state = Some(state);
            response.private = Arc::from(MARK);
            response
        })
        .on_import(move |request, _| {
            let id = match &request.target {
                ImportTarget::Id(id) => id.clone(),
                ImportTarget::Identity(identity) => text_of(identity, "id"),
            };
            let state = with(block.empty_value(), "id", Value::string(&id));
            let state = with(&state, "name", Value::string(format!("name of {id}")));
            let state = with(&state, "secret_length", Value::number(0));
            let imported = groma_provider::ImportedResource {
                type_name: request.type_name.clone(),
                identity: Some(identity_of(&state)),
                state,
                private: Arc::default(),
            };
            groma_provider::ImportResponse { imported: vec![imported], ..Default::default() }
        })
}

fn identity_of(state: &Value) -> Value {
    let id = state.attribute("id").filter(|id| id.is_known());
    Value::object([("id", id.unwrap_or(Value::null(Type::String)))])
}

fn text_of(value: &Value, attribute: &str) -> String {
    value.attribute(attribute).and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
}

fn with(object: &Value, attribute: &str, value: Value) -> Value {
    let Some(view) = object.as_object() else { return object.clone() };
    Value::object(
        view.iter().map(|(name, old)| (name.clone(), if **name == *attribute { value.clone() } else { old.clone() })),
    )
}

/// Serves the provider in this process.
static SERVED: OnceLock<Weak<Scripted>> = OnceLock::new();

/// Blocks its thread until the host requests a stop, with a timeout for the test.
fn wait_for_stop() {
    // Through a static, because the closures of the script have no access to the provider itself.
    let is_wanted = || SERVED.get().and_then(Weak::upgrade).is_none_or(|demo| demo.is_stopped());
    for _ in 0..3000 {
        if is_wanted() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
