//! Faults that were found in the order of destruction, as they were found.

use super::scenario::Scenario;

/// A certificate for each key and a load balancer that uses them all, which waits for something slow.
const CERTIFICATES: &str = r#"
    resource "cloud_object" "cert" {
      for_each = toset(split(",", "<keys>"))
      name     = "cert-${each.key}"
      lifecycle {
        create_before_destroy = true
      }
    }
    resource "cloud_object" "slow" {
      name    = "slow"
      replace = "<keys>"
    }
    resource "cloud_object" "lb" {
      name       = "lb"
      refs       = [for c in cloud_object.cert : c.id]
      depends_on = [cloud_object.slow]
    }
"#;

#[test]
fn surplus_instance_of_for_each_is_destroyed_after_its_user_is_updated() {
    let mut scenario = Scenario::new(CERTIFICATES);
    // Replacing one key by another removes an instance and creates one.
    scenario.apply("keys=a").apply("keys=b");
    scenario.in_order(&["create cert-b", "update lb", "delete cert-a"]);
    // The load balancer waits for the slow object, so a deletion that does not wait would come first.
    scenario.in_order(&["create slow", "update lb"]);
}

#[test]
fn surplus_instance_of_count_is_destroyed_after_its_user_is_updated() {
    let mut scenario = Scenario::new(
        r#"
        resource "cloud_object" "cert" {
          count = <n>
          name  = "cert-${count.index}"
          lifecycle {
            create_before_destroy = true
          }
        }
        resource "cloud_object" "slow" {
          name    = "slow"
          replace = "<n>"
        }
        resource "cloud_object" "lb" {
          name       = "lb"
          refs       = cloud_object.cert[*].id
          depends_on = [cloud_object.slow]
        }
        "#,
    );
    // The instance with the highest index is surplus.
    scenario.apply("n=2").apply("n=1").in_order(&["update lb", "delete cert-1"]);
}

#[test]
fn object_of_a_removed_module_key_is_destroyed_after_its_user_is_updated() {
    let mut scenario = Scenario::new(
        r#"
        module "m" {
          source   = "./m"
          for_each = toset(split(",", "<keys>"))
          key      = each.key
        }
        resource "cloud_object" "slow" {
          name    = "slow"
          replace = "<keys>"
        }
        resource "cloud_object" "lb" {
          name       = "lb"
          refs       = [for m in module.m : m.id]
          depends_on = [cloud_object.slow]
        }
        "#,
    )
    .with_module(
        r#"
        variable "key" {}
        resource "cloud_object" "cert" {
          name = "cert-${var.key}"
          lifecycle {
            create_before_destroy = true
          }
        }
        output "id" { value = cloud_object.cert.id }
        "#,
    );
    // The module instance disappears as a whole.
    scenario.apply("keys=a").apply("keys=b").in_order(&["create cert-b", "update lb", "delete cert-a"]);
}

/// Something that is created first, and whose creation can be made to fail.
const WEB: &str = r#"
    resource "cloud_object" "base" {
      name    = "base"
      replace = "<b>"
      lifecycle {
        create_before_destroy = true
      }
    }
    resource "cloud_object" "web" {
      name       = "web"
      replace    = "<v>"
      depends_on = [cloud_object.base]
      lifecycle {
        create_before_destroy = true
      }
    }
    resource "cloud_object" "lb" {
      name = "lb"
      refs = [cloud_object.web.id]
    }
"#;

#[test]
fn last_good_object_stays_while_its_replacement_fails_again() {
    let mut scenario = Scenario::new(WEB);
    scenario.apply("v=1 b=1");
    // The new object exists, but its creation reports an error: it is tainted, and the old one is deposed.
    scenario.failing_late("create web").apply_fails("v=2 b=1", "Injected failure");
    scenario.leaves(&[
        "cloud_object.base: base#1",
        "cloud_object.lb: lb#1",
        "cloud_object.web: web#2 (tainted), deposed web#1",
    ]);
    // The second attempt fails as well, and the deposed object is the only one that works.
    scenario.failing("create web").apply_fails("v=2 b=1", "Injected failure");
    scenario.without(&["delete web#1"]);
}

#[test]
fn last_good_object_stays_while_something_upstream_fails() {
    let mut scenario = Scenario::new(WEB);
    scenario.apply("v=1 b=1");
    scenario.failing_late("create web").apply_fails("v=2 b=1", "Injected failure");
    // The replacement is never reached, so the old object must stay.
    scenario.failing("create base").apply_fails("v=2 b=2", "Injected failure");
    scenario.without(&["create web", "delete web#1"]);
}

