//! Structure of valid configurations after loading.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use groma_address::{ModulePath, ProviderAddress, Resource};
use groma_config::{
    Configuration, IgnoreChanges, LoadOptions, MemoryFiles, Module, OnFailure, ProvisionerWhen, References,
    RemovedFrom, load,
};
use groma_diagnostics::Sources;
use groma_value::{Type, Value};
use support::{load_fine, load_text};

fn only_root(text: &str) -> std::sync::Arc<Module> {
    load_fine(text).root
}

fn path(names: &[&str]) -> ModulePath {
    ModulePath::from_names(names.iter().map(|name| (*name).into()))
}

fn provider_of(configuration: &Configuration, module: &[&str], resource: &str) -> String {
    let path = path(module);
    let resource: Resource =
        configuration.module(&path).unwrap().resources.keys().find(|r| r.to_string() == resource).unwrap().clone();
    let resource = &configuration.module(&path).unwrap().resources[&resource];
    configuration.provider_config(&path, resource).unwrap().to_string()
}

#[test]
fn defaults_are_converted_to_the_variable_type() {
    let root = only_root(
        r#"
variable "plain" {}
variable "all" {
  type        = object({ size = number, name = optional(string, "n") })
  default     = { size = "5" }
  description = "About it."
  sensitive   = true
  ephemeral   = true
  nullable    = false
  deprecated  = "use plain"
  validation {
    condition     = var.all.size > 1
    error_message = "Too small."
  }
}
"#,
    );
    let plain = &root.variables["plain"];
    assert!(plain.is_required() && plain.nullable && !plain.has_type);
    assert_eq!(plain.constraint.ty, Type::Dynamic);
    let all = &root.variables["all"];
    let default = all.default.clone().unwrap();
    assert_eq!(default.attribute("size"), Some(Value::number(5)));
    assert_eq!(default.attribute("name"), Some(Value::string("n")));
    assert!(all.sensitive && all.ephemeral && !all.nullable);
    assert_eq!(all.description.as_deref(), Some("About it."));
    assert_eq!(all.deprecated.as_deref(), Some("use plain"));
    assert_eq!(all.validations.len(), 1);
    assert!(all.default_value().unwrap().marks().is_sensitive());
}

#[test]
fn meta_arguments_are_separated_from_resource_arguments() {
    let root = only_root(
        r#"
resource "terraform_data" "a" {
  for_each   = toset(["x"])
  provider   = terraform.other
  depends_on = [terraform_data.b]
  input      = each.key
  _ {
    count = 5
  }
  lifecycle {
    ignore_changes       = [input]
    replace_triggered_by = [terraform_data.b.id]
    postcondition {
      condition     = self.id != ""
      error_message = "No id."
    }
  }
  connection {
    host = self.id
  }
  provisioner "local-exec" {
    when       = destroy
    on_failure = continue
    command    = "true"
  }
}
resource "terraform_data" "b" {}
provider "terraform" {
  alias = "other"
}
"#,
    );
    let a = &root.resources[&Resource::managed("terraform_data", "a")];
    assert!(a.count.is_none() && a.for_each.is_some() && a.connection.is_some());
    assert_eq!(a.local_provider().to_string(), "terraform.other");
    assert_eq!(a.depends_on.len(), 1);
    let (arguments, problems) = a.body.attributes();
    assert!(problems.is_empty());
    let mut names: Vec<&str> = arguments.iter().map(|argument| &*argument.name.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["count", "input"], "the escape block makes an argument of a meta-argument's name");
    assert!(matches!(&a.lifecycle.ignore_changes, IgnoreChanges::Paths(paths) if paths.len() == 1));
    assert_eq!(a.lifecycle.postconditions.len(), 1);
    assert_eq!(a.provisioners[0].when, ProvisionerWhen::Destroy);
    assert_eq!(a.provisioners[0].on_failure, OnFailure::Continue);
    assert_eq!(root.resources[&Resource::managed("terraform_data", "b")].local_provider().to_string(), "terraform");
}

#[test]
fn ignore_changes_forms() {
    let root = only_root(
        r#"
variable "x" {}
resource "terraform_data" "all" {
  lifecycle {
    ignore_changes = all
  }
}
resource "terraform_data" "expression" {
  lifecycle {
    ignore_changes = var.x ? ["input"] : []
  }
}
"#,
    );
    let ignored =
        |name: &str| root.resources[&Resource::managed("terraform_data", name)].lifecycle.ignore_changes.clone();
    assert_eq!(ignored("all"), IgnoreChanges::All);
    assert!(matches!(ignored("expression"), IgnoreChanges::Expression(_)));
}

