//! Situations in which one rule decides alone: no record of an earlier run and no other rule leads to the same order.

use super::scenario::{Programs, Scenario};

/// Terraform deletes the old object and invokes the action at the same time.
#[test]
fn od_11_action_after_a_replacement_that_creates_first_waits_for_the_destruction() {
    let mut scenario = Scenario::run_by(
        Programs::Groma,
        r#"
        action "cloud_action" "after" {
          config {
            name = "after"
          }
        }
        resource "cloud_object" "it" {
          name    = "it"
          replace = "<v>"
          lifecycle {
            create_before_destroy = true
            action_trigger {
              events  = [after_create]
              actions = [action.cloud_action.after]
            }
          }
        }
        "#,
    );
    scenario.apply("v=1").apply("v=2").in_order(&["create it", "delete it#1", "invoke after"]);
}

#[test]
fn od_05_removed_instance_waits_for_new_users_of_its_whole_resource() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "base" {
          for_each = toset(["<v>"])
          name     = "base-${each.key}"
          lifecycle {
            create_before_destroy = true
          }
        }
        ?more resource "cloud_object" "user" {
        ?more   name = "user"
        ?more   refs = values(cloud_object.base)[*].id
        ?more }
        "#,
    );
    scenario.apply("v=1").apply("v=2 more").in_order(&["create base-2", "create user"]);
    scenario.in_order(&["create user", "delete base-1"]);
}

#[test]
fn od_05_object_of_a_removed_module_instance_waits_for_new_users_of_the_whole_module() {
    let mut scenario = Scenario::new(
        r#"
        module "m" {
          source   = "./m"
          for_each = toset(["<v>"])
          key      = each.key
        }
        ?more resource "cloud_object" "user" {
        ?more   name = "user"
        ?more   refs = values(module.m)[*].id
        ?more }
        "#,
    )
    .with_module(
        r#"
        variable "key" {}
        resource "cloud_object" "base" {
          name = "base-${var.key}"
          lifecycle {
            create_before_destroy = true
          }
        }
        output "id" { value = cloud_object.base.id }
        "#,
    );
    scenario.apply("v=1").apply("v=2 more").in_order(&["create base-2", "create user", "delete base-1"]);
}

/// The record of the object was written when its provider was configured otherwise.
#[test]
fn od_10_objects_of_a_provider_are_destroyed_before_its_current_dependencies() {
    let mut scenario = Scenario::run_by(
        Programs::Groma,
        r#"
        resource "cloud_object" "cluster" {
          name = "cluster"
        }
        provider "kube" {
        ?own endpoint = cloud_object.cluster.id
        !own endpoint = "cluster#1"
        }
        ?app resource "kube_object" "app" {
        ?app   name = "app"
        ?app }
        "#,
    );
    scenario
        .apply("cluster")
        .apply("app")
        .options(&["-destroy"])
        .apply("own app")
        .in_order(&["delete app", "delete cluster"])
        .leaves(&[]);
}

/// The last good object is a deposed one: a replacement of it failed with an object.
#[test]
fn od_07_deposed_object_is_kept_if_the_next_replacement_fails() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "web" {
          name    = "web"
          replace = "<v>"
          lifecycle {
            create_before_destroy = true
          }
        }
        "#,
    );
    scenario.apply("v=1").failing_late("create web").apply_fails("v=2", "");
    scenario.failing("create web").apply_fails("v=2", "").without(&["delete web#1"]);
    scenario.apply("v=2").in_order(&["create web", "delete web#1"]);
}

#[test]
fn od_05_removed_object_is_destroyed_after_updates_of_its_dependencies() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "base" {
          name  = "base"
          value = "<v>"
        }
        ?more resource "cloud_object" "user" {
        ?more   name = "user"
        ?more   refs = [cloud_object.base.id]
        ?more   lifecycle {
        ?more     create_before_destroy = true
        ?more   }
        ?more }
        "#,
    );
    scenario.apply("v=1 more").apply("v=2").in_order(&["update base", "delete user"]);
}

