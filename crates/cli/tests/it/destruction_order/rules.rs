//! The rules of the execution graph, one test each.

use super::scenario::{Programs, Scenario};

#[test]
fn od_01_steps_follow_their_references_and_reads() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "base" {
          name  = "base"
          value = "<v>"
        }
        data "cloud_lookup" "bases" {
          name = "base"
          of   = cloud_object.base.id
        }
        data "cloud_lookup" "later" {
          name       = "base"
          of         = cloud_object.top.id
          depends_on = [cloud_object.top]
        }
        resource "cloud_object" "user" {
          name  = "user"
          refs  = data.cloud_lookup.bases.ids
          value = cloud_object.base.value
        }
        resource "cloud_object" "top" {
          name   = "top"
          parent = cloud_object.user.id
          value  = cloud_object.user.value
        }
        resource "cloud_object" "last" {
          name  = "last"
          value = join(" ", data.cloud_lookup.later.ids)
        }
        "#,
    );
    scenario.apply("v=1").in_order(&["create base", "read base", "create user", "create top", "create last"]);
    // The second apply only updates, so the reads are not repeated before the users.
    scenario.apply("v=2").in_order(&["update base", "update user", "update top"]);
}

#[test]
fn od_02_users_are_destroyed_first_even_without_blocks() {
    let text = r#"
        ?all resource "cloud_object" "a" {
        ?all   name = "a"
        ?all }
        ?all resource "cloud_object" "b" {
        ?all   name  = "b"
        ?all   count = 2
        ?all   refs  = [cloud_object.a.id]
        ?all }
        ?all module "m" {
        ?all   source = "./m"
        ?all   ids    = cloud_object.b[*].id
        ?all }
        ?all resource "cloud_object" "d" {
        ?all   name = "d"
        ?all   refs = [module.m.id]
        ?all }
    "#;
    let module = r#"
        variable "ids" {}
        resource "cloud_object" "c" {
          name = "c"
          refs = var.ids
        }
        output "id" { value = cloud_object.c.id }
    "#;
    let mut scenario = Scenario::new(text).with_module(module);
    // Without any block only the recorded dependencies know the order.
    scenario.apply("all").apply("none").in_order(&["delete d", "delete c", "delete b", "delete a"]).leaves(&[]);
    // The same order, from the configuration this time.
    scenario.apply("all").options(&["-destroy"]).apply("all");
    scenario.in_order(&["delete d", "delete c", "delete b", "delete a"]).leaves(&[]);
}

#[test]
fn od_03_replacement_destroy_first_destroys_users_first_and_creates_them_last() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "base" {
          name    = "base"
          replace = "<v>"
        }
        resource "cloud_object" "replaced" {
          name   = "replaced"
          parent = cloud_object.base.id
        }
        resource "cloud_object" "updated" {
          name  = "updated"
          value = cloud_object.base.id
        }
        ?more resource "cloud_object" "gone" {
        ?more   name = "gone"
        ?more   refs = [cloud_object.base.id]
        ?more }
        "#,
    );
    scenario.apply("v=1 more").apply("v=2");
    // The user with the forced replacement is deleted first and created last.
    scenario.in_order(&["delete replaced", "delete base", "create base", "create replaced"]);
    // The user that is only updated waits for the new object.
    scenario.in_order(&["delete gone", "delete base"]).in_order(&["create base", "update updated"]);
}

#[test]
fn od_03_removed_user_is_destroyed_before_its_dependency_is_updated() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "base" {
          name  = "base"
          value = "<v>"
        }
        ?more resource "cloud_object" "gone" {
        ?more   name = "gone"
        ?more   refs = [cloud_object.base.id]
        ?more }
        "#,
    );
    // The reference of the removed user would otherwise block the update.
    scenario.apply("v=1 more").apply("v=2").in_order(&["delete gone", "update base"]);
}

#[test]
fn od_04_replacement_create_first_destroys_after_every_user() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "base" {
          name    = "base"
          replace = "<v>"
          lifecycle {
            create_before_destroy = true
          }
        }
        resource "cloud_object" "updated" {
          name = "updated"
          refs = [cloud_object.base.id]
        }
        ?new resource "cloud_object" "created" {
        ?new   name = "created"
        ?new   refs = [cloud_object.base.id]
        ?new }
        resource "cloud_object" "replaced" {
          name   = "replaced"
          parent = cloud_object.base.id
        }
        "#,
    );
    scenario.apply("v=1").apply("v=2 new");
    // The old object is destroyed only when nobody refers to it any more.
    scenario.in_order(&["create base", "update updated", "delete base#1"]);
    scenario.in_order(&["create base", "create created", "delete base#1"]);
    scenario.in_order(&["create base", "create replaced", "delete base#1"]);
    // Both are replaced: the deletions follow the order of destruction.
    scenario.in_order(&["delete replaced#1", "delete base#1"]);
}

