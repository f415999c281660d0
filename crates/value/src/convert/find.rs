//! Finding a conversion between two types.

use super::unify::unify_as;
use crate::Name;
use crate::types::{ObjectType, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// The conversions to consider: total ones only, or also those that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// Conversions that succeed for every value of the type.
    Safe,
    /// Also conversions that fail for some values, such as string to number.
    Unsafe,
}

/// A conversion from one type to another, found from the types alone and applicable to many values.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The type to convert to, which may have dynamic parts and optional attributes.
    pub(super) want: Type,
    pub(super) strategy: Strategy,
}

/// The conversion of an element or attribute; `None` if it has the right type already.
pub(super) type Part = Option<Arc<Conversion>>;

#[derive(Clone, Debug)]
pub(super) enum Strategy {
    /// The target is dynamic: the value stays as it is.
    Pass,
    /// The source type is dynamic: the conversion is found when the actual type of the value is known.
    ByActualType,
    /// A conversion between primitive types.
    Simple,
    Object {
        /// The attributes of the result in the order of its shape, each with its source.
        attributes: Arc<[(Name, Source)]>,
        /// The type of the result, if it has no dynamic parts.
        result: Arc<ObjectType>,
    },
    Tuple(Arc<[Part]>),
    /// From a list or set to a list or set.
    Sequence {
        into: Sequence,
        element: Arc<Type>,
        part: Part,
    },
    TupleToSequence {
        into: Sequence,
        element: Arc<Type>,
        parts: Arc<[Part]>,
        safety: Safety,
    },
    Map {
        element: Arc<Type>,
        part: Part,
    },
    ObjectToMap {
        element: Arc<Type>,
        parts: Arc<HashMap<Name, Part>>,
        safety: Safety,
    },
    MapToObject {
        object: Arc<ObjectType>,
        parts: Arc<HashMap<Name, Element>>,
    },
}

/// The source of an attribute in an object-to-object conversion.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The attribute of the same name.
    Given(Part),
    /// Optional, and missing in the source type.
    Absent(Type),
}

/// The conversion of a map element to the attribute of the same name.
#[derive(Clone, Debug)]
pub(super) enum Element {
    Convertible(Part),
    /// The element type cannot be converted. This is an error only if the map has the key, because the attribute is
    /// optional.
    Inconvertible,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    List,
    Set,
}

impl Conversion {
    /// Finds the conversion from `given` to `want`. Returns `None` if the types are not convertible.
    pub fn find(given: &Type, want: &Type, safety: Safety) -> Option<Conversion> {
        let strategy = find(given, want, safety)?;
        Some(Conversion { want: want.clone(), strategy })
    }

    fn part(given: &Type, want: &Type, safety: Safety) -> Option<Part> {
        if given == want {
            return Some(None);
        }
        Conversion::find(given, want, safety).map(|conversion| Some(Arc::new(conversion)))
    }
}

fn find(given: &Type, want: &Type, safety: Safety) -> Option<Strategy> {
    match (given, want) {
        (_, Type::Dynamic) => Some(Strategy::Pass),
        (Type::Dynamic, _) => (safety == Safety::Unsafe).then_some(Strategy::ByActualType),
        (Type::Number | Type::Bool, Type::String) => Some(Strategy::Simple),
        (Type::String, Type::Number | Type::Bool) => (safety == Safety::Unsafe).then_some(Strategy::Simple),
        (Type::Object(given), Type::Object(want)) => object_to_object(given, want, safety),
        (Type::Tuple(given), Type::Tuple(want)) => {
            if given.len() != want.len() {
                return None;
            }
            let parts: Option<Arc<[Part]>> =
                given.iter().zip(want.iter()).map(|(given, want)| Conversion::part(given, want, safety)).collect();
            Some(Strategy::Tuple(parts?))
        }
        (Type::List(given) | Type::Set(given), Type::List(want)) => {
            let part = Conversion::part(given, want, safety)?;
            Some(Strategy::Sequence { into: Sequence::List, element: want.clone(), part })
        }
        // The conversion drops the order and the duplicates of the list, so it does not count as safe.
        (Type::List(_), Type::Set(_)) if safety == Safety::Safe => None,
        (Type::List(given) | Type::Set(given), Type::Set(want)) => {
            let part = Conversion::part(given, want, safety)?;
            Some(Strategy::Sequence { into: Sequence::Set, element: want.clone(), part })
        }
        (Type::Map(given), Type::Map(want)) => {
            let part = Conversion::part(given, want, safety)?;
            Some(Strategy::Map { element: want.clone(), part })
        }
        (Type::Tuple(given), Type::List(want)) => tuple_to_sequence(Sequence::List, given, want, safety),
        (Type::Tuple(given), Type::Set(want)) => tuple_to_sequence(Sequence::Set, given, want, safety),
        (Type::Object(given), Type::Map(want)) => object_to_map(given, want, safety),
        (Type::Map(given), Type::Object(want)) => {
            (safety == Safety::Unsafe).then(|| map_to_object(given, want)).flatten()
        }
        _ => None,
    }
}

