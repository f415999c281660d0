//! References into objects that their schemas refuse, whatever the values are: told even where evaluation would not come to them.

use groma_provider::{Attribute, Block, NestedBlock, Nesting, Schema};
use groma_scripted::{ResourceScript, Scripted};
use groma_value::Type;

use crate::support::{Project, errors};

fn object() -> Scripted {
    let part = || Block::new([("text", Attribute::optional(Type::String))], Vec::<(&str, NestedBlock)>::new());
    let kinds = [("one", Nesting::Single), ("list", Nesting::List), ("set", Nesting::Set)];
    let blocks = kinds.map(|(name, nesting)| (name, NestedBlock::new(nesting, part())));
    let map = Attribute::optional(Type::Map(Box::new(Type::String).into()));
    let schema = Schema::new(Block::new([("name", Attribute::optional(Type::String)), ("map", map)], blocks));
    Scripted::new("test").resource("test_object", ResourceScript::new(schema))
}

/// What is said about an output with this value.
fn told(expression: &str) -> Vec<String> {
    let main = format!(
        "resource \"test_object\" \"a\" {{}}\nresource \"test_object\" \"many\" {{\n  count = 1\n}}\noutput \"o\" {{\n  value = {expression}\n}}\n"
    );
    errors(&Project::with_test(&main, object()).validate())
}

#[test]
fn what_evaluation_does_not_come_to_is_told() {
    let wrong = [
        "try(test_object.a.nope, 1)",
        "can(test_object.many[0].nope)",
        "false ? test_object.a.nope : 1",
        "true || test_object.a.nope",
        "[for x in [] : test_object.a.nope]",
        "\"%{ if false }${test_object.a.nope}%{ endif }\"",
        "try(test_object.a.name.nope, 1)",
    ];
    for expression in wrong {
        assert_eq!(told(expression), ["Unsupported attribute"], "{expression}");
    }
    let right =
        ["try(test_object.a.map.nope, 1)", "try(test_object.many[5].name, 1)", "try(test_object.a.list[7].text, 1)"];
    for expression in right {
        assert_eq!(told(expression), Vec::<String>::new(), "{expression}");
    }
}

#[test]
fn what_nested_blocks_are_says_what_is_wrong() {
    assert_eq!(told("test_object.a.set[0]"), ["Cannot index a set value"]);
    assert_eq!(told("test_object.a.set.text"), ["Cannot index a set value"]);
    assert_eq!(told("try(test_object.a.set[0].text, 1)"), ["Cannot index a set value"]);
    assert_eq!(told("test_object.a.list.text"), ["Invalid operation"]);
    assert_eq!(told("test_object.a.list[0].nope"), ["Unsupported attribute"]);
    assert_eq!(told("test_object.a.one[\"text\"]"), ["Invalid index operation"]);
    assert_eq!(told("test_object.a.one.nope"), ["Unsupported attribute"]);
    for right in [
        "test_object.a.list[0].text",
        "test_object.a.list[*].text",
        "test_object.a.one.text",
        "test_object.a.set[*].text",
    ] {
        assert_eq!(told(right), Vec::<String>::new(), "{right}");
    }
}
