//! Attribute plan modifiers (FW-04 to FW-09, FW-14).

use std::sync::{Arc, Mutex};

use groma_framework::modifier::{
    ReplaceDecision, modifier, requires_replace, requires_replace_if, requires_replace_if_configured,
    use_non_null_state_for_unknown, use_state_for_unknown,
};
use groma_framework::{Attribute, NestedBlock, Nesting, ObjectNesting, ProviderDiagnostics, SchemaBuilder};
use groma_value::{Type, Value};

use crate::support::{TestResource, get, s, texts, unknown};

type Log = Arc<Mutex<Vec<String>>>;

/// A modifier that writes down what it sees, and appends its name to a known plan.
fn noting(log: &Log, name: &'static str) -> impl groma_framework::PlanModifier + use<> {
    let log = log.clone();
    modifier(name, move |request, response| {
        let seen = request.plan.as_str().unwrap_or("?");
        log.lock().unwrap().push(format!("{name}{}={seen}", request.path));
        response.plan = s(&format!("{seen}{name}"));
    })
}

#[test]
fn fw_04_modifiers_run_in_order_on_the_previous_result() {
    let log = Log::default();
    let computed = Attribute::string().computed().modifier(noting(&log, "a")).modifier(noting(&log, "b"));
    let served = TestResource::new(SchemaBuilder::new().attribute("x", computed)).serve();
    let (plan, _) = served.planned(served.null(), served.object([]));
    // "?" is the unknown value that the first modifier got.
    assert_eq!(get(&plan, "x"), s("?ab"));
    assert_eq!(*log.lock().unwrap(), ["a.x=?", "b.x=?a"]);
}

#[test]
fn fw_04_nested_modifiers_run_after_outer_ones_on_their_result() {
    let log = Log::default();
    let outer_log = log.clone();
    let inner = [("v", Attribute::string().computed().modifier(noting(&log, "inner")))];
    let nested =
        Attribute::nested(ObjectNesting::Single, inner).computed().modifier(modifier("outer", move |_, response| {
            outer_log.lock().unwrap().push("outer".into());
            response.plan = Value::object([("v", s("from outer "))]);
        }));
    let served = TestResource::new(SchemaBuilder::new().attribute("n", nested)).serve();
    let (plan, _) = served.planned(served.null(), served.object([]));
    assert_eq!(*log.lock().unwrap(), ["outer", "inner.n.v=from outer "]);
    assert_eq!(get(&get(&plan, "n"), "v"), s("from outer inner"));
}

#[test]
fn fw_05_error_stops_the_attribute_and_its_nested_ones_but_no_others() {
    let log = Log::default();
    let failing = || modifier("fails", |request, response| response.error(request.path, "Failed", "It does."));
    let inner = [("v", Attribute::string().computed().modifier(noting(&log, "nested")))];
    let schema = SchemaBuilder::new()
        .attribute("a", Attribute::string().computed().modifier(failing()).modifier(noting(&log, "later")))
        .attribute("b", Attribute::nested(ObjectNesting::Single, inner).modifier(failing()))
        .attribute("c", Attribute::string().computed().modifier(noting(&log, "other")));
    let served = TestResource::new(schema).serve();
    let config = served.object([("b", Value::object([("v", Value::null(Type::String))]))]);
    let response = served.plan(served.null(), config);
    assert_eq!(texts(&response.diagnostics), ["Failed .a", "Failed .b"]);
    // Neither the second modifier of "a" nor the nested one of "b" has run.
    assert_eq!(*log.lock().unwrap(), ["other.c=?"]);
}

/// The paths that need a new object after a change from `state` to `config` of the attribute `x` beside an unchanged
/// `y`, null where there is no object.
fn replaced(attribute: Attribute, state: Option<Value>, config: Option<Value>) -> Vec<String> {
    let schema = SchemaBuilder::new().attribute("x", attribute).attribute("y", Attribute::string());
    let served = TestResource::new(schema).serve();
    let of = |x: Option<Value>| match x {
        Some(x) => served.object([("x", x), ("y", s("y"))]),
        None => served.null(),
    };
    served.planned(of(state), of(config)).1
}

