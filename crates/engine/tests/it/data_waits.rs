//! What data waits for before it is read (PL-07): changes of what `depends_on` names, of what its block mentions, of what its conditions stand on.

use crate::depends_on::{TEST, project};
use crate::support::Project;

/// With nothing pending all is read while planning; once the configuration is `changed`, these are the actions.
fn assert_waiting(project: &mut Project, changed: &str, actions: &[&str]) {
    project.apply();
    // The baseline: without pending changes no data source waits.
    assert!(project.plan().actions().is_empty(), "with nothing pending all is read while planning");
    project.rewrite(changed);
    assert_eq!(project.plan().actions(), actions);
}

#[test]
fn pl_07_data_waits_for_everything_behind_values_in_depends_on() {
    let text = |size: u32| {
        format!(
            r#"
            resource "test_object" "a" {{
              name = "a"
              size = {size}
            }}
            locals {{
              near = test_object.a.id
              far  = local.near
            }}
            module "passing" {{
              source = "./passing"
              value  = local.far
            }}
            module "reading" {{
              source = "./reading"
              value  = test_object.a.id
            }}
            module "around" {{
              source     = "./reading"
              value      = "fixed"
              depends_on = [local.far]
            }}
            data "test_found" "local" {{
              name       = "fixed"
              depends_on = [local.far]
            }}
            data "test_found" "module" {{
              name       = "fixed"
              depends_on = [module.passing]
            }}
            data "test_found" "output" {{
              name       = "fixed"
              depends_on = [module.passing.value]
            }}
            data "test_found" "fixed" {{
              name       = "fixed"
              depends_on = [module.passing.fixed]
            }}
            "#
        )
    };
    let passing = "variable \"value\" {}\noutput \"value\" { value = var.value }\noutput \"fixed\" { value = 1 }\n";
    let reading = format!(
        "{TEST}variable \"value\" {{}}\ndata \"test_found\" \"in\" {{\n name = \"fixed\"\n depends_on = [var.value]\n}}\n"
    );
    let mut project = project(&text(1)).with("passing/main.tf", passing).with("reading/main.tf", &reading);
    assert_waiting(
        &mut project,
        &text(2),
        &[
            "data.test_found.local: read (read_because_dependency_pending)",
            "data.test_found.module: read (read_because_dependency_pending)",
            "data.test_found.output: read (read_because_dependency_pending)",
            "test_object.a: update",
            "module.around.data.test_found.in: read (read_because_dependency_pending)",
            "module.reading.data.test_found.in: read (read_because_dependency_pending)",
        ],
    );
}

#[test]
fn pl_07_data_does_not_wait_for_other_instances_of_its_module() {
    let text = |size: u32| {
        format!(
            r#"
            module "each" {{
              source   = "./each"
              for_each = {{ changing = {size}, still = 1 }}
              size     = each.value
            }}
            data "test_found" "all" {{
              name       = "fixed"
              depends_on = [module.each]
            }}
            "#
        )
    };
    // The data source depends on the resource only through a local value of its own module instance.
    let each = format!(
        r#"{TEST}
        variable "size" {{}}
        resource "test_object" "a" {{
          name = "a"
          size = var.size
        }}
        locals {{ id = test_object.a.id }}
        data "test_found" "in" {{
          name       = "fixed"
          depends_on = [local.id]
        }}
        "#
    );
    let mut project = project(&text(1)).with("each/main.tf", &each);
    project.apply();
    project.rewrite(&text(2));
    assert_eq!(
        project.plan().actions(),
        [
            "data.test_found.all: read (read_because_dependency_pending)",
            "module.each[\"changing\"].data.test_found.in: read (read_because_dependency_pending)",
            "module.each[\"changing\"].test_object.a: update",
        ]
    );
}

