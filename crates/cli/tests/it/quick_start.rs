//! The lifecycle of an estate, from the quick start's first apply to an empty state.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value as Json;

use crate::common::Folder;
use crate::common::serving::serve_emulator;

/// Stands beside the quick start: an object that is replaced with the new one first, and one that uses it.
fn companion_objects(log_group: &str, user: &str, refuses: &str) -> String {
    format!(
        r#"
resource "awscc_logs_log_group" "audit" {{
  log_group_name    = "{log_group}"
  retention_in_days = 14

  lifecycle {{
    create_before_destroy = true
  }}
}}

resource "terraform_data" "{user}" {{
  input = awscc_logs_log_group.audit.arn

  lifecycle {{
    precondition {{
      condition     = !strcontains(awscc_logs_log_group.audit.arn, "{refuses}")
      error_message = "Nobody reads that log group."
    }}
  }}
}}
"#
    )
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

fn objects(folder: &Folder) -> usize {
    folder.ok(&["emulator", "list"]).lines().count()
}

fn managed(folder: &Folder) -> Vec<Json> {
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    state["resources"].as_array().unwrap().iter().filter(|resource| resource["mode"] == "managed").cloned().collect()
}

fn no_changes(folder: &Folder) {
    let ran = folder.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    contains(&ran.out, &["No changes. Your infrastructure matches the configuration."]);
}

#[test]
fn estate_from_first_apply_to_last_destroy() {
    let folder = Folder::new();
    folder.copy("examples/quickstart").write("audit.tf", &companion_objects("/audit/one", "reader", "nothing"));

    // Apply: no init, and a person says yes.
    let applied = folder.run_with_input(&["apply"], "yes\n");
    assert_eq!(applied.code, 0, "{}{}", applied.out, applied.err);
    contains(
        &applied.out,
        &[
            "  # module.storage.awscc_s3_bucket.this[\"assets\"] will be created",
            "  Enter a value: ",
            "Apply complete! Resources: 49 added, 0 changed, 0 destroyed.",
            "database_url = <sensitive>",
        ],
    );
    assert!(!applied.out.contains("correct-horse"), "a secret was printed");
    assert_eq!(objects(&folder), 48);
    assert!(!folder.path(".terraform").exists());
    for file in ["terraform.tfstate", "groma-emulator.json"] {
        let mode = std::fs::metadata(folder.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    no_changes(&folder);

    // Nothing that matters is in .terraform.
    folder.ok(&["init"]);
    folder.write(".terraform/anything", "");
    std::fs::remove_dir_all(folder.path(".terraform")).unwrap();
    no_changes(&folder);

    // Somebody else changes an object; the plan mends it.
    let table = ["AWS::DynamoDB::Table", "shop-dev-carts"];
    let patch = r#"[{"op": "replace", "path": "/TimeToLiveSpecification/Enabled", "value": false}]"#;
    folder.ok(&["emulator", "patch", table[0], table[1], patch]);
    let refreshed = folder.ok(&["plan", "-refresh-only"]);
    contains(
        &refreshed,
        &[
            "Objects have changed outside of Terraform",
            "  # module.storage.awscc_dynamodb_table.carts has changed",
            "~ enabled        = true -> false",
        ],
    );
    let planned = folder.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(planned.code, 2, "{}", planned.err);
    contains(
        &planned.out,
        &[
            "  # module.storage.awscc_dynamodb_table.carts will be updated in-place",
            "~ enabled        = false -> true",
            "Plan: 0 to add, 1 to change, 0 to destroy.",
        ],
    );
    contains(&folder.ok(&["apply", "-auto-approve"]), &["Apply complete! Resources: 0 added, 1 changed, 0 destroyed."]);
    contains(&folder.ok(&["emulator", "get", table[0], table[1]]), &["\"Enabled\": true"]);
    no_changes(&folder);

    // Somebody else deletes one; the plan makes it again.
    folder.ok(&["emulator", "delete", "AWS::SSM::Parameter", "/shop-dev/database/password"]);
    contains(&folder.ok(&["plan"]), &["Plan: 1 to add, 0 to change, 0 to destroy."]);
    folder.ok(&["apply", "-auto-approve"]);
    no_changes(&folder);

    // A create-only argument changes under create_before_destroy, and the run ends between the two steps.
    folder.write("audit.tf", &companion_objects("/audit/two", "reader", "two"));
    let planned = folder.ok(&["plan"]);
    contains(
        &planned,
        &[
            "+/- create replacement and then destroy",
            "  # awscc_logs_log_group.audit must be replaced",
            "+/- resource \"awscc_logs_log_group\" \"audit\" {",
            "\"/audit/one\" -> \"/audit/two\" # forces replacement",
            "Plan: 1 to add, 1 to change, 1 to destroy.",
        ],
    );
    contains(&folder.fails(&["apply", "-auto-approve"]), &["Nobody reads that log group."]);
    let both = folder.ok(&["emulator", "list", "AWS::Logs::LogGroup"]);
    contains(&both, &["/audit/one", "/audit/two"]);
    let instances = managed(&folder).into_iter().find(|resource| resource["name"] == "audit").unwrap();
    let instances = instances["instances"].as_array().unwrap().clone();
    assert_eq!(instances.len(), 2);
    let deposed = instances.iter().find_map(|instance| instance["deposed"].as_str()).unwrap().to_owned();
    contains(
        &folder.ok(&["plan", "-target=awscc_logs_log_group.audit"]),
        &[&format!("  # awscc_logs_log_group.audit (deposed object {deposed}) will be destroyed")],
    );

    // What stood in the way goes, and so does the deposed object.
    folder.write("audit.tf", &companion_objects("/audit/two", "reader", "nothing"));
    let applied = folder.ok(&["apply", "-auto-approve"]);
    contains(
        &applied,
        &[
            &format!("awscc_logs_log_group.audit (deposed object {deposed}): Destroying..."),
            "Apply complete! Resources: 0 added, 1 changed, 1 destroyed.",
        ],
    );
    assert!(!folder.ok(&["emulator", "list", "AWS::Logs::LogGroup"]).contains("/audit/one"));
    no_changes(&folder);

    // The same without anything in the way: both steps in one run.
    folder.write("audit.tf", &companion_objects("/audit/three", "reader", "nothing"));
    let applied = folder.ok(&["apply", "-auto-approve"]);
    contains(&applied, &["Apply complete! Resources: 1 added, 1 changed, 1 destroyed."]);
    let created = applied.find("awscc_logs_log_group.audit: Creation complete").unwrap();
    let destroyed = applied.find("awscc_logs_log_group.audit (deposed object ").unwrap();
    assert!(created < destroyed, "{applied}");

    // A new name, reported with a moved block, changes no object.
    let moved = "\nmoved {\n  from = terraform_data.reader\n  to   = terraform_data.listener\n}\n";
    folder.write("audit.tf", &(companion_objects("/audit/three", "listener", "nothing") + moved));
    contains(
        &folder.ok(&["plan"]),
        &[
            "  # terraform_data.reader has moved to terraform_data.listener",
            "Plan: 0 to add, 0 to change, 0 to destroy.",
        ],
    );
    contains(&folder.ok(&["apply", "-auto-approve"]), &["Apply complete! Resources: 0 added, 0 changed, 0 destroyed."]);
    assert_eq!(folder.ok(&["state", "list", "terraform_data.listener"]), "terraform_data.listener\n");
    no_changes(&folder);

    // Objects of removed blocks are destroyed.
    std::fs::remove_file(folder.path("audit.tf")).unwrap();
    contains(
        &folder.ok(&["apply", "-auto-approve"]),
        &[
            "(because awscc_logs_log_group.audit is not in configuration)",
            "Apply complete! Resources: 0 added, 0 changed, 2 destroyed.",
        ],
    );
    assert_eq!(objects(&folder), 47);

    // Destroy: neither objects nor state are left, and a second time there is nothing to do.
    contains(&folder.ok(&["destroy", "-auto-approve"]), &["Destroy complete! Resources: 47 destroyed."]);
    assert_eq!(folder.ok(&["emulator", "list"]), "");
    assert_eq!(managed(&folder), Vec::<Json>::new());
    assert_eq!(folder.ok(&["state", "list"]), "");
}

#[test]
fn destroy_without_objects_destroys_nothing() {
    let folder = Folder::new();
    folder.copy("examples/quickstart");
    contains(&folder.ok(&["destroy", "-auto-approve"]), &["Destroy complete! Resources: 0 destroyed."]);
}

fn post(address: &str, operation: &str, body: &Json) -> (u16, Json) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/x-amz-json-1.0\r\n\
         X-Amz-Target: CloudApiService.{operation}\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/eu-central-1/cloudcontrolapi/aws4_request\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap())
}

#[test]
fn emulator_serves_objects_over_http_during_applies() {
    let folder = Folder::new();
    folder.copy("examples/quickstart").ok(&["apply", "-auto-approve"]);
    let (serving, address) = serve_emulator(&folder, &[]);

    let bucket = serde_json::json!({
        "TypeName": "AWS::S3::Bucket", "Identifier": "shop-dev-assets-123456789012",
    });
    let (status, answer) = post(&address, "GetResource", &bucket);
    assert_eq!(status, 200, "{answer}");
    let properties: Json = serde_json::from_str(answer["ResourceDescription"]["Properties"].as_str().unwrap()).unwrap();
    assert_eq!(properties["BucketName"], "shop-dev-assets-123456789012");
    let rules = &properties["LifecycleConfiguration"]["Rules"];
    assert_eq!(rules[0]["Id"], "unfinished-uploads");

    // Another process works on the same file.
    folder.ok(&["destroy", "-auto-approve"]);
    let (status, answer) = post(&address, "GetResource", &bucket);
    assert_eq!(status, 400, "{answer}");
    assert!(answer["__type"].as_str().unwrap().contains("ResourceNotFoundException"), "{answer}");
    drop(serving);
}
