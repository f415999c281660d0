//! Filling in the dynamic parts of a target type.

use super::find::Safety;
use super::unify::unify_as;
use crate::types::{ObjectType, Type};
use std::sync::Arc;

/// Returns `want` with its dynamic parts replaced by the corresponding parts of `given`, which must be convertible to
/// `want`.
pub(super) fn replace_dynamic(given: &Type, want: &Type) -> Type {
    if !want.has_dynamic() {
        return want.clone();
    }
    match (given, want) {
        (Type::Dynamic, _) => want.clone(),
        (_, Type::Dynamic) => given.clone(),
        (Type::Map(given), Type::Map(want)) => Type::map(replace_dynamic(given, want)),
        (Type::Object(given), Type::Map(want)) => Type::map(replace_dynamic(&common(given.types()), want)),
        (Type::List(given) | Type::Set(given), Type::List(want)) => Type::list(replace_dynamic(given, want)),
        (Type::Tuple(given), Type::List(want)) => Type::list(replace_dynamic(&common(given), want)),
        (Type::List(given) | Type::Set(given), Type::Set(want)) => Type::set(replace_dynamic(given, want)),
        (Type::Tuple(given), Type::Set(want)) => Type::set(replace_dynamic(&common(given), want)),
        (Type::Tuple(given), Type::Tuple(want)) if given.len() == want.len() => {
            Type::tuple(given.iter().zip(want.iter()).map(|(given, want)| replace_dynamic(given, want)))
        }
        (Type::Map(given), Type::Object(want)) => attributes(want, |_| Some(given)),
        (Type::Object(given), Type::Object(want)) => attributes(want, |name| given.attribute(name)),
        _ => want.clone(),
    }
}

fn attributes<'a>(want: &ObjectType, given: impl Fn(&str) -> Option<&'a Type>) -> Type {
    let types = want.iter().map(|(name, want)| match given(name) {
        Some(given) => replace_dynamic(given, want),
        None => want.clone(),
    });
    Type::Object(Arc::new(ObjectType::of_shape(want.shape().clone(), types.collect())))
}

fn common(types: &[Type]) -> Type {
    unify_as(types.iter(), Safety::Unsafe).unwrap_or(Type::Dynamic)
}
