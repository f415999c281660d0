//! `terraform_data` compared with Terraform's. Set `GROMA_TERRAFORM` to a Terraform 1.15 executable.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use groma_builtin::Terraform;
use groma_provider::{IdentityImport, PlanRequest, Provider, Schema, TextFormat, proposed_new_state};
use groma_value::{Type, Value, json};
use serde_json::Value as Json;

fn terraform() -> Option<PathBuf> {
    let found = std::env::var_os("GROMA_TERRAFORM").filter(|path| !path.is_empty()).map(PathBuf::from);
    if found.is_none() {
        eprintln!("skipped: no terraform");
    }
    found
}

fn run(terraform: &Path, folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(terraform)
        .args(arguments)
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        // The developer's own CLI configuration must not influence the comparison.
        .env_remove("TF_CLI_CONFIG_FILE")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Creates an initialized working directory with this configuration.
fn folder(terraform: &Path, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.tf"), text).unwrap();
    run(terraform, folder.path(), &["init"]);
    folder
}

fn schema() -> std::sync::Arc<Schema> {
    Terraform::default().resource_schema("terraform_data").unwrap().unwrap()
}

/// Renders the schema like `terraform providers schema -json`, without empty descriptions.
fn printed(schema: &Schema) -> Json {
    let attributes = schema.block.attributes().map(|(name, attribute)| {
        let mut shown = serde_json::Map::new();
        let ty: Json = serde_json::from_str(&attribute.ty().to_json()).unwrap();
        shown.insert("type".into(), ty);
        let format = match attribute.description().format {
            TextFormat::Plain => "plain",
            TextFormat::Markdown => "markdown",
        };
        shown.insert("description_kind".into(), format.into());
        let usage = attribute.usage();
        for (flag, set) in [
            ("required", usage == groma_provider::Use::Required),
            ("optional", usage.is_optional()),
            ("computed", usage.is_computed()),
        ] {
            if set {
                shown.insert(flag.into(), true.into());
            }
        }
        (name.to_string(), Json::Object(shown))
    });
    serde_json::json!({
        "version": schema.version,
        "block": { "attributes": attributes.collect::<serde_json::Map<_, _>>(), "description_kind": "plain" },
    })
}

#[test]
fn schema_equals_terraform() {
    let Some(terraform) = terraform() else { return };
    let folder = folder(&terraform, "resource \"terraform_data\" \"a\" {}\n");
    let shown = run(&terraform, folder.path(), &["providers", "schema", "-json"]);
    let shown: Json = serde_json::from_slice(&shown).unwrap();
    let provider = &shown["provider_schemas"]["terraform.io/builtin/terraform"];
    assert_eq!(provider["resource_schemas"]["terraform_data"], printed(&schema()));
    let identity = &provider["resource_identity_schemas"]["terraform_data"];
    let ours = schema().identity.clone().unwrap();
    assert_eq!(identity["version"], ours.version);
    let id = &ours.attributes["id"];
    assert_eq!(identity["attributes"]["id"]["required_for_import"], id.import == IdentityImport::Required);
    assert_eq!(identity["attributes"]["id"]["description"].as_str(), Some(&*id.description));
    // The descriptions of the data source are our own, so only its structure is compared.
    let mut source = provider["data_source_schemas"]["terraform_remote_state"].clone();
    for attribute in source["block"]["attributes"].as_object_mut().unwrap().values_mut() {
        attribute.as_object_mut().unwrap().remove("description");
    }
    let ours = Terraform::default().data_schema("terraform_remote_state").unwrap().unwrap();
    assert_eq!(source, printed(&ours));
}

/// Input and triggers, both as expressions and as values.
struct Case {
    input: &'static str,
    triggers: &'static str,
    values: (Value, Value),
}

fn case(input: &'static str, triggers: &'static str, values: (Value, Value)) -> Case {
    Case { input, triggers, values }
}

fn configuration(case: &Case) -> String {
    format!(
        "resource \"terraform_data\" \"a\" {{\n  input = {}\n  triggers_replace = {}\n}}\n",
        case.input, case.triggers
    )
}

#[test]
fn plans_equal_terraform() {
    let Some(terraform) = terraform() else { return };
    let s = Value::string;
    let number = |number: i64| Value::number(number);
    let first = || case("\"x\"", "\"1\"", (s("x"), s("1")));
    // Each second configuration is planned after the first one was applied.
    let seconds = [
        first(),
        case("\"y\"", "\"1\"", (s("y"), s("1"))),
        case("\"x\"", "\"2\"", (s("x"), s("2"))),
        case("null", "\"1\"", (Value::NULL, s("1"))),
        case("null", "null", (Value::NULL, Value::NULL)),
        case("[1, { a = true }]", "\"1\"", {
            let object = Value::object([("a", Value::bool(true))]);
            (Value::tuple(vec![number(1), object]), s("1"))
        }),
        case("\"x\"", "timestamp()", (s("x"), Value::unknown(Type::String))),
        case("timestamp()", "\"1\"", (Value::unknown(Type::String), s("1"))),
    ];
    for second in seconds {
        let folder = folder(&terraform, &configuration(&first()));
        run(&terraform, folder.path(), &["apply", "-auto-approve"]);
        let stored: Json =
            serde_json::from_slice(&std::fs::read(folder.path().join("terraform.tfstate")).unwrap()).unwrap();
        let stored = stored["resources"][0]["instances"][0]["attributes"].to_string();
        let state = json::from_json(stored.as_bytes(), schema().block.implied_type()).unwrap();
        std::fs::write(folder.path().join("main.tf"), configuration(&second)).unwrap();
        run(&terraform, folder.path(), &["plan", "-out", "p"]);
        let plan: Json = serde_json::from_slice(&run(&terraform, folder.path(), &["show", "-json", "p"])).unwrap();
        let change = &plan["resource_changes"][0]["change"];
        let ours = plan_here(state, &second.values);
        let name = format!("input {}, triggers {}", second.input, second.triggers);
        let open = |name: &str| change["after_unknown"][name] == Json::Bool(true);
        for attribute in ["id", "input", "output", "triggers_replace"] {
            let value = ours.planned_state.attribute(attribute).unwrap();
            // A replacement is planned twice; the second plan has no prior object, and both attributes are unknown.
            assert_eq!(!value.is_known(), open(attribute), "{name}: {attribute}");
            // Parts of a value may be unknown in the plan, and JSON has no form for these.
            if value.is_wholly_known() {
                let shown: Json = serde_json::from_str(&json::encode(&value).unwrap()).unwrap();
                assert_eq!(change["after"][attribute], shown, "{name}: {attribute}");
            }
        }
        let replaces = change["replace_paths"].as_array().is_some_and(|paths| !paths.is_empty());
        assert_eq!(replaces, !ours.requires_replace.is_empty(), "{name}");
    }
}

fn plan_here(state: Value, (input, triggers): &(Value, Value)) -> groma_provider::PlanResponse {
    let block = schema().block.clone();
    let config = block.object(vec![Value::null(Type::String), input.clone(), Value::NULL, triggers.clone()]);
    let request = PlanRequest {
        type_name: "terraform_data".into(),
        proposed_new_state: proposed_new_state(&block, &state, &config),
        prior_state: state,
        config,
        ..PlanRequest::default()
    };
    Terraform::default().plan_resource(request).now().unwrap()
}
