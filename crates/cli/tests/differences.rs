//! Differences of objects, as Terraform shows them for the same plans (recorded from configurations of our own).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod plan_json;

use groma_cli::terminal::Palette;
use groma_cli::views::difference::{Manner, Paths, Relevance, Writer, compare_objects};
use groma_provider::Block;
use serde_json::{Value as Json, json};

fn terraform_data() -> Block {
    let attribute = |ty: &str, flags: &[&str]| {
        let mut json = json!({ "type": ty });
        flags.iter().for_each(|flag| json[*flag] = true.into());
        json
    };
    plan_json::block(&json!({ "attributes": {
        "id": attribute("string", &["computed"]),
        "input": attribute("dynamic", &["optional"]),
        "output": attribute("dynamic", &["computed"]),
        "triggers_replace": attribute("dynamic", &["optional"]),
    }}))
}

/// Every changed object of the plan must read like its part of the text.
fn check(name: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded");
    let read = |file: &str| std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
    let plan: Json = serde_json::from_str(&read(&format!("{name}.plan.json"))).unwrap();
    let text = read(&format!("{name}.txt"));
    let zoo = plan_json::block(&serde_json::from_str::<Json>(&read("zoo_thing.schema.json")).unwrap()["block"]);
    let data = terraform_data();
    let mut checked = 0;
    for resource in plan["resource_changes"].as_array().unwrap() {
        let change = &resource["change"];
        if change["actions"] == json!(["no-op"]) {
            continue;
        }
        let block = if resource["type"] == "zoo_thing" { &zoo } else { &data };
        let ty = block.implied_type();
        let before = plan_json::value(&change["before"], &Json::Null, &change["before_sensitive"], ty);
        let after = plan_json::value(&change["after"], &change["after_unknown"], &change["after_sensitive"], ty);
        let replace = plan_json::paths(&change["replace_paths"]);
        let paths = Paths::new(replace.iter().map(|path| path.steps()));
        let difference = compare_objects(block, &before, &after, paths, Relevance::All);
        let mut out = String::new();
        Writer::new(Palette::Plain, &mut out).difference(&difference, 0, Manner::default());
        let address = resource["address"].as_str().unwrap();
        let at = text.find(&format!("  # {address} ")).unwrap();
        let section = &text[at..];
        let from = section.find(" {\n").map(|at| at + 1).unwrap();
        let to = section.find("\n    }\n").map(|at| at + 6).unwrap();
        assert!(section[from..to] == *out, "{name}: {address}\n--- expected\n{}\n--- got\n{out}", &section[from..to]);
        checked += 1;
    }
    assert!(checked > 1, "{name} has no changes");
}

#[test]
fn values_without_a_type_are_compared_by_what_they_are() {
    check("dynamic_values");
}

#[test]
fn lists_without_a_type_are_aligned_as_people_know_it() {
    check("dynamic_lists");
}

#[test]
fn typed_attributes_nested_attributes_and_blocks() {
    check("schema_updates");
}

#[test]
fn unknown_parts_and_new_secrecy() {
    check("schema_unknowns");
}

#[test]
fn removed_arguments_and_empty_collections() {
    check("schema_removals");
}

#[test]
fn a_write_only_attribute_comes_and_goes_with_its_object_and_is_no_change_otherwise() {
    let block = plan_json::block(&json!({ "attributes": {
        "name": { "type": "string", "required": true },
        "password": { "type": "string", "optional": true, "write_only": true },
    }}));
    let object =
        |name: &str| plan_json::value(&json!({ "name": name }), &Json::Null, &Json::Null, block.implied_type());
    let none = groma_value::Value::null(block.implied_type().clone());
    let shown = |before: &groma_value::Value, after: &groma_value::Value, replace: &[groma_value::Path]| {
        let paths = Paths::new(replace.iter().map(|path| path.steps()));
        let difference = compare_objects(&block, before, after, paths, Relevance::All);
        let mut out = String::new();
        Writer::new(Palette::Plain, &mut out).difference(&difference, 0, Manner::default());
        out.lines().map(str::trim).filter(|line| line.contains("password") || line.starts_with('#')).collect::<String>()
    };
    assert_eq!(shown(&none, &object("a"), &[]), "+ password = (write-only attribute)");
    assert_eq!(shown(&object("a"), &none, &[]), "- password = (write-only attribute) -> null");
    assert_eq!(shown(&object("a"), &object("b"), &[]), "# (1 unchanged attribute hidden)");
    let password = groma_value::Path::root().attribute("password");
    let replaced = shown(&object("a"), &object("b"), &[password]);
    assert_eq!(replaced, "~ password = (write-only attribute) # forces replacement");
}
