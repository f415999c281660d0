//! Rules of planning, each with a configuration that shows it.

use groma_engine::Action;

use crate::support::Project;

#[test]
fn pl_01_apply_does_exactly_what_the_plan_shows() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { input = 1 }"#);
    let planned = project.plan();
    assert!(project.recorded().is_empty(), "planning changes nothing");
    assert_eq!(planned.actions(), ["terraform_data.a: create"]);
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(project.recorded(), ["terraform_data.a"]);
}

#[test]
fn pl_03_orphans_are_deleted_and_the_reason_is_reported() {
    let both = r#"
        resource "terraform_data" "gone" {}
        resource "terraform_data" "counted" { count = 2 }
        resource "terraform_data" "keyed" { for_each = toset(["a", "b"]) }
        resource "terraform_data" "single" {}
    "#;
    let mut project = Project::new(both);
    project.apply();
    project.rewrite(
        r#"
        resource "terraform_data" "counted" { count = 1 }
        resource "terraform_data" "keyed" { for_each = toset(["a"]) }
        resource "terraform_data" "single" { for_each = toset([]) }
        "#,
    );
    assert_eq!(
        project.apply(),
        [
            "terraform_data.counted[1]: delete (delete_because_count_index)",
            "terraform_data.gone: delete (delete_because_no_resource_config)",
            "terraform_data.keyed[\"b\"]: delete (delete_because_each_key)",
            // The address without a key no longer fits a block that has for_each.
            "terraform_data.single: delete (delete_because_wrong_repetition)",
        ]
    );
    assert_eq!(project.recorded(), ["terraform_data.counted[0]", "terraform_data.keyed[\"a\"]"]);
}

#[test]
fn pl_08_unchanged_object_is_planned_as_no_op() {
    let mut project = Project::new(r#"resource "terraform_data" "a" {}"#);
    project.apply();
    let planned = project.plan();
    let changes = &planned.plan.as_ref().unwrap().changes;
    // Plans in JSON list unchanged objects too, as in Terraform.
    assert_eq!(changes.iter().map(|change| change.action).collect::<Vec<_>>(), [Action::NoOp]);
}

#[test]
fn pl_09_a_replacement_deletes_first() {
    let with = |trigger: u32| format!(r#"resource "terraform_data" "a" {{ triggers_replace = {trigger} }}"#);
    let mut project = Project::new(&with(1));
    project.apply();
    project.rewrite(&with(2));
    assert_eq!(project.apply(), ["terraform_data.a: delete then create (replace_because_cannot_update)"]);
}

#[test]
fn pl_22_create_before_destroy_applies_to_every_cause_of_a_replacement() {
    let with = |trigger: u32| {
        format!(
            r#"
            resource "terraform_data" "cause" {{ input = {trigger} }}
            resource "terraform_data" "a" {{
              lifecycle {{
                create_before_destroy = true
                replace_triggered_by  = [terraform_data.cause]
              }}
            }}
            "#
        )
    };
    let mut project = Project::new(&with(1));
    project.apply();
    project.rewrite(&with(2));
    assert_eq!(
        project.apply(),
        ["terraform_data.a: create then delete (replace_by_triggers)", "terraform_data.cause: update"]
    );
}

#[test]
fn pl_29_keys_known_after_apply_are_refused() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" {}
        resource "terraform_data" "each" { for_each = toset([terraform_data.a.id]) }
        "#,
    );
    let planned = project.plan();
    assert_eq!(planned.errors(), ["Invalid for_each argument"]);
}

#[test]
fn rules_of_one_variable_are_reported_together_once_their_references_are_valid() {
    let with = |other: u32| {
        format!(
            "variable \"a\" {{
               default = 1
               validation {{
                 condition     = var.a > 5
                 error_message = \"Too small.\"
               }}
               validation {{
                 condition     = var.a > var.b
                 error_message = \"Smaller than b.\"
               }}
             }}
             variable \"b\" {{
               default = {other}
               validation {{
                 condition     = var.b > 5
                 error_message = \"Too small itself.\"
               }}
             }}"
        )
    };
    let reported = |other: u32| {
        let planned = Project::new(&with(other)).plan();
        let messages = planned.diagnostics.iter().map(|problem| problem.detail.lines().next().unwrap().to_owned());
        messages.collect::<Vec<_>>()
    };
    assert_eq!(reported(6), ["Too small.", "Smaller than b."]);
    assert_eq!(reported(3), ["Too small itself."]);
}

/// What a rule itself stands on can only come before it; everything else waits, also where another rule looks at that.
#[test]
fn rules_that_refer_to_users_of_their_variable_delay_the_others() {
    let variables = |value: &str| {
        format!(
            r#"
        variable "a" {{
          default = "{value}"
          validation {{
            condition     = terraform_data.of_a.output == "good" && var.a != ""
            error_message = "a is refused"
          }}
        }}
        variable "b" {{
          default = "b"
          validation {{
            condition     = terraform_data.also_of_a.output == "good" && var.b != ""
            error_message = "b is refused"
          }}
        }}
        resource "terraform_data" "of_a" {{ input = var.a }}
        resource "terraform_data" "also_of_a" {{ input = var.a }}
        resource "terraform_data" "of_b" {{ input = var.b }}
        "#
        )
    };
    let mut project = Project::new(&variables("bad"));
    let planned = project.plan();
    let problems = project.apply_plan(planned);
    assert_eq!(crate::support::errors(&problems), ["Invalid value for variable"]);
    assert_eq!(project.recorded(), ["terraform_data.of_a"]);
    project.rewrite(&variables("good"));
    project.apply();
    let mut recorded = project.recorded();
    recorded.sort();
    assert_eq!(recorded, ["terraform_data.also_of_a", "terraform_data.of_a", "terraform_data.of_b"]);
}