fn object_to_object(given: &ObjectType, want: &Arc<ObjectType>, safety: Safety) -> Option<Strategy> {
    let attributes: Option<Arc<[(Name, Source)]>> = want
        .iter()
        .map(|(name, want_type)| {
            let source = match given.attribute(name) {
                Some(given) => Source::Given(Conversion::part(given, want_type, safety)?),
                None if want.is_optional(name) => Source::Absent(want_type.without_optional_attributes()),
                None => return None,
            };
            Some((name.clone(), source))
        })
        .collect();
    let result = match Type::Object(want.clone()).without_optional_attributes() {
        Type::Object(object) => object,
        _ => want.clone(),
    };
    Some(Strategy::Object { attributes: attributes?, result })
}

fn tuple_to_sequence(into: Sequence, given: &[Type], want: &Arc<Type>, safety: Safety) -> Option<Strategy> {
    if given.is_empty() {
        let element = want.without_optional_attributes().shared();
        return Some(Strategy::TupleToSequence { into, element, parts: Arc::from([]), safety });
    }
    let element = common_element(want, given.iter(), safety)?;
    // Elements without a common type would give a list of dynamic elements, which is not a type that values can have.
    if *element == Type::Dynamic && given.iter().any(|given| *given != Type::Dynamic) {
        return None;
    }
    let parts = parts(given.iter(), &element, safety)?;
    Some(Strategy::TupleToSequence { into, element, parts: parts.into(), safety })
}

fn object_to_map(given: &ObjectType, want: &Arc<Type>, safety: Safety) -> Option<Strategy> {
    if given.is_empty() {
        let element = want.without_optional_attributes().shared();
        return Some(Strategy::ObjectToMap { element, parts: Arc::default(), safety });
    }
    let element = common_element(want, given.types().iter(), safety)?;
    let parts = parts(given.types().iter(), &element, safety)?;
    let parts = given.iter().map(|(name, _)| name.clone()).zip(parts).collect();
    Some(Strategy::ObjectToMap { element, parts: Arc::new(parts), safety })
}

/// Returns the required element type, or the common type of the elements if the required one is dynamic.
fn common_element<'a>(want: &Arc<Type>, given: impl Iterator<Item = &'a Type>, safety: Safety) -> Option<Arc<Type>> {
    if **want != Type::Dynamic {
        return Some(want.clone());
    }
    unify_as(given, safety).map(Type::shared)
}

/// Finds the conversions of many elements to one type. Adjacent elements of equal type share one conversion, since
/// literal lists with thousands of equally typed objects are common.
fn parts<'a>(given: impl Iterator<Item = &'a Type>, want: &Type, safety: Safety) -> Option<Vec<Part>> {
    let mut last: Option<(&Type, Part)> = None;
    given
        .map(|given| match &last {
            Some((same, part)) if *same == given => Some(part.clone()),
            _ => {
                let part = Conversion::part(given, want, safety)?;
                last = Some((given, part.clone()));
                Some(part)
            }
        })
        .collect()
}

fn map_to_object(given: &Type, want: &Arc<ObjectType>) -> Option<Strategy> {
    let parts: Option<HashMap<Name, Element>> = want
        .iter()
        .map(|(name, want_type)| {
            let element = match Conversion::part(given, want_type, Safety::Unsafe) {
                Some(part) => Element::Convertible(part),
                None if want.is_optional(name) => Element::Inconvertible,
                None => return None,
            };
            Some((name.clone(), element))
        })
        .collect();
    Some(Strategy::MapToObject { object: want.clone(), parts: Arc::new(parts?) })
}
