//! Create, update, delete, read and import through the server (FW-15, FW-19, FW-21, LC-16, LC-29).

use groma_framework::{Attribute, ObjectResponse, PrivateData, ProviderDiagnostic, SchemaBuilder};
use groma_provider::{
    ClientCapabilities, ImportRequest, ImportTarget, Private, Provider, ReadRequest, UpgradeRequest, ValidateRequest,
};
use groma_value::{Type, Value};

use crate::support::{TestResource, get, made, s, texts, unknown};

fn base() -> SchemaBuilder {
    SchemaBuilder::new()
        .attribute("id", Attribute::string().computed())
        .attribute("name", Attribute::string())
        .attribute("token", Attribute::string().write_only())
}

#[test]
fn fw_15_result_that_contradicts_the_plan_is_an_error() {
    let served = TestResource::new(base())
        .changing(|_, plan, _| {
            let attributes = made(plan);
            let attributes = attributes.as_object().unwrap();
            // The service changes a planned value, which no provider may report without an error.
            let upper = attributes
                .iter()
                .map(|(name, value)| (name.clone(), if &**name == "name" { s("A") } else { value.clone() }));
            ObjectResponse::found(Value::object(upper.collect::<Vec<_>>()), PrivateData::new())
        })
        .serve();
    let plan = served.object([("id", unknown()), ("name", s("a"))]);
    let response = served.apply(served.null(), plan, served.object([("name", s("a"))]), Private::default());
    assert_eq!(texts(&response.diagnostics), ["Inconsistent result from provider code .name"]);
    assert_eq!(get(&response.new_state.unwrap(), "name"), s("A"), "the returned object is recorded");
}

#[test]
fn fw_15_success_without_an_object_is_an_error() {
    let served = TestResource::new(base()).changing(|_, _, _| ObjectResponse::gone()).serve();
    let response = served.apply(served.null(), served.object([]), served.object([]), Private::default());
    assert_eq!(texts(&response.diagnostics), ["No object from provider code "]);
    assert!(response.new_state.unwrap().is_null());
}

#[test]
fn lc_29_write_only_values_reach_the_provider_and_nothing_else() {
    let served = TestResource::new(base())
        .changing(|_, plan, _| {
            assert!(get(plan, "token").is_null());
            let attributes = made(plan);
            let attributes = attributes.as_object().unwrap();
            // A careless provider returns the write-only value; the framework must drop it.
            let leaking = attributes
                .iter()
                .map(|(name, value)| (name.clone(), if &**name == "token" { s("leak") } else { value.clone() }));
            ObjectResponse::found(Value::object(leaking.collect::<Vec<_>>()), PrivateData::new())
        })
        .serve();
    let config = served.object([("token", s("t"))]);
    let (plan, _) = served.planned(served.null(), config.clone());
    assert!(get(&plan, "token").is_null());
    let response = served.apply(served.null(), plan, config, Private::default());
    assert!(response.diagnostics.is_empty(), "{:?}", response.diagnostics);
    assert!(get(&response.new_state.unwrap(), "token").is_null());
}

#[test]
fn lc_16_failed_apply_keeps_the_existing_object() {
    let half = TestResource::new(base())
        .changing(|_, plan, _| {
            ObjectResponse::failed_with(made(plan), PrivateData::new(), ProviderDiagnostic::error("half", "way"))
        })
        .serve();
    let plan = half.object([("id", unknown())]);
    let response = half.apply(half.null(), plan, half.object([]), Private::default());
    assert_eq!(get(&response.new_state.unwrap(), "id"), s("made"));
    // This provider fails without an object: nothing was changed.
    let failing = TestResource::new(base())
        .changing(|_, _, _| ObjectResponse::failed(ProviderDiagnostic::error("no", "no")))
        .serve();
    let state = || failing.object([("id", s("1"))]);
    let response = failing.apply(
        state(),
        failing.object([("id", s("1")), ("name", s("b"))]),
        failing.object([]),
        Private::default(),
    );
    assert_eq!(response.new_state.unwrap(), state());
    let response = failing.apply(state(), failing.null(), failing.null(), Private::default());
    assert_eq!(response.new_state.unwrap(), state(), "a failed deletion deletes nothing");
}

#[test]
fn fw_19_a_deletion_without_errors_is_done() {
    let served = TestResource::new(base()).serve();
    let response = served.apply(served.object([("id", s("1"))]), served.null(), served.null(), Private::default());
    assert!(response.diagnostics.is_empty() && response.new_state.unwrap().is_null());
}

#[test]
fn fw_21_a_panic_is_an_error_of_that_one_request() {
    let served = TestResource::new(base())
        .changing(|what, plan, _| {
            assert!(get_name(plan) != Some("boom"), "the {what} of TestResource");
            ObjectResponse::found(made(plan), PrivateData::new())
        })
        .serve();
    fn get_name(plan: &Value) -> Option<&str> {
        plan.as_object()?.get("name")?.as_str()
    }
    let plan = |name: &str| served.object([("id", unknown()), ("name", s(name))]);
    let config = |name: &str| served.object([("name", s(name))]);
    let response = served.apply(served.null(), plan("boom"), config("boom"), Private::default());
    assert_eq!(texts(&response.diagnostics), ["Provider code panicked "]);
    assert!(response.diagnostics.iter().next().unwrap().detail.contains("the create of TestResource"));
    assert!(response.new_state.unwrap().is_null());
    // The panic of the call before has no consequence for this one.
    let response = served.apply(served.null(), plan("fine"), config("fine"), Private::default());
    assert!(response.diagnostics.is_empty(), "the provider lives on");
}

