//! Effects of override files on a module.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use groma_address::Resource;
use groma_config::IgnoreChanges;
use groma_diagnostics::Diagnostics;
use groma_value::Value;
use support::load_fine;

#[test]
fn override_files_replace_only_their_arguments() {
    let root = load_fine(
        r#"
variable "v" {
  default     = 1
  description = "kept"
}
locals {
  l = 1
}
output "o" {
  value     = local.l
  sensitive = true
}
resource "terraform_data" "a" {
  count            = 1
  input            = 1
  triggers_replace = "kept"
  lifecycle {
    create_before_destroy = true
  }
}
terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = "~> 4.0" }
  }
  backend "local" {}
}
-- a_override.tf --
variable "v" {
  default = 2
}
resource "terraform_data" "a" {
  input = 2
  lifecycle {
    ignore_changes = all
  }
}
output "o" {
  value = 5
}
-- b_override.tf.json --
{
  "locals": { "l": 3 },
  "resource": { "terraform_data": { "a": { "count": 3 } } },
  "terraform": { "required_providers": { "aws": { "source": "hashicorp/aws", "version": "~> 5.0" } }, "backend": { "s3": {} } }
}
"#,
    )
    .root;
    assert_eq!(root.variables["v"].default, Some(Value::number(2)));
    assert_eq!(root.variables["v"].description.as_deref(), Some("kept"));
    assert!(root.outputs["o"].sensitive);
    let a = &root.resources[&Resource::managed("terraform_data", "a")];
    let (mut arguments, _) = a.body.attributes();
    arguments.sort_by_key(|argument| argument.name.name.clone());
    let constant = |expression| {
        let mut diagnostics = Diagnostics::new();
        groma_lang::evaluate_constant(expression, &mut diagnostics)
    };
    let values: Vec<(&str, Value)> =
        arguments.iter().map(|argument| (&*argument.name.name, constant(&argument.expression))).collect();
    assert_eq!(values, [("input", Value::number(2)), ("triggers_replace", Value::string("kept"))]);
    assert_eq!(constant(a.count.as_ref().unwrap()), Value::number(3));
    assert!(a.lifecycle.create_before_destroy.is_some());
    assert_eq!(a.lifecycle.ignore_changes, IgnoreChanges::All);
    assert_eq!(constant(&root.locals["l"].expression), Value::number(3));
    assert_eq!(root.required_providers["aws"].version.to_string(), "~> 5.0");
    assert_eq!(&*root.backend.as_ref().unwrap().kind, "s3");
}

#[test]
fn action_overrides_keep_other_arguments() {
    let root = load_fine(
        r#"
action "example_note" "a" {
  count    = 2
  provider = example.west
  config {
    text = "base"
    kept = true
  }
}
action "example_note" "b" {
  config {
    text = "base"
  }
}
provider "example" {
  alias = "west"
}
-- a_override.tf --
action "example_note" "a" {
  config {
    text = "changed"
  }
}
action "example_note" "b" {
  for_each = toset(["x"])
}
"#,
    )
    .root;
    let action = |name: &str| &root.actions[&("example_note".into(), name.into())];
    let config = |name: &str| {
        let (mut arguments, _) = action(name).config.as_ref().unwrap().attributes();
        arguments.sort_by_key(|argument| argument.name.name.clone());
        let value = |expression| groma_lang::evaluate_constant(expression, &mut Diagnostics::new());
        arguments
            .iter()
            .map(|argument| (argument.name.name.to_string(), value(&argument.expression)))
            .collect::<Vec<_>>()
    };
    assert_eq!(config("a"), [("kept".to_owned(), Value::bool(true)), ("text".to_owned(), Value::string("changed"))]);
    assert!(action("a").count.is_some());
    assert_eq!(action("a").local_provider().alias.as_deref(), Some("west"));
    assert_eq!(config("b"), [("text".to_owned(), Value::string("base"))]);
    assert!(action("b").for_each.is_some());
}
