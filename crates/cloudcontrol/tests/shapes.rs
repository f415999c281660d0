//! From a resource type schema to attributes, on small schemas written for the purpose.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

use std::sync::Arc;

use groma_cloudcontrol::AwsCloudControl;
use groma_cloudcontrol::schema::Catalogue;
use groma_framework::Server;
use groma_provider::{
    Attribute, Block, ClientCapabilities, ObjectNesting, PlanRequest, Provider, ProviderDiagnostics, UpgradeRequest,
    Use, ValidateRequest, proposed_new_state,
};
use groma_value::{Type, Value, convert};
use serde_json::{Value as Json, json};

/// A provider with one type, `AWS::Test::Thing`.
fn provider(mut schema: Json) -> Server {
    let members = schema.as_object_mut().unwrap();
    members.insert("typeName".to_owned(), json!("AWS::Test::Thing"));
    members.entry("primaryIdentifier").or_insert(json!(["/properties/Name"]));
    members.entry("handlers").or_insert(json!({"create": {}, "read": {}, "update": {}, "delete": {}, "list": {}}));
    let catalogue = Catalogue::of_documents([("AWS::Test::Thing".into(), schema.to_string())]);
    AwsCloudControl::new(Arc::new(catalogue)).served()
}

fn block(schema: Json) -> Arc<Block> {
    provider(schema).resource_schema("awscc_test_thing").unwrap().unwrap().block.clone()
}

fn attribute(block: &Block, name: &str) -> Attribute {
    block.attribute(name).unwrap_or_else(|| panic!("no {name}")).clone()
}

/// The problems of a configuration, as `path: detail`.
fn problems(schema: Json, config: &Json) -> Vec<String> {
    diagnostics(schema, config).iter().map(|problem| format!("{}: {}", problem.path, problem.detail)).collect()
}

fn diagnostics(schema: Json, config: &Json) -> ProviderDiagnostics {
    let provider = provider(schema);
    let block = provider.resource_schema("awscc_test_thing").unwrap().unwrap().block.clone();
    let text = config.to_string();
    let ty = groma_value::json::implied_type(text.as_bytes()).unwrap();
    let written = groma_value::json::from_json(text.as_bytes(), &ty).unwrap();
    let given = convert::convert(&written, block.config_type()).unwrap();
    let values = block
        .empty_value()
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, empty)| given.as_object().unwrap().get(name).unwrap_or(empty).clone());
    let request = ValidateRequest {
        type_name: "awscc_test_thing".into(),
        config: block.object(values.collect()),
        client_capabilities: ClientCapabilities::default(),
    };
    provider.validate_resource(request).now().unwrap_or_else(|_| panic!("a check needs no waiting"))
}

#[test]
fn cc_04_meta_arguments_and_the_provider_attribute() {
    let schema = json!({"properties": {"Name": {"type": "string"}, "Provider": {"type": "string"}}});
    let block = block(schema);
    assert!(block.attribute("provider").is_none());
    assert_eq!(attribute(&block, "provider_name").ty(), Type::String);
    for property in ["Count", "DependsOn", "ForEach", "Lifecycle"] {
        let mut properties = serde_json::Map::new();
        properties.insert(property.to_owned(), json!({"type": "string"}));
        let provider = provider(json!({"properties": properties}));
        let refused = provider.resource_schema("awscc_test_thing").unwrap_err();
        assert!(refused.iter().any(|problem| problem.detail.contains(property)), "{refused:?}");
        assert!(provider.type_names().resources.is_empty());
        // Below the top such a name means nothing to anyone.
        let nested = json!({"properties": {"Name": {"type": "object", "properties": properties}}});
        assert!(Server::resource_schema(&self::provider(nested), "awscc_test_thing").unwrap().is_some());
    }
}

