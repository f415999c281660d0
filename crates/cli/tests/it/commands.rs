//! Commands end to end.

use crate::common::Folder;

const COUNTED: &str = r#"
variable "size" {
  type    = number
  default = 2
}

resource "terraform_data" "item" {
  count = var.size
  input = "number ${count.index}"
}

output "inputs" {
  value = terraform_data.item[*].input
}
"#;

const ASKING: &str = r#"
variable "need" {
  type        = number
  description = "How many are needed."
}

resource "terraform_data" "a" {
  input = var.need
}
"#;

fn counted() -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", COUNTED);
    folder
}

#[test]
fn version_has_the_first_line_that_wrappers_parse() {
    let text = Folder::new().ok(&["version"]);
    // Wrappers hand on whatever they were given.
    assert_eq!(Folder::new().ok(&["version", "more"]), text);
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("Terraform v1.15.5 "), "{first}");
    assert!(first.contains("Groma"), "{first}");
    assert_eq!(Folder::new().ok(&["-version"]), text);
}

#[test]
fn plan_after_apply_has_no_changes() {
    let folder = counted();
    let applied = folder.ok(&["apply", "-auto-approve"]);
    assert!(applied.contains("Apply complete! Resources: 2 added, 0 changed, 0 destroyed."), "{applied}");
    let planned = folder.ok(&["plan", "-detailed-exitcode"]);
    assert!(planned.contains("No changes. Your infrastructure matches the configuration."), "{planned}");
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.item[0]\nterraform_data.item[1]\n");
    assert_eq!(folder.ok(&["output"]), "inputs = [\n  \"number 0\",\n  \"number 1\",\n]\n");
    assert_eq!(folder.ok(&["output", "-json", "inputs"]), "[\"number 0\",\"number 1\"]\n");
}

#[test]
fn detailed_exit_codes_distinguish_changes() {
    let folder = counted();
    assert_eq!(folder.run(&["plan", "-detailed-exitcode"]).code, 2);
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(folder.run(&["plan", "-detailed-exitcode"]).code, 0);
    assert_eq!(folder.run(&["plan", "-detailed-exitcode", "-var", "size=1"]).code, 2);
}

#[test]
fn only_yes_approves() {
    let folder = counted();
    for answer in ["no\n", "y\n", "\n", "YES\n"] {
        let ran = folder.run_with_input(&["apply"], answer);
        assert_eq!(ran.code, 1, "{answer:?}");
        assert!(ran.out.contains("Apply cancelled."), "{}", ran.out);
        assert!(!folder.path("terraform.tfstate").exists());
    }
    assert_eq!(folder.run_with_input(&["apply"], "yes\n").code, 0);
    assert!(folder.path("terraform.tfstate").exists());
    let ran = folder.run_with_input(&["destroy"], "no\n");
    assert!(ran.out.contains("Destroy cancelled."), "{}", ran.out);
}

#[test]
fn end_of_input_is_not_approval() {
    let folder = counted();
    let ran = folder.run_with_input(&["apply"], "");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("error asking for approval: EOF"), "{}", ran.err);
    assert!(!folder.path("terraform.tfstate").exists());
}

#[test]
fn missing_variables_are_prompted_for_unless_input_is_disabled() {
    let folder = Folder::new();
    folder.write("main.tf", ASKING);
    let asked = folder.run_with_input(&["apply"], "5\nyes\n");
    assert_eq!(asked.code, 0, "{}{}", asked.out, asked.err);
    assert!(asked.out.starts_with("var.need\n  How many are needed.\n\n  Enter a value: "), "{}", asked.out);
    for arguments in [&["plan", "-input=false"][..], &["plan", "-json"]] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 1);
        assert!(format!("{}{}", ran.out, ran.err).contains("No value for required variable"), "{}{}", ran.out, ran.err);
    }
    folder.write("main.tf", "variable \"once\" {\n  ephemeral = true\n}\n");
    let asked = folder.run_with_input(&["plan"], "x\n");
    assert!(asked.out.starts_with("var.once (ephemeral)\n"), "{}", asked.out);
    let forbidden = Folder::new().with("TF_INPUT", "0");
    forbidden.write("main.tf", ASKING);
    assert!(!forbidden.run(&["plan"]).out.contains("Enter a value"));
}

