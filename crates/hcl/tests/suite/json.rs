//! The JSON syntax.

use groma_hcl::{Body, BodySchema, Expression, ExpressionKind, TemplatePart, parse_json_file};

use crate::show::{show, source, summaries};

fn body(text: &str) -> Body {
    let file = source(text);
    let (parsed, diagnostics) = parse_json_file(&file);
    assert_eq!(summaries(&file, &diagnostics), Vec::<String>::new(), "{text}");
    parsed.body
}

/// The one argument of a file.
fn value(text: &str) -> Expression {
    let (attributes, diagnostics) = body(&format!("{{\"a\": {text}}}")).attributes();
    assert!(diagnostics.is_empty());
    attributes[0].expression.clone()
}

fn check_mistakes(text: &str, expected: &[&str]) {
    let file = source(text);
    let (_, diagnostics) = parse_json_file(&file);
    assert_eq!(summaries(&file, &diagnostics), expected, "{text}");
}

fn check_content(text: &str, schema: &BodySchema, expected: &[&str], messages: &[&str]) {
    let file = source(text);
    let (parsed, _) = parse_json_file(&file);
    let (content, diagnostics) = parsed.body.content(schema);
    let mut found: Vec<String> = content
        .attributes
        .iter()
        .map(|attribute| format!("{} = {}", attribute.name.name, show(&attribute.expression)))
        .collect();
    for block in &content.blocks {
        let labels: Vec<&str> = block.labels.iter().map(|label| &*label.value).collect();
        let (inner, _) = block.body.attributes();
        found.push(format!("{} {} ({})", block.kind.name, labels.join("."), inner.len()));
    }
    assert_eq!(found, expected, "{text}");
    assert_eq!(summaries(&file, &diagnostics), messages, "{text}");
}

