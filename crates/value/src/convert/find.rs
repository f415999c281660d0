//! Conversions between types.

use super::unify::unify_as;
use crate::Name;
use crate::types::{ObjectType, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// Whether a conversion may fail for some values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// It works for every value of the type.
    Safe,
    /// It may turn out that a value does not fit.
    Unsafe,
}

/// The conversion of values from one type to another.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The type to convert to, which may have dynamic parts and optional attributes.
    pub(super) want: Type,
    pub(super) how: How,
}

/// A part's conversion; nothing if the part has the right type already.
pub(super) type Part = Option<Arc<Conversion>>;

#[derive(Clone, Debug)]
pub(super) enum How {
    /// As it is, since anything is wanted.
    Pass,
    /// By the type that the value has once it is known.
    Later,
    /// A conversion between primitive types.
    Simple,
    Object {
        /// The attributes of the result: from this attribute of the value, if it has it.
        attributes: Arc<[(Name, Source)]>,
        /// The type of the result where it has no dynamic parts.
        result: Arc<ObjectType>,
    },
    Tuple(Arc<[Part]>),
    /// A list or set to a list, set.
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

/// The source of an attribute in a converted object.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The attribute of the same name.
    Given(Part),
    /// The attribute is optional, and the source type does not have it.
    Absent(Type),
}

/// The conversion of a map element to an attribute.
#[derive(Clone, Debug)]
pub(super) enum Element {
    Fits(Part),
    /// It does not, which only matters if it is there, as the attribute is optional.
    Misfit,
}

/// The kinds of sequences of one element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    List,
    Set,
}

impl Conversion {
    /// Returns the conversion from `given` to `want`; `None` if there is none.
    pub fn find(given: &Type, want: &Type, safety: Safety) -> Option<Conversion> {
        let how = find(given, want, safety)?;
        Some(Conversion { want: want.clone(), how })
    }

    fn part(given: &Type, want: &Type, safety: Safety) -> Option<Part> {
        if given == want {
            return Some(None);
        }
        Conversion::find(given, want, safety).map(|conversion| Some(Arc::new(conversion)))
    }
}

fn find(given: &Type, want: &Type, safety: Safety) -> Option<How> {
    match (given, want) {
        (_, Type::Dynamic) => Some(How::Pass),
        (Type::Dynamic, _) => (safety == Safety::Unsafe).then_some(How::Later),
        (Type::Number | Type::Bool, Type::String) => Some(How::Simple),
        (Type::String, Type::Number | Type::Bool) => (safety == Safety::Unsafe).then_some(How::Simple),
        (Type::Object(given), Type::Object(want)) => object_to_object(given, want, safety),
        (Type::Tuple(given), Type::Tuple(want)) => {
            if given.len() != want.len() {
                return None;
            }
            let parts: Option<Arc<[Part]>> =
                given.iter().zip(want.iter()).map(|(given, want)| Conversion::part(given, want, safety)).collect();
            Some(How::Tuple(parts?))
        }
        (Type::List(given) | Type::Set(given), Type::List(want)) => {
            let part = Conversion::part(given, want, safety)?;
            Some(How::Sequence { into: Sequence::List, element: want.clone(), part })
        }
        // A set forgets the order and the repetitions of a list.
        (Type::List(_), Type::Set(_)) if safety == Safety::Safe => None,
        (Type::List(given) | Type::Set(given), Type::Set(want)) => {
            let part = Conversion::part(given, want, safety)?;
            Some(How::Sequence { into: Sequence::Set, element: want.clone(), part })
        }
        (Type::Map(given), Type::Map(want)) => {
            let part = Conversion::part(given, want, safety)?;
            Some(How::Map { element: want.clone(), part })
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

fn object_to_object(given: &ObjectType, want: &Arc<ObjectType>, safety: Safety) -> Option<How> {
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
    Some(How::Object { attributes: attributes?, result })
}

fn tuple_to_sequence(into: Sequence, given: &[Type], want: &Arc<Type>, safety: Safety) -> Option<How> {
    if given.is_empty() {
        let element = want.without_optional_attributes().shared();
        return Some(How::TupleToSequence { into, element, parts: Arc::from([]), safety });
    }
    let element = common_element(want, given.iter(), safety)?;
    if *element == Type::Dynamic && given.iter().any(|given| *given != Type::Dynamic) {
        return None;
    }
    let parts = parts(given.iter(), &element, safety)?;
    Some(How::TupleToSequence { into, element, parts: parts.into(), safety })
}

fn object_to_map(given: &ObjectType, want: &Arc<Type>, safety: Safety) -> Option<How> {
    if given.is_empty() {
        let element = want.without_optional_attributes().shared();
        return Some(How::ObjectToMap { element, parts: Arc::default(), safety });
    }
    let element = common_element(want, given.types().iter(), safety)?;
    let parts = parts(given.types().iter(), &element, safety)?;
    let parts = given.iter().map(|(name, _)| name.clone()).zip(parts).collect();
    Some(How::ObjectToMap { element, parts: Arc::new(parts), safety })
}

/// The element type that is wanted, or one that fits all if any would do.
fn common_element<'a>(want: &Arc<Type>, given: impl Iterator<Item = &'a Type>, safety: Safety) -> Option<Arc<Type>> {
    if **want != Type::Dynamic {
        return Some(want.clone());
    }
    unify_as(given, safety).map(Type::shared)
}

/// The conversions of many parts to one type; neighbours of equal type share theirs.
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

fn map_to_object(given: &Type, want: &Arc<ObjectType>) -> Option<How> {
    let parts: Option<HashMap<Name, Element>> = want
        .iter()
        .map(|(name, want_type)| {
            let element = match Conversion::part(given, want_type, Safety::Unsafe) {
                Some(part) => Element::Fits(part),
                None if want.is_optional(name) => Element::Misfit,
                None => return None,
            };
            Some((name.clone(), element))
        })
        .collect();
    Some(How::MapToObject { object: want.clone(), parts: Arc::new(parts?) })
}