#[test]
fn variable_values_come_from_all_sources() {
    let folder = Folder::new().with("TF_VAR_need", "1");
    folder.write("main.tf", ASKING);
    assert!(folder.ok(&["plan"]).contains("+ input  = 1"));
    folder.write("terraform.tfvars", "need = 2");
    assert!(folder.ok(&["plan"]).contains("+ input  = 2"));
    folder.write("x.auto.tfvars", "need = 3");
    assert!(folder.ok(&["plan"]).contains("+ input  = 3"));
    folder.write("y.tfvars", "need = 4");
    assert!(folder.ok(&["plan", "-var-file=y.tfvars"]).contains("+ input  = 4"));
    assert!(folder.ok(&["plan", "-var-file=y.tfvars", "-var", "need=5"]).contains("+ input  = 5"));
    assert!(folder.ok(&["plan", "-var", "need=5", "-var-file=y.tfvars"]).contains("+ input  = 4"));
}

/// As in repositories that link every environment to one file, which each person makes.
#[cfg(unix)]
#[test]
fn dangling_link_is_an_error_except_for_terraform_tfvars() {
    let link = |folder: &Folder, name: &str| {
        std::os::unix::fs::symlink("../nowhere.tfvars", folder.path(name)).unwrap();
    };
    let folder = Folder::new();
    folder.write("main.tf", "variable \"x\" {\n  default = 1\n}\noutput \"x\" {\n  value = var.x\n}\n");
    link(&folder, "terraform.tfvars");
    link(&folder, "terraform.tfvars.json");
    assert!(folder.ok(&["plan"]).contains("+ x = 1"));
    link(&folder, "x.auto.tfvars");
    assert!(folder.fails(&["plan"]).contains("x.auto.tfvars"));
}

#[test]
fn saved_plan_is_applied_as_shown() {
    let folder = counted();
    let planned = folder.ok(&["plan", "-out=saved"]);
    assert!(planned.contains("Saved the plan to: saved"), "{planned}");
    let shown = folder.ok(&["show", "saved"]);
    assert!(planned.starts_with(&shown), "{shown}");
    folder.write("main.tf", "");
    assert!(folder.ok(&["apply", "saved"]).contains("2 added"));
    let stale = folder.fails(&["apply", "saved"]);
    assert!(stale.contains("Saved plan is stale"), "{stale}");
}

#[test]
fn destroy_leaves_nothing() {
    let folder = counted();
    folder.ok(&["apply", "-auto-approve"]);
    let destroyed = folder.ok(&["destroy", "-auto-approve"]);
    assert!(destroyed.contains("Destroy complete! Resources: 2 destroyed."), "{destroyed}");
    assert_eq!(folder.ok(&["state", "list"]), "");
    assert_eq!(folder.ok(&["show"]), "The state file is empty. No resources are represented.\n");
}

#[test]
fn targets_and_replacements_are_addresses() {
    let folder = counted();
    folder.ok(&["apply", "-auto-approve"]);
    let replaced = folder.ok(&["plan", "-replace=terraform_data.item[1]"]);
    assert!(replaced.contains("# terraform_data.item[1] will be replaced, as requested"), "{replaced}");
    assert!(folder.fails(&["plan", "-replace=foo"]).contains("Invalid force-replace address \"foo\""));
    assert!(folder.fails(&["plan", "-target=a b"]).contains("Invalid target \"a b\""));
    let partial = folder.ok(&["plan", "-var", "size=0", "-target=terraform_data.item[1]"]);
    assert!(partial.contains("1 to destroy") && partial.contains("Resource targeting is in effect"), "{partial}");
}