#[test]
fn pl_07_data_waits_for_references_of_its_conditions_and_repetition() {
    let text = |size: u32| {
        format!(
            r#"
            resource "test_object" "a" {{
              name = "a"
              size = {size}
            }}
            data "test_found" "before" {{
              name = "fixed"
              lifecycle {{
                precondition {{
                  condition     = test_object.a.name == "a"
                  error_message = "before"
                }}
              }}
            }}
            data "test_found" "counted" {{
              count = test_object.a.name == "a" ? 1 : 0
              name  = "fixed"
            }}
            data "test_found" "enabled" {{
              name = "fixed"
              lifecycle {{ enabled = test_object.a.name == "a" }}
            }}
            data "test_found" "told" {{
              name = "fixed"
              lifecycle {{
                postcondition {{
                  condition     = self.name == "fixed"
                  error_message = "not like ${{test_object.a.name}}"
                }}
              }}
            }}
            "#
        )
    };
    let mut project = project(&text(1));
    assert_waiting(
        &mut project,
        &text(2),
        &[
            "data.test_found.before: read (read_because_dependency_pending)",
            "data.test_found.counted[0]: read (read_because_dependency_pending)",
            "data.test_found.enabled: read (read_because_dependency_pending)",
            "data.test_found.told: read (read_because_dependency_pending)",
            "test_object.a: update",
        ],
    );
}

#[test]
fn pl_07_data_waits_for_everything_its_conditions_depend_on() {
    let text = |size: u32| {
        let data: String = [
            ("local", "local.name"),
            ("local_of_another", "local.quiet"),
            ("output", "module.child.moving"),
            ("output_of_another", "module.child.quiet"),
            ("module", "module.child"),
            ("data", "data.test_found.read.found"),
            ("behind", "test_object.behind.name"),
        ]
        .iter()
        .map(|(name, mention)| {
            format!(
                r#"
                data "test_found" "{name}" {{
                  name = "fixed"
                  lifecycle {{
                    precondition {{
                      condition     = jsonencode({mention}) != ""
                      error_message = "no"
                    }}
                  }}
                }}
                "#
            )
        })
        .collect();
        format!(
            r#"
            resource "test_object" "a" {{
              name = "a"
              size = {size}
            }}
            resource "test_object" "quiet" {{ name = "quiet" }}
            resource "test_object" "behind" {{
              name       = "behind"
              depends_on = [test_object.a]
            }}
            locals {{
              name  = test_object.a.name
              quiet = test_object.quiet.name
            }}
            module "child" {{
              source = "./child"
              moving = test_object.a.name
              quiet  = test_object.quiet.name
            }}
            data "test_found" "read" {{ name = local.name }}
            data "test_found" "after" {{
              name       = "fixed"
              depends_on = [data.test_found.local, data.test_found.read]
            }}
            {data}
            "#
        )
    };
    // The data source "quiet" depends on nothing that changes, so it is read while planning.
    let child = r#"
        terraform {
          required_providers { test = { source = "test/test" } }
        }
        variable "moving" {}
        variable "quiet" {}
        data "test_found" "variable" {
          name = "fixed"
          lifecycle {
            postcondition {
              condition     = self.name != var.moving
              error_message = "no"
            }
          }
        }
        data "test_found" "quiet" {
          name = "fixed"
          lifecycle {
            postcondition {
              condition     = self.name != var.quiet
              error_message = "no"
            }
          }
        }
        output "moving" { value = var.moving }
        output "quiet" { value = var.quiet }
    "#;
    let mut project = project(&text(1)).with("child/main.tf", child);
    assert_waiting(
        &mut project,
        &text(2),
        &[
            "data.test_found.behind: read (read_because_dependency_pending)",
            "data.test_found.data: read (read_because_dependency_pending)",
            "data.test_found.local: read (read_because_dependency_pending)",
            "data.test_found.module: read (read_because_dependency_pending)",
            "data.test_found.output: read (read_because_dependency_pending)",
            "test_object.a: update",
            "module.child.data.test_found.variable: read (read_because_dependency_pending)",
        ],
    );
}

