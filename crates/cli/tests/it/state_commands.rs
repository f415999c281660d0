//! State-changing commands: recorded, and compared with Terraform if it is available.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value as Json;

use crate::common::normalization::terraform;
use crate::common::{Folder, Ran};

const CONFIGURATION: &str = r#"
resource "terraform_data" "a" {
  input = "a"
}

resource "terraform_data" "c" {
  count = 2
  input = "c${count.index}"
}

resource "terraform_data" "e" {
  for_each = toset(["x", "y"])
  input    = terraform_data.a.output
}

module "m" {
  source = "./m"
}

module "k" {
  source   = "./m"
  for_each = toset(["p", "q"])
}
"#;

/// The steps; every word after the first `|` is given as input.
const STEPS: &[&str] = &[
    "state list",
    "state mv",
    "state mv a b",
    "state mv terraform_data.a terraform_data.b",
    "state mv terraform_data.nope terraform_data.z",
    "state mv -dry-run terraform_data.e terraform_data.f",
    "state mv terraform_data.c terraform_data.d",
    "state mv terraform_data.d[0] terraform_data.d[5]",
    "state mv terraform_data.d[5] terraform_data.single",
    "state mv terraform_data.e terraform_data.d",
    "state mv terraform_data.e[\"x\"] terraform_data.e[\"y\"]",
    "state mv terraform_data.b terraform_data.b",
    "state mv terraform_data.b other_type.b",
    "state mv terraform_data.b data.terraform_data.b",
    "state mv terraform_data.b module.m",
    "state mv terraform_data.e terraform_data.e2[0]",
    "state mv module.m module.n",
    "state mv module.k module.kk",
    "state mv module.n terraform_data.q",
    "state mv module.k[\"p\"] module.k[\"r\"]",
    "state mv terraform_data.b module.new.terraform_data.b",
    "state mv -state-out=other.tfstate terraform_data.e terraform_data.e",
    "state mv -state-out=other.tfstate terraform_data.single terraform_data.e[\"z\"]",
    "state list -state=other.tfstate",
    "state rm",
    "state rm -dry-run module.k terraform_data.d",
    "state rm terraform_data.nope",
    "state rm terraform_data.d terraform_data.nope",
    "state rm -state=other.tfstate terraform_data.e[\"z\"]",
    "state rm -backup=kept -ignore-remote-version -lock-timeout=1s module.k",
    "state replace-provider a",
    "state replace-provider a b",
    "state replace-provider a/b/c/d/e b",
    "state replace-provider terraform hashicorp/terraform-provider-b",
    "state replace-provider terraform.io/builtin/terraform acme/x|no",
    "state replace-provider terraform.io/builtin/terraform acme/x",
    "state replace-provider terraform.io/builtin/terraform acme/x|yes",
    "state replace-provider -auto-approve acme/x terraform.io/builtin/terraform",
    "state list terraform_data.nope",
    "state list module.nope",
    "state list terraform_data.d[7]",
    "state identities",
    "state identities -json",
    "state pull",
    "state push",
    "state push old.tfstate",
    "state push nofile",
    "state push -force old.tfstate",
    "state list",
    "state push stranger.tfstate",
    "state push -force stranger.tfstate",
    "state pull",
    "workspace list",
    "workspace show",
    "workspace new a/b",
    "workspace new default",
    "workspace new blue",
    "workspace new blue",
    "workspace list",
    "workspace show",
    "state list",
    "workspace select nope",
    "workspace select -or-create green",
    "workspace select green",
    "workspace delete nope",
    "workspace delete green",
    "workspace delete blue",
    "workspace select default",
    "workspace delete default",
    "workspace delete green",
    "workspace new -state=old.tfstate copied",
    "state list",
    "workspace select default",
    "workspace delete copied",
    "workspace delete -force copied",
    "workspace list",
    "env list",
    "force-unlock",
    "force-unlock abc",
    "force-unlock -force abc",
];

