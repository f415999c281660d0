//! Provider blocks with `for_each`, and the keys that select their instances.

#![allow(clippy::unwrap_used, reason = "tests")]

use groma_config::{LoadOptions, MemoryFiles, load};
use groma_diagnostics::Sources;

const PROVIDER: &str =
    "provider \"x\" {\n  alias = \"by\"\n  for_each = toset([\"a\", \"b\"])\n  region = \"r-${each.key}\"\n}\n";

const WARNING: &str = "Provider configuration for_each matches ";

/// Loads a root module and the module in `m`; returns file, line and summary of each diagnostic.
fn diagnostics_of(main: &str, module: &str) -> Vec<String> {
    let required = "terraform {\n  required_providers {\n    x = {\n      source = \"a/x\"\n    }\n  }\n}\n";
    let files = MemoryFiles::new()
        .with("main.tf", format!("{main}{required}").into_bytes())
        .with("m/m.tf", module.as_bytes().to_vec());
    let sources = Sources::new();
    let (_, diagnostics) = load(&LoadOptions::default(), &sources, &files);
    let one = |problem: &groma_diagnostics::Diagnostic| {
        let location = sources.locate(problem.subject.unwrap()).unwrap();
        format!("{}:{} {}", location.file.name(), location.start.line, problem.summary)
    };
    diagnostics.iter().map(one).collect()
}

fn with_provider(rest: &str) -> Vec<String> {
    diagnostics_of(&format!("{PROVIDER}{rest}"), "")
}

#[test]
fn provider_for_each_and_instance_keys() {
    let nothing: [&str; 0] = [];
    assert_eq!(
        with_provider("resource \"x_y\" \"z\" {\n  for_each = { one = \"a\" }\n  provider = x.by[each.value]\n}\n"),
        nothing
    );
    assert_eq!(with_provider("data \"x_y\" \"z\" {\n  provider = x.by[\"a\"]\n}\n"), nothing);
    let without = "provider \"x\" {\n  alias = \"by\"\n  region = each.key\n}\n";
    assert_eq!(diagnostics_of(without, ""), ["main.tf:3 Reference to \"each\" in context without for_each"]);
    let other = "resource \"x_y\" \"z\" {\n  provider = x.by[each.key]\n}\n";
    assert_eq!(with_provider(other), ["main.tf:7 Reference to \"each\" in context without for_each"]);
    let no_alias = "provider \"x\" {\n  for_each = toset([\"a\"])\n}\n";
    assert_eq!(diagnostics_of(no_alias, ""), ["main.tf:2 Alias required when using \"for_each\""]);
}

