//! Structs as models of objects (FW-20): schema, conversion, and resources in terms of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_framework::model::{Field as _, Set};
use groma_framework::modifier::requires_replace_if_configured;
use groma_framework::schema::validator;
use groma_framework::typed::ResourceAdapter;
use groma_framework::{
    Attribute, Bundle, Call, Maybe, Model, ModelResource, Nesting, ObjectNesting, ProviderDiagnostic, SchemaBuilder,
    StopSignals, Use,
};
use groma_provider::{
    ApplyRequest, ClientCapabilities, Item, PlanRequest, Provider, ReadRequest, ValidateRequest, proposed_new_state,
};
use groma_value::{Path, Type, Value};

use crate::support::{AsPlanned, get, s};

/// A server that listens.
#[derive(Clone, Debug, PartialEq, Model)]
#[model(version = 3)]
struct Listener {
    /// What it is called.
    ///
    /// Shown in the console.
    #[attribute(force_new, validator = not_empty())]
    name: String,
    #[attribute(computed, use_state_for_unknown)]
    id: Maybe<String>,
    #[attribute(default = 443)]
    port: Maybe<u16>,
    #[attribute(optional, computed, modifier = requires_replace_if_configured())]
    zone: Maybe<String>,
    #[attribute(sensitive, deprecated = "Use certificates.")]
    password: Option<String>,
    #[attribute(write_only)]
    token: Option<String>,
    #[attribute(name = "type", equality = same_without_case)]
    kind: Option<String>,
    tags: BTreeMap<String, String>,
    groups: Option<BTreeSet<String>>,
    weights: Vec<f64>,
    any: Value,
    owner: Option<Person>,
    members: Vec<Person>,
    #[block(min = 1, max = 3)]
    rule: Set<Rule>,
    #[block]
    limits: Option<Rule>,
    /// Always there.
    #[block]
    health: Rule,
}

#[derive(Clone, Debug, Default, PartialEq, Model)]
struct Person {
    name: String,
    #[attribute(computed)]
    number: Maybe<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Model)]
struct Rule {
    port: Option<u16>,
}

fn not_empty() -> impl groma_framework::schema::Validator {
    validator("must not be empty", |value| match value.as_str() {
        Some("") => Err("A name is needed.".to_owned()),
        _ => Ok(()),
    })
}

fn same_without_case(a: &Value, b: &Value) -> bool {
    a.as_str().map(str::to_lowercase) == b.as_str().map(str::to_lowercase)
}

fn listener() -> Listener {
    let anne = Person { name: "Anne".into(), number: Maybe::Unknown };
    Listener {
        name: "web".into(),
        id: Maybe::Unknown,
        port: Maybe::Known(80),
        zone: Maybe::Null,
        password: Some("hush".into()),
        token: None,
        kind: Some("TCP".into()),
        tags: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
        groups: Some(BTreeSet::from(["x".to_owned(), "y".to_owned()])),
        weights: vec![0.5, 2.0],
        any: Value::tuple(vec![s("free"), Value::TRUE]),
        owner: Some(anne.clone()),
        members: vec![anne, Person { name: "Ben".into(), number: Maybe::Known(2) }],
        rule: Set(vec![Rule { port: Some(1) }, Rule { port: None }]),
        limits: None,
        health: Rule::default(),
    }
}