/// An object that goes for good in several ways, and a user that is updated.
const GOING: &str = r#"
    resource "cloud_object" "slow" {
      name    = "slow"
      replace = "<v>"
    }
    resource "cloud_object" "keyed" {
      for_each = toset(split(",", "<keys>"))
      name     = "keyed-${each.key}"
      lifecycle {
        create_before_destroy = true
      }
    }
    ?more resource "cloud_object" "block" {
    ?more   name = "block"
    ?more   lifecycle {
    ?more     create_before_destroy = true
    ?more   }
    ?more }
    module "m" {
      source   = "./m"
      for_each = toset(split(",", "<keys>"))
      key      = each.key
    }
    ?more module "whole" {
    ?more   source = "./m"
    ?more   key    = "w"
    ?more }
    resource "cloud_object" "lb" {
      name       = "lb"
      refs       = concat(
        [for c in cloud_object.keyed : c.id],
        [for m in module.m : m.id],
    ?more [cloud_object.block.id, module.whole.id],
      )
      depends_on = [cloud_object.slow]
    }
    resource "cloud_object" "whole" {
      name       = "whole"
      value      = "<v>"
      depends_on = [cloud_object.keyed, module.m, cloud_object.slow]
    }
"#;

const GOING_MODULE: &str = r#"
    variable "key" {}
    resource "cloud_object" "it" {
      name = "m-${var.key}"
      lifecycle {
        create_before_destroy = true
      }
    }
    output "id" { value = cloud_object.it.id }
"#;

#[test]
fn od_05_removed_objects_with_create_before_destroy_are_destroyed_after_updates_of_users() {
    let mut scenario = Scenario::new(GOING).with_module(GOING_MODULE);
    scenario.apply("v=1 keys=a,b more").apply("v=2 keys=b,c");
    // Removed by key, by module key, by block and by call.
    for gone in ["delete keyed-a", "delete m-a", "delete block", "delete m-w"] {
        scenario.in_order(&["update lb", gone]);
    }
    // References to the whole resource and to the whole module count as uses.
    scenario.in_order(&["update whole", "delete keyed-a"]).in_order(&["update whole", "delete m-a"]);
}

#[test]
fn od_06_other_removed_objects_wait_for_updates_of_their_users() {
    let mut scenario = Scenario::run_by(
        // Terraform does not wait here.
        Programs::Groma,
        r#"
        resource "cloud_object" "slow" {
          name    = "slow"
          replace = "<v>"
        }
        resource "cloud_object" "keyed" {
          for_each = toset(split(",", "<keys>"))
          name     = "keyed-${each.key}"
        }
        ?more resource "cloud_object" "block" {
        ?more   name = "block"
        ?more }
        resource "cloud_object" "lb" {
          name       = "lb"
          refs       = concat([for c in cloud_object.keyed : c.id],
        ?more [cloud_object.block.id],
          )
          depends_on = [cloud_object.slow]
        }
        "#,
    );
    scenario.apply("v=1 keys=a,b more").apply("v=2 keys=b");
    // The update removes the references, so that the cloud accepts the deletions.
    scenario.in_order(&["create slow", "update lb", "delete keyed-a"]).in_order(&["update lb", "delete block"]);
}

#[test]
fn od_06_destruction_that_a_creation_needs_does_not_wait_for_updates_after_that_creation() {
    let mut scenario = Scenario::new(
        r#"
        ?more resource "cloud_object" "gone" {
        ?more   name   = "gone"
        ?more   parent = cloud_object.base.id
        ?more }
        resource "cloud_object" "base" {
          name    = "base"
          replace = "<v>"
        }
        resource "cloud_object" "user" {
          name  = "user"
          value = cloud_object.base.id
        ?more depends_on = [cloud_object.gone]
        }
        "#,
    );
    scenario.apply("v=1 more").apply("v=2");
    // The update needs the new base, which needs the deletion: the weaker rule yields.
    scenario.in_order(&["delete gone", "delete base", "create base", "update user"]);
}