/// Steps of the same kind, on a state of their own.
const MORE_STEPS: &[&str] = &[
    "state list terraform_data.e terraform_data.a",
    "state list terraform_data.a terraform_data.a",
    "state list -state= -id= terraform_data.a",
    "state list -state=blank.tfstate",
    "state rm -state=blank.tfstate terraform_data.a",
    "state mv terraform_data.c module.outer.terraform_data.c",
    "state mv module.m module.outer.module.inner",
    "state mv -dry-run module.outer module.out",
    "state mv module.outer module.out",
    "state mv -state-out=old.tfstate terraform_data.a terraform_data.other",
    "state mv -backup= terraform_data.e[\"x\"] terraform_data.e[\"z\"]",
    "state rm -dry-run terraform_data.nope",
    "state rm -dry-run terraform_data.a terraform_data.e[\"y\"] terraform_data.a",
    "state push blank.tfstate",
    "state rm terraform_data.e module.out module.k",
    "state push -force stranger.tfstate",
    "taint terraform_data.a",
    "taint terraform_data.a",
    "untaint terraform_data.a",
    "untaint terraform_data.a",
    "taint terraform_data.c",
    "taint -state-out=old.tfstate terraform_data.c[1]",
    "state rm terraform_data.c terraform_data.c[0]",
];

fn prepare(folder: &Folder, state: &str) {
    folder.write("main.tf", CONFIGURATION).write("m/main.tf", "resource \"terraform_data\" \"in\" {\n  input = 1\n}\n");
    folder.ok(&["init"]);
    folder.write("terraform.tfstate", state).write("old.tfstate", state).write("blank.tfstate", "");
    folder.write("stranger.tfstate", &state.replace("\"lineage\": \"", "\"lineage\": \"other-"));
}

fn step(folder: &Folder, step: &str) -> Ran {
    let (words, input) = step.split_once('|').unwrap_or((step, ""));
    folder.run_with_input(&words.split(' ').collect::<Vec<_>>(), &format!("{input}\n").replace("\n\n", "").to_owned())
}

/// What must be the same: the text but for its prose, the code, and the summary of an error.
fn essence(step: &str, ran: &Ran) -> String {
    let summary = ran.err.lines().map(bare).find(|line| !line.is_empty()).unwrap_or_default();
    // Terraform ends the sentences of its bare errors, and continues some on the next line.
    let summary: String = summary.trim_start_matches("Error: ").trim_end_matches('.').chars().take(36).collect();
    let mut lines: Vec<String> = ran.out.lines().map(bare).filter(|line| !line.starts_with("To undo this: ")).collect();
    if step.starts_with("workspace") || step.starts_with("env") || step.starts_with("force-unlock") {
        lines.retain(|line| line.starts_with(['*', ' ']) || line.ends_with('!') || line.starts_with("Switched"));
        lines.retain(|line| !line.starts_with("  ") || line.len() < 12);
    }
    if step.starts_with("force-unlock") {
        // Terraform prints the usage here.
        lines.clear();
    }
    if step.starts_with("state replace-provider") || step.starts_with("state mv") {
        // Terraform lists resources and modules in no order.
        lines.sort();
    }
    format!("$ {step}\n{}\n=> {} {summary}\n", lines.join("\n").trim_end(), ran.code)
}

fn bare(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.split('\u{1b}');
    out.push_str(rest.next().unwrap_or_default());
    for piece in rest {
        out.push_str(piece.split_once('m').map_or("", |(_, text)| text));
    }
    out.trim_start_matches(['╷', '│', '╵']).trim_start_matches(|c| c == ' ' && out.starts_with('│')).to_owned()
}

/// A state with made-up ids, the same in every run.
fn first_state() -> String {
    let folder = Folder::new();
    folder.write("main.tf", CONFIGURATION).write("m/main.tf", "resource \"terraform_data\" \"in\" {\n  input = 1\n}\n");
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    crate::common::normalization::normalize_ids(&folder.read("terraform.tfstate"))
}

/// The state without what is made up.
fn state_of(folder: &Folder, name: &str) -> String {
    let text = std::fs::read_to_string(folder.path(name)).unwrap_or_default();
    crate::common::normalization::normalize_ids(&text)
}

