//! The life of `terraform_data`, in the steps of a user.

use groma_engine::{Mode, Refresh};
use groma_state::State;

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
    assert_eq!([of("name"), of("size")], [Some("\"1\"".to_owned()), Some("5".to_owned())]);
}

#[test]
fn an_output_that_the_plan_did_not_know_keeps_its_zero_below_zero() {
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
fn pl_02_pl_03_instances_come_and_go_with_count_and_for_each() {
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
    assert_eq!(project.recorded(), ["terraform_data.c[0]", "terraform_data.f[\"b\"]", "terraform_data.f[\"c\"]"]);
}

#[test]
fn pl_40_a_changed_trigger_replaces() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { triggers_replace = 1 }"#);
    project.apply();
    project.rewrite(r#"resource "terraform_data" "a" { triggers_replace = 2 }"#);
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

/// Two objects of which both are to be replaced, where only the one that stands on the other is to be created first.
fn replaced_below_create_before_destroy() -> Project {
    let text = |trigger: u8| {
        format!(
            r#"
            resource "terraform_data" "base" {{ triggers_replace = {trigger} }}
            resource "terraform_data" "top" {{
              triggers_replace = terraform_data.base.id
              lifecycle {{ create_before_destroy = true }}
            }}
            "#
        )
    };
    let mut project = Project::new(&text(1));
    project.apply();
    project.rewrite(&text(2));
    project
}

#[test]
fn pl_11_create_before_destroy_does_not_spread_from_what_a_target_leaves_out() {
    let mut project = replaced_below_create_before_destroy();
    project.options.targets = vec!["terraform_data.base".parse().unwrap()];
    let base = "terraform_data.base: delete then create (replace_because_cannot_update)";
    assert_eq!(project.plan().actions(), [base]);
    project.options.targets = vec!["terraform_data.top".parse().unwrap()];
    assert!(project.plan().actions()[0].starts_with("terraform_data.base: create then delete"));
}

#[test]
fn pl_11_create_before_destroy_spreads_to_dependencies() {
    let mut project = replaced_below_create_before_destroy();
    assert_eq!(
        project.apply(),
        [
            "terraform_data.base: create then delete (replace_because_cannot_update)",
            "terraform_data.top: create then delete (replace_because_cannot_update)",
        ]
    );
}

#[test]
fn pl_23_moved_blocks_rename_without_touching() {
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
fn pl_62_destroy_takes_everything_away() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" { input = 1 }
        resource "terraform_data" "b" { input = terraform_data.a.id }
        output "id" { value = terraform_data.a.id }
        "#,
    );
    project.apply();
    project.options.mode = Mode::Destroy;
    assert_eq!(project.apply(), ["terraform_data.a: delete", "terraform_data.b: delete"]);
    assert!(project.state.is_empty());
}

#[test]
fn pl_60_the_replace_option_replaces_one_instance() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { count = 2 }"#);
    project.apply();
    project.options.replace = vec!["terraform_data.a[1]".parse().unwrap()];
    assert_eq!(project.apply(), ["terraform_data.a[1]: delete then create (replace_by_request)"]);
    project.options.replace = vec!["terraform_data.a[7]".parse().unwrap()];
    let planned = project.plan();
    assert!(planned.actions().is_empty());
    assert_eq!(planned.diagnostics.len(), 1, "a slip is told");
}

#[test]
fn pl_64_targets_are_planned_with_what_they_need() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" {}
        resource "terraform_data" "b" { input = terraform_data.a.id }
        resource "terraform_data" "c" { input = terraform_data.b.id }
        resource "terraform_data" "d" {}
        "#,
    );
    project.options.targets = vec!["terraform_data.b".parse().unwrap()];
    assert_eq!(project.apply(), ["terraform_data.a: create", "terraform_data.b: create"]);
}

/// Module instances of two resources, one of which stands on the other, and something that stands on all of them.
fn in_modules(names: &str, count: u8) -> Project {
    Project::new(&format!(
        r#"
        module "m" {{
          source   = "./m"
          for_each = toset([{names}])
        }}
        resource "terraform_data" "top" {{ depends_on = [module.m] }}
        "#
    ))
    .with(
        "m/main.tf",
        &format!(
            r#"
            resource "terraform_data" "p" {{ count = {count} }}
            resource "terraform_data" "q" {{ input = terraform_data.p[0].id }}
            "#
        ),
    )
}

