//! Moved blocks that build on each other.

use std::fmt::Write;

use groma_engine::Mode;

use crate::support::Project;

#[test]
fn pl_23_moved_blocks_are_chained_in_any_order() {
    let mut project = Project::new(r#"resource "terraform_data" "a" { input = 1 }"#);
    project.apply();
    project.rewrite(
        r#"
        moved {
          from = terraform_data.c
          to   = module.m.terraform_data.d
        }
        moved {
          from = module.m
          to   = module.n
        }
        moved {
          from = terraform_data.a
          to   = terraform_data.b[7]
        }
        moved {
          from = module.n.terraform_data.d
          to   = module.n.terraform_data.e["x"]
        }
        moved {
          from = terraform_data.b[7]
          to   = terraform_data.c
        }
        module "n" { source = "./n" }
        "#,
    );
    let mut project = project.with(
        "n/main.tf",
        r#"
        resource "terraform_data" "e" {
          for_each = toset(["x"])
          input    = 1
        }
        "#,
    );
    // The chain ends at an existing block, so nothing is created or deleted.
    assert!(project.apply().is_empty());
    assert_eq!(project.recorded(), [r#"module.n.terraform_data.e["x"]"#]);
}

#[test]
fn pl_23_moved_block_applies_to_every_instance_of_its_module() {
    let module = r#"resource "terraform_data" "old" { count = 2 }"#;
    let mut project = Project::new(
        r#"
        module "m" {
          source = "./m"
          count  = 2
        }
        "#,
    )
    .with("m/main.tf", r#"module "below" { source = "../below" }"#)
    .with("below/main.tf", module);
    assert_eq!(project.apply().len(), 4);
    let mut project = project
        .with(
            "m/main.tf",
            r#"
            module "under" { source = "../below" }
            moved {
              from = module.below
              to   = module.under
            }
            "#,
        )
        .with(
            "below/main.tf",
            r#"
            resource "terraform_data" "new" { count = 2 }
            moved {
              from = terraform_data.old
              to   = terraform_data.new
            }
            "#,
        );
    // Both moves apply in every instance of both modules.
    assert!(project.apply().is_empty());
    assert_eq!(
        project.recorded(),
        [
            "module.m[0].module.under.terraform_data.new[0]",
            "module.m[0].module.under.terraform_data.new[1]",
            "module.m[1].module.under.terraform_data.new[0]",
            "module.m[1].module.under.terraform_data.new[1]",
        ]
    );
}

#[test]
fn pl_23_many_objects_move_one_by_one() {
    // Enough objects to make a quadratic algorithm noticeable.
    const MANY: usize = 2000;
    let block = |name: &str| format!("resource \"terraform_data\" \"{name}\" {{\n count = {MANY}\n}}\n");
    let mut project = Project::new(&block("a"));
    project.apply();
    let mut main = block("b");
    for at in 0..MANY {
        let to = MANY - 1 - at;
        write!(main, "moved {{\n from = terraform_data.a[{at}]\n to = terraform_data.b[{to}]\n}}\n").unwrap();
    }
    project.rewrite(&main);
    // Every object got another address, and none was changed.
    assert!(project.apply().is_empty());
    assert_eq!(project.recorded().len(), MANY);
}

#[test]
fn cyclic_moved_blocks_are_all_named() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "z" {}
        moved {
          from = terraform_data.a
          to   = terraform_data.b
        }
        moved {
          from = terraform_data.b
          to   = terraform_data.a
        }
        moved {
          from = terraform_data.y
          to   = terraform_data.z
        }
        "#,
    );
    let planned = project.plan();
    // The third move is valid and must not be named.
    assert_eq!(planned.errors(), ["Cyclic dependency in move statements"]);
    let problem = planned.diagnostics.iter().next().unwrap();
    assert!(
        problem
            .detail
            .ends_with("\n  - terraform_data.a -> terraform_data.b\n  - terraform_data.b -> terraform_data.a")
    );
}

#[test]
fn declared_resource_cannot_be_a_move_source() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "a" { count = 2 }
        module "m" {
          source   = "./m"
          for_each = toset(["x", "y"])
        }
        moved {
          from = terraform_data.a[0]
          to   = terraform_data.a[1]
        }
        moved {
          from = module.m["x"]
          to   = module.m["y"]
        }
        moved {
          from = module.m["y"].terraform_data.i
          to   = module.m["z"].terraform_data.i
        }
        "#,
    )
    .with("m/main.tf", r#"resource "terraform_data" "i" {}"#);
    assert_eq!(project.plan().errors(), ["Moved object still exists"; 3]);
    // Nor if nothing is there yet and nothing is to be made.
    project.options.mode = Mode::RefreshOnly;
    assert_eq!(project.plan().errors(), ["Moved object still exists"; 3]);
}

#[test]
fn pl_23_objects_of_a_module_instance_that_has_gone_move_to_another() {
    let module = |keys: &str, moved: &str| {
        format!(
            r#"
            module "m" {{
              source   = "./m"
              for_each = toset([{keys}])
            }}
            {moved}
            "#
        )
    };
    let mut project = Project::new(&module(r#""x""#, "")).with("m/main.tf", r#"resource "terraform_data" "i" {}"#);
    project.apply();
    let moved = r#"
        moved {
          from = module.m["x"].terraform_data.i
          to   = module.m["z"].terraform_data.i
        }
    "#;
    project.rewrite(&module(r#""z""#, moved));
    assert!(project.apply().is_empty());
    assert_eq!(project.recorded(), [r#"module.m["z"].terraform_data.i"#]);
}

#[test]
fn pl_25_first_removed_block_for_an_address_wins() {
    let removed = |destroy: bool| {
        format!("removed {{\n  from = terraform_data.gone\n  lifecycle {{ destroy = {destroy} }}\n}}\n")
    };
    for (first, expected) in [(true, "delete"), (false, "forget")] {
        let mut project = Project::new("resource \"terraform_data\" \"gone\" {}");
        project.apply();
        project.rewrite(&format!("{}{}", removed(first), removed(!first)));
        // Both orders are tested, so the result depends on the position alone.
        assert_eq!(project.apply(), [format!("terraform_data.gone: {expected} (delete_because_no_resource_config)")]);
    }
}

#[test]
fn a_move_to_the_same_address_is_one_mistake() {
    let same = "moved {\n  from = terraform_data.a\n  to   = terraform_data.a\n}\n";
    let mut project = Project::new(&format!("resource \"terraform_data\" \"a\" {{}}\n{same}"));
    // It must not also be reported as a cycle.
    assert_eq!(project.plan().errors(), ["Redundant move statement"]);
}

#[test]
fn pl_23_implied_moves_between_instances_with_and_without_key() {
    let single = r#"
        resource "terraform_data" "a" {}
        module "m" { source = "./m" }
    "#;
    let mut project = Project::new(single).with("m/main.tf", r#"resource "terraform_data" "i" {}"#);
    project.apply();
    project.rewrite(
        r#"
        resource "terraform_data" "a" { for_each = toset(["c"]) }
        module "m" {
          source   = "./m"
          for_each = toset(["c"])
        }
        moved {
          from = terraform_data.a["b"]
          to   = terraform_data.a["c"]
        }
        moved {
          from = terraform_data.a
          to   = terraform_data.a["b"]
        }
        moved {
          from = module.m
          to   = module.m["b"]
        }
        moved {
          from = module.m["b"]
          to   = module.m["c"]
        }
        "#,
    );
    assert!(project.apply().is_empty());
    assert_eq!(project.recorded(), [r#"terraform_data.a["c"]"#, r#"module.m["c"].terraform_data.i"#]);
}

#[test]
fn pl_23_recorded_dependencies_follow_moved_objects() {
    let mut project = Project::new(
        r#"
        resource "terraform_data" "old" {}
        resource "terraform_data" "some" { count = 2 }
        resource "terraform_data" "above" { input = [terraform_data.old.id, terraform_data.some[*].id] }
        "#,
    );
    project.apply();
    // The block of what stands on them is gone: only its record tells the order.
    project.rewrite(
        r#"
        resource "terraform_data" "new" {}
        resource "terraform_data" "some" { count = 1 }
        moved {
          from = terraform_data.old
          to   = terraform_data.new
        }
        moved {
          from = terraform_data.some[1]
          to   = terraform_data.one
        }
        "#,
    );
    let planned = project.plan();
    let state = &planned.plan.as_ref().unwrap().prior_state;
    let above = state.object(&"terraform_data.above".parse().unwrap(), None).unwrap();
    let on: Vec<String> = above.dependencies.iter().map(ToString::to_string).collect();
    // Recorded dependencies must be usable with the new configuration.
    assert_eq!(on, ["terraform_data.new", "terraform_data.one", "terraform_data.some"]);
}

#[test]
fn pl_23_moved_block_disables_implied_moves_of_its_resource() {
    let plan = |module: &str, moved: &str| {
        let call = r#"module "m" { source = "./m" }"#;
        let one = r#"resource "terraform_data" "n" {}"#;
        let mut project = Project::new(&format!("{one}\n{call}")).with("m/main.tf", one);
        project.apply();
        let one = r#"resource "terraform_data" "n" { count = 1 }"#;
        project.rewrite(&format!("{one}\n{call}\n{moved}"));
        project.with("m/main.tf", &format!("{one}\n{module}")).plan().actions()
    };
    let block = |from: &str, to: &str| format!("moved {{\n  from = {from}\n  to   = {to}\n}}\n");
    let (made_anew, in_module) = (
        ["terraform_data.n: delete (delete_because_wrong_repetition)", "terraform_data.n[0]: create"],
        ["module.m.terraform_data.n: delete (delete_because_wrong_repetition)", "module.m.terraform_data.n[0]: create"],
    );

    // Without a moved block, the implied move from no key to [0] applies.
    assert!(plan("", "").is_empty());
    assert_eq!(plan("", &block("terraform_data.before", "terraform_data.n")), made_anew);
    // A moved block disables the implied moves of its resource even if it is about other instances.
    assert_eq!(plan("", &block("terraform_data.n[5]", "terraform_data.n[6]")), made_anew);
    assert_eq!(plan("", &block("terraform_data.before", "module.m.terraform_data.n")), in_module);
    // A block in a module affects only that module.
    assert_eq!(plan(&block("terraform_data.before", "terraform_data.n"), ""), in_module);
    // A move of the module says nothing about the resource inside it.
    assert!(plan("", &block("module.before", "module.m")).is_empty());
}

#[test]
fn pl_23_more_specific_moved_block_wins() {
    let block = |from: &str, to: &str| format!("moved {{\n  from = {from}\n  to   = {to}\n}}\n");
    let recorded = |before: &str, now: &str, moved: [String; 2]| {
        let [one, other] = moved;
        let orders = [format!("{one}{other}"), format!("{other}{one}")].map(|moved| {
            let mut project = Project::new(before).with("m/main.tf", r#"resource "terraform_data" "i" {}"#);
            project.apply();
            project.rewrite(&format!("{now}\n{moved}"));
            assert!(!project.apply().iter().any(|change| change.contains("delete")));
            project.recorded()
        });
        // The order of the blocks must not matter.
        assert_eq!(orders[0], orders[1]);
        orders.into_iter().next().unwrap_or_default()
    };
    let single = r#"resource "terraform_data" "r" {}"#;
    let repeated = r#"resource "terraform_data" "n" { count = 1 }"#;

    // It got `count` first, and another name later.
    let moved = [block("terraform_data.r", "terraform_data.r[0]"), block("terraform_data.r", "terraform_data.n")];
    assert_eq!(recorded(single, repeated, moved), ["terraform_data.n[0]"]);
    let moved = [block("terraform_data.r", "terraform_data.n[0]"), block("terraform_data.r", "terraform_data.b")];
    assert_eq!(recorded(single, repeated, moved), ["terraform_data.n[0]"]);

    let call = r#"module "m" { source = "./m" }"#;
    let calls = "module \"n\" {\n  source   = \"./m\"\n  for_each = toset([\"a\"])\n}\n";
    let moved = [block("module.m", "module.m[\"a\"]"), block("module.m", "module.n")];
    assert_eq!(recorded(call, calls, moved), [r#"module.n["a"].terraform_data.i"#]);
    let resource = r#"resource "terraform_data" "x" {}"#;
    let moved = [block("module.m", "module.n"), block("module.m.terraform_data.i", "terraform_data.x")];
    assert_eq!(recorded(call, resource, moved), ["terraform_data.x"]);
}

#[test]
fn destroy_does_not_check_for_declared_move_sources() {
    let two = r#"resource "terraform_data" "r" { for_each = toset(["a", "b"]) }"#;
    let mut project = Project::new(two);
    project.apply();
    let one = r#"resource "terraform_data" "r" { for_each = toset(["a"]) }"#;
    let moved = "moved {\n  from = terraform_data.r[\"b\"]\n  to   = terraform_data.r[\"a\"]\n}\n";
    project.rewrite(&format!("{one}\n{moved}"));
    // Everything is destroyed, so what is declared does not matter.
    project.options.mode = Mode::Destroy;
    assert!(project.plan().errors().is_empty());
}
