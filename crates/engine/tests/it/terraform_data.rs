//! The life of `terraform_data`, in the steps of a user.

use groma_engine::{Mode, Refresh};

use crate::support::{Project, errors};

#[test]
fn an_applied_configuration_has_nothing_left_to_do() {
    let mut project = Project::new(
        r#"
        variable "name" { default = "world" }
        locals { greeting = "hello ${var.name}" }
        resource "terraform_data" "a" { input = local.greeting }
        resource "terraform_data" "b" { input = "${terraform_data.a.output}!" }
        output "said" { value = terraform_data.b.output }
        "#,
    );
    assert_eq!(project.apply(), ["terraform_data.a: create", "terraform_data.b: create"]);
    // The value passed through both objects during apply.
    assert_eq!(project.state.outputs["said"].value.as_str(), Some("hello world!"));
    assert!(project.plan().actions().is_empty());
    assert!(!project.plan().plan.unwrap().is_applyable());
}

#[test]
fn an_output_with_a_type_gets_the_defaults_of_its_attributes() {
    let mut project = Project::new(
        r#"
        output "all" {
          type  = object({ name = string, size = optional(number, 5) })
          value = { name = 1 }
        }
        "#,
    );
    project.apply();
    let all = &project.state.outputs["all"].value;
    let of = |name: &str| all.attribute(name).map(|value| groma_lang::console::format(&value));
    // The number converts to the string of the type, and the default fills the missing attribute.
    assert_eq!([of("name"), of("size")], [Some("\"1\"".to_owned()), Some("5".to_owned())]);
}

#[test]
fn unknown_output_keeps_negative_zero() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "it" { input = -0 }
        output "planned" { value = -0 }
        output "applied" { value = terraform_data.it.output }
        "#,
    );
    project.apply();
    let of = |name: &str| groma_lang::console::format(&project.state.outputs[name].value);
    assert_eq!([of("planned"), of("applied")], ["0", "-0"]);
    assert!(project.plan().actions().is_empty());
    assert!(!project.plan().plan.unwrap().is_applyable());
}

#[test]
fn pl_02_pl_03_instances_follow_count_and_for_each() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "c" {
          count = 2
          input = count.index
        }
        resource "terraform_data" "f" {
          for_each = { a = 1, b = 2 }
          input    = each.value
        }
        "#,
    );
    assert_eq!(project.apply().len(), 4);
    project.rewrite(
        r#"
        resource "terraform_data" "c" {
          count = 1
          input = count.index
        }
        resource "terraform_data" "f" {
          for_each = { b = 2, c = 3 }
          input    = each.value
        }
        "#,
    );
    assert_eq!(
        project.apply(),
        [
            "terraform_data.c[1]: delete (delete_because_count_index)",
            "terraform_data.f[\"a\"]: delete (delete_because_each_key)",
            "terraform_data.f[\"c\"]: create",
        ]
    );
    // Instances whose keys remain keep their objects.
    assert_eq!(project.recorded(), ["terraform_data.c[0]", "terraform_data.f[\"b\"]", "terraform_data.f[\"c\"]"]);
}

#[test]
fn pl_40_a_changed_trigger_replaces() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { triggers_replace = 1 }"#);
    project.apply();
    project.rewrite(r#"resource "terraform_data" "a" { triggers_replace = 2 }"#);
    // Without create_before_destroy, the old object is deleted first.
    assert_eq!(project.apply(), ["terraform_data.a: delete then create (replace_because_cannot_update)"]);
    project.rewrite(
        r#"
        resource "terraform_data" "a" {
          triggers_replace = 3
          lifecycle { create_before_destroy = true }
        }
        "#,
    );
    assert_eq!(project.apply(), ["terraform_data.a: create then delete (replace_because_cannot_update)"]);
    assert_eq!(project.recorded(), ["terraform_data.a"]);
}

#[test]
fn pl_23_moved_blocks_rename_without_changes() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { input = 1 }"#);
    project.apply();
    project.rewrite(
        r#"
        resource "terraform_data" "b" {
          count = 1
          input = 1
        }
        moved {
          from = terraform_data.a
          to   = terraform_data.b[0]
        }
        "#,
    );
    let planned = project.plan();
    assert!(planned.actions().is_empty());
    assert!(planned.plan.as_ref().unwrap().is_applyable());
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(project.recorded(), ["terraform_data.b[0]"]);
    project.rewrite(r#"resource "terraform_data" "b" { input = 1 }"#);
    assert!(project.apply().is_empty());
    assert_eq!(project.recorded(), ["terraform_data.b"]);
}

