//! JSON documents of plans, compared with recorded ones; JSON messages and exit codes.

use groma_provider::{Attribute, AttributeType, Block, NestedBlock, Nesting, ObjectNesting, ObjectSchema, Use};
use groma_value::{Marks, Number, Path, PathStep, Type, Value};
use serde_json::{Value as Json, json};

use crate::common::Folder;
use crate::generated_configurations::kit::Kit;

#[test]
fn documents_contain_json_syntax_strings_as_written() {
    let folder = Folder::new();
    folder.write(
        "main.tf.json",
        // An escaped template and a plain one: neither is evaluated in the document.
        r#"{"variable": {"v": {"default": "x"}}, "resource": {"terraform_data": {"a": {
            "count": "${1}",
            "input": {"b": "${var.v}", "a": ["plain", "$${x}", 3, null]},
            "triggers_replace": "x-${var.v}"
        }}}}"#,
    );
    folder.ok(&["plan", "-out", "p"]);
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let block = &document["configuration"]["root_module"]["resources"][0];
    let expected = json!({
        "input": {
            "constant_value": {"a": ["plain", "$${x}", 3, null], "b": "${var.v}"},
            "references": ["var.v"],
        },
        "triggers_replace": {"constant_value": "x-${var.v}", "references": ["var.v"]},
    });
    assert_eq!(block["expressions"], expected);
    assert_eq!(block["count_expression"], json!({"constant_value": "${1}"}));
}

/// As Terraform 1.15 tells them.
#[test]
fn value_is_constant_if_references_do_not_affect_it() {
    let folder = Folder::new();
    let cases = [
        ("var.b ? null : null", json!({"constant_value": null, "references": ["var.b"]})),
        ("var.b || true", json!({"constant_value": true, "references": ["var.b"]})),
        ("[for k, v in {} : var.b]", json!({"constant_value": [], "references": ["var.b"]})),
        // The result does not depend on the reference, but evaluation cannot know that.
        ("var.b ? \"a\" : \"a\"", json!({"references": ["var.b"]})),
        // An expression that fails has neither a value nor references.
        ("1 / 0", json!({})),
    ];
    let blocks: Vec<String> = (0..)
        .zip(&cases)
        .map(|(at, (text, _))| format!("resource \"terraform_data\" \"r{at}\" {{\n  count = 0\n  input = {text}\n}}\n"))
        .collect();
    folder.write("main.tf", &format!("variable \"b\" {{\n  default = true\n}}\n{}", blocks.concat()));
    folder.ok(&["plan", "-out", "p"]);
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let resources = &document["configuration"]["root_module"]["resources"];
    for (at, (text, expected)) in cases.into_iter().enumerate() {
        assert_eq!(resources[at]["expressions"]["input"], expected, "{text}");
    }
}

const READING: &str = "resource \"terraform_data\" \"a\" {}\ndata \"terraform_remote_state\" \"x\" {\n  backend = \"local\"\n  config = { path = \"other.tfstate\" }\n}\n";
const OTHER: &str =
    r#"{"version": 4, "terraform_version": "1.15.5", "serial": 1, "lineage": "x", "outputs": {}, "resources": []}"#;

#[test]
fn plan_with_only_reads_is_applied() {
    let folder = Folder::new();
    folder.write("other.tfstate", OTHER).write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["apply", "-auto-approve"]);
    let look = ["plan", "-refresh-only", "-detailed-exitcode"];
    let ran = folder.run(&look);
    // Without changes outside of the program there is nothing to apply.
    assert!(ran.code == 0 && !ran.out.contains("Note: "), "{}", ran.out);
    folder.write("main.tf", READING);
    let ran = folder.run(&look);
    // The data source is new, so its result has to be stored.
    assert!(ran.code == 2 && ran.out.contains("No changes.") && ran.out.contains("Note: "), "{}", ran.out);
}

