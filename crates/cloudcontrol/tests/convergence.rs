//! A second plan has nothing to do: in whatever order the service returns arrays, whatever it does not return, and after an
//! import.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod support;

use std::sync::Arc;

use groma_cloudcontrol::api::{
    Answer, CloudControl, CreateResource, DeleteResource, GetResource, ListResourceRequests, ListResources,
    ProgressEvent, RequestList, ResourceDescription, ResourceList, UpdateResource,
};
use groma_cloudcontrol::emulator::{Embedded, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_provider::{ClientCapabilities, ImportRequest, ImportTarget, Provider};
use groma_value::Value;
use serde_json::{Value as Json, json};
use support::{Object, World, at, text, wait};

fn import(world: &World, type_name: &str, id: &str) -> Object {
    let response = wait(world.provider.import_resource(ImportRequest {
        type_name: type_name.into(),
        target: ImportTarget::Id(id.to_owned()),
        config: None,
        client_capabilities: ClientCapabilities::default(),
    }));
    assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
    let imported = response.imported.into_iter().next().unwrap();
    world.read(type_name, &Object { state: imported.state, private: imported.private })
}

fn alarm() -> Json {
    json!({"alarm_name": "busy", "comparison_operator": "GreaterThanThreshold", "evaluation_periods": 1, "metric_name": "m",
        "alarm_actions": ["arn:aws:sns:eu-central-1:123456789012:a", "arn:aws:sns:eu-central-1:123456789012:b"],
        "tags": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}]})
}

const REVERSED: &str = r#"[{"op":"move","from":"/Tags/0","path":"/Tags/1"},{"op":"move","from":"/AlarmActions/0","path":"/AlarmActions/1"}]"#;

#[test]
fn cc_36_order_that_the_schema_does_not_state_is_no_drift() {
    let world = World::new();
    let object = world.applied("awscc_cloudwatch_alarm", &alarm());
    world.store.patch("AWS::CloudWatch::Alarm", "busy", REVERSED).unwrap();
    let read = world.read("awscc_cloudwatch_alarm", &object);
    assert_eq!(read.state, object.state);
    assert_eq!(world.plan("awscc_cloudwatch_alarm", &alarm(), Some(&read)).planned_state, read.state);
    // The author may rely on the order that the configuration has.
    let mut reordered = alarm();
    reordered["alarm_actions"].as_array_mut().unwrap().reverse();
    let object = world.apply("awscc_cloudwatch_alarm", &reordered, Some(&read));
    assert_ne!(object.state, read.state);
}

#[test]
fn cc_36_order_in_a_nested_object_is_no_drift() {
    let world = World::new();
    let config = json!({"function_name": "f", "role": "arn:aws:iam::123456789012:role/r", "code": {"image_uri": "x"},
        "package_type": "Image", "vpc_config": {"subnet_ids": ["subnet-1", "subnet-2"], "security_group_ids": ["sg-1"]}});
    let object = world.applied("awscc_lambda_function", &config);
    let swap = r#"[{"op":"move","from":"/VpcConfig/SubnetIds/0","path":"/VpcConfig/SubnetIds/1"}]"#;
    world.store.patch("AWS::Lambda::Function", "f", swap).unwrap();
    let read = world.read("awscc_lambda_function", &object);
    assert_eq!(read.state, object.state);
    assert_eq!(world.plan("awscc_lambda_function", &config, Some(&read)).planned_state, read.state);
    // An element more is drift, and the others keep their order.
    let more = r#"[{"op":"add","path":"/VpcConfig/SubnetIds/0","value":"subnet-3"}]"#;
    world.store.patch("AWS::Lambda::Function", "f", more).unwrap();
    let drifted = world.read("awscc_lambda_function", &object);
    let ids = drifted.state.attribute("vpc_config").unwrap().attribute("subnet_ids").unwrap();
    let ids: Vec<&str> = ids.as_slice().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(ids, ["subnet-1", "subnet-2", "subnet-3"]);
}

#[test]
fn cc_45_an_imported_list_keeps_the_order_of_the_service() {
    let world = World::new();
    world.applied("awscc_cloudwatch_alarm", &alarm());
    world.store.patch("AWS::CloudWatch::Alarm", "busy", REVERSED).unwrap();
    let imported = import(&world, "awscc_cloudwatch_alarm", "busy");
    let plan = world.plan("awscc_cloudwatch_alarm", &alarm(), Some(&imported));
    assert_eq!(plan.planned_state, imported.state);
    assert!(plan.requires_replace.is_empty(), "{:?}", plan.requires_replace);
}