#[test]
fn cc_10_types_of_attributes() {
    let block = block(json!({"properties": {
        "Name": {"type": "string"}, "Flag": {"type": "boolean"}, "Whole": {"type": "integer"}, "Part": {"type": "number"},
        "Inner": {"type": "object", "properties": {"A": {"type": "string"}}},
        "Labels": {"type": "object", "patternProperties": {"^b": {"type": "integer"}, "^a": {"type": "string"}}},
        "Things": {"type": "object", "patternProperties": {".*": {"type": "object", "properties": {"A": {"type": "string"}}}}},
        "Free": {"type": "object"}, "Either": {"type": ["object", "string"]}, "When": {"type": "string", "format": "date-time"}}}));
    for (name, ty) in [
        ("name", Type::String),
        ("flag", Type::Bool),
        ("whole", Type::Number),
        ("part", Type::Number),
        ("labels", Type::map(Type::String)),
        ("free", Type::String),
        ("either", Type::String),
        ("when", Type::String),
    ] {
        assert_eq!(attribute(&block, name).ty(), ty, "{name}");
    }
    assert_eq!(attribute(&block, "inner").nested_type().unwrap().nesting(), ObjectNesting::Single);
    assert_eq!(attribute(&block, "things").nested_type().unwrap().nesting(), ObjectNesting::Map);
    let schema = json!({"properties": {"Name": {"type": "string"}, "Whole": {"type": "integer"}}});
    assert_eq!(
        problems(schema, &json!({"name": "a", "whole": 1.5})),
        [".whole: Attribute whole must be a whole number."]
    );
}

#[test]
fn cc_12_arrays_are_lists_or_sets() {
    let texts = json!({"type": "string"});
    let objects = json!({"type": "object", "properties": {"A": {"type": "string"}}});
    let array = |ordered: bool, unique: bool, items: &Json| json!({"type": "array", "insertionOrder": ordered, "uniqueItems": unique, "items": items});
    let block = block(json!({"properties": {
        "Kept": array(true, false, &texts), "Mixed": array(false, false, &texts),
        "Distinct": array(true, true, &texts), "Bag": array(false, true, &texts),
        "Plain": {"type": "array", "items": texts}, "KeptThings": array(true, false, &objects),
        "BagOfThings": array(false, true, &objects)}, "primaryIdentifier": ["/properties/Kept"]}));
    for name in ["kept", "mixed", "distinct", "plain"] {
        assert_eq!(attribute(&block, name).ty(), Type::list(Type::String), "{name}");
    }
    assert_eq!(attribute(&block, "bag").ty(), Type::set(Type::String));
    assert_eq!(attribute(&block, "kept_things").nested_type().unwrap().nesting(), ObjectNesting::List);
    assert_eq!(attribute(&block, "bag_of_things").nested_type().unwrap().nesting(), ObjectNesting::Set);
    let distinct = json!({"properties": {"Name": array(true, true, &texts)}});
    assert_eq!(problems(distinct.clone(), &json!({"name": ["a", "b"]})), Vec::<String>::new());
    assert_eq!(problems(distinct, &json!({"name": ["a", "a"]})).len(), 1);
}

#[test]
fn cc_31_who_gives_a_value() {
    let block = block(json!({"properties": {
        "Name": {"type": "string"}, "Must": {"type": "string"}, "May": {"type": "string"}, "Result": {"type": "string"},
        "Default": {"type": "string", "default": "x"},
        "MustObject": {"type": "object", "required": ["Inside"], "properties": {"Inside": {"type": "string"}}},
        "ResultObject": {"type": "object", "required": ["Inside"], "properties": {"Inside": {"type": "string"}}}},
        "required": ["Must", "Default", "MustObject"],
        "readOnlyProperties": ["/properties/Result", "/properties/ResultObject"]}));
    for (name, usage) in [
        ("must", Use::Required),
        ("may", Use::OptionalComputed),
        ("result", Use::Computed),
        ("default", Use::OptionalComputed),
        ("must_object", Use::Required),
        ("result_object", Use::Computed),
        ("id", Use::Computed),
    ] {
        assert_eq!(attribute(&block, name).usage(), usage, "{name}");
    }
    let inside =
        |name: &str| attribute(&block, name).nested_type().unwrap().object().attribute("inside").unwrap().usage();
    assert_eq!(inside("must_object"), Use::Required);
    assert_eq!(inside("result_object"), Use::Computed);
}

#[test]
fn cc_34_what_an_optional_object_requires_is_required_once_it_is_configured() {
    let schema = json!({"properties": {"Name": {"type": "string"},
        "Maybe": {"type": "object", "required": ["Inside"], "properties": {"Inside": {"type": "string"}, "Other": {"type": "string"}}}}});
    let block = block(schema.clone());
    let maybe = attribute(&block, "maybe");
    assert_eq!(maybe.nested_type().unwrap().object().attribute("inside").unwrap().usage(), Use::OptionalComputed);
    assert_eq!(problems(schema.clone(), &json!({"name": "a"})), Vec::<String>::new());
    assert_eq!(problems(schema.clone(), &json!({"maybe": {"inside": "x"}})), Vec::<String>::new());
    let found = problems(schema, &json!({"maybe": {"other": "x"}}));
    assert_eq!(found, [".maybe.inside: Attribute maybe.inside must be set, because the object it belongs to is."]);
}

