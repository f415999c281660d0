//! The scripted provider itself, with and without a script.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use groma_provider::{
    ApplyRequest, ApplyResponse, Attribute, Block, NestedBlock, Nesting, PlanRequest, PlanResponse, Provider,
    ReadRequest, Schema, proposed_new_state,
};
use groma_scripted::{Fault, Operation, ResourceScript, Scripted, World};
use groma_value::{Path, Type, Value};

fn schema() -> Schema {
    let inner = Block::new(
        [("port", Attribute::optional(Type::Number)), ("arn", Attribute::computed(Type::String))],
        Vec::<(&str, NestedBlock)>::new(),
    );
    Schema::new(Block::new(
        [
            ("id", Attribute::computed(Type::String)),
            ("name", Attribute::optional(Type::String)),
            ("size", Attribute::optional_computed(Type::Number)),
        ],
        [("rule", NestedBlock::new(Nesting::List, inner))],
    ))
}

fn scripted(script: impl FnOnce(ResourceScript) -> ResourceScript) -> Scripted {
    Scripted::new("test").resource("test_object", script(ResourceScript::new(schema())))
}

/// An object with one rule.
fn object(id: &str, name: &str) -> Value {
    let block = schema().block;
    let text = |text: &str| if text.is_empty() { Value::null(Type::String) } else { Value::string(text) };
    let rule = block.block("rule").unwrap().block();
    let one = rule.object(vec![Value::null(Type::String), Value::number(80)]);
    let rules = Value::list(rule.implied_type().clone(), vec![one]);
    block.object(vec![text(id), text(name), rules, Value::null(Type::Number)])
}

fn plan(provider: &Scripted, prior: Value, config: Value) -> PlanResponse {
    let request = PlanRequest {
        type_name: "test_object".into(),
        proposed_new_state: proposed_new_state(&schema().block, &prior, &config),
        prior_state: prior,
        config,
        ..PlanRequest::default()
    };
    provider.plan_resource(request).now().unwrap()
}

fn apply(provider: &Scripted, prior: Value, planned: Value, config: Value) -> ApplyResponse {
    let request = ApplyRequest {
        type_name: "test_object".into(),
        prior_state: prior,
        planned_state: planned,
        config,
        ..ApplyRequest::default()
    };
    provider.apply_resource(request).now().unwrap()
}

fn read(provider: &Scripted, current_state: Value) -> Value {
    let request = ReadRequest { type_name: "test_object".into(), current_state, ..ReadRequest::default() };
    provider.read_resource(request).now().unwrap().new_state
}

fn null() -> Value {
    schema().block.null_value()
}

#[test]
fn without_script_objects_are_stored() {
    let provider = scripted(|script| script);
    let planned = plan(&provider, null(), object("", "a")).planned_state;
    let nested = planned.path_get(&Path::root().attribute("rule").position(0).attribute("arn")).unwrap();
    assert!(!nested.is_known(), "computed attributes of blocks are the provider's too");
    let state = apply(&provider, null(), planned, object("", "a")).new_state.unwrap();
    assert!(state.is_wholly_known());
    assert_eq!(provider.world().ids("test_object"), ["test_object-1"]);
    assert_eq!(read(&provider, state.clone()), state);
    assert!(provider.world().change("test_object", "test_object-1", "name", Value::string("drifted")));
    assert_eq!(read(&provider, state.clone()).attribute("name").unwrap(), Value::string("drifted"));
    apply(&provider, state.clone(), null(), null());
    assert!(provider.world().is_empty());
    assert!(read(&provider, state).is_null());
}

#[test]
fn calls_are_recorded_in_order() {
    let provider = scripted(|script| script);
    let planned = plan(&provider, null(), object("", "a")).planned_state;
    let state = apply(&provider, null(), planned, object("", "a")).new_state.unwrap();
    read(&provider, state);
    assert_eq!(provider.call_texts(), ["plan test_object a", "apply test_object a", "read test_object a"]);
    provider.forget_calls();
    provider.stop();
    assert!(provider.is_stopped());
    assert_eq!(provider.call_texts(), ["stop"]);
}

#[test]
fn faults_can_target_one_object() {
    let provider = scripted(|script| script.fault_for(Operation::Apply, "b", Fault::Error("no")));
    for (name, fails) in [("a", false), ("b", true)] {
        let planned = plan(&provider, null(), object("", name)).planned_state;
        let response = apply(&provider, null(), planned, object("", name));
        assert_eq!(response.diagnostics.has_errors(), fails, "{name}");
    }
    assert_eq!(provider.world().len(), 1);
}

#[test]
fn error_after_apply_returns_the_object() {
    let provider = scripted(|script| script.fault(Operation::Apply, Fault::ErrorAfter("half way")));
    let planned = plan(&provider, null(), object("", "a")).planned_state;
    let response = apply(&provider, null(), planned, object("", "a"));
    assert!(response.diagnostics.has_errors() && !response.new_state.unwrap().is_null());
    assert_eq!(provider.world().len(), 1);
}

#[test]
fn change_may_force_replacement() {
    let provider = scripted(|script| script.replace_on("name"));
    let response = plan(&provider, object("1", "a"), object("", "b"));
    assert_eq!(response.requires_replace, [Path::root().attribute("name")]);
    assert!(plan(&provider, object("1", "a"), object("", "a")).requires_replace.is_empty());
}

#[test]
fn handler_may_modify_default_response() {
    let provider = scripted(|script| script.on_plan(|_, good| PlanResponse { legacy_type_system: true, ..good() }));
    assert!(plan(&provider, null(), object("", "a")).legacy_type_system);
}

#[test]
fn world_outlives_its_provider() {
    let world = World::new();
    let first = scripted(|script| script).in_world(world.clone());
    let planned = plan(&first, null(), object("", "a")).planned_state;
    let state = apply(&first, null(), planned, object("", "a")).new_state.unwrap();
    drop(first);
    let second = scripted(|script| script).in_world(world);
    assert_eq!(read(&second, state.clone()), state);
}

#[test]
#[should_panic(expected = "scripted panic")]
fn a_script_may_panic() {
    plan(&scripted(|script| script.fault(Operation::Plan, Fault::Panic)), null(), object("", "a"));
}