#[test]
fn cc_45_write_only_values_are_adopted_without_a_replacement() {
    let world = World::new();
    let config = json!({"db_instance_identifier": "db", "db_instance_class": "db.t3.micro", "engine": "postgres",
        "allocated_storage": "20", "master_username": "admin", "master_user_password": "example-value",
        "source_region": "eu-west-1", "tags": [{"key": "a", "value": "1"}]});
    world.apply("awscc_rds_db_instance", &config, None);
    let imported = import(&world, "awscc_rds_db_instance", "db");
    let plan = world.plan("awscc_rds_db_instance", &config, Some(&imported));
    assert!(plan.requires_replace.is_empty(), "{:?}", plan.requires_replace);
    let object = world.apply("awscc_rds_db_instance", &config, Some(&imported));
    assert_eq!(text(&object, "master_user_password"), "example-value");
    let read = world.read("awscc_rds_db_instance", &object);
    assert_eq!(world.plan("awscc_rds_db_instance", &config, Some(&read)).planned_state, read.state);
}

#[test]
fn cc_45_a_fixed_value_that_the_service_does_not_return_is_adopted_with_a_warning() {
    let world = World::new();
    let config = json!({"name": "web", "port": 80, "protocol": "HTTP", "protocol_version": "HTTP2", "vpc_id": "vpc-1",
        "target_type": "ip"});
    let object = world.applied("awscc_elasticloadbalancingv2_target_group", &config);
    let id = text(&object, "id");
    let forget = r#"[{"op":"remove","path":"/ProtocolVersion"}]"#;
    world.store.patch("AWS::ElasticLoadBalancingV2::TargetGroup", &id, forget).unwrap();
    let read = world.read("awscc_elasticloadbalancingv2_target_group", &object);
    assert_eq!(read.state, object.state, "what cannot change has not changed");
    let imported = import(&world, "awscc_elasticloadbalancingv2_target_group", &id);
    let plan = world.plan("awscc_elasticloadbalancingv2_target_group", &config, Some(&imported));
    assert!(plan.requires_replace.is_empty(), "{:?}", plan.requires_replace);
    let warned: Vec<_> = plan.diagnostics.iter().filter(|warning| warning.path == at("protocol_version")).collect();
    assert_eq!(warned.len(), 1, "{:?}", plan.diagnostics);
    let object = world.apply("awscc_elasticloadbalancingv2_target_group", &config, Some(&imported));
    let read = world.read("awscc_elasticloadbalancingv2_target_group", &object);
    assert_eq!(world.plan("awscc_elasticloadbalancingv2_target_group", &config, Some(&read)).planned_state, read.state);
    // A value that was known to be absent is a change.
    let mut other = config;
    other["protocol_version"] = json!("GRPC");
    let plan = world.plan("awscc_elasticloadbalancingv2_target_group", &other, Some(&read));
    assert_eq!(plan.requires_replace, vec![at("protocol_version")]);
}

#[test]
fn cc_30_defaults_of_the_schema_are_planned() {
    let world = World::new();
    let config = json!({"assume_role_policy_document": "{}"});
    let plan = world.plan("awscc_iam_role", &config, None);
    assert_eq!(plan.planned_state.attribute("path").unwrap().as_str(), Some("/"));
    let key = world.applied("awscc_kms_key", &json!({"description": "k"}));
    assert_eq!(key.state.attribute("rotation_period_in_days").unwrap(), Value::number(365));
    assert_eq!(world.store.show("AWS::KMS::Key", &text(&key, "id")).unwrap()["KeySpec"], "SYMMETRIC_DEFAULT");
}

#[test]
fn cc_30_a_default_is_not_planned_if_an_alternative_is_configured() {
    let world = World::new();
    let config = json!({"global_cluster_identifier": "world", "source_db_cluster_identifier": "source"});
    let plan = world.plan("awscc_docdb_global_cluster", &config, None);
    assert!(!plan.planned_state.attribute("engine").unwrap().is_known());
    let object = world.applied("awscc_docdb_global_cluster", &config);
    assert!(object.state.attribute("engine").unwrap().is_null());
    let config = json!({"global_cluster_identifier": "other"});
    let plan = world.plan("awscc_docdb_global_cluster", &config, None);
    assert_eq!(plan.planned_state.attribute("engine").unwrap().as_str(), Some("docdb"));
}

#[test]
fn cc_30_a_removed_argument_gets_its_default_back() {
    let world = World::new();
    let object = world.applied("awscc_kms_key", &json!({"description": "k", "multi_region": true}));
    let object = world.apply("awscc_kms_key", &json!({"description": "k"}), Some(&object));
    assert_eq!(object.state.attribute("multi_region").unwrap(), Value::bool(false));
    assert_eq!(world.store.show("AWS::KMS::Key", &text(&object, "id")).unwrap()["MultiRegion"], false);
    // The settings of an imported object stay as they are.
    let on = r#"[{"op":"replace","path":"/MultiRegion","value":true}]"#;
    world.store.patch("AWS::KMS::Key", &text(&object, "id"), on).unwrap();
    let imported = import(&world, "awscc_kms_key", &text(&object, "id"));
    let plan = world.plan("awscc_kms_key", &json!({"description": "k"}), Some(&imported));
    assert_eq!(plan.planned_state, imported.state);
}

