//! Imports with and without the configuration of the resource (CC-45), and what later plans make of the objects.

mod support;

use groma_cloudcontrol::AwsCloudControl;
use groma_cloudcontrol::emulator::{Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_provider::{
    ClientCapabilities, ConfigureRequest, ImportRequest, ImportResponse, ImportTarget, Private, Provider, ReadRequest,
    ReadResponse,
};
use groma_value::{Type, Value};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use support::{Object, World, at, configure, text, wait};

const IMAGE_BUILDER: &str = "awscc_appstream_image_builder";

fn kept(read: ReadResponse) -> Object {
    assert!(!read.diagnostics.has_errors(), "{:?}", read.diagnostics);
    Object { state: read.new_state, private: read.private }
}

fn details(read: &ReadResponse) -> Vec<String> {
    read.diagnostics.iter().map(|problem| problem.detail.clone()).collect()
}

fn import(world: &World, type_name: &str, target: ImportTarget, config: Option<&Json>) -> ImportResponse {
    wait(world.provider.import_resource(ImportRequest {
        type_name: type_name.into(),
        target,
        config: config.map(|config| world.config(type_name, config)),
        client_capabilities: ClientCapabilities::default(),
    }))
}

fn imported_without_configuration(world: &World, type_name: &str, id: &str) -> Object {
    let stub = import(world, type_name, ImportTarget::Id(id.to_owned()), None).imported.remove(0);
    world.read(type_name, &Object { state: stub.state, private: stub.private })
}

#[test]
fn cc_35_arguments_that_an_import_has_found_are_removed_like_any_other() {
    let world = World::new();
    let config = json!({"log_group_name": "g", "retention_in_days": 14});
    world.applied("awscc_logs_log_group", &config);
    let object = kept(world.imported("awscc_logs_log_group", "g", &config));
    assert_eq!(world.plan("awscc_logs_log_group", &config, Some(&object)).planned_state, object.state);
    let plan = world.plan("awscc_logs_log_group", &json!({"log_group_name": "g"}), Some(&object));
    assert!(!plan.planned_state.attribute("retention_in_days").unwrap().is_known());
}

#[test]
fn an_import_leaves_settings_that_are_not_configured() {
    let world = World::new();
    let all = json!({"log_group_name": "g", "deletion_protection_enabled": true});
    world.applied("awscc_logs_log_group", &all);
    let config = json!({"log_group_name": "g"});
    let object = kept(world.imported("awscc_logs_log_group", "g", &config));
    assert_eq!(world.plan("awscc_logs_log_group", &config, Some(&object)).planned_state, object.state);
    // An update of something else does not change that to the default of the schema.
    let config = json!({"log_group_name": "g", "retention_in_days": 7});
    let object = world.apply("awscc_logs_log_group", &config, Some(&object));
    assert_eq!(object.state.attribute("deletion_protection_enabled").unwrap(), Value::TRUE);
    assert_eq!(world.plan("awscc_logs_log_group", &config, Some(&object)).planned_state, object.state);
}

#[test]
fn values_fixed_at_creation_are_taken_over_only_by_the_plan_after_an_import() {
    let world = World::new();
    let config = json!({"db_instance_class": "db.t3.micro", "engine": "mysql", "allocated_storage": "20",
        "master_username": "u", "manage_master_user_password": true});
    let id = text(&world.applied("awscc_rds_db_instance", &config), "id");
    let mut encrypted = config.clone();
    encrypted["kms_key_id"] = json!("k1");
    let without_configuration = imported_without_configuration(&world, "awscc_rds_db_instance", &id);
    assert!(without_configuration.state.attribute("kms_key_id").unwrap().is_null());
    let plan = world.plan("awscc_rds_db_instance", &encrypted, Some(&without_configuration));
    assert!(plan.requires_replace.is_empty());
    assert!(plan.diagnostics.iter().any(|problem| problem.summary == "Imported Value Not Verified"));
    let imported = kept(world.imported("awscc_rds_db_instance", &id, &config));
    // A state that another provider wrote has no private data.
    let foreign = Object { state: imported.state.clone(), private: Private::default() };
    for object in [imported, foreign] {
        let plan = world.plan("awscc_rds_db_instance", &encrypted, Some(&object));
        assert_eq!(plan.requires_replace, [at("kms_key_id")]);
    }
}

#[test]
fn an_object_that_cannot_be_updated_keeps_configured_values_that_an_import_cannot_verify() {
    let world = World::new();
    let made = json!({"name": "b", "instance_type": "stream.standard.medium", "image_name": "i"});
    let id = text(&world.applied(IMAGE_BUILDER, &made), "id");
    let mut config = made.clone();
    config["description"] = json!("wanted");
    let read = world.imported(IMAGE_BUILDER, &id, &config);
    let warnings = details(&read);
    assert!(warnings.len() == 1 && warnings[0].contains("description"), "{warnings:?}");
    let object = kept(read);
    assert_eq!(object.state.attribute("description").unwrap().as_str(), Some("wanted"));
    let object = world.read(IMAGE_BUILDER, &object);
    let plan = world.plan(IMAGE_BUILDER, &config, Some(&object));
    assert_eq!((plan.planned_state, plan.requires_replace.len()), (object.state, 0));
    // Without the configuration, the plan after the import takes the value over, and the next read keeps it.
    let object = imported_without_configuration(&world, IMAGE_BUILDER, &id);
    let plan = world.plan(IMAGE_BUILDER, &config, Some(&object));
    assert!(plan.requires_replace.is_empty());
    let object = world.apply(IMAGE_BUILDER, &config, Some(&object));
    let object = world.read(IMAGE_BUILDER, &object);
    assert_eq!(world.plan(IMAGE_BUILDER, &config, Some(&object)).planned_state, object.state);
}

#[test]
fn elements_with_values_that_aws_adds_keep_their_write_only_values() {
    let world = World::new();
    let descriptors = |names: &[&str]| -> Json {
        let one =
            |name: &&str| json!({"data_provider_identifier": name, "secrets_manager_secret_id": format!("s-{name}")});
        names.iter().map(one).collect()
    };
    let config = json!({
        "source_data_provider_descriptors": descriptors(&["a", "b"]),
        "target_data_provider_descriptors": descriptors(&["c"]),
    });
    let id = text(&world.applied("awscc_dms_migration_project", &config), "id");
    let object = kept(world.imported("awscc_dms_migration_project", &id, &config));
    let plan = world.plan("awscc_dms_migration_project", &config, Some(&object));
    assert_eq!(plan.planned_state, object.state);
}

#[test]
fn write_only_arguments_are_named_because_an_import_does_not_send_them() {
    let world = World::new();
    let made = json!({"engine": "aurora-mysql", "master_username": "u", "master_user_password": "secret123"});
    let id = text(&world.applied("awscc_rds_db_cluster", &made), "id");
    let config = json!({"engine": "aurora-mysql", "master_username": "u", "master_user_password_wo": "other1234",
        "master_user_password_wo_version": 1});
    let response = import(&world, "awscc_rds_db_cluster", ImportTarget::Id(id), Some(&config));
    let warnings: Vec<&str> = response.diagnostics.iter().map(|problem| &*problem.detail).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("change master_user_password_wo_version"), "{warnings:?}");
    assert!(response.imported[0].state.attribute("master_user_password_wo").unwrap().is_null());
}