#[test]
fn first_steps_match_record() {
    let folder = Folder::new();
    prepare(&folder, &first_state());
    let mut text = String::new();
    for one in STEPS {
        text.push_str(&essence(one, &step(&folder, one)));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn further_steps_match_record() {
    let folder = Folder::new();
    prepare(&folder, &first_state());
    let text: String = MORE_STEPS.iter().map(|one| essence(one, &step(&folder, one))).collect();
    insta::assert_snapshot!(text);
}

#[test]
fn steps_match_terraform() {
    compare(STEPS);
    compare(MORE_STEPS);
}

fn compare(steps: &[&str]) {
    let Some(program) = terraform() else { return };
    let (ours, theirs) = (Folder::new(), Folder::for_program(&program));
    let state = first_state();
    prepare(&ours, &state);
    prepare(&theirs, &state);
    let mut different = Vec::new();
    for one in steps {
        let normalize = |ran: &Ran| crate::common::normalization::normalize_ids(&essence(one, ran));
        let (our, their) = (normalize(&step(&ours, one)), normalize(&step(&theirs, one)));
        if our != their {
            different.push(format!("--- terraform\n{their}--- groma\n{our}"));
        }
        for name in [
            "terraform.tfstate",
            "other.tfstate",
            "old.tfstate",
            "terraform.tfstate.d/copied/terraform.tfstate",
            ".terraform/environment",
        ] {
            let (our, their) = (state_of(&ours, name), state_of(&theirs, name));
            if our != their {
                different
                    .push(format!("{one}: {name}\n{}", crate::common::normalization::first_difference(&their, &our)));
                break;
            }
        }
    }
    assert!(different.is_empty(), "{} steps differ\n{}", different.len(), different.join("\n"));
}

#[test]
fn undo_command_restores_the_state() {
    let folder = Folder::new();
    prepare(&folder, &first_state());
    let before = folder.ok(&["state", "list"]);
    for change in [
        &["state", "rm", "module.k", "terraform_data.a"][..],
        &["state", "mv", "terraform_data.c", "module.x.terraform_data.c"],
        &["state", "replace-provider", "-auto-approve", "terraform.io/builtin/terraform", "acme/x"],
        &["state", "push", "-force", "stranger.tfstate"],
    ] {
        let content = content_of(&folder);
        let said = folder.ok(change);
        assert_ne!(content_of(&folder), content);
        let undo = said.lines().find_map(|line| line.strip_prefix("To undo this: terraform ")).unwrap();
        let backup = undo.rsplit(' ').next().unwrap();
        assert_eq!(folder.path(backup).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{backup}");
        folder.ok(&undo.split(' ').collect::<Vec<_>>());
        assert_eq!(folder.ok(&["state", "list"]), before);
        assert_eq!(content_of(&folder), content);
    }
    folder.ok(&["workspace", "new", "-state=old.tfstate", "w"]);
    assert_eq!(
        folder.path("terraform.tfstate.d/w/terraform.tfstate").metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    folder.ok(&["workspace", "select", "default"]);
    let said = folder.ok(&["workspace", "delete", "-force", "w"]);
    let undo = said.lines().find_map(|line| line.strip_prefix("To undo this: terraform ")).unwrap();
    folder.ok(&undo.split(' ').collect::<Vec<_>>());
    assert_eq!(folder.ok(&["state", "list"]), before);
}

/// The state but for its serial, which tells how often it was changed.
fn content_of(folder: &Folder) -> String {
    let text = folder.read("terraform.tfstate");
    text.lines().filter(|line| !line.contains("\"serial\"")).collect()
}

#[test]
fn messages_contain_sentences_that_scripts_match() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["apply", "-auto-approve"]);
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for command in ["taint", "untaint"] {
        let reported = folder.run(&[command, "-allow-missing", "terraform_data.no"]);
        assert!(flat(reported.out + &reported.err).contains("terraform_data.no was not found"), "{command}");
    }
    assert!(flat(folder.ok(&["workspace", "new", "w"])).contains("Created and switched to workspace \"w\"!"));
    assert!(folder.fails(&["providers", "schema"]).contains("The -json flag is required"));
    let overridden = Folder::new().with("TF_WORKSPACE", "chosen");
    assert!(flat(overridden.ok(&["workspace", "list"])).contains("TF_WORKSPACE"));
}

#[test]
fn workspace_of_the_environment_cannot_be_switched() {
    let folder = Folder::new().with("TF_WORKSPACE", "chosen");
    assert_eq!(folder.ok(&["workspace", "show"]), "chosen\n");
    assert!(folder.ok(&["workspace", "list"]).contains("TF_WORKSPACE"));
    assert!(folder.fails(&["workspace", "select", "default"]).contains("TF_WORKSPACE"));
    assert!(folder.fails(&["workspace", "new", "z"]).contains("TF_WORKSPACE"));
}

#[test]
fn workspace_name_cannot_escape_its_directory() {
    let folder = Folder::new();
    folder.write("keep/me", "");
    for name in ["..", ".", "", "a/b", "/tmp"] {
        for task in ["new", "select", "delete"] {
            assert!(folder.fails(&["workspace", task, name]).contains("is not allowed"), "{task} {name}");
        }
    }
    assert!(folder.path("keep/me").exists());
}

#[test]
fn state_list_reports_every_unknown_address() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["apply", "-auto-approve"]);
    let reported = folder.fails(&["state", "list", "terraform_data.a", "none.x", "module.y", "z"]);
    for problem in ["no resource none.x", "no module module.y", "\"z\": "] {
        assert!(reported.contains(problem), "{problem}: {reported}");
    }
}

