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
fn od_05_instance_that_goes_for_good_waits_for_new_users_of_its_resource_as_a_whole() {
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
fn od_05_object_of_a_module_instance_that_is_gone_waits_for_new_users_of_the_module_as_a_whole() {
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
fn od_10_objects_of_a_provider_go_before_what_its_configuration_depends_on_now() {
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
fn od_07_deposed_object_stays_where_the_next_replacement_fails_too() {
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
fn od_05_object_that_goes_for_good_stays_until_what_it_depends_on_has_been_updated() {
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
