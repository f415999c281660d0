//! Deeply nested source texts.

use crate::common::Folder;

#[test]
fn expressions_of_thousands_of_levels_are_planned() {
    let nested = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(4_500), close.repeat(4_500));
    let long = vec!["1"; 4_500].join(" + ");
    let outputs = [
        ("directives", format!("\"{}\"", nested("%{if true}", "x", "%{endif}")), "\"x\""),
        ("loops", format!("\"{}\"", nested("%{for x in [1]}", "x", "%{endfor}")), "\"x\""),
        ("interpolations", nested("\"${", "\"x\"", "}\""), "\"x\""),
        ("parentheses", nested("(", "1", ")"), "1"),
        ("operators", nested("!", "true", ""), "true"),
        ("calls", nested("upper(", "\"x\"", ")"), "\"X\""),
        ("conditionals", format!("{}1", "false ? 2 : ".repeat(4_500)), "1"),
        ("sum", long, "4500"),
    ];
    let folder = Folder::new();
    let text: String =
        outputs.iter().map(|(name, value, _)| format!("output \"{name}\" {{\n  value = {value}\n}}\n")).collect();
    folder.write("main.tf", &text);
    folder.ok(&["validate"]);
    folder.ok(&["fmt"]);
    let planned = folder.ok(&["plan"]);
    let words = planned.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, _, value) in outputs {
        assert!(words.contains(&format!("+ {name} = {value}")), "{name}: {planned}");
    }
}

#[test]
fn excessive_nesting_is_one_error() {
    let folder = Folder::new();
    let deep = |open: &str, count: usize| open.repeat(count);
    let texts = [
        format!("output \"a\" {{\n  value = \"{}\"\n}}\n", deep("%{if true}", 20_000)),
        format!("output \"a\" {{\n  value = {}\n}}\n", deep("(", 20_000)),
        format!("output \"a\" {{\n  value = {}1{}\n}}\n", deep("[", 600), deep("]", 600)),
        format!("variable \"a\" {{\n  type = {}string{}\n}}\n", deep("list(", 600), deep(")", 600)),
    ];
    for text in texts {
        folder.write("main.tf", &text);
        let said = folder.fails(&["validate"]);
        let errors: Vec<&str> = said.lines().filter(|line| line.contains("Error: ")).collect();
        let [error] = &*errors else { panic!("{errors:?}") };
        assert!(error.contains("too deeply") || error.contains("Invalid type specification"), "{said}");
    }
}
