//! `plan -show-patch`, and failed requests of Cloud Control.

use serde_json::Value as Json;

use crate::common::Folder;
use crate::common::serving::serve_emulator;

fn configuration(retention: u32, password: &str) -> String {
    format!(
        r#"
provider "awscc" {{
  region   = "eu-central-1"
  emulator = {{}}
}}

resource "awscc_logs_log_group" "web" {{
  log_group_name    = "/app/web"
  retention_in_days = {retention}
}}

resource "awscc_rds_db_instance" "main" {{
  db_instance_identifier = "main"
  db_instance_class      = "db.t3.micro"
  engine                 = "postgres"
  allocated_storage      = "20"
  master_username        = "administrator"
  master_user_password   = "{password}"
}}
"#
    )
}

#[test]
fn plan_shows_patches_without_secrets() {
    let folder = Folder::new();
    folder.write("main.tf", &configuration(14, "correct-horse"));
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &configuration(30, "battery-staple"));

    let planned = folder.ok(&["plan", "-show-patch"]);
    let log_group = "  # patch of AWS::Logs::LogGroup \"/app/web\":\n    {\"op\":\"replace\",\"path\":\"/RetentionInDays\",\"value\":30}\n";
    assert!(planned.contains(log_group), "{planned}");
    assert!(planned.contains("\"path\":\"/MasterUserPassword\",\"value\":\"(sensitive value)\""), "{planned}");
    assert!(!planned.contains("battery"), "{planned}");
    let revealed = folder.ok(&["plan", "-show-patch", "-show-sensitive"]);
    assert!(revealed.contains("\"value\":\"battery-staple\""), "{revealed}");
    assert!(!folder.ok(&["plan"]).contains("# patch of"));

    let messages = folder.ok(&["plan", "-show-patch", "-json"]);
    let messages: Vec<Json> = messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let patches: Vec<&Json> = messages.iter().filter(|one| one["type"] == "planned_patch").collect();
    assert_eq!(patches.len(), 2);
    assert_eq!(patches[0]["patch"]["address"], "awscc_logs_log_group.web");
    assert_eq!(patches[0]["patch"]["operations"][0]["value"], 30);
    assert_eq!(patches[1]["patch"]["operations"][0]["value"], "(sensitive value)");
}

#[test]
fn failed_requests_name_the_object_the_request_and_the_record_in_the_state() {
    let folder = Folder::new();
    let fault = "-fault=AWS::Logs::LogGroup:AccessDenied:1";
    let configure = |address: &str, retention: u32| {
        folder.write(
            "main.tf",
            &format!(
                "provider \"awscc\" {{\n  region = \"eu-central-1\"\n  access_key = \"x\"\n  secret_key = \"x\"\n  endpoints = {{ \
                 cloudcontrolapi = \"http://{address}\" }}\n}}\nresource \"awscc_logs_log_group\" \"web\" {{\n  log_group_name = \
                 \"/app/web\"\n  retention_in_days = {retention}\n}}\n"
            ),
        );
    };
    let fails = |arguments: &[&str], parts: &[&str]| {
        let (_serving, address) = serve_emulator(&folder, &[fault]);
        configure(&address, 30);
        let problem = folder.fails(arguments).replace("\n\u{2502} ", " ").replace('\n', " ");
        for part in [&["AWS::Logs::LogGroup", "ErrorCode: AccessDenied", "request "], parts].concat() {
            assert!(problem.contains(part), "no {part:?} in {problem}");
        }
    };
    fails(&["apply", "-auto-approve"], &["The state has no record of the object, because it was not created."]);
    {
        let (_serving, address) = serve_emulator(&folder, &[]);
        configure(&address, 14);
        folder.ok(&["apply", "-auto-approve"]);
    }
    fails(
        &["apply", "-auto-approve"],
        &["Identifier: /app/web", "The state has the object as it was before the update."],
    );
    fails(&["destroy", "-auto-approve"], &["Identifier: /app/web", "The object is still in the state."]);
}
