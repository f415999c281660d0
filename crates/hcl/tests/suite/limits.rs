//! Texts that no person writes: nothing overflows, nothing takes quadratic time.

use std::time::{Duration, Instant};

use groma_hcl::{
    ExpressionKind, MAX_NESTING, MAX_OPERATIONS, format, parse_expression, parse_file, parse_json_file, parse_template,
    tokenize,
};

use crate::show::source;

const MEGABYTE: usize = 1 << 20;

fn check_deep(unit: &str) {
    let text = format!("a = {}", unit.repeat(MEGABYTE / unit.len()));
    let started = Instant::now();
    let (_, diagnostics) = parse_file(&source(&text));
    assert!(diagnostics.has_errors(), "{unit}");
    assert!(diagnostics.len() < 200, "{unit}: {} messages", diagnostics.len());
    assert!(started.elapsed() < Duration::from_secs(20), "{unit}: {:?}", started.elapsed());
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for unit in [
        "[",
        "{",
        "(",
        "f(",
        "\"${",
        "-",
        "!",
        "a ? b : ",
        "a[",
        "{a=",
        "[for x in ",
        "1+",
        "a[*]",
        "\"%{if a}",
        "b[c]",
    ] {
        check_deep(unit);
    }
    let (_, diagnostics) = parse_file(&source(&"a {\n".repeat(MEGABYTE / 4)));
    assert!(diagnostics.has_errors());
    for unit in ["[", "{\"a\":", "[{\"a\":"] {
        let (_, diagnostics) = parse_json_file(&source(&unit.repeat(MEGABYTE / unit.len())));
        assert!(diagnostics.has_errors());
    }
}

/// A text that nests `count` levels deep and is correct.
type Deep = fn(usize) -> String;

const DEEP: [(&str, Deep); 11] = [
    ("parentheses", |n| format!("{}1{}", "(".repeat(n), ")".repeat(n))),
    ("lists", |n| format!("{}1{}", "[".repeat(n), "]".repeat(n))),
    ("objects", |n| format!("{}1{}", "{a=".repeat(n), "}".repeat(n))),
    ("calls", |n| format!("{}1{}", "f(".repeat(n), ")".repeat(n))),
    ("for expressions", |n| format!("{}a{}", "[for x in ".repeat(n), " : x]".repeat(n))),
    ("indexes", |n| format!("{}0{}", "a[".repeat(n), "]".repeat(n))),
    ("unary operators", |n| format!("{}a", "!".repeat(n))),
    ("conditionals", |n| format!("{}d", "a ? b : ".repeat(n))),
    ("interpolations", |n| format!("{}1{}", "\"x${".repeat(n), "}\"".repeat(n))),
    ("if directives", |n| format!("\"{}x{}\"", "%{if a}".repeat(n), "%{endif}".repeat(n))),
    ("for directives", |n| format!("\"{}x{}\"", "%{for x in a}".repeat(n), "%{endfor}".repeat(n))),
];

#[test]
fn thousands_of_levels_are_parsed_laid_out_and_freed() {
    for (name, deep) in DEEP {
        // Some forms take two levels each.
        let text = format!("a = {}\n", deep(4_500));
        let (file, diagnostics) = parse_file(&source(&text));
        assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
        assert_eq!(format(&text).lines().count(), 1, "{name}");
        drop(file);
    }
}

#[test]
fn a_text_that_is_too_deep_has_one_error() {
    for (name, deep) in DEEP {
        let text = format!("a = {}\n", deep(MAX_NESTING as usize + 1));
        let (_, diagnostics) = parse_file(&source(&text));
        let summaries: Vec<&str> = diagnostics.iter().map(|problem| &*problem.summary).collect();
        assert_eq!(summaries, ["Expression or block nested too deeply"], "{name}");
    }
}

#[test]
fn long_operations_are_parsed_and_freed() {
    for operator in [" + ", " || ", " == "] {
        let text = vec!["a"; MAX_OPERATIONS as usize - 10].join(operator);
        assert!(parse_expression(&source(&text)).1.is_empty(), "{operator}");
    }
    let indexes = format!("a{}", "[b]".repeat(MAX_OPERATIONS as usize - 10));
    assert!(parse_expression(&source(&indexes)).1.is_empty());
}

