//! References into objects that their schemas refuse, whatever the values are: told even where evaluation would not come to them.

use groma_provider::{Attribute, Block, NestedBlock, Nesting, Schema};
use groma_scripted::{ResourceScript, Scripted};
use groma_value::Type;

use crate::support::{Project, errors};

fn object() -> Scripted {
    let text = || [("text", Attribute::optional(Type::String))];
    let part = || {
        let inner = Block::new(text(), Vec::<(&str, NestedBlock)>::new());
        Block::new(text(), [("inner", NestedBlock::new(Nesting::List, inner))])
    };
    let kinds = [("one", Nesting::Single), ("list", Nesting::List), ("set", Nesting::Set)];
    let blocks = kinds.map(|(name, nesting)| (name, NestedBlock::new(nesting, part())));
    let map = Attribute::optional(Type::Map(Box::new(Type::String).into()));
    let schema = Schema::new(Block::new([("name", Attribute::optional(Type::String)), ("map", map)], blocks));
    Scripted::new("test").resource("test_object", ResourceScript::new(schema))
}

/// What is said about an output with this value.
fn reported(expression: &str) -> Vec<String> {
    let main = format!(
        "resource \"test_object\" \"a\" {{}}\nresource \"test_object\" \"many\" {{\n  count = 1\n}}\noutput \"o\" {{\n  value = {expression}\n}}\n"
    );
    errors(&Project::with_test(&main, object()).validate())
}

#[test]
fn invalid_references_in_unevaluated_expressions_are_reported() {
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
        assert_eq!(reported(expression), ["Unsupported attribute"], "{expression}");
    }
    let right =
        ["try(test_object.a.map.nope, 1)", "try(test_object.many[5].name, 1)", "try(test_object.a.list[7].text, 1)"];
    for expression in right {
        assert_eq!(reported(expression), Vec::<String>::new(), "{expression}");
    }
}

#[test]
fn invalid_access_to_nested_blocks_names_their_nesting() {
    assert_eq!(reported("test_object.a.set[0]"), ["Cannot index a set value"]);
    assert_eq!(reported("test_object.a.set.text"), ["Cannot index a set value"]);
    assert_eq!(reported("try(test_object.a.set[0].text, 1)"), ["Cannot index a set value"]);
    assert_eq!(reported("test_object.a.list.text"), ["Invalid operation"]);
    assert_eq!(reported("test_object.a.list[0].nope"), ["Unsupported attribute"]);
    assert_eq!(reported("test_object.a.one[\"text\"]"), ["Invalid index operation"]);
    assert_eq!(reported("test_object.a.one.nope"), ["Unsupported attribute"]);
    for right in [
        "test_object.a.list[0].text",
        "test_object.a.list[*].text",
        "test_object.a.one.text",
        "test_object.a.set[*].text",
    ] {
        assert_eq!(reported(right), Vec::<String>::new(), "{right}");
    }
}

/// What is said about a dynamic block with this inside of its content, for a collection of these elements.
fn told_in_content(collection: &str, content: &str) -> Vec<String> {
    let main = format!(
        "variable \"some\" {{}}\nresource \"test_object\" \"a\" {{}}\nresource \"test_object\" \"many\" {{\n  count = 1\n}}\nmodule \"m\" {{\n  source = \"./m\"\n  count = 1\n}}\nresource \"test_object\" \"b\" {{\n  dynamic \"list\" {{\n    for_each = {collection}\n    content {{\n{content}\n    }}\n  }}\n}}\n"
    );
    let project = Project::with_test(&main, object()).with("m/main.tf", "output \"text\" {\n  value = \"x\"\n}\n");
    errors(&project.validate())
}

