//! What the diagnostics of an evaluation say and where they point.

#![allow(clippy::unwrap_used, reason = "tests end where something is missing")]

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Sources};
use groma_hcl::Traversal;
use groma_lang::{FunctionContext, Resolved, Scope, evaluate, parse_reference, references};
use groma_value::{Marks, Type, Value};

struct Names {
    functions: FunctionContext,
}

impl Scope for Names {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let variables = Value::object([
            ("name", Value::string("web\n")),
            ("secret", Value::string("s3cr3t").with_marks(&Marks::SENSITIVE)),
            ("later", Value::unknown(Type::String)),
            ("numbers", Value::list(Type::Number, vec![Value::number(1_i64), Value::number(2_i64)])),
            ("object", Value::object([("port", Value::number(80_i64))])),
            ("nothing", Value::null(Type::String)),
        ]);
        match &*traversal.root.name {
            "var" => Ok(Resolved { value: variables, consumed: 0 }),
            other => Err(Diagnostic::error("Unknown", other)),
        }
    }

    fn functions(&self) -> &FunctionContext {
        &self.functions
    }
}

/// The only diagnostic of an expression: summary, text of the subject, observations.
fn problem(text: &str) -> (String, String, Vec<String>) {
    let sources = Arc::new(Sources::new());
    let file = sources.add("main.tf", text).unwrap();
    let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
    let scope = Names { functions: FunctionContext::new(".", Arc::clone(&sources)) };
    evaluate(&expression, &scope, &mut diagnostics);
    let mut all = diagnostics.into_iter();
    let (first, None) = (all.next().unwrap(), all.next()) else { panic!("several diagnostics for {text}") };
    let observed = first.observed().iter().map(|seen| format!("{} {}", seen.expression, seen.statement)).collect();
    (first.summary, sources.text(first.subject.unwrap()).unwrap(), observed)
}

#[test]
fn subjects_are_the_part_at_fault() {
    for (text, summary, subject) in [
        ("1 + var.object", "Invalid operand", "var.object"),
        ("var.object.prot", "Unsupported attribute", ".prot"),
        ("var.numbers[5]", "Invalid index", "[5]"),
        ("var.numbers[length(var.name)]", "Invalid index", "[length(var.name)]"),
        ("upper(\"a\", \"b\")", "Too many function arguments", "b"),
        ("abs(\"x y\")", "Invalid function argument", "x y"),
        ("abs(\"x ${var.name}\")", "Invalid function argument", "x "),
        ("abs(\"${[1]}\")", "Invalid function argument", "\"${[1]}\""),
        ("upper()", "Not enough function arguments", ")"),
        ("uper(\"a\")", "Call to unknown function", "uper"),
        ("upper([var.name])", "Invalid function argument", "["),
        ("\"a ${var.object} b\"", "Invalid template interpolation value", "var.object"),
        ("true ? 1 : var.object", "Inconsistent conditional result types", "1 : var.object"),
        ("var.nothing ? 1 : 2", "Null condition", "var.nothing"),
        ("[for x in var.name : x]", "Iteration over non-iterable value", "var.name"),
        ("{for x in [1, 1] : x => x}", "Duplicate object key", "x"),
        ("chunklist([1], -1)", "Error in function call", "chunklist("),
    ] {
        let (got, at, _) = problem(text);
        assert_eq!((got.as_str(), at.as_str()), (summary, subject), "{text}");
    }
}

/// Of an argument that is made of others Terraform points at the beginning.
#[test]
fn a_wrong_argument_is_pointed_at_where_it_begins() {
    for (argument, begins) in [
        ("{ a = 1 }", "{"),
        ("[for x in [1] : x]", "["),
        ("var.numbers[*]", "[*]"),
        ("var.numbers.*", ".*"),
        ("var.numbers", "var.numbers"),
        ("[[1]][1 - 1]", "["),
        ("tolist([1])", "tolist("),
        ("var.name == \"a\" ? [1] : [2]", "var.name"),
        ("(([]))", "["),
        ("!(true)", "!"),
        ("\"\"", ""),
        ("\"${var.name}${1}\"", "var.name"),
        ("\"%{ if true }a%{ endif }\"", "true"),
        ("\"%{ for x in [1] }a%{ endfor }\"", "%{ for x in [1] }"),
        ("<<-EOT\n    a\n     b\n  EOT\n", "a\n     b\n"),
        ("<<EOT\na${1}\nEOT\n", "a"),
        ("[\"a\"]...", "[\"a\"]"),
    ] {
        let text = format!("abs({argument})");
        let (got, at, _) = problem(&text);
        assert_eq!((got.as_str(), at.as_str()), ("Invalid function argument", begins), "{text}");
    }
}

