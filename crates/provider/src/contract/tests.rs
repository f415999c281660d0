use groma_value::{Kind, Path, Refinement, Type, Value};
use proptest::prelude::*;

use super::*;
use crate::proposed_new_state;
use crate::schema::{Attribute, Block, NestedBlock, Nesting, ObjectNesting, ObjectSchema, Use};
use crate::testing::{attributes, everything, object, objects, s, string, usual, usual_object, usual_type};

/// Returns locations and messages of violations.
fn texts(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(|found| format!("{}: {}", found.location(), found.message(Secrets::NONE))).collect()
}

fn planned(block: &Block, prior: Value, config: Value, planned: Value) -> Vec<String> {
    texts(&check_planned(block, &prior, &config, &planned))
}

fn list(objects: Vec<Value>) -> Value {
    Value::list(usual_type(), objects)
}

fn set(objects: Vec<Value>) -> Value {
    Value::set(usual_type(), objects)
}

fn map(objects: Vec<(&str, Value)>) -> Value {
    Value::map(usual_type(), objects)
}

fn unknown() -> Value {
    Value::unknown(Type::String)
}

/// Creates a usual object with unknown id and size.
fn open(name: &str) -> Value {
    object(&attributes(usual()), [("id", unknown()), ("name", s(name)), ("size", unknown())])
}

#[test]
fn lc_07_planned_value_must_equal_config_or_prior() {
    let block = attributes(usual());
    let prior = || usual_object("1", "old", "large");
    let config = || usual_object("", "new", "");
    assert!(planned(&block, prior(), config(), usual_object("1", "new", "large")).is_empty());
    assert!(planned(&block, prior(), config(), usual_object("1", "old", "large")).is_empty(), "insignificant change");
    assert_eq!(
        planned(&block, prior(), config(), usual_object("1", "NEW", "large")),
        [".name: the planned value \"NEW\" is neither the configured value \"new\" nor the prior value \"old\""]
    );
    assert_eq!(
        planned(&block, block.null_value(), config(), usual_object("", "NEW", "")),
        [".name: the planned value \"NEW\" is not the configured value \"new\""]
    );
}

#[test]
fn lc_07_configured_computed_attribute_must_equal_config() {
    let block = attributes(usual());
    let found = planned(&block, block.null_value(), usual_object("", "", "small"), usual_object("", "", "large"));
    assert_eq!(found, [".size: the planned value \"large\" is not the configured value \"small\""]);
}

#[test]
fn lc_07_unknown_for_a_configured_value_is_not_the_configured_value() {
    let block = attributes(usual());
    let made = object(&block, [("name", unknown())]);
    assert_eq!(planned(&block, block.null_value(), usual_object("", "a", ""), made).len(), 1);
}

#[test]
fn lc_07_wholly_unknown_object_violates_configured_attributes() {
    let attributes = [("id", Attribute::computed(Type::String)), ("name", Attribute::optional(Type::String))];
    let block = Block::new(attributes, [("part", NestedBlock::new(Nesting::List, Block::default()))]);
    let config = |name: Value| {
        let parts = Value::list(Block::default().implied_type().clone(), Vec::new());
        Value::object([("id", Value::null(Type::String)), ("name", name), ("part", parts)])
    };
    let open = || Value::unknown(block.implied_type().clone());
    let found = planned(&block, block.null_value(), config(Value::string("a")), open());
    assert_eq!(found.len(), 2, "the name, and how many blocks there are: {found:?}");
    assert!(found[0].contains("name") && found[1].contains("part"), "{found:?}");
    let id = Block::new([("id", Attribute::computed(Type::String))], Vec::<(&str, NestedBlock)>::new());
    let nothing = Value::object([("id", Value::null(Type::String))]);
    assert!(planned(&id, id.null_value(), nothing, Value::unknown(id.implied_type().clone())).is_empty());
}

#[test]
fn lc_07_refinements_of_unknown_config_are_ignored() {
    let block = attributes(usual());
    let config = object(&block, [("name", Value::refined(Type::String, Refinement::NOT_NULL))]);
    let made = object(&block, [("name", unknown())]);
    assert!(planned(&block, block.null_value(), config, made).is_empty());
}

