//! Write-only values: sensitive, and with twins that leave no trace in the state.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod support;

use groma_provider::Provider;
use serde_json::{Value as Json, json};
use support::{World, text};

fn password(world: &World) -> Json {
    // The emulator keeps write-only values, and shows them to nobody.
    let events = world.store.objects(Some("AWS::RDS::DBInstance")).unwrap();
    world.store.stored(&events[0].type_name, &events[0].identifier).unwrap()["MasterUserPassword"].clone()
}

fn database(more: Json) -> Json {
    let mut config = json!({"db_instance_identifier": "db", "db_instance_class": "db.t3.micro", "engine": "postgres",
        "allocated_storage": "20", "master_username": "admin"});
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

#[test]
fn cc_33_write_only_texts_are_sensitive() {
    let world = World::new();
    let schema = world.provider.resource_schema("awscc_rds_db_instance").unwrap().unwrap();
    let sensitive = |name: &str| schema.block.attribute(name).unwrap().is_sensitive();
    assert!(sensitive("master_user_password") && sensitive("master_user_password_wo"));
    assert!(!sensitive("allow_major_version_upgrade"), "a flag is no secret");
    assert!(!sensitive("engine"));
}

#[test]
fn cc_33_an_ephemeral_twin_is_sent_and_not_kept() {
    let world = World::new();
    let first = database(json!({"master_user_password_wo": "first-example", "master_user_password_wo_version": 1}));
    let object = world.applied("awscc_rds_db_instance", &first);
    assert_eq!(password(&world), "first-example");
    assert!(!format!("{:?}", object.state).contains("first-example"));
    // Without a new version nothing changes.
    let second = database(json!({"master_user_password_wo": "second-example", "master_user_password_wo_version": 1}));
    assert_eq!(world.plan("awscc_rds_db_instance", &second, Some(&object)).planned_state, object.state);
    let third = database(json!({"master_user_password_wo": "second-example", "master_user_password_wo_version": 2}));
    let object = world.apply("awscc_rds_db_instance", &third, Some(&object));
    assert_eq!(password(&world), "second-example");
    assert_eq!(text(&object, "id"), "db");
    let both = database(json!({"master_user_password_wo": "a", "master_user_password": "b"}));
    let found = world.validate("awscc_rds_db_instance", &both);
    assert!(found.iter().any(|problem| problem.detail.contains("only one of")), "{found:?}");
}
