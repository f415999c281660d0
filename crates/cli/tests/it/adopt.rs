//! `cloudcontrol adopt`: blocks for existing objects that a plan imports without changes.

use crate::common::Folder;

const PROVIDER: &str = "provider \"awscc\" {\n  region   = \"eu-central-1\"\n  emulator = {}\n}\n";

const OBJECTS: &str = r#"
resource "awscc_s3_bucket" "assets" {
  bucket_name = "assets-prod"
  tags        = [{ key = "team", value = "web" }]

  versioning_configuration = {
    status = "Enabled"
  }
}

resource "awscc_logs_log_group" "web" {
  for_each          = toset(["/app/web", "/app/jobs"])
  log_group_name    = each.key
  retention_in_days = 14
}

resource "awscc_iam_role" "worker" {
  role_name = "worker"
  assume_role_policy_document = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "awscc_rds_db_instance" "main" {
  db_instance_identifier = "main"
  db_instance_class      = "db.t3.micro"
  engine                 = "postgres"
  allocated_storage      = "20"
  master_username        = "administrator"
  master_user_password   = "correct-horse"
}

resource "awscc_apigateway_rest_api" "shop" {
  name = "shop"
}

resource "awscc_apigateway_resource" "items" {
  rest_api_id = awscc_apigateway_rest_api.shop.rest_api_id
  parent_id   = awscc_apigateway_rest_api.shop.root_resource_id
  path_part   = "items"
}

output "api" {
  value = awscc_apigateway_rest_api.shop.rest_api_id
}
"#;

/// Creates the objects and forgets them. Returns the identifier of the API.
fn unmanaged(folder: &Folder) -> String {
    folder.write("main.tf", &format!("{PROVIDER}{OBJECTS}"));
    folder.ok(&["apply", "-auto-approve"]);
    let api = folder.ok(&["output", "-raw", "api"]);
    std::fs::remove_file(folder.path("terraform.tfstate")).unwrap();
    folder.write("main.tf", PROVIDER);
    api
}

#[test]
fn adopted_objects_are_imported_without_changes() {
    let folder = Folder::new();
    let api = unmanaged(&folder);
    let types = [
        "AWS::S3::Bucket",
        "AWS::Logs::LogGroup",
        "awscc_iam_role",
        "awscc_rds_db_instance",
        "awscc_apigateway_rest_api",
    ];
    let mut blocks: Vec<String> = types.iter().map(|name| folder.ok(&["cloudcontrol", "adopt", name])).collect();
    let model = format!("-model={{\"RestApiId\": \"{api}\"}}");
    blocks.push(folder.ok(&["cloudcontrol", "adopt", &model, "awscc_apigateway_resource"]));
    assert!(!blocks.concat().contains("correct-horse"), "{}", blocks.concat());
    folder.write("adopted.tf", &blocks.concat());

    let planned = folder.ok(&["plan"]);
    assert!(planned.contains("Plan: 7 to import, 0 to add, 0 to change, 0 to destroy."), "{planned}");
    let applied = folder.ok(&["apply", "-auto-approve"]);
    assert!(applied.contains("7 imported, 0 added, 0 changed, 0 destroyed."), "{applied}");
    assert_eq!(folder.run(&["plan", "-detailed-exitcode"]).code, 0);

    // Managed objects are not printed again.
    let ran = folder.run(&["cloudcontrol", "adopt", "awscc_logs_log_group"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("Object already managed"), "{}", ran.err);
}

#[test]
fn adopted_objects_can_be_chosen_by_identifier() {
    let folder = Folder::new();
    unmanaged(&folder);
    let blocks = folder.ok(&["cloudcontrol", "adopt", "awscc_logs_log_group", "/app/web"]);
    assert!(blocks.contains("to = awscc_logs_log_group.web\n  id = \"/app/web\""), "{blocks}");
    assert!(!blocks.contains("/app/jobs"), "{blocks}");

    let missing = folder.fails(&["cloudcontrol", "adopt", "awscc_logs_log_group", "/none"]);
    assert!(missing.contains("non-existent"), "{missing}");
    let model = folder.fails(&["cloudcontrol", "adopt", "-model=[]", "awscc_logs_log_group"]);
    assert!(model.contains("Invalid model"), "{model}");
    let unknown = folder.fails(&["cloudcontrol", "adopt", "aws_s3_bucket"]);
    assert!(unknown.contains("Unknown resource type"), "{unknown}");
}

#[test]
fn objects_of_another_provider_configuration_do_not_count_as_managed() {
    let folder = Folder::new();
    let provider = |alias: &str, region: &str| {
        format!("provider \"awscc\" {{\n{alias}  region   = \"{region}\"\n  emulator = {{}}\n}}\n")
    };
    let providers = provider("", "eu-central-1") + &provider("  alias    = \"virginia\"\n", "us-east-1");
    let group = |name: &str, argument: &str| {
        format!("resource \"awscc_logs_log_group\" \"{name}\" {{\n{argument}  log_group_name = \"/app/web\"\n}}\n")
    };
    // The same name in three regions: one forgotten, one of another provider block, one with a region of its own.
    folder.write("main.tf", &(providers.clone() + &group("home", "")));
    folder.ok(&["apply", "-auto-approve"]);
    std::fs::remove_file(folder.path("terraform.tfstate")).unwrap();
    let managed = group("virginia", "  provider = awscc.virginia\n") + &group("ireland", "  region = \"eu-west-1\"\n");
    folder.write("main.tf", &(providers + &managed));
    folder.ok(&["apply", "-auto-approve"]);

    for arguments in [
        &["cloudcontrol", "adopt", "awscc_logs_log_group"][..],
        &["cloudcontrol", "adopt", "awscc_logs_log_group", "/app/web"],
    ] {
        let adopted = folder.run(arguments);
        assert!(
            adopted.out.contains("to = awscc_logs_log_group.web\n  id = \"/app/web\""),
            "{}{}",
            adopted.out,
            adopted.err
        );
        assert!(!adopted.err.contains("already managed"), "{}", adopted.err);
    }
    let managed = folder.run(&["cloudcontrol", "adopt", "-provider=awscc.virginia", "awscc_logs_log_group"]);
    assert_eq!((managed.code, managed.out.as_str()), (0, ""), "{}", managed.err);
    assert!(managed.err.contains("awscc_logs_log_group.virginia, so no blocks are printed"), "{}", managed.err);

    let blocks = folder.ok(&["cloudcontrol", "adopt", "awscc_logs_log_group"]);
    folder.write("adopted.tf", &blocks);
    let planned = folder.ok(&["plan"]);
    assert!(planned.contains("Plan: 1 to import, 0 to add, 0 to change, 0 to destroy."), "{planned}");
}