#[test]
fn refactoring_blocks_keep_their_addresses() {
    let root = only_root(
        r#"
moved {
  from = module.a["x"].terraform_data.b[0]
  to   = terraform_data.c
}
moved {
  from = module.a
  to   = module.b[1]
}
removed {
  from = module.a.terraform_data.b
  lifecycle {
    destroy = false
  }
}
import {
  for_each = { a = 1 }
  to       = module.m[0].terraform_data.i[each.key]
  id       = each.value
}
"#,
    );
    let moves: Vec<String> = root.moved.iter().map(|moved| format!("{} -> {}", moved.from, moved.to)).collect();
    assert_eq!(moves, [r#"module.a["x"].terraform_data.b[0] -> terraform_data.c"#, "module.a -> module.b[1]"]);
    let removed = &root.removed[0];
    assert!(!removed.destroy);
    assert!(
        matches!(&removed.from, RemovedFrom::Resource(resource) if resource.to_string() == "module.a.terraform_data.b")
    );
    assert_eq!(root.imports[0].to.to_string(), "module.m.terraform_data.i");
}

#[test]
fn module_directories_are_relative_to_the_root_module() {
    let configuration = load_fine(
        r#"
module "network" {
  source = "./modules/network"
}
-- modules/network/main.tf --
module "subnet" {
  source = "../subnet"
}
-- modules/subnet/main.tf --
"#,
    );
    let subnet = configuration.module(&path(&["network", "subnet"])).unwrap();
    assert_eq!(subnet.directory, std::path::Path::new("modules/subnet"));
    assert_eq!(subnet.path.to_string(), "module.network.module.subnet");
    let all: Vec<String> = configuration.modules().iter().map(|module| module.path.to_string()).collect();
    assert_eq!(all, ["", "module.network", "module.network.module.subnet"]);
}

const PASSED: &str = r#"
terraform {
  required_providers {
    cloud = { source = "example.com/acme/cloud", version = ">= 1.0" }
  }
}
provider "cloud" {
  region = "a"
}
provider "cloud" {
  alias  = "west"
  region = "b"
}
resource "cloud_vm" "default" {}
resource "cloud_vm" "west" {
  provider = cloud.west
}
resource "aws_vpc" "implied" {}
module "inheriting" {
  source = "./child"
}
module "passed" {
  source = "./child"
  providers = {
    acme = cloud.west
  }
}
-- child/main.tf --
terraform {
  required_providers {
    acme = { source = "example.com/acme/cloud", version = "< 2.0" }
  }
}
resource "cloud_vm" "vm" {
  provider = acme
}
module "grandchild" {
  source = "../grandchild"
  providers = {
    acme.inner = acme
  }
}
-- grandchild/main.tf --
terraform {
  required_providers {
    acme = { source = "example.com/acme/cloud", configuration_aliases = [acme.inner] }
  }
}
resource "cloud_vm" "vm" {
  provider = acme.inner
}
resource "cloud_vm" "plain" {
  provider = acme
}
"#;

#[test]
fn resources_resolve_their_provider_configuration() {
    let configuration = load_fine(PASSED);
    let cloud = r#"provider["example.com/acme/cloud"]"#;
    assert_eq!(provider_of(&configuration, &[], "cloud_vm.default"), cloud);
    assert_eq!(provider_of(&configuration, &[], "cloud_vm.west"), format!("{cloud}.west"));
    assert_eq!(
        provider_of(&configuration, &[], "aws_vpc.implied"),
        r#"provider["registry.terraform.io/hashicorp/aws"]"#
    );
    assert_eq!(provider_of(&configuration, &["inheriting"], "cloud_vm.vm"), cloud);
    assert_eq!(provider_of(&configuration, &["inheriting", "grandchild"], "cloud_vm.vm"), cloud);
    assert_eq!(provider_of(&configuration, &["passed"], "cloud_vm.vm"), format!("{cloud}.west"));
    assert_eq!(provider_of(&configuration, &["passed", "grandchild"], "cloud_vm.vm"), format!("{cloud}.west"));
}

#[test]
fn requirements_of_all_modules_are_merged() {
    let configuration = load_fine(PASSED);
    let requirements = configuration.provider_requirements();
    let printed: Vec<String> =
        requirements.iter().map(|(address, requirement)| format!("{address} {}", requirement.constraints)).collect();
    assert_eq!(printed, ["example.com/acme/cloud >= 1.0.0, < 2.0.0", "registry.terraform.io/hashicorp/aws "]);
}

#[test]
fn import_targets_without_block_require_their_provider() {
    let configuration = load_fine(
        "import {\n  to = aws_vpc.new\n  id = \"a\"\n}\nimport {\n  to = google_disk.old\n  id = \"b\"\n}\nresource \"google_disk\" \"old\" {\n  \
         provider = google-beta\n}\n",
    );
    let addresses: Vec<String> = configuration.provider_requirements().keys().map(ToString::to_string).collect();
    assert_eq!(addresses, ["registry.terraform.io/hashicorp/aws", "registry.terraform.io/hashicorp/google-beta"]);
}

#[test]
fn default_registry_is_configurable() {
    let options = LoadOptions { default_registry: "registry.opentofu.org".into(), ..LoadOptions::default() };
    let files =
        MemoryFiles::new().with("main.tf", "resource \"aws_vpc\" \"a\" {}\nresource \"terraform_data\" \"b\" {}\n");
    let (configuration, diagnostics) = load(&options, &Sources::new(), &files);
    assert!(diagnostics.is_empty());
    let configuration = configuration.unwrap();
    let addresses: Vec<String> = configuration.provider_requirements().keys().map(ToString::to_string).collect();
    assert_eq!(addresses, ["registry.opentofu.org/hashicorp/aws", &ProviderAddress::builtin_terraform().to_string()]);
}

#[test]
fn configuration_reloads_from_its_own_files() {
    let first = load_fine(PASSED);
    let files: MemoryFiles =
        first.files().iter().map(|file| (file.path.clone(), file.text.as_bytes().to_vec())).collect();
    assert_eq!(first.files().len(), 3, "each file once, however many modules are made of it");
    let sources = Sources::new();
    let (second, diagnostics) = load(&LoadOptions::default(), &sources, &files);
    assert!(diagnostics.is_empty());
    let second = second.unwrap();
    assert_eq!(first.files(), second.files());
    let modules = |configuration: &Configuration| -> Vec<(String, usize)> {
        configuration.modules().iter().map(|module| (module.path.to_string(), module.resources.len())).collect()
    };
    assert_eq!(modules(&first), modules(&second));
}

#[test]
fn directory_without_configuration_is_an_error() {
    let (configuration, diagnostics, _) = load_text("-- README.md --\nhello\n");
    assert!(configuration.is_none());
    assert_eq!(diagnostics.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), ["No configuration files"]);
}

#[test]
fn invalid_utf_8_is_reported_with_its_position() {
    let sources = Sources::new();
    let files = MemoryFiles::new().with("main.tf", b"locals {\n  a = \"\xff\"\n}\n".to_vec());
    let (_, diagnostics) = load(&LoadOptions::default(), &sources, &files);
    let first = diagnostics.iter().next().unwrap();
    assert_eq!(first.summary, "Invalid character encoding");
    assert_eq!(sources.locate(first.subject.unwrap()).unwrap().start.line, 2);
}

#[test]
fn misspelled_reference_root_gets_a_suggestion() {
    let suggestion = |reference: &str| {
        let text = format!("variable \"size\" {{}}\nlocals {{\n  a = 1\n  out = {reference}\n}}\n");
        let mut files = MemoryFiles::new();
        files.insert("main.tf", text.into_bytes());
        let (_, problems) = load(&LoadOptions::default(), &Sources::default(), &files);
        problems.into_iter().map(|problem| problem.detail).collect::<String>()
    };
    assert!(suggestion("vra.size").ends_with("Did you mean var.size?"), "{}", suggestion("vra.size"));
    assert!(suggestion("locals.a").ends_with("Did you mean local.a?"), "{}", suggestion("locals.a"));
    // A suggestion for the root does not require a declaration of the name.
    let misspellings = [
        ("vra.other", "var.other"),
        ("modul.x", "module.x"),
        ("loca.x", "local.x"),
        ("eachh.key", "each.key"),
        ("cout.index", "count.index"),
        ("dat.aws_ami.x", "data.aws_ami.x"),
        ("dat.x", "data.TYPE.x"),
        ("terrafrom.workspace", "terraform.workspace"),
    ];
    for (misspelled, meant) in misspellings {
        assert!(suggestion(misspelled).ends_with(&format!("Did you mean {meant}?")), "{}", suggestion(misspelled));
    }
    for unrelated in ["aws_instance.x", "cout.other", "eachh.name", "null.x", "tls.x"] {
        assert!(!suggestion(unrelated).contains("Did you mean"), "{}", suggestion(unrelated));
    }
}

#[test]
fn root_output_checks_depend_on_reference_checks() {
    let text = "output \"a\" {\n  value     = 1\n  ephemeral = true\n}\noutput \"b\" {\n  value      = 1\n  deprecated = \"gone\"\n}\n";
    let (_, diagnostics, _) = load_text(text);
    let summaries: Vec<_> = diagnostics.iter().map(|one| one.summary.as_str()).collect();
    assert_eq!(summaries, ["Ephemeral output not allowed", "Root module output deprecated"]);
    let options = LoadOptions { references: References::Unchecked, ..LoadOptions::default() };
    let (configuration, diagnostics) = load(&options, &Sources::new(), &support::files(text));
    assert!(configuration.is_some() && diagnostics.is_empty(), "{diagnostics:?}");
}

/// OpenTofu allows `deprecated` on root outputs in its own files, Terraform does not.
#[test]
fn opentofu_allows_deprecated_root_outputs() {
    let text = "-- main.tofu --\noutput \"b\" {\n  value      = 1\n  deprecated = \"gone\"\n}\n";
    let (configuration, diagnostics, _) = load_text(text);
    assert!(configuration.is_some() && diagnostics.is_empty(), "{diagnostics:?}");
}