fn changed(before: &State, mut project: Project, target: &str) -> Vec<String> {
    project.state = groma_state::file::read(&groma_state::file::write(before)).unwrap();
    project.options.targets = vec![target.parse().unwrap()];
    project.plan().actions()
}

#[test]
fn pl_64_a_module_instance_is_not_all_of_them() {
    let mut project = in_modules("\"a\", \"b\"", 1);
    project.apply();
    let new = |target| changed(&project.state, in_modules("\"a\", \"b\", \"c\"", 1), target);
    assert_eq!(new("module.m[\"a\"]"), [""; 0], "q of one instance stands on p of that instance");
    assert_eq!(
        new("module.m[\"c\"]"),
        ["module.m[\"c\"].terraform_data.p[0]: create", "module.m[\"c\"].terraform_data.q: create"]
    );
    assert_eq!(new("terraform_data.top").len(), 4 - 2, "all of what is depended on");
    let fewer = |target| changed(&project.state, in_modules("\"b\"", 1), target);
    assert_eq!(fewer("module.m[\"b\"]"), [""; 0], "what nobody named stays");
    let gone = |names: &[&str]| -> Vec<String> {
        names
            .iter()
            .map(|name| format!("module.m[\"a\"].terraform_data.{name}: delete (delete_because_no_module)"))
            .collect()
    };
    assert_eq!(fewer("module.m[\"a\"]"), gone(&["p[0]", "q"]));
    assert_eq!(fewer("terraform_data.top"), gone(&["p[0]", "q"]), "it is no part of what is depended on any more");
}

#[test]
fn pl_64_destroying_a_module_instance_leaves_the_others() {
    let mut project = in_modules("\"a\", \"b\"", 1);
    project.apply();
    let destroyed = |names: &str| {
        let mut fewer = in_modules(names, 1);
        fewer.options.mode = Mode::Destroy;
        let mut actions = changed(&project.state, fewer, "module.m[\"a\"]");
        actions.sort();
        actions
    };
    let gone = [
        "module.m[\"a\"].terraform_data.p[0]: delete",
        "module.m[\"a\"].terraform_data.q: delete",
        "terraform_data.top: delete",
    ];
    assert_eq!(destroyed("\"a\", \"b\""), gone, "q of b stands on p of b, top on all of the module");
    assert_eq!(destroyed("\"b\""), gone, "as well where it is no part of the configuration any more");
    assert_eq!(destroyed("\"a\""), gone, "what is left over of b stays");
}

/// Module instances with resources that stand on each other: in the same module, in one below it, and in another one beside.
fn in_modules_below_and_beside(names: &str) -> Project {
    Project::new(&format!(
        r#"
        module "m" {{
          source   = "./m"
          for_each = toset([{names}])
        }}
        module "beside" {{
          source = "./leaf"
          count  = 2
          id     = module.m["b"].id
        }}
        "#
    ))
    .with(
        "m/main.tf",
        r#"
        resource "terraform_data" "p" {}
        resource "terraform_data" "q" { input = terraform_data.p.id }
        resource "terraform_data" "other" {}
        module "below" {
          source = "../leaf"
          count  = 2
          id     = terraform_data.p.id
        }
        output "id" { value = terraform_data.p.id }
        "#,
    )
    .with("leaf/main.tf", "variable \"id\" {}\nresource \"terraform_data\" \"r\" { input = var.id }\n")
}

