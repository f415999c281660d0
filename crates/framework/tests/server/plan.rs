//! The order of planning, defaults, unknown values, resource-level modification (FW-02, FW-03, FW-12, FW-13, FW-15,
//! FW-16, FW-17).

use std::sync::{Arc, Mutex};

use groma_framework::modifier::modifier;
use groma_framework::{
    Attribute, DefaultValue, ModifyPlanRequest, ModifyPlanResponse, NestedBlock, Nesting, ObjectNesting,
    ProviderDiagnostic, SchemaBuilder,
};
use groma_value::{Path, Type, Value};

use crate::support::{TestResource, get, s, texts, unknown};

fn base() -> SchemaBuilder {
    SchemaBuilder::new()
        .attribute("id", Attribute::string().computed())
        .attribute("name", Attribute::string())
        .attribute("size", Attribute::string().optional_computed())
}

#[test]
fn fw_02_defaults_then_unknowns_then_modifiers_then_the_resource() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (of_attribute, of_resource) = (seen.clone(), seen.clone());
    let schema = base().attribute(
        "region",
        Attribute::string().optional_computed().default(DefaultValue::of(s("here"))).modifier(modifier(
            "looks",
            move |request, _| {
                let whole = request.whole.plan;
                let id = get(whole, "id").is_known();
                of_attribute.lock().unwrap().push(format!("{} id known: {id}", request.plan.as_str().unwrap()));
            },
        )),
    );
    let served = TestResource::new(schema)
        .modifying(move |request| {
            let region = get(&request.plan, "region");
            of_resource.lock().unwrap().push(format!("resource sees {}", region.as_str().unwrap()));
            request.unchanged()
        })
        .serve();
    let (plan, _) = served.planned(served.null(), served.object([("name", s("a"))]));
    // The modifier sees the default, and computed values are unknown by then.
    assert_eq!(*seen.lock().unwrap(), ["here id known: false", "resource sees here"]);
    assert_eq!(get(&plan, "region"), s("here"));
    assert!(!get(&plan, "id").is_known() && !get(&plan, "size").is_known());
}

#[test]
fn fw_02_configured_values_do_not_become_unknown() {
    let served = TestResource::new(base()).serve();
    let state = served.object([("id", s("1")), ("name", s("a")), ("size", s("x"))]);
    let (plan, _) = served.planned(state.clone(), served.object([("name", s("b")), ("size", s("x"))]));
    assert_eq!((get(&plan, "name"), get(&plan, "size")), (s("b"), s("x")));
    assert_eq!(get(&plan, "id"), unknown());
}

#[test]
fn fw_03_nothing_becomes_unknown_when_nothing_differs() {
    let served = TestResource::new(base()).serve();
    let state = served.object([("id", s("1")), ("name", s("a")), ("size", s("x"))]);
    // "id" and "size" are computed, but with no other change they keep their values.
    assert_eq!(served.planned(state.clone(), served.object([("name", s("a"))])).0, state);
}

#[test]
fn fw_03_and_fw_13_plan_of_a_deletion_is_not_modified() {
    let asked = Arc::new(Mutex::new(0));
    let counter = asked.clone();
    let schema = base().attribute(
        "looked",
        Attribute::string().modifier(modifier("must not run", |_, response| response.requires_replace = true)),
    );
    let served = TestResource::new(schema)
        .modifying(move |request| {
            assert!(request.plan.is_null() && request.config.is_null() && !request.state.is_null());
            *counter.lock().unwrap() += 1;
            request.unchanged()
        })
        .serve();
    let (plan, replace) = served.planned(served.object([("id", s("1"))]), served.null());
    assert!(plan.is_null() && replace.is_empty());
    assert_eq!(*asked.lock().unwrap(), 1, "the resource can still warn about it");
}

#[test]
fn fw_13_the_plan_of_a_deletion_must_stay_null() {
    let served = TestResource::new(base())
        .modifying(|request| ModifyPlanResponse { plan: request.state.clone(), ..request.unchanged() })
        .serve();
    let response = served.plan(served.object([("id", s("1"))]), served.null());
    assert_eq!(texts(&response.diagnostics), ["Plan of a deletion must stay null "]);
}

#[test]
fn fw_13_creation_is_recognized_by_its_null_state() {
    let served = TestResource::new(base())
        .modifying(|request: ModifyPlanRequest| {
            assert!(request.state.is_null() && !request.plan.is_null());
            request.unchanged()
        })
        .serve();
    served.planned(served.null(), served.object([]));
}