#[test]
fn the_values_that_took_part_are_shown() {
    assert_eq!(problem("1 + var.name").2, ["var.name is \"web\\n\""]);
    assert_eq!(problem("1 + var.numbers").2, ["var.numbers is list of number with 2 elements"]);
    assert_eq!(problem("upper(var.object)").2, ["var.object is object with 1 attribute \"port\""]);
    assert_eq!(problem("upper([var.later])").2, ["var.later is a string, known only after apply"]);
    assert_eq!(problem("[for n in var.numbers : n.x if n == 2][0]").2, ["n is 2"]);
    assert_eq!(problem("upper(var.nothing)").2, ["var.nothing is null"]);
}

#[test]
fn sensitive_values_are_words() {
    let (_, _, observed) = problem("1 + var.secret");
    assert_eq!(observed, ["var.secret has a sensitive value"]);
    let sources = Arc::new(Sources::new());
    for text in [
        "tonumber(var.secret)",
        "file(var.secret)",
        "parseint(var.secret, 10)",
        "base64decode(var.secret)",
        "{for x in [1, 2] : var.secret => x}",
        "lookup({}, var.secret)",
        "regex(\"(\", var.secret)",
        "fileset(var.secret, \"[\")",
        "templatestring(var.secret, {})[0]",
        "formatdate(\"YYYY\", var.secret)",
        "cidrhost(var.secret, 1)",
        "jsondecode(var.secret)",
        "yamldecode(\"a: ${var.secret}: b\")",
        "uuidv5(var.secret, \"a\")",
        "timeadd(var.secret, \"1h\")",
        "format(var.secret, 1)",
        "{a = 1}[var.secret]",
        "csvdecode(\"${var.secret},${var.secret}\")",
        "textencodebase64(\"a\", var.secret)",
        "cidrcontains(\"10.0.0.0/8\", var.secret)",
    ] {
        let file = sources.add("main.tf", text).unwrap();
        let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
        evaluate(&expression, &Names { functions: FunctionContext::new(".", Arc::clone(&sources)) }, &mut diagnostics);
        assert!(diagnostics.has_errors(), "{text}");
        assert!(!format!("{diagnostics:?}").contains("s3cr3t"), "{text}: {diagnostics:?}");
    }
}

#[test]
fn names_that_are_nearly_right_are_suggested() {
    let sources = Arc::new(Sources::new());
    for (text, wanted) in [("uper(\"a\")", "\"upper\""), ("var.object.prot", "\"port\"")] {
        let file = sources.add("main.tf", text).unwrap();
        let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
        evaluate(&expression, &Names { functions: FunctionContext::new(".", Arc::clone(&sources)) }, &mut diagnostics);
        assert!(diagnostics.iter().any(|problem| problem.detail.contains(wanted)), "{diagnostics:?}");
    }
}

#[test]
fn references_are_found_with_their_keys() {
    let sources = Sources::new();
    let file = sources
        .add(
            "main.tf",
            "[for v in var.a : v.x + local.b[0] + each.key if aws_x.y[\"k\"].z[1] == data.d.e.f] == {(module.m[2].o) = \
             ephemeral.p.q, r = resource.var.s[*].t, c = convert(path.module, list(string)), u = w.x[count.index].y}",
        )
        .unwrap();
    let (found, problems) = references(&groma_hcl::parse_expression(&file).0);
    assert!(problems.is_empty(), "{problems:?}");
    let shown: Vec<String> = found
        .iter()
        .map(|found| {
            let key = found.key.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{}{key} +{}", found.target, found.rest.len())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "var.a +0",
            "local.b +1",
            "each.key +0",
            "aws_x.y[\"k\"] +2",
            "data.d.e +1",
            "module.m[2] +1",
            "ephemeral.p.q +0",
            "var.s +0",
            "path.module +0",
            "w.x +0",
            "count.index +0"
        ]
    );
}

#[test]
fn references_that_are_none_are_errors() {
    for (text, summary, subject) in [
        ("aws_instance", "Invalid reference", "aws_instance"),
        ("var", "Invalid reference", "var"),
        ("var[0]", "Invalid reference", "[0]"),
        ("data.x", "Invalid reference", "data.x"),
        ("ephemeral.x", "Invalid reference", "ephemeral.x"),
        ("resource", "Invalid reference", "resource"),
        ("data.x[0]", "Invalid reference", "[0]"),
        ("a[0]", "Invalid reference", "[0]"),
        ("module.a[0][1]", "Invalid reference", "[1]"),
        ("a.b[1.5]", "Invalid index key", "[1.5]"),
        ("lazy.x", "Reserved symbol name", "lazy"),
    ] {
        let sources = Sources::new();
        let file = sources.add("main.tf", text).unwrap();
        let traversal = groma_hcl::parse_expression(&file).0.as_traversal().unwrap();
        let problem = parse_reference(&traversal).unwrap_err();
        let at = sources.text(problem.subject.unwrap()).unwrap();
        assert_eq!((problem.summary.as_str(), at.as_str()), (summary, subject), "{text}");
    }
}