#[test]
fn fw_06_a_changed_value_replaces_but_not_on_create_or_delete_or_without_change() {
    let attribute = || Attribute::string().modifier(requires_replace());
    assert_eq!(replaced(attribute(), Some(s("a")), Some(s("b"))), [".x"]);
    assert_eq!(replaced(attribute(), Some(s("a")), Some(Value::null(Type::String))), [".x"]);
    assert!(replaced(attribute(), Some(s("a")), Some(s("a"))).is_empty());
    // Creation and deletion have nothing to replace.
    assert!(replaced(attribute(), None, Some(s("b"))).is_empty());
    assert!(replaced(attribute(), Some(s("a")), None).is_empty());
}

#[test]
fn fw_07_the_provider_may_decide_whether_a_change_replaces() {
    let shrinks = || {
        Attribute::string().modifier(requires_replace_if("Shrinking needs a new object.", |request| {
            let length = |value: &Value| value.as_str().map_or(0, str::len);
            ReplaceDecision {
                requires_replace: length(request.plan) < length(request.state),
                diagnostics: ProviderDiagnostics::new(),
            }
        }))
    };
    assert_eq!(replaced(shrinks(), Some(s("aaa")), Some(s("a"))), [".x"]);
    assert!(replaced(shrinks(), Some(s("a")), Some(s("aaa"))).is_empty());
    // The condition panics when it is called, which proves that it is not.
    let never_asked =
        Attribute::string().modifier(requires_replace_if("Never.", |_| -> bool { panic!("nothing changes") }));
    assert!(replaced(never_asked, Some(s("a")), Some(s("a"))).is_empty());
}

#[test]
fn fw_08_only_a_configured_value_replaces() {
    let attribute = || Attribute::string().modifier(requires_replace_if_configured());
    assert_eq!(replaced(attribute(), Some(s("a")), Some(s("b"))), [".x"]);
    assert!(replaced(attribute(), Some(s("a")), Some(Value::null(Type::String))).is_empty());
    // A change that the provider makes itself is no reason for a replacement.
    let computed = || Attribute::string().optional_computed().modifier(requires_replace_if_configured());
    assert!(replaced(computed(), Some(s("a")), Some(Value::null(Type::String))).is_empty());
}

#[test]
fn fw_09_prior_value_replaces_an_unknown_one() {
    let schema = SchemaBuilder::new()
        .attribute("id", Attribute::string().computed().modifier(use_state_for_unknown()))
        .attribute("size", Attribute::string().optional_computed().use_state_for_unknown())
        .attribute("name", Attribute::string());
    let served = TestResource::new(schema).serve();
    let state = served.object([("id", s("1")), ("size", s("x")), ("name", s("a"))]);
    let (plan, _) = served.planned(state.clone(), served.object([("name", s("b"))]));
    assert_eq!((get(&plan, "id"), get(&plan, "size")), (s("1"), s("x")));
    let (plan, _) = served.planned(state.clone(), served.object([("name", s("b")), ("size", unknown())]));
    assert!(!get(&plan, "size").is_known(), "an unknown configuration decides, not the state");
    let (plan, _) = served.planned(state.clone(), served.object([("size", s("y"))]));
    assert_eq!(get(&plan, "size"), s("y"), "a known plan stays");
    let (plan, _) = served.planned(served.null(), served.object([]));
    assert!(!get(&plan, "id").is_known(), "no state, nothing to copy");
}

#[test]
fn fw_09_the_second_variant_does_not_copy_a_null_into_new_nested_objects() {
    let schema = |modifier: fn(Attribute) -> Attribute| {
        let inner = [("key", Attribute::string().required()), ("arn", modifier(Attribute::string().computed()))];
        SchemaBuilder::new().attribute("parts", Attribute::nested(ObjectNesting::Map, inner))
    };
    let part = |arn: Value| Value::object([("key", s("k")), ("arn", arn)]);
    let part_type = || Type::object([("arn", Type::String), ("key", Type::String)]);
    let arns = |modifier: fn(Attribute) -> Attribute| {
        let served = TestResource::new(schema(modifier)).serve();
        let parts = |parts: Vec<(&str, Value)>| served.object([("parts", Value::map(part_type(), parts))]);
        let null = || Value::null(Type::String);
        let state = parts(vec![("old", part(s("arn:1")))]);
        let config = parts(vec![("old", part(null())), ("new", part(null()))]);
        let (plan, _) = served.planned(state, config);
        let parts = get(&plan, "parts");
        let arn = |name: &str| get(parts.as_map().unwrap().get(name).unwrap(), "arn");
        (arn("old"), arn("new"))
    };
    let (old, new) = arns(|attribute| attribute.modifier(use_non_null_state_for_unknown()));
    assert_eq!(old, s("arn:1"));
    assert!(!new.is_known());
    let (_, new) = arns(|attribute| attribute.modifier(use_state_for_unknown()));
    assert!(new.is_null(), "the trap that the second variant is for");
}