#[test]
fn lc_08_only_computed_attributes_may_differ_from_null_config() {
    let block = attributes(usual());
    let config = || usual_object("", "", "");
    assert!(planned(&block, block.null_value(), config(), usual_object("x", "", "y")).is_empty());
    let made = object(&block, [("id", unknown()), ("size", unknown())]);
    assert!(planned(&block, block.null_value(), config(), made).is_empty());
    assert_eq!(
        planned(&block, usual_object("1", "was", ""), config(), usual_object("1", "was", "")),
        [".name: the value \"was\" is planned, but only the configuration can set this argument"]
    );
}

#[test]
fn lc_09_block_counts_and_keys_agree_with_the_configuration() {
    let block = everything();
    let null = || block.null_value();
    let one = || list(vec![usual_object("", "a", "")]);
    let with_list = |value: Value| object(&block, [("list", value)]);
    assert!(planned(&block, null(), with_list(one()), with_list(list(vec![open("a")]))).is_empty());
    assert_eq!(
        planned(&block, null(), with_list(one()), with_list(list(vec![open("a"), open("b")]))),
        [".list: the planned number 2 differs from the configured number 1"]
    );
    let null_list = with_list(Value::null(Type::list(usual_type())));
    assert_eq!(
        planned(&block, null(), with_list(one()), null_list),
        [".list: the blocks are null; without blocks the value must be an empty collection"]
    );
    let unknown_list = || with_list(Value::unknown(Type::list(usual_type())));
    assert_eq!(planned(&block, null(), with_list(one()), unknown_list()).len(), 1, "blocks never become unknown");
    assert_eq!(planned(&block, null(), unknown_list(), with_list(one())).len(), 1, "dynamic blocks stay unknown");
    assert!(planned(&block, null(), unknown_list(), unknown_list()).is_empty());
    let unknown_element = with_list(list(vec![Value::unknown(usual_type())]));
    assert_eq!(planned(&block, null(), with_list(one()), unknown_element).len(), 1, "no element is unknown as a whole");
    let with_map = |key: &str| object(&block, [("map", map(vec![(key, usual_object("", "a", ""))]))]);
    assert_eq!(
        planned(&block, null(), with_map("k"), with_map("j")),
        [
            ".map: the key \"j\" is planned, but not in the configuration",
            ".map: the key \"k\" is in the configuration, but not planned"
        ]
    );
    let single = object(&block, [("single", usual_object("1", "", ""))]);
    assert_eq!(
        planned(&block, null(), object(&block, []), single),
        [".single: planned to be present, but the configuration does not set it"]
    );
}

#[test]
fn lc_09_rules_hold_within_blocks() {
    let block = everything();
    let of = |name: &str, value: Value| {
        let slot: &'static str = match name {
            "list" => "list",
            "map" => "map",
            "n_list" => "n_list",
            "n_map" => "n_map",
            _ => "single",
        };
        object(&block, [(slot, value)])
    };
    let wrap = |name: &str, value: Value| match name {
        "list" | "n_list" => of(name, list(vec![value])),
        "map" | "n_map" => of(name, map(vec![("k", value)])),
        _ => of(name, value),
    };
    for (name, place) in [
        ("list", ".list[0].name"),
        ("map", ".map[\"k\"].name"),
        ("single", ".single.name"),
        ("n_list", ".n_list[0].name"),
        ("n_map", ".n_map[\"k\"].name"),
    ] {
        let found = planned(
            &block,
            block.null_value(),
            wrap(name, usual_object("", "a", "")),
            wrap(name, usual_object("", "b", "")),
        );
        assert_eq!(found, [format!("{place}: the planned value \"b\" is not the configured value \"a\"")]);
    }
}

#[test]
fn lc_09_set_elements_are_not_correlated_in_a_plan_but_counted_in_nested_attributes() {
    let block = everything();
    let with = |slot: &'static str, value: Value| object(&block, [(slot, value)]);
    let two = || set(vec![usual_object("", "a", ""), usual_object("", "b", "")]);
    let one = || set(vec![usual_object("", "z", "")]);
    let null = || block.null_value();
    assert!(planned(&block, null(), with("set", two()), with("set", one())).is_empty());
    assert_eq!(
        planned(&block, null(), with("n_set", two()), with("n_set", one())),
        [".n_set: the planned number 1 differs from the configured number 2"]
    );
    let coalescing = set(vec![open("a"), open("b")]);
    assert!(planned(&block, null(), with("n_set", one()), with("n_set", coalescing)).is_empty());
}