#[test]
fn od_07_deposed_object_is_destroyed_after_creation_and_updates_of_users() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "web" {
          name    = "web"
          replace = "<v>"
          lifecycle {
            create_before_destroy = true
          }
        }
        resource "cloud_object" "lb" {
          name = "lb"
          refs = [cloud_object.web.id]
        }
        "#,
    );
    // Leaves a deposed object and a tainted one.
    scenario.apply("v=1").failing_late("create web").apply_fails("v=2", "Injected failure");
    // The instance has no healthy object yet.
    scenario.failing("create web").apply_fails("v=2", "Injected failure").without(&["delete web#1"]);
    scenario.apply("v=2").in_order(&["create web", "update lb", "delete web#1"]);
}

#[test]
fn od_08_destruction_that_waits_for_a_failed_step_is_skipped() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "web" {
          name    = "web"
          replace = "<v>"
          lifecycle {
            create_before_destroy = true
          }
        }
        resource "cloud_object" "lb" {
          name = "lb"
          refs = [cloud_object.web.id]
        }
        resource "cloud_object" "alone" {
          name    = "alone"
          replace = "<v>"
        }
        ?more resource "cloud_object" "used" {
        ?more   name = "used"
        ?more }
        ?more resource "cloud_object" "user" {
        ?more   name = "user"
        ?more   refs = [cloud_object.used.id]
        ?more }
        "#,
    );
    // One failure prevents each of the two deletions.
    scenario.apply("v=1 more").failing("update lb").failing("delete user").apply_fails("v=2", "Injected failure");
    // The independent replacement continues.
    scenario.without(&["delete web", "delete used"]).in_order(&["delete alone", "create alone"]);
    scenario.leaves(&[
        "cloud_object.alone: alone#2",
        "cloud_object.lb: lb#1",
        "cloud_object.used: used#1",
        "cloud_object.user: user#1",
        "cloud_object.web: web#2, deposed web#1",
    ]);
}

/// Something created first on top of something that does not say so.
const INHERITED: &str = r#"
    resource "cloud_object" "base" {
      name    = "base"
      replace = "<v>"
    }
    resource "cloud_object" "middle" {
      name   = "middle"
      parent = cloud_object.base.id
    }
    resource "cloud_object" "top" {
      name = "top"
    ?apart value = cloud_object.middle.id
    !apart parent = cloud_object.middle.id
      lifecycle {
        create_before_destroy = true
      }
    }
"#;

#[test]
fn od_09_create_before_destroy_extends_to_dependencies() {
    let mut scenario = Scenario::new(INHERITED);
    // Only the top resource declares it, and everything below must follow.
    scenario.apply("v=1").apply("v=2");
    scenario.in_order(&[
        "create base",
        "create middle",
        "create top",
        "delete top#1",
        "delete middle#1",
        "delete base#1",
    ]);
}

/// Terraform forgets about what it does not target, and destroys first.
#[test]
fn od_09_create_before_destroy_extends_to_dependencies_with_target() {
    let mut scenario = Scenario::run_by(Programs::Groma, INHERITED);
    // The target leaves out the top resource, which is the reason to create first.
    scenario.apply("v=1 apart").options(&["-target=cloud_object.middle"]).apply("v=2 apart");
    scenario.in_order(&["create base", "create middle", "delete middle#1"]).without(&["delete base#1"]);
    scenario.apply("v=2 apart").in_order(&["update top", "delete base#1"]);
}

#[test]
fn od_09_create_before_destroy_is_recorded_with_dependencies() {
    let mut scenario = Scenario::new(
        r#"
        ?old resource "cloud_object" "old" {
        ?old   name = "old"
        ?old }
        resource "cloud_object" "slow" {
          name    = "slow"
          replace = "<v>"
        }
        resource "cloud_object" "user" {
          name       = "user"
        ?old refs    = [cloud_object.old.id]
          depends_on = [cloud_object.slow]
          lifecycle {
            create_before_destroy = true
          }
        }
        "#,
    );
    // The block of the old object is gone, so its behavior comes from the state.
    scenario.apply("v=1 old").apply("v=2").in_order(&["create slow", "update user", "delete old"]);
}

#[test]
fn od_10_objects_of_a_provider_are_destroyed_before_its_dependencies() {
    let mut scenario = Scenario::new(
        r#"
        ?all resource "cloud_object" "cluster" {
        ?all   name = "cluster"
        ?all }
        provider "kube" {
        ?all endpoint = cloud_object.cluster.id
        }
        ?all resource "kube_object" "app" {
        ?all   name = "app"
        ?all }
        "#,
    );
    // The objects of the provider are reached through the cluster.
    scenario.apply("all").options(&["-destroy"]).apply("all").in_order(&["delete app", "delete cluster"]).leaves(&[]);
}