#[test]
fn empty_flags_count_as_missing() {
    let folder = counted();
    folder.ok(&["init", "-plugin-dir=", "-from-module=", "-backend-config="]);
    assert_eq!(folder.ok(&["graph", "-type="]), folder.ok(&["graph"]));
}

#[test]
fn target_and_exclude_files_are_read() {
    let folder = counted();
    folder.write("these", "# the second one\n\n  terraform_data.item[1]\n");
    let included = folder.ok(&["plan", "-target-file=these"]);
    assert!(included.contains("terraform_data.item[1]") && included.contains("Plan: 1 to add"), "{included}");
    let all = folder.ok(&["plan"]);
    let excluded = folder.ok(&["plan", "-exclude-file=these"]);
    assert!(
        !excluded.contains("terraform_data.item[1]") && excluded.contains("neither the -exclude addresses"),
        "{excluded}"
    );
    assert!(all.contains("terraform_data.item[1]"));
    assert_eq!(
        folder.ok(&["plan", "-exclude=terraform_data.item[1]"]).matches("will be created").count(),
        all.matches("will be created").count() - 1
    );
    let both = folder.fails(&["plan", "-exclude-file=these", "-target=terraform_data.item[0]"]);
    assert!(both.contains("Invalid combination of arguments"), "{both}");
    folder.write("those", "terraform_data.item[0]\nterraform_data.item[\n");
    let broken = folder.fails(&["apply", "-exclude-file=those"]);
    assert!(
        broken.contains("Invalid address \"terraform_data.item[\"") && broken.contains("those, line 2"),
        "{broken}"
    );
    assert!(folder.fails(&["plan", "-target-file=none"]).contains("Failed to read file"));
    folder.ok(&["apply", "-auto-approve", "-exclude=terraform_data.item[1]"]);
    assert!(!folder.ok(&["state", "list"]).contains("item[1]"));
}

#[test]
fn json_output_is_one_message_per_line() {
    let folder = counted();
    let out = folder.ok(&["apply", "-json", "-auto-approve"]);
    let kinds: Vec<String> = out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.first().map(String::as_str), Some("version"));
    for kind in ["planned_change", "change_summary", "apply_start", "apply_complete", "outputs"] {
        assert!(kinds.iter().any(|found| found == kind), "{kind} is missing: {kinds:?}");
    }
    let refused = folder.run(&["apply", "-json"]);
    assert_eq!(refused.code, 1);
    assert!(refused.out.contains("Plan file or auto-approve required"), "{}", refused.out);
}

#[test]
fn empty_state_file_is_no_state() {
    let folder = counted();
    folder.write("terraform.tfstate", "");
    assert_eq!(folder.ok(&["show"]), "No state.\n");
    assert!(!folder.ok(&["init"]).contains("found in the state"));
}

#[test]
fn empty_directory_has_no_changes() {
    let folder = Folder::new();
    assert!(folder.fails(&["plan"]).contains("No configuration files"));
    assert!(folder.fails(&["apply"]).contains("No configuration files"));
    folder.ok(&["validate"]);
}

#[test]
fn unknown_backend_is_rejected_by_name() {
    let folder = counted();
    folder.write("backend.tf", "terraform {\n  backend \"floppy\" {\n    path = \"b\"\n  }\n}\n");
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["init"], &["output"], &["state", "list"]] {
        let err = folder.fails(arguments);
        assert!(err.contains("There is no backend type \"floppy\""), "{arguments:?}: {err}");
    }
    assert!(!folder.path("terraform.tfstate").exists());
}

#[test]
fn local_backend_with_empty_path_is_rejected() {
    let folder = Folder::new();
    folder.write("main.tf", "terraform {\n  backend \"local\" {\n    path = \"\"\n  }\n}\n");
    let reported = folder.fails(&["init", "-no-color"]);
    assert!(reported.contains("The \"path\" attribute value must not be empty."), "{reported}");
    assert!(reported.contains("on main.tf line 3"), "{reported}");
}

