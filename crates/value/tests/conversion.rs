//! Conversion and unification: rules, messages and laws.

mod common;

use common::{Content, typed_values, types, values};
use groma_value::convert::{Conversion, Safety, conforms, convert, mismatch, unify, unify_safe};
use groma_value::{Marks, ObjectType, Refinement, Type, Value};
use proptest::prelude::*;
use std::sync::Arc;

fn optional(attributes: &[(&str, Type)], names: &[&str]) -> Type {
    let object = ObjectType::new(attributes.iter().map(|(name, ty)| (*name, ty.clone())));
    Type::Object(Arc::new(object.with_optional(names.iter().copied())))
}

fn refusal(value: &Value, ty: &Type) -> String {
    convert(value, ty).expect_err("it does not fit").to_string()
}

fn strings(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(Value::string).collect()
}

#[test]
fn primitive_values_convert_through_strings() {
    assert_eq!(convert(&Value::number(5), &Type::String), Ok(Value::string("5")));
    assert_eq!(convert(&Value::TRUE, &Type::String), Ok(Value::string("true")));
    assert_eq!(convert(&Value::string("1"), &Type::Bool), Ok(Value::TRUE));
    assert_eq!(convert(&Value::string("2.50"), &Type::Number).map(|value| value.to_owned()), {
        Ok(Value::number(groma_value::Number::parse("2.5").expect("a number")))
    });
}

#[test]
fn errors_name_required_type() {
    assert_eq!(refusal(&Value::string("x"), &Type::Number), "a number is required");
    assert_eq!(refusal(&Value::string("x"), &Type::Bool), "a bool is required");
    assert_eq!(
        refusal(&Value::string("True"), &Type::Bool),
        "a bool is required; to convert from a string, use lowercase \"true\""
    );
    assert_eq!(refusal(&Value::tuple(vec![]), &Type::String), "string required, but have tuple");
    assert_eq!(refusal(&Value::TRUE, &Type::Number), "number required, but have bool");
    assert_eq!(refusal(&Value::string("x"), &Type::list(Type::Dynamic)), "list of dynamic required, but have string");
    assert_eq!(
        refusal(&Value::tuple(vec![Value::TRUE, Value::tuple(vec![])]), &Type::list(Type::Dynamic)),
        "all list elements must have the same type"
    );
    assert_eq!(
        refusal(&Value::tuple(vec![Value::string("a"), Value::tuple(vec![])]), &Type::list(Type::String)),
        "element 1: string required, but have tuple"
    );
}

#[test]
fn object_errors_name_attributes() {
    let empty = Value::object::<&str>([]);
    let want = |names: &[&str]| Type::object(names.iter().map(|name| (*name, Type::String)));
    assert_eq!(refusal(&empty, &want(&["a"])), "attribute \"a\" is required");
    assert_eq!(refusal(&empty, &want(&["a", "b"])), "attributes \"a\" and \"b\" are required");
    assert_eq!(refusal(&empty, &want(&["a", "b", "c"])), "attributes \"a\", \"b\", and \"c\" are required");
    let nested = Value::object([("a", Value::object::<&str>([]))]);
    let want = Type::object([("a", want(&["b"]))]);
    assert_eq!(refusal(&nested, &want), "attribute \"a\": attribute \"b\" is required");
}

#[test]
fn errors_have_path_of_nested_value() {
    let ty = Type::map(Type::object([("n", Type::Number)]));
    let value = Value::object([("k", Value::object([("n", Value::string("x"))]))]);
    let error = convert(&value, &ty).expect_err("no number");
    assert_eq!(error.path.to_string(), "[\"k\"].n");
    assert_eq!(error.message, "a number is required");
}

#[test]
fn missing_optional_attributes_become_null() {
    let ty = optional(&[("a", Type::String), ("b", Type::Number)], &["b"]);
    let converted = convert(&Value::object([("a", Value::number(1)), ("more", Value::TRUE)]), &ty).expect("it fits");
    assert_eq!(converted, Value::object([("a", Value::string("1")), ("b", Value::null(Type::Number))]));
    assert_eq!(converted.ty(), ty.without_optional_attributes());
}

#[test]
fn map_converts_to_object_with_its_keys() {
    let ty = optional(&[("a", Type::String), ("b", Type::Number)], &["b"]);
    let map = Value::map(Type::String, [("a", Value::string("x"))]);
    assert_eq!(convert(&map, &ty), Ok(Value::object([("a", Value::string("x")), ("b", Value::null(Type::Number))])));
    let empty = Value::map(Type::String, std::iter::empty::<(&str, Value)>());
    assert_eq!(refusal(&empty, &ty), "map has no element for required attribute \"a\"");
}

#[test]
fn tuple_converts_to_list_of_unified_type() {
    let tuple = Value::tuple(vec![Value::number(1), Value::string("a"), Value::TRUE]);
    let list = convert(&tuple, &Type::list(Type::Dynamic)).expect("they are all text");
    assert_eq!(list, Value::list(Type::String, strings(&["1", "a", "true"])));
}

#[test]
fn objects_of_different_shape_unify_to_map() {
    let tuple =
        Value::tuple(vec![Value::object([("a", Value::number(1))]), Value::object([("b", Value::string("x"))])]);
    let list = convert(&tuple, &Type::list(Type::Dynamic)).expect("they are all maps");
    assert_eq!(list.ty(), Type::list(Type::map(Type::String)));
}