#[test]
fn fw_12_the_resource_may_change_the_plan_ask_for_a_new_object_and_warn() {
    let served =
        TestResource::new(base())
            .modifying(|request| {
                let attributes =
                    request.plan.as_object().unwrap().iter().map(|(name, value)| {
                        (name.clone(), if &**name == "size" { s("chosen") } else { value.clone() })
                    });
                let plan = Value::object(attributes.collect::<Vec<_>>());
                let mut response = ModifyPlanResponse { plan, ..request.unchanged() };
                response.requires_replace.push(Path::root().attribute("name"));
                // Private data of the plan must reach the update.
                response.private.set("token", "t-1");
                response.diagnostics.push(ProviderDiagnostic::warning("Careful", "It is new."));
                response
            })
            .serve();
    let state = served.object([("id", s("1")), ("name", s("a"))]);
    let config = served.object([("name", s("b"))]);
    let response = served.plan(state.clone(), config.clone());
    assert_eq!(texts(&response.diagnostics), ["Careful "]);
    assert_eq!(get(&response.planned_state, "size"), s("chosen"));
    assert_eq!(response.requires_replace, [Path::root().attribute("name")]);
    served.apply(state, response.planned_state, config, response.planned_private);
    assert_eq!(
        *served.resource.seen.lock().unwrap(),
        ["update id,name,size t-1"],
        "what the plan kept is there at apply"
    );
}

#[test]
fn fw_15_a_plan_that_breaks_the_rules_names_the_modifier() {
    let schema = base().attribute(
        "mode",
        // A configured value must be planned as it is (LC-07), so this modifier is wrong.
        Attribute::string().modifier(modifier("Brings the mode to lower case.", |request, response| {
            if let Some(text) = request.plan.as_str() {
                response.plan = s(&text.to_lowercase());
            }
        })),
    );
    let served = TestResource::new(schema).serve();
    let response = served.plan(served.null(), served.object([("mode", s("FAST"))]));
    assert_eq!(texts(&response.diagnostics), ["Inconsistent plan from provider code .mode"]);
    let detail = &response.diagnostics.iter().next().unwrap().detail;
    for part in ["test_thing.mode", "\"fast\"", "\"FAST\"", "Brings the mode to lower case."] {
        assert!(detail.contains(part), "{part} in {detail}");
    }
}

#[test]
fn fw_16_defaults_fill_omitted_arguments() {
    let nested = Attribute::nested(
        ObjectNesting::List,
        [
            ("port", Attribute::number().required()),
            ("protocol", Attribute::string().optional_computed().default(DefaultValue::of(s("tcp")))),
        ],
    );
    let computed = DefaultValue::computed(|request| {
        Ok(match get(request.config, "name").as_str() {
            Some(name) => s(&format!("{name}.example")),
            None => unknown(),
        })
    });
    let schema = base()
        .attribute("host", Attribute::string().optional_computed().default(computed))
        .attribute("rules", nested)
        .block(
            "zone",
            NestedBlock::new(
                Nesting::Set,
                [
                    ("name", Attribute::string().required()),
                    ("weight", Attribute::number().optional_computed().default(DefaultValue::of(Value::number(5)))),
                ],
            ),
        );
    let served = TestResource::new(schema).serve();
    let rule = |protocol: Value| Value::object([("port", Value::number(80)), ("protocol", protocol)]);
    let rule_type = Type::object([("port", Type::Number), ("protocol", Type::String)]);
    let zone = |name: &str, weight: Value| Value::object([("name", s(name)), ("weight", weight)]);
    let zone_type = Type::object([("name", Type::String), ("weight", Type::Number)]);
    let null = || Value::null(Type::String);
    let config = served.object([
        ("name", s("web")),
        ("rules", Value::list(rule_type, vec![rule(null()), rule(s("udp"))])),
        (
            "zone",
            Value::set(zone_type.clone(), vec![zone("b", Value::null(Type::Number)), zone("a", Value::number(1))]),
        ),
    ]);
    let (plan, _) = served.planned(served.null(), config);
    assert_eq!(get(&plan, "host"), s("web.example"));
    let rules = get(&plan, "rules");
    let protocols: Vec<Value> = rules.as_slice().unwrap().iter().map(|rule| get(rule, "protocol")).collect();
    assert_eq!(protocols, [s("tcp"), s("udp")]);
    let zones = Value::set(zone_type, vec![zone("a", Value::number(1)), zone("b", Value::number(5))]);
    assert_eq!(get(&plan, "zone"), zones);
    let unnamed = served.planned(served.null(), served.object([])).0;
    assert!(!get(&unnamed, "host").is_known(), "a default may not be known yet");
}