#[test]
fn local_backend_supports_other_paths() {
    let folder = counted();
    folder.write("backend.tf", "terraform {\n  backend \"local\" {\n    path = \"kept/state.json\"\n  }\n}\n");
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    assert!(folder.path("kept/state.json").exists());
    assert!(!folder.path("terraform.tfstate").exists());
    let other_state = folder.ok(&["state", "list", "-state=kept/state.json"]);
    assert!(other_state.contains("terraform_data.item[0]"), "{other_state}");
}

#[test]
fn damaged_state_is_left_unchanged() {
    let folder = counted();
    for content in ["{\"version\":4,\"ser", "{\"version\":5}", "\u{0}\u{1}"] {
        folder.write("terraform.tfstate", content);
        for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["show"], &["output"], &["state", "list"]] {
            folder.fails(arguments);
            assert_eq!(folder.read("terraform.tfstate"), content, "{arguments:?}");
        }
    }
    folder.write("terraform.tfstate", "");
    folder.ok(&["plan"]);
}

#[test]
fn console_evaluates_each_line() {
    let folder = counted();
    folder.ok(&["apply", "-auto-approve"]);
    let ran = folder.run_with_input(&["console"], "1 + 2\nvar.size\nterraform_data.item[1].input\n{ a = \"b\" }\n");
    assert_eq!(ran.out, "3\n2\n\"number 1\"\n{\n  \"a\" = \"b\"\n}\n");
    assert_eq!(ran.code, 0);
    let wrong = folder.run_with_input(&["console"], "nonsense(\n1\n");
    assert_eq!((wrong.code, &*wrong.out), (1, ""));
}

#[test]
fn validate_reports_source_location() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"x\" {\n  value = var.absent\n}\n");
    let err = folder.fails(&["validate"]);
    assert!(err.contains("on main.tf line 2, in output \"x\":\n   2:   value = var.absent"), "{err}");
    let ran = folder.run(&["validate", "-json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &json["valid"], &json["error_count"]), (1, &false.into(), &1.into()));
    assert_eq!(json["diagnostics"][0]["range"]["start"]["line"], 2);
}

#[test]
fn usage_errors_point_to_help() {
    let folder = counted();
    let err = folder.fails(&["plan", "-nosuch"]);
    assert!(err.contains("flag provided but not defined: -nosuch") && err.contains("terraform plan -help"), "{err}");
    assert!(folder.fails(&["plan", "extra"]).contains("Too many command line arguments"));
    assert!(folder.fails(&["aply"]).contains("Did you mean \"apply\"?"));
    assert_eq!(folder.run(&[]).code, 127);
    assert!(folder.fails(&["-chdir=nowhere", "plan"]).contains("-chdir"));
    let reported = folder.run(&["validate", "-json", "-nosuch"]);
    assert_eq!((reported.code, &*reported.err), (1, ""));
    let result: serde_json::Value = serde_json::from_str(&reported.out).unwrap();
    assert_eq!((&result["valid"], &result["error_count"]), (&false.into(), &1.into()));
    assert_eq!(result["diagnostics"][0]["summary"], "Failed to parse command-line flags");
}

#[test]
fn provider_check_needs_no_configuration() {
    let folder = Folder::new();
    let check = ["provider", "check", "-count=2", "-apply", "terraform.io/builtin/terraform"];
    let text = folder.ok(&check);
    assert!(text.contains("terraform_data: 2 completed") && text.contains("function encode_expr: 2 called"), "{text}");
    assert!(text.contains("1 resource type, 1 data source, ") && text.contains(" functions: 0 errors"), "{text}");
    let report: serde_json::Value = serde_json::from_str(&folder.ok(&[&check[..], &["-json"]].concat())).unwrap();
    assert_eq!(report["resource_types"][0]["name"], "terraform_data");
    assert_eq!(report["resource_types"][0]["findings"], serde_json::json!([]));
    assert_eq!(report["functions"][0]["name"], "decode_tfvars");
    assert!(folder.fails(&["provider", "check", "nosuch/thing"]).contains("Provider not installed"));
}

#[test]
fn cli_args_variables_add_arguments() {
    let folder = counted().with("TF_CLI_ARGS_plan", "-var 'size=5'").with("TF_IN_AUTOMATION", "1");
    let planned = folder.ok(&["plan"]);
    assert!(planned.contains("5 to add"), "{planned}");
    assert!(!planned.contains("-out option"), "{planned}");
}

#[test]
fn workspaces_have_separate_states() {
    let folder = counted().with("TF_WORKSPACE", "other");
    folder.ok(&["apply", "-auto-approve"]);
    assert!(folder.path("terraform.tfstate.d/other/terraform.tfstate").exists());
    assert!(!folder.path("terraform.tfstate").exists());
}

#[test]
fn sensitive_outputs_are_hidden_unless_requested() {
    let folder = Folder::new();
    let text = "variable \"s\" {\n  sensitive = true\n  default   = \"hush\"\n}\noutput \"s\" {\n  value     = var.s\n  sensitive = true\n}\n\
                resource \"terraform_data\" \"t\" {\n  triggers_replace = var.s\n}\n";
    folder.write("main.tf", text);
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["show"], &["output"], &["plan", "-json"]] {
        let ran = folder.run(arguments);
        assert!(!ran.out.contains("hush") && !ran.err.contains("hush"), "{arguments:?}\n{}", ran.out);
    }
    assert_eq!(folder.ok(&["output", "-raw", "s"]), "hush");
}

