use groma_diagnostics::Sources;
use groma_lang::{ChildScope, EmptyScope, FunctionContext};
use groma_value::{Marks, Type};

use super::*;
use crate::schema::{Attribute, NestedBlock, Nesting, ObjectNesting, ObjectSchema, Use};
use crate::testing::{attributes, object, s, string};

/// A schema with attributes and all nesting modes of blocks.
fn schema() -> Arc<Block> {
    let port = || attributes([("port", Attribute::required(Type::Number)), ("note", string(Use::Optional))]);
    let rule = || NestedBlock::new(Nesting::List, port()).at_least(1).at_most(2);
    Arc::new(Block::new(
        [
            ("name", Attribute::required(Type::String)),
            ("count_of", Attribute::optional(Type::Number)),
            ("tags", Attribute::optional(Type::map(Type::String))),
            ("id", Attribute::computed(Type::String)),
            ("any", Attribute::optional(Type::Dynamic)),
        ],
        [
            ("rule", rule()),
            ("filter", NestedBlock::new(Nesting::Set, port())),
            ("by_key", NestedBlock::new(Nesting::Map, port())),
            ("timeouts", NestedBlock::new(Nesting::Single, port())),
            ("options", NestedBlock::new(Nesting::Group, attributes([("mode", string(Use::Optional))]))),
        ],
    ))
}

struct Decoded {
    value: Value,
    /// Formats as `Summary: detail`, preceded by the source text.
    problems: Vec<String>,
    decoder: BodyDecoder,
    sources: Arc<Sources>,
}

fn decode_with(block: &Arc<Block>, text: &str, variables: Vec<(&str, Value)>) -> Decoded {
    let sources = Arc::new(Sources::new());
    let file = sources.add("main.tf", text).unwrap();
    let (parsed, syntax) = groma_hcl::parse_file(&file);
    assert!(syntax.is_empty(), "{syntax:?}");
    let (decoder, mut problems) = BodyDecoder::new(&parsed.body, block);
    let empty = EmptyScope::new(FunctionContext::new("", Arc::clone(&sources)));
    let variables = variables.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let scope = ChildScope::new(&empty, variables);
    let (value, further) = decoder.evaluate(&scope);
    problems.append(further);
    assert!(value.has_type(block.implied_type()) || block.implied_type().has_dynamic(), "{:?}", value.ty());
    let shown = |problem: &groma_diagnostics::Diagnostic| {
        let text = problem.subject.and_then(|span| sources.text(span)).unwrap_or_default();
        format!("{text} | {}: {}", problem.summary, problem.detail)
    };
    let problems = problems.iter().map(shown).collect();
    Decoded { value, problems, decoder, sources }
}

fn decode(text: &str) -> Decoded {
    decode_with(&schema(), text, Vec::new())
}

/// Returns the value at a path of names and indexes, such as `rule.0.port`.
fn at(value: &Value, path: &str) -> Value {
    path.split('.').fold(value.clone(), |value, step| match step.parse::<usize>() {
        Ok(position) => value.as_slice().unwrap()[position].clone(),
        Err(_) => match value.as_map() {
            Some(map) => map.get(step).unwrap().clone(),
            None => value.attribute(step).unwrap(),
        },
    })
}

const MINIMAL: &str = "name = \"n\"\nrule {\n  port = 1\n}\n";

#[test]
fn lc_02_values_are_converted_and_unset_ones_are_null() {
    let decoded = decode(
        r#"
        name     = 5
        count_of = "7"
        tags     = { a = true }
        rule { port = "80" }
        "#,
    );
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert_eq!(at(&decoded.value, "name"), s("5"));
    assert_eq!(at(&decoded.value, "count_of"), Value::number(7));
    assert_eq!(at(&decoded.value, "tags.a"), s("true"));
    assert_eq!(at(&decoded.value, "rule.0.port"), Value::number(80));
    assert!(at(&decoded.value, "id").is_null());
    assert!(at(&decoded.value, "timeouts").is_null());
    assert!(at(&decoded.value, "options.mode").is_null(), "a group is there even if nobody wrote it");
    assert_eq!(at(&decoded.value, "filter").as_slice().unwrap().len(), 0);
}

#[test]
fn lc_02_unknown_expressions_give_typed_unknowns() {
    let text = format!("{MINIMAL}count_of = var.x\nany = var.x\n");
    let decoded = decode_with(&schema(), &text, vec![("var", Value::object([("x", Value::unknown(Type::String))]))]);
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert_eq!(at(&decoded.value, "count_of"), Value::unknown(Type::Number));
    assert_eq!(at(&decoded.value, "any"), Value::unknown(Type::String));
}