#[test]
fn identities_of_other_accounts_and_regions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("emulator.json");
    let store = Store::open(&path, Catalogue::shipped().clone(), Settings::default()).unwrap();
    let provider = AwsCloudControl::default().served();
    let problems = configure(&provider, &json!({"region": "eu-central-1", "emulator": {"path": path}}));
    assert!(problems.is_empty(), "{problems:?}");
    let world = World { store: Arc::new(store), provider };
    let config = json!({"bucket_name": "reports"});
    let identity = |account: &str, region: &str| {
        let parts = [("bucket_name", "reports"), ("account_id", account), ("region", region)];
        ImportTarget::Identity(Value::object(parts.map(|(name, part)| (name, Value::string(part)))))
    };
    let refused = |target: ImportTarget, config: &Json| {
        let response = import(&world, "awscc_s3_bucket", target, Some(config));
        response.diagnostics.iter().map(|problem| problem.detail.clone()).collect::<String>()
    };
    assert_eq!(refused(identity("123456789012", "eu-central-1"), &config), "");
    assert!(refused(identity("999999999999", "eu-central-1"), &config).contains("the account 999999999999"));
    let elsewhere = refused(identity("123456789012", "us-west-2"), &config);
    assert!(elsewhere.contains("the region us-west-2") && elsewhere.contains("eu-central-1"), "{elsewhere}");
    let placed = json!({"bucket_name": "reports", "region": "us-west-2"});
    assert_eq!(refused(identity("123456789012", "us-west-2"), &placed), "");
    assert!(refused(identity("123456789012", "eu-central-1"), &placed).contains("the region us-west-2"));
}

#[test]
fn a_provider_with_an_unknown_region_reads_nothing() {
    let world = World::new();
    let object = world.applied("awscc_sqs_queue", &json!({"queue_name": "q"}));
    let block = &world.provider.schema().unwrap().config.block;
    let view = block.empty_value().as_object().unwrap();
    let values = view.iter().map(|(name, value)| match &**name {
        "region" => Value::unknown(Type::String),
        _ => value.clone(),
    });
    let config = block.object(values.collect());
    let configured = wait(world.provider.configure(ConfigureRequest {
        terraform_version: "1.15.0".to_owned(),
        config,
        client_capabilities: ClientCapabilities::default(),
    }));
    assert!(configured.is_empty(), "new objects can be planned: {configured:?}");
    let read = |deferral_allowed| {
        wait(world.provider.read_resource(ReadRequest {
            type_name: "awscc_sqs_queue".into(),
            current_state: object.state.clone(),
            private: object.private.clone(),
            client_capabilities: ClientCapabilities { deferral_allowed, ..ClientCapabilities::default() },
            ..ReadRequest::default()
        }))
    };
    let refused = details(&read(false));
    assert!(refused.len() == 1 && refused[0].contains("sets region to a value that is known only"), "{refused:?}");
    assert!(read(true).deferred.is_some());
    world.plan("awscc_sqs_queue", &json!({"queue_name": "r"}), None);
}
