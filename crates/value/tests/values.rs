//! What values are like: marks, unknowns, refinements, sets, equality, operations.

mod common;

use common::{Content, refinements, typed_values, types, values};
use groma_address::{DeprecationOrigin, ModulePath};
use groma_value::operations::{self, TemplateBuilder};
use groma_value::{
    Bound, Deprecation, IndexError, Kind, Length, Marks, Number, ObjectType, Path, Range, Refinement, RefinementError,
    Shape, Type, Value,
};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

fn secret(value: Value) -> Value {
    value.with_marks(&Marks::SENSITIVE)
}

fn texts(value: &Value) -> Vec<String> {
    value.elements().map(|(_, element)| format!("{element:?}")).collect()
}

fn unknown_bool() -> Value {
    Value::refined(Type::Bool, Refinement::NOT_NULL)
}

#[test]
fn values_are_small() {
    assert!(size_of::<Value>() <= 24);
    assert!(size_of::<Option<Value>>() <= 24);
}

#[test]
fn strings_and_names_are_normalized_to_nfc() {
    assert_eq!(Value::string("e\u{301}"), Value::string("é"));
    assert_eq!(Value::object([("e\u{301}", Value::TRUE)]).attribute("é"), Some(Value::TRUE));
}

#[test]
fn untyped_elements_take_element_type() {
    let list = Value::list(Type::String, vec![Value::NULL, Value::DYNAMIC, secret(Value::NULL)]);
    assert_eq!(
        list.as_slice(),
        Some(&[Value::null(Type::String), Value::unknown(Type::String), secret(Value::null(Type::String))][..])
    );
}

#[test]
fn objects_of_one_schema_share_shape_and_type() {
    let ty = Arc::new(ObjectType::new([("b", Type::Number), ("a", Type::String)]));
    let make = || Value::object_typed(&ty, vec![Value::string("x"), Value::number(1)]);
    let object = make();
    assert_eq!(object.attribute("b"), Some(Value::number(1)));
    assert!(matches!(object.ty(), Type::Object(own) if Arc::ptr_eq(&own, &ty)));
    assert_eq!(object, make());
    // Of another type after all.
    let other = Value::object_typed(&ty, vec![Value::string("x"), Value::string("1")]);
    assert_eq!(other.ty(), Type::object([("a", Type::String), ("b", Type::String)]));
    // Too few values are nulls.
    let shape = Arc::new(Shape::new(["a", "b"]));
    assert_eq!(Value::object_shaped(&shape, vec![]).attribute("b"), Some(Value::NULL));
}

#[test]
fn sensitive_mark_propagates() {
    let object = secret(Value::object([("a", Value::number(1))]));
    assert_eq!(object.attribute("a"), Some(secret(Value::number(1))));
    assert_eq!(object.attribute("b"), None);
    let list = Value::list(Type::Number, vec![Value::number(1)]);
    assert_eq!(list.element(&secret(Value::number(0))), Ok(secret(Value::number(1))));
    let sum = operations::add(&secret(Value::number(1)), &Value::number(2)).expect("a sum");
    assert_eq!(sum, secret(Value::number(3)));
    let mut template = TemplateBuilder::default();
    template.push_str("a-");
    template.push(&secret(Value::number(1))).expect("it has a text");
    assert_eq!(template.finish(), secret(Value::string("a-1")));
}

#[test]
fn debug_output_redacts_sensitive_values() {
    let value = Value::object([("a", secret(Value::string("s3cret")))]);
    assert!(!format!("{value:?}").contains("s3cret"));
}

#[test]
fn marks_inside_set_move_to_set() {
    let set = Value::set(Type::String, vec![secret(Value::string("a")), Value::string("a")]);
    assert_eq!(set, secret(Value::set(Type::String, vec![Value::string("a")])));
}

#[test]
fn unmark_and_mark_paths_round_trip() {
    let value = Value::object([
        ("a", Value::list(Type::String, vec![Value::string("x"), secret(Value::string("y"))])),
        ("b", Value::map(Type::Bool, [("k", Value::TRUE.with_marks(&Marks::EPHEMERAL))])),
    ]);
    assert!(value.has_marks());
    assert_eq!(value.deep_marks(), Marks::SENSITIVE.union(&Marks::EPHEMERAL));
    let (bare, marks) = value.unmark_deep();
    assert!(!bare.has_marks());
    let paths: Vec<String> = marks.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(paths, [".a[1]", ".b[\"k\"]"]);
    assert_eq!(bare.mark_paths(&marks), value);
}