#[test]
fn pl_64_destroying_in_one_module_instance_takes_along_what_stands_on_it_and_no_more() {
    let mut project = in_modules_below_and_beside("\"a\", \"b\"");
    project.apply();
    let destroyed = |names: &str, target: &str| {
        let mut partial = in_modules_below_and_beside(names);
        partial.options.mode = Mode::Destroy;
        let mut actions = changed(&project.state, partial, target);
        actions.sort();
        actions.iter().map(|action| action.replace("terraform_data.", "").replace(": delete", "")).collect::<Vec<_>>()
    };
    let of = |module: &str| {
        ["module.below[0].r", "module.below[1].r", "p", "q"].map(|name| format!("module.m[\"{module}\"].{name}"))
    };
    let beside = ["module.beside[0].r".to_owned(), "module.beside[1].r".to_owned()];
    let both = "\"a\", \"b\"";
    let all_of = |names: &[&str]| [beside.to_vec(), names.iter().flat_map(|name| of(name)).collect()].concat();
    // An output of the call is one of all instances, as far as anybody knows.
    assert_eq!(destroyed(both, "module.m[\"a\"].terraform_data.p"), all_of(&["a"]));
    assert_eq!(destroyed(both, "module.m[\"b\"].terraform_data.p"), all_of(&["b"]));
    assert_eq!(destroyed(both, "module.m[\"a\"].terraform_data.q"), ["module.m[\"a\"].q"]);
    assert_eq!(destroyed("\"b\"", "module.m[\"b\"].terraform_data.p"), all_of(&["b"]), "what is left over of a stays");
    assert_eq!(
        destroyed("\"b\"", "module.m[\"a\"].terraform_data.p"),
        all_of(&["a"]),
        "what is left over goes as well"
    );
}

#[test]
fn pl_64_what_is_too_many_of_a_dependency_goes() {
    let mut project = in_modules("\"a\"", 2);
    project.apply();
    let fewer = |target| changed(&project.state, in_modules("\"a\"", 1), target);
    let last = "module.m[\"a\"].terraform_data.p[1]: delete (delete_because_count_index)";
    assert_eq!(fewer("module.m[\"a\"].terraform_data.q"), [last]);
    assert_eq!(fewer("module.m[\"a\"].terraform_data.p[0]"), [""; 0]);
}

#[test]
fn pl_63_without_refresh_the_state_is_taken_for_true() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { input = 1 }"#);
    project.apply();
    project.options.refresh = Refresh::Trust;
    assert!(project.plan().actions().is_empty());
}

#[test]
fn pl_27_a_mistake_in_a_message_is_one_though_the_condition_holds() {
    let errors = |text: &str| Project::new(&format!("variable \"x\" {{\n  default = 1\n}}\n{text}")).plan().errors();
    let lifecycle = |message: &str| {
        errors(&format!(
            r#"
            resource "terraform_data" "a" {{
              lifecycle {{
                precondition {{
                  condition     = var.x == 1
                  error_message = {message}
                }}
              }}
            }}
            "#
        ))
    };
    assert_eq!(lifecycle("[var.x]"), ["Invalid error message"]);
    assert_eq!(lifecycle("var.x + \"a\""), ["Invalid operand"]);
    assert!(lifecycle("var.x").is_empty());
    let check = |condition: &str, message: &str| {
        errors(&format!(
            r#"
            check "c" {{
              assert {{
                condition     = {condition}
                error_message = {message}
              }}
            }}
            "#
        ))
    };
    assert!(check("var.x == 2", "\"Not two.\"").is_empty());
    assert_eq!(check("var.x == 2", "[var.x]"), ["Invalid error message"]);
    assert_eq!(check("[var.x][0] > \"a\"", "\"Never said.\""), ["Invalid operand"]);
}

#[test]
fn pl_27_the_message_of_a_variable_is_needed_only_when_its_rule_is_broken() {
    let errors = |default: u8| {
        Project::new(&format!(
            r#"
            variable "x" {{
              default = {default}
              validation {{
                condition     = var.x == 1
                error_message = [var.x]
              }}
            }}
            "#
        ))
        .plan()
        .errors()
    };
    assert!(errors(1).is_empty());
    assert_eq!(errors(2), ["Invalid error message", "Invalid value for variable"]);
}

