//! Arbitrary types and values.

#![allow(dead_code, reason = "not every test needs everything")]

use std::sync::Arc;

use groma_value::{Bound, Number, ObjectType, Refinement, Type, Value};
use proptest::prelude::*;
use proptest::strategy::Union;

/// Types without dynamic parts.
pub fn types() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![Just(Type::Bool), Just(Type::Number), Just(Type::String)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            prop::collection::btree_map("[a-d]", inner.clone(), 0..3).prop_map(Type::object),
            prop::collection::vec(inner, 0..3).prop_map(Type::tuple),
        ]
    })
}

/// What may be inside a value.
#[derive(Clone, Copy, PartialEq)]
pub enum Content {
    Known,
    Unknown,
}

/// Values of a type: nulls are among them, and unknowns if wanted.
pub fn values(ty: &Type, content: Content) -> BoxedStrategy<Value> {
    let known = known(ty, content);
    let mut choices = vec![(8, known), (1, Just(Value::null(ty.clone())).boxed())];
    if content == Content::Unknown {
        choices.push((1, unknown(ty)));
    }
    Union::new_weighted(choices).boxed()
}

fn known(ty: &Type, content: Content) -> BoxedStrategy<Value> {
    match ty {
        Type::Bool | Type::Dynamic => any::<bool>().prop_map(Value::bool).boxed(),
        Type::Number => prop_oneof![
            any::<i64>().prop_map(Value::number),
            "-?[1-9][0-9]{0,30}(\\.[0-9]{1,30})?"
                .prop_map(|digits| Value::number(Number::parse(&digits).expect("a number"))),
        ]
        .boxed(),
        Type::String => prop_oneof![
            "[a-c]{0,2}",
            "\\PC{0,6}",
            "[\t\n\r\x08\x0c\x00\"\\\\<>&\u{2028}\u{2029}a]{0,4}",
            any::<String>()
        ]
        .prop_map(Value::from)
        .boxed(),
        Type::List(element) => {
            let element = (**element).clone();
            prop::collection::vec(values(&element, content), 0..4)
                .prop_map(move |values| Value::list(element.clone(), values))
                .boxed()
        }
        Type::Set(element) => {
            let element = (**element).clone();
            prop::collection::vec(values(&element, content), 0..4)
                .prop_map(move |values| Value::set(element.clone(), values))
                .boxed()
        }
        Type::Map(element) => {
            let element = (**element).clone();
            prop::collection::btree_map("\\PC{0,3}", values(&element, content), 0..4)
                .prop_map(move |values| Value::map(element.clone(), values))
                .boxed()
        }
        Type::Object(object) => object
            .iter()
            .map(|(name, ty)| (Just(name.clone()), values(ty, content)))
            .collect::<Vec<_>>()
            .prop_map(Value::object)
            .boxed(),
        Type::Tuple(types) => {
            types.iter().map(|ty| values(ty, content)).collect::<Vec<_>>().prop_map(Value::tuple).boxed()
        }
    }
}

/// Unknown values of a type, mostly.
pub fn unknown(ty: &Type) -> BoxedStrategy<Value> {
    let ty = ty.clone();
    refinements().prop_map(move |refinement| Value::refined(ty.clone(), refinement)).boxed()
}

/// Promises of every kind, near to each other.
pub fn refinements() -> impl Strategy<Value = Refinement> {
    let bound = || prop::option::of((0i64..5, any::<bool>()));
    let prefix = prop::sample::select(vec!["", "a", "ab", "a/", "b"]);
    let lengths = (0u64..4, prop::option::of(0u64..4));
    (any::<bool>(), prefix, bound(), bound(), lengths).prop_map(
        |(not_null, prefix, lower, upper, (least, greatest))| {
            let mut refinement = if not_null { Refinement::NOT_NULL } else { Refinement::NONE };
            refinement = refinement.full_prefix(prefix).minimum_length(least);
            let bound = |(value, inclusive): (i64, bool)| Bound { value: Number::from(value), inclusive };
            if let Some(lower) = lower {
                refinement = refinement.lower_bound(bound(lower));
            }
            if let Some(upper) = upper {
                refinement = refinement.upper_bound(bound(upper));
            }
            if let Some(greatest) = greatest {
                refinement = refinement.maximum_length(greatest);
            }
            refinement
        },
    )
}

/// Objects of which some attributes are optional, alone and in a list.
pub fn optional_types() -> impl Strategy<Value = Type> {
    let attributes = prop::collection::btree_map("[a-d]", (types(), any::<bool>()), 0..4);
    (attributes, any::<bool>()).prop_map(|(attributes, in_list)| {
        let optional: Vec<String> =
            attributes.iter().filter(|(_, (_, optional))| *optional).map(|(name, _)| name.clone()).collect();
        let object = ObjectType::new(attributes.into_iter().map(|(name, (ty, _))| (name, ty)));
        let object = Type::Object(Arc::new(object.with_optional(optional)));
        if in_list { Type::list(object) } else { object }
    })
}

/// A type together with a value of it.
pub fn typed_values(content: Content) -> impl Strategy<Value = (Type, Value)> {
    types().prop_flat_map(move |ty| values(&ty, content).prop_map(move |value| (ty.clone(), value)))
}