#[test]
fn fw_21_panics_anywhere_are_caught() {
    let modifying = TestResource::new(base()).modifying(|_| panic!("the plan")).serve();
    let response = modifying.plan(modifying.null(), modifying.object([]));
    assert_eq!(texts(&response.diagnostics), ["Provider code panicked "]);
    let schema = base().attribute(
        "x",
        Attribute::string().modifier(groma_framework::modifier::modifier("panics", |_, _| panic!("the modifier"))),
    );
    let in_modifier = TestResource::new(schema).serve();
    let response = in_modifier.plan(in_modifier.null(), in_modifier.object([]));
    assert!(response.diagnostics.iter().next().unwrap().detail.contains("the modifier"));
    // The import of the test resource panics by definition.
    let request = ImportRequest {
        type_name: "test_thing".into(),
        target: ImportTarget::Id("1".into()),
        config: None,
        client_capabilities: ClientCapabilities::default(),
    };
    let response = modifying.server.import_resource(request).now().unwrap();
    assert_eq!(texts(&response.diagnostics), ["Provider code panicked "]);
    let reading = TestResource::new(base()).reading(|_| panic!("the read")).serve();
    let state = reading.object([("id", s("1"))]);
    let response = reading.server.read_resource(read_request(state.clone())).now().unwrap();
    assert_eq!(texts(&response.diagnostics), ["Provider code panicked "]);
    assert_eq!(response.new_state, state);
}

fn read_request(current_state: Value) -> ReadRequest {
    ReadRequest { type_name: "test_thing".into(), current_state, ..ReadRequest::default() }
}

#[test]
fn fw_19_reads_report_missing_objects_also_in_batches() {
    let served = TestResource::new(base())
        .reading(|request| match get(&request.state, "id").as_str() {
            Some("gone") => ObjectResponse::gone(),
            _ => ObjectResponse::found(request.state, request.private),
        })
        .serve();
    let here = served.object([("id", s("here"))]);
    let gone = served.object([("id", s("gone"))]);
    // One batch with both results: the answers must stay in the order of the requests.
    let requests = vec![read_request(here.clone()), read_request(gone)];
    let responses = served.server.read_resources(requests).now().unwrap();
    assert_eq!(responses[0].new_state, here);
    assert!(responses[1].new_state.is_null());
}

#[test]
fn fw_19_stored_objects_of_an_older_shape_are_read() {
    let served = TestResource::new(base()).serve();
    let request = |json: &str| UpgradeRequest { type_name: "test_thing".into(), version: 0, raw_state: json.into() };
    // An attribute that the schema no longer has is dropped.
    let response = served.server.upgrade_resource(request(r#"{"id":"1","gone":true}"#)).now().unwrap();
    assert!(response.diagnostics.is_empty());
    assert_eq!(response.upgraded_state, served.object([("id", s("1"))]));
    let response = served.server.upgrade_resource(request(r#"{"id":[]}"#)).now().unwrap();
    assert!(response.diagnostics.has_errors());
}

#[test]
fn fw_19_validation_covers_read_only_attributes_and_validators() {
    let even = groma_framework::schema::validator("must be even", |value| {
        match value.as_number().and_then(groma_value::Number::to_i64) {
            Some(number) if number % 2 == 0 => Ok(()),
            _ => Err("The value must be even.".into()),
        }
    });
    let schema = base().attribute("count_of", Attribute::number().validator(even));
    let served = TestResource::new(schema).serve();
    let validate = |config: Value| {
        let request = ValidateRequest {
            type_name: "test_thing".into(),
            config,
            client_capabilities: ClientCapabilities::default(),
        };
        texts(&served.server.validate_resource(request).now().unwrap())
    };
    assert!(validate(served.object([("count_of", Value::number(2))])).is_empty());
    // An unknown value is validated once it is known.
    assert!(validate(served.object([("count_of", Value::unknown(Type::Number))])).is_empty());
    assert_eq!(validate(served.object([("count_of", Value::number(3))])), ["Invalid Attribute Value .count_of"]);
    assert_eq!(validate(served.object([("id", s("1"))])), ["Invalid Configuration for Read-Only Attribute .id"]);
}

#[test]
fn fw_19_deprecated_arguments_and_blocks_draw_a_warning_when_they_are_used() {
    let block = groma_framework::NestedBlock::new(groma_framework::Nesting::List, [("a", Attribute::string())]);
    let schema = base()
        .attribute("old", Attribute::string().deprecated("Use name instead."))
        .block("old_block", block.deprecated("Leave it out."));
    let served = TestResource::new(schema).serve();
    let validate = |config: Value| {
        let request = ValidateRequest {
            type_name: "test_thing".into(),
            config,
            client_capabilities: ClientCapabilities::default(),
        };
        served.server.validate_resource(request).now().unwrap()
    };
    assert!(validate(served.object([("name", s("x"))])).is_empty());
    let element = Type::object([("a", Type::String)]);
    let blocks = Value::list(element, vec![Value::object([("a", s("x"))])]);
    let found = validate(served.object([("old", s("x")), ("old_block", blocks)]));
    assert_eq!(texts(&found), ["Attribute Deprecated .old", "Block Deprecated .old_block"]);
    assert!(!found.has_errors());
}

#[test]
fn unknown_type_is_an_error() {
    let served = TestResource::new(base()).serve();
    assert!(served.server.resource_schema("test_other").unwrap().is_none());
    let request = UpgradeRequest { type_name: "test_other".into(), version: 0, raw_state: "{}".into() };
    let response = served.server.upgrade_resource(request).now().unwrap();
    assert_eq!(texts(&response.diagnostics), ["Unknown resource type "]);
}
