//! Arbitrary types and values.

#![allow(dead_code, reason = "not every test needs everything")]

use groma_value::{Bound, Number, Refinement, Type, Value};
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
        Type::String => prop_oneof!["[a-c]{0,2}", "\\PC{0,6}", any::<String>()].prop_map(Value::from).boxed(),
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

fn unknown(ty: &Type) -> BoxedStrategy<Value> {
    let ty = ty.clone();
    (any::<bool>(), "[a-c/]{0,3}", 0u64..4, 4u64..9)
        .prop_map(move |(not_null, prefix, low, high)| {
            let mut refinement = Refinement::NONE
                .prefix(&prefix)
                .lower_bound(Bound { value: Number::from(low), inclusive: not_null })
                .upper_bound(Bound { value: Number::from(high), inclusive: !not_null })
                .minimum_length(low)
                .maximum_length(high);
            if not_null {
                refinement = refinement.not_null();
            }
            Value::refined(ty.clone(), refinement)
        })
        .boxed()
}

/// A type together with a value of it.
pub fn typed_values(content: Content) -> impl Strategy<Value = (Type, Value)> {
    types().prop_flat_map(move |ty| values(&ty, content).prop_map(move |value| (ty.clone(), value)))
}
