//! What can be read off expressions without evaluating them.

use groma_hcl::{Expression, parse_expression, parse_json_file, parse_traversal};

use crate::show::{show, show_steps, source, summaries};

fn native(text: &str) -> Expression {
    parse_expression(&source(text)).0
}

fn json(text: &str) -> Expression {
    let (parsed, _) = parse_json_file(&source(&format!("{{\"a\": {text}}}")));
    parsed.body.attributes().0[0].expression.clone()
}

fn traversal(expression: &Expression) -> Option<String> {
    expression.as_traversal().map(|found| format!("{}{}", found.root.name, show_steps(found.steps())))
}

#[test]
fn traversals_bare_and_in_quotes() {
    assert_eq!(traversal(&native("aws_x.y[0].z")).as_deref(), Some("aws_x.y[0].z"));
    assert_eq!(traversal(&native("\"aws_x.y\"")).as_deref(), Some("aws_x.y"));
    assert_eq!(traversal(&json("\"module.m[\\\"k\\\"]\"")).as_deref(), Some("module.m[\"k\"]"));
    assert_eq!(traversal(&native("f(x)")), None);
    assert_eq!(traversal(&native("\"a b\"")), None);
    assert_eq!(traversal(&native("a[b]")), None);
    assert_eq!(traversal(&json("\"a[*]\"")), None);
}

#[test]
fn the_provider_null_can_be_referred_to() {
    assert_eq!(traversal(&native("null")).as_deref(), Some("null"));
    assert_eq!(traversal(&native("null.west")).as_deref(), Some("null.west"));
    let map = native("{ null = null.west }");
    assert_eq!(traversal(&map.as_object().unwrap()[0].key).as_deref(), Some("null"));
}

#[test]
fn span_of_quoted_traversal_excludes_quotes() {
    let file = source("\"a.b\"");
    let found = parse_expression(&file).0.as_traversal().unwrap();
    assert_eq!(file.slice(found.span), Some("a.b"));
}

#[test]
fn keywords() {
    assert_eq!(native("all").as_keyword().as_deref(), Some("all"));
    assert_eq!(json("\"all\"").as_keyword().as_deref(), Some("all"));
    assert_eq!(native("\"all\"").as_keyword(), None);
    assert_eq!(native("a.b").as_keyword(), None);
}

#[test]
fn strings() {
    assert_eq!(native("\"a\\n\"").as_static_string().as_deref(), Some("a\n"));
    assert_eq!(native("(\"a\")").as_static_string().as_deref(), Some("a"));
    assert_eq!(native("\"${a}\"").as_static_string(), None);
    assert_eq!(native("1").as_static_string(), None);
}

#[test]
fn lists_objects_and_calls() {
    assert_eq!(native("[a, b]").as_list().map(<[_]>::len), Some(2));
    assert_eq!(native("{ a = b }").as_object().map(<[_]>::len), Some(1));
    let key = &native("{ a = b }");
    assert_eq!(traversal(&key.as_object().unwrap()[0].key).as_deref(), Some("a"));
    assert_eq!(native("list(string)").as_call().map(|call| call.name.name.to_string()).as_deref(), Some("list"));
    assert_eq!(json("\"list(string)\"").as_call().map(|call| call.arguments().len()), Some(1));
    assert_eq!(
        json("\"object({ a = string })\"").unquoted().map(|found| show(&found)).as_deref(),
        Some("object({\"a\" = string})")
    );
    assert!(json("\"1 +\"").unquoted().is_none());
}

#[test]
fn traversals_as_texts() {
    let check = |text: &str, expected: &str| {
        let file = source(text);
        let (found, diagnostics) = parse_traversal(&file);
        let shown = found.map(|found| format!("{}{}", found.root.name, show_steps(found.steps())));
        let shown = shown.unwrap_or_else(|| summaries(&file, &diagnostics).join(", "));
        assert_eq!(shown, expected, "{text}");
    };
    check("aws_x.y[\"k\"]", "aws_x.y[\"k\"]");
    check("module.a[0].b", "module.a[0].b");
    check("", "1: Variable name required");
    check("a.", "1: Attribute name required");
    check("a.*", "1: Attribute name required");
    check("a[b]", "1: Index value required");
    check("a[0", "1: Unclosed index brackets");
    check("a b", "1: Invalid character");
}