#[test]
fn set_drops_duplicates_and_order() {
    let tuple = Value::tuple(strings(&["b", "a", "b"]));
    assert_eq!(convert(&tuple, &Type::set(Type::String)), Ok(Value::set(Type::String, strings(&["a", "b"]))));
    let list = Type::list(Type::String);
    assert!(Conversion::find(&list, &Type::set(Type::String), Safety::Safe).is_none());
    assert!(Conversion::find(&list, &Type::set(Type::String), Safety::Unsafe).is_some());
}

#[test]
fn set_with_unknowns_converts_to_list_of_unknown_length() {
    let set = Value::set(Type::String, vec![Value::string("a"), Value::unknown(Type::String)]);
    let list = convert(&set, &Type::list(Type::String)).expect("it fits");
    assert!(!list.is_known());
    assert_eq!(list.ty(), Type::list(Type::String));
}

#[test]
fn unknown_keeps_length_refinement_when_converted() {
    let unknown = Value::refined(Type::tuple([Type::Number, Type::Number]), Refinement::NOT_NULL);
    let list = convert(&unknown, &Type::list(Type::String)).expect("it fits");
    assert_eq!(list, Value::list(Type::String, vec![Value::unknown(Type::String); 2]));
    assert_eq!(convert(&Value::DYNAMIC, &Type::Number), Ok(Value::unknown(Type::Number)));
    assert_eq!(convert(&Value::NULL, &Type::Number), Ok(Value::null(Type::Number)));
}

#[test]
fn conversion_keeps_marks() {
    let secret = Value::number(7).with_marks(&Marks::SENSITIVE);
    let list = convert(&Value::tuple(vec![secret]), &Type::list(Type::String)).expect("it fits");
    assert!(list.marks().is_empty());
    assert_eq!(list.as_slice(), Some(&[Value::string("7").with_marks(&Marks::SENSITIVE)][..]));
    let error = convert(&Value::string("s3cret").with_marks(&Marks::SENSITIVE), &Type::Number).expect_err("no number");
    assert!(!error.to_string().contains("s3cret"));
}

#[test]
fn unification_prefers_more_general_type() {
    assert_eq!(unify(&[Type::Number, Type::String, Type::Bool]), Some(Type::String));
    assert_eq!(unify(&[Type::Number, Type::Bool]), None);
    assert_eq!(unify(&[Type::Dynamic, Type::Number]), Some(Type::Number));
    assert_eq!(unify_safe(&[Type::Dynamic, Type::Number]), Some(Type::Dynamic));
    assert_eq!(unify(&[]), None);
    let (list, set) = (Type::list(Type::String), Type::set(Type::Number));
    assert_eq!(unify(&[list.clone(), Type::tuple([Type::Number])]), Some(list.clone()));
    assert_eq!(unify(&[set, list.clone()]), Some(list));
    assert_eq!(unify(&[Type::list(Type::Number), Type::Dynamic]), Some(Type::Dynamic));
    assert_eq!(unify(&[Type::object([("a", Type::Number)]), Type::tuple([])]), None);
}

#[test]
fn conformance_errors_list_every_mismatch() {
    let value = Value::object([("a", Value::TRUE), ("c", Value::TRUE)]);
    let ty = Type::object([("a", Type::String), ("b", Type::Dynamic)]);
    let problems = conforms(&value, &ty).expect_err("it differs");
    let problems: Vec<String> = problems.iter().map(|(path, problem)| format!("{path}: {problem}")).collect();
    assert_eq!(
        problems,
        [
            ": unsupported attribute \"c\"",
            ".a: string required, but received bool",
            ": missing required attribute \"b\""
        ]
    );
}

#[test]
fn long_lists_convert_in_linear_time() {
    let values: Vec<Value> = (0..50_000).map(|at| Value::object([("id", Value::number(at))])).collect();
    let start = std::time::Instant::now();
    let list = convert(&Value::tuple(values), &Type::list(Type::Dynamic)).expect("it fits");
    assert_eq!(list.held_length(), Some(50_000));
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn conversion_to_own_type_is_identity((ty, value) in typed_values(Content::Unknown)) {
        prop_assert_eq!(convert(&value, &ty), Ok(value.clone()));
        prop_assert_eq!(convert(&value, &Type::Dynamic), Ok(value));
    }

    #[test]
    fn conversion_is_idempotent(
        (_, value) in typed_values(Content::Unknown), want in types(),
    ) {
        if let Ok(converted) = convert(&value, &want) {
            prop_assert!(converted.has_type(&want), "{converted:?} is no {want}");
            prop_assert_eq!(convert(&converted, &want), Ok(converted.clone()));
        }
    }

    #[test]
    fn safe_conversions_never_fail(
        (given, want, value) in (types(), types()).prop_flat_map(|(given, want)| {
            let value = values(&given, Content::Unknown);
            (Just(given), Just(want), value)
        }),
    ) {
        if let Some(conversion) = Conversion::find(&given, &want, Safety::Safe) {
            prop_assert!(conversion.apply(&value).is_ok());
        }
    }

    #[test]
    fn all_types_convert_to_their_unified_type(types in prop::collection::vec(types(), 1..4)) {
        if let Some(common) = unify(&types) {
            for ty in &types {
                prop_assert!(*ty == common || Conversion::find(ty, &common, Safety::Unsafe).is_some());
            }
        }
    }

    #[test]
    fn unification_of_single_type_is_identity(ty in types()) {
        prop_assert_eq!(unify(&[ty.clone(), ty.clone()]), Some(ty));
    }

    #[test]
    fn mismatch_message_is_never_empty(given in types(), want in types()) {
        if given != want && Conversion::find(&given, &want, Safety::Unsafe).is_none() {
            prop_assert!(!mismatch(&given, &want).is_empty());
            prop_assert!(!given.conforms_to(&want));
        }
    }
}
