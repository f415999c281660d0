//! Declarations are checked when the schema is built (FW-16, FW-18).

use groma_framework::{Attribute, DefaultValue, NestedBlock, Nesting, ObjectNesting, SchemaBuilder};
use groma_provider::{Description, Item};
use groma_value::Value;

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
