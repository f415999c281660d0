//! Values of root variables from all sources.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use groma_config::variables::{VariableOption, VariableSources, collect, missing};
use groma_config::{LoadOptions, load};
use groma_diagnostics::Sources;
use groma_value::Value;

/// Returns the accepted values of the variables in `text`, and the printed diagnostics.
fn resolve(text: &str, environment: &[(&str, &str)], options: &[VariableOption]) -> (Vec<(String, Value)>, String) {
    let sources = Sources::new();
    let files = support::files(text);
    let (configuration, mut diagnostics) = load(&LoadOptions::default(), &sources, &files);
    let root = configuration.unwrap().root;
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let given = VariableSources { environment, options: options.to_vec() };
    let (values, problems) = collect(&root.variables, &given, &sources, &files);
    diagnostics.append(problems);
    let mut accepted = Vec::new();
    for (name, variable) in &root.variables {
        let value = match values.get(name) {
            Some(given) => variable
                .accept(&given.value)
                .map_err(|problem| problem.diagnose(variable, given.span, Some(&given.origin))),
            None => variable.default_value().ok_or_else(|| missing(variable)),
        };
        match value {
            Ok(value) => accepted.push((name.to_string(), value)),
            Err(problem) => diagnostics.push(problem),
        }
    }
    (accepted, support::print(&diagnostics, &sources))
}

fn var(text: &str) -> VariableOption {
    VariableOption::Assignment(text.to_owned())
}

fn var_file(path: &str) -> VariableOption {
    VariableOption::File(path.into())
}

const DECLARATION: &str = "variable \"x\" {\n  default = \"default\"\n}\n";

