//! The emulator as its users see it: the eight operations, on one file.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

use std::sync::Arc;
use std::time::Duration;

use groma_cloudcontrol::api::{
    CreateResource, DeleteResource, FailureMode, Fault, GetResource, HandlerErrorCode, HookStatus,
    ListResourceRequests, ListResources, OperationStatus, RequestStatusFilter, UpdateResource,
};
use groma_cloudcontrol::emulator::{Faults, Hook, HookResult, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use serde_json::{Value as Json, json};

const REGION: &str = "eu-central-1";

fn memory() -> Store {
    Store::in_memory(Catalogue::shipped().clone(), Settings::default()).unwrap()
}

fn slow(delay: Duration) -> Store {
    Store::in_memory(Catalogue::shipped().clone(), Settings { delay, ..Settings::default() }).unwrap()
}

fn creation(type_name: &str, desired: &Json, token: Option<&str>) -> CreateResource {
    CreateResource {
        type_name: type_name.to_owned(),
        desired_state: desired.to_string(),
        client_token: token.map(str::to_owned),
        role_arn: None,
    }
}

fn create(store: &Store, type_name: &str, desired: &Json) -> String {
    let started = store.create_resource(REGION, &creation(type_name, desired, None)).unwrap();
    let ended = store.get_resource_request_status(&started.request_token).unwrap();
    assert_eq!(ended.operation_status, OperationStatus::Success, "{ended:?}");
    ended.identifier.unwrap()
}

fn get(store: &Store, type_name: &str, identifier: &str) -> Result<Json, Fault> {
    let request = GetResource { type_name: type_name.to_owned(), identifier: identifier.to_owned(), role_arn: None };
    match store.get_resource(REGION, &request) {
        Ok(description) => Ok(serde_json::from_str(&description.properties).unwrap()),
        Err(error) => Err(error.fault),
    }
}

fn update(store: &Store, type_name: &str, identifier: &str, patch: &Json) -> Result<OperationStatus, Fault> {
    let request = UpdateResource {
        type_name: type_name.to_owned(),
        identifier: identifier.to_owned(),
        patch_document: patch.to_string(),
        client_token: None,
        role_arn: None,
    };
    let started = store.update_resource(REGION, &request).map_err(|error| error.fault)?;
    Ok(store.get_resource_request_status(&started.request_token).unwrap().operation_status)
}

fn deletion(type_name: &str, identifier: &str) -> DeleteResource {
    DeleteResource {
        type_name: type_name.to_owned(),
        identifier: identifier.to_owned(),
        client_token: None,
        role_arn: None,
    }
}

#[test]
fn cc_61_an_object_from_creation_to_deletion() {
    let store = memory();
    let bucket = create(&store, "AWS::S3::Bucket", &json!({"BucketName": "reports", "AccessControl": "Private"}));
    assert_eq!(bucket, "reports");
    let model = get(&store, "AWS::S3::Bucket", "reports").unwrap();
    assert_eq!(model["Arn"], "arn:aws:s3:::reports");
    assert!(model.get("AccessControl").is_none(), "a write-only property was read");

    let patch = json!([{"op": "add", "path": "/VersioningConfiguration", "value": {"Status": "Enabled"}}]);
    assert_eq!(update(&store, "AWS::S3::Bucket", "reports", &patch), Ok(OperationStatus::Success));
    assert_eq!(get(&store, "AWS::S3::Bucket", "reports").unwrap()["VersioningConfiguration"]["Status"], "Enabled");

    let deleted = store.delete_resource(REGION, &deletion("AWS::S3::Bucket", "reports")).unwrap();
    let ended = store.get_resource_request_status(&deleted.request_token).unwrap();
    assert_eq!(ended.operation_status, OperationStatus::Success);
    assert_eq!(get(&store, "AWS::S3::Bucket", "reports"), Err(Fault::ResourceNotFound));
    let again = store.delete_resource(REGION, &deletion("AWS::S3::Bucket", "reports")).unwrap();
    let ended = store.get_resource_request_status(&again.request_token).unwrap();
    assert_eq!((ended.operation_status, ended.error_code), (OperationStatus::Failed, Some(HandlerErrorCode::NotFound)));
}

#[test]
fn cc_61_updates_keep_to_the_schema() {
    let store = memory();
    let vpc = create(&store, "AWS::EC2::VPC", &json!({"CidrBlock": "10.0.0.0/16"}));
    let change = |path: &str, value: Json| {
        update(&store, "AWS::EC2::VPC", &vpc, &json!([{"op": "replace", "path": path, "value": value}]))
    };
    assert_eq!(change("/CidrBlock", json!("10.1.0.0/16")), Err(Fault::NotUpdatable));
    assert_eq!(change("/VpcId", json!("vpc-1")), Err(Fault::Validation));
    assert_eq!(change("/InstanceTenancy", json!(5)), Err(Fault::Validation));
    assert_eq!(change("/NoSuch", json!(1)), Err(Fault::Validation));
    assert_eq!(change("/EnableDnsHostnames", json!(true)), Ok(OperationStatus::Success));
    assert_eq!(update(&store, "AWS::EC2::VPC", "vpc-none", &json!([])), Err(Fault::ResourceNotFound));
    assert_eq!(update(&store, "AWS::EC2::SubnetRouteTableAssociation", "x", &json!([])), Err(Fault::UnsupportedAction));
}

#[test]
fn cc_60_what_somebody_else_did_is_still_there_when_the_file_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects");
    let open = || Store::open(&path, Catalogue::shipped().clone(), Settings::default()).unwrap();
    let (kept, gone) = (json!({"QueueName": "kept"}), json!({"QueueName": "gone"}));
    let store = open();
    let kept = create(&store, "AWS::SQS::Queue", &kept);
    let gone = create(&store, "AWS::SQS::Queue", &gone);
    store.patch("AWS::SQS::Queue", &kept, r#"[{"op":"add","path":"/VisibilityTimeout","value":77}]"#).unwrap();
    store.delete("AWS::SQS::Queue", &gone).unwrap();
    drop(store);
    let store = open();
    assert_eq!(get(&store, "AWS::SQS::Queue", &kept).unwrap()["VisibilityTimeout"], 77);
    assert_eq!(get(&store, "AWS::SQS::Queue", &gone), Err(Fault::ResourceNotFound));
}

#[test]
fn cc_61_a_client_token_starts_one_request() {
    let store = memory();
    let request = creation("AWS::EC2::VPC", &json!({"CidrBlock": "10.0.0.0/16"}), Some("token-1"));
    let first = store.create_resource(REGION, &request).unwrap();
    let second = store.create_resource(REGION, &request).unwrap();
    assert_eq!(first.request_token, second.request_token);
    assert_eq!(second.identifier, first.identifier);
    assert_eq!(store.objects(None).unwrap().len(), 1);
    let other = creation("AWS::EC2::VPC", &json!({"CidrBlock": "10.9.0.0/16"}), Some("token-1"));
    assert_eq!(store.create_resource(REGION, &other).unwrap_err().fault, Fault::ClientTokenConflict);
    let twin = creation("AWS::S3::Bucket", &json!({"BucketName": "one"}), None);
    create(&store, "AWS::S3::Bucket", &json!({"BucketName": "one"}));
    let token = store.create_resource(REGION, &twin).unwrap().request_token;
    let ended = store.get_resource_request_status(&token).unwrap();
    assert_eq!(ended.error_code, Some(HandlerErrorCode::AlreadyExists));
}

#[test]
fn cc_61_requests_take_their_time_and_exclude_each_other() {
    let store = slow(Duration::from_secs(3_600));
    let started =
        store.create_resource(REGION, &creation("AWS::S3::Bucket", &json!({"BucketName": "b1"}), None)).unwrap();
    assert_eq!(
        store.get_resource_request_status(&started.request_token).unwrap().operation_status,
        OperationStatus::Pending
    );
    assert_eq!(get(&store, "AWS::S3::Bucket", "b1"), Err(Fault::ResourceNotFound));
    let second = store.create_resource(REGION, &creation("AWS::S3::Bucket", &json!({"BucketName": "b1"}), None));
    assert_eq!(second.unwrap_err().fault, Fault::ConcurrentOperation);
    let cancelled = store.cancel_resource_request(&started.request_token).unwrap();
    assert_eq!(cancelled.operation_status, OperationStatus::CancelComplete);
    assert!(store.cancel_resource_request(&started.request_token).is_err());
    assert!(store.create_resource(REGION, &creation("AWS::S3::Bucket", &json!({"BucketName": "b1"}), None)).is_ok());

    let quick = slow(Duration::from_millis(20));
    let started =
        quick.create_resource(REGION, &creation("AWS::S3::Bucket", &json!({"BucketName": "b1"}), None)).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(
        quick.get_resource_request_status(&started.request_token).unwrap().operation_status,
        OperationStatus::Success
    );
    assert!(get(&quick, "AWS::S3::Bucket", "b1").is_ok());
}

#[test]
fn cc_61_lists_come_in_pages() {
    let store = memory();
    for number in 0..25 {
        create(&store, "AWS::S3::Bucket", &json!({"BucketName": format!("bucket-{number:02}")}));
    }
    let mut seen = Vec::new();
    let mut next_token = None;
    loop {
        let request = ListResources {
            type_name: "AWS::S3::Bucket".into(),
            max_results: Some(10),
            next_token,
            ..Default::default()
        };
        let page = store.list_resources(REGION, &request).unwrap();
        assert!(page.resource_descriptions.len() <= 10);
        seen.extend(page.resource_descriptions.into_iter().map(|description| description.identifier));
        next_token = page.next_token;
        if next_token.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 25);
    assert!(seen.is_sorted());

    let needs_input = ListResources { type_name: "AWS::ApiGateway::Resource".into(), ..Default::default() };
    assert_eq!(store.list_resources(REGION, &needs_input).unwrap_err().fault, Fault::InvalidRequest);

    let mut requests = 0;
    let mut next_token = None;
    loop {
        let request = ListResourceRequests { next_token, ..Default::default() };
        let page = store.list_resource_requests(&request).unwrap();
        requests += page.resource_request_status_summaries.len();
        next_token = page.next_token;
        if next_token.is_none() {
            break;
        }
    }
    assert_eq!(requests, 25);
    let failed = RequestStatusFilter { operation_statuses: vec![OperationStatus::Failed], ..Default::default() };
    let request = ListResourceRequests { resource_request_status_filter: Some(failed), ..Default::default() };
    assert!(store.list_resource_requests(&request).unwrap().resource_request_status_summaries.is_empty());
}

#[test]
fn cc_60_compound_and_secondary_identifiers() {
    let store = memory();
    let vpc = create(&store, "AWS::EC2::VPC", &json!({"CidrBlock": "10.0.0.0/16"}));
    let table = create(&store, "AWS::EC2::RouteTable", &json!({"VpcId": vpc}));
    let gateway = create(&store, "AWS::EC2::InternetGateway", &json!({}));
    let route = json!({"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": gateway});
    let route = create(&store, "AWS::EC2::Route", &route);
    assert_eq!(route, format!("{table}|0.0.0.0/0"));
    let by_json = json!({"CidrBlock": "0.0.0.0/0", "RouteTableId": table}).to_string();
    assert!(get(&store, "AWS::EC2::Route", &by_json).is_ok());
    assert_eq!(get(&store, "AWS::EC2::Route", &table), Err(Fault::Validation));
}

#[test]
fn cc_60_objects_without_a_complete_identifier_are_refused() {
    let store = memory();
    let route = json!({"RouteTableId": "rtb-1", "GatewayId": "igw-1"});
    let started = store.create_resource(REGION, &creation("AWS::EC2::Route", &route, None)).unwrap();
    let event = store.get_resource_request_status(&started.request_token).unwrap();
    assert_eq!(event.error_code, Some(HandlerErrorCode::InvalidRequest), "{event:?}");
    assert!(event.status_message.as_deref().unwrap().contains("no value for CidrBlock"), "{event:?}");
}

#[test]
fn cc_63_drift_by_command() {
    let store = memory();
    create(&store, "AWS::SQS::Queue", &json!({"QueueName": "jobs"}));
    let found = store.objects(Some("awscc_sqs_queue")).unwrap();
    let url = &found[0].identifier;
    let patch = json!([{"op": "replace", "path": "/VisibilityTimeout", "value": 90}]).to_string();
    assert_eq!(store.patch("awscc_sqs_queue", url, &patch).unwrap()["VisibilityTimeout"], 90);
    assert_eq!(store.show("AWS::SQS::Queue", url).unwrap()["VisibilityTimeout"], 90);
    let wrong = json!([{"op": "replace", "path": "/VisibilityTimeout", "value": "x"}]).to_string();
    assert!(store.patch("AWS::SQS::Queue", url, &wrong).is_err());
    store.delete("AWS::SQS::Queue", url).unwrap();
    assert!(store.show("AWS::SQS::Queue", url).is_err());
}

#[test]
fn cc_60_the_file_remembers_and_several_users_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("emulator.json");
    let open = || Store::open(&path, Catalogue::shipped().clone(), Settings::default()).unwrap();
    let (one, other) = (Arc::new(open()), Arc::new(open()));
    let workers: Vec<_> = [one.clone(), other.clone(), one, other]
        .into_iter()
        .enumerate()
        .map(|(worker, store)| {
            std::thread::spawn(move || {
                for number in 0..50 {
                    create(&store, "AWS::SQS::Queue", &json!({"QueueName": format!("q-{worker}-{number}")}));
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    let first: Vec<_> = open().objects(None).unwrap();
    assert_eq!(first.len(), 200);
    assert_eq!(open().objects(None).unwrap(), first);
}

#[test]
fn cc_63_the_same_steps_make_the_same_values() {
    let run = || {
        let store = memory();
        let vpc = create(&store, "AWS::EC2::VPC", &json!({"CidrBlock": "10.0.0.0/16"}));
        (vpc.clone(), get(&store, "AWS::EC2::VPC", &vpc).unwrap())
    };
    assert_eq!(run(), run());
}

mod laws {
    use super::*;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(|number| json!(number)),
            "[a-zA-Z0-9:/ -]{0,12}".prop_map(Json::String),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
                prop::collection::btree_map(any_name(), inner, 0..4)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    fn any_name() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("BucketName".to_owned()),
            Just("Tags".to_owned()),
            Just("Key".to_owned()),
            Just("Value".to_owned()),
            Just("Rules".to_owned()),
            Just("LifecycleConfiguration".to_owned()),
            "[A-Za-z]{0,5}",
        ]
    }

    fn any_patch() -> impl Strategy<Value = String> {
        let op = prop_oneof![
            Just("add"),
            Just("remove"),
            Just("replace"),
            Just("move"),
            Just("copy"),
            Just("test"),
            Just("x")
        ];
        let path = "(/(BucketName|Tags|0|-|Key|Arn|~1|)){0,3}";
        let step = (op, path, any_json())
            .prop_map(|(op, path, value)| json!({"op": op, "path": path, "from": path, "value": value}));
        prop::collection::vec(step, 0..3).prop_map(|steps| Json::Array(steps).to_string())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn no_input_makes_the_emulator_panic(
            type_index in 0usize..1_763,
            document in any_json(),
            text in ".{0,20}",
            patch in any_patch(),
        ) {
            let store = memory();
            create(&store, "AWS::S3::Bucket", &json!({"BucketName": "target", "Tags": [{"Key": "a", "Value": "b"}]}));
            let names = Catalogue::shipped().type_names();
            let type_name = names[type_index % names.len()].to_owned();
            for desired in [document.to_string(), text.clone()] {
                let request = CreateResource { type_name: type_name.clone(), desired_state: desired.clone(), client_token: Some(text.clone()), role_arn: None };
                let _ = store.create_resource(REGION, &request);
                let request = CreateResource { type_name: "AWS::S3::Bucket".into(), desired_state: desired, client_token: None, role_arn: None };
                let _ = store.create_resource(REGION, &request);
            }
            for patch in [patch, text.clone()] {
                let request = UpdateResource { type_name: "AWS::S3::Bucket".into(), identifier: "target".into(), patch_document: patch, client_token: None, role_arn: None };
                let _ = store.update_resource(REGION, &request);
            }
            let _ = get(&store, &type_name, &text);
            let _ = get(&store, &type_name, &document.to_string());
            let _ = store.get_resource_request_status(&text);
            let request = ListResources { type_name, next_token: Some(text.clone()), resource_model: Some(document.to_string()), ..Default::default() };
            let _ = store.list_resources(REGION, &request);
            let _ = store.list_resource_requests(&ListResourceRequests { next_token: Some(text), ..Default::default() });
            prop_assert!(get(&store, "AWS::S3::Bucket", "target").is_ok());
        }

        #[test]
        fn what_was_created_is_read_back(name in "[a-z][a-z0-9]{2,20}", tags in prop::collection::btree_map("[a-z]{1,8}", "[a-z]{0,8}", 0..5)) {
            let store = memory();
            let tags: Vec<Json> = tags.into_iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect();
            create(&store, "AWS::S3::Bucket", &json!({"BucketName": name, "Tags": tags}));
            prop_assert_eq!(&get(&store, "AWS::S3::Bucket", &name).unwrap()["Tags"], &json!(tags));
        }
    }
}

#[test]
fn cc_61_nested_properties_named_like_a_read_only_one_are_given() {
    let store = memory();
    let rule = json!({"Name": "r", "ScheduleExpression": "rate(1 day)", "Targets": [{"Id": "t", "Arn": "arn:aws:sqs:eu-central-1:123456789012:q"}]});
    create(&store, "AWS::Events::Rule", &rule);
    let schedule = json!({"Name": "s", "ScheduleExpression": "rate(1 day)", "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": "arn:aws:sqs:eu-central-1:123456789012:q", "RoleArn": "arn:aws:iam::123456789012:role/r"}});
    create(&store, "AWS::Scheduler::Schedule", &schedule);
    let given = json!({"Name": "s2", "Arn": "x", "ScheduleExpression": "rate(1 day)", "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": "arn:aws:sqs:eu-central-1:123456789012:q", "RoleArn": "arn:aws:iam::123456789012:role/r"}});
    let refused = store.create_resource(REGION, &creation("AWS::Scheduler::Schedule", &given, None)).unwrap_err();
    assert!(refused.message.contains("#/Arn: is read-only"), "{refused:?}");
}

#[test]
fn cc_61_an_update_does_not_answer_for_values_of_the_service() {
    let store = memory();
    let agent = create(&store, "AWS::Bedrock::Agent", &json!({"AgentName": "agent"}));
    assert_eq!(get(&store, "AWS::Bedrock::Agent", &agent).unwrap()["AgentVersion"], "DRAFT");
    let describe = json!([{"op": "add", "path": "/Description", "value": "d"}]);
    assert_eq!(update(&store, "AWS::Bedrock::Agent", &agent, &describe), Ok(OperationStatus::Success));
    let group = create(&store, "AWS::EC2::SecurityGroup", &json!({"GroupDescription": "g"}));
    let tag = json!([{"op": "add", "path": "/Tags", "value": [{"Key": "a", "Value": "b"}]}]);
    assert_eq!(update(&store, "AWS::EC2::SecurityGroup", &group, &tag), Ok(OperationStatus::Success));
    let wrong = json!([{"op": "add", "path": "/Tags", "value": [{"Key": 1}]}]);
    assert_eq!(update(&store, "AWS::EC2::SecurityGroup", &group, &wrong), Err(Fault::Validation));
}

#[test]
fn cc_33_an_update_needs_the_required_write_only_properties() {
    let store = memory();
    let function = json!({"FunctionName": "f", "Role": "arn:aws:iam::123456789012:role/r", "PackageType": "Image",
        "Code": {"ImageUri": "x"}});
    create(&store, "AWS::Lambda::Function", &function);
    let describe = json!({"op": "add", "path": "/Description", "value": "d"});
    assert_eq!(update(&store, "AWS::Lambda::Function", "f", &json!([describe])), Err(Fault::Validation));
    let code = json!({"op": "add", "path": "/Code", "value": {"ImageUri": "x"}});
    assert_eq!(update(&store, "AWS::Lambda::Function", "f", &json!([describe, code])), Ok(OperationStatus::Success));
}

#[test]
fn cc_32_values_fixed_at_creation_are_refused_inside_of_write_only_properties() {
    let store = memory();
    let source = |size: u32| json!({"KinesisStreamParameters": {"BatchSize": size, "StartingPosition": "LATEST"}});
    let pipe = json!({"Name": "p", "RoleArn": "arn:aws:iam::123456789012:role/r",
        "Source": "arn:aws:kinesis:eu-central-1:123456789012:stream/s", "SourceParameters": source(10),
        "Target": "arn:aws:sqs:eu-central-1:123456789012:q"});
    create(&store, "AWS::Pipes::Pipe", &pipe);
    let given = json!([{"op": "add", "path": "/SourceParameters", "value": source(20)}]);
    assert_eq!(update(&store, "AWS::Pipes::Pipe", "p", &given), Err(Fault::NotUpdatable));
    let changed =
        json!([{"op": "add", "path": "/SourceParameters", "value": {"KinesisStreamParameters": {"BatchSize": 20}}}]);
    assert_eq!(update(&store, "AWS::Pipes::Pipe", "p", &changed), Ok(OperationStatus::Success));
}

#[test]
fn cc_35_a_removed_property_gets_its_default_back() {
    let store = memory();
    let key = create(&store, "AWS::KMS::Key", &json!({"MultiRegion": true}));
    let removed = json!([{"op": "remove", "path": "/MultiRegion"}]);
    assert_eq!(update(&store, "AWS::KMS::Key", &key, &removed), Ok(OperationStatus::Success));
    assert_eq!(get(&store, "AWS::KMS::Key", &key).unwrap()["MultiRegion"], false);
}

#[test]
fn cc_62_a_failing_hook_ends_a_request_and_is_shown_with_it() {
    let hooks = vec![
        Hook { name: "Company::Names::Checked".to_owned(), result: HookResult::Warn },
        Hook { name: "Company::Storage::Encrypted".to_owned(), result: HookResult::Fail },
    ];
    let settings = Settings { faults: Faults { hooks, ..Faults::default() }, ..Settings::default() };
    let store = Store::in_memory(Catalogue::shipped().clone(), settings).unwrap();
    let bucket = creation("AWS::S3::Bucket", &json!({"BucketName": "b1"}), None);
    let started = store.create_resource(REGION, &bucket).unwrap();
    let ended = store.get_resource_request_status(&started.request_token).unwrap();
    assert_eq!(ended.operation_status, OperationStatus::Failed);
    assert!(ended.status_message.unwrap().contains("Company::Storage::Encrypted"));
    let statuses: Vec<(HookStatus, FailureMode)> =
        ended.hooks.iter().map(|hook| (hook.hook_status, hook.failure_mode)).collect();
    let failed = HookStatus::HookCompleteFailed;
    assert_eq!(statuses, [(failed, FailureMode::Warn), (failed, FailureMode::Fail)]);
    assert_eq!(get(&store, "AWS::S3::Bucket", "b1"), Err(Fault::ResourceNotFound));
}
