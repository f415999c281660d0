//! Nothing that can be written makes the evaluation panic or overflow the stack.

#![allow(clippy::unwrap_used, reason = "tests end where something is missing")]

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_hcl::{Expression, Traversal};
use groma_lang::{FunctionContext, Purity, Resolved, Scope, console, evaluate, functions, references, type_constraint};
use groma_value::{Marks, Type, Value};
use proptest::prelude::*;

/// What nobody may read who does not ask for it.
const SECRET: &str = "hiddenword";

struct Anything {
    functions: FunctionContext,
}

impl Scope for Anything {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let value = match &*traversal.root.name {
            "n" => Value::null(Type::Dynamic),
            "u" => Value::DYNAMIC,
            "us" => Value::unknown(Type::String),
            "un" => Value::unknown(Type::Number).not_null(),
            "ul" => Value::unknown(Type::list(Type::String)),
            "um" => Value::unknown(Type::map(Type::Number)),
            "ue" => Value::unknown(Type::set(Type::Bool)),
            "uo" => Value::unknown(Type::object([("a", Type::String)])),
            "ut" => Value::unknown(Type::tuple([Type::String, Type::Dynamic])),
            "s" => Value::string(SECRET).with_marks(&Marks::SENSITIVE),
            "sl" => {
                Value::list(Type::String, vec![Value::string(SECRET), Value::string("b")]).with_marks(&Marks::SENSITIVE)
            }
            "so" => {
                Value::object([("a", Value::string(SECRET).with_marks(&Marks::SENSITIVE)), ("b", Value::string("x"))])
            }
            "l" => Value::list(Type::Number, vec![Value::number(1_i64), Value::unknown(Type::Number)]),
            "e" => Value::set(Type::String, vec![Value::string("a"), Value::unknown(Type::String)]),
            "m" => Value::map(Type::String, [("a", Value::string("x")), ("b", Value::null(Type::String))]),
            "o" => {
                Value::object([("a", Value::string("x")), ("b", Value::tuple(vec![]))]).with_marks(&Marks::EPHEMERAL)
            }
            "nl" => Value::null(Type::list(Type::String)),
            "z" => Value::number(-1_i64),
            _ => return Err(Diagnostic::error("Unknown", "")),
        };
        Ok(Resolved { value, consumed: 0 })
    }

    fn functions(&self) -> &FunctionContext {
        &self.functions
    }
}

fn parsed(text: &str) -> Option<(Expression, Arc<Sources>)> {
    let sources = Arc::new(Sources::new());
    let file = sources.add("x", text)?;
    Some((groma_hcl::parse_expression(&file).0, sources))
}

fn value_of(text: &str) -> (Value, Diagnostics) {
    let (expression, sources) = parsed(text).unwrap();
    let mut functions = FunctionContext::new(env!("CARGO_MANIFEST_DIR"), sources);
    functions.purity = Purity::Immediate;
    let mut diagnostics = Diagnostics::new();
    let value = evaluate(&expression, &Anything { functions }, &mut diagnostics);
    console::format(&value);
    references(&expression);
    type_constraint(&expression);
    (value, diagnostics)
}

