//! `-exclude`: all but what is named and what depends on it.

use groma_engine::Mode;

use crate::support::{Project, errors};

const CHAIN: &str = r#"
    resource "terraform_data" "a" { input = 1 }
    resource "terraform_data" "b" { input = terraform_data.a.output }
    resource "terraform_data" "c" {
      count = 2
      input = terraform_data.b.output
    }
    resource "terraform_data" "d" { input = 1 }
    locals { d = terraform_data.d.output }
    output "a" { value = terraform_data.a.output }
    output "d" { value = local.d }
"#;

fn without(project: &mut Project, excluded: &[&str]) -> Vec<String> {
    project.options.excludes = excluded.iter().map(|text| text.parse().unwrap()).collect();
    let planned = project.plan();
    assert_eq!(errors(&planned.diagnostics), Vec::<String>::new());
    planned.actions()
}

#[test]
fn excluded_object_is_left_out_with_its_dependents() {
    let mut project = Project::new(CHAIN);
    assert_eq!(without(&mut project, &["terraform_data.a"]), ["terraform_data.d: create"]);
    assert_eq!(without(&mut project, &["terraform_data.b"]), ["terraform_data.a: create", "terraform_data.d: create"]);
    assert_eq!(
        without(&mut project, &["terraform_data.c[1]", "terraform_data.d"]),
        ["terraform_data.a: create", "terraform_data.b: create", "terraform_data.c[0]: create"]
    );
    // One that is not there excludes nothing.
    assert_eq!(without(&mut project, &["terraform_data.z"]).len(), 5);
    // A plan with exclusions is never complete, even if the excluded address does not exist.
    let plan = project.plan().plan.unwrap();
    assert!(plan.is_partial() && !plan.is_complete());
}

#[test]
fn outputs_of_excluded_objects_keep_their_values() {
    let mut project = Project::new(CHAIN);
    without(&mut project, &["terraform_data.a"]);
    project.apply();
    assert_eq!(project.recorded(), ["terraform_data.d"]);
    assert_eq!(project.state.outputs.keys().map(|name| &**name).collect::<Vec<&str>>(), ["d"]);
}

#[test]
fn object_with_unknown_repetition_can_be_excluded() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" {}
        resource "terraform_data" "u" { count = terraform_data.a.id == "x" ? 1 : 2 }
        resource "terraform_data" "v" { input = terraform_data.u }
        module "m" {
          source = "./m"
          count  = length(terraform_data.u)
        }
        "#,
    )
    .with("m/main.tf", r#"resource "terraform_data" "x" {}"#);
    // Without the exclusion the unknown count stops the whole plan.
    assert!(errors(&project.plan().diagnostics).iter().any(|error| error.contains("Invalid count argument")));
    assert_eq!(without(&mut project, &["terraform_data.u"]), ["terraform_data.a: create"]);
    project.apply();
    assert_eq!(without(&mut project, &[]).len(), 5);
}

const MODULES: &str = r#"
    resource "terraform_data" "d" { input = 1 }
    module "m" {
      source = "./m"
      count  = 2
      v      = terraform_data.d.output
    }
    resource "terraform_data" "e" { input = module.m[0].v }
    resource "terraform_data" "f" { depends_on = [module.m] }
"#;

fn modules() -> Project {
    let inner = r#"
        variable "v" {}
        resource "terraform_data" "x" { input = var.v }
        resource "terraform_data" "y" {}
        output "v" { value = terraform_data.x.output }
    "#;
    Project::new(MODULES).with("m/main.tf", inner)
}

#[test]
fn modules_and_their_instances_are_excluded() {
    let mut project = modules();
    assert_eq!(without(&mut project, &["module.m"]), ["terraform_data.d: create"]);
    assert_eq!(
        without(&mut project, &["module.m[0]"]),
        ["terraform_data.d: create", "module.m[1].terraform_data.x: create", "module.m[1].terraform_data.y: create"]
    );
    let others =
        ["terraform_data.d: create", "module.m[0].terraform_data.y: create", "module.m[1].terraform_data.y: create"];
    assert_eq!(without(&mut project, &["module.m.terraform_data.x"]), others);
}

