//! `provider::terraform::encode_expr`, `encode_tfvars` and `decode_tfvars`, alone and compared with Terraform.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_builtin::Terraform;
use groma_diagnostics::{Diagnostics, Sources};
use groma_lang::{EmptyScope, FunctionContext};
use groma_provider::{Checked, LocalFunctions};
use groma_value::{Value, json};

/// Evaluates an expression that may call the functions; returns the value and the error details.
fn evaluate(text: &str) -> (Value, Vec<String>) {
    let (value, diagnostics) = evaluated(text);
    (value, diagnostics.iter().map(|found| found.detail.clone()).collect())
}

fn evaluated(text: &str) -> (Value, Diagnostics) {
    let sources = Arc::new(Sources::new());
    let checked = Arc::new(Checked::new(Arc::new(Terraform::default()), ProviderAddress::builtin_terraform()));
    let mut context = FunctionContext::new("", Arc::clone(&sources));
    context.provider_functions = Some(Arc::new(LocalFunctions::new([("terraform".into(), checked)])));
    let file = sources.add("expression", text).unwrap();
    let (expression, problems) = groma_hcl::parse_expression(&file);
    assert!(problems.is_empty(), "{problems:?}");
    let mut diagnostics = Diagnostics::new();
    let value = groma_lang::evaluate(&expression, &EmptyScope::new(context), &mut diagnostics);
    (value, diagnostics)
}

#[test]
fn invalid_arguments_are_errors_of_the_call() {
    for call in [
        "encode_tfvars([1])",
        "encode_tfvars({ \"a b\" = 1 })",
        "decode_tfvars(\"a = \")",
        "decode_tfvars(\"b {}\")",
        "decode_tfvars(\"a = b\")",
    ] {
        let (_, diagnostics) = evaluated(&format!("provider::terraform::{call}"));
        let summaries: Vec<&str> = diagnostics.iter().map(|problem| &*problem.summary).collect();
        assert_eq!(summaries, ["Error in function call"], "{call}");
    }
}

fn call(function: &str, argument: &str) -> (Value, Vec<String>) {
    evaluate(&format!("provider::terraform::{function}({argument})"))
}

fn text(function: &str, argument: &str) -> String {
    let (value, problems) = call(function, argument);
    assert!(problems.is_empty(), "{problems:?}");
    value.as_str().unwrap().to_owned()
}

#[test]
fn values_are_encoded_as_expressions() {
    for (value, written) in [
        ("\"a\\nb\"", "\"a\\nb\""),
        ("1.5", "1.5"),
        ("true", "true"),
        ("[]", "[]"),
        ("{}", "{}"),
        ("[1, \"x\", null]", "[1, \"x\", null]"),
        // Sets have no syntax of their own: they become tuples in their order.
        ("toset([\"b\", \"a\"])", "[\"a\", \"b\"]"),
        ("{ a = 1, \"b c\" = [] }", "{\n  a     = 1\n  \"b c\" = []\n}"),
        // What looks like a template stays escaped, or decoding would evaluate it.
        ("\"$${x} %%{y} \\u0001\"", "\"$${x} %%{y} \\u0001\""),
    ] {
        assert_eq!(text("encode_expr", value), written, "{value}");
    }
}

#[test]
fn objects_are_encoded_as_variables() {
    assert_eq!(text("encode_tfvars", "{ a = 1, long = { b = \"x\" } }"), "a = 1\nlong = {\n  b = \"x\"\n}\n");
    assert_eq!(text("encode_tfvars", "tomap({ a = 1 })"), "a = 1\n");
    assert_eq!(text("encode_tfvars", "{}"), "");
    let (_, problems) = call("encode_tfvars", "{ \"a b\" = 1 }");
    assert!(problems[0].contains("\"a b\" is not a valid variable name"), "{problems:?}");
    let (_, problems) = call("encode_tfvars", "[1]");
    assert!(problems[0].contains("an object with a value for each variable is required"), "{problems:?}");
}