#[test]
fn fw_16_a_default_is_no_change() {
    let schema =
        base().attribute("region", Attribute::string().optional_computed().default(DefaultValue::of(s("here"))));
    let served = TestResource::new(schema).serve();
    let state = served.object([("id", s("1")), ("region", s("here")), ("size", s("x"))]);
    assert_eq!(served.planned(state.clone(), served.object([])).0, state);
    // The object differs from the default, so the plan changes it back.
    let drifted = served.object([("id", s("1")), ("region", s("there")), ("size", s("x"))]);
    assert_eq!(get(&served.planned(drifted, served.object([])).0, "region"), s("here"));
}

#[test]
fn fw_17_semantically_equal_values_keep_their_prior_form() {
    let same_case = |a: &Value, b: &Value| match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => false,
    };
    let schema = base().attribute("policy", Attribute::string().semantic_equality(same_case));
    let served = TestResource::new(schema)
        .reading(|request| {
            let attributes = request.state.as_object().unwrap().iter().map(|(name, value)| {
                let value = if &**name == "policy" { s("ALLOW") } else { value.clone() };
                (name.clone(), value)
            });
            let state = Value::object(attributes.collect::<Vec<_>>());
            groma_framework::ObjectResponse::found(state, request.private)
        })
        .changing(|_, plan, _| {
            let attributes = crate::support::made(plan);
            let attributes = attributes.as_object().unwrap();
            let changed = attributes
                .iter()
                .map(|(name, value)| (name.clone(), if &**name == "policy" { s("ALLOW") } else { value.clone() }));
            let state = Value::object(changed.collect::<Vec<_>>());
            groma_framework::ObjectResponse::found(state, groma_framework::PrivateData::new())
        })
        .serve();
    let state = served.object([("id", s("1")), ("policy", s("Allow")), ("size", s("x"))]);
    let (plan, _) = served.planned(state.clone(), served.object([("policy", s("allow"))]));
    assert_eq!(plan, state, "nothing changes, so nothing becomes unknown either");
    // On create there is no prior form; the planned one is the author's.
    let plan = served.object([("id", unknown()), ("policy", s("allow"))]);
    let applied =
        served.apply(served.null(), plan, served.object([("policy", s("allow"))]), groma_provider::Private::default());
    assert!(applied.diagnostics.is_empty(), "{:?}", applied.diagnostics);
    assert_eq!(get(&applied.new_state.unwrap(), "policy"), s("allow"), "the author's form, not the service's");
    let request = groma_provider::ReadRequest {
        type_name: "test_thing".into(),
        current_state: state.clone(),
        ..groma_provider::ReadRequest::default()
    };
    let read = groma_provider::Provider::read_resource(&served.server, request).now().unwrap();
    assert_eq!(read.new_state, state);
}

#[test]
fn fw_14_ten_thousand_set_elements_take_no_quadratic_time() {
    use groma_framework::NestedBlock;
    use groma_provider::Nesting;
    let attributes =
        [("name", Attribute::string().required()), ("number", Attribute::string().computed().use_state_for_unknown())];
    let schema = SchemaBuilder::new()
        .attribute("size", Attribute::string().optional())
        .block("member", NestedBlock::new(Nesting::Set, attributes));
    let served = TestResource::new(schema).serve();
    let members = |numbers: std::ops::Range<u32>, made: bool| {
        let each = numbers.map(|number| {
            let chosen = if made { s(&format!("n{number}")) } else { Value::null(Type::String) };
            Value::object([("name", s(&format!("m{number}"))), ("number", chosen)])
        });
        let each: Vec<_> = each.collect();
        Value::set(each[0].ty(), each)
    };
    // The limit follows from the time for a few, because the machine may be slow and busy.
    let took = |count: u32| {
        let state = served.object([("member", members(0..count, true))]);
        let config = served.object([("member", members(1..count + 1, false)), ("size", s("b"))]);
        let start = std::time::Instant::now();
        let (plan, _) = served.planned(state, config);
        assert_eq!(get(&plan, "member").held_length(), Some(count as usize));
        start.elapsed()
    };
    took(100);
    let few = (0..3).map(|_| took(1_000)).min().unwrap();
    let many = (0..3).map(|_| took(10_000)).min().unwrap();
    // Ten times the elements may take more than ten times as long, but not a hundred times.
    assert!(many < few * 40, "1,000 elements took {few:?}, 10,000 {many:?}");
}