#[test]
fn log_reports_operations_without_values() {
    let folder = Folder::new().with("TF_LOG", "debug").with("TF_LOG_PATH", "log.txt");
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n  input = \"very special\"\n}\n");
    let ran = folder.run(&["apply", "-auto-approve"]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let log = folder.read("log.txt");
    assert!(log.contains("[INFO] terraform_data.a: Create begins"), "{log}");
    assert!(!log.contains("very special"), "{log}");
}

#[cfg(unix)]
#[test]
fn interrupt_at_the_approval_prompt_changes_nothing() {
    let folder = counted();
    let ran = folder.interrupted(&["apply"], "Enter a value:");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("error asking for approval: interrupted"), "{}", ran.err);
    assert!(!folder.path("terraform.tfstate").exists());
    assert!(!folder.path(".terraform.tfstate.lock.info").exists());
}

#[test]
fn default_registry_follows_existing_lock_file() {
    let text = "terraform {\n  required_providers {\n    x = { source = \"a/x\" }\n  }\n}\n";
    let lock = "provider \"registry.opentofu.org/hashicorp/random\" {\n  version = \"3.0.0\"\n}\n";
    let folder = Folder::new();
    folder.write("main.tf", text);
    assert!(folder.ok(&["providers"]).contains("provider[registry.terraform.io/a/x]"));
    folder.write(".terraform.lock.hcl", lock);
    assert!(folder.ok(&["providers"]).contains("provider[registry.opentofu.org/a/x]"));
    // So do the CLI configuration and the arguments of commands.
    let reported = folder.fails(&["providers", "lock", "a/y"]);
    assert!(reported.replace('\n', " ").contains("registry.opentofu.org/a/y"), "{reported}");
    folder.write("rc", "provider_installation {\n  dev_overrides {\n    \"a/x\" = \"nowhere\"\n  }\n  direct {}\n}\n");
    let folder = folder.with("TF_CLI_CONFIG_FILE", "rc");
    assert!(folder.ok(&["validate"]).contains("registry.opentofu.org/a/x in nowhere"));
    let set = Folder::new().with("GROMA_REGISTRY", "registry.example.com");
    set.write("main.tf", text).write(".terraform.lock.hcl", lock);
    assert!(set.ok(&["providers"]).contains("provider[registry.example.com/a/x]"));
}