/// Variables files in increasing precedence; the last is loaded only with `-var-file`.
const SOURCES: [(&str, &str); 6] = [
    ("terraform.tfvars", "x = \"terraform.tfvars\""),
    ("terraform.tfvars.json", r#"{ "x": "terraform.tfvars.json" }"#),
    (".hidden.auto.tfvars", "x = \"hidden\""),
    ("a.auto.tfvars", "x = \"a.auto\""),
    ("b.auto.tfvars.json", r#"{ "x": "b.auto ${not_a_template}" }"#),
    ("named.tfvars", "x = \"named\""),
];

/// Returns the declaration of `x` with the first `count` files and the last.
fn with_files(count: usize) -> String {
    let (named, automatic) = SOURCES.split_last().unwrap();
    let files = automatic.iter().take(count).chain([named]);
    let files: Vec<String> = files.map(|(path, content)| format!("-- {path} --\n{content}\n")).collect();
    format!("{DECLARATION}{}", files.concat())
}

#[test]
fn later_sources_override_earlier_ones() {
    let value = |files: usize, environment: &[(&str, &str)], options: &[VariableOption]| {
        let (values, problems) = resolve(&with_files(files), environment, options);
        assert_eq!(problems, "");
        values[0].1.as_str().unwrap().to_string()
    };
    let environment = [("x", "environment")];
    assert_eq!(value(0, &[], &[]), "default");
    assert_eq!(value(0, &environment, &[]), "environment");
    assert_eq!(value(1, &environment, &[]), "terraform.tfvars");
    assert_eq!(value(2, &environment, &[]), "terraform.tfvars.json");
    assert_eq!(value(3, &environment, &[]), "hidden");
    assert_eq!(value(4, &environment, &[]), "a.auto");
    assert_eq!(value(5, &environment, &[]), "b.auto ${not_a_template}");
    assert_eq!(value(5, &environment, &[var("x=first"), var_file("named.tfvars")]), "named");
    assert_eq!(value(5, &environment, &[var_file("named.tfvars"), var("x=a=b")]), "a=b");
}

#[test]
fn variable_block_in_tfvars_file_has_its_own_error() {
    let text = format!("{DECLARATION}-- terraform.tfvars --\nvariable \"x\" {{\n  default = 1\n}}\n");
    let (_, problems) = resolve(&text, &[], &[]);
    assert!(problems.contains("Variable declaration in .tfvars file"), "{problems}");
}

#[test]
fn duplicate_json_keys_are_errors() {
    let (_, problems) =
        resolve(&format!("{DECLARATION}-- terraform.tfvars.json --\n{{\"x\": {{\"k\": 1, \"k\": 2}}}}\n"), &[], &[]);
    assert!(problems.contains("Duplicate object attribute"), "{problems}");
}

#[test]
fn text_is_a_string_or_an_expression_depending_on_the_type() {
    let text = "variable \"untyped\" {}\nvariable \"number\" {\n  type = number\n}\nvariable \"list\" {\n  type = list(string)\n}\nvariable \"any\" {\n  type = any\n}\n";
    let given = [("untyped", "[1]"), ("number", "5"), ("list", "[\"a\"]"), ("any", "{ a = 1 }")];
    let (values, problems) = resolve(text, &given, &[]);
    assert_eq!(problems, "");
    let values: Vec<Value> = values.into_iter().map(|(_, value)| value).collect();
    assert_eq!(values[0], Value::string("[1]"));
    assert_eq!(values[1], Value::number(5));
    assert_eq!(values[2], Value::list(groma_value::Type::String, vec![Value::string("a")]));
    assert_eq!(values[3], Value::object([("a", Value::number(1))]));
}

#[test]
fn space_after_equals_sign_belongs_to_the_value() {
    let declaration = format!("{DECLARATION}variable \"list\" {{\n  type = list(string)\n}}\n");
    let (values, problems) = resolve(&declaration, &[], &[var("x= spaced"), var("list= [\"a\"]")]);
    assert_eq!(problems, "");
    let value = |name: &str| values.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone()).unwrap();
    assert_eq!(value("x").as_str().map(|text| text.to_string()).as_deref(), Some(" spaced"));
    assert_eq!(value("list"), Value::list(groma_value::Type::String, vec![Value::string("a")]));
    let (_, problems) = resolve(DECLARATION, &[], &[var("x =spaced")]);
    assert!(problems.contains("Invalid -var option"), "{problems}");
}

#[test]
fn json_var_file_is_detected_by_content() {
    let files = |name: &str, content: &str| format!("{DECLARATION}-- {name} --\n{content}\n");
    let (values, problems) = resolve(&files("63", " { \"x\": \"json\" }"), &[], &[var_file("63")]);
    assert_eq!(problems, "");
    assert_eq!(values[0].1, Value::string("json"));
    let (_, problems) = resolve(&files("63", "{ \"x\": }"), &[], &[var_file("63")]);
    assert!(problems.contains("Missing JSON value"), "{problems}");
    let (_, problems) = resolve(&files("terraform.tfvars", "{ \"x\": \"json\" }"), &[], &[]);
    assert!(problems.contains("Argument or block definition required"), "{problems}");
}

#[test]
fn null_means_the_default_where_null_is_not_allowed() {
    let text = "variable \"a\" {\n  default  = 1\n  nullable = false\n}\nvariable \"b\" {\n  default = 1\n}\n-- terraform.tfvars --\na = null\nb = null\n";
    let (values, problems) = resolve(text, &[], &[]);
    assert_eq!(problems, "");
    assert_eq!(values[0].1, Value::number(1));
    assert!(values[1].1.is_null());
}

#[test]
fn values_carry_the_marks_of_their_variable() {
    let text = "variable \"a\" {\n  sensitive = true\n  ephemeral = true\n}\n";
    let (values, _) = resolve(text, &[("a", "x")], &[]);
    assert!(values[0].1.marks().is_sensitive() && values[0].1.marks().is_ephemeral());
}

#[test]
fn undeclared_values_are_warnings_in_files_and_errors_on_the_command_line() {
    let text = "locals {}\n-- terraform.tfvars --\none = 1\ntwo = 2\nthree = 3\nfour = 4\n";
    let (_, problems) = resolve(text, &[("silent", "x")], &[var("five=5"), var("six"), var("seven = 7")]);
    insta::assert_snapshot!(problems);
}

#[test]
fn problems_of_overridden_values_are_dropped() {
    let text = "variable \"x\" {\n  type = list(string)\n}\n-- terraform.tfvars --\nx = upper(\"a\")\nother = y.z\n";
    let good = || var("x=[\"a\"]");
    let (values, problems) = resolve(text, &[("x", "[")], &[var("x=[1,"), good()]);
    assert_eq!(values[0].1, Value::list(groma_value::Type::String, vec![Value::string("a")]));
    assert!(problems.contains("Value for undeclared variable") && !problems.contains("Error"), "{problems}");
    let (_, problems) = resolve(text, &[], &[good(), var("x=[1,")]);
    assert!(problems.contains("<value for var.x>"), "{problems}");
}

#[test]
fn unsuitable_values_are_reported_at_their_source() {
    let text = r#"
variable "required" {}
variable "never_null" {
  type     = string
  nullable = false
}
variable "object" {
  type = object({ a = string, b = list(object({ c = number })) })
}
variable "secret" {
  type      = number
  sensitive = true
}
variable "number" {
  type = number
}
variable "any" {
  type = any
}
variable "secret_list" {
  type      = list(string)
  sensitive = true
}
-- terraform.tfvars --
object     = { a = "x", b = [{ c = "q" }] }
never_null = null
secret     = "hush"
-- broken.tfvars --
any = {
-- blocks.tfvars --
block {}
any = upper("x")
"#;
    let options = [
        var("number=abc"),
        var("any=[1,"),
        var("secret_list=[hush"),
        var_file("missing.tfvars"),
        var_file("broken.tfvars"),
        var_file("blocks.tfvars"),
    ];
    let (_, problems) = resolve(text, &[("any", "reference")], &options);
    assert!(!problems.contains("hush"), "sensitive values are not shown");
    insta::assert_snapshot!(problems);
}