const ORPHAN_OF_CONFIGURED_PROVIDER: &str = r#"
    provider "kube" {
        endpoint = cloud_object.cluster.id
    }
    resource "cloud_object" "cluster" {
        name = "cluster"
    }
    ?old resource "kube_object" "orphan" {
    ?old   name = "orphan"
    ?old }
    resource "kube_object" "user" {
        name = "user"
        ?old value = kube_object.orphan.id
    }
"#;

#[test]
fn an_orphan_is_destroyed_while_its_former_user_is_excluded() {
    let mut scenario = Scenario::run_by(Programs::Groma, ORPHAN_OF_CONFIGURED_PROVIDER);
    scenario.apply("old").options(&["-exclude=kube_object.user"]).apply("new");
    scenario.leaves(&["cloud_object.cluster: cluster#1", "kube_object.user: user#1"]);
}

#[test]
fn a_targeted_orphan_is_destroyed_by_the_provider_of_its_record() {
    let cluster = "cloud_object.cluster: cluster#1";
    let mut scenario = Scenario::new(ORPHAN_OF_CONFIGURED_PROVIDER);
    scenario.apply("old").options(&["-target=kube_object.orphan"]).apply("new");
    scenario.leaves(&[cluster, "kube_object.user: user#1"]);

    let mut scenario = Scenario::new(ORPHAN_OF_CONFIGURED_PROVIDER);
    scenario.apply("old").options(&["-target=kube_object.orphan", "-destroy"]).apply("new");
    scenario.in_order(&["delete user", "delete orphan"]).leaves(&[cluster]);
}

/// Users that the run leaves alone still refer to the old object; the next whole run destroys it after updating them.
#[test]
fn od_04_replaced_dependency_of_a_target_stays_deposed() {
    let mut scenario = Scenario::new(USERS_OF_A_CERTIFICATE);
    scenario.apply("v=1").options(&["-target=cloud_object.first"]).apply("v=2");
    scenario.in_order(&["create cert", "update first"]).without(&["delete cert", "update second"]);
    scenario.apply("v=2").in_order(&["update second", "delete cert"]);
    scenario.leaves(&["cloud_object.cert: cert#2", "cloud_object.first: first#1", "cloud_object.second: second#1"]);
}

#[test]
fn od_04_old_object_stays_deposed_while_a_user_is_excluded() {
    let mut scenario = Scenario::run_by(Programs::Groma, USERS_OF_A_CERTIFICATE);
    scenario.apply("v=1").options(&["-exclude=cloud_object.second"]).apply("v=2");
    scenario.in_order(&["create cert", "update first"]).without(&["delete cert", "update second"]);
    scenario.apply("v=2").in_order(&["update second", "delete cert"]);
}

const USERS_OF_A_CERTIFICATE: &str = r#"
    resource "cloud_object" "cert" {
        name    = "cert"
        replace = "<v>"
        lifecycle {
            create_before_destroy = true
        }
    }
    resource "cloud_object" "first" {
        name = "first"
        refs = [cloud_object.cert.id]
    }
    resource "cloud_object" "second" {
        name = "second"
        refs = [cloud_object.cert.id]
    }
"#;

#[test]
fn od_05_surplus_instances_of_a_targets_dependency_are_kept() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "cert" {
            for_each = toset(["<v>"])
            name     = "cert-${each.key}"
            lifecycle {
                create_before_destroy = true
            }
        }
        resource "cloud_object" "first" {
            name = "first"
            refs = [for o in cloud_object.cert : o.id]
        }
        resource "cloud_object" "second" {
            name = "second"
            refs = [for o in cloud_object.cert : o.id]
        }
        "#,
    );
    scenario.apply("v=1").options(&["-target=cloud_object.first"]).apply("v=2");
    scenario.in_order(&["create cert-2", "update first"]).without(&["delete cert-1", "update second"]);
    scenario.apply("v=2").in_order(&["update second", "delete cert-1"]);
    scenario.leaves(&[
        "cloud_object.cert[\"2\"]: cert-2#1",
        "cloud_object.first: first#1",
        "cloud_object.second: second#1",
    ]);
}
