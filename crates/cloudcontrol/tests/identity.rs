//! Identities, list resources and regions, with the emulator that a provider block names.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use groma_cloudcontrol::AwsCloudControl;
use groma_cloudcontrol::emulator::{Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_provider::{
    ClientCapabilities, ImportRequest, ImportTarget, ListControl, ListDetail, ListRequest, Listed, Provider,
};
use groma_value::{Type, Value};
use serde_json::{Value as Json, json};
use support::{Object, World, at, configure, text, wait};

fn world(folder: &tempfile::TempDir) -> World {
    let path = folder.path().join("emulator.json");
    let store = Store::open(&path, Catalogue::shipped().clone(), Settings::default()).unwrap();
    let provider = AwsCloudControl::default().with_first_delay(Duration::from_micros(100)).served();
    let problems = configure(&provider, &json!({"region": "eu-central-1", "emulator": {"path": path}}));
    assert!(problems.is_empty(), "{problems:?}");
    World { store: Arc::new(store), provider }
}

fn texts(values: &[(&str, &str)]) -> Value {
    Value::object(values.iter().map(|(name, text)| (*name, Value::string(*text))))
}

fn list(world: &World, type_name: &str, config: &[(&str, &str)], detail: ListDetail) -> Vec<Listed> {
    let schema = world.provider.list_schema(type_name).unwrap().unwrap();
    let empty = schema.block.empty_value().as_object().unwrap();
    let values = empty.iter().map(|(name, value)| {
        let given = config.iter().find(|(given, _)| *given == &**name);
        given.map_or_else(|| value.clone(), |(_, text)| Value::string(*text))
    });
    let found = Arc::new(Mutex::new(Vec::new()));
    let sink = found.clone();
    let request = ListRequest {
        type_name: type_name.into(),
        config: schema.block.object(values.collect()),
        detail,
        limit: 100,
        found: Arc::new(move |listed| {
            sink.lock().unwrap().push(listed);
            ListControl::Continue
        }),
    };
    let problems = wait(world.provider.list_resource(request));
    assert!(problems.is_empty(), "{problems:?}");
    let listed = found.lock().unwrap();
    listed.clone()
}

#[test]
fn an_object_has_the_identity_of_its_primary_identifier() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(&folder);
    let config = json!({"bucket_name": "reports"});
    let plan = world.plan("awscc_s3_bucket", &config, None);
    let created = world.try_apply("awscc_s3_bucket", &config, None, &plan);
    let identity = created.new_identity.unwrap();
    let expected = [("account_id", "123456789012"), ("bucket_name", "reports"), ("region", "eu-central-1")];
    assert_eq!(identity, texts(&expected));
    let imported = wait(world.provider.import_resource(ImportRequest {
        type_name: "awscc_s3_bucket".into(),
        target: ImportTarget::Identity(identity),
        config: None,
        client_capabilities: ClientCapabilities::default(),
    }));
    assert_eq!(imported.imported[0].state.attribute("id").unwrap().as_str(), Some("reports"));
    assert!(imported.imported[0].state.attribute("region").unwrap().is_null());
}

#[test]
fn a_compound_identity_is_imported_as_one_identifier() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(&folder);
    let identity = texts(&[("route_table_id", "rtb-1"), ("cidr_block", "0.0.0.0/0")]);
    let imported = wait(world.provider.import_resource(ImportRequest {
        type_name: "awscc_ec2_route".into(),
        target: ImportTarget::Identity(identity),
        config: None,
        client_capabilities: ClientCapabilities::default(),
    }));
    assert_eq!(imported.imported[0].state.attribute("id").unwrap().as_str(), Some("rtb-1|0.0.0.0/0"));
}

#[test]
fn list_resources_find_the_objects_of_a_type() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(&folder);
    world.applied("awscc_s3_bucket", &json!({"bucket_name": "one"}));
    world.applied("awscc_s3_bucket", &json!({"bucket_name": "two"}));
    let names: Vec<String> =
        list(&world, "awscc_s3_bucket", &[], ListDetail::Identities).into_iter().map(|one| one.display_name).collect();
    assert_eq!(names, ["one", "two"]);
    let objects = list(&world, "awscc_s3_bucket", &[], ListDetail::Objects);
    let arn = objects[1].object.as_ref().unwrap().attribute("arn").unwrap();
    assert_eq!(arn.as_str(), Some("arn:aws:s3:::two"));
    assert!(list(&world, "awscc_s3_bucket", &[("region", "eu-west-1")], ListDetail::Identities).is_empty());
}

#[test]
fn list_resources_take_the_inputs_of_their_handlers() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(&folder);
    let api = text(&world.applied("awscc_apigateway_rest_api", &json!({"name": "api"})), "id");
    let resource = |part: &str| json!({"rest_api_id": api, "parent_id": "root", "path_part": part});
    world.applied("awscc_apigateway_resource", &resource("a"));
    assert_eq!(list(&world, "awscc_apigateway_resource", &[("rest_api_id", &api)], ListDetail::Identities).len(), 1);
    assert!(list(&world, "awscc_apigateway_resource", &[("rest_api_id", "x")], ListDetail::Identities).is_empty());
}

#[test]
fn a_resource_can_be_in_another_region_than_its_provider() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(&folder);
    let config = |region: Option<&str>| -> Json {
        let mut config = json!({"queue_name": "q"});
        if let Some(region) = region {
            config["region"] = json!(region);
        }
        config
    };
    let object = world.applied("awscc_sqs_queue", &config(Some("eu-west-1")));
    assert!(text(&object, "id").contains("eu-west-1"));
    assert_eq!(&*world.store.objects(None).unwrap()[0].region, "eu-west-1");
    let plan = world.plan("awscc_sqs_queue", &config(None), Some(&object));
    assert_eq!(plan.requires_replace, vec![at("region")]);
    // The region of the provider may be written or left out.
    let object = world.applied("awscc_sqs_queue", &config(None));
    let written = world.apply("awscc_sqs_queue", &config(Some("eu-central-1")), Some(&object));
    assert_eq!(text(&written, "id"), text(&object, "id"));
    world.delete("awscc_sqs_queue", &written);
    let left: Vec<String> = world.store.objects(None).unwrap().iter().map(|one| one.region.to_string()).collect();
    assert_eq!(left, ["eu-west-1"]);
}

#[test]
fn an_import_by_identity_can_name_a_region() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(&folder);
    let config = json!({"queue_name": "q", "region": "eu-west-1"});
    let created = world.apply("awscc_sqs_queue", &config, None);
    let identity = texts(&[("queue_url", &text(&created, "id")), ("region", "eu-west-1")]);
    let imported = wait(world.provider.import_resource(ImportRequest {
        type_name: "awscc_sqs_queue".into(),
        target: ImportTarget::Identity(identity),
        config: None,
        client_capabilities: ClientCapabilities::default(),
    }));
    let imported = imported.imported.into_iter().next().unwrap();
    let object = world.read("awscc_sqs_queue", &Object { state: imported.state, private: imported.private });
    let plan = world.plan("awscc_sqs_queue", &config, Some(&object));
    assert_eq!(plan.planned_state, object.state);
    let null = Value::null(Type::String);
    assert_ne!(object.state.attribute("region").unwrap(), null);
}