#[test]
fn od_10_objects_of_a_provider_are_changed_before_a_create_first_cluster_is_destroyed() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "cluster" {
          name    = "cluster"
          replace = "<v>"
          lifecycle {
            create_before_destroy = true
          }
        }
        provider "kube" {
          endpoint = cloud_object.cluster.id
        }
        resource "kube_object" "app" {
          name    = "app"
          replace = "<v>"
        }
        ?more resource "kube_object" "gone" {
        ?more   name = "gone"
        ?more }
        "#,
    );
    scenario.apply("v=1 more").apply("v=2");
    // The old cluster must exist until the objects of its provider are changed.
    scenario.in_order(&["create cluster", "delete app", "create app"]).in_order(&["create cluster", "delete gone"]);
}

/// A replacement with an action at each side of it.
const ACTIONS: &str = r#"
    action "cloud_action" "before" {
      config {
        name = "before"
      ?ref ref = cloud_object.other.id
      }
    }
    action "cloud_action" "after" {
      config {
        name = "after"
      }
    }
    resource "cloud_object" "other" {
      name  = "other"
      value = "<v>"
    }
    resource "cloud_object" "it" {
      name    = "it"
      replace = "<v>"
      value   = "<u>"
      lifecycle {
      ?first create_before_destroy = true
        action_trigger {
          events  = [before_create, before_update]
          actions = [action.cloud_action.before]
        }
        action_trigger {
          events  = [after_create, after_update]
          actions = [action.cloud_action.after]
        }
      }
    }
"#;

#[test]
fn od_11_actions_run_before_the_first_and_after_the_last_step_of_a_change() {
    let mut scenario = Scenario::new(ACTIONS);
    // A creation, an update and a replacement have the action on each side.
    scenario.apply("v=1 u=1 ref").in_order(&["create other", "invoke before", "create it", "invoke after"]);
    scenario.apply("v=1 u=2 ref").in_order(&["invoke before", "update it", "invoke after"]);
    scenario.apply("v=1 u=2").apply("v=2 u=2");
    scenario.in_order(&["invoke before", "delete it", "create it", "invoke after"]);
}

/// Terraform answers with a cycle.
#[test]
fn od_11_action_before_a_destruction_waits_for_what_it_refers_to() {
    let mut scenario = Scenario::run_by(Programs::Groma, ACTIONS);
    scenario.apply("v=1 u=1 ref").apply("v=2 u=1 ref");
    // The action refers to an object that is updated in the same run.
    scenario.in_order(&["update other", "invoke before", "delete it", "create it", "invoke after"]);
}

#[test]
fn od_11_actions_run_before_and_after_a_replacement_that_creates_first() {
    let mut scenario = Scenario::new(ACTIONS);
    scenario.apply("v=1 u=1 first ref").apply("v=2 u=1 first ref");
    // The replacement creates first, so its first step is the creation.
    scenario.in_order(&["update other", "invoke before", "create it", "delete it#1"]);
    // The action after the creation does not wait for the deletion of the old object.
    scenario.in_order(&["create it", "invoke after"]);
}

#[test]
fn od_12_configured_cycle_is_refused_with_its_members() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "a" {
          name = "a"
        ?loop refs = [cloud_object.b.id]
        }
        resource "cloud_object" "b" {
          name = "b"
          refs = [cloud_object.a.id]
        }
        "#,
    );
    // The first apply succeeds without the loop.
    scenario.apply("v=1").plan_fails("loop", "Cycle: cloud_object.");
}

#[test]
fn od_12_rules_that_contradict_each_other_make_no_cycle() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "base" {
          name    = "base"
          replace = "<v>"
        }
        resource "cloud_object" "cluster" {
          name   = "cluster"
          parent = cloud_object.base.id
          lifecycle {
            action_trigger {
              events  = [before_create]
              actions = [action.cloud_action.note]
            }
          }
        }
        action "cloud_action" "note" {
          config {
            name = "note"
          }
        }
        provider "kube" {
          endpoint = cloud_object.cluster.id
        }
        resource "kube_object" "app" {
          for_each = toset(split(",", "<keys>"))
          name     = "app-${each.key}"
          parent   = cloud_object.base.id
        }
        resource "cloud_object" "top" {
          name    = "top"
          value   = join(" ", [for app in kube_object.app : app.id])
          replace = "<v>"
        }
        "#,
    );
    // Only the plan is checked: it must not fail with a cycle.
    scenario.apply("v=1 keys=a,b").options(&["-refresh=false"]).plan_succeeds("v=2 keys=b,c");
}
