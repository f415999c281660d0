//! Bodies and their schemas.

use groma_hcl::{Body, BodySchema, Content, parse_file};

use crate::show::{show, source, summaries};

fn body(text: &str) -> Body {
    let file = source(text);
    let (parsed, diagnostics) = parse_file(&file);
    assert!(diagnostics.is_empty(), "{:?}", summaries(&file, &diagnostics));
    parsed.body
}

fn attributes(content: &Content) -> Vec<String> {
    content
        .attributes
        .iter()
        .map(|attribute| format!("{} = {}", attribute.name.name, show(&attribute.expression)))
        .collect()
}

fn blocks(content: &Content) -> Vec<String> {
    let labels =
        |block: &groma_hcl::Block| block.labels.iter().map(|label| format!(" {}", label.value)).collect::<String>();
    content.blocks.iter().map(|block| format!("{}{}", block.kind.name, labels(block))).collect()
}

/// The messages that `text` gets when it is read with `schema`, with their places.
fn check(text: &str, schema: &BodySchema, expected: &[&str]) {
    let file = source(text);
    let (parsed, mut diagnostics) = parse_file(&file);
    diagnostics.append(parsed.body.content(schema).1);
    let found: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| {
            let span = diagnostic.subject.unwrap();
            format!("{} [{}] {}", diagnostic.summary, file.slice(span).unwrap(), diagnostic.detail)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn arguments_and_blocks_keep_source_order() {
    let body = body("b = 1\nx \"l\" m {\n c = 2\n}\na = 3\nx n o {}\ny {}\n");
    let schema =
        BodySchema::new().required("a").optional("b").optional("z").block("x", &["one", "two"]).block("y", &[]);
    let (content, diagnostics) = body.content(&schema);
    assert!(diagnostics.is_empty());
    assert_eq!(attributes(&content), ["b = 1", "a = 3"]);
    assert_eq!(blocks(&content), ["x l m", "x n o", "y"]);
    assert_eq!(content.blocks_of("x").count(), 2);
    assert_eq!(content.get("a").map(|attribute| show(&attribute.expression)), Some("3".to_owned()));
    assert!(content.get("z").is_none());
}

#[test]
fn block_has_spans_of_header_body_and_labels() {
    let file = source("a = 1\nx \"l\" m {\n  c = 2\n}\n");
    let (parsed, _) = parse_file(&file);
    let (content, _) = parsed.body.content(&BodySchema::new().optional("a").block("x", &["one", "two"]));
    let block = &content.blocks[0];
    let text = |span| file.slice(span).unwrap();
    assert_eq!(text(block.header), "x \"l\" m");
    assert_eq!(text(block.span), "x \"l\" m {\n  c = 2\n}");
    assert_eq!(text(block.labels[0].span), "\"l\"");
    assert_eq!(text(block.body.span()), "{\n  c = 2\n}");
    assert_eq!(text(block.body.missing_item_span()), "{");
    assert_eq!(text(block.body.end_span()), "}");
    assert_eq!(text(content.attributes[0].span()), "a = 1");
}

#[test]
fn what_is_missing_in_a_block_on_one_line_is_missing_at_its_argument() {
    let missing = |text: &str| {
        let file = source(text);
        let (parsed, _) = parse_file(&file);
        let (content, _) = parsed.body.content(&BodySchema::new().block("x", &[]));
        let span = content.blocks[0].body.missing_item_span();
        file.slice(span).unwrap().to_owned()
    };
    assert_eq!(missing("x { c = 2 }\n"), "c");
    assert_eq!(missing("x {}\n"), "{");
    assert_eq!(missing("x { # with a comment\n c = 2\n}\n"), "{");
}

#[test]
fn what_the_schema_does_not_have_is_reported_with_a_guess() {
    let schema = BodySchema::new().optional("count").optional("tags").block("lifecycle", &[]);
    check(
        "coutn = 1\n",
        &schema,
        &["Unsupported argument [coutn] An argument named \"coutn\" is not expected here. Did you mean \"count\"?"],
    );
    check(
        "nothing = 1\n",
        &schema,
        &["Unsupported argument [nothing] An argument named \"nothing\" is not expected here."],
    );
    check(
        "lifecycle = {}\n",
        &schema,
        &[
            "Unsupported argument [lifecycle] An argument named \"lifecycle\" is not expected here. Did you mean to define \
         a block of type \"lifecycle\"? If so, remove the equals sign.",
        ],
    );
    check(
        "livecycle {}\n",
        &schema,
        &[
            "Unsupported block type [livecycle] Blocks of type \"livecycle\" are not expected here. Did you mean \"lifecycle\"?",
        ],
    );
    check(
        "tags {}\n",
        &schema,
        &[
            "Unsupported block type [tags] Blocks of type \"tags\" are not expected here. Did you mean to set the argument \
         \"tags\"? If so, add an equals sign before its value.",
        ],
    );
    // A name that is taken is not offered again.
    check(
        "count = 1\ncounter = 2\n",
        &schema,
        &["Unsupported argument [counter] An argument named \"counter\" is not expected here."],
    );
}

#[test]
fn missing_arguments_and_wrong_labels_are_reported_at_the_header() {
    let schema = BodySchema::new().block("x", &["type", "name"]).block("y", &[]).block("z", &["name"]);
    check("x \"a\" {\n}\n", &schema, &["Missing name for x [{] Every x block must have 2 labels (type, name)."]);
    check("x {\n}\n", &schema, &["Missing type for x [{] Every x block must have 2 labels (type, name)."]);
    check("x a b c {\n}\n", &schema, &["Extraneous label for x [c] A x block takes only 2 labels (type, name)."]);
    check("y \"a\" {\n}\n", &schema, &["Extraneous label for y [\"a\"] A y block takes no labels."]);
    check("x \"a\" { c = 2 }\n", &schema, &["Missing name for x [{] Every x block must have 2 labels (type, name)."]);
    check("z a b {\n}\n", &schema, &["Extraneous label for z [b] A z block takes only 1 label (name)."]);
    let schema = BodySchema::new().required("value");
    check(
        "",
        &schema,
        &["Missing required argument [] The argument \"value\" is required, but no definition was found."],
    );
}

#[test]
fn partial_content_leaves_the_rest() {
    let body = body("a = 1\nb = 2\nx {}\ny {}\n");
    let (content, rest, diagnostics) = body.partial_content(&BodySchema::new().optional("a").block("x", &[]));
    assert!(diagnostics.is_empty());
    assert_eq!((attributes(&content), blocks(&content)), (vec!["a = 1".to_owned()], vec!["x".to_owned()]));
    let (content, diagnostics) = rest.content(&BodySchema::new().optional("b").block("y", &[]));
    assert!(diagnostics.is_empty());
    assert_eq!((attributes(&content), blocks(&content)), (vec!["b = 2".to_owned()], vec!["y".to_owned()]));
    let (content, _, _) = rest.partial_content(&BodySchema::new().optional("a").block("x", &[]));
    assert_eq!((content.attributes.len(), content.blocks.len()), (0, 0), "taken is taken");
}

#[test]
fn a_block_that_was_taken_does_not_hide_an_argument_of_its_name() {
    let body = body("lifecycle = 1\n");
    let (_, rest, _) = body.partial_content(&BodySchema::new().block("lifecycle", &[]));
    let (_, diagnostics) = rest.content(&BodySchema::new());
    assert_eq!(diagnostics.len(), 1);
}

#[test]
fn just_arguments() {
    let (found, diagnostics) = body("a = 1\nb = 2\n").attributes();
    assert_eq!((found.len(), diagnostics.len()), (2, 0));
    let (found, diagnostics) = body("a = 1\nb {}\n").attributes();
    assert_eq!(found.len(), 1);
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Unexpected \"b\" block");
}

#[test]
fn overrides_replace_arguments_and_all_blocks_of_a_kind() {
    let base = body("a = 1\nb = 2\nx {\n  n = 1\n}\nx {\n  n = 2\n}\ny {}\n");
    let other = body("b = 3\nx {\n  n = 3\n}\n");
    let schema = BodySchema::new().required("a").optional("b").block("x", &[]).block("y", &[]);
    let (content, diagnostics) = base.overridden_by(&other).content(&schema);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let mut found = attributes(&content);
    found.sort();
    assert_eq!(found, ["a = 1", "b = 3"]);
    assert_eq!(blocks(&content), ["y", "x"]);
}

#[test]
fn a_dynamic_block_is_of_the_kind_that_it_makes() {
    let schema = BodySchema::new().block("x", &[]).block("dynamic", &["kind"]);
    let static_base = body("x {}\ny {}\n");
    let (content, _) = static_base.overridden_by(&body("dynamic \"x\" {}\n")).content(&schema.clone().block("y", &[]));
    assert_eq!(blocks(&content), ["y", "dynamic x"]);
    let (content, _) = body("dynamic \"x\" {}\n").overridden_by(&body("x {}\n")).content(&schema);
    assert_eq!(blocks(&content), ["x"]);
}

#[test]
fn what_is_taken_from_an_overridden_body_is_taken_from_both() {
    let merged = body("a = 1\nb = 2\n").overridden_by(&body("a = 3\nc = 4\n"));
    let (content, rest, _) = merged.partial_content(&BodySchema::new().optional("a"));
    assert_eq!(attributes(&content), ["a = 3"]);
    let (found, _) = rest.attributes();
    assert_eq!(found.iter().map(|attribute| &*attribute.name.name).collect::<Vec<_>>(), ["b", "c"]);
}