#[test]
fn variables_are_decoded() {
    let (value, problems) = call("decode_tfvars", "\"a = 1\\nb = [1, \\\"x\\\"]\\n# c\\n\"");
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(json::encode(&value).unwrap(), r#"{"a":1,"b":[1,"x"]}"#);
    for (argument, problem) in [
        ("\"a = \"", "invalid syntax"),
        // The position is that in the string, not in the configuration.
        ("\"a = 1\\na = 2\"", "invalid syntax: line 2, column 1"),
        ("\"b {}\"", "only variable assignments are allowed"),
        ("\"a = var.x\"", "value of \"a\" is not a constant"),
        ("\"a = upper(\\\"x\\\")\"", "value of \"a\" is not a constant"),
    ] {
        let (_, problems) = call("decode_tfvars", argument);
        assert!(problems[0].contains(problem), "{argument}: {problems:?}");
    }
}

#[test]
fn decoding_inverts_encoding() {
    let object = "{ a = [1, { b = \"x\\ny\" }], c = \"$${d}\", e = {}, f = -1.25 }";
    let (value, problems) = evaluate(&format!(
        "provider::terraform::decode_tfvars(provider::terraform::encode_tfvars({object})) == {object}"
    ));
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(value, Value::bool(true));
}

#[test]
fn sensitive_and_unknown_arguments_give_sensitive_and_unknown_results() {
    let (value, _) = call("encode_expr", "sensitive(\"x\")");
    assert!(value.marks().is_sensitive());
    // An unknown argument is not passed to the function, which could not encode it.
    let (value, _) = call("encode_expr", "timestamp()");
    assert!(!value.is_known());
}

fn ask(terraform: &Path, folder: &Path, expressions: &[&str]) -> Vec<String> {
    let outputs: String = expressions
        .iter()
        .enumerate()
        .map(|(at, text)| format!("output \"o{at:03}\" {{\n  value = {text}\n}}\n"))
        .collect();
    // Terraform finds functions of a provider only if the module declares it.
    let head = "terraform {\n  required_providers {\n    terraform = { source = \"terraform.io/builtin/terraform\" }\n  }\n}\n";
    std::fs::write(folder.join("main.tf"), format!("{head}{outputs}")).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(terraform)
            .args(arguments)
            .current_dir(folder)
            .env("CHECKPOINT_DISABLE", "1")
            .env_remove("TF_CLI_CONFIG_FILE")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    run(&["init"]);
    run(&["apply", "-auto-approve"]);
    let shown: serde_json::Value = serde_json::from_slice(&run(&["output", "-json"])).unwrap();
    (0..expressions.len()).map(|at| shown[format!("o{at:03}")]["value"].to_string()).collect()
}

#[test]
fn encoding_equals_terraform() {
    let Some(terraform) = std::env::var_os("GROMA_TERRAFORM").filter(|path| !path.is_empty()).map(PathBuf::from) else {
        eprintln!("skipped: no terraform");
        return;
    };
    // Escapes, non-ASCII keys, keywords as keys, nesting, extreme numbers: where the two encoders could differ.
    let values = [
        "{ b = [1, \"x\", null, true], abcdef = { c = \"a\\n$${x} %%{y} \\\"q\\\" \\\\ \\t é\", \"d e\" = 1.5, \"1x\" = [], \"for\" = 2 } }",
        "{ c = {}, n = null, set = toset([\"b\", \"a\"]), m = tomap({ z = 1 }), neg = -5, f = 1e40, h = \"multi\\nline\\n\" }",
        "{ \"a-b\" = 2, count = 3, \"for\" = \"x\", \"if\" = 1, \"null\" = 1, é = 1 }",
        "{ list = [for i in range(3) : { i = i }], deep = { a = { b = { c = [[], [[]], { d = 1 }] } } } }",
        "{ odd = \"é\\u0001\\u2028 $$ %% $ {\", small = 1e-7, big = 12345678901234567890123456789 }",
    ];
    let mut expressions = Vec::new();
    for value in values {
        expressions.push(format!("provider::terraform::encode_expr({value})"));
        expressions.push(format!("provider::terraform::encode_tfvars({value})"));
        expressions.push(format!("provider::terraform::decode_tfvars(provider::terraform::encode_tfvars({value}))"));
    }
    let expressions: Vec<&str> = expressions.iter().map(String::as_str).collect();
    let folder = tempfile::tempdir().unwrap();
    for (expression, theirs) in expressions.iter().zip(ask(&terraform, folder.path(), &expressions)) {
        let (ours, problems) = evaluate(expression);
        assert!(problems.is_empty(), "{expression}: {problems:?}");
        let ours: serde_json::Value = serde_json::from_str(&json::encode(&ours).unwrap()).unwrap();
        assert_eq!(ours.to_string(), theirs, "{expression}");
    }
}