#[test]
fn fw_14_set_elements_match_their_own_prior_state() {
    let inner =
        [("name", Attribute::string().required()), ("id", Attribute::string().computed().use_state_for_unknown())];
    let schema = SchemaBuilder::new().block("part", NestedBlock::new(Nesting::Set, inner));
    let served = TestResource::new(schema).serve();
    let ty = Type::object([("id", Type::String), ("name", Type::String)]);
    let part = |name: &str, id: Value| Value::object([("name", s(name)), ("id", id)]);
    let parts = |parts: Vec<Value>| served.object([("part", Value::set(ty.clone(), parts))]);
    let null = || Value::null(Type::String);
    let state = parts(vec![part("a", s("1")), part("b", s("2")), part("c", s("3"))]);
    // The first element is removed, and the others must not inherit its state.
    let (plan, _) = served.planned(state, parts(vec![part("b", null()), part("c", null()), part("d", null())]));
    let planned = get(&plan, "part");
    let id = |name: &str| {
        let found = planned.as_slice().unwrap().iter().find(|part| get(part, "name") == s(name));
        get(found.unwrap(), "id")
    };
    assert_eq!((id("b"), id("c")), (s("2"), s("3")));
}

#[test]
fn fw_14_list_elements_match_prior_state_by_position() {
    let log = Log::default();
    let seen = log.clone();
    let inner = [(
        "name",
        Attribute::string().required().modifier(modifier("looks", move |request, _| {
            let state = request.state.as_str().unwrap_or("-").to_owned();
            seen.lock().unwrap().push(format!("{}: {state}", request.path));
        })),
    )];
    let served =
        TestResource::new(SchemaBuilder::new().attribute("parts", Attribute::nested(ObjectNesting::List, inner)))
            .serve();
    let ty = Type::object([("name", Type::String)]);
    let parts = |names: &[&str]| {
        let parts = names.iter().map(|name| Value::object([("name", s(name))])).collect();
        served.object([("parts", Value::list(ty.clone(), parts))])
    };
    // The protocol matches lists by position, even if that pairs different elements.
    served.planned(parts(&["a", "b"]), parts(&["b", "c", "d"]));
    assert_eq!(*log.lock().unwrap(), [".parts[0].name: a", ".parts[1].name: b", ".parts[2].name: -"]);
}

#[test]
fn fw_14_ten_thousand_set_elements_are_planned_in_linear_time() {
    let inner = [
        ("name", Attribute::string().required()),
        ("id", Attribute::string().computed().modifier(use_non_null_state_for_unknown())),
        ("zone", Attribute::string().optional_computed().default(groma_framework::DefaultValue::of(s("z")))),
    ];
    let served = TestResource::new(SchemaBuilder::new().block("part", NestedBlock::new(Nesting::Set, inner))).serve();
    let ty = Type::object([("id", Type::String), ("name", Type::String), ("zone", Type::String)]);
    let part =
        |n: u32, id: Value, zone: Value| Value::object([("id", id), ("name", s(&format!("n{n}"))), ("zone", zone)]);
    let parts = |parts: Vec<Value>| served.object([("part", Value::set(ty.clone(), parts))]);
    let null = || Value::null(Type::String);
    let state = parts((0..10_000).map(|n| part(n, s(&format!("id{n}")), s("z"))).collect());
    // One element is removed, one added, and the order is reversed: nothing matches by position.
    let config = parts((1..10_001).rev().map(|n| part(n, null(), null())).collect());
    let started = std::time::Instant::now();
    let (plan, _) = served.planned(state, config);
    // In quadratic time this would take minutes.
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
    let open = get(&plan, "part").as_slice().unwrap().iter().filter(|part| !get(part, "id").is_known()).count();
    assert_eq!(open, 1, "all but the new one keep their ids");
}