#[test]
fn cc_42_an_object_that_is_not_returned_is_sent_as_a_whole() {
    let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), Settings::default()).unwrap());
    let world = World::on(store);
    let config = |uri: &str| {
        json!({"function_name": "f", "role": "arn:aws:iam::123456789012:role/r", "package_type": "Image",
            "code": {"image_uri": uri}})
    };
    let object = world.applied("awscc_lambda_function", &config("first"));
    assert!(world.store.show("AWS::Lambda::Function", "f").unwrap().get("Code").is_none());
    let object = world.apply("awscc_lambda_function", &config("second"), Some(&object));
    assert_eq!(text(&object, "code.image_uri"), "second");
    let mut described = config("second");
    described["description"] = json!("d");
    let object = world.apply("awscc_lambda_function", &described, Some(&object));
    assert_eq!(world.read("awscc_lambda_function", &object).state, object.state);
}

#[test]
fn cc_42_values_fixed_at_creation_stay_out_of_patches() {
    let world = World::new();
    let config = |size: u32| {
        json!({"name": "p", "role_arn": "arn:aws:iam::123456789012:role/r",
            "source": "arn:aws:kinesis:eu-central-1:123456789012:stream/s",
            "source_parameters": {"kinesis_stream_parameters": {"batch_size": size, "starting_position": "LATEST"}},
            "target": "arn:aws:sqs:eu-central-1:123456789012:q"})
    };
    let object = world.applied("awscc_pipes_pipe", &config(10));
    let object = world.apply("awscc_pipes_pipe", &config(20), Some(&object));
    assert_eq!(world.read("awscc_pipes_pipe", &object).state, object.state);
}

/// A service that never returns a property.
struct Forgetful(Embedded, &'static str);

impl CloudControl for Forgetful {
    fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent> {
        self.0.create_resource(request)
    }

    fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription> {
        let found = wait(self.0.get_resource(request)).map(|found| {
            let mut properties: Json = serde_json::from_str(&found.properties).unwrap();
            properties.as_object_mut().unwrap().remove(self.1);
            ResourceDescription { properties: properties.to_string(), ..found }
        });
        Box::pin(std::future::ready(found))
    }

    fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent> {
        self.0.update_resource(request)
    }

    fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent> {
        self.0.delete_resource(request)
    }

    fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList> {
        self.0.list_resources(request)
    }

    fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.0.get_resource_request_status(request_token)
    }

    fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList> {
        self.0.list_resource_requests(request)
    }

    fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.0.cancel_resource_request(request_token)
    }
}

#[test]
fn cc_36_a_value_that_the_service_never_returns_is_unchanged() {
    let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), Settings::default()).unwrap());
    let api = Arc::new(Forgetful(Embedded::new(store.clone(), "eu-central-1"), "VisibilityTimeout"));
    let world = World::with_api(store, api, &json!({"region": "eu-central-1"}));
    let object = world.applied("awscc_sqs_queue", &json!({"queue_name": "q", "visibility_timeout": 60}));
    let changed = world.apply("awscc_sqs_queue", &json!({"queue_name": "q", "visibility_timeout": 90}), Some(&object));
    assert_eq!(world.read("awscc_sqs_queue", &changed).state, changed.state);
    assert_eq!(world.store.show("AWS::SQS::Queue", &text(&changed, "id")).unwrap()["VisibilityTimeout"], 90);
}

#[test]
fn cc_36_a_value_that_an_update_sets_first_and_the_service_never_returns_is_unchanged() {
    let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), Settings::default()).unwrap());
    let api = Arc::new(Forgetful(Embedded::new(store.clone(), "eu-central-1"), "VisibilityTimeout"));
    let world = World::with_api(store, api, &json!({"region": "eu-central-1"}));
    let object = world.applied("awscc_sqs_queue", &json!({"queue_name": "q", "delay_seconds": 5}));
    let config = json!({"queue_name": "q", "delay_seconds": 5, "visibility_timeout": 90});
    let changed = world.apply("awscc_sqs_queue", &config, Some(&object));
    let read = world.read("awscc_sqs_queue", &changed);
    assert_eq!(read.state, changed.state);
    assert_eq!(world.plan("awscc_sqs_queue", &config, Some(&read)).planned_state, read.state);
    // A property that the service returns is drift when it is gone.
    let delay = r#"[{"op":"remove","path":"/DelaySeconds"}]"#;
    world.store.patch("AWS::SQS::Queue", &text(&changed, "id"), delay).unwrap();
    assert!(world.read("awscc_sqs_queue", &read).state.attribute("delay_seconds").unwrap().is_null());
}
