//! `plan -show-patch`, and failed requests of Cloud Control.

use serde_json::Value as Json;

use crate::common::Folder;

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