#[test]
fn pl_27_conditions_stop_what_they_guard() {
    let mut project = Project::new(
        r#"
        variable "n" {
          default = 3
          validation {
            condition     = var.n > 5
            error_message = "Too small."
          }
        }
        resource "terraform_data" "a" { input = var.n }
        "#,
    );
    assert_eq!(project.plan().errors(), ["Invalid value for variable"]);
    project.rewrite(
        r#"
        resource "terraform_data" "a" {
          input = 1
          lifecycle {
            postcondition {
              condition     = self.output == 2
              error_message = "Not two."
            }
          }
        }
        resource "terraform_data" "b" { input = terraform_data.a.output }
        "#,
    );
    let planned = project.plan();
    assert!(planned.errors().is_empty(), "{:?}", planned.errors());
    assert_eq!(errors(&project.apply_plan(planned)), ["Resource postcondition failed"]);
    assert_eq!(project.recorded(), ["terraform_data.a"], "what was made is kept, what stands on it is not begun");
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
    let circles =
        ["Cycle: local.a (expand), local.b (expand)", "Cycle: local.c (expand), local.d (expand), local.e (expand)"];
    assert_eq!(errors(&project.validate()), circles);
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
fn pl_64_destroying_a_target_takes_what_depends_on_it_and_not_what_it_needs() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" {}
        resource "terraform_data" "b" { input = terraform_data.a.id }
        resource "terraform_data" "c" {
          count = 2
          input = terraform_data.b.id
        }
        "#,
    );
    project.apply();
    project.options.mode = Mode::Destroy;
    project.options.targets = vec!["terraform_data.b".parse().unwrap()];
    assert_eq!(
        project.apply(),
        ["terraform_data.b: delete", "terraform_data.c[0]: delete", "terraform_data.c[1]: delete"]
    );
    assert_eq!(project.recorded(), ["terraform_data.a"]);
}

#[test]
fn pl_25_a_removed_block_can_leave_the_object_alone() {
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
    assert_eq!(project.apply(), ["terraform_data.kept: forget (delete_because_no_resource_config)"]);
    assert!(project.recorded().is_empty());
}

#[test]
fn results_of_conditions_stay_known_when_nothing_evaluates_them_again() {
    let text = |input: u8| {
        format!(
            r#"
            resource "terraform_data" "a" {{
              input = 1
              lifecycle {{
                postcondition {{
                  condition     = self.input == 1
                  error_message = "Not one."
                }}
              }}
            }}
            resource "terraform_data" "b" {{ input = {input} }}
            "#
        )
    };
    let mut project = Project::new(&text(1));
    project.apply();
    project.rewrite(&text(2));
    project.apply();
    let results = project.state.check_results.as_ref().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].status, groma_state::CheckStatus::Pass);
}

#[test]
fn a_variable_without_a_value_is_told_also_by_the_engine_alone() {
    let mut project = Project::new("variable \"name\" {}\nresource \"terraform_data\" \"a\" { input = var.name }");
    assert_eq!(project.plan().errors(), ["No value for required variable"]);
}

#[test]
fn lc_29_objects_keep_no_ephemeral_values() {
    let project = Project::new("resource \"terraform_data\" \"a\" { input = terraform.applying }");
    assert_eq!(errors(&project.validate()), ["Invalid use of ephemeral value"]);
}

/// What the records say that `terraform_data.b` depends on, and whether its replacement creates first.
fn standing(project: &Project) -> (Vec<String>, bool) {
    let mut found = project.state.iter().filter(|view| view.address().to_string() == "terraform_data.b");
    let record = found.next().and_then(|view| view.record.current.clone()).expect("terraform_data.b is in the state");
    (record.dependencies.iter().map(ToString::to_string).collect(), record.create_before_destroy)
}

#[test]
fn what_an_object_depends_on_is_recorded_though_nothing_changes_it() {
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
    assert_eq!(standing(&project), (on_a(), false));
    project.options.mode = Mode::Normal;
    assert!(project.apply().is_empty());
    assert_eq!(standing(&project), (on_a(), true));
    // Looking lets go of nothing: an object may still stand on what it is about to leave.
    project.rewrite(free);
    project.options.mode = Mode::RefreshOnly;
    project.apply();
    assert_eq!(standing(&project), (on_a(), true));
    project.options.mode = Mode::Normal;
    assert!(project.apply().is_empty());
    // What is created first goes on to be, as long as nothing else is known of what depends on it.
    assert_eq!(standing(&project).0, Vec::<String>::new());
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
    for marked in ["sensitive", "ephemeral"] {
        let said = said(marked);
        assert!(said.iter().any(|error| error.contains("Invalid enabled argument")), "{marked}: {said:?}");
    }
}

#[test]
fn pl_65_a_large_plan_is_carried_out_from_its_file_as_it_was_made() {
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
    assert_eq!(saved.actions(), actions);
    assert!(!project.apply_plan(saved).has_errors());
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