#[test]
fn marks_for_missing_paths_move_to_closest_parent() {
    let gone = vec![(Path::root().attribute("a").position(7), Marks::SENSITIVE)];
    let marked = Value::object([("a", Value::list(Type::String, vec![]))]).mark_paths(&gone);
    assert_eq!(marked, Value::object([("a", secret(Value::list(Type::String, vec![])))]));
    let marked = Value::object([("a", Value::unknown(Type::list(Type::String)))]).mark_paths(&gone);
    assert_eq!(marked, Value::object([("a", secret(Value::unknown(Type::list(Type::String))))]));
}

#[test]
fn deprecations_are_collected() {
    let origin = DeprecationOrigin::Output { module: ModulePath::from_names(["m".into()]), name: "old".into() };
    let old = |message: &str| Marks::deprecated(Deprecation { message: message.into(), origin: origin.clone() });
    let marks = old("use b").union(&old("use c")).union(&Marks::SENSITIVE);
    let messages: Vec<&str> = marks.deprecations().map(|deprecation| &*deprecation.message).collect();
    assert_eq!(messages, ["use b", "use c"]);
    assert_eq!(marks.without_deprecations(), Marks::SENSITIVE);
    let inner = Value::string("x").with_marks(&old("use b"));
    let around = Value::tuple(vec![inner.clone()]).with_marks(&marks);
    assert_eq!(around.clone().without_own_deprecations(), secret(Value::tuple(vec![inner])));
    assert_eq!(around.without_deprecations(), secret(Value::tuple(vec![Value::string("x")])));
    assert!(marks.contains(&Marks::SENSITIVE) && !Marks::SENSITIVE.contains(&marks));
    assert_eq!(marks.without(&Marks::SENSITIVE).without(&old("use b")), old("use c"));
}

#[test]
fn sets_of_primitives_are_sorted_by_value() {
    let numbers = ["10", "-1", "2.5", "9"].map(|text| Value::number(Number::parse(text).expect("a number")));
    assert_eq!(texts(&Value::set(Type::Number, numbers.to_vec())), ["-1", "2.5", "9", "10"]);
    let set = Value::set(
        Type::String,
        vec![Value::NULL, Value::DYNAMIC, Value::string("b"), Value::string("a"), Value::string("b")],
    );
    assert_eq!(texts(&set), ["\"a\"", "\"b\"", "unknown(string)", "null(string)"]);
    assert_eq!(texts(&Value::set(Type::Bool, vec![Value::TRUE, Value::FALSE])), ["false", "true"]);
}

#[test]
fn sets_of_objects_have_terraforms_order() {
    let object = |n: &str, t: &str| {
        Value::object([("n", Value::number(Number::parse(n).expect("a number"))), ("t", Value::string(t))])
    };
    let given = [object("10", "a"), object("9", "b"), object("12345678901", "c"), object("9", "\n"), object("-1", "z")];
    let set = Value::set(given[0].ty(), given.to_vec());
    // By the text of the content: <-1;…> <10;…> <1.23456789e+10;…> <9;"\n";…> <9;"b";…>
    let order: Vec<Value> = set.elements().map(|(_, element)| element).collect();
    let expected = ["-1", "12345678901", "10", "9", "9"];
    let got: Vec<String> =
        order.iter().map(|object| object.attribute("n").map(|n| format!("{n:?}")).unwrap_or_default()).collect();
    assert_eq!(got, expected);
    assert_eq!(order[3].attribute("t"), Some(Value::string("\n")));
}

#[test]
fn equal_sets_have_the_same_element_order() {
    let object = |n: &str| Value::object([("n", Value::number(Number::parse(n).expect("a number")))]);
    // Ten digits of a number count for the order.
    let (a, b) = (object("12345678901234567890"), object("12345678901234567891"));
    let one = Value::set(a.ty(), vec![a.clone(), b.clone()]);
    assert_eq!(one, Value::set(a.ty(), vec![b, a]));
}