#[test]
fn object_left_by_a_failed_run_is_destroyed_after_its_user_is_updated() {
    let mut scenario = Scenario::new(WEB);
    scenario.apply("v=1 b=1");
    // The user still refers to the old object when the run ends.
    scenario.failing("update lb").apply_fails("v=2 b=1", "Injected failure");
    scenario.leaves(&["cloud_object.base: base#1", "cloud_object.lb: lb#1", "cloud_object.web: web#2, deposed web#1"]);
    scenario.apply("v=2 b=1").in_order(&["update lb", "delete web#1"]);
}

#[test]
fn object_left_by_a_killed_run_is_destroyed_after_its_user_is_updated() {
    // Terraform has no journal, so a killed run loses its results.
    let mut scenario = Scenario::run_by(super::scenario::Programs::Groma, WEB);
    scenario.apply("v=1 b=1");
    scenario.killed_at("update lb", "v=2 b=1");
    scenario.apply("v=2 b=1").in_order(&["update lb", "delete web#1"]);
    scenario.leaves(&["cloud_object.base: base#1", "cloud_object.lb: lb#1", "cloud_object.web: web#2"]);
}

/// A provider that reaches its objects through another object.
const CLUSTER: &str = r#"
    ?up resource "cloud_object" "network" {
    ?up   name    = "network"
    ?up   replace = "<u>"
    ?up }
    resource "cloud_object" "cluster" {
      name    = "cluster"
      replace = "<v>"
    ?up parent = cloud_object.network.id
    }
    ?session ephemeral "cloud_session" "s" {
    ?session   target = cloud_object.cluster.id
    ?session }
    provider "kube" {
    ?session endpoint = ephemeral.cloud_session.s.endpoint
    !session endpoint = cloud_object.cluster.id
    }
    ?app resource "kube_object" "app" {
    ?app   name    = "app"
    ?app   replace = "<n>"
    ?app }
    ?two resource "kube_object" "two" {
    ?two   name = "two"
    ?two }
"#;

// The old endpoint is gone before the objects can be deleted, so they are replaced through the new one.
const REPLACED: &[&str] = &["delete cluster", "create cluster", "delete app", "create app"];

#[test]
fn objects_of_a_provider_whose_cluster_is_replaced_are_replaced_after_it() {
    let mut scenario = Scenario::new(CLUSTER);
    scenario.apply("v=1 n=1 app").apply("v=2 n=2 app").in_order(REPLACED);
}

#[test]
fn object_of_a_provider_whose_cluster_is_replaced_is_removed_after_it() {
    let mut scenario = Scenario::new(CLUSTER);
    // Without `app` the object is an orphan of a provider that is replaced.
    scenario.apply("v=1 n=1 app two").apply("v=2 n=1 two").in_order(&[
        "delete cluster",
        "create cluster",
        "delete app",
    ]);
}

#[test]
fn objects_of_a_provider_are_replaced_after_its_cluster_when_that_follows_its_network() {
    let mut scenario = Scenario::new(CLUSTER);
    // The network is replaced too, so the strength of the edges decides.
    scenario.apply("v=1 n=1 u=1 up app").apply("v=1 n=2 u=2 up app").in_order(REPLACED);
    scenario.in_order(&["delete cluster", "delete network", "create network", "create cluster"]);
}

#[test]
fn objects_of_a_provider_are_replaced_after_its_cluster_through_an_ephemeral_resource() {
    let mut scenario = Scenario::new(CLUSTER);
    // The endpoint comes from an ephemeral resource, which is not in the state.
    scenario.apply("v=1 n=1 app session").apply("v=2 n=2 app session").in_order(REPLACED);
}

#[test]
fn action_before_a_creation_runs_before_the_destruction_that_makes_room_for_it() {
    let mut scenario = Scenario::new(
        r#"
        action "cloud_action" "note" {
          config {
            name = "note"
          }
        }
        resource "cloud_object" "base" {
          name    = "base"
          replace = "<v>"
        }
        resource "cloud_object" "r" {
          name   = "r"
          parent = cloud_object.base.id
          lifecycle {
            action_trigger {
              events  = [before_create]
              actions = [action.cloud_action.note]
            }
          }
        }
        "#,
    );
    scenario.apply("v=1").apply("v=2");
    // The action runs before anything is deleted, because the deletion is part of the change.
    scenario.in_order(&["invoke note", "delete r", "delete base", "create base", "create r"]);
}