#[test]
fn instance_keys_in_json_strings() {
    let text = |key: &str| {
        format!(
            r#"{{"terraform":{{"required_providers":{{"x":{{"source":"a/x"}}}}}},
            "provider":{{"x":{{"alias":"by","for_each":"${{toset([\"a\"])}}","region":"${{each.key}}"}}}},
            "resource":{{"x_y":{{"z":{{"for_each":{{"one":"a"}},"provider":"x.by[{key}]"}}}}}}}}"#
        )
    };
    let summaries = |key: &str| {
        let files = MemoryFiles::new().with("main.tf.json", text(key).into_bytes());
        let (_, diagnostics) = load(&LoadOptions::default(), &Sources::new(), &files);
        diagnostics.into_iter().map(|problem| problem.summary).collect::<Vec<_>>()
    };
    let nothing: [&str; 0] = [];
    assert_eq!(summaries("each.value"), nothing);
    assert_eq!(summaries(r#"\"a\""#), nothing);
    assert_eq!(summaries("local.nope"), ["Reference to undeclared local value"]);
    assert_eq!(summaries("each.value].z[0"), ["Invalid provider configuration reference"]);
}

#[test]
fn missing_and_unexpected_instance_keys() {
    let resource = "Invalid resource provider configuration";
    assert_eq!(with_provider("resource \"x_y\" \"z\" {\n  provider = x.by\n}\n"), [format!("main.tf:7 {resource}")]);
    assert_eq!(with_provider("action \"x_y\" \"z\" {\n  provider = x.by\n}\n"), [format!("main.tf:7 {resource}")]);
    let import = "resource \"x_y\" \"z\" {\n  provider = x.by[\"a\"]\n}\nimport {\n  to = x_y.w\n  id = \"i\"\n  provider = x.by\n}\n";
    assert_eq!(with_provider(import), [format!("main.tf:12 {resource}")]);
    let single = "provider \"x\" {\n  alias = \"one\"\n}\nresource \"x_y\" \"z\" {\n  provider = x.one[\"a\"]\n}\n";
    assert_eq!(diagnostics_of(single, ""), [format!("main.tf:5 {resource}")]);
}

#[test]
fn modules_receive_a_single_instance() {
    let module = "Invalid module provider configuration";
    let inner = "terraform {\n  required_providers {\n    x = {\n      source = \"a/x\"\n      configuration_aliases = [x.in]\n    }\n  }\n}\n";
    let call = |given: &str| {
        format!("{PROVIDER}module \"m\" {{\n  source = \"./m\"\n  providers = {{ x.in = {given} }}\n}}\n")
    };
    let nothing: [&str; 0] = [];
    assert_eq!(diagnostics_of(&call("x.by[\"a\"]"), inner), nothing);
    assert_eq!(diagnostics_of(&call("x.by"), inner), [format!("main.tf:8 {module}")]);
    // The passed configuration is a single one for the module.
    let user = format!("{inner}resource \"x_y\" \"z\" {{\n  provider = x.in[\"a\"]\n}}\n");
    assert_eq!(diagnostics_of(&call("x.by[\"a\"]"), &user), ["m/m.tf:10 Invalid resource provider configuration"]);
}

#[test]
fn for_each_must_be_known_before_planning() {
    let block = |for_each: &str| {
        format!("provider \"x\" {{\n  alias = \"by\"\n  for_each = {for_each}\n}}\nresource \"x_y\" \"z\" {{}}\n")
    };
    let late = "Dynamic value in static context";
    let nothing: [&str; 0] = [];
    assert_eq!(diagnostics_of(&block("toset([x_y.z.id])"), ""), [format!("main.tf:3 {late}")]);
    assert_eq!(diagnostics_of(&block("{ a = data.x_y.z.id }"), "").last().unwrap(), &format!("main.tf:3 {late}"));
    let indirect = format!("{}locals {{\n  k = local.l\n  l = [x_y.z.id]\n}}\n", block("toset(local.k)"));
    assert_eq!(diagnostics_of(&indirect, ""), [format!("main.tf:3 {late}")]);
    let moment = format!("{}locals {{\n  k = [plantimestamp()]\n}}\n", block("toset(local.k)"));
    assert_eq!(diagnostics_of(&moment, ""), ["main.tf:3 Invalid for_each argument"]);
    assert_eq!(diagnostics_of(&block("toset([upper(plantimestamp())])"), ""), ["main.tf:3 Invalid for_each argument"]);
    let fine =
        format!("{}locals {{\n  k = [var.v, terraform.workspace]\n}}\nvariable \"v\" {{}}\n", block("toset(local.k)"));
    assert_eq!(diagnostics_of(&fine, ""), nothing);

    // An argument of the module call is unknown, too, if the module uses it in for_each.
    let call = "resource \"x_y\" \"z\" {}\nmodule \"m\" {\n  source = \"./m\"\n  keys = [x_y.z.id]\n}\n";
    let inner = "variable \"keys\" {}\nprovider \"x\" {\n  alias = \"by\"\n  for_each = toset(var.keys)\n}\n";
    let inner =
        format!("{inner}terraform {{\n  required_providers {{\n    x = {{\n      source = \"a/x\"\n    }}\n  }}\n}}\n");
    assert_eq!(
        diagnostics_of(call, &inner),
        ["m/m.tf:2 Redundant empty provider block".to_owned(), format!("m/m.tf:4 {late}")]
    );
}

#[test]
fn shared_for_each_of_provider_and_resource_is_a_warning() {
    let text = |elements: &str, own: &str, key: &str| {
        format!(
            "locals {{\n  k = toset([\"a\"])\n}}\nprovider \"x\" {{\n  alias = \"by\"\n  for_each = {elements}\n}}\nresource \"x_y\" \"z\" \
             {{\n  for_each = {own}\n  provider = x.by[{key}]\n}}\n"
        )
    };
    let warning = [format!("main.tf:9 {WARNING}resource")];
    let nothing: [&str; 0] = [];
    assert_eq!(diagnostics_of(&text("local.k", "local.k", "each.key"), ""), warning);
    assert_eq!(diagnostics_of(&text("local.k", "(local.k)", "\"a\""), ""), warning);
    assert_eq!(
        diagnostics_of(&text("setunion(local.k, [\"b\"])", "setunion(local.k,[\"b\"])", "each.key"), ""),
        warning
    );
    assert_eq!(diagnostics_of(&text("local.k", "toset(local.k)", "each.key"), ""), nothing);
    // Constants do not change together, so they cause no warning.
    assert_eq!(diagnostics_of(&text("toset([\"a\"])", "toset([\"a\"])", "each.key"), ""), nothing);
    let data = text("local.k", "local.k", "each.key").replace("resource \"x_y\"", "data \"x_y\"");
    assert_eq!(diagnostics_of(&data, ""), nothing);

    let call = "locals {\n  k = toset([\"a\"])\n}\nprovider \"x\" {\n  alias = \"by\"\n  for_each = local.k\n}\nmodule \"m\" {\n  source = \
                \"./m\"\n  for_each = local.k\n  providers = { x = x.by[each.key] }\n}\n";
    let inner = "terraform {\n  required_providers {\n    x = {\n      source = \"a/x\"\n    }\n  }\n}\n";
    assert_eq!(diagnostics_of(call, inner), [format!("main.tf:10 {WARNING}module")]);
}
