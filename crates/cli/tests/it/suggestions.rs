//! Suggestions for misspelled names.

use crate::common::Folder;

/// The configuration around each mistake.
const AROUND: &str = r#"
terraform {
  required_providers {
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
provider "terraform" {
  alias = "east"
}
variable "name" {
  default = "x"
}
locals {
  label  = 1
  object = { alpha = 1 }
}
resource "terraform_data" "main" {}
module "child" {
  source = "./child"
}
"#;

const CHILD: &str = r#"
variable "size" {
  default = 1
}
output "total" {
  value = var.size
}
"#;

/// A mistake, and what is suggested in its place.
const MISSPELLINGS: &[(&str, &str)] = &[
    // Names.
    (r#"output "o" { value = var.nmae }"#, r#""name""#),
    (r#"output "o" { value = name }"#, "var.name"),
    (r#"output "o" { value = label }"#, "local.label"),
    (r#"output "o" { value = local.labell }"#, r#""label""#),
    (r#"output "o" { value = locl.label }"#, "local.label"),
    (r#"output "o" { value = module.chld.total }"#, r#""child""#),
    (r#"output "o" { value = module.child.totl }"#, r#""total""#),
    (r#"output "o" { value = terraform_data.mian.id }"#, "terraform_data.main"),
    (r#"output "o" { value = terraform_dta.main.id }"#, "terraform_data.main"),
    (r#"output "o" { value = terraform_data.main.otput }"#, r#""output""#),
    (r#"output "o" { value = local.object.alhpa }"#, r#""alpha""#),
    (r#"output "o" { value = [for item in [1] : itme] }"#, "item"),
    (r#"output "o" { value = [for item in [{ a = 1 }] : itme.a] }"#, "item.a"),
    (r#"output "o" { value = "%{ for item in [1] }${itme}%{ endfor }" }"#, "item"),
    (r#"output "o" { value = path.modul }"#, "path.module"),
    (r#"output "o" { value = terraform.worksapce }"#, "terraform.workspace"),
    (r#"output "o" { value = templatefile("t.tpl", { name = 1 }) }"#, r#""name""#),
    (r#"resource "terraform_data" "e" { depends_on = [terraform_data.mian] }"#, "terraform_data.main"),
    ("resource \"terraform_data\" \"e\" {\n count = 1\n input = count.idnex\n}", "count.index"),
    ("resource \"terraform_data\" \"e\" {\n for_each = {}\n input = each.vlaue\n}", "each.value"),
    ("resource \"terraform_data\" \"e\" {\n lifecycle {\n ignore_changes = [inptu]\n }\n}", r#""input""#),
    (r#"resource "terraform_data" "e" { provider = terraform.esat }"#, r#""east""#),
    // Arguments.
    (r#"resource "terraform_data" "e" { inptu = 1 }"#, r#""input""#),
    (r#"resource "terraform_data" "e" { for_eahc = {} }"#, r#""for_each""#),
    (r#"resource "terraform_data" "e" { depend_on = [] }"#, r#""depends_on""#),
    (r#"data "terraform_remote_state" "e" { forEach = {} }"#, r#""for_each""#),
    (r#"provider "terraform" { alis = "x" }"#, r#""alias""#),
    ("module \"m\" {\n source = \"./child\"\n sise = 1\n}", r#""size""#),
    (r#"variable "b" { tpye = string }"#, r#""type""#),
    ("resource \"terraform_data\" \"e\" {\n lifecycle {\n ignore_change = []\n }\n}", r#""ignore_changes""#),
    ("resource \"terraform_data\" \"e\" {\n provisioner \"local-exec\" {\n comand = 1\n }\n}", r#""command""#),
    (
        "resource \"terraform_data\" \"e\" {\n provisioner \"local-exec\" {\n command = 1\n on_failur = fail\n }\n}",
        r#""on_failure""#,
    ),
    ("terraform {\n required_providers {\n a = { sorce = \"x/a\" }\n }\n}", r#""source""#),
    // Blocks.
    (r#"resorce "terraform_data" "e" {}"#, r#""resource""#),
    ("resource \"terraform_data\" \"e\" {\n lifecylce {}\n}", r#""lifecycle""#),
    ("resource \"terraform_data\" \"e\" {\n provisionr \"local-exec\" {}\n}", r#""provisioner""#),
    ("resource \"terraform_data\" \"e\" {\n lifecycle {\n precondtion {}\n }\n}", r#""precondition""#),
    ("terraform {\n required_provider {}\n}", r#""required_providers""#),
    ("terraform {\n backend \"loca\" {}\n}", r#""local""#),
    // Functions, types and other words.
    (r#"output "o" { value = uper("x") }"#, r#""upper""#),
    (r#"output "o" { value = provider::terraform::encode_tfvar({}) }"#, r#""encode_tfvars""#),
    (r#"output "o" { value = "%{ iff true }x%{ endif }" }"#, r#""if""#),
    (r#"variable "b" { type = strng }"#, r#""string""#),
    (r#"variable "b" { type = lst(string) }"#, r#""list""#),
    (r#"variable "b" { type = object({ a = optinal(string) }) }"#, r#""optional""#),
    (r#"resource "terraform_dat" "b" {}"#, r#""terraform_data""#),
    (r#"data "terraform_remote_stat" "b" {}"#, r#""terraform_remote_state""#),
    ("resource \"terraform_data\" \"e\" {\n provisioner \"local-exce\" {\n command = 1\n }\n}", r#""local-exec""#),
];

#[test]
fn misspelled_names_get_suggestions() {
    let folder = Folder::new();
    folder.write("around.tf", AROUND);
    folder.write("child/main.tf", CHILD);
    folder.write("t.tpl", "${nmae}");
    let mut wrong = String::new();
    for (slip, meant) in MISSPELLINGS {
        folder.write("slip.tf", slip);
        // A message is broken where the line ends, so that two words may have a line break between them.
        let reported = folder.fails(&["validate"]);
        let words: Vec<&str> = reported.split_whitespace().collect();
        if !words.join(" ").to_lowercase().contains(&format!("did you mean {meant}?")) {
            wrong += &format!("{slip}\n  should suggest {meant}:\n{reported}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
