//! The provider through its trait, against the emulator: what a configuration leads to, step by step.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod support;

use std::sync::Arc;
use std::time::Duration;

use groma_cloudcontrol::AwsCloudControl;
use groma_cloudcontrol::api::OperationStatus;
use groma_cloudcontrol::emulator::{Faults, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_provider::{ClientCapabilities, ImportRequest, ImportTarget, Provider, ReadDataRequest, UpgradeRequest};
use groma_value::{Path, Type, Value};
use serde_json::{Value as Json, json};
use support::{Object, World, at, text, wait};

#[test]
fn cc_40_a_created_object_has_all_that_the_service_says() {
    let world = World::new();
    let bucket = world.applied(
        "awscc_s3_bucket",
        &json!({"bucket_name": "reports", "tags": [{"key": "b", "value": "1"}, {"key": "a", "value": "2"}]}),
    );
    assert_eq!(text(&bucket, "id"), "reports");
    assert_eq!(text(&bucket, "arn"), "arn:aws:s3:::reports");
    assert_eq!(text(&bucket, "regional_domain_name"), "reports.s3.eu-central-1.amazonaws.com");
    let queue = world.applied("awscc_sqs_queue", &json!({}));
    assert!(text(&queue, "id").starts_with("https://sqs.eu-central-1.amazonaws.com/123456789012/"));
}

#[test]
fn cc_36_types_of_a_usual_estate_settle_at_once() {
    let world = World::new();
    let vpc = text(&world.applied("awscc_ec2_vpc", &json!({"cidr_block": "10.0.0.0/16", "enable_dns_hostnames": true, "tags": [{"key": "Name", "value": "x"}]})), "id");
    let subnet = json!({"vpc_id": vpc, "cidr_block": "10.0.1.0/24", "availability_zone": "eu-central-1a", "map_public_ip_on_launch": true});
    world.applied("awscc_ec2_subnet", &subnet);
    let group = json!({"group_description": "web", "vpc_id": vpc, "security_group_ingress": [
        {"ip_protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_ip": "0.0.0.0/0", "description": "https"},
        {"ip_protocol": "tcp", "from_port": 80, "to_port": 80, "cidr_ip": "0.0.0.0/0"}]});
    world.applied("awscc_ec2_security_group", &group);
    let policy = r#"{ "Version": "2012-10-17",  "Statement": [] }"#;
    let role = json!({"role_name": "r", "assume_role_policy_document": policy, "policies": [{"policy_name": "p", "policy_document": policy}],
        "managed_policy_arns": ["arn:aws:iam::aws:policy/B", "arn:aws:iam::aws:policy/A"]});
    let role = world.applied("awscc_iam_role", &role);
    assert_eq!(text(&role, "assume_role_policy_document"), policy, "the author's form is kept");
    let table = json!({"table_name": "t", "billing_mode": "PAY_PER_REQUEST", "attribute_definitions": [{"attribute_name": "id", "attribute_type": "S"}],
        "key_schema": r#"[{"AttributeName":"id","KeyType":"HASH"}]"#, "point_in_time_recovery_specification": {"point_in_time_recovery_enabled": true}});
    world.applied("awscc_dynamodb_table", &table);
    let bucket = json!({"bucket_name": "bbb", "versioning_configuration": {"status": "Enabled"},
        "bucket_encryption": {"server_side_encryption_configuration": [{"server_side_encryption_by_default": {"sse_algorithm": "AES256"}}]},
        "lifecycle_configuration": {"rules": [{"id": "old", "status": "Enabled", "expiration_in_days": 30},
            {"id": "parts", "status": "Enabled", "abort_incomplete_multipart_upload": {"days_after_initiation": 7}}]}});
    world.applied("awscc_s3_bucket", &bucket);
    world.applied(
        "awscc_kms_key",
        &json!({"description": "k", "enable_key_rotation": true, "pending_window_in_days": 7, "key_policy": policy}),
    );
    world.applied(
        "awscc_ssm_parameter",
        &json!({"name": "/app/x", "type": "String", "value": "v", "description": "write-only"}),
    );
    world.applied("awscc_sqs_queue", &json!({"queue_name": "q", "redrive_policy": r#"{"maxReceiveCount":5,"deadLetterTargetArn":"arn:aws:sqs:eu-central-1:123456789012:dlq"}"#}));
    let function = json!({"function_name": "f", "role": text(&role, "arn"), "runtime": "python3.13", "handler": "index.handler",
        "code": {"zip_file": "def handler(event, context): pass"}, "environment": {"variables": {"LEVEL": "1"}}});
    world.applied("awscc_lambda_function", &function);
}

#[test]
fn cc_42_an_update_changes_what_differs() {
    let world = World::new();
    let object = world.applied(
        "awscc_sqs_queue",
        &json!({"queue_name": "q", "visibility_timeout": 60, "tags": [{"key": "a", "value": "1"}]}),
    );
    let object = world.apply("awscc_sqs_queue", &json!({"queue_name": "q", "visibility_timeout": 90, "tags": [{"key": "b", "value": "2"}, {"key": "a", "value": "1"}]}), Some(&object));
    let shown = world.store.show("AWS::SQS::Queue", &text(&object, "id")).unwrap();
    assert_eq!(shown["VisibilityTimeout"], 90);
    assert_eq!(shown["Tags"].as_array().unwrap().len(), 2);
    assert_eq!(world.read("awscc_sqs_queue", &object).state, object.state);
}

#[test]
fn cc_35_a_removed_argument_is_removed_from_the_object() {
    let world = World::new();
    let object = world.applied("awscc_sqs_queue", &json!({"queue_name": "q", "visibility_timeout": 60, "redrive_allow_policy": "{\"redrivePermission\":\"allowAll\"}"}));
    let plan = world.plan("awscc_sqs_queue", &json!({"queue_name": "q"}), Some(&object));
    assert!(!plan.planned_state.is_wholly_known());
    let object = world.apply("awscc_sqs_queue", &json!({"queue_name": "q"}), Some(&object));
    let shown = world.store.show("AWS::SQS::Queue", &text(&object, "id")).unwrap();
    assert!(shown.get("RedriveAllowPolicy").is_none());
    let plan = world.plan("awscc_sqs_queue", &json!({"queue_name": "q"}), Some(&object));
    assert_eq!(plan.planned_state, object.state);
}

#[test]
fn cc_32_what_is_fixed_at_creation_needs_a_new_object() {
    let world = World::new();
    let object = world.applied("awscc_ec2_vpc", &json!({"cidr_block": "10.0.0.0/16"}));
    let plan = world.plan("awscc_ec2_vpc", &json!({"cidr_block": "10.1.0.0/16"}), Some(&object));
    assert_eq!(plan.requires_replace, vec![at("cidr_block")]);
    let queue = world.applied("awscc_sqs_queue", &json!({"queue_name": "q"}));
    let plan = world.plan("awscc_sqs_queue", &json!({}), Some(&queue));
    assert_eq!(plan.planned_state, queue.state, "an optional name that is no longer configured stays");
}

#[test]
fn cc_33_write_only_values_come_from_prior_state_and_are_sent_with_changes() {
    let world = World::new();
    let first = json!({"name": "/x", "type": "String", "value": "1", "description": "d"});
    let object = world.applied("awscc_ssm_parameter", &first);
    assert_eq!(text(&world.read("awscc_ssm_parameter", &object), "description"), "d");
    let object = world.apply(
        "awscc_ssm_parameter",
        &json!({"name": "/x", "type": "String", "value": "2", "description": "e"}),
        Some(&object),
    );
    assert_eq!(text(&object, "description"), "e");
    assert_eq!(world.store.show("AWS::SSM::Parameter", "/x").unwrap()["Value"], "2");
}

#[test]
fn cc_36_order_and_form_are_no_differences() {
    let world = World::new();
    let object = world.applied(
        "awscc_ec2_vpc",
        &json!({"cidr_block": "10.0.0.0/16", "tags": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}]}),
    );
    let id = text(&object, "id");
    let swap = json!([{"op": "move", "from": "/Tags/0", "path": "/Tags/1"}]).to_string();
    world.store.patch("AWS::EC2::VPC", &id, &swap).unwrap();
    assert_eq!(world.read("awscc_ec2_vpc", &object).state, object.state);
    let reordered =
        json!({"cidr_block": "10.0.0.0/16", "tags": [{"key": "b", "value": "2"}, {"key": "a", "value": "1"}]});
    assert_eq!(world.plan("awscc_ec2_vpc", &reordered, Some(&object)).planned_state, object.state);
    let empty = world.applied("awscc_ec2_vpc", &json!({"cidr_block": "10.0.0.0/16", "tags": []}));
    assert!(empty.state.is_wholly_known());
}

#[test]
fn cc_41_drift_is_read_and_a_deleted_object_is_gone() {
    let world = World::new();
    let config = json!({"queue_name": "q", "visibility_timeout": 60});
    let object = world.applied("awscc_sqs_queue", &config);
    let id = text(&object, "id");
    world.store.patch("AWS::SQS::Queue", &id, r#"[{"op":"replace","path":"/VisibilityTimeout","value":7}]"#).unwrap();
    let drifted = world.read("awscc_sqs_queue", &object);
    assert_ne!(drifted.state, object.state);
    let repaired = world.apply("awscc_sqs_queue", &config, Some(&drifted));
    assert_eq!(world.store.show("AWS::SQS::Queue", &id).unwrap()["VisibilityTimeout"], 60);
    world.store.delete("AWS::SQS::Queue", &id).unwrap();
    assert!(world.read("awscc_sqs_queue", &repaired).state.is_null());
    world.delete("awscc_sqs_queue", &repaired);
}

#[test]
fn cc_40_the_same_plan_applied_again_makes_no_second_object() {
    let world = World::new();
    let config = json!({"cidr_block": "10.0.0.0/16"});
    let plan = world.plan("awscc_ec2_vpc", &config, None);
    let first = world.try_apply("awscc_ec2_vpc", &config, None, &plan).new_state.unwrap();
    let second = world.try_apply("awscc_ec2_vpc", &config, None, &plan).new_state.unwrap();
    assert_eq!(first, second);
    assert_eq!(world.store.objects(None).unwrap().len(), 1);
    let other = world.plan("awscc_ec2_vpc", &config, None);
    world.try_apply("awscc_ec2_vpc", &config, None, &other);
    assert_eq!(world.store.objects(None).unwrap().len(), 2);
}

#[test]
fn cc_47_a_name_that_is_taken_stores_nothing() {
    let world = World::new();
    let config = json!({"bucket_name": "taken"});
    world.apply("awscc_s3_bucket", &config, None);
    let plan = world.plan("awscc_s3_bucket", &config, None);
    let refused = world.try_apply("awscc_s3_bucket", &config, None, &plan);
    assert!(refused.new_state.unwrap().is_null());
    assert!(refused.diagnostics.iter().any(|problem| problem.detail.contains("AlreadyExists")));
}

#[test]
fn cc_43_a_deleted_object_is_gone() {
    let world = World::new();
    let object = world.applied("awscc_s3_bucket", &json!({"bucket_name": "bbb"}));
    world.delete("awscc_s3_bucket", &object);
    assert!(world.store.objects(None).unwrap().is_empty());
}

#[test]
fn cc_20_configurations_are_checked_before_any_call() {
    let world = World::new();
    assert!(world.validate("awscc_ec2_vpc", &json!({"cidr_block": "10.0.0.0/16"})).is_empty());
    for (type_name, config, path, detail) in [
        ("awscc_ec2_vpc", json!({}), Path::root(), "exactly one of cidr_block, ipv_4_ipam_pool_id"),
        (
            "awscc_ec2_vpc",
            json!({"cidr_block": "10.0.0.0/16", "instance_tenancy": "x"}),
            at("instance_tenancy"),
            "must be one of",
        ),
        (
            "awscc_iam_role",
            json!({"assume_role_policy_document": "{}", "max_session_duration": 1}),
            at("max_session_duration"),
            "between 3600 and 43200",
        ),
        ("awscc_logs_log_group", json!({"log_group_name": "a b"}), at("log_group_name"), "regular expression"),
        (
            "awscc_s3_bucket",
            json!({"lifecycle_configuration": {}}),
            at("lifecycle_configuration").attribute("rules"),
            "must be set",
        ),
        (
            "awscc_iam_role",
            json!({"assume_role_policy_document": "{}", "description": "x".repeat(1_001)}),
            at("description"),
            "string length must be between 0 and 1000",
        ),
    ] {
        let found = world.validate(type_name, &config);
        assert!(
            found.iter().any(|problem| problem.path == path && problem.detail.contains(detail)),
            "{type_name} {config}: {found:?}"
        );
    }
}

#[test]
fn cc_45_import_by_identifier() {
    let world = World::new();
    let vpc = text(&world.applied("awscc_ec2_vpc", &json!({"cidr_block": "10.0.0.0/16"})), "id");
    let table = text(&world.applied("awscc_ec2_route_table", &json!({"vpc_id": vpc})), "id");
    let gateway = text(&world.applied("awscc_ec2_internet_gateway", &json!({})), "id");
    let config = json!({"route_table_id": table, "destination_cidr_block": "0.0.0.0/0", "gateway_id": gateway});
    let route = text(&world.applied("awscc_ec2_route", &config), "id");
    let import = |id: &str| {
        wait(world.provider.import_resource(ImportRequest {
            type_name: "awscc_ec2_route".into(),
            target: ImportTarget::Id(id.to_owned()),
            config: None,
            client_capabilities: ClientCapabilities::default(),
        }))
    };
    let refused = import(&table);
    assert!(refused.diagnostics.iter().any(|problem| problem.detail.contains("RouteTableId|CidrBlock")), "{refused:?}");
    let imported = import(&route).imported.remove(0);
    let object = world.read("awscc_ec2_route", &Object { state: imported.state, private: imported.private });
    let plan = world.plan("awscc_ec2_route", &config, Some(&object));
    assert_eq!(plan.planned_state, object.state);
}

#[test]
fn cc_45_import_takes_only_values_from_the_configuration_that_aws_does_not_return() {
    let world = World::new();
    let config = json!({"function_name": "f", "role": "arn:aws:iam::123456789012:role/r", "package_type": "Image", "timeout": 10,
        "code": {"image_uri": "123456789012.dkr.ecr.eu-central-1.amazonaws.com/x:1"}});
    let function = text(&world.applied("awscc_lambda_function", &config), "id");
    let mut other = config.clone();
    other["timeout"] = json!(20);
    other["description"] = json!("changed");
    let imported = world.imported("awscc_lambda_function", &function, &other);
    assert!(!imported.diagnostics.has_errors(), "{:?}", imported.diagnostics);
    let warnings: Vec<_> = imported.diagnostics.iter().map(|problem| (&*problem.summary, &*problem.detail)).collect();
    let [(summary, detail)] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!(*summary, "Imported Value Not Verified");
    assert!(detail.starts_with("AWS does not return code.image_uri. The configured value could"), "{detail}");
    let state = imported.new_state.clone();
    let attribute = |name: &str| state.attribute(name).unwrap();
    assert_eq!(attribute("code").attribute("image_uri").unwrap().as_str(), other["code"]["image_uri"].as_str());
    assert_eq!(attribute("timeout"), Value::number(10), "the configuration hides no difference");
    assert!(attribute("description").is_null());
    // The next read has nothing to warn about.
    let object = Object { state: imported.new_state, private: imported.private };
    let plan = world.plan("awscc_lambda_function", &config, Some(&object));
    assert_eq!(plan.planned_state, object.state);
    assert_eq!(world.read("awscc_lambda_function", &object).state, object.state);
    let plan = world.plan("awscc_lambda_function", &other, Some(&object));
    assert_eq!(plan.planned_state.attribute("timeout").unwrap(), Value::number(20));
}

#[test]
fn cc_44_data_sources_of_one_and_of_all() {
    let world = World::new();
    world.applied("awscc_s3_bucket", &json!({"bucket_name": "one"}));
    world.applied("awscc_s3_bucket", &json!({"bucket_name": "two"}));
    let data = |type_name: &str, id: Option<&str>| {
        let schema = world.provider.data_schema(type_name).unwrap().unwrap();
        let view = schema.block.empty_value().clone();
        let values = view.as_object().unwrap().iter().map(|(name, value)| match (&**name, id) {
            ("id", Some(id)) => Value::string(id),
            _ => value.clone(),
        });
        let request = ReadDataRequest {
            type_name: type_name.into(),
            address: None,
            config: schema.block.object(values.collect()),
            meta: Value::NULL,
            client_capabilities: ClientCapabilities::default(),
        };
        wait(world.provider.read_data(request))
    };
    let one = data("awscc_s3_bucket", Some("two"));
    assert_eq!(one.state.as_object().unwrap().get("arn").unwrap().as_str(), Some("arn:aws:s3:::two"));
    assert!(data("awscc_s3_bucket", Some("three")).diagnostics.has_errors());
    let all = data("awscc_s3_buckets", None).state;
    assert_eq!(
        all.as_object().unwrap().get("ids").unwrap(),
        &Value::set(Type::String, vec!["one".into(), "two".into()])
    );
    assert_eq!(all.as_object().unwrap().get("id").unwrap().as_str(), Some("eu-central-1"));
    assert!(
        world.provider.data_schema("awscc_apigateway_resources").unwrap().is_none(),
        "cannot be listed without input"
    );
}

#[test]
fn cc_01_every_type_has_a_schema_or_a_reason() {
    let left_out = AwsCloudControl::default().unsupported_types();
    let names: Vec<&str> = left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.len() <= 10, "{left_out:?}");
    assert!(names.contains(&"AWS::WorkSpaces::Workspace"), "{left_out:?}");
}

#[test]
fn lc_19_stored_objects_of_an_older_shape_are_read() {
    let world = World::new();
    let upgraded = wait(world.provider.upgrade_resource(UpgradeRequest {
        type_name: "awscc_sqs_queue".into(),
        version: 0,
        raw_state: r#"{"id":"u","queue_name":"q","delay_seconds":"5","no_longer":[1],"tags":null}"#.into(),
    }));
    assert!(upgraded.diagnostics.is_empty());
    let view = upgraded.upgraded_state.as_object().unwrap();
    assert_eq!(view.get("delay_seconds").unwrap(), &Value::number(5));
}

#[test]
fn cc_49_throttling_and_failing_calls_are_survived_without_second_objects() {
    let faults = Faults { throttling: 0.3, server_errors: 0.1, ..Faults::default() };
    let settings = Settings { faults, delay: Duration::from_millis(1), ..Settings::default() };
    let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap());
    let world = World::on(store.clone());
    for number in 0..40 {
        let config = json!({"cidr_block": format!("10.{number}.0.0/16")});
        let object = world.apply("awscc_ec2_vpc", &config, None);
        assert_eq!(world.read("awscc_ec2_vpc", &object).state, object.state);
    }
    assert_eq!(store.objects(None).unwrap().len(), 40);
}

#[test]
fn cc_47_a_failed_creation_without_an_object_stores_nothing() {
    let settings = Settings { faults: Faults { failures: 1.0, ..Faults::default() }, ..Settings::default() };
    let world = World::on(Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap()));
    let config = json!({"cidr_block": "10.0.0.0/16"});
    let plan = world.plan("awscc_ec2_vpc", &config, None);
    let failed = world.try_apply("awscc_ec2_vpc", &config, None, &plan);
    assert!(failed.new_state.unwrap().is_null());
    assert!(failed.diagnostics.iter().any(|problem| problem.detail.contains("GeneralServiceException")));
    assert!(world.store.objects(None).unwrap().is_empty());
}

#[test]
fn cc_46_an_interrupt_cancels_the_request() {
    let settings = Settings { delay: Duration::from_secs(3_600), ..Settings::default() };
    let world = World::on(Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap()));
    let config = json!({"bucket_name": "reports"});
    let plan = world.plan("awscc_s3_bucket", &config, None);
    world.provider.stop();
    let stopped = world.try_apply("awscc_s3_bucket", &config, None, &plan);
    assert!(stopped.new_state.unwrap().is_null());
    assert!(stopped.diagnostics.iter().any(|problem| problem.detail.contains("cancelled")));
    let requests = world.store.list_resource_requests(&Default::default()).unwrap();
    assert_eq!(requests.resource_request_status_summaries[0].operation_status, OperationStatus::CancelComplete);
}

#[test]
fn cc_13_shapes_that_the_existing_provider_leaves_out() {
    let world = World::new();
    // A definition that contains itself.
    let visibility = json!({"cloudwatch_metrics_enabled": true, "metric_name": "m", "sampled_requests_enabled": true});
    let geo = json!({"geo_match_statement": {"country_codes": ["DE"]}});
    let acl = json!({"name": "acl", "scope": "REGIONAL", "default_action": {"allow": {}}, "visibility_config": visibility, "rules": [
        {"name": "r", "priority": 1, "action": {"block": {}}, "visibility_config": visibility,
         "statement": {"not_statement": {"statement": {"and_statement": {"statements": [geo, geo]}}}}}]});
    world.applied("awscc_wafv2_web_acl", &acl);
    // An array of arrays of objects.
    let exclusions = json!([{"account_ids": ["123456789012"], "resource_tags": [[{"key": "a", "value": "1"}, {"key": "b"}], [{"key": "c"}]]}]);
    let analyzer = json!({"type": "ACCOUNT_UNUSED_ACCESS", "analyzer_name": "unused", "analyzer_configuration":
        {"unused_access_configuration": {"unused_access_age": 90, "analysis_rule": {"exclusions": exclusions}}}});
    world.applied("awscc_accessanalyzer_analyzer", &analyzer);
    let shown = world
        .store
        .show(
            "AWS::AccessAnalyzer::Analyzer",
            &world.store.objects(Some("awscc_accessanalyzer_analyzer")).unwrap()[0].identifier,
        )
        .unwrap();
    let tags =
        &shown["AnalyzerConfiguration"]["UnusedAccessConfiguration"]["AnalysisRule"]["Exclusions"][0]["ResourceTags"];
    assert_eq!(tags, &json!([[{"Key": "a", "Value": "1"}, {"Key": "b"}], [{"Key": "c"}]]));
}

#[test]
fn cc_30_a_default_of_the_service_is_no_difference() {
    let world = World::new();
    let key = world.applied("awscc_kms_key", &json!({"description": "k"}));
    assert_eq!(text(&key, "key_spec"), "SYMMETRIC_DEFAULT");
    assert!(text(&key, "key_policy").contains("arn:aws:iam::123456789012:root"), "and no placeholder of the schema");
}

#[test]
fn a_result_that_an_update_brings_about_is_in_the_state() {
    let world = World::new();
    let table = |more: Json| {
        let mut config = json!({"table_name": "ttt", "billing_mode": "PAY_PER_REQUEST",
            "attribute_definitions": [{"attribute_name": "id", "attribute_type": "S"}],
            "key_schema": "[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]"});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let object = world.applied("awscc_dynamodb_table", &table(json!({})));
    let object = world.apply(
        "awscc_dynamodb_table",
        &table(json!({"stream_specification": {"stream_view_type": "NEW_IMAGE"}})),
        Some(&object),
    );
    assert!(text(&object, "stream_arn").contains(":table/ttt/stream/"));
}

#[test]
fn cc_62_an_object_that_can_be_read_only_later_is_waited_for() {
    let faults = Faults { consistency: Duration::from_millis(250), ..Faults::default() };
    let settings = Settings { faults, ..Settings::default() };
    let world = World::on(Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap()));
    let object = world.apply("awscc_ec2_vpc", &json!({"cidr_block": "10.0.0.0/16"}), None);
    assert!(text(&object, "default_security_group").starts_with("sg-"));
}

#[test]
fn cc_35_a_service_that_refuses_the_removal_is_heard() {
    let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), Settings::default()).unwrap());
    let config = json!({"queue_name": "q", "visibility_timeout": 60});
    let object = World::on(store.clone()).apply("awscc_sqs_queue", &config, None);
    // Somebody has taken the property away already, so that the service refuses to do it again.
    store.patch("AWS::SQS::Queue", &text(&object, "id"), r#"[{"op":"remove","path":"/VisibilityTimeout"}]"#).unwrap();
    let world = World::on(store);
    let config = json!({"queue_name": "q"});
    let plan = world.plan("awscc_sqs_queue", &config, Some(&object));
    let refused = world.try_apply("awscc_sqs_queue", &config, Some(&object), &plan);
    assert_eq!(refused.new_state.unwrap(), object.state);
    assert!(
        refused.diagnostics.iter().any(|problem| problem.detail.contains("takes away VisibilityTimeout")),
        "{:?}",
        refused.diagnostics
    );
}