#[test]
fn state_is_pushed_from_standard_input() {
    let folder = Folder::new();
    let state = first_state();
    let ran = folder.run_with_input(&["state", "push", "-"], &state);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(folder.read("terraform.tfstate"), state);
    let ran = folder.run_with_input(&["state", "push", "-"], "junk");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("Error reading source state"), "{}", ran.err);
}

#[test]
fn state_without_lineage_is_pushed_unchanged() {
    let folder = Folder::new();
    let state = |folder: &Folder| serde_json::from_str::<Json>(&folder.read("terraform.tfstate")).unwrap();
    folder.write("main.tf", "").ok(&["init"]);
    let bare = r#"{"version": 4, "terraform_version": "1.5.0", "serial": 3, "outputs": {}, "resources": []}"#;
    folder.write("bare.tfstate", bare).ok(&["state", "push", "bare.tfstate"]);
    let pushed = state(&folder);
    assert_eq!((&pushed["lineage"], &pushed["serial"]), (&"".into(), &3.into()));
    folder.ok(&["state", "push", "bare.tfstate"]);
    assert_eq!(state(&folder), pushed);
    // What a run makes of it can be reported from others.
    folder.write("main.tf", "output \"o\" {\n  value = 1\n}\n").ok(&["apply", "-auto-approve"]);
    assert_ne!(state(&folder)["lineage"], "");
}

#[test]
fn state_commands_work_with_invalid_child_module() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\noutput \"o\" {\n  value = 1\n}\n");
    folder.ok(&["apply", "-auto-approve"]);
    folder.write(
        "call.tf",
        "variable \"where\" {\n  const = true\n}\nmodule \"m\" {\n  source = \"./${var.where}\"\n}\n",
    );
    folder.write("m/main.tf", "nonsense {\n");
    for where_it_is in ["m", "nowhere"] {
        folder.write("call.auto.tfvars", &format!("where = {where_it_is:?}\n"));
        folder.fails(&["validate"]);
        assert_eq!(folder.ok(&["output", "-raw", "o"]), "1");
        assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
        assert!(folder.ok(&["state", "show", "terraform_data.a"]).contains("terraform_data.a"));
        assert!(folder.ok(&["show"]).contains("terraform_data.a"));
        assert_eq!(folder.ok(&["workspace", "list"]), "* default\n\n");
    }
}

#[test]
fn state_commands_work_without_installed_modules() {
    let folder = Folder::new();
    let resource = "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\noutput \"o\" {\n  value = \"v\"\n}\n";
    let module = "module \"m\" {\n  source  = \"example/module/null\"\n  version = \"1.0.0\"\n}\n";
    folder.write("main.tf", module);
    assert_eq!(folder.ok(&["show"]), "No state.\n");
    assert_eq!(folder.ok(&["show", "-json"]), "{\"format_version\":\"1.0\"}\n");
    folder.write("main.tf", resource);
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &format!("{resource}{module}"));
    assert_eq!(folder.ok(&["output"]), "o = \"v\"\n");
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
    assert!(folder.ok(&["state", "pull"]).contains("\"terraform_data\""));
    assert!(folder.fails(&["plan"]).contains("Module not installed"));
    folder.write("main.tf", &format!("{resource}{module}terraform {{\n  backend \"nowhere\" {{\n  }}\n}}\n"));
    assert!(folder.fails(&["output"]).contains("Invalid backend type"), "other mistakes are reported");
}

