//! What `lifecycle` blocks ask for: changes that are left alone, objects that stay, replacements for the sake of others.

use groma_engine::Mode;

use crate::support::Project;

#[test]
fn pl_24_prevent_destroy_stops_a_plan_that_would_destroy() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" {
          triggers_replace = 1
          lifecycle { prevent_destroy = true }
        }
        "#,
    );
    project.apply();
    project.options.mode = Mode::Destroy;
    assert_eq!(project.plan().errors(), ["Instance cannot be destroyed"]);
}

#[test]
fn pl_24_prevent_destroy_is_true_or_false() {
    let project = |guarded: &str| {
        Project::new(&format!(
            r#"
            locals {{
              guarded = {guarded}
            }}
            resource "terraform_data" "a" {{
              lifecycle {{ prevent_destroy = local.guarded }}
            }}
            "#
        ))
    };
    // A string that converts to bool is accepted, as everywhere in the language.
    assert!(project("\"true\"").plan().errors().is_empty());
    assert_eq!(project("\"perhaps\"").plan().errors(), ["Invalid lifecycle argument"]);
}

#[test]
fn pl_24_unknown_prevent_destroy_prevents_only_destruction() {
    let text = |triggers: u8| {
        format!(
            r#"
            resource "terraform_data" "guard" {{
              triggers_replace = {triggers}
            }}
            resource "terraform_data" "a" {{
              triggers_replace = {triggers}
              lifecycle {{ prevent_destroy = terraform_data.guard.id == "x" }}
            }}
            "#
        )
    };
    let mut project = Project::new(&text(1));
    // A new object is not destroyed.
    project.apply();
    project.rewrite(&text(2));
    assert_eq!(project.plan().errors(), ["Invalid value for prevent_destroy"]);
}