#[test]
fn lc_29_write_only_attributes_are_null_in_plans() {
    let block = attributes([("secret", string(Use::Optional).write_only())]);
    let config = object(&block, [("secret", s("x"))]);
    assert!(planned(&block, block.null_value(), config.clone(), object(&block, [])).is_empty());
    assert_eq!(
        texts(&check_write_only(&block, &config)),
        [".secret: a write-only attribute has a value; it must be null"]
    );
    assert!(check_write_only(&block, &object(&block, [])).is_empty());
}

#[test]
fn lc_01_wrong_types_are_reported_with_their_path() {
    let block = everything();
    let good = object(&block, [("list", list(vec![open("a")]))]);
    assert!(check_shape(block.implied_type(), &good).is_empty());
    assert!(check_shape(block.implied_type(), &block.null_value()).is_empty());
    let missing = Value::object([("id", s("1"))]);
    assert!(check_shape(block.implied_type(), &missing).len() > 5);
    let ty = Type::object([("a", Type::list(Type::object([("b", Type::Number)]))), ("any", Type::Dynamic)]);
    let wrong = Value::object([
        ("a", Value::list(Type::object([("b", Type::String)]), vec![Value::object([("b", s("x"))])])),
        ("any", s("whatever")),
        ("more", s("y")),
    ]);
    assert_eq!(
        texts(&check_shape(&ty, &wrong)),
        [".a[0].b: number is required, not string", ".more: the schema has no such attribute"]
    );
    let null_of_another_type = Value::object([("a", Value::null(Type::String)), ("any", Value::NULL)]);
    assert_eq!(check_shape(&ty, &null_of_another_type).len(), 1);
}

#[test]
fn lc_10_and_lc_12_known_values_stay_identical() {
    let block = attributes(usual());
    let changed = check_compatible(&block, &usual_object("1", "a", ""), &usual_object("1", "A", ""));
    assert_eq!(texts(&changed), [".name: was \"a\", but now \"A\""]);
    let vanished = check_compatible(&block, &usual_object("1", "a", ""), &usual_object("1", "", ""));
    assert_eq!(texts(&vanished), [".name: was \"a\", but now null"]);
    let appeared = check_compatible(&block, &usual_object("1", "", ""), &usual_object("1", "a", ""));
    assert_eq!(texts(&appeared), [".name: was null, but now \"a\""]);
    let unknown_now = object(&block, [("id", s("1")), ("name", unknown())]);
    assert_eq!(
        texts(&check_compatible(&block, &usual_object("1", "a", ""), &unknown_now)),
        [".name: was known, but now unknown"]
    );
}

#[test]
fn lc_11_and_lc_13_unknown_values_may_become_any_conforming_value() {
    let block = attributes([("id", string(Use::Computed)), ("any", Attribute::computed(Type::Dynamic))]);
    let promise = |id: Value| object(&block, [("id", id), ("any", Value::DYNAMIC)]);
    let result = |id: Value| object(&block, [("id", id), ("any", Value::number(1))]);
    assert!(check_compatible(&block, &promise(unknown()), &result(s("x"))).is_empty());
    assert!(check_compatible(&block, &promise(unknown()), &result(Value::null(Type::String))).is_empty());
    assert!(check_compatible(&block, &promise(unknown()), &promise(unknown())).is_empty(), "may stay unknown");
    let refined = || Value::refined(Type::String, Refinement::NOT_NULL.full_prefix("i-"));
    assert!(check_compatible(&block, &promise(refined()), &result(s("i-1"))).is_empty());
    for wrong in [s("x-1"), Value::null(Type::String)] {
        let found = check_compatible(&block, &promise(refined()), &result(wrong));
        assert!(
            matches!(found.as_slice(), [Violation { problem: Problem::OutsideRefinement { .. }, .. }]),
            "{found:?}"
        );
    }
}