#[test]
fn workspace_of_the_environment_cannot_escape_its_directory() {
    for name in ["../out", "a b", ".."] {
        let folder = Folder::new().with("TF_WORKSPACE", name);
        folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n");
        for command in [
            &["apply", "-auto-approve"][..],
            &["plan"],
            &["init"],
            &["state", "list"],
            &["workspace", "show"],
            &["workspace", "list"],
        ] {
            let reported = folder.fails(command);
            assert!(
                reported.contains("Error: Invalid workspace name set using TF_WORKSPACE"),
                "{name} {command:?} {reported}"
            );
            assert!(reported.contains("is not allowed"), "{name} {command:?} {reported}");
        }
    }
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n").write(".terraform/environment", "../out");
    assert!(folder.fails(&["apply", "-auto-approve"]).contains("is not allowed"));
}

#[test]
fn init_creates_the_workspace_of_the_environment() {
    let folder = Folder::new().with("TF_WORKSPACE", "chosen");
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n");
    folder.ok(&["init"]);
    assert!(folder.ok(&["workspace", "list"]).starts_with("  default\n* chosen\n"));
}

#[test]
fn init_ignores_experiments_of_the_environment() {
    for variable in ["TF_ENABLE_PLUGGABLE_STATE_STORAGE", "TF_SKIP_CREATE_DEFAULT_WORKSPACE"] {
        let reported = Folder::new().with(variable, "1").fails(&["init"]);
        assert!(reported.contains("flag without experiments enabled") && reported.contains(variable), "{reported}");
        Folder::new().with(variable, "").ok(&["init"]);
        Folder::new().with(variable, "1").ok(&["version"]);
    }
}

#[test]
fn object_of_newer_schema_version_is_not_shown() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n");
    folder.ok(&["apply", "-auto-approve"]);
    let state = folder.read("terraform.tfstate").replace("\"schema_version\": 0", "\"schema_version\": 7");
    folder.write("terraform.tfstate", &state);
    for command in [&["show"][..], &["show", "-json"], &["state", "show", "terraform_data.a"]] {
        let reported = folder.fails(command);
        assert!(
            reported.contains("terraform_data.a") && reported.contains("version 7, but the version in use"),
            "{command:?}: {reported}"
        );
    }
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
}

#[test]
fn state_out_path_is_reported() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n");
    assert!(folder.ok(&["apply", "-auto-approve", "-state-out=other"]).contains("\nState path: other\n"));
    let again = folder.ok(&["apply", "-auto-approve", "-state=other", "-state-out=third"]);
    assert!(!again.contains("State path"), "nothing was changed: {again}");
}

#[test]
fn refresh_without_objects_warns_despite_outputs() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"o\" {\n  value = \"v\"\n}\n");
    for _ in 0..2 {
        let reported = folder.ok(&["refresh"]);
        assert!(reported.contains("Empty or non-existent state") && reported.ends_with("o = \"v\"\n"), "{reported}");
    }
}

#[test]
fn dependencies_on_a_module_survive_a_key_change() {
    let folder = Folder::new();
    folder
        .write(
            "main.tf",
            "module \"m\" {\n  for_each = { a = 1 }\n  source   = \"./m\"\n}\n\
             resource \"terraform_data\" \"after\" {\n  input = module.m[\"a\"].out\n}\n",
        )
        .write(
            "m/main.tf",
            "resource \"terraform_data\" \"in\" {}\noutput \"out\" {\n  value = terraform_data.in.id\n}\n",
        );
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    folder.ok(&["state", "mv", "module.m[\"a\"]", "module.m[\"b\"]"]);
    assert!(folder.read("terraform.tfstate").contains("\"module.m.terraform_data.in\""));
    folder.ok(&["state", "mv", "module.m[\"b\"]", "module.n"]);
    assert!(!folder.read("terraform.tfstate").contains("\"module.m.terraform_data.in\""));
}

#[test]
fn backup_path_of_an_unwritten_file_is_rejected() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["apply", "-auto-approve"]);
    let reported = folder.fails(&["state", "mv", "-backup-out=kept", "terraform_data.a", "terraform_data.b"]);
    assert!(reported.replace('\n', " ").contains("so it requires -state-out"), "{reported}");
    assert!(folder.ok(&["state", "list"]).contains("terraform_data.a"));
}