/// Expressions of the grammar, without regard to types.
fn expressions() -> impl Strategy<Value = String> {
    let names =
        ["n", "u", "us", "un", "ul", "um", "ue", "uo", "ut", "s", "sl", "so", "l", "e", "m", "o", "nl", "z", "nope"];
    let leaf = prop_oneof![
        prop::sample::select(names.to_vec()).prop_map(str::to_owned),
        (-3_i32..40).prop_map(|number| number.to_string()),
        prop::sample::select(vec![
            "0.5",
            "1e30",
            "true",
            "false",
            "null",
            "[]",
            "{}",
            "\"\"",
            "\"a\"",
            "\"10.0.0.0/8\"",
            "\"2020-01-01T00:00:00Z\"",
            "\"%s %d\"",
            "\"[a-z]+(x)?\"",
            "\"{\\\"a\\\":1}\"",
            "\"a: [1\"",
            "\"é\u{301}\"",
            "\"1h\"",
            "\"utf-16le\"",
            "\"dns\"",
            "\"YYYY-MM\"",
            "\"tests/*\"",
            "\"YQ==\""
        ])
        .prop_map(str::to_owned),
    ];
    // Slow on purpose, or reading what has nothing to do with the test.
    let calls: Vec<&str> =
        functions::names().into_iter().filter(|name| !["bcrypt", "pow", "fileset"].contains(name)).collect();
    leaf.prop_recursive(4, 40, 4, move |inner| {
        prop_oneof![
            6 => (prop::sample::select(calls.clone()), prop::collection::vec(inner.clone(), 0..4))
                .prop_map(|(name, arguments)| format!("{name}({})", arguments.join(", "))),
            1 => (prop::sample::select(calls.clone()), inner.clone()).prop_map(|(name, argument)| format!("{name}({argument}...)")),
            2 => (inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"]), inner.clone())
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            1 => inner.clone().prop_map(|inner| format!("(!{inner})")),
            1 => inner.clone().prop_map(|inner| format!("(-{inner})")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(|elements| format!("[{}]", elements.join(", "))),
            1 => (inner.clone(), inner.clone()).prop_map(|(key, value)| format!("{{({key}) = {value}, a = 1}}")),
            1 => (inner.clone(), inner.clone()).prop_map(|(source, key)| format!("({source})[{key}]")),
            1 => inner.clone().prop_map(|source| format!("({source})[*].a")),
            1 => inner.clone().prop_map(|source| format!("({source}).a")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(c, v, i)| format!("[for k, v in {c} : [k, v, {v}] if {i}]")),
            1 => (inner.clone(), inner.clone()).prop_map(|(c, v)| format!("{{for k, v in {c} : k => {v}...}}")),
            1 => (inner.clone(), inner.clone()).prop_map(|(c, v)| format!("{{for k, v in {c} : v => {v}}}")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\"x${{{a}}}%{{ if {b} }}y%{{ endif }}\"")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\"%{{ for x in {a} }}${{{b}}}%{{ endfor }}\"")),
            1 => inner.prop_map(|inner| format!("convert({inner}, list(string))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn evaluation_never_panics(text in expressions()) {
        value_of(&text);
    }

    #[test]
    fn evaluation_of_any_text_never_panics(text in "[a-z0-9 .,:?!\"'$%{}()\\[\\]*+<>=&|~/\\\\\n-]{0,40}") {
        value_of(&text);
    }

    #[test]
    fn what_is_sensitive_stays_hidden(text in expressions()) {
        prop_assume!(!text.contains("nonsensitive"));
        prop_assert_eq!(shown(&text), None, "{}", text);
    }
}

/// Where the secret is seen: in the result as the console shows it, or in a message.
fn shown(text: &str) -> Option<String> {
    let (value, diagnostics) = value_of(text);
    let messages = diagnostics.iter().map(|problem| format!("{problem:?}"));
    std::iter::once(console::format(&value)).chain(messages).find(|text| text.contains(SECRET))
}

#[test]
fn no_function_or_operator_reveals_sensitive_values() {
    let values = ["s", "sl", "so", "1", "\"a\"", "l"];
    let mut seen = Vec::new();
    let mut look = |text: String| seen.extend(shown(&text).map(|leak| format!("{text}: {leak}")));
    for name in functions::names() {
        if ["bcrypt", "pow", "fileset", "nonsensitive"].contains(&name) {
            continue;
        }
        for one in values {
            look(format!("{name}({one})"));
            look(format!("{name}({one}...)"));
            for two in values {
                look(format!("{name}({one}, {two})"));
                for three in values {
                    look(format!("{name}({one}, {two}, {three})"));
                }
            }
        }
    }
    for one in values {
        for two in values {
            for operator in ["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"] {
                look(format!("{one} {operator} {two}"));
            }
            for form in [
                "A[B]",
                "A ? B : A",
                "{(A) = B}",
                "[for x in A : B]",
                "{for k, v in A : B => k}",
                "{for k, v in A : v => B}",
            ] {
                look(form.replace('A', one).replace('B', two));
            }
            look(format!("\"${{{one}}}-${{{two}}}\""));
            look(format!("\"%{{ for x in {one} }}${{{two}}}%{{ endfor }}\""));
        }
        for form in [
            "!A",
            "-A",
            "A.a",
            "A.zz",
            "A[*].a",
            "A.*.b",
            "[A...]",
            "{a = A, (A) = 1}",
            "upper(A).x",
            "convert(A, number)",
            "convert(A, list(number))",
            "convert(A, object({b = number}))",
        ] {
            look(form.replace('A', one));
        }
    }
    assert!(seen.is_empty(), "{}:\n{}", seen.len(), seen.join("\n"));
}

#[test]
fn deep_nesting_is_an_error_and_not_the_end() {
    let deep = 5_000;
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a=", "1", "}"),
        ("-", "1", ""),
        ("upper(", "\"a\"", ")"),
        ("\"${", "1", "}\""),
        ("true ? 1 : ", "2", ""),
        ("[for x in ", "[]", ": x]"),
        ("1 + ", "1", ""),
        ("o", "", "[*]"),
        ("o", "", ".a"),
        ("o", "", "[0]"),
        ("\"%{ if true }", "a", "%{ endif }\""),
        ("try(", "1", ")"),
        ("upper(\"x${", "1", "}\")"),
        ("[for x in [1] : x + [", "1", "][0]]"),
        ("{a = [(", "1", ")]}"),
    ] {
        for depth in [60, 90, 190, deep] {
            let text =
                format!("{}{inner}{}", open.repeat(if inner.is_empty() { 1 } else { depth }), close.repeat(depth));
            value_of(&text);
        }
    }
    let (value, diagnostics) = value_of(&format!("1{}", " + 1".repeat(700)));
    assert_eq!(value.as_number().and_then(groma_value::Number::to_i64), Some(701), "{diagnostics:?}");
}