#[test]
fn cc_21_properties_that_go_together() {
    let properties = json!({"Name": {"type": "string"}, "A": {"type": "string"}, "B": {"type": "string"}});
    let with = |rule: &str, value: Json| {
        let mut schema = json!({"properties": properties});
        schema.as_object_mut().unwrap().insert(rule.to_owned(), value);
        schema
    };
    for (schema, good, bad) in [
        (with("requiredXor", json!(["A", "B"])), json!({"a": "x"}), json!({"a": "x", "b": "x"})),
        (with("requiredXor", json!(["A", "B"])), json!({"b": "x"}), json!({"name": "x"})),
        (with("requiredOr", json!(["A", "B"])), json!({"a": "x", "b": "x"}), json!({"name": "x"})),
        (with("dependentRequired", json!({"A": ["B"]})), json!({"b": "x"}), json!({"a": "x"})),
        (with("dependencies", json!({"A": ["B"]})), json!({"a": "x", "b": "x"}), json!({"a": "x"})),
        (with("anyOf", json!([{"required": ["A"]}, {"required": ["B"]}])), json!({"b": "x"}), json!({"name": "x"})),
        (with("oneOf", json!([{"required": ["A"]}, {"required": ["B"]}])), json!({"a": "x"}), json!({"name": "x"})),
        (with("allOf", json!([{"required": ["A", "B"]}])), json!({"a": "x", "b": "x"}), json!({"a": "x"})),
        (
            with("allOf", json!([{"oneOf": [{"required": ["A"]}, {"required": ["B"]}]}])),
            json!({"b": "x"}),
            json!({"a": "x", "b": "x"}),
        ),
        (with("allOf", json!([{"allOf": [{"required": ["A"]}]}])), json!({"a": "x"}), json!({"name": "x"})),
        (
            with("allOf", json!([{"oneOf": [{}, {"required": ["A", "B"]}]}])),
            json!({"a": "x"}),
            json!({"a": "x", "b": "x"}),
        ),
    ] {
        assert_eq!(problems(schema.clone(), &good), Vec::<String>::new(), "{schema}");
        assert_eq!(problems(schema.clone(), &bad).len(), 1, "{schema}");
    }
}

#[test]
fn cc_20_patterns_of_one_dialect_give_warnings() {
    let labels = json!({"type": "object", "patternProperties": {"^(?!aws:)[a-z]+$": {"type": "string"}}});
    let schema = json!({"properties": {"Name": {"type": "string", "pattern": "^(?!aws:)[a-z]+$"}, "Labels": labels,
        "Code": {"type": "string", "pattern": "^[a-z]+$"}}});
    let is_error = |config: &Json| {
        let found = diagnostics(schema.clone(), config);
        let [problem] = found.iter().collect::<Vec<_>>()[..] else { panic!("{found:?}") };
        problem.is_error()
    };
    assert!(!is_error(&json!({"name": "two words"})));
    assert!(!is_error(&json!({"name": "x", "labels": {"two words": "x"}})));
    assert!(is_error(&json!({"name": "x", "code": "two words"})));
}

#[test]
fn cc_21_what_is_not_known_yet_is_fine() {
    let provider =
        provider(json!({"properties": {"Name": {"type": "string", "pattern": "^a$"}, "A": {"type": "string"},
        "B": {"type": "string"}}, "requiredXor": ["A", "B"]}));
    let block = provider.resource_schema("awscc_test_thing").unwrap().unwrap().block.clone();
    let values = block.empty_value().as_object().unwrap().iter().map(|(name, empty)| match &**name {
        "a" | "name" => Value::unknown(Type::String),
        _ => empty.clone(),
    });
    let request = ValidateRequest {
        type_name: "awscc_test_thing".into(),
        config: block.object(values.collect()),
        client_capabilities: ClientCapabilities::default(),
    };
    assert!(
        provider.validate_resource(request).now().unwrap_or_else(|_| panic!("a check needs no waiting")).is_empty()
    );
}