#[test]
fn modules_are_planned_for_each_of_their_instances() {
    let mut project = Project::new(
        r#"
        module "m" {
          source   = "./m"
          for_each = toset(["x", "y"])
          name     = each.key
        }
        output "all" { value = { for k, m in module.m : k => m.out } }
        resource "terraform_data" "after" { input = module.m["x"].out }
        "#,
    )
    .with(
        "m/main.tf",
        r#"
        variable "name" { type = string }
        resource "terraform_data" "it" { input = var.name }
        output "out" { value = terraform_data.it.output }
        "#,
    );
    assert_eq!(
        project.apply(),
        [
            "terraform_data.after: create",
            "module.m[\"x\"].terraform_data.it: create",
            "module.m[\"y\"].terraform_data.it: create",
        ]
    );
    assert!(project.plan().actions().is_empty());
    project.rewrite(r#"resource "terraform_data" "after" { input = "x" }"#);
    assert_eq!(
        project.apply(),
        [
            "module.m[\"x\"].terraform_data.it: delete (delete_because_no_resource_config)",
            "module.m[\"y\"].terraform_data.it: delete (delete_because_no_resource_config)",
        ]
    );
}

#[test]
fn pl_62_destroy_deletes_everything() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" { input = 1 }
        resource "terraform_data" "b" { input = terraform_data.a.id }
        output "id" { value = terraform_data.a.id }
        "#,
    );
    project.apply();
    project.options.mode = Mode::Destroy;
    // Changes are listed by address; the order of their execution is the reverse.
    assert_eq!(project.apply(), ["terraform_data.a: delete", "terraform_data.b: delete"]);
    assert!(project.state.is_empty());
}

#[test]
fn pl_60_the_replace_option_replaces_one_instance() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { count = 2 }"#);
    project.apply();
    project.options.replace = vec!["terraform_data.a[1]".parse().unwrap()];
    assert_eq!(project.apply(), ["terraform_data.a[1]: delete then create (replace_by_request)"]);
    // This instance does not exist.
    project.options.replace = vec!["terraform_data.a[7]".parse().unwrap()];
    let planned = project.plan();
    assert!(planned.actions().is_empty());
    assert_eq!(planned.diagnostics.len(), 1, "the typo is reported");
}

#[test]
fn pl_63_without_refresh_the_state_is_trusted() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { input = 1 }"#);
    project.apply();
    project.options.refresh = Refresh::Trust;
    assert!(project.plan().actions().is_empty());
}

#[test]
fn lc_06_apply_evaluates_the_configuration_again_with_the_new_results() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" { input = "x" }
        locals { ids = { k = terraform_data.a.id } }
        resource "terraform_data" "b" {
          for_each = local.ids
          input    = each.value
        }
        "#,
    );
    project.apply();
    assert!(project.plan().actions().is_empty());
}

#[test]
fn circles_are_named() {
    let project = Project::new(
        r#"
        locals {
          a = local.b
          b = local.a
          behind = "${local.a} ${local.d}"
          c = local.d
          d = local.e
          e = local.c
        }
        "#,
    );
    let cycle_mode =
        ["Cycle: local.a (expand), local.b (expand)", "Cycle: local.c (expand), local.d (expand), local.e (expand)"];
    // "behind" only depends on the cycles and is in none of them.
    assert_eq!(errors(&project.validate()), cycle_mode);
}

#[test]
fn destroying_nothing_needs_no_values() {
    let mut project = Project::new(
        r#"
        module "m" { source = "./m" }
        output "x" { value = module.m.x }
        "#,
    )
    .with(
        "m/main.tf",
        r#"
        resource "terraform_data" "a" {}
        output "x" { value = terraform_data.a.id }
        "#,
    );
    project.options.mode = Mode::Destroy;
    assert!(project.apply().is_empty());
}