#[test]
fn values() {
    assert_eq!(show(&value("null")), "null");
    assert_eq!(show(&value("[true, -1.5e3, {}]")), "[true, -1.5e3, {}]");
    assert_eq!(show(&value(r#"{"b": "c", "//": 1}"#)), r#"{(json "b") = (json "c"), (json "//") = 1}"#);
    assert_eq!(show(&value(r#""é\u00e9\ud83d\ude00\n\/\"""#)), "(json \"éé😀\\n/\\\"\")");
    assert_eq!(show(&value(r#""\ud83d!""#)), "(json \"\u{fffd}!\")");
}

#[test]
fn strings_are_templates_when_evaluated_and_text_otherwise() {
    let string = value(r#""x ${var.a} $${b}""#);
    assert_eq!(show(&string), r#"(json (template "x " var.a " ${b}"))"#);
    assert_eq!(string.as_static_string().as_deref(), Some("x ${var.a} $${b}"));
}

#[test]
fn a_broken_template_is_reported_only_when_it_is_used_as_one() {
    let string = value(r#""${foo""#);
    let ExpressionKind::JsonString(string) = &string.kind else { panic!() };
    assert_eq!(&*string.text, "${foo");
    assert_eq!(string.diagnostics.len(), 1);
}

#[test]
fn spans_inside_strings_are_exact_after_escapes() {
    let file = source(r#"{"a": "\"\u00e9\" ${var.b} ${ c }"}"#);
    let (parsed, _) = parse_json_file(&file);
    let (attributes, _) = parsed.body.attributes();
    let ExpressionKind::JsonString(string) = &attributes[0].expression.kind else { panic!() };
    let ExpressionKind::Template(template) = &string.template.kind else { panic!() };
    let texts: Vec<&str> = template
        .parts
        .iter()
        .filter_map(|part| match part {
            TemplatePart::Interpolation(expression) => file.slice(expression.span),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["var.b", "c"]);
}

#[test]
fn blocks_nest_by_their_labels_and_repeat_in_arrays() {
    let schema = BodySchema::new().optional("a").block("x", &["type", "name"]).block("y", &[]);
    let text = r#"{
        "//": "a comment",
        "a": 1,
        "x": { "t": { "n": { "b": 1 }, "m": [{}, { "c": 1, "d": 2 }] }, "u": [{ "n": {} }, { "o": {} }] },
        "y": null
    }"#;
    check_content(text, &schema, &["a = 1", "x t.n (1)", "x t.m (0)", "x t.m (2)", "x u.n (0)", "x u.o (0)"], &[]);
    let text = r#"[{"y": {"b": 1}}, {"a": 2, "y": [{}]}]"#;
    check_content(text, &schema, &["a = 2", "y  (1)", "y  (0)"], &[]);
}

#[test]
fn wrong_content() {
    let schema = BodySchema::new().required("a").block("x", &["type"]);
    check_content(r#"{"a": 1, "a": 2}"#, &schema, &["a = 1"], &["1: Duplicate argument"]);
    check_content(r#"{"ab": 1, "a": 1}"#, &schema, &["a = 1"], &["1: Extraneous JSON object property"]);
    check_content("{\n}", &schema, &[], &["2: Missing required argument"]);
    check_content(r#"{"a": 1, "x": 5}"#, &schema, &["a = 1"], &["1: Incorrect JSON value type"]);
    check_content(r#"{"a": 1, "x": {"t": 5}}"#, &schema, &["a = 1"], &["1: Incorrect JSON value type"]);
    check_content(r#"[1, {"a": 1}]"#, &schema, &["a = 1"], &["1: Incorrect JSON value type"]);
    let file = source(r#"{"x": 1, "//": 2, "x": 3}"#);
    let (_, diagnostics) = parse_json_file(&file).0.body.attributes();
    assert_eq!(summaries(&file, &diagnostics), ["1: Duplicate attribute definition"]);
}

#[test]
fn the_rest_of_a_body_does_not_show_what_was_taken() {
    let body = body(r#"{"a": 1, "x": {}, "b": 2}"#);
    let (_, rest, _) = body.partial_content(&BodySchema::new().optional("a").block("x", &[]));
    let (content, diagnostics) = rest.content(&BodySchema::new().optional("b"));
    assert_eq!((content.attributes.len(), diagnostics.len()), (1, 0));
}

#[test]
fn mistakes() {
    check_mistakes("", &["1: Missing value"]);
    check_mistakes("1", &["1: Root value must be object"]);
    check_mistakes("{} x", &["1: Extraneous data after value"]);
    check_mistakes("{\"a\": 1,}", &["1: Trailing comma in object"]);
    check_mistakes("{\"a\": [1,]}", &["1: Trailing comma in array"]);
    check_mistakes("{\"a\" 1}", &["1: Missing property value colon"]);
    check_mistakes("{\"a\" = 1}", &["1: Missing property value colon"]);
    check_mistakes("{\"a\"}", &["1: Missing object value"]);
    check_mistakes("{a: 1}", &["1: Invalid object property name"]);
    check_mistakes(
        "{\na\": {\"b\": [1, \"c\"]},\n\"d\": tru}",
        &["2: Invalid object property name", "3: Invalid JSON keyword"],
    );
    check_mistakes("{\"a\": tru}", &["1: Invalid JSON keyword"]);
    check_mistakes("{\"a\": 01}", &["1: Invalid JSON number"]);
    check_mistakes("{\"a\": \"x\ny\"}", &["1: Invalid JSON string"]);
    check_mistakes("{\"a\": \"\\q\"}", &["1: Invalid JSON string"]);
    check_mistakes("{\"a\": [1 2]}", &["1: Missing attribute seperator comma"]);
    check_mistakes("{\"a\": [1:2]}", &["1: Invalid array value"]);
    check_mistakes("{\"a\": [1}", &["1: Mismatched brackets"]);
    check_mistakes("{\"a\": 1]", &["1: Mismatched braces"]);
    check_mistakes("{\"a\": {\"b\": 1}", &["1: Unclosed object"]);
}

#[test]
fn mismatched_bracket_is_one_error() {
    for value in ["({\"b\": [1]}]", ")\n{\"b\": 1},\n{\"b\": 2}\n]", "(\"b\": {}, \"c\": []}"] {
        check_mistakes(&format!("{{\"a\": {{\"x\": {value}}},\n\"z\": 1}}"), &["1: Invalid start of value"]);
    }
    check_mistakes("{\"a\": {\"x\": [1, 2),\n\"y\": {}},\n\"z\": 1}", &["1: Mismatched brackets"]);
    check_mistakes("{\"a\": {\"x\": {\"b\": 1),\n\"y\": {}},\n\"z\": 1}", &["1: Mismatched braces"]);
    // A bracket that opens where it should close.
    check_mistakes("{\"a\": {\"x\": [1, 2[,\n\"y\": {}},\n\"z\": 1}", &["1: Mismatched brackets"]);
    check_mistakes("{\"a\": {\"x\": {\"b\": 1{,\n\"y\": {}},\n\"z\": 1}", &["1: Mismatched braces"]);
    check_mistakes(
        "{\"a\": [[1] [2]],\n\"z\": tru}",
        &["1: Missing attribute seperator comma", "2: Invalid JSON keyword"],
    );
    // One that is only too many.
    check_mistakes(
        "{\"a\": {\"x\": [1, 2)],\n\"y\": tru},\n\"z\": 1}",
        &["1: Missing attribute seperator comma", "2: Invalid JSON keyword"],
    );
    check_mistakes(
        "{\"a\": {\"x\": ),\n\"y\": tru},\n\"z\": 1}",
        &["1: Invalid start of value", "2: Invalid JSON keyword"],
    );
}

#[test]
fn independent_errors_are_all_reported() {
    let text = "{\n\"a\": tru,\n\"b\" 1,\n\"c\": [01, 2],\n\"d\": \"\\q\",\n\"e\": 1\n}";
    let expected = [
        "2: Invalid JSON keyword",
        "3: Missing property value colon",
        "4: Invalid JSON number",
        "5: Invalid JSON string",
    ];
    check_mistakes(text, &expected);
    let (parsed, _) = parse_json_file(&source(text));
    let (attributes, _) = parsed.body.attributes();
    assert_eq!(attributes.last().map(|attribute| show(&attribute.expression)), Some("1".to_owned()));
}

#[test]
fn unbalanced_bracket_suppresses_later_errors() {
    for (text, expected) in [
        ("{\n\"a\": {\n\"b\": 1,\n\"c\": {\n\"d\": tru\n},\n\"e\": 2,\n}", "5: Invalid JSON keyword"),
        ("{\n\"a\": {]\n}", "2: Mismatched braces"),
        ("{\n\"a\": [\n\"b\": 1\n},\n\"c\": tru\n}", "3: Invalid array value"),
        ("{\n\"a\": { \"b\": 1 } },\n\"c\": tru\n}", "2: Extraneous data after value"),
    ] {
        check_mistakes(text, &[expected]);
        let (parsed, _) = parse_json_file(&source(text));
        assert!(parsed.body.attributes().0.is_empty(), "{text}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let (attributes, _) = body("\u{feff}{\"a\": 1}").attributes();
    assert_eq!(attributes.len(), 1);
}