#[test]
fn lc_29_marks_survive_decoding() {
    let text = format!("{MINIMAL}count_of = var.x\n");
    let secret = Value::string("5").with_marks(&Marks::SENSITIVE);
    let decoded = decode_with(&schema(), &text, vec![("var", Value::object([("x", secret)]))]);
    assert!(at(&decoded.value, "count_of").marks().is_sensitive());
}

#[test]
fn unknown_and_missing_arguments_are_errors() {
    let decoded = decode("nam = 1\nrule {\n  port = 1\n}\n");
    let summaries: Vec<&str> =
        decoded.problems.iter().map(|text| text.split([':', '|']).nth(1).unwrap().trim()).collect();
    assert_eq!(summaries, ["Missing required argument", "Unsupported argument"], "{:?}", decoded.problems);
}

#[test]
fn wrong_types_say_what_is_required() {
    let decoded = decode("name = [\"a\"]\nrule {\n  port = 1\n}\n");
    assert_eq!(
        decoded.problems,
        ["[\"a\"] | Incorrect attribute value type: Inappropriate value for attribute \"name\": string required, but \
             have tuple."]
    );
    assert!(!at(&decoded.value, "name").is_known(), "so that nothing is concluded from it");
}

#[test]
fn numbers_of_blocks_are_checked() {
    let none = decode("name = \"n\"\n");
    assert!(
        none.problems[0].ends_with("| Insufficient rule blocks: At least 1 \"rule\" blocks are required."),
        "{:?}",
        none.problems
    );
    let three = decode("name = \"n\"\nrule {\n port = 1\n}\nrule {\n port = 2\n}\nrule {\n port = 3\n}\n");
    assert_eq!(three.problems, ["rule | Too many rule blocks: No more than 2 \"rule\" blocks are allowed."]);
    let twice = decode(&format!("{MINIMAL}timeouts {{\n port = 1\n}}\ntimeouts {{\n port = 2\n}}\n"));
    assert_eq!(twice.problems.len(), 1);
    assert!(twice.problems[0].starts_with("timeouts | Duplicate timeouts block"), "{:?}", twice.problems);
    let single = NestedBlock::new(Nesting::Single, Block::default()).at_least(1).at_most(1);
    let block = Arc::new(Block::new(Vec::<(&str, Attribute)>::new(), [("must", single)]));
    let missing = decode_with(&block, "", Vec::new());
    assert!(missing.problems[0].contains("Missing must block"), "{:?}", missing.problems);
}

#[test]
fn blocks_by_key_have_unique_labels() {
    let decoded = decode(&format!("{MINIMAL}by_key \"a\" {{\n port = 1\n}}\nby_key \"b\" {{\n port = 2\n}}\n"));
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert_eq!(at(&decoded.value, "by_key.b.port"), Value::number(2));
    let twice = decode(&format!("{MINIMAL}by_key \"a\" {{\n port = 1\n}}\nby_key \"a\" {{\n port = 2\n}}\n"));
    assert!(twice.problems[0].contains("Duplicate by_key block"), "{:?}", twice.problems);
}

#[test]
fn dynamic_blocks_make_blocks() {
    let decoded = decode_with(
        &schema(),
        r#"
        name = "n"
        rule { port = 1 }
        dynamic "rule" {
          for_each = var.ports
          iterator = data # as a reference "data.value" is no good
          content {
            port = data.value
            note = "${data.key}:${var.suffix}"
          }
        }
        dynamic "by_key" {
          for_each = { x = 8, y = 9 }
          labels   = [by_key.key]
          content {
            port = by_key.value
          }
        }
        "#,
        vec![(
            "var",
            Value::object([("ports", Value::list(Type::Number, vec![Value::number(2)])), ("suffix", s("s"))]),
        )],
    );
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert_eq!(at(&decoded.value, "rule.1.port"), Value::number(2));
    assert_eq!(at(&decoded.value, "rule.1.note"), s("0:s"));
    assert_eq!(at(&decoded.value, "by_key.y.port"), Value::number(9));
}