#[test]
fn deeply_nested_values_do_not_overflow_the_stack() {
    let depth = 500;
    let text = format!("{}1{}", "[{\"a\":".repeat(depth / 2), "}]".repeat(depth / 2));
    let value = groma_value::json::decode(text.as_bytes()).expect("not too deep");
    assert_eq!(groma_value::json::encode(&value).expect("it can be written"), text);
    assert_eq!(value.equals(&value.transform(|_, value| value)), Value::TRUE);
    assert_eq!(Value::set(value.ty(), vec![value.clone(), value.clone()]).held_length(), Some(1));
    let list =
        groma_value::convert::convert(&Value::tuple(vec![value.clone(), Value::TRUE]), &Type::list(Type::Dynamic));
    assert!(list.is_err());
    assert!(Type::from_json(value.ty().to_json().as_bytes()) == Ok(value.ty()));
    let unknown = value.transform(|_, value| if value == Value::number(1) { Value::DYNAMIC } else { value });
    assert_eq!(unknown.equals(&value), unknown_bool());
    assert_eq!(unknown.with_marks(&Marks::SENSITIVE).equals(&value), secret(unknown_bool()));
}

#[test]
fn set_with_unknowns_has_unknown_length() {
    let set = Value::set(Type::Number, vec![Value::number(1), Value::unknown(Type::Number)]);
    let Some(Length::Unknown(length)) = set.length() else { panic!("known: {:?}", set.length()) };
    let range = length.range();
    assert_eq!(range.refinement.lower(), Some(&Bound::inclusive(1)));
    assert_eq!(range.refinement.upper(), Some(&Bound::inclusive(2)));
    assert_eq!(Value::set(Type::Number, vec![Value::unknown(Type::Number)]).length(), Some(Length::Known(1)));
}

#[test]
fn unknown_set_elements_are_not_merged() {
    for others in [0, 20] {
        let mut elements: Vec<Value> = (0..others).map(Value::number).collect();
        elements.extend([Value::unknown(Type::Number), Value::unknown(Type::Number)]);
        assert_eq!(Value::set(Type::Number, elements).held_length(), Some(others as usize + 2));
    }
}

#[test]
fn set_membership_is_unknown_with_unknown_elements() {
    let set = Value::set(Type::String, vec![Value::string("a"), Value::unknown(Type::String)]);
    assert_eq!(set.has_element(&Value::string("a")), Some(Value::TRUE));
    assert_eq!(set.has_element(&Value::string("b")), Some(unknown_bool()));
    assert_eq!(set.has_element(&Value::number(1)), Some(Value::FALSE));
    assert_eq!(Value::TRUE.has_element(&Value::TRUE), None);
    let known = Value::set(Type::String, ["c", "a", "b"].map(Value::string).to_vec());
    assert_eq!(known.has_element(&Value::string("b")), Some(Value::TRUE));
    assert_eq!(known.has_element(&secret(Value::string("x"))), Some(secret(Value::FALSE)));
}