#[test]
fn pl_07_data_waits_for_direct_references_and_not_through_locals_and_variables() {
    let text = |size: u32| {
        format!(
            r#"
            resource "test_object" "a" {{
              name = "a"
              size = {size}
            }}
            locals {{ name = test_object.a.name }}
            module "child" {{
              source = "./child"
              name   = test_object.a.name
            }}
            module "after" {{
              source     = "./child"
              name       = "fixed"
              depends_on = [test_object.a]
            }}
            data "test_found" "direct" {{ name = test_object.a.name }}
            data "test_found" "local" {{ name = local.name }}
            data "test_found" "after" {{
              name       = "fixed"
              depends_on = [test_object.a]
            }}
            data "test_found" "chained" {{ name = data.test_found.direct.found }}
            "#
        )
    };
    // Inside of a module the reference leads through a variable, which does not make the data source wait.
    let child = "terraform {\n required_providers { test = { source = \"test/test\" } }\n}\nvariable \"name\" {}\n\
                 data \"test_found\" \"in\" { name = var.name }\n";
    let mut project = project(&text(1)).with("child/main.tf", child);
    assert_waiting(
        &mut project,
        &text(2),
        &[
            "data.test_found.after: read (read_because_dependency_pending)",
            "data.test_found.chained: read (read_because_config_unknown)",
            "data.test_found.direct: read (read_because_dependency_pending)",
            "test_object.a: update",
            "module.after.data.test_found.in: read (read_because_dependency_pending)",
        ],
    );
    // A second plan proves that the deferred reads have stored what they found.
    project.apply();
    assert!(project.plan().actions().is_empty());
}

#[test]
fn pl_07_data_waits_for_the_end_of_what_it_depends_on_too() {
    let text = |count: u32, create_before_destroy: bool| {
        format!(
            r#"
            resource "test_object" "a" {{
              count = {count}
              name  = "a${{count.index}}"
            }}
            module "child" {{
              source = "./child"
              count  = {count}
            }}
            data "test_found" "after" {{
              name       = "after"
              depends_on = [test_object.a]
            }}
            data "test_found" "direct" {{ name = "direct-${{length(test_object.a) > 0}}" }}
            data "test_found" "module" {{
              name       = "module"
              depends_on = [module.child]
            }}
            resource "test_object" "b" {{
              name       = "b-${{data.test_found.after.found}}-{count}"
              depends_on = [test_object.a]
              lifecycle {{ create_before_destroy = {create_before_destroy} }}
            }}
            "#
        )
    };
    let child = "terraform {\n required_providers { test = { source = \"test/test\" } }\n}\nresource \"test_object\" \"in\" { name = \"in\" }\n";
    // The order of destruction differs between both settings; the reads wait in either case.
    for create_before_destroy in [false, true] {
        let mut project = project(&text(2, create_before_destroy)).with("child/main.tf", child);
        project.apply();
        assert!(project.plan().actions().is_empty());
        project.rewrite(&text(1, create_before_destroy));
        // What is replaced by an object that stands on the data, and created first, goes before what it stood on.
        if create_before_destroy {
            project.options.replace = vec!["test_object.b".parse().unwrap()];
        }
        let planned = project.plan();
        let reads: Vec<String> = planned.actions().into_iter().filter(|action| action.starts_with("data.")).collect();
        let wanted = ["after", "direct", "module"];
        assert_eq!(reads, wanted.map(|name| format!("data.test_found.{name}: read (read_because_dependency_pending)")));
        project.provider().forget_calls();
        assert!(!project.apply_plan(planned).has_errors());
        project.options.replace.clear();
        let calls = project.provider().call_texts();
        let position_of = |wanted: &str| calls.iter().position(|call| call.contains(wanted)).unwrap();
        // The surplus instance must be gone before the data source looks for it.
        assert!(position_of("apply test_object in") < position_of("read-data test_found module"), "{calls:?}");
        if !create_before_destroy {
            assert!(position_of("apply test_object a1") < position_of("read-data test_found after"), "{calls:?}");
            assert!(position_of("apply test_object a1") < position_of("read-data test_found direct"), "{calls:?}");
        }
        assert!(project.plan().actions().is_empty());
    }
}