#[test]
fn argument_named_dynamic_coexists_with_dynamic_blocks() {
    let rule = NestedBlock::new(Nesting::List, attributes([("port", Attribute::required(Type::Number))]));
    let block = Arc::new(Block::new([("dynamic", string(Use::Optional))], [("rule", rule)]));
    let blocks = "dynamic \"rule\" {\n for_each = [1, 2]\n content {\n port = rule.value\n }\n}\n";
    for (text, dynamic) in
        [(format!("dynamic = \"x\"\n{blocks}"), s("x")), (blocks.to_owned(), Value::null(Type::String))]
    {
        let decoded = decode_with(&block, &text, Vec::new());
        assert_eq!(decoded.problems, [""; 0], "{text}");
        assert_eq!(at(&decoded.value, "dynamic"), dynamic);
        assert_eq!(at(&decoded.value, "rule").as_slice().unwrap().len(), 2);
    }
    let decoded = decode_with(&block, "dynamic \"rul\" {\n for_each = []\n content {\n }\n}\n", Vec::new());
    assert!(decoded.problems[0].contains("Unsupported block type: Blocks of type \"rul\""), "{:?}", decoded.problems);
}

#[test]
fn dynamic_blocks_nest() {
    let inner = attributes([("v", string(Use::Optional))]);
    let outer = Block::new(Vec::<(&str, Attribute)>::new(), [("inner", NestedBlock::new(Nesting::List, inner))]);
    let block =
        Arc::new(Block::new(Vec::<(&str, Attribute)>::new(), [("outer", NestedBlock::new(Nesting::List, outer))]));
    let decoded = decode_with(
        &block,
        r#"
        dynamic "outer" {
          for_each = { a = ["1", "2"] }
          content {
            dynamic "inner" {
              for_each = outer.value
              content {
                v = "${outer.key}${inner.value}"
              }
            }
          }
        }
        "#,
        Vec::new(),
    );
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert_eq!(at(&decoded.value, "outer.0.inner.1.v"), s("a2"));
}

#[test]
fn dynamic_block_over_unknown_makes_blocks_unknown() {
    let text = "name = \"n\"\ndynamic \"rule\" {\n for_each = var.x\n content {\n port = rule.value\n }\n}\n";
    let decoded = decode_with(&schema(), text, vec![("var", Value::object([("x", Value::DYNAMIC)]))]);
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert!(!at(&decoded.value, "rule").is_known());
}

/// As in Terraform: public modules have invalid content in dynamic blocks without elements.
#[test]
fn dynamic_content_is_checked_for_the_first_element() {
    let text = |elements: &str| {
        format!("name = \"n\"\ndynamic \"rule\" {{\n for_each = {elements}\n content {{\n port = bare\n }}\n}}\n")
    };
    let over = |elements: &str| {
        decode_with(&schema(), &text(elements), vec![("var", Value::object([("x", Value::DYNAMIC)]))]).problems
    };
    assert_eq!(over("var.x"), Vec::<String>::new());
    assert!(!over("[1]").is_empty());
}

