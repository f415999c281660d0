//! States from before Terraform 0.12 and 0.13 are read, and upgraded on write.

use crate::common::Folder;
use crate::common::normalization::terraform;

/// A state of each old format.
const STATES: [(&str, &str); 3] = [
    ("format 1", include_str!("../../../state/src/file/fixtures/format_1.json")),
    ("format 2", include_str!("../../../state/src/file/fixtures/format_2.json")),
    ("format 3", include_str!("../../../state/src/file/fixtures/format_3.json")),
];

/// The attributes of one object in a state of Terraform 0.11.
const TERRAFORM_0_11: &str = r#"{
    "version": 3,
    "terraform_version": "0.11.14",
    "serial": 7,
    "lineage": "0b8e3c1a-7d52-4a56-9f0e-3c5d2b9a1e77",
    "modules": [
        {
            "path": ["root"],
            "outputs": {"size": {"sensitive": false, "type": "string", "value": "big"}},
            "resources": {
                "null_resource.lion": {
                    "type": "null_resource",
                    "depends_on": [],
                    "primary": {
                        "id": "4711",
                        "attributes": {"id": "4711", "triggers.%": "1", "triggers.food": "meat"},
                        "meta": {},
                        "tainted": false
                    },
                    "deposed": [],
                    "provider": "provider.null"
                }
            },
            "depends_on": []
        }
    ]
}
"#;

#[test]
fn terraform_reads_old_states_alike() {
    let Some(program) = terraform() else { return };
    for (name, state) in STATES {
        let (ours, theirs) = (Folder::new(), Folder::for_program(&program));
        for folder in [&ours, &theirs] {
            folder.write("terraform.tfstate", state);
        }
        for command in [&["state", "pull"][..], &["state", "list"], &["output"], &["output", "-json"]] {
            assert_eq!(ours.run(command), theirs.run(command), "{name}: {command:?}");
        }
    }
}

#[test]
fn terraform_0_11_object_moves_to_another_type() {
    let folder = Folder::new();
    folder.write("terraform.tfstate", TERRAFORM_0_11).write(
        "main.tf",
        r#"
        moved {
          from = null_resource.lion
          to   = terraform_data.lion
        }

        resource "terraform_data" "lion" {
          triggers_replace = { food = "meat" }
        }

        output "size" {
          value = "big"
        }
        "#,
    );
    let plan = folder.ok(&["plan"]);
    assert!(plan.contains("# null_resource.lion has moved to terraform_data.lion"), "{plan}");
    assert!(plan.contains("Plan: 0 to add, 0 to change, 0 to destroy."), "{plan}");
    assert_eq!(folder.read("terraform.tfstate"), TERRAFORM_0_11, "a plan writes nothing");
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(folder.read("terraform.tfstate.backup"), TERRAFORM_0_11);
    let state: serde_json::Value = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    assert_eq!((&state["version"], &state["serial"]), (&4.into(), &8.into()));
    let object = &state["resources"][0]["instances"][0];
    assert_eq!(object["attributes"]["id"], "4711");
    assert!(object.get("attributes_flat").is_none());
    assert!(folder.ok(&["plan"]).contains("No changes."));
}

#[test]
fn provider_without_namespace_must_be_replaced_before_init() {
    let folder = Folder::new();
    folder.write("terraform.tfstate", TERRAFORM_0_11).write("main.tf", "output \"size\" { value = \"big\" }");
    let problem = folder.fails(&["init"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(problem.contains("Invalid legacy provider address"), "{problem}");
    let advice = "state replace-provider registry.terraform.io/-/null hashicorp/null";
    assert!(problem.contains(advice), "{problem}");
    let words: Vec<_> = advice.split(' ').collect();
    folder.ok(&[&words[..2], &["-auto-approve"], &words[2..]].concat());
    let state = folder.read("terraform.tfstate");
    assert!(state.contains(r#""provider": "provider[\"registry.terraform.io/hashicorp/null\"]""#), "{state}");
    // Only its provider can make values of what is stored.
    assert!(state.contains(r#""triggers.food": "meat""#), "{state}");
}

#[test]
fn provider_without_namespace_in_opentofu_state_is_reported_alike() {
    let folder = Folder::new();
    let state = r#"{
        "version": 4, "terraform_version": "1.12.6", "serial": 3, "lineage": "savanna", "outputs": {},
        "resources": [{
            "mode": "managed", "type": "null_resource", "name": "lion",
            "provider": "provider[\"registry.opentofu.org/-/null\"]",
            "instances": [{ "schema_version": 0, "attributes": { "id": "4711", "triggers": null } }]
        }]
    }"#;
    folder.write("terraform.tfstate", state).write("main.tf", "output \"size\" { value = \"big\" }");
    assert_eq!(folder.ok(&["state", "list"]), "null_resource.lion\n");
    folder.ok(&["state", "replace-provider", "-auto-approve", "registry.opentofu.org/-/null", "hashicorp/null"]);
    assert!(
        folder
            .read("terraform.tfstate")
            .contains(r#""provider": "provider[\"registry.terraform.io/hashicorp/null\"]""#)
    );
}