#[test]
fn validate_warns_about_development_overrides_despite_errors() {
    let folder = Folder::new().with("TF_CLI_CONFIG_FILE", "rc");
    folder.write("rc", "provider_installation {\n  dev_overrides {\n    \"a/x\" = \"nowhere\"\n  }\n  direct {}\n}\n");
    folder.write("main.tf", "module \"m\" {\n  source = \"a/m/x\"\n}\n");
    let reported = folder.run(&["validate", "-json"]).out;
    let reported: serde_json::Value = serde_json::from_str(&reported).unwrap();
    let summaries: Vec<_> = reported["diagnostics"].as_array().unwrap().iter().map(|one| &one["summary"]).collect();
    assert_eq!(summaries, ["Provider development overrides are in effect", "Module not installed"]);
}

#[test]
fn emulator_commands_do_not_create_the_file() {
    let folder = Folder::new();
    assert!(folder.fails(&["emulator", "list"]).contains("No emulator file"));
    assert!(!folder.path("groma-emulator.json").exists());
    assert!(folder.fails(&["emulator", "serve", "-listen=nowhere"]).contains("Invalid address to listen on"));
}

#[test]
fn commands_without_values_check_variable_flags() {
    let folder = Folder::new();
    folder.write("main.tf", "variable \"l\" {\n  type    = list(string)\n  default = []\n}\n");
    folder.write("other.tfvars", "other = 1\n");
    let commands: &[&[&str]] = &[
        &["init"],
        &["init", "-get=false"],
        &["get"],
        &["graph"],
        &["graph", "-type=plan"],
        &["modules"],
        &["providers"],
        &["providers", "lock"],
        &["providers", "schema", "-json"],
    ];
    let with = |command: &[&str], option: &str| {
        [command, &[option]].concat().iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    for command in commands {
        for (option, summary) in [
            ("-var=undeclared=1", "Value for undeclared variable"),
            ("-var=l", "Invalid -var option"),
            ("-var=l={", "Missing expression"),
            ("-var-file=nope", "Failed to read variables file"),
        ] {
            let words = with(command, option);
            let reported = folder.fails(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(reported.contains(&format!("Error: {summary}")), "{words:?}: {reported}");
        }
        // Whether a value fits its type is for a plan to say.
        for option in ["-var=l=1", "-var-file=other.tfvars"] {
            folder.ok(&with(command, option).iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
    assert!(folder.ok(&["init", "-var-file=other.tfvars"]).contains("Warning: Value for undeclared variable"));
}

#[test]
fn obsolete_flags_are_accepted() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    assert_eq!(folder.ok(&["graph", "-verbose"]), folder.ok(&["graph"]));
    assert_eq!(folder.ok(&["graph", "-module-depth=1"]), folder.ok(&["graph"]));
}

#[test]
fn lock_file_is_created_on_request() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    assert!(folder.ok(&["providers", "lock"]).contains("found no need for changes"));
    let lock = folder.read(".terraform.lock.hcl");
    assert!(lock.lines().all(|line| line.is_empty() || line.starts_with('#')), "{lock}");
    folder.write(
        ".terraform.lock.hcl",
        "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.1\"\n  hashes = [\"h1:abc\"]\n}\n",
    );
    folder.ok(&["providers", "lock"]);
    assert!(folder.read(".terraform.lock.hcl").contains("  hashes = [\n    \"h1:abc\",\n  ]\n"));
}

#[test]
fn init_in_empty_directory_reports_missing_variable_file() {
    let folder = Folder::new();
    assert!(folder.fails(&["init", "-var-file=nope"]).contains("Error: Failed to read variables file"));
    folder.ok(&["init", "-var=x=1"]);
}
