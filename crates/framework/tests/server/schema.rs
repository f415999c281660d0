//! Declarations, which are checked when the schema is built (FW-16, FW-18), and validators of configurations (FW-19).

use std::collections::{BTreeMap, BTreeSet};

use groma_framework::model::{Field, Set};
use groma_framework::schema::validators::{between, conflicts_with, each, length, needs, one_of};
use groma_framework::{Attribute, Bundle, DefaultValue, Model, NestedBlock, Nesting, ObjectNesting, SchemaBuilder};
use groma_provider::{ClientCapabilities, Description, Item, Provider, ValidateRequest};
use groma_value::{Type, Value};

use crate::support::{AsPlanned, s};

fn problems(schema: SchemaBuilder) -> Vec<String> {
    schema.build().err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn fw_16_a_default_needs_optional_and_computed() {
    let with = |attribute: Attribute| {
        problems(SchemaBuilder::new().attribute("a", attribute.default(DefaultValue::of(Value::string("x")))))
    };
    assert!(with(Attribute::string().optional_computed()).is_empty());
    for attribute in [Attribute::string(), Attribute::string().required(), Attribute::string().computed()] {
        assert_eq!(with(attribute), ["a: an attribute with a default must be optional and computed"]);
    }
    // The default is a string.
    assert_eq!(with(Attribute::bool().optional_computed()), ["a: the default is not bool"]);
}

#[test]
fn fw_16_defaults_of_nested_attributes_are_checked_too() {
    let inner = [("v", Attribute::string().default(DefaultValue::of(Value::string("x"))))];
    let schema = SchemaBuilder::new().attribute("n", Attribute::nested(ObjectNesting::List, inner));
    assert_eq!(problems(schema), ["n.v: an attribute with a default must be optional and computed"]);
}

#[test]
fn fw_18_unsound_declarations_are_found() {
    let schema = SchemaBuilder::new()
        .attribute("secret", Attribute::string().optional_computed().write_only())
        .attribute("twice", Attribute::string())
        .block("twice", NestedBlock::new(Nesting::List, Vec::<(&str, Attribute)>::new()))
        // Names are lower case, as Terraform requires of schemas.
        .block("Loud", NestedBlock::new(Nesting::List, Vec::<(&str, Attribute)>::new()));
    let found = problems(schema);
    for name in ["secret:", "twice:", "Loud:"] {
        assert!(found.iter().any(|problem| problem.starts_with(name)), "{name} in {found:?}");
    }
}

#[test]
fn fw_18_a_nested_name_declared_twice_is_found() {
    let inner = [("v", Attribute::string()), ("v", Attribute::bool())];
    let schema = SchemaBuilder::new().attribute("n", Attribute::nested(ObjectNesting::List, inner));
    assert_eq!(problems(schema), ["n: a name is declared more than once"]);
}

#[test]
fn descriptions_are_markdown_or_plain_text_as_declared() {
    let schema = SchemaBuilder::new()
        .attribute("marked", Attribute::string().described("a *word*"))
        .attribute("plain", Attribute::string().described_plainly("a *word*"));
    let schema = schema.build().unwrap();
    let described = |index: usize| match &schema.block().slots()[index].item {
        Item::Attribute(attribute) => attribute.description().clone(),
        Item::Block(_) => Description::default(),
    };
    assert_eq!(described(0), Description::markdown("a *word*"));
    assert_eq!(described(1), Description::plain("a *word*"));
    assert!(format!("{schema:?}").contains("marked"));
}

#[derive(Model)]
struct Listener {
    #[attribute(validator = length(1..=5))]
    name: Option<String>,
    #[attribute(validator = between(1024..))]
    port: Option<u16>,
    #[attribute(validator = between(0.5..1.0))]
    share: Option<f64>,
    #[attribute(validator = one_of(["tcp", "udp"]))]
    protocol: Option<String>,
    #[attribute(validator = length(..=2), validator = each(length(1..)))]
    aliases: Option<Vec<String>>,
    #[attribute(validator = each(one_of(["a", "b"])))]
    labels: Option<BTreeMap<String, String>>,
    #[attribute(validator = conflicts_with(["aliases", "labels"]))]
    only: Option<String>,
    #[attribute(sensitive, validator = needs(["name"]))]
    key: Option<String>,
    numbers: Option<BTreeSet<u8>>,
    tuning: Option<Set<Tuning>>,
}

#[derive(Model)]
struct Tuning {
    tries: u8,
}

/// What is said about a configuration that sets these arguments: where, and what.
fn said(set: &[(&str, Value)]) -> Vec<String> {
    let server = Bundle::new().resource("test_listener", AsPlanned::<Listener>::new()).build().unwrap();
    let types = Listener::object_type();
    let value = |name: &str, ty: &Type| {
        set.iter().find(|(set, _)| *set == name).map_or_else(|| Value::null(ty.clone()), |(_, value)| value.clone())
    };
    let config = Value::object(types.iter().map(|(name, ty)| (name.clone(), value(name, ty))).collect::<Vec<_>>());
    let request = ValidateRequest {
        type_name: "test_listener".into(),
        config,
        client_capabilities: ClientCapabilities::default(),
    };
    let problems = server.validate_resource(request).wait();
    problems.iter().map(|problem| format!("{} {}", problem.path, problem.detail)).collect()
}

fn texts(texts: &[&str]) -> Value {
    Value::list(Type::String, texts.iter().map(Value::string).collect())
}

#[test]
fn fw_19_validators_report_the_requirement_without_the_value() {
    assert_eq!(said(&[("name", s(""))]), [".name The value must have a length of 1 to 5."]);
    assert!(said(&[("name", s("ääääö"))]).is_empty(), "characters count, not bytes");
    assert_eq!(said(&[("name", s("abcdef"))]).len(), 1);
    assert_eq!(said(&[("port", Value::number(80))]), [".port The value must be at least 1024."]);
    assert_eq!(said(&[("share", Value::number(1))]), [".share The value must be at least 0.5 and less than 1."]);
    assert_eq!(said(&[("protocol", s("sctp"))]), [".protocol The value must be one of \"tcp\", \"udp\"."]);
    assert!(said(&[("protocol", s("udp")), ("port", Value::number(1024))]).is_empty());
    assert_eq!(
        said(&[("aliases", texts(&["a", "", "c"]))]),
        [
            ".aliases The value must have a length of at most 2.",
            ".aliases[1] The value must have a length of at least 1."
        ]
    );
    let labels = Value::map(Type::String, [("x", s("a")), ("y", s("c"))]);
    assert_eq!(said(&[("labels", labels)]), [".labels[\"y\"] The value must be one of \"a\", \"b\"."]);
}

#[test]
fn fw_19_validators_check_other_arguments() {
    assert_eq!(said(&[("key", s("k"))]), [".key It requires \"name\" to be set."]);
    assert!(said(&[("key", s("k")), ("name", Value::unknown(Type::String))]).is_empty());
    assert_eq!(
        said(&[("only", s("o")), ("aliases", texts(&[]))]),
        [".only It cannot be set together with \"aliases\"."]
    );
    let unknown = Value::unknown(Type::list(Type::String));
    assert!(said(&[("only", s("o")), ("aliases", unknown)]).is_empty(), "it may come to null");
    // A misspelled name would otherwise make the validator refuse every configuration without an explanation.
    let nowhere = needs(["nowhere"]);
    let (path, value) = (groma_value::Path::root(), s("a"));
    let config = Value::object([("a", s("a"))]);
    let request = groma_framework::schema::ValidatorRequest { path: &path, value: &value, config: &config };
    let problems = groma_framework::schema::Validator::validate(&nowhere, &request);
    assert!(problems.iter().any(|problem| problem.detail.contains("bug in the provider")));
}

#[test]
fn fw_19_value_that_a_field_cannot_hold_is_a_configuration_error() {
    assert_eq!(said(&[("port", Value::number(99_999))])[0], ".port The value must be a whole number from 0 to 65535.");
    // Both the validator and the type of the field refuse it: one is below 1024, the other no whole number.
    assert_eq!(said(&[("port", "1.5".parse::<groma_value::Number>().map(Value::number).unwrap())]).len(), 2);
    let one = |number: u32| Value::set(Type::Number, vec![Value::number(number)]);
    assert_eq!(said(&[("numbers", one(256))]), [".numbers The value must be a whole number from 0 to 255."]);
    assert!(said(&[("numbers", one(255))]).is_empty());
    let list = Value::list(Type::String, vec![s("a"), Value::null(Type::String)]);
    assert_eq!(said(&[("aliases", list)]), [".aliases[1] The value must be a string, not null."]);
    // A list that is known in part is checked once it is wholly known.
    let half = Value::list(Type::String, vec![s("a"), Value::unknown(Type::String)]);
    assert!(said(&[("aliases", half)]).is_empty());
    let tuning = Value::set(Tuning::ty(), vec![Value::object([("tries", Value::number(300))])]);
    assert!(said(&[("tuning", tuning)])[0].ends_with("The value must be a whole number from 0 to 255."));
}
