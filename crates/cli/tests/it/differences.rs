//! Differences of objects, compared with Terraform's recorded output for our own configurations.

use groma_cli::terminal::Palette;
use groma_cli::views::difference::{Paths, Relevance, RenderOptions, Writer, compare_objects};
use groma_provider::Block;
use serde_json::{Value as Json, json};

use crate::documents;

fn terraform_data() -> Block {
    let attribute = |ty: &str, flags: &[&str]| {
        let mut json = json!({ "type": ty });
        flags.iter().for_each(|flag| json[*flag] = true.into());
        json
    };
    documents::block(&json!({ "attributes": {
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
    let zoo = documents::block(&serde_json::from_str::<Json>(&read("zoo_thing.schema.json")).unwrap()["block"]);
    let data = terraform_data();
    let mut checked = 0;
    for resource in plan["resource_changes"].as_array().unwrap() {
        let change = &resource["change"];
        if change["actions"] == json!(["no-op"]) {
            continue;
        }
        let block = if resource["type"] == "zoo_thing" { &zoo } else { &data };
        let ty = block.implied_type();
        let before = documents::value(&change["before"], &Json::Null, &change["before_sensitive"], ty);
        let after = documents::value(&change["after"], &change["after_unknown"], &change["after_sensitive"], ty);
        let replace = documents::paths(&change["replace_paths"]);
        let paths = Paths::new(replace.iter().map(|path| path.steps()));
        let difference = compare_objects(block, &before, &after, paths, Relevance::All);
        let mut out = String::new();
        Writer::new(Palette::Plain, &mut out).difference(&difference, 0, RenderOptions::default());
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
fn untyped_values_are_compared_by_kind() {
    check("dynamic_values");
}

#[test]
fn untyped_lists_are_aligned_like_terraform() {
    check("dynamic_lists");
}

#[test]
fn typed_attributes_nested_attributes_and_blocks() {
    check("schema_updates");
}

#[test]
fn unknown_parts_and_new_sensitivity() {
    check("schema_unknowns");
}

#[test]
fn removed_arguments_and_empty_collections() {
    check("schema_removals");
}

#[test]
fn write_only_attribute_changes_only_with_its_object() {
    let block = documents::block(&json!({ "attributes": {
        "name": { "type": "string", "required": true },
        "password": { "type": "string", "optional": true, "write_only": true },
    }}));
    let object =
        |name: &str| documents::value(&json!({ "name": name }), &Json::Null, &Json::Null, block.implied_type());
    let none = groma_value::Value::null(block.implied_type().clone());
    let shown = |before: &groma_value::Value, after: &groma_value::Value, replace: &[groma_value::Path]| {
        let paths = Paths::new(replace.iter().map(|path| path.steps()));
        let difference = compare_objects(&block, before, after, paths, Relevance::All);
        let mut out = String::new();
        Writer::new(Palette::Plain, &mut out).difference(&difference, 0, RenderOptions::default());
        out.lines().map(str::trim).filter(|line| line.contains("password") || line.starts_with('#')).collect::<String>()
    };
    assert_eq!(shown(&none, &object("a"), &[]), "+ password = (write-only attribute)");
    assert_eq!(shown(&object("a"), &none, &[]), "- password = (write-only attribute) -> null");
    assert_eq!(shown(&object("a"), &object("b"), &[]), "# (1 unchanged attribute hidden)");
    let password = groma_value::Path::root().attribute("password");
    let replaced = shown(&object("a"), &object("b"), &[password]);
    assert_eq!(replaced, "~ password = (write-only attribute) # forces replacement");
}

/// A schema with texts everywhere, and with a nested attribute if `nested` has some.
fn texts(nested: &Json) -> Block {
    let mut attributes = json!({
        "name": { "type": "string", "required": true },
        "note": { "type": "string", "optional": true },
        "tags": { "type": ["map", "string"], "optional": true },
        "words": { "type": ["list", "string"], "optional": true },
    });
    let nested = nested.as_object().unwrap().clone();
    attributes.as_object_mut().unwrap().extend(nested);
    let bed = json!({ "nesting_mode": "list", "block": { "attributes": { "text": { "type": "string", "optional": true } } } });
    documents::block(&json!({ "attributes": attributes, "block_types": { "bed": bed } }))
}

fn written(block: &Block, before: &Json, after: &Json, unknown: &Json, replace: &[groma_value::Path]) -> String {
    let value = |json: &Json, unknown: &Json| documents::value(json, unknown, &Json::Null, block.implied_type());
    let paths = Paths::new(replace.iter().map(|path| path.steps()));
    let (before, after) = (value(before, &Json::Null), value(after, unknown));
    let mut out = String::new();
    Writer::new(Palette::Plain, &mut out).difference(
        &compare_objects(block, &before, &after, paths, Relevance::All),
        0,
        RenderOptions::default(),
    );
    let lines = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty() && line != "{" && line != "}").collect::<Vec<_>>().join("\n")
}

const EMPTY: fn() -> Json =
    || json!({ "name": "", "note": "", "tags": { "x": "" }, "words": ["", "a"], "bed": [{ "text": "" }] });

#[test]
fn empty_strings_are_null_for_legacy_providers() {
    let block = texts(&json!({}));
    let made = written(&block, &Json::Null, &EMPTY(), &Json::Null, &[]);
    let expected = "name = null\n+ tags = {\n+ \"x\" = null\n+ words = [\n+ null,\n+ \"a\",\n]\n\
                    # (1 unchanged attribute hidden)\n+ bed {\n# (1 unchanged attribute hidden)";
    assert_eq!(made, expected);
    let full = json!({ "name": "q", "note": "x", "tags": { "x": "1" }, "words": ["", "a"], "bed": [{ "text": "m" }] });
    let name = groma_value::Path::root().attribute("name");
    let filled = written(&block, &EMPTY(), &full, &Json::Null, std::slice::from_ref(&name));
    let expected = "+ name = \"q\" # forces replacement\n+ note = \"x\"\n~ tags = {\n~ \"x\" = null -> \"1\"\n\
                    # (1 unchanged attribute hidden)\n~ bed {\n+ text = \"m\"";
    assert_eq!(filled, expected);
}

#[test]
fn empty_strings_are_kept_if_nested_attributes_prove_a_modern_provider() {
    let spot = json!({ "spot": { "nested_type": {
        "nesting_mode": "single",
        "attributes": { "kind": { "type": "string", "optional": true } },
    }, "optional": true }});
    let block = texts(&spot);
    let mut empty = EMPTY();
    empty["spot"] = json!({ "kind": "" });
    let made = written(&block, &Json::Null, &empty, &Json::Null, &[]);
    // Elements of lists and the arguments of blocks lie out of reach.
    let expected = "+ name = \"\"\n+ note = \"\"\n+ spot = {\n+ kind = \"\"\n+ tags = {\n+ \"x\" = \"\"\n\
                    + words = [\n+ null,\n+ \"a\",\n]\n+ bed {\n# (1 unchanged attribute hidden)";
    assert_eq!(made, expected);
}

#[test]
fn replacement_by_unknown_value_is_remarked_once() {
    let block = texts(&json!({ "spot": { "nested_type": {
        "nesting_mode": "single",
        "attributes": { "kind": { "type": "string", "optional": true } },
    }, "optional": true }}));
    let before = json!({ "name": "a", "note": "", "tags": { "x": "" }, "words": ["", "a"], "bed": [], "spot": null });
    let after = json!({ "bed": [], "spot": null, "words": [null, "a"] });
    let unknown = json!({ "name": true, "note": true, "tags": true, "words": [true, false] });
    let replace = ["name", "tags"].map(|name| groma_value::Path::root().attribute(name));
    let expected = "~ name = \"a\" -> (known after apply) # forces replacement\n~ note = null -> (known after apply)\n\
                    ~ tags = {\n- \"x\" = null\n} -> (known after apply) # forces replacement\n\
                    # (1 unchanged attribute hidden)";
    assert_eq!(written(&block, &before, &after, &unknown, &replace), expected);
}

/// Whether the block of a resource, or the one in it, tells empty texts from null: `id` is empty in both.
fn tells_apart(block: &Json, of: &Json) -> bool {
    let block = documents::block(block);
    let lines = written(&block, &Json::Null, of, &Json::Null, &[]);
    lines.lines().any(|line| line == "+ id = \"\"")
}

#[test]
fn newer_schema_features_prove_a_modern_provider() {
    let attributes = |ty: &Json| {
        json!({ "attributes": {
            "id": { "type": "string", "computed": true },
            "other": { "type": ty, "optional": true },
        }})
    };
    // As Terraform 1.15 shows them.
    let object = json!(["object", { "x": "string" }]);
    let old = [
        json!("string"),
        json!(["list", ["list", "string"]]),
        json!(["map", ["map", "string"]]),
        json!(["list", object]),
        json!(["map", object]),
        json!(["list", ["tuple", ["string"]]]),
        json!(["list", ["object", { "x": ["list", ["list", object]] }]]),
    ];
    for ty in old {
        assert!(!tells_apart(&attributes(&ty), &json!({ "id": "" })), "{ty}");
    }
    let new = [
        json!("dynamic"),
        json!(["list", "dynamic"]),
        json!(["list", ["object", { "x": "dynamic" }]]),
        object.clone(),
        json!(["object", {}]),
        json!(["tuple", ["string"]]),
        json!(["list", ["list", object]]),
        json!(["list", ["map", object]]),
        json!(["list", ["set", ["list", "string"]]]),
    ];
    for ty in new {
        assert!(tells_apart(&attributes(&ty), &json!({ "id": "" })), "{ty}");
    }
}

#[test]
fn each_block_of_a_schema_is_classified_separately() {
    let plain = json!({ "attributes": { "id": { "type": "string", "computed": true } } });
    let dynamic = json!({ "attributes": {
        "id": { "type": "string", "computed": true },
        "other": { "type": "dynamic", "optional": true },
    }});
    let with = |outer: &Json, nesting: &str, inner: &Json| {
        let mut block = outer.clone();
        block["block_types"] = json!({ "bed": { "nesting_mode": nesting, "block": inner } });
        block
    };
    let (outside, inside) = (|bed: Json| json!({ "id": "", "bed": bed }), |bed: Json| json!({ "id": "x", "bed": bed }));
    let empty = json!({ "id": "" });
    let full = json!({ "id": "x" });
    for nesting in ["list", "set", "single"] {
        let bed = |one: &Json| if nesting == "single" { one.clone() } else { json!([one]) };
        let (none, outer, inner) =
            (with(&plain, nesting, &plain), with(&dynamic, nesting, &plain), with(&plain, nesting, &dynamic));
        assert!(!tells_apart(&none, &outside(bed(&full))) && !tells_apart(&none, &inside(bed(&empty))), "{nesting}");
        assert!(tells_apart(&outer, &outside(bed(&full))), "{nesting}");
        // A single block is a part of the one that it stands in.
        assert_eq!(tells_apart(&outer, &inside(bed(&empty))), nesting == "single", "{nesting}");
        assert!(!tells_apart(&inner, &outside(bed(&full))) && tells_apart(&inner, &inside(bed(&empty))), "{nesting}");
    }
    // Providers of old had no such blocks.
    let (group, map) = (with(&plain, "group", &plain), with(&plain, "map", &plain));
    assert!(tells_apart(&group, &outside(full.clone())) && tells_apart(&group, &inside(empty.clone())));
    assert!(tells_apart(&map, &outside(json!({ "k": full }))) && tells_apart(&map, &inside(json!({ "k": empty }))));
}
