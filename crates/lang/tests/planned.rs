//! What is known of expressions while planning: `tests/planned/*.txt`.
//!
//! The names: `terraform_data.u.id` is an unknown string that is never null, `.u.output` one that may be, `.t.output` an
//! unknown object `{a = string, b = [number, number]}`, `.l.output` an unknown tuple of two strings, `var.secret` is the
//! sensitive string `x`, `var.secretobj` the sensitive object `{a = 1}`. A line that begins with `> ` is an expression; the
//! line after it is its value, with the words `unknown` and `sensitive` where they apply, or `error: ` and a summary.
//! With `GROMA_UPDATE=1` the files are written anew.

#![allow(clippy::unwrap_used, reason = "tests end where something is missing")]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_hcl::Traversal;
use groma_lang::{FunctionContext, Resolved, Scope, evaluate};
use groma_value::{Kind, Marks, Type, Value, json};

struct Plan {
    functions: FunctionContext,
}

fn data(name: &str) -> Value {
    let output = match name {
        "t" => Type::object([("a", Type::String), ("b", Type::tuple([Type::Number, Type::Number]))]),
        "l" => Type::tuple([Type::String, Type::String]),
        _ => Type::String,
    };
    Value::object([("id", Value::unknown(Type::String).not_null()), ("output", Value::unknown(output))])
}

impl Scope for Plan {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let value = match &*traversal.root.name {
            "terraform_data" => Value::object(["u", "t", "l"].map(|name| (name, data(name)))),
            "var" => Value::object([
                ("secret", Value::string("x").with_marks(&Marks::SENSITIVE)),
                ("secretobj", Value::object([("a", Value::number(1_i64))]).with_marks(&Marks::SENSITIVE)),
            ]),
            other => return Err(Diagnostic::error("Reference to undeclared resource", other)),
        };
        Ok(Resolved { value, consumed: 0 })
    }

    fn functions(&self) -> &FunctionContext {
        &self.functions
    }
}

fn ours(expression: &str) -> String {
    let sources = Arc::new(Sources::new());
    let file = sources.add("main.tf", expression).unwrap();
    let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
    let scope = Plan { functions: FunctionContext::new(".", Arc::clone(&sources)) };
    let value = evaluate(&expression, &scope, &mut diagnostics);
    match diagnostics.iter().find(|problem| problem.is_error()) {
        Some(problem) => format!("error: {}", problem.summary),
        None => shown(&value),
    }
}

fn shown(value: &Value) -> String {
    let mark = if value.marks().is_sensitive() { "sensitive " } else { "" };
    let (plain, _) = value.unmark();
    let list = |elements: &[Value]| elements.iter().map(shown).collect::<Vec<_>>().join(", ");
    let text = match plain.kind() {
        Kind::Unknown(_) => "unknown".to_owned(),
        Kind::List(elements) | Kind::Set(elements) | Kind::Tuple(elements) => format!("[{}]", list(elements)),
        Kind::Map(map) => {
            let entries: Vec<String> = map.iter().map(|(key, value)| format!("{key} = {}", shown(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Kind::Object(object) => {
            let entries: Vec<String> = object.iter().map(|(key, value)| format!("{key} = {}", shown(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => json::encode(&plain).unwrap_or_else(|problem| problem.to_string()),
    };
    format!("{mark}{text}")
}

#[test]
fn what_is_known_while_planning_stays_so() {
    let update = std::env::var_os("GROMA_UPDATE").is_some();
    let mut wrong = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planned")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut rewritten = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(expression) = line.strip_prefix("> ") else { continue };
            count += 1;
            let wanted = lines.next_if(|line| !line.starts_with("> ")).unwrap_or_default();
            let got = ours(expression);
            writeln!(rewritten, "> {expression}\n{got}").unwrap();
            if !update && got != wanted {
                writeln!(wrong, "{expression}:\n  wanted {wanted}\n  got    {got}").unwrap();
            }
        }
        if update {
            std::fs::write(&path, rewritten).unwrap();
        }
    }
    assert!(count > 100);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_failed_part_makes_no_further_errors() {
    let sources = Arc::new(Sources::new());
    let file =
        sources.add("main.tf", "upper({}.a[0].b) + length(null) == [for x in nope.x : x][0] ? {}.z : 1").unwrap();
    let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
    let scope = Plan { functions: FunctionContext::new(".", Arc::clone(&sources)) };
    let value = evaluate(&expression, &scope, &mut diagnostics);
    let summaries: Vec<&str> = diagnostics.iter().map(|problem| problem.summary.as_str()).collect();
    assert_eq!(
        summaries,
        ["Unsupported attribute", "Invalid function argument", "Reference to undeclared resource"],
        "{diagnostics:?}"
    );
    assert!(!value.is_known());
    let _: Diagnostics = diagnostics;
}
