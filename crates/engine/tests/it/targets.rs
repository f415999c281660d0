//! Plans for chosen targets (PL-64), and how `create_before_destroy` spreads beyond what is chosen (PL-11, OD-09).

use groma_engine::Mode;
use groma_state::State;

use crate::support::Project;

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
fn od_09_create_before_destroy_spreads_from_what_a_target_leaves_out() {
    for target in ["terraform_data.base", "terraform_data.top"] {
        let mut project = replaced_below_create_before_destroy();
        project.options.targets = vec![target.parse().unwrap()];
        let planned = project.plan().actions();
        // The setting of an untargeted dependent still decides, because its object needs the old one.
        assert!(planned[0].starts_with("terraform_data.base: create then delete"), "{target}: {planned:?}");
    }
}

#[test]
fn od_09_create_before_destroy_spreads_from_what_is_excluded() {
    let mut project = replaced_below_create_before_destroy();
    project.options.excludes = vec!["terraform_data.top".parse().unwrap()];
    // The excluded dependent still has create_before_destroy, which its dependency must follow.
    let base = "terraform_data.base: create then delete (replace_because_cannot_update)";
    assert_eq!(project.plan().actions(), [base]);
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
    // Dependents (c) and unrelated resources (d) are left out.
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
    // A copy of the state, since each case starts from the same objects.
    project.state = groma_state::file::read(&groma_state::file::write(before)).unwrap();
    project.options.targets = vec![target.parse().unwrap()];
    project.plan().actions()
}

#[test]
fn pl_64_target_of_a_module_instance_excludes_the_others() {
    let mut project = in_modules("\"a\", \"b\"", 1);
    project.apply();
    let new = |target| changed(&project.state, in_modules("\"a\", \"b\", \"c\"", 1), target);
    // Nothing is new in the targeted instance.
    assert_eq!(new("module.m[\"a\"]"), [""; 0], "q of each instance depends on p of the same instance");
    assert_eq!(
        new("module.m[\"c\"]"),
        ["module.m[\"c\"].terraform_data.p[0]: create", "module.m[\"c\"].terraform_data.q: create"]
    );
    assert_eq!(new("terraform_data.top").len(), 4 - 2, "all of what is depended on");
    let fewer = |target| changed(&project.state, in_modules("\"b\"", 1), target);
    // The removed instance is not a dependency of the target.
    assert_eq!(fewer("module.m[\"b\"]"), [""; 0], "what nobody named stays");
    let gone = |names: &[&str]| -> Vec<String> {
        names
            .iter()
            .map(|name| format!("module.m[\"a\"].terraform_data.{name}: delete (delete_because_no_module)"))
            .collect()
    };
    // A target that only the state knows selects its orphans.
    assert_eq!(fewer("module.m[\"a\"]"), gone(&["p[0]", "q"]));
    assert_eq!(fewer("terraform_data.top"), gone(&["p[0]", "q"]), "it is no part of what is depended on any more");
}

#[test]
fn pl_64_destroy_of_a_module_instance_keeps_the_others() {
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
    assert_eq!(destroyed("\"a\", \"b\""), gone, "q of b depends on p of b, and top on the whole module");
    assert_eq!(destroyed("\"b\""), gone, "also if it is no longer in the configuration");
    assert_eq!(destroyed("\"a\""), gone, "orphans of b are kept");
}

/// Module instances with resources that stand on each other: in the same module, in one below it, and in another one beside.
fn in_nested_and_sibling_modules(names: &str) -> Project {
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
fn pl_64_destroy_in_one_module_instance_includes_only_its_dependents() {
    let mut project = in_nested_and_sibling_modules("\"a\", \"b\"");
    project.apply();
    let destroyed = |names: &str, target: &str| {
        let mut partial = in_nested_and_sibling_modules(names);
        partial.options.mode = Mode::Destroy;
        let mut actions = changed(&project.state, partial, target);
        actions.sort();
        actions.iter().map(|action| action.replace("terraform_data.", "").replace(": delete", "")).collect::<Vec<_>>()
    };
    let of = |module: &str| {
        ["module.below[0].r", "module.below[1].r", "p", "q"].map(|name| format!("module.m[\"{module}\"].{name}"))
    };
    let siblings = ["module.beside[0].r".to_owned(), "module.beside[1].r".to_owned()];
    let both = "\"a\", \"b\"";
    let all_of = |names: &[&str]| [siblings.to_vec(), names.iter().flat_map(|name| of(name)).collect()].concat();
    // An output of the call is one of all instances, as far as anybody knows.
    assert_eq!(destroyed(both, "module.m[\"a\"].terraform_data.p"), all_of(&["a"]));
    assert_eq!(destroyed(both, "module.m[\"b\"].terraform_data.p"), all_of(&["b"]));
    assert_eq!(destroyed(both, "module.m[\"a\"].terraform_data.q"), ["module.m[\"a\"].q"]);
    assert_eq!(destroyed("\"b\"", "module.m[\"b\"].terraform_data.p"), all_of(&["b"]), "orphans of a are kept");
    assert_eq!(destroyed("\"b\"", "module.m[\"a\"].terraform_data.p"), all_of(&["a"]), "orphans are deleted as well");
}

#[test]
fn pl_64_surplus_instances_of_a_dependency_are_deleted() {
    let mut project = in_modules("\"a\"", 2);
    project.apply();
    let fewer = |target| changed(&project.state, in_modules("\"a\"", 1), target);
    let last = "module.m[\"a\"].terraform_data.p[1]: delete (delete_because_count_index)";
    // Only the surplus instance that the target depends on is deleted.
    assert_eq!(fewer("module.m[\"a\"].terraform_data.q"), [last]);
    // The target is one instance, so the other instance is not included.
    assert_eq!(fewer("module.m[\"a\"].terraform_data.p[0]"), [""; 0]);
}

#[test]
fn pl_64_destroy_of_a_target_includes_dependents_and_not_dependencies() {
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
    // The dependency of the target stays.
    assert_eq!(project.recorded(), ["terraform_data.a"]);
}