#[test]
fn pl_24_some_instances_of_a_block_are_not_destroyed() {
    let text = |repeats: &str, prevent: &str| {
        format!(
            r#"
            resource "terraform_data" "a" {{
              {repeats}
              lifecycle {{ prevent_destroy = {prevent} }}
            }}
            "#
        )
    };
    let keyed = |elements: &str| format!("for_each = {elements}");
    // What there was, what there is to be, and what may go: the value of an element that is gone tells nothing.
    let cases = [
        (keyed(r#"toset(["a", "b"])"#), keyed(r#"toset(["a"])"#), r#"each.key == "a""#, None),
        (
            keyed(r#"toset(["a", "b"])"#),
            keyed(r#"toset(["b"])"#),
            r#"each.key == "a""#,
            Some("Instance cannot be destroyed"),
        ),
        (
            keyed("{ a = true, b = false }"),
            keyed("{ b = false }"),
            "each.value",
            Some("Invalid value for prevent_destroy"),
        ),
        ("count = 2".to_owned(), "count = 1".to_owned(), "count.index == 0", None),
        ("count = 2".to_owned(), "count = 0".to_owned(), "count.index == 0", Some("Instance cannot be destroyed")),
        ("count = 2".to_owned(), keyed("{}"), r#"each.key == "a""#, Some("Invalid value for prevent_destroy")),
    ];
    // The first configuration must be able to create all instances without a decision.
    for (before, after, prevent, problem) in cases {
        let mut project = Project::new(&text(&before, if after.contains("{}") { "false" } else { prevent }));
        project.apply();
        project.rewrite(&text(&after, prevent));
        let errors = project.plan().errors();
        assert!(errors.iter().all(|error| Some(&**error) == problem), "{errors:?} for {after} and {prevent}");
        assert_eq!(errors.is_empty(), problem.is_none(), "{after} and {prevent}");
    }
}

#[test]
fn pl_24_protected_instances_survive_a_full_destroy() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" {
          for_each = { a = true, b = false }
          lifecycle { prevent_destroy = each.value }
        }
        "#,
    );
    project.apply();
    project.options.mode = Mode::Destroy;
    let planned = project.plan();
    let reported: Vec<String> =
        planned.diagnostics.iter().flat_map(|problem| &problem.address).map(ToString::to_string).collect();
    // The unprotected instance is part of the plan without an error.
    assert_eq!((planned.diagnostics.len(), reported), (1, vec![r#"terraform_data.a["a"]"#.to_owned()]));
}

#[test]
fn pl_11_some_instances_of_a_block_are_created_first() {
    let text = |triggers: u8| {
        format!(
            r#"
            resource "terraform_data" "a" {{
              for_each         = toset(["a", "b"])
              triggers_replace = {triggers}
              lifecycle {{ create_before_destroy = each.key == "a" }}
            }}
            "#
        )
    };
    let mut project = Project::new(&text(1));
    project.apply();
    project.rewrite(&text(2));
    // Each instance decides for itself, so the orders differ within one resource.
    assert_eq!(
        project.apply(),
        [
            r#"terraform_data.a["a"]: create then delete (replace_because_cannot_update)"#,
            r#"terraform_data.a["b"]: delete then create (replace_because_cannot_update)"#
        ]
    );
}

#[test]
fn pl_20_ignored_changes_are_no_changes() {
    let text = |input: u8| {
        format!(
            r#"
            resource "terraform_data" "a" {{
              input = {input}
              lifecycle {{ ignore_changes = [input] }}
            }}
            "#
        )
    };
    let mut project = Project::new(&text(1));
    project.apply();
    project.rewrite(&text(2));
    // The changed argument is ignored, so the plan is empty.
    assert!(project.plan().actions().is_empty());
}

#[test]
fn pl_20_ignored_part_of_a_value_is_not_changed() {
    // What an object had, what it is to get, what is ignored, and what it gets.
    let cases = [
        ("{ a = 1, b = 1 }", "{ a = 2, b = 2 }", "input.a", r#"{"a":1,"b":2}"#),
        ("{ a = { b = [1, 1] } }", "{ a = { b = [2, 2] } }", "input.a.b[1]", r#"{"a":{"b":[2,1]}}"#),
        (r#"["x", "y"]"#, r#"["z", "w", "v"]"#, "input[0]", r#"["x","w","v"]"#),
        (r#"tolist(["x", "y"])"#, r#"tolist(["z", "w", "v"])"#, "input[0]", r#"["x","w","v"]"#),
        (r#"["x"]"#, r#"["z"]"#, "input[7]", r#"["z"]"#),
        ("tomap({ a = 1, b = 1 })", "tomap({ a = 2, c = 2 })", r#"input["a"]"#, r#"{"a":1,"c":2}"#),
        ("tomap({ a = 1, b = 1 })", "tomap({ a = 2, c = 2 })", r#"input["b"]"#, r#"{"a":2,"b":1,"c":2}"#),
        ("tomap({ a = 1, b = 1 })", "tomap({ a = 2, c = 2 })", r#"input["c"]"#, r#"{"a":2}"#),
        ("tomap({ a = { z = 1 } })", "tomap({ b = { z = 2 } })", r#"input["a"].z"#, r#"{"b":{"z":2}}"#),
        ("tomap({ a = { z = 1 } })", "tomap({ b = { z = 2 } })", r#"input["b"].z"#, r#"{"b":{"z":2}}"#),
        // A key of what is no map.
        ("{ a = 1, b = 1 }", "{ a = 2, b = 2, c = 2 }", r#"input["a"]"#, r#"{"a":1,"b":1}"#),
        (r#"["x"]"#, r#"["z", "w"]"#, r#"input["a"]"#, r#"["x"]"#),
        ("{ a = { b = 1 } }", "{ a = { b = 2 } }", r#"input["a"].b"#, r#"{"a":{"b":2}}"#),
    ];
    for (before, after, ignored, wanted) in cases {
        let text = |input: &str| {
            format!(
                r#"
                resource "terraform_data" "a" {{
                  input = {input}
                  lifecycle {{ ignore_changes = [{ignored}] }}
                }}
                output "json" {{ value = jsonencode(terraform_data.a.output) }}
                "#
            )
        };
        let mut project = Project::new(&text(before));
        project.apply();
        project.rewrite(&text(after));
        project.apply();
        assert_eq!(project.state.outputs["json"].value.as_str(), Some(wanted), "{before} {after} {ignored}");
    }
}

#[test]
fn pl_21_planned_change_of_a_trigger_replaces() {
    let text = |input: u8| {
        format!(
            r#"
            resource "terraform_data" "a" {{ input = {input} }}
            resource "terraform_data" "b" {{
              input = "fixed"
              lifecycle {{ replace_triggered_by = [terraform_data.a] }}
            }}
            "#
        )
    };
    let mut project = Project::new(&text(1));
    project.apply();
    project.rewrite(&text(2));
    assert_eq!(
        project.apply(),
        ["terraform_data.a: update", "terraform_data.b: delete then create (replace_by_triggers)"]
    );
}

#[test]
fn missing_trigger_is_reported_when_its_object_changes() {
    let text = |input: u8, trigger: &str| {
        format!(
            r#"
            resource "terraform_data" "a" {{
              count = 2
              input = {input}
            }}
            resource "terraform_data" "b" {{
              count = 2
              lifecycle {{ replace_triggered_by = [{trigger}] }}
            }}
            "#
        )
    };
    // Both ways of naming an instance lead to the same message.
    for trigger in ["terraform_data.a[0].inptu", "terraform_data.a[count.index].inptu"] {
        let mut project = Project::new(&text(1, trigger));
        project.apply();
        assert!(project.plan().diagnostics.is_empty(), "nothing changes");
        project.rewrite(&text(2, trigger));
        let planned = project.plan();
        let reported: Vec<&str> = planned.diagnostics.iter().map(|problem| &*problem.summary).collect();
        assert_eq!(reported, ["Unsupported attribute"; 2], "{trigger}");
        assert!(planned.diagnostics.iter().all(|problem| problem.detail.ends_with("Did you mean \"input\"?")));
    }
}

#[test]
fn pl_24_prevent_destroy_protects_orphaned_instances() {
    let text = |keys: &str, count: u8, modules: u8, prevent: &str| {
        format!(
            r#"
            variable "protected" {{ default = true }}
            resource "terraform_data" "keyed" {{
              for_each = toset({keys})
              lifecycle {{ prevent_destroy = {prevent} }}
            }}
            resource "terraform_data" "counted" {{
              count = {count}
              lifecycle {{ prevent_destroy = {prevent} }}
            }}
            module "m" {{
              source = "./m"
              count  = {modules}
            }}
            "#
        )
    };
    let inside = r#"
        resource "terraform_data" "inside" {
          lifecycle { prevent_destroy = true }
        }
    "#;
    for prevent in ["true", "var.protected"] {
        let mut project = Project::new(&text(r#"["a", "b"]"#, 2, 2, prevent)).with("m/main.tf", inside);
        project.apply();
        project.rewrite(&text(r#"["a"]"#, 1, 1, prevent));
        let planned = project.plan();
        let address = |problem: &groma_diagnostics::Diagnostic| problem.address.as_ref().map(ToString::to_string);
        let reported: Vec<(&str, Option<String>)> =
            planned.diagnostics.iter().map(|problem| (&*problem.summary, address(problem))).collect();
        let refused = "Instance cannot be destroyed";
        // Orphans by key, by index and by module instance are all protected.
        let gone = ["module.m[1].terraform_data.inside", "terraform_data.counted[1]", r#"terraform_data.keyed["b"]"#];
        for address in gone {
            assert!(reported.contains(&(refused, Some(address.to_owned()))), "{address} in {reported:?}");
        }
        assert_eq!(reported.len(), gone.len());
        // Without its block nothing speaks for it.
        project.rewrite("");
        assert!(project.plan().diagnostics.is_empty());
    }
}