#[test]
fn fw_20_derive_generates_the_schema() {
    let schema = Listener::schema().build().unwrap();
    assert!(Listener::mismatches(&schema).is_empty());
    let block = schema.block();
    let attribute = |name: &str| match block.item(name) {
        Some(Item::Attribute(attribute)) => attribute,
        other => panic!("{name} is {other:?}"),
    };
    let nested = |name: &str| match block.item(name) {
        Some(Item::Block(nested)) => nested,
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(schema.schema().version, 3);
    assert_eq!(attribute("name").description().text, "What it is called.\n\nShown in the console.");
    let uses = [
        ("name", Use::Required),
        ("id", Use::Computed),
        ("port", Use::OptionalComputed),
        ("zone", Use::OptionalComputed),
        ("password", Use::Optional),
        ("type", Use::Optional),
        ("tags", Use::Required),
        ("groups", Use::Optional),
        ("any", Use::Optional),
    ];
    for (name, usage) in uses {
        assert_eq!(attribute(name).usage(), usage, "{name}");
    }
    assert!(attribute("password").is_sensitive() && attribute("password").deprecation().is_some());
    assert!(attribute("token").is_write_only());
    assert_eq!(attribute("groups").ty(), Type::set(Type::String));
    assert_eq!(attribute("any").ty(), Type::Dynamic);
    assert_eq!(attribute("owner").nested_type().unwrap().nesting(), ObjectNesting::Single);
    assert_eq!(attribute("members").nested_type().unwrap().nesting(), ObjectNesting::List);
    let rule = nested("rule");
    assert_eq!((rule.nesting(), rule.min(), rule.max()), (Nesting::Set, 1, Some(3)));
    assert_eq!(nested("limits").nesting(), Nesting::Single);
    // A model without `Option` is always there, which is what `Group` means.
    assert_eq!(nested("health").nesting(), Nesting::Group);
}

#[test]
fn fw_20_struct_round_trips_through_a_value() {
    let schema = Listener::schema().build().unwrap();
    let value = listener().to_value();
    assert!(groma_provider::contract::check_shape(schema.block().implied_type(), &value).is_empty());
    assert!(!get(&value, "id").is_known(), "unknown is something that a struct can say");
    assert!(get(&value, "zone").is_null());
    let mut again = Listener::of(&value).unwrap();
    // A set returns its elements in the order of the language, not in that of the author.
    again.rule.0.sort_by_key(|rule| rule.port);
    let mut expected = listener();
    expected.rule.0.sort_by_key(|rule| rule.port);
    assert_eq!(again, expected);
}

#[test]
fn fw_20_a_value_that_a_field_cannot_hold_is_an_error_that_names_the_attribute() {
    let error = |name: &str, value: Value| {
        let object = listener().to_value();
        let changed = object
            .as_object()
            .unwrap()
            .iter()
            .map(|(own, old)| (own.clone(), if **own == *name { value.clone() } else { old.clone() }));
        Listener::of(&Value::object(changed)).unwrap_err().to_string()
    };
    let cases = [
        error("name", Value::unknown(Type::String)),
        error("name", Value::null(Type::String)),
        error("port", Value::number(70_000)),
        // The path of the error leads into the list.
        error("weights", Value::list(Type::Number, vec![Value::number(1), Value::null(Type::Number)])),
        error("owner", Value::object([("name", Value::TRUE), ("number", Value::number(1))])),
    ];
    let expected = [
        ".name: the value is known after apply only, and the field wants a string: declare it as Maybe<...>",
        ".name: the value is null, and the field wants a string: declare it as Option<...>",
        ".port: the field wants a whole number from 0 to 65535, and the number is not",
        ".weights[1]: the value is null, and the field wants a number: declare it as Option<...>",
        ".owner.name: the field wants a string, and there is bool",
    ];
    assert_eq!(cases, expected);
    assert!(Listener::of(&Value::NULL).unwrap_err().to_string().contains("no object"));
    assert!(Listener::of(&Value::DYNAMIC).unwrap_err().to_string().contains("after apply"));
}

#[test]
fn fw_20_a_schema_and_a_model_that_disagree_fail_in_the_schema_check() {
    struct Other;
    impl ModelResource for Other {
        type Model = Person;
        fn schema(&self) -> SchemaBuilder {
            SchemaBuilder::new().attribute("name", Attribute::number()).attribute("age", Attribute::number().optional())
        }
        async fn create(&self, plan: Person, _: &mut Call) -> Result<Person, ProviderDiagnostic> {
            Ok(plan)
        }
        async fn read(&self, state: Person, _: &mut Call) -> Result<Option<Person>, ProviderDiagnostic> {
            Ok(Some(state))
        }
        async fn delete(&self, _: Person, _: &mut Call) -> Result<(), ProviderDiagnostic> {
            Ok(())
        }
    }
    let found: Vec<String> =
        ResourceAdapter::new(Other, StopSignals::default()).err().unwrap().iter().map(ToString::to_string).collect();
    let expected = [
        "name: the model has string, and the schema number",
        "number: the model has it, and the schema does not",
        "age: the schema has it, and the model does not",
    ];
    assert_eq!(found, expected);
    // Problems of a type are reported with its name.
    let twice = Bundle::new().resource("test_other", Other).resource("test_other", Other).build().err().unwrap();
    assert!(twice[0].to_string().starts_with("test_other.name:"), "{twice:?}");
}

/// Keeps people in memory: the number of one is how many letters the name has.
struct People;

impl ModelResource for People {
    type Model = Person;

    async fn create(&self, plan: Person, call: &mut Call) -> Result<Person, ProviderDiagnostic> {
        call.private.set("made", "yes");
        let length = plan.name.len() as i64;
        let person = Person { number: plan.number.or_chosen(|| length), ..plan };
        if person.name == "half" {
            call.made(&person);
            return Err(ProviderDiagnostic::error("Half", "It stopped half way."));
        }
        Ok(person)
    }

    async fn read(&self, state: Person, _: &mut Call) -> Result<Option<Person>, ProviderDiagnostic> {
        Ok((state.name != "gone").then_some(state))
    }

    async fn update(&self, plan: Person, state: Person, call: &mut Call) -> Result<Person, ProviderDiagnostic> {
        assert_eq!(call.config::<Person>()?.name, plan.name);
        assert_eq!(call.identity, Some(Value::object([("name", Value::string("anne"))])), "as planned");
        if plan.name == "no" {
            return Err(ProviderDiagnostic::error("No", format!("{} stays.", state.name)));
        }
        Ok(Person { number: Maybe::Known(plan.name.len() as i64), ..plan })
    }

    async fn delete(&self, _: Person, _: &mut Call) -> Result<(), ProviderDiagnostic> {
        Ok(())
    }
}

#[test]
fn fw_20_a_resource_works_on_structs() {
    let server = Bundle::new().resource("test_person", People).build().unwrap();
    let block = server.resource_schema("test_person").unwrap().unwrap().block.clone();
    let config = |name: &str| Person { name: name.into(), number: Maybe::Null }.to_value();
    let plan = |prior: &Value, config: &Value| {
        let request = PlanRequest {
            type_name: "test_person".into(),
            proposed_new_state: proposed_new_state(&block, prior, config),
            prior_state: prior.clone(),
            config: config.clone(),
            ..PlanRequest::default()
        };
        server.plan_resource(request).wait()
    };
    let apply = |prior: &Value, config: &Value| {
        let planned = plan(prior, config);
        let request = ApplyRequest {
            type_name: "test_person".into(),
            prior_state: prior.clone(),
            planned_state: planned.planned_state,
            config: config.clone(),
            planned_private: planned.planned_private,
            planned_identity: (!prior.is_null()).then(|| Value::object([("name", Value::string("anne"))])),
            ..ApplyRequest::default()
        };
        server.apply_resource(request).wait()
    };
    let null = block.null_value();
    let created = apply(&null, &config("anne"));
    assert!(created.diagnostics.is_empty(), "{:?}", created.diagnostics);
    assert_eq!(&*created.private, br#"{"made":"yes"}"#);
    let state = created.new_state.unwrap();
    assert_eq!(Person::of(&state).unwrap(), Person { name: "anne".into(), number: Maybe::Known(4) });
    let updated = apply(&state, &config("benjamin")).new_state.unwrap();
    assert_eq!(Person::of(&updated).unwrap().number, Maybe::Known(8));
    // LC-16: the object is kept, whether the call failed at the start or later.
    let half = apply(&null, &config("half"));
    // The object that `made` recorded is in the state, although the create failed.
    assert!(half.diagnostics.has_errors() && half.new_state.is_some_and(|state| !state.is_null()));
    let refused = apply(&state, &config("no"));
    assert!(refused.diagnostics.has_errors());
    // An update that recorded nothing has changed nothing.
    assert_eq!(refused.new_state, Some(state));
    let gone = ReadRequest {
        type_name: "test_person".into(),
        current_state: Person { name: "gone".into(), number: Maybe::Known(4) }.to_value(),
        ..ReadRequest::default()
    };
    assert!(server.read_resource(gone).wait().new_state.is_null());
}

#[test]
fn fw_20_the_validators_of_a_model_run() {
    let server = Arc::new(Bundle::new().resource("test_listener", AsPlanned::<Listener>::new()).build().unwrap());
    let config = Listener { name: String::new(), id: Maybe::Null, ..listener() };
    let request = ValidateRequest {
        type_name: "test_listener".into(),
        config: config.to_value(),
        client_capabilities: ClientCapabilities::default(),
    };
    let found = server.validate_resource(request).wait();
    assert!(found.iter().any(|problem| problem.path == Path::root().attribute("name")), "{found:?}");
}