/// They stand in a block that is only made where there is an element, and are looked at then.
#[test]
fn content_of_dynamic_blocks_is_reported_if_an_element_exists() {
    let wrong = [
        ("test_object.many.name", "Missing resource instance key"),
        ("try(test_object.many.name, \"x\")", "Missing resource instance key"),
        ("true ? \"x\" : test_object.a[0].name", "Unexpected resource instance key"),
        ("try(test_object.a[\"x\"].name, \"x\")", "Unexpected resource instance key"),
        ("try(test_object.a.nope, \"x\")", "Unsupported attribute"),
        ("try(test_object.a.set[0].text, \"x\")", "Cannot index a set value"),
        ("try(test_object.none.name, \"x\")", "Reference to undeclared resource"),
        ("try(count.index, \"x\")", "Reference to \"count\" in non-counted context"),
        ("module.m.text", "Unsupported attribute"),
    ];
    for (text, summary) in wrong {
        let content = format!("text = {text}");
        assert_eq!(told_in_content("[1]", &content), [summary], "{text}");
        assert_eq!(told_in_content("[]", &content), Vec::<String>::new(), "{text}");
        assert_eq!(told_in_content("var.some", &content), Vec::<String>::new(), "{text}");
    }
    let right = [
        "try(list.value.nope, \"x\")",
        "try(test_object.a.map.nope, \"x\")",
        "try(test_object.many[5].name, \"x\")",
        "try(module.m.text, \"x\")",
        "try(module.m[\"x\"].text, \"x\")",
    ];
    for text in right {
        assert_eq!(told_in_content("[1]", &format!("text = {text}")), Vec::<String>::new(), "{text}");
    }
}

/// What says how many blocks there are in blocks has to be found before any is made.
#[test]
fn collections_of_dynamic_blocks_are_checked_without_elements() {
    let wrong = [
        ("try(test_object.many.name, [])", "Missing resource instance key"),
        ("try(test_object.a.nope, [])", "Unsupported attribute"),
        ("try(local.none, [])", "Reference to undeclared local value"),
    ];
    let inner = |collection: &str| {
        format!("dynamic \"inner\" {{\n for_each = {collection}\n content {{\n  text = test_object.many.name\n }}\n}}")
    };
    for outer in ["[]", "[1]", "var.some"] {
        for (collection, summary) in wrong {
            assert_eq!(told_in_content(outer, &inner(collection)), [summary], "{collection} in {outer}");
        }
        for right in ["try(list.value.nope, [])", "try(module.m.text, [])", "[for x in [] : x.nope]"] {
            assert_eq!(told_in_content(outer, &inner(right)), Vec::<String>::new(), "{right} in {outer}");
        }
    }
}

#[test]
fn arguments_of_a_disabled_module_call_may_use_any_repetition_value() {
    let project = |count: u8| {
        let main = format!("module \"m\" {{\n  source = \"./m\"\n  count  = {count}\n}}\n");
        let called = "module \"arg\" {\n  source = \"./arg\"\n  x      = each.key\n}\n";
        let project = Project::with_test(&main, object());
        project.with("m/main.tf", called).with("m/arg/main.tf", "variable \"x\" {}\n")
    };
    let nothing: [String; 0] = [];
    assert_eq!(errors(&project(0).validate()), nothing);
    assert_eq!(project(0).plan().errors(), nothing);
    assert_eq!(errors(&project(1).validate()), nothing);
    assert_eq!(project(1).plan().errors(), ["Reference to \"each\" in context without for_each"]);
}

#[test]
fn connection_without_provisioners_creates_no_dependency() {
    let main = |more: &str| {
        format!(
            "resource \"test_object\" \"a\" {{\n  connection {{\n    host = test_object.b.name\n  }}\n{more}}}\n\
             resource \"test_object\" \"b\" {{\n  name = test_object.a.name\n}}\n"
        )
    };
    let reported = |more: &str| errors(&Project::with_test(&main(more), object()).validate());
    assert_eq!(reported(""), Vec::<String>::new());
    assert_eq!(
        reported("  provisioner \"local-exec\" {\n    command = \"true\"\n  }\n"),
        ["Cycle: test_object.a, test_object.b"]
    );
}
