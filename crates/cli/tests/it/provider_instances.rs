//! Provider blocks with `for_each`, from the command line: what the state says, and what people are reported. `GROMA_TOFU` names an OpenTofu
//! that goes on with the state.

use std::path::PathBuf;

use crate::common::Folder;

const MAIN: &str = r#"
variable "places" {
  type    = set(string)
  default = ["a", "b"]
}

variable "objects" {
  type    = map(string)
  default = { one = "a", two = "b" }
}

provider "terraform" {
  alias    = "by"
  for_each = var.places
}

resource "terraform_data" "x" {
  for_each = var.objects
  provider = terraform.by[each.value]
  input    = each.key
}

module "m" {
  source    = "./m"
  for_each  = var.objects
  providers = { terraform = terraform.by[each.value] }
}
"#;

const MODULE: &str = "resource \"terraform_data\" \"y\" {\n  input = \"y\"\n}\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", MAIN).write("m/main.tf", MODULE);
    folder.ok(&["init"]);
    folder
}

/// Who manages what, as the state file has it: a line for each `provider` in it.
fn managers(folder: &Folder) -> Vec<String> {
    let text = folder.read("terraform.tfstate");
    let line = |line: &str| {
        line.trim().strip_prefix("\"provider\": \"").map(|rest| rest.trim_end_matches("\",").replace('\\', ""))
    };
    text.lines().filter_map(line).collect()
}

fn by(key: &str) -> String {
    format!("provider[\"terraform.io/builtin/terraform\"].by[\"{key}\"]")
}

#[test]
fn state_records_the_provider_instance_of_each_object() {
    let folder = folder();
    folder.ok(&["plan", "-out=saved"]);
    folder.ok(&["apply", "saved"]);
    let both = [by("a"), by("b"), by("a"), by("b")];
    assert_eq!(managers(&folder), both);
    assert!(folder.ok(&["plan"]).contains("No changes."));

    // Commands that change the state leave it so.
    folder.ok(&["state", "mv", "terraform_data.x[\"two\"]", "terraform_data.z"]);
    assert_eq!(managers(&folder), [by("a"), by("b"), by("a"), by("b")]);
    folder.ok(&["state", "mv", "terraform_data.z", "terraform_data.x[\"two\"]"]);
    folder.ok(&["taint", "terraform_data.x[\"two\"]"]);
    folder.ok(&["untaint", "terraform_data.x[\"two\"]"]);
    assert_eq!(managers(&folder), both);
    folder.ok(&["state", "replace-provider", "-auto-approve", "terraform.io/builtin/terraform", "acme/x"]);
    assert!(managers(&folder).contains(&"provider[\"registry.terraform.io/acme/x\"].by[\"b\"]".to_owned()));
    folder.ok(&["state", "replace-provider", "-auto-approve", "acme/x", "terraform.io/builtin/terraform"]);
    assert_eq!(managers(&folder), both);
    assert!(folder.ok(&["plan"]).contains("No changes."));

    // A block that has no for_each any more is one for all, as everywhere else.
    folder.write(
        "main.tf",
        &MAIN.replace("  for_each = var.places\n", "").replace("terraform.by[each.value]", "terraform.by"),
    );
    folder.ok(&["apply", "-auto-approve"]);
    let of_all = "provider[\"terraform.io/builtin/terraform\"].by";
    assert_eq!(managers(&folder), [of_all; 3]);
    folder.write("main.tf", MAIN);
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(managers(&folder), both);
    folder.ok(&["destroy", "-auto-approve"]);
    assert_eq!(managers(&folder), [""; 0]);
}

#[test]
fn first_provider_instances_are_recorded() {
    let folder = Folder::new();
    let before = "resource \"terraform_data\" \"before\" {}\n";
    folder.write("main.tf", before);
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &format!("{MAIN}\n{before}")).write("m/main.tf", MODULE);
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    let plain = "provider[\"terraform.io/builtin/terraform\"]".to_owned();
    assert_eq!(managers(&folder), [plain, by("a"), by("b"), by("a"), by("b")]);
    assert!(folder.ok(&["plan"]).contains("No changes."));
}

#[test]
fn removed_provider_instance_error_names_its_users() {
    let folder = folder();
    folder.ok(&["apply", "-auto-approve"]);
    let said = folder.fails(&["plan", "-no-color", "-var=places=[\"a\"]"]);
    assert!(said.contains("Error: Provider instance not present") && said.contains("on main.tf line 19"), "{said}");
    let said: String = said.split_whitespace().flat_map(|word| [word, " "]).collect();
    assert!(
        said.contains("│ with terraform_data.x[\"two\"],") || said.contains("with terraform_data.x[\"two\"],"),
        "{said}"
    );
    assert!(said.contains("has only the key \"a\"."), "{said}");
    let said = folder.fails(&["plan", "-no-color", "-var=places=[\"a\"]", "-var=objects={one=\"a\"}"]);
    assert!(
        said.contains("terraform_data.x[\"two\"]") && said.contains("module.m[\"two\"].terraform_data.y"),
        "{said}"
    );
    folder.ok(&["apply", "-auto-approve", "-var=objects={one=\"a\"}"]);
    folder.ok(&["apply", "-auto-approve", "-var=places=[\"a\"]", "-var=objects={one=\"a\"}"]);
    assert_eq!(managers(&folder), [by("a"), by("a")]);
}

#[test]
fn provider_instances_are_shared_with_opentofu() {
    let Some(tofu) = std::env::var_os("GROMA_TOFU").map(PathBuf::from) else {
        println!("skipped: no OpenTofu");
        return;
    };
    let ours = folder();
    let theirs = ours.also_for(&tofu).with("TF_CLI_CONFIG_FILE", "/dev/null");
    theirs.ok(&["init"]);
    ours.ok(&["apply", "-auto-approve"]);
    let both = managers(&ours);
    assert!(theirs.ok(&["plan", "-no-color"]).contains("No changes."));
    theirs.ok(&["apply", "-auto-approve", "-replace=terraform_data.x[\"two\"]"]);
    assert_eq!(managers(&ours), both);
    assert!(ours.ok(&["plan", "-no-color"]).contains("No changes."));
    ours.ok(&["apply", "-auto-approve", "-var=objects={one=\"b\"}"]);
    assert!(theirs.ok(&["plan", "-no-color", "-var=objects={one=\"b\"}"]).contains("No changes."));
    theirs.ok(&["destroy", "-auto-approve"]);
}

#[test]
fn provider_instances_must_not_depend_on_plan_time() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "provider \"terraform\" {\n  alias    = \"by\"\n  for_each = toset([plantimestamp()])\n}\nresource \"terraform_data\" \"x\" {\n  \
         provider = terraform.by[\"a\"]\n}\n",
    );
    let reported = folder.fails(&["plan"]);
    assert!(
        reported.contains("Error: Invalid for_each argument") && reported.contains("plantimestamp()"),
        "{reported}"
    );
}