#[test]
fn cc_33_write_only_attributes_without_a_value_are_planned_as_unknown_at_creation() {
    let text = json!({"type": "string"});
    let provider = provider(json!({
        "properties": {"Name": text, "Secret": text, "Place": {"type": "object", "properties": {"Zone": text, "Code": text}}},
        "writeOnlyProperties": ["/properties/Secret", "/properties/Place/Code"],
    }));
    let block = provider.resource_schema("awscc_test_thing").unwrap().unwrap().block.clone();
    let json = json!({"name": "a", "place": {"zone": "z"}});
    let request =
        UpgradeRequest { type_name: "awscc_test_thing".into(), version: 1, raw_state: json.to_string().into() };
    let config = provider.upgrade_resource(request).now().unwrap_or_else(|_| panic!("no waiting")).upgraded_state;
    let prior = block.null_value();
    let request = PlanRequest {
        type_name: "awscc_test_thing".into(),
        prior_state: prior.clone(),
        proposed_new_state: proposed_new_state(&block, &prior, &config),
        config,
        ..PlanRequest::default()
    };
    let planned = provider.plan_resource(request).now().unwrap_or_else(|_| panic!("no waiting")).planned_state;
    // Like awscc, so that plans are the same.
    assert!(!planned.attribute("secret").unwrap().is_known());
    assert!(!planned.attribute("place").unwrap().attribute("code").unwrap().is_known());
}

#[test]
fn cc_32_each_changed_attribute_that_needs_a_new_object_is_named_once() {
    let text = json!({"type": "string"});
    let provider = provider(json!({
        "properties": {
            "Name": text, "Note": text,
            "Place": {"type": "object", "properties": {"Zone": text, "Note": text}},
            "Parts": {"type": "array", "insertionOrder": false,
                "items": {"type": "object", "properties": {"Key": text, "Size": text}}},
        },
        "createOnlyProperties": ["/properties/Name", "/properties/Place/Zone", "/properties/Parts/*/Size"],
        "handlers": {"update": {"permissions": []}},
    }));
    let object = |json: Json| {
        let request =
            UpgradeRequest { type_name: "awscc_test_thing".into(), version: 1, raw_state: json.to_string().into() };
        provider.upgrade_resource(request).now().unwrap_or_else(|_| panic!("no waiting")).upgraded_state
    };
    let replaced = |prior: &Value, config: &Value| -> Vec<String> {
        let block = provider.resource_schema("awscc_test_thing").unwrap().unwrap().block.clone();
        let request = PlanRequest {
            type_name: "awscc_test_thing".into(),
            prior_state: prior.clone(),
            proposed_new_state: proposed_new_state(&block, prior, config),
            config: config.clone(),
            ..PlanRequest::default()
        };
        let planned = provider.plan_resource(request).now().unwrap_or_else(|_| panic!("no waiting"));
        assert!(planned.diagnostics.is_empty(), "{:?}", planned.diagnostics);
        assert!(!planned.planned_private.is_empty(), "a change has a client token");
        planned.requires_replace.iter().map(ToString::to_string).collect()
    };
    let part = |key: &str, size: &str| json!({"key": key, "size": size});
    let example = |name: &str, zone: &str, note: &str, parts: Json| json!({"name": name, "note": note, "place": {"zone": zone, "note": note}, "parts": parts});
    let parts = || json!([part("x", "1"), part("y", "2")]);
    let mut prior = example("a", "1", "n", parts());
    prior["id"] = json!("a");
    let prior = object(prior);
    let none: [&str; 0] = [];
    assert_eq!(replaced(&prior, &object(example("a", "1", "m", parts()))), none, "what may change changes in place");
    assert_eq!(replaced(&prior, &object(example("b", "1", "n", parts()))), [".name"]);
    assert_eq!(replaced(&prior, &object(example("a", "2", "n", parts()))), [".place.zone"]);
    assert_eq!(
        replaced(&prior, &object(example("a", "1", "m", json!([part("y", "2"), part("x", "1")])))),
        none,
        "elements that only stand elsewhere are the same"
    );
    assert_eq!(
        replaced(&prior, &object(example("a", "1", "n", json!([part("x", "3"), part("y", "2")])))),
        [".parts[0].size"]
    );
    assert_eq!(replaced(&prior, &object(json!({"note": "m", "parts": parts()}))), none, "nobody asks for another name");
}

#[test]
fn cc_40_a_creation_may_be_asked_for_again() {
    assert!(provider(json!({"properties": {}})).schema().unwrap().capabilities.repeatable_create);
}