#[test]
fn large_sets_are_built_in_linear_time() {
    let start = std::time::Instant::now();
    let objects: Vec<Value> =
        (0..60_000).map(|at| Value::object([("id", Value::number(at % 30_000)), ("t", Value::string("x"))])).collect();
    let set = Value::set(objects[0].ty(), objects);
    assert_eq!(set.held_length(), Some(30_000));
    assert_eq!(set.equals(&set.clone()), Value::TRUE);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn invalid_indices_have_specific_errors() {
    let list = Value::list(Type::Number, vec![Value::number(1)]);
    let number = |text: &str| Value::number(Number::parse(text).expect("a number"));
    assert_eq!(list.element(&number("1")), Err(IndexError::Missing));
    assert_eq!(list.element(&number("-1")), Err(IndexError::Negative));
    assert_eq!(list.element(&number("0.5")), Err(IndexError::Fractional));
    assert_eq!(list.element(&number("1e100")), Err(IndexError::Missing));
    assert_eq!(list.element(&Value::string("x")), Err(IndexError::WrongKey(Type::Number)));
    assert_eq!(list.element(&Value::NULL), Err(IndexError::NullKey));
    assert_eq!(list.element(&Value::DYNAMIC), Ok(Value::unknown(Type::Number)));
    assert_eq!(Value::null(list.ty()).element(&number("0")), Err(IndexError::NullCollection));
    assert_eq!(Value::TRUE.element(&number("0")), Err(IndexError::NotIndexable));
    assert_eq!(Value::unknown(list.ty()).element(&number("9")), Ok(Value::unknown(Type::Number)));
    let tuple = Value::unknown(Type::tuple([Type::Bool]));
    assert_eq!(tuple.element(&number("0")), Ok(Value::unknown(Type::Bool)));
    assert_eq!(tuple.element(&number("1")), Err(IndexError::Missing));
    let map = Value::map(Type::Bool, [("k", Value::TRUE)]);
    assert_eq!(map.element(&Value::string("k")), Ok(Value::TRUE));
    assert_eq!(map.element(&Value::string("l")), Err(IndexError::Missing));
}

#[test]
fn equality_is_unknown_if_it_depends_on_unknowns() {
    let unknown = Value::unknown(Type::String);
    assert_eq!(Value::string("a").equals(&unknown), unknown_bool());
    assert_eq!(Value::number(1).equals(&Value::string("1")), Value::FALSE);
    assert_eq!(Value::null(Type::Bool).equals(&Value::null(Type::String)), Value::TRUE);
    assert_eq!(Value::NULL.equals(&unknown), unknown_bool());
    assert_eq!(Value::NULL.equals(&unknown.not_null()), Value::FALSE);
    let prefixed = unknown.refine(Refinement::NOT_NULL.full_prefix("arn:"));
    assert_eq!(prefixed.equals(&Value::string("http")), Value::FALSE);
    assert_eq!(prefixed.equals(&Value::string("arn:x")), unknown_bool());
    let list = |values: &[Value]| Value::list(Type::String, values.to_vec());
    assert_eq!(list(std::slice::from_ref(&unknown)).equals(&list(&[])), Value::FALSE);
    assert_eq!(
        list(&[Value::string("a"), unknown.clone()]).equals(&list(&[Value::string("b"), unknown])),
        Value::FALSE
    );
}

#[test]
fn comparison_with_null_ignores_nested_marks() {
    let object = Value::object([("a", secret(Value::number(1)))]);
    assert_eq!(object.equals(&Value::NULL), Value::FALSE);
    assert_eq!(object.equals(&object), secret(Value::TRUE));
    assert_eq!(secret(Value::NULL).equals(&Value::TRUE), secret(Value::FALSE));
}

#[test]
fn logical_operators_short_circuit_unknowns() {
    let unknown = Value::unknown(Type::Bool);
    assert_eq!(operations::and(&unknown, &Value::FALSE), Ok(Value::FALSE));
    assert_eq!(operations::or(&Value::TRUE, &unknown), Ok(Value::TRUE));
    assert_eq!(operations::and(&unknown, &Value::TRUE), Ok(unknown_bool()));
    assert_eq!(operations::not(&unknown), Ok(unknown_bool()));
    assert!(operations::not(&Value::null(Type::Bool)).is_err());
}

#[test]
fn bounds_decide_comparisons_but_not_arithmetic() {
    let between = |low: i64, high: i64| {
        let range = Refinement::NOT_NULL.lower_bound(Bound::inclusive(low)).upper_bound(Bound::inclusive(high));
        Value::refined(Type::Number, range)
    };
    let open = Value::unknown(Type::Number).not_null();
    assert_eq!(operations::add(&between(1, 2), &Value::number(3)), Ok(open.clone()));
    assert_eq!(operations::subtract(&between(1, 2), &between(1, 5)), Ok(open.clone()));
    assert_eq!(operations::multiply(&between(-2, 3), &Value::number(-2)), Ok(open.clone()));
    assert_eq!(operations::less_than(&between(1, 2), &Value::number(3)), Ok(Value::TRUE));
    assert_eq!(operations::greater_than(&between(1, 2), &Value::number(2)), Ok(unknown_bool()));
    assert_eq!(operations::less_than(&between(1, 2), &Value::number(2)), Ok(unknown_bool()));
    assert_eq!(operations::less_than(&between(2, 3), &Value::number(2)), Ok(unknown_bool()));
    assert_eq!(operations::less_than_or_equal(&between(2, 3), &Value::number(1)), Ok(Value::FALSE));
    assert_eq!(operations::add(&Value::unknown(Type::Number), &Value::number(1)), Ok(open.clone()));
    assert_eq!(operations::add(&Value::DYNAMIC, &Value::number(1)), Ok(open));
}

#[test]
fn templates_with_unknowns_have_known_prefix() {
    let mut template = TemplateBuilder::default();
    template.push_str("arn:aws:s3:::");
    template.push(&Value::unknown(Type::String)).expect("unknown is fine");
    template.push_str("-logs");
    let expected = Value::refined(Type::String, Refinement::NOT_NULL.full_prefix("arn:aws:s3:::"));
    assert_eq!(template.finish(), expected);
    let mut template = TemplateBuilder::default();
    assert!(template.push(&Value::NULL).is_err());
    assert!(template.push(&Value::tuple(vec![])).is_err());
    assert_eq!(template.finish(), Value::refined(Type::String, Refinement::NOT_NULL));
}

#[test]
fn prefix_is_shortened_to_safe_boundary() {
    for (given, kept) in [("abc", "ab"), ("abc-", "abc-"), ("", ""), ("a", ""), ("x/e\u{301}", "x/"), ("a😀", "a")] {
        assert_eq!(Refinement::NONE.prefix(given).known_prefix(), kept, "{given:?}");
    }
}

#[test]
fn refinement_to_single_value_is_known() {
    let only = Refinement::NOT_NULL.lower_bound(Bound::inclusive(2)).upper_bound(Bound::inclusive(2));
    assert_eq!(Value::refined(Type::Number, only.clone()), Value::number(2));
    let empty = Refinement::NOT_NULL.maximum_length(0);
    assert_eq!(Value::refined(Type::map(Type::Bool), empty.clone()), Value::map::<&str>(Type::Bool, []));
    assert_eq!(Value::refined(Type::set(Type::Bool), empty), Value::set(Type::Bool, vec![]));
    // It could yet be null.
    let mut nullable = Refinement::NONE;
    nullable = nullable.lower_bound(Bound::inclusive(2)).upper_bound(Bound::inclusive(2));
    assert!(!Value::refined(Type::Number, nullable).is_known());
    assert!(matches!(Value::refined(Type::Dynamic, only).kind(), Kind::Unknown(refinement) if refinement.is_empty()));
}

#[test]
fn contradictory_refinements_are_detected() {
    let positive = Refinement::NOT_NULL.lower_bound(Bound::exclusive(0));
    assert_eq!(Value::number(0).try_refine(&positive), Err(RefinementError));
    assert_eq!(Value::number(1).try_refine(&positive), Ok(Value::number(1)));
    assert_eq!(Value::NULL.try_refine(&Refinement::NOT_NULL), Err(RefinementError));
    let negative = Refinement::NONE.upper_bound(Bound::inclusive(-1));
    assert_eq!(Value::refined(Type::Number, positive.clone()).try_refine(&negative), Err(RefinementError));
    let prefixed = Value::refined(Type::String, Refinement::NONE.full_prefix("ab"));
    assert_eq!(prefixed.try_refine(&Refinement::NONE.full_prefix("ac")), Err(RefinementError));
    assert_eq!(prefixed.refine(Refinement::NONE.full_prefix("ac")), prefixed);
}

#[test]
fn transform_is_post_order() {
    let value = Value::object([("a", Value::list(Type::Number, vec![Value::number(1), Value::number(2)]))]);
    let mut paths = Vec::new();
    let changed = value.transform(|path, value| {
        paths.push(path.to_string());
        match value.as_number() {
            Some(number) => Value::string(number.to_string()),
            None => value,
        }
    });
    assert_eq!(paths, [".a[0]", ".a[1]", ".a", ""]);
    assert_eq!(
        changed,
        Value::object([("a", Value::list(Type::String, vec![Value::string("1"), Value::string("2")]))])
    );
    let mut seen = Vec::new();
    value.walk(|path, value| {
        seen.push(path.to_string());
        !matches!(value.kind(), Kind::List(_))
    });
    assert_eq!(seen, ["", ".a"]);
}

#[test]
fn path_get_returns_nested_value() {
    let element = Value::object([("n", Value::number(1))]);
    let value = Value::object([("s", Value::set(element.ty(), vec![element.clone()]))]);
    let path = Path::root().attribute("s").index(element).attribute("n");
    assert_eq!(value.path_get(&path), Ok(Value::number(1)));
    assert_eq!(path.to_string(), ".s[...].n");
    assert!(path.starts_with(&Path::root().attribute("s")));
    assert!(value.path_get(&Path::root().attribute("t")).is_err());
}

/// Values of the kinds that promises are about, those on both sides of every bound.
fn probes() -> [Vec<Value>; 3] {
    let numbers = (-1..12).map(|half: i64| Value::number(Number::from(half).divide(&Number::from(2)).expect("a half")));
    let texts = ["", "a", "ab", "abc", "ac", "b", "ba", "c"].map(Value::string);
    let lists = (0..6).map(|length| Value::list(Type::Bool, vec![Value::TRUE; length]));
    [numbers.collect(), texts.to_vec(), lists.collect()]
}

fn excludes(refinement: &Refinement, probe: &Value) -> bool {
    let range = Range { ty: probe.ty(), is_null: false, refinement: refinement.clone() };
    range.includes(probe) == Some(false)
}

proptest! {
    #[test]
    fn a_value_equals_itself((_, value) in typed_values(Content::Unknown)) {
        prop_assert_eq!(value.clone(), value.clone());
        prop_assert_eq!(value.cmp(&value.clone()), std::cmp::Ordering::Equal);
        let answer = value.equals(&value);
        if value.is_wholly_known() {
            prop_assert_eq!(answer, Value::TRUE);
        } else {
            prop_assert_ne!(answer, Value::FALSE);
        }
    }

    #[test]
    fn equality_of_known_values_is_structural(
        (a, b) in types().prop_flat_map(|ty| (values(&ty, Content::Known), values(&ty, Content::Known))),
    ) {
        prop_assert_eq!(a.equals(&b).as_bool(), Some(a == b));
        prop_assert_eq!(a.equals(&b), b.equals(&a));
        prop_assert_eq!(a.cmp(&b) == std::cmp::Ordering::Equal, a == b);
    }

    #[test]
    fn equality_with_unknowns_is_sound(
        (unknown, known) in types().prop_flat_map(|ty| (values(&ty, Content::Unknown), values(&ty, Content::Known))),
    ) {
        // If the answer is known, no replacement of the unknowns by nulls may change it, where nulls are possible.
        let mut nulls_possible = true;
        unknown.walk(|_, value| {
            nulls_possible &= value.is_known() || !value.is_definitely_not_null();
            true
        });
        if let (Some(answer), true) = (unknown.equals(&known).as_bool(), nulls_possible) {
            prop_assert_eq!(unknown.unknown_as_null().equals(&known).as_bool(), Some(answer));
        }
    }

    #[test]
    fn unknown_never_compares_unequal_to_its_later_value((_, value) in typed_values(Content::Known), seed in 0_usize..3) {
        let mut at = seed;
        let open = value.transform(|_, part| {
            at += 1;
            if at.is_multiple_of(3) { Value::unknown(part.ty()) } else { part }
        });
        prop_assert_ne!(open.equals(&value), Value::FALSE);
        prop_assert_ne!(value.equals(&open), Value::FALSE);
    }

    #[test]
    fn flags_agree_with_contents((_, value) in typed_values(Content::Unknown), mark in any::<bool>()) {
        let value = if mark { value.transform(|path, value| if path.len() == 1 { secret(value) } else { value }) } else { value };
        let (mut unknown, mut marked) = (false, false);
        value.walk(|_, value| {
            unknown |= !value.is_known();
            marked |= value.is_marked();
            true
        });
        prop_assert_eq!(value.is_wholly_known(), !unknown);
        prop_assert_eq!(value.has_marks(), marked);
        let (bare, marks) = value.unmark_deep();
        prop_assert!(!bare.has_marks());
        prop_assert_eq!(bare.mark_paths(&marks), value);
    }

    #[test]
    fn sets_do_not_depend_on_insertion_order(
        (ty, mut elements) in types().prop_flat_map(|ty| {
            let elements = prop::collection::vec(values(&ty, Content::Known), 0..6);
            (Just(ty), elements)
        }),
    ) {
        let set = Value::set(ty.clone(), elements.clone());
        let distinct: HashSet<Value> = elements.iter().cloned().collect();
        prop_assert_eq!(set.held_length(), Some(distinct.len()));
        elements.reverse();
        prop_assert_eq!(Value::set(ty, elements).equals(&set), Value::TRUE);
        for element in &distinct {
            prop_assert_eq!(set.has_element(element), Some(Value::TRUE));
        }
    }

    #[test]
    fn refining_only_narrows(
        (a, b, probe) in types().prop_flat_map(|ty| {
            // Promises that leave one value only make a known one.
            let unknown = || common::unknown(&ty).prop_filter("unknown", |value| !value.is_known());
            (unknown(), unknown(), values(&ty, Content::Known))
        }),
    ) {
        let Kind::Unknown(more) = b.kind() else { return Ok(()) };
        if let Ok(both) = a.try_refine(more) {
            // What either excludes stays excluded.
            for one in [&a, &b] {
                if one.range().includes(&probe) == Some(false) {
                    prop_assert_ne!(both.equals(&probe), Value::TRUE);
                    if !both.is_known() {
                        prop_assert_eq!(both.range().includes(&probe), Some(false));
                    }
                }
            }
        }
    }

    #[test]
    fn narrowed_excludes_exactly_the_union(a in refinements(), b in refinements()) {
        match a.narrowed(&b) {
            Ok(both) => {
                for probe in probes().into_iter().flatten().chain([Value::null(Type::String)]) {
                    prop_assert_eq!(excludes(&both, &probe), excludes(&a, &probe) || excludes(&b, &probe), "{:?}", probe);
                }
            }
            // Of one kind there is no value left.
            Err(_) => {
                let is_left = |probe: &Value| !excludes(&a, probe) && !excludes(&b, probe);
                prop_assert!(probes().iter().any(|kind| !kind.iter().any(is_left)));
            }
        }
    }
}

#[test]
fn empty_collections_are_equal_if_their_types_are() {
    let types = || [Type::String, Type::Number, Type::Dynamic];
    for (at, one) in types().into_iter().enumerate() {
        for (beside, other) in types().into_iter().enumerate() {
            let lists = [one.clone(), other.clone()].map(|ty| Value::list(ty, Vec::new()));
            let sets = [one.clone(), other.clone()].map(|ty| Value::set(ty, Vec::new()));
            let maps = [one.clone(), other.clone()].map(|ty| Value::map(ty, Vec::<(&str, Value)>::new()));
            for [left, right] in [lists, sets, maps] {
                assert_eq!(left == right, at == beside, "{left:?} {right:?}");
                assert_eq!(left.equals(&right), Value::bool(at == beside), "{left:?} {right:?}");
            }
        }
    }
}

#[test]
fn set_with_unknown_element_is_not_known_to_be_empty() {
    let unknown = Value::set(Type::String, vec![Value::unknown(Type::String)]);
    let empty = Value::set(Type::String, Vec::new());
    assert!(!unknown.equals(&empty).is_known());
    assert!(!empty.equals(&unknown).is_known());
}

#[test]
fn collection_of_dynamic_takes_common_element_type() {
    let of = |values: Vec<Value>| Value::list(Type::Dynamic, values).ty();
    assert_eq!(of(vec![Value::string("a"), Value::NULL, Value::DYNAMIC]), Type::list(Type::String));
    assert_eq!(of(vec![Value::NULL]), Type::list(Type::Dynamic));
    assert_eq!(of(Vec::new()), Type::list(Type::Dynamic));
    assert_eq!(Value::set(Type::Dynamic, vec![Value::TRUE]).ty(), Type::set(Type::Bool));
    assert_eq!(Value::map(Type::Dynamic, [("a", Value::TRUE)]).ty(), Type::map(Type::Bool));
}