#[test]
fn lc_12_elements_neither_vanish_nor_appear() {
    let block = attributes([
        ("list", Attribute::optional(Type::list(Type::String))),
        ("map", Attribute::optional(Type::map(Type::String))),
    ]);
    let of = |list: Vec<Value>, key: &str| {
        object(&block, [("list", Value::list(Type::String, list)), ("map", Value::map(Type::String, [(key, s("v"))]))])
    };
    let found = check_compatible(&block, &of(vec![s("a"), s("b")], "k"), &of(vec![s("a")], "j"));
    assert_eq!(
        texts(&found),
        [
            ".list: the element 1 has vanished",
            ".map: the element \"k\" has vanished",
            ".map: a new element \"j\" has appeared"
        ]
    );
}

#[test]
fn lc_12_a_dynamic_value_keeps_its_type() {
    let block = attributes([("any", Attribute::optional(Type::Dynamic))]);
    let of = |value: Value| object(&block, [("any", value)]);
    let found = check_compatible(&block, &of(s("1")), &of(Value::number(1)));
    assert_eq!(texts(&found), [".any: the planned type is string, but the actual type is number"]);
    // Unknown parts may get any type, in tuples and objects too.
    let planned = Value::tuple(vec![Value::DYNAMIC, s("b")]);
    assert!(check_compatible(&block, &of(planned), &of(Value::tuple(vec![Value::number(1), s("b")]))).is_empty());
}

#[test]
fn lc_12_sets_correlate_and_may_shrink_but_not_grow() {
    let block = everything();
    for slot in ["set", "n_set"] {
        let with = |value: Value| match slot {
            "set" => object(&block, [("set", value)]),
            _ => object(&block, [("n_set", value)]),
        };
        let check = |planned: Vec<Value>, actual: Vec<Value>| {
            texts(&check_compatible(&block, &with(set(planned)), &with(set(actual))))
        };
        assert!(
            check(vec![open("a"), open("b")], vec![usual_object("1", "b", "x"), usual_object("2", "a", "y")])
                .is_empty()
        );
        let coalesced = object(&attributes(usual()), [("id", unknown()), ("name", unknown())]);
        assert!(check(vec![open("a"), coalesced], vec![usual_object("1", "a", "")]).is_empty(), "{slot} may shrink");
        let grown = check(vec![open("a")], vec![usual_object("1", "a", ""), usual_object("2", "a", "")]);
        assert_eq!(grown, [format!(".{slot}: the number changed from 1 to 2")]);
        let problems = check(vec![usual_object("1", "a", "")], vec![usual_object("1", "b", "")]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("is not in the result"), "{problems:?}");
    }
}

#[test]
fn lc_12_blocks_keep_their_number() {
    let block = everything();
    let with = |value: Value| object(&block, [("list", value)]);
    let found = check_compatible(&block, &with(list(vec![open("a")])), &with(list(Vec::new())));
    assert_eq!(texts(&found), [".list: the number changed from 1 to 0"]);
    let unknown_blocks = with(Value::unknown(Type::list(usual_type())));
    assert!(check_compatible(&block, &unknown_blocks, &with(list(vec![open("a")]))).is_empty());
}

#[test]
fn lc_12_object_neither_vanishes_nor_appears() {
    let block = attributes(usual());
    let there = usual_object("1", "", "");
    assert_eq!(
        texts(&check_compatible(&block, &there, &block.null_value())),
        [": planned to be present, but now absent"]
    );
    assert_eq!(check_compatible(&block, &block.null_value(), &there).len(), 1);
    assert!(check_compatible(&block, &block.null_value(), &block.null_value()).is_empty());
}

#[test]
fn lc_13_unknown_values_are_found_at_every_depth() {
    let block = everything();
    let value = object(&block, [("list", list(vec![open("a")])), ("map", map(vec![("k", open("b"))]))]);
    assert_eq!(
        texts(&check_unknowns(&value)),
        [
            ".list[0].id: the value is still unknown",
            ".list[0].size: the value is still unknown",
            ".map[\"k\"].id: the value is still unknown",
            ".map[\"k\"].size: the value is still unknown"
        ]
    );
}