#[test]
fn thousands_of_levels_of_json_are_parsed_and_freed() {
    let nested = format!("{{\"a\": {}{}}}", "[".repeat(6_000), "]".repeat(6_000));
    assert!(parse_json_file(&source(&nested)).1.is_empty());
}

#[test]
fn time_grows_with_the_number_of_nested_directives_only() {
    // Quadratic work takes minutes here.
    let deep = format!("{}x{}", "%{if a}".repeat(9_000), "%{endif}".repeat(9_000));
    let started = Instant::now();
    assert!(parse_template(&source(&deep)).1.is_empty());
    let too_deep = "%{if a}".repeat(100_000);
    assert_eq!(parse_template(&source(&too_deep)).1.len(), 1);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn what_people_write_is_not_too_deep() {
    let deep = format!("a = {}1{}\n", "[".repeat(100), "]".repeat(100));
    assert!(parse_file(&source(&deep)).1.is_empty());
    let long = vec!["a"; 500].join(" || ");
    assert!(parse_expression(&source(&long)).1.is_empty());
    let chain = format!("{}d", "a == b ? c : ".repeat(150));
    assert!(parse_expression(&source(&chain)).1.is_empty());
}

#[test]
fn many_mistakes_take_no_quadratic_time() {
    let units = [
        "a = [1 2\n",
        "a = foo(1 2\n",
        "a = { b 1\n",
        "a = \"${b\n",
        "a = \"b\n",
        "/* a\n",
        "a = <<E\n",
        "a = \"${b(\"\n",
        "a {\n",
        "}\n",
        "\"a\n\nb\"\n",
        "a = b[\n",
        "<<",
        "a = (\n",
        "x = [for a in (\n",
        "a = \"%{ if b\n",
    ];
    for unit in units {
        let text = unit.repeat(MEGABYTE / 2 / unit.len());
        let started = Instant::now();
        let (_, diagnostics) = parse_file(&source(&text));
        assert!(diagnostics.has_errors(), "{unit}");
        format(&text);
        assert!(started.elapsed() < Duration::from_secs(30), "{unit:?}: {:?}", started.elapsed());
    }
}

#[test]
fn an_argument_set_many_times_is_found_quickly() {
    let text: String = (0..20_000).map(|number| format!("a{} = {number}\n", number % 10_000)).collect();
    let (_, diagnostics) = parse_file(&source(&text));
    assert_eq!(diagnostics.len(), 10_000);
}

#[test]
fn large_files_are_read_in_portions_that_fit_together() {
    let block = "resource \"a\" \"b\" {\n  c = [\n    1,\n    \"${d}\", <<E\nx\nE\n    , 2]\n  e {\n    f = (1\n    + 2)\n  }\n}\n";
    let text = format!("\u{feff}{}", block.repeat(20_000));
    assert!(tokenize(&text).len() > 1 << 17);
    let file = source(&text);
    let (parsed, diagnostics) = parse_file(&file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let (content, _) = parsed.body.content(&groma_hcl::BodySchema::new().block("resource", &["type", "name"]));
    assert_eq!(content.blocks.len(), 20_000);
    let last = content.blocks.last().unwrap();
    assert_eq!(file.slice(last.span), Some(block.trim_end()));
}

#[test]
fn references_have_any_number_of_steps() {
    for steps in [0, 1, 15, 16, 17, 40] {
        let text = format!("a = var{}\n", ".x[0]".repeat(steps));
        let file = source(&text);
        let (tree, diagnostics) = parse_file(&file);
        assert!(diagnostics.is_empty(), "{steps}");
        let (attributes, _) = tree.body.attributes();
        let mut found = 0;
        let mut expression = &attributes[0].expression;
        loop {
            match &expression.kind {
                ExpressionKind::Relative(relative) => {
                    found += relative.steps.len();
                    expression = &relative.source;
                }
                ExpressionKind::Traversal(traversal) => break found += traversal.steps().len(),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(found, 2 * steps);
        assert_eq!(attributes[0].span().len() as usize, text.len() - 1);
    }
}