/// Neither `try` nor an untaken conditional arm hides an undefined name, once an element uses the content.
#[test]
fn references_in_dynamic_content_are_checked_even_inside_try() {
    let over = |elements: &str, port: &str| {
        let text = format!(
            "name = \"n\"\ndynamic \"rule\" {{\n for_each = {elements}\n content {{\n port = {port}\n }}\n}}\n"
        );
        let decoded = decode_with(&schema(), &text, vec![("var", Value::object([("x", Value::DYNAMIC)]))]);
        decoded.problems.iter().map(|problem| problem.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let bare = "bare | Variables not allowed";
    for port in ["try(bare, 1)", "true ? 1 : bare", "can(bare) ? 1 : 2", "[for x in [1] : bare][0]"] {
        assert_eq!(over("[1]", port), [bare], "{port}");
        assert_eq!(over("var.x", port), Vec::<String>::new(), "{port}");
    }
    for port in ["try(rule.nope, 1)", "try(rule.value, 1)", "[for x in [1] : try(x, 1)][0]"] {
        assert_eq!(over("[1, 2]", port), Vec::<String>::new(), "{port}");
    }
}

#[test]
fn counts_of_dynamic_blocks_are_checked_when_they_are_known() {
    let text = "name = \"n\"\ndynamic \"rule\" {\n for_each = [1, 2, 3]\n content {\n port = rule.value\n }\n}\n";
    let too_many = "{ | Too many rule blocks: No more than 2 \"rule\" blocks are allowed.";
    assert_eq!(decode(text).problems, [too_many], "where the content begins");
    let text = "name = \"n\"\ndynamic \"timeouts\" {\n for_each = [1, 2]\n content {\n port = 1\n }\n}\n";
    let twice = decode(&format!("{text}rule {{\n port = 1\n}}\n")).problems;
    assert!(twice[0].starts_with("dynamic \"timeouts\" | Duplicate timeouts block"), "{twice:?}");
    let text = "name = \"n\"\ndynamic \"rule\" {\n for_each = []\n content {\n port = rule.value\n }\n}\n";
    assert!(decode(text).problems[0].contains("Insufficient rule blocks"));
}

/// As in Terraform, which never evaluates it.
#[test]
fn invalid_dynamic_content_is_reported_if_blocks_may_exist() {
    let over = |elements: &str| {
        let text = format!(
            "name = \"n\"\nrule {{\n port = 1\n}}\ndynamic \"rule\" {{\n for_each = {elements}\n content {{\n port = 1\n prot = 1\n }}\n}}\n"
        );
        let decoded = decode_with(&schema(), &text, vec![("var", Value::object([("x", Value::DYNAMIC)]))]);
        decoded.problems.iter().map(|problem| problem.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(over("[]"), Vec::<String>::new());
    for elements in ["[1]", "var.x"] {
        assert_eq!(over(elements), ["prot | Unsupported argument"], "{elements}");
    }
}

/// The number of blocks is secret where several are allowed; computed attributes carry no marks.
#[test]
fn a_sensitive_collection_marks_what_its_content_sets() {
    let text = |kind: &str, content: &str| {
        format!(
            "name = \"n\"\nrule {{\n port = 1\n}}\ndynamic \"{kind}\" {{\n for_each = var.x\n content {{\n {content}\n }}\n}}\n"
        )
    };
    let secret = || Value::tuple(vec![s("a")]).with_marks(&Marks::SENSITIVE);
    let over = |text: &str| decode_with(&schema(), text, vec![("var", Value::object([("x", secret())]))]).value;
    let one = over(&text("timeouts", "port = 1"));
    assert!(!at(&one, "timeouts").marks().is_sensitive() && !at(&one, "timeouts.note").marks().is_sensitive());
    assert!(at(&one, "timeouts.port").marks().is_sensitive());
    assert!(!at(&over(&text("timeouts", "")), "timeouts").deep_marks().is_sensitive());
    let several = over(&text("rule", "port = 1"));
    assert!(at(&several, "rule.1").marks().is_sensitive() && !at(&several, "rule.0").deep_marks().is_sensitive());
}

#[test]
fn single_dynamic_block_over_unknown_exists_with_unknown_arguments() {
    let text = |more: &str| {
        format!(
            "name = \"n\"\nrule {{\n port = 1\n}}\n{more}dynamic \"timeouts\" {{\n for_each = var.x\n content {{\n port = 1\n }}\n}}\n"
        )
    };
    let over = |text: &str| decode_with(&schema(), text, vec![("var", Value::object([("x", Value::DYNAMIC)]))]);
    let decoded = over(&text(""));
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert!(at(&decoded.value, "timeouts").is_known() && !at(&decoded.value, "timeouts.port").is_known());
    assert_eq!(at(&decoded.value, "timeouts.note"), Value::null(Type::String));
    assert!(over(&text("timeouts {\n port = 2\n}\n")).problems[0].contains("Duplicate timeouts block"));
}

#[test]
fn a_sensitive_collection_makes_sensitive_blocks() {
    let text = "name = \"n\"\ndynamic \"rule\" {\n for_each = var.x\n content {\n port = 1\n }\n}\n";
    let secret = Value::tuple(vec![s("a")]).with_marks(&Marks::SENSITIVE);
    let decoded = decode_with(&schema(), text, vec![("var", Value::object([("x", secret)]))]);
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert!(at(&decoded.value, "rule").deep_marks().is_sensitive());
}

#[test]
fn invalid_dynamic_blocks_are_errors() {
    for (text, summary) in [
        ("dynamic \"rule\" {\n for_each = 1\n content {\n port = 1\n }\n}", "Invalid dynamic for_each value"),
        ("dynamic \"rule\" {\n for_each = null\n content {\n port = 1\n }\n}", "Invalid dynamic for_each value"),
        ("dynamic \"rule\" {\n for_each = []\n}", "Missing dynamic content block"),
        (
            "dynamic \"rule\" {\n for_each = []\n iterator = a.b\n content {\n port = 1\n }\n}",
            "Invalid dynamic iterator name",
        ),
        ("dynamic \"rule\" {\n for_each = []\n iterator = \"a\"\n content {\n port = 1\n }\n}", "Invalid expression"),
        ("dynamic \"rule\" {\n for_each = []\n iterator = 1\n content {\n port = 1\n }\n}", "Invalid expression"),
        (
            "dynamic \"rule\" {\n for_each = []\n content {\n port = 1\n }\n content {\n port = 1\n }\n}",
            "Extraneous dynamic content block",
        ),
        ("dynamic \"nothing\" {\n for_each = []\n content {\n }\n}", "Unsupported block type"),
        (
            "dynamic \"by_key\" {\n for_each = [1]\n labels = [null]\n content {\n port = 1\n }\n}",
            "Invalid dynamic block label",
        ),
        (
            "dynamic \"by_key\" {\n for_each = [1]\n labels = []\n content {\n port = 1\n }\n}",
            "Insufficient dynamic block labels",
        ),
    ] {
        let decoded = decode(&format!("{MINIMAL}{text}\n"));
        let found = decoded.problems.iter().filter(|problem| problem.contains(summary)).count();
        assert_eq!(found, 1, "{summary}: {:?}", decoded.problems);
    }
}

#[test]
fn nested_attributes_may_leave_optional_parts_out() {
    let inner =
        [("port", Attribute::required(Type::Number)), ("note", string(Use::Optional)), ("id", string(Use::Computed))];
    let nested = Attribute::nested(ObjectSchema::new(ObjectNesting::List, inner), Use::Optional);
    let block = Arc::new(attributes([("rules", nested)]));
    let decoded = decode_with(&block, "rules = [{ port = \"1\" }, { port = 2, note = \"x\" }]\n", Vec::new());
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert_eq!(at(&decoded.value, "rules.0.port"), Value::number(1));
    assert!(at(&decoded.value, "rules.0.id").is_null());
    let invalid = decode_with(&block, "rules = [{ note = \"x\" }]\n", Vec::new());
    assert!(invalid.problems[0].contains("Incorrect attribute value type"), "{:?}", invalid.problems);
}

#[test]
fn lists_of_objects_may_be_written_as_blocks() {
    let element = Type::object([("port", Type::Number), ("note", Type::String)]);
    let block = Arc::new(attributes([("ingress", Attribute::optional_computed(Type::set(element)))]));
    let decoded = decode_with(&block, "ingress {\n  port = 80\n}\ningress {\n  port = 81\n}\n", Vec::new());
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert_eq!(at(&decoded.value, "ingress").as_slice().unwrap().len(), 2);
    let unset = decode_with(&block, "", Vec::new());
    assert!(at(&unset.value, "ingress").is_null());
}

#[test]
fn blocks_with_dynamic_attributes_become_tuples() {
    let inner = attributes([("any", Attribute::optional(Type::Dynamic))]);
    let block =
        Arc::new(Block::new(Vec::<(&str, Attribute)>::new(), [("part", NestedBlock::new(Nesting::List, inner))]));
    let decoded = decode_with(&block, "part {\n any = 1\n}\npart {\n any = \"x\"\n}\n", Vec::new());
    assert_eq!(decoded.problems, Vec::<String>::new());
    assert!(matches!(at(&decoded.value, "part").ty(), Type::Tuple(_)));
}

#[test]
fn json_bodies_are_decoded_alike() {
    let sources = Arc::new(Sources::new());
    let text = r#"{"name": "n", "rule": [{"port": 1}, {"port": "${1 + 1}"}], "by_key": {"k": {"port": 3}}}"#;
    let file = sources.add("main.tf.json", text).unwrap();
    let (parsed, syntax) = groma_hcl::parse_json_file(&file);
    assert!(syntax.is_empty(), "{syntax:?}");
    let (decoder, problems) = BodyDecoder::new(&parsed.body, &schema());
    assert!(problems.is_empty(), "{problems:?}");
    let (value, problems) = decoder.evaluate(&EmptyScope::new(FunctionContext::new("", sources)));
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(at(&value, "rule.1.port"), Value::number(2));
    assert_eq!(at(&value, "by_key.k.port"), Value::number(3));
}

#[test]
fn lc_26_paths_resolve_to_source_spans() {
    let decoded = decode(
        r#"
        name = "n"
        tags = { a = "x", b = "y" }
        rule { port = 11 }
        rule { port = 22 }
        dynamic "filter" {
          for_each = [1]
          content {
            port = 33
          }
        }
        "#,
    );
    let text = |path: Path| decoded.sources.text(decoded.decoder.span_of(&path)).unwrap();
    let root = Path::root;
    assert_eq!(text(root().attribute("name")), "\"n\"");
    assert_eq!(text(root().attribute("tags").index(s("b"))), "\"y\"");
    assert_eq!(text(root().attribute("rule").position(1).attribute("port")), "22");
    assert_eq!(text(root().attribute("rule").position(1)), "rule");
    let element = object(&attributes([("port", Attribute::required(Type::Number))]), [("port", Value::number(33))]);
    assert_eq!(text(root().attribute("filter").index(element).attribute("port")), "33");
    assert_eq!(decoded.decoder.span_of(&root()), decoded.decoder.span_of(&root().attribute("no_such")));
}
