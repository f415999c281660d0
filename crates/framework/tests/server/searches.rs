//! Searches for objects (FW-19).

use std::sync::{Arc, Mutex};

use groma_framework::{
    Answer, Attribute, Bundle, Call, IdentityImport, ListContext, ListControl, ListDetail, ListRequest, ListResource,
    Listed, Maybe, Model, ModelListResource, ModelResource, ProviderDiagnostic, ProviderDiagnostics, ResourceSchema,
    SchemaBuilder,
};
use groma_provider::{ClientCapabilities, Provider, ReadRequest, ValidateRequest};
use groma_value::Value;

use crate::support::{AsPlanned, get, s};

#[derive(Model)]
struct Pet {
    name: String,
    #[attribute(computed)]
    tail: Maybe<String>,
}

/// What pets are searched by.
#[derive(Model)]
struct Wanted {
    #[attribute(validator = short())]
    prefix: Option<String>,
}

fn short() -> impl groma_framework::schema::Validator {
    groma_framework::schema::validator("must be short", |value| match value.as_str() {
        Some(text) if text.len() > 3 => Err("It is too long.".to_owned()),
        _ => Ok(()),
    })
}

/// A shelter with these pets.
struct Pets(&'static [&'static str]);

/// What names a pet.
#[derive(Model)]
struct PetIdentity {
    /// What it is called.
    name: String,
    site: Option<String>,
    #[attribute(computed)]
    number: Maybe<u64>,
}

fn identity(name: &str) -> PetIdentity {
    PetIdentity { name: name.to_owned(), site: None, number: Maybe::Known(7) }
}

impl ModelResource for Pets {
    type Model = Pet;

    fn schema(&self) -> SchemaBuilder {
        Pet::schema().identified_by::<PetIdentity>()
    }

    async fn create(&self, plan: Pet, _: &mut Call) -> Result<Pet, ProviderDiagnostic> {
        Ok(plan)
    }

    async fn read(&self, state: Pet, call: &mut Call) -> Result<Option<Pet>, ProviderDiagnostic> {
        // Pets that are older than the numbers get one.
        if call.identity::<PetIdentity>()?.is_none_or(|known| known.number == Maybe::Null) {
            call.identify(&identity(&state.name));
        }
        Ok(Some(state))
    }

    async fn delete(&self, _: Pet, _: &mut Call) -> Result<(), ProviderDiagnostic> {
        Ok(())
    }
}

impl ModelListResource for Pets {
    type Config = Wanted;

    async fn list(&self, config: Wanted, context: &mut ListContext) -> Result<(), ProviderDiagnostic> {
        let prefix = config.prefix.unwrap_or_default();
        assert!(prefix != "!!", "nobody looks for that");
        context.warn("Slow", "Pets hide.");
        for name in self.0.iter().filter(|name| name.starts_with(&prefix)) {
            let pet = Pet { name: (*name).to_owned(), tail: Maybe::Known("long".to_owned()) };
            let wanted = match *name {
                "hidden" => context.not_readable(*name, ProviderDiagnostic::error("Hidden", "It does not come out.")),
                _ => context.found(*name, identity(name), Some(&pet)),
            };
            if wanted == ListControl::Stop {
                return Ok(());
            }
        }
        Err(ProviderDiagnostic::error("Night", "The shelter is closed now."))
    }
}

/// The identities and names reported, the objects' tails, and the problems.
fn search(server: &dyn Provider, prefix: &str, detail: ListDetail, limit: u64) -> (Vec<String>, Vec<String>) {
    let reported: Arc<Mutex<Vec<Listed>>> = Arc::default();
    let taken = Arc::clone(&reported);
    let request = ListRequest {
        type_name: "test_pet".into(),
        config: Value::object([("prefix", s(prefix))]),
        detail,
        limit,
        found: Arc::new(move |listed| {
            taken.lock().unwrap().push(listed);
            ListControl::Continue
        }),
    };
    let problems = server.list_resource(request).wait();
    let line = |listed: &Listed| {
        let identity = listed.identity.as_ref().map(|identity| get(identity, "name"));
        let tail = listed.object.as_ref().map(|object| get(object, "tail"));
        let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
        format!("{} {:?} {:?} {}", listed.display_name, text(identity), text(tail), listed.diagnostics.iter().count())
    };
    let reported = reported.lock().unwrap().iter().map(line).collect();
    (reported, problems.iter().map(|problem| problem.summary.clone()).collect())
}