#[test]
fn dependencies_of_an_excluded_object_are_not_destroyed() {
    let mut project = Project::new(CHAIN);
    project.apply();
    // In a destroy plan the roles are reversed: dependencies of the excluded object stay.
    project.options.mode = Mode::Destroy;
    let kept = ["terraform_data.c[0]: delete", "terraform_data.c[1]: delete", "terraform_data.d: delete"];
    assert_eq!(without(&mut project, &["terraform_data.b"]), kept);
    // Though nothing in the configuration says so any more.
    project.rewrite(r#"resource "terraform_data" "d" { input = 1 }"#);
    assert_eq!(
        without(&mut project, &["terraform_data.c[1]"]),
        ["terraform_data.c[0]: delete", "terraform_data.d: delete"]
    );
    project.apply();
    assert_eq!(project.recorded(), ["terraform_data.a", "terraform_data.b", "terraform_data.c[1]"]);
}

#[test]
fn objects_without_configuration_can_be_excluded() {
    let mut project = Project::new(CHAIN);
    // Only the stored records connect the objects now.
    project.apply();
    project.rewrite(r#"resource "terraform_data" "d" { input = 2 }"#);
    assert_eq!(
        without(&mut project, &["terraform_data.c", "terraform_data.d"]),
        [
            "terraform_data.a: delete (delete_because_no_resource_config)",
            "terraform_data.b: delete (delete_because_no_resource_config)"
        ]
    );
}

#[test]
fn a_move_is_not_excluded_in_silence() {
    let mut project = Project::new(r#"resource "terraform_data" "old" {}"#);
    project.apply();
    project.rewrite(
        r#"
        resource "terraform_data" "new" {}
        moved {
          from = terraform_data.old
          to   = terraform_data.new
        }
        "#,
    );
    project.options.excludes = vec!["terraform_data.old".parse().unwrap()];
    let said = errors(&project.plan().diagnostics);
    assert!(said.iter().any(|error| error.contains("Moved resource instances excluded by targeting")), "{said:?}");
}

#[test]
fn excluded_instances_keep_their_stored_values() {
    let mut project = Project::new(
        r#"
        variable "x" { default = "1" }
        resource "terraform_data" "a" {
          count = 2
          input = var.x
        }
        output "all" { value = join("-", terraform_data.a[*].output) }
        output "other" { value = terraform_data.a[1].output }
        "#,
    );
    project.apply();
    let second = project.plan();
    assert!(second.actions().is_empty());
    let two = groma_engine::Input { value: "2".into(), span: groma_diagnostics::Span::NONE, origin: None };
    project.options.inputs.insert("x".into(), two);
    project.options.excludes = vec!["terraform_data.a[1]".parse().unwrap()];
    assert_eq!(project.apply(), ["terraform_data.a[0]: update"]);
    assert_eq!(project.state.outputs["all"].value.as_str(), Some("2-1"));
    assert_eq!(project.state.outputs["other"].value.as_str(), Some("1"));
}

#[test]
fn pl_64_one_instance_is_a_target_and_the_others_keep_their_values() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" {
          count = 2
          input = "1"
        }
        output "all" { value = join("-", terraform_data.a[*].output) }
        "#,
    );
    project.apply();
    project.rewrite(
        r#"
        resource "terraform_data" "a" {
          count = 2
          input = "2"
        }
        output "all" { value = join("-", terraform_data.a[*].output) }
        "#,
    );
    project.options.targets = vec!["terraform_data.a[1]".parse().unwrap()];
    project.apply();
    assert_eq!(project.state.outputs["all"].value.as_str(), Some("1-2"));
}