#[test]
fn pl_25_removed_block_can_keep_the_object() {
    let mut project = Project::new(r#"resource "terraform_data" "kept" {}"#);
    project.apply();
    project.rewrite(
        r#"
        removed {
          from = terraform_data.kept
          lifecycle { destroy = false }
        }
        "#,
    );
    // destroy = false removes the object from the state only.
    assert_eq!(project.apply(), ["terraform_data.kept: forget (delete_because_no_resource_config)"]);
    assert!(project.recorded().is_empty());
}

#[test]
fn variable_without_a_value_is_reported_by_the_engine() {
    let mut project = Project::new("variable \"name\" {}\nresource \"terraform_data\" \"a\" { input = var.name }");
    // Without a prompt, the engine is the last to notice the missing value.
    assert_eq!(project.plan().errors(), ["No value for required variable"]);
}

#[test]
fn lc_29_objects_keep_no_ephemeral_values() {
    let project = Project::new("resource \"terraform_data\" \"a\" { input = terraform.applying }");
    // terraform.applying is ephemeral, and the state must not store it.
    assert_eq!(errors(&project.validate()), ["Invalid use of ephemeral value"]);
}

/// What the records say that `terraform_data.b` depends on, and whether its replacement creates first.
fn placement(project: &Project) -> (Vec<String>, bool) {
    let mut found = project.state.iter().filter(|view| view.address().to_string() == "terraform_data.b");
    let record = found.next().and_then(|view| view.record.current.clone()).expect("terraform_data.b is in the state");
    (record.dependencies.iter().map(ToString::to_string).collect(), record.create_before_destroy)
}

#[test]
fn dependencies_of_an_unchanged_object_are_recorded() {
    let free = r#"
        resource "terraform_data" "a" {}
        resource "terraform_data" "b" {}
        "#;
    let bound = r#"
        resource "terraform_data" "a" {}
        resource "terraform_data" "b" {
          depends_on = [terraform_data.a]
          lifecycle { create_before_destroy = true }
        }
        "#;
    let on_a = || vec!["terraform_data.a".to_owned()];
    let mut project = Project::new(free);
    project.apply();
    project.rewrite(bound);
    project.options.mode = Mode::RefreshOnly;
    project.apply();
    assert_eq!(placement(&project), (on_a(), false));
    project.options.mode = Mode::Normal;
    assert!(project.apply().is_empty());
    assert_eq!(placement(&project), (on_a(), true));
    // Looking lets go of nothing: an object may still stand on what it is about to leave.
    project.rewrite(free);
    project.options.mode = Mode::RefreshOnly;
    project.apply();
    assert_eq!(placement(&project), (on_a(), true));
    project.options.mode = Mode::Normal;
    assert!(project.apply().is_empty());
    // What is created first goes on to be, as long as nothing else is known of what depends on it.
    assert_eq!(placement(&project).0, Vec::<String>::new());
}

#[test]
fn whether_there_is_an_instance_depends_on_nothing_secret() {
    let said = |marked: &str| {
        let mut project = Project::new(&format!(
            r#"
            variable "on" {{
              default = true
              {marked} = true
            }}
            resource "terraform_data" "a" {{
              lifecycle {{
                enabled = var.on
              }}
            }}
            "#
        ));
        errors(&project.plan().diagnostics)
    };
    assert!(said("nullable").is_empty());
    // Whether an instance exists is visible in the plan, and would reveal the value.
    for marked in ["sensitive", "ephemeral"] {
        let said = said(marked);
        assert!(said.iter().any(|error| error.contains("Invalid enabled argument")), "{marked}: {said:?}");
    }
}

#[test]
fn pl_65_large_saved_plan_is_applied_as_planned() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "many" {
          count = 500
          input = count.index
        }
        resource "terraform_data" "all" { input = join(",", terraform_data.many[*].id) }
        "#,
    );
    let planned = project.plan();
    let actions = planned.actions();
    let saved = planned.saved();
    // The saved form must keep every planned change.
    assert_eq!(saved.actions(), actions);
    assert!(!project.apply_plan(saved).has_errors());
    // 500 instances, and the one that joins their ids.
    assert_eq!(project.recorded().len(), 501);
    assert!(project.plan().actions().is_empty());
}

#[test]
fn an_argument_that_is_null_before_and_after_replaces_nothing_whatever_its_type() {
    let text = r#"
        variable "on" { default = false }
        import {
          to = terraform_data.a
          id = "there"
        }
        resource "terraform_data" "a" {
          input            = "x"
          triggers_replace = var.on ? { n = 1 } : null
        }
    "#;
    assert_eq!(Project::new(text).plan().actions(), ["terraform_data.a: update"]);
}