#[test]
fn reading_data_is_a_refresh_message() {
    let folder = Folder::new();
    folder.write("other.tfstate", OTHER).write("main.tf", READING);
    let reported = folder.ok(&["plan", "-json"]);
    for text in
        ["data.terraform_remote_state.x: Refreshing...", "data.terraform_remote_state.x: Refresh complete after 0s"]
    {
        assert!(reported.contains(&format!("\"@message\":\"{text}\"")), "{reported}");
    }
    // Text uses another verb for data sources.
    assert!(folder.ok(&["plan"]).contains("data.terraform_remote_state.x: Reading..."));
}

#[test]
fn documents_describe_provisioners_with_expressions() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo ${self.id}\"\n    quiet   = true\n  }\n  \
         provisioner \"local-exec\" {\n    when    = destroy\n    command = \"true\"\n    connection {\n      host = self.id\n    }\n  }\n}\n",
    );
    folder.ok(&["plan", "-out", "p"]);
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let expected = json!([
        {"type": "local-exec", "expressions": {
            "command": {"references": ["self.id", "self"]},
            "quiet": {"constant_value": true},
        }},
        // Destroy-time provisioners have no connection in the document, as in Terraform.
        {"type": "local-exec", "expressions": {"command": {"constant_value": "true"}}},
    ]);
    assert_eq!(document["configuration"]["root_module"]["resources"][0]["provisioners"], expected);
}

#[test]
fn documents_contain_defaults_but_not_values_of_ephemeral_variables() {
    let folder = Folder::new();
    let text = "variable \"e\" {\n  ephemeral = true\n  default   = \"usual\"\n}\nvariable \"n\" {\n  ephemeral = true\n}\nvariable \"v\" {}\n";
    folder.write("main.tf", text);
    folder.ok(&["plan", "-out=p", "-var=e=hush", "-var=n=hush", "-var=v=1"]);
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    // The value of this run is not stored, so the document has the default, or nothing.
    assert_eq!(document["variables"], json!({ "e": { "value": "usual" }, "v": { "value": "1" } }));
}

#[test]
fn conditions_are_checked_with_known_parts_of_deferred_data() {
    let folder = Folder::new();
    let text = "variable \"good\" {\n  default = true\n}\nresource \"terraform_data\" \"a\" {}\n\
                data \"terraform_remote_state\" \"x\" {\n  backend    = \"local\"\n  config     = { path = \"other.tfstate\" }\n  \
                depends_on = [terraform_data.a]\n  lifecycle {\n    postcondition {\n      condition     = var.good\n      \
                error_message = \"No good.\"\n    }\n  }\n}\n";
    folder.write("other.tfstate", OTHER).write("main.tf", text);
    folder.ok(&["plan", "-out=p"]);
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    // The data source is not read yet, but its condition does not depend on the result.
    assert_eq!(document["checks"][0]["instances"][0]["status"], json!("pass"), "{}", document["checks"]);
    let reported = folder.fails(&["plan", "-var=good=false"]);
    assert!(reported.contains("Resource postcondition failed") && reported.contains("No good."), "{reported}");
    folder.ok(&["apply", "p"]);
}

#[test]
fn instance_count_is_relevant_only_where_it_is_referenced() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"n\" {\n  count = 1\n}\nresource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  count = length(terraform_data.n)\n  input = terraform_data.a.id\n}\n",
    );
    folder.ok(&["plan", "-out=p"]);
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    // The count itself refers to the resource, but to no attribute of it.
    let relevant = json!([{ "resource": "terraform_data.a", "attribute": ["id"] }]);
    assert_eq!(document["relevant_attributes"], relevant);

    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  for_each = { k = terraform_data.a.output }\n  input = each.key\n}\n",
    );
    folder.ok(&["plan", "-out=p"]);
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let relevant = json!([{ "resource": "terraform_data.a", "attribute": ["output"] }]);
    assert_eq!(document["relevant_attributes"], relevant);
}