#[test]
fn fw_19_list_results_are_reported_with_identity_up_to_the_limit() {
    let server = Bundle::new()
        .resource("test_pet", Pets(&[]))
        .list_resource("test_pet", Pets(&["ann", "hidden", "anton", "bo"]))
        .build()
        .unwrap();
    assert_eq!(server.type_names().lists, ["test_pet"]);
    let schema = server.list_schema("test_pet").unwrap().unwrap();
    assert!(schema.block.implied_type().as_object().unwrap().attribute("prefix").is_some());
    assert!(server.list_schema("test_other").unwrap().is_none());

    let (reported, problems) = search(&server, "an", ListDetail::Identities, 100);
    assert_eq!(reported, ["ann Some(\"ann\") None 0", "anton Some(\"anton\") None 0"]);
    assert_eq!(problems, ["Slow", "Night"], "what was found before a failure stays found");
    let (reported, problems) = search(&server, "", ListDetail::Objects, 2);
    assert_eq!(reported, ["ann Some(\"ann\") Some(\"long\") 0", "hidden None None 1"]);
    // The provider returns before its error, because the limit told it to stop.
    assert_eq!(problems, ["Slow"], "two were enough");
    // A limit of zero means none.
    assert_eq!(search(&server, "", ListDetail::Identities, 0).0.len(), 4, "nobody counts");
    assert_eq!(search(&server, "!!", ListDetail::Identities, 1).1, ["Provider code panicked"], "FW-21");

    let validate = |prefix: &str| {
        let config = Value::object([("prefix", s(prefix))]);
        let client_capabilities = ClientCapabilities::default();
        server.validate_list(ValidateRequest { type_name: "test_pet".into(), config, client_capabilities }).wait()
    };
    assert!(validate("an").is_empty());
    assert_eq!(validate("annabel").iter().count(), 1);
}

/// A list resource on values.
struct Plain(ResourceSchema);

impl ListResource for Plain {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn list(&self, _: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(ProviderDiagnostic::error("Nothing", "There is nothing.").into())
    }
}

#[test]
fn fw_18_list_resource_requires_a_resource_type_with_identity() {
    let schema = || SchemaBuilder::new().attribute("prefix", Attribute::string()).build().unwrap();
    let problems = Bundle::new()
        .resource("test_pet", AsPlanned::<Pet>::new())
        .list_resource("test_pet", Pets(&[]))
        .plain_list_resource("test_nothing", Plain(schema()))
        .plain_list_resource("test_nothing", Plain(schema()))
        .build()
        .err()
        .unwrap();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let expected = [
        "test_nothing: the type is declared twice",
        "test_nothing: its objects can be searched for, but there is no such resource type",
        "test_pet: its objects can be searched for, so its schema needs an identity",
    ];
    assert_eq!(problems, expected);
}

#[test]
fn lc_31_an_identity_is_a_struct() {
    let server = Bundle::new().resource("test_pet", Pets(&[])).build().unwrap();
    let schema = server.resource_schema("test_pet").unwrap().unwrap();
    let identity = schema.identity.as_ref().unwrap();
    let said: Vec<_> = identity.attributes.iter().map(|(name, one)| (&**name, one.import, &*one.description)).collect();
    assert_eq!(
        said,
        [
            ("name", IdentityImport::Required, "What it is called."),
            ("number", IdentityImport::Computed, ""),
            ("site", IdentityImport::Optional, ""),
        ]
    );
    let read = |identity: Option<Value>| {
        let current_state = Value::object([("name", s("anne")), ("tail", s("long"))]);
        let request = ReadRequest {
            type_name: "test_pet".into(),
            current_state,
            current_identity: identity,
            ..ReadRequest::default()
        };
        let identity = server.read_resource(request).wait().new_identity.unwrap();
        get(&identity, "number").as_number().and_then(groma_value::Number::to_u64)
    };
    let numbered = |number| Value::object([("name", s("anne")), ("number", number), ("site", Value::NULL)]);
    assert_eq!(read(None), Some(7));
    assert_eq!(read(Some(numbered(Value::NULL))), Some(7));
    assert_eq!(read(Some(numbered(Value::number(3)))), Some(3), "it is kept");
}