#[test]
fn lc_28_sensitive_values_are_not_shown() {
    let nested = Attribute::nested(
        ObjectSchema::new(ObjectNesting::Single, [("token", string(Use::Optional).sensitive())]),
        Use::Optional,
    );
    let block = attributes([
        ("password", string(Use::Optional).sensitive()),
        ("name", string(Use::Optional)),
        ("nested", nested),
    ]);
    let of = |password: &str, name: &str, token: &str| {
        let inner = Value::object([("token", s(token))]);
        object(&block, [("password", s(password)), ("name", s(name)), ("nested", inner)])
    };
    let found = check_planned(&block, &block.null_value(), &of("p1", "n1", "t1"), &of("p2", "n2", "t2"));
    let marked = [Path::root().attribute("name")];
    let messages: Vec<String> = found.iter().map(|found| found.message(Secrets::new(&block, &marked))).collect();
    assert_eq!(messages.len(), 3);
    for message in messages {
        assert!(message.contains("(sensitive value)"), "{message}");
        for secret in ["p1", "p2", "n1", "n2", "t1", "t2"] {
            assert!(!message.contains(secret), "{message}");
        }
    }
}

#[test]
fn lc_17_null_blocks_of_legacy_providers_become_empty() {
    let block = everything();
    let null = |ty: Type| Value::null(ty);
    let legacy = object(
        &block,
        [
            ("list", null(Type::list(usual_type()))),
            ("set", null(Type::set(usual_type()))),
            ("group", null(usual_type())),
            ("single", null(usual_type())),
        ],
    );
    assert_eq!(normalize_legacy(&block, &legacy), object(&block, []));
    let unknown_blocks = object(&block, [("list", Value::unknown(Type::list(usual_type())))]);
    let normalized = normalize_legacy(&block, &unknown_blocks);
    let element = normalized.attribute("list").unwrap().as_slice().unwrap()[0].clone();
    assert!(element.is_known() && !element.attribute("name").unwrap().is_known());
}

#[test]
fn a_set_of_ten_thousand_elements_is_compared_in_linear_time() {
    let block = everything();
    let count = 10_000;
    let planned = (0..count).map(|n| open(&format!("n{n}")));
    let actual = (0..count).rev().map(|n| usual_object(&format!("{n}"), &format!("n{n}"), "x"));
    let planned = object(&block, [("set", set(planned.collect()))]);
    let actual = object(&block, [("set", set(actual.collect()))]);
    let started = std::time::Instant::now();
    assert!(check_compatible(&block, &planned, &actual).is_empty());
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
}

/// Replaces the attributes in `value` that the configuration leaves to the provider with unknown.
fn opened(value: &Value) -> Value {
    value.transform(|path, value| match path.steps().last() {
        Some(groma_value::PathStep::Attribute(name)) if &**name == "id" && value.is_null() => unknown(),
        _ => value,
    })
}

/// The number of set elements.
fn set_sizes(value: &Value) -> Vec<usize> {
    let size = |name: &str| value.attribute(name).and_then(|set| set.as_slice().map(<[Value]>::len));
    ["set", "n_set"].iter().filter_map(|name| size(name)).collect()
}

proptest! {
    #[test]
    fn lc_07_law_the_proposed_new_state_is_a_valid_plan(prior in objects(true), config in objects(false)) {
        let block = everything();
        let proposed = proposed_new_state(&block, &prior, &config);
        // Two elements that differ only in computed attributes may become equal.
        prop_assume!(set_sizes(&proposed) == set_sizes(&config));
        prop_assert_eq!(planned(&block, prior, config, proposed), Vec::<String>::new());
    }

    #[test]
    fn lc_12_law_resolving_unknowns_is_compatible(prior in objects(true), config in objects(false)) {
        let block = everything();
        let promised = opened(&proposed_new_state(&block, &prior, &config));
        let filled = promised.transform(|_, value| match value.kind() {
            Kind::Unknown(_) => s("filled"),
            _ => value,
        });
        prop_assert_eq!(texts(&check_compatible(&block, &promised, &filled)), Vec::<String>::new());
    }

    #[test]
    fn lc_12_law_any_other_object_is_incompatible(planned in objects(true), actual in objects(true)) {
        let found = check_compatible(&everything(), &planned, &actual);
        prop_assert_eq!(found.is_empty(), planned == actual);
    }
}