#[test]
fn relevant_attributes_are_as_precise_as_the_schema() {
    let kit = Kit::new();
    let relevant = |part: &str| {
        let folder = kit.attached_in(Folder::new());
        let sources = ["name", "single", "second", "list", "over", "made"];
        let sources = sources.map(|name| format!("resource \"terraform_data\" \"{name}\" {{}}\n")).concat();
        let configuration = "resource \"kit_thing\" \"t\" {\n  name = terraform_data.name.id\n  one {\n    a = terraform_data.single.id\n    \
                     b = terraform_data.second.id\n  }\n  item {\n    k = terraform_data.list.id\n  }\n  dynamic \"grp\" {\n    \
                     for_each = [terraform_data.over.id]\n    content {\n      a = terraform_data.made.id\n    }\n  }\n}\n";
        // What is there already is not looked at.
        folder.write(
            "main.tf",
            &format!("{}{sources}{configuration}", crate::generated_configurations::kit::REQUIREMENT),
        );
        folder.ok(&["init"]);
        folder.ok(&["apply", "-auto-approve"]);
        // An output that refers to one part of the object.
        folder.write("output.tf", &format!("output \"o\" {{\n  value = [kit_thing.t.{part}]\n}}\n"));
        folder.ok(&["plan", "-out=p"]);
        let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
        let all = document["relevant_attributes"].as_array().unwrap().clone();
        // Only references to the sources count: they are what the part depends on.
        let names = all.iter().filter_map(|one| one["resource"].as_str()?.strip_prefix("terraform_data."));
        names.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(relevant("name"), "name");
    assert_eq!(relevant("one"), "second single");
    assert_eq!(relevant("one.a"), "single");
    assert_eq!(relevant("grp.a"), "made over");
    // The attribute is not set, but the block is there because of its for_each.
    assert_eq!(relevant("grp.b"), "over");
    assert_eq!(relevant("item[0].k"), "", "one block of several leads no further");
    assert_eq!(
        relevant("item[*].k"),
        "list made name over second single",
        "references to all parts are one reference to the body"
    );
}

/// The document of a plan of these files.
fn planned(files: &[(&str, &str)]) -> Json {
    let folder = Folder::new();
    for (name, text) in files {
        folder.write(name, text);
    }
    folder.ok(&["plan", "-out=p"]);
    serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap()
}

#[test]
fn document_lists_renamed_provider_under_both_names() {
    let text = "terraform {\n  required_providers {\n    own = { source = \"terraform.io/builtin/terraform\" }\n  }\n}\n\
                provider \"own\" {\n  alias = \"b\"\n}\nresource \"terraform_data\" \"a\" {\n  provider = own\n}\n";
    let document = planned(&[("main.tf", text)]);
    let name = "terraform.io/builtin/terraform";
    let expected = json!({
        "own": { "name": "own", "full_name": name },
        "own.b": { "name": "own", "full_name": name, "alias": "b" },
        // The implied provider of terraform_data is listed under its own name.
        "terraform": { "name": "terraform", "full_name": name },
    });
    assert_eq!(document["configuration"]["provider_config"], expected);
}

#[test]
fn references_of_module_instance_include_module_without_output() {
    let text = "module \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n\
                output \"all\" {\n  value = module.m[0]\n}\noutput \"one\" {\n  value = module.m[0].x\n}\n";
    let document = planned(&[("main.tf", text), ("m/main.tf", "output \"x\" {\n  value = 1\n}\n")]);
    let outputs = &document["configuration"]["root_module"]["outputs"];
    assert_eq!(outputs["all"]["expression"]["references"], json!(["module.m[0]", "module.m"]));
    // A reference through an output also names the instance that it belongs to.
    assert_eq!(outputs["one"]["expression"]["references"], json!(["module.m[0].x", "module.m[0]"]));
}

#[test]
fn workspace_warning_uses_the_written_name() {
    let text = "output \"t\" {\n  value = terraform.workspace\n}\noutput \"o\" {\n  value = tofu.workspace\n}\n";
    let document = planned(&[("main.tf", text)]);
    let outputs = &document["configuration"]["root_module"]["outputs"];
    assert_eq!(outputs["t"]["expression"]["references"], json!(["terraform.workspace"]));
    assert_eq!(outputs["o"]["expression"]["references"], json!(["tofu.workspace"]));
}

#[test]
fn state_document_marks_deprecated_outputs() {
    let folder = Folder::new();
    folder.write(
        "main.tofu",
        "output \"o\" {\n  value      = 1\n  deprecated = \"Use p.\"\n}\noutput \"p\" {\n  value = 1\n}\n",
    );
    folder.ok(&["apply", "-auto-approve"]);
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let expected = json!({
        "o": {"value": 1, "type": "number", "deprecated": "Use p."},
        // The state of an output without the argument is exactly Terraform's.
        "p": {"value": 1, "type": "number"},
    });
    assert_eq!(state["outputs"], expected);
    let reported = json!({"sensitive": false, "deprecated": "Use p.", "value": 1, "type": "number"});
    let outputs: Json = serde_json::from_str(&folder.ok(&["output", "-json"])).unwrap();
    assert_eq!((&outputs["o"], outputs["p"].get("deprecated")), (&reported, None));
    let shown: Json = serde_json::from_str(&folder.ok(&["show", "-json"])).unwrap();
    assert_eq!(shown["values"]["outputs"]["o"], reported);
}

#[test]
fn data_source_with_new_count_has_previous_address() {
    let folder = Folder::new();
    let data = |count: &str, path: &str| {
        format!(
            "data \"terraform_remote_state\" \"d\" {{\n{count}  backend = \"local\"\n  config  = {{ path = {path} }}\n}}\n\n\
             resource \"terraform_data\" \"r\" {{\n  triggers_replace = \"{}\"\n}}\n",
            count.len()
        )
    };
    folder.write(
        "other.tfstate",
        r#"{"version":4,"terraform_version":"1.15.5","serial":1,"lineage":"l","outputs":{},"resources":[]}"#,
    );
    folder.write("main.tf", &data("", "\"other.tfstate\""));
    folder.ok(&["apply", "-auto-approve"]);
    // The path depends on an object that is replaced, so the data source is read during apply.
    folder.write("main.tf", &data("  count   = 1\n", "terraform_data.r.id == \"\" ? \"\" : \"other.tfstate\""));
    let reported = folder.ok(&["plan", "-out=p"]);
    assert!(reported.contains("# (moved from data.terraform_remote_state.d)"), "{reported}");
    let plan: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let changes = plan["resource_changes"].as_array().unwrap();
    let change = changes.iter().find(|change| change["mode"] == "data").unwrap();
    assert_eq!(change["address"], "data.terraform_remote_state.d[0]");
    assert_eq!(change["previous_address"], "data.terraform_remote_state.d");
}

/// The block of a resource type's schema JSON.
pub fn block(json: &Json) -> Block {
    let attributes = entries(&json["attributes"]).map(|(name, attribute)| (name.as_str(), self::attribute(attribute)));
    let blocks = entries(&json["block_types"]).map(|(name, nested)| {
        let nesting = match nested["nesting_mode"].as_str().unwrap() {
            "single" => Nesting::Single,
            "group" => Nesting::Group,
            "list" => Nesting::List,
            "set" => Nesting::Set,
            _ => Nesting::Map,
        };
        (name.as_str(), NestedBlock::new(nesting, block(&nested["block"])))
    });
    Block::new(attributes, blocks)
}

fn attribute(json: &Json) -> Attribute {
    let flag = |name: &str| json[name].as_bool().unwrap_or_default();
    let usage = match (flag("required"), flag("optional"), flag("computed")) {
        (true, ..) => Use::Required,
        (_, true, false) => Use::Optional,
        (_, true, true) => Use::OptionalComputed,
        (_, false, _) => Use::Computed,
    };
    let kind = if json["nested_type"].is_object() {
        let nested = &json["nested_type"];
        let nesting = match nested["nesting_mode"].as_str().unwrap() {
            "single" => ObjectNesting::Single,
            "list" => ObjectNesting::List,
            "set" => ObjectNesting::Set,
            _ => ObjectNesting::Map,
        };
        let attributes = entries(&nested["attributes"]).map(|(name, json)| (name.as_str(), attribute(json)));
        AttributeType::Nested(std::sync::Arc::new(ObjectSchema::new(nesting, attributes)))
    } else {
        AttributeType::Type(Type::from_json(json["type"].to_string().as_bytes()).unwrap())
    };
    let attribute = Attribute::new(kind, usage);
    let attribute = if flag("write_only") { attribute.write_only() } else { attribute };
    if flag("sensitive") { attribute.sensitive() } else { attribute }
}

fn entries(json: &Json) -> impl Iterator<Item = (&String, &Json)> {
    json.as_object().into_iter().flatten()
}

/// The value of `json` with what is unknown or sensitive laid over it.
pub fn value(json: &Json, unknown: &Json, sensitive: &Json, ty: &Type) -> Value {
    let value =
        if *unknown == Json::Bool(true) { Value::unknown(ty.clone()) } else { known(json, unknown, sensitive, ty) };
    if *sensitive == Json::Bool(true) { value.with_marks(&Marks::SENSITIVE) } else { value }
}

fn known(json: &Json, unknown: &Json, sensitive: &Json, ty: &Type) -> Value {
    let elements = |element: &dyn Fn(usize) -> Type| -> Vec<Value> {
        let parts = json.as_array().into_iter().flatten().enumerate();
        parts.map(|(at, json)| value(json, &unknown[at], &sensitive[at], &element(at))).collect()
    };
    let part = |name: &str, ty: &Type| value(&json[name], &unknown[name], &sensitive[name], ty);
    match ty {
        _ if json.is_null() => Value::null(ty.clone()),
        Type::Dynamic if json.is_array() => Value::tuple(elements(&|_| Type::Dynamic)),
        Type::Dynamic if json.is_object() => {
            let names = entries(json).chain(entries(unknown)).map(|(name, _)| name.clone());
            let names: std::collections::BTreeSet<String> = names.collect();
            Value::object(names.into_iter().map(|name| (name.clone(), part(&name, &Type::Dynamic))))
        }
        Type::Object(object) => Value::object(object.iter().map(|(name, ty)| (name.clone(), part(name, ty)))),
        Type::List(element) => Value::list((**element).clone(), elements(&|_| (**element).clone())),
        Type::Set(element) => Value::set((**element).clone(), elements(&|_| (**element).clone())),
        Type::Tuple(types) => Value::tuple(elements(&|at| types[at].clone())),
        Type::Map(element) => {
            let names = entries(json).chain(entries(unknown)).map(|(name, _)| name.clone());
            let names: std::collections::BTreeSet<String> = names.collect();
            Value::map((**element).clone(), names.into_iter().map(|name| (name.clone(), part(&name, element))))
        }
        Type::Dynamic | Type::Bool | Type::Number | Type::String => match json {
            Json::Bool(value) => Value::bool(*value),
            Json::Number(number) => Value::number(number.to_string().parse::<Number>().unwrap()),
            Json::String(text) => Value::string(text),
            other => panic!("{other} is not of the type {ty}"),
        },
    }
}

/// The paths of `replace_paths`.
pub fn paths(json: &Json) -> Vec<Path> {
    let step = |json: &Json| match json {
        Json::String(name) => PathStep::Attribute(name.as_str().into()),
        other => PathStep::Index(Value::number(other.to_string().parse::<Number>().unwrap())),
    };
    let path = |steps: &Json| {
        let mut path = Path::root();
        steps.as_array().into_iter().flatten().for_each(|json| path.push(step(json)));
        path
    };
    json.as_array().into_iter().flatten().map(path).collect()
}
