//! Type unification: finding one type that several types can be converted to.

use super::find::{Conversion, Safety};
use crate::Name;
use crate::types::{ObjectType, Type};
use std::collections::HashSet;
use std::sync::Arc;

/// Returns the type that values of all these types can be converted to, as for the branches of a conditional. Unsafe
/// conversions count. Returns `None` if no such type exists or `types` is empty.
///
/// If some types are dynamic and the others are of one kind of collection, object or tuple, the result is
/// [`Type::Dynamic`]: the common type is not known yet, and the values must be treated as wholly unknown.
pub fn unify(types: &[Type]) -> Option<Type> {
    unify_as(types.iter(), Safety::Unsafe)
}

/// Returns the type that values of all these types can be converted to with safe conversions only; see [`unify`].
pub fn unify_safe(types: &[Type]) -> Option<Type> {
    unify_as(types.iter(), Safety::Safe)
}

pub(super) fn unify_as<'a>(types: impl Iterator<Item = &'a Type>, safety: Safety) -> Option<Type> {
    unify_distinct(&distinct(types), safety)
}

/// Removes duplicate types. They do not affect the result, but a list literal can have thousands of them.
fn distinct<'a>(types: impl Iterator<Item = &'a Type>) -> Vec<&'a Type> {
    let mut last: Option<&Type> = None;
    let mut seen = HashSet::new();
    types
        .filter(|ty| {
            if last == Some(*ty) {
                return false;
            }
            last = Some(ty);
            seen.insert(*ty)
        })
        .collect()
}

#[derive(Default)]
struct Kinds {
    maps: usize,
    lists: usize,
    sets: usize,
    objects: usize,
    tuples: usize,
    dynamic: usize,
}

fn unify_distinct(types: &[&Type], safety: Safety) -> Option<Type> {
    if let [only] = types {
        // Conversion of a single type to itself would only drop its optional attributes.
        return Some((*only).clone());
    }
    let mut kinds = Kinds::default();
    for ty in types {
        match ty {
            Type::Map(_) => kinds.maps += 1,
            Type::List(_) => kinds.lists += 1,
            Type::Set(_) => kinds.sets += 1,
            Type::Object(_) => kinds.objects += 1,
            Type::Tuple(_) => kinds.tuples += 1,
            Type::Dynamic => kinds.dynamic += 1,
            _ => {}
        }
    }
    let all = types.len();
    let only = |count: usize| count > 0 && count + kinds.dynamic == all;
    if only(kinds.maps) || only(kinds.lists) || only(kinds.sets) || only(kinds.objects) || only(kinds.tuples) {
        // The type that replaces the dynamic one may change the result, so the result must stay open until it is known.
        if kinds.dynamic > 0 {
            return Some(Type::Dynamic);
        }
        return match types.first()? {
            Type::Map(_) => unify_elements(types, safety).map(Type::map),
            Type::List(_) => unify_elements(types, safety).map(Type::list),
            Type::Set(_) => unify_elements(types, safety).map(Type::set),
            Type::Object(_) => unify_objects(types, safety),
            _ => unify_tuples(types, safety),
        };
    }
    if kinds.maps > 0 && kinds.maps + kinds.objects + kinds.dynamic == all {
        if let Some(map @ Type::Map(_)) = with_objects_as_map(types, safety) {
            return Some(map);
        }
    } else if kinds.lists > 0 && kinds.lists + kinds.tuples + kinds.dynamic == all {
        if let Some(list @ Type::List(_)) = with_tuples_as_list(types, safety) {
            return Some(list);
        }
    } else if kinds.objects > 0 && kinds.tuples > 0 {
        return None;
    }
    most_general(types, safety)
}

fn unify_elements(types: &[&Type], safety: Safety) -> Option<Type> {
    unify_as(types.iter().filter_map(|ty| ty.element()), safety)
}

fn with_objects_as_map(types: &[&Type], safety: Safety) -> Option<Type> {
    // The objects become one map type first, so that the rest is the unification of maps.
    let objects: Vec<&Type> = types.iter().copied().filter(|ty| matches!(ty, Type::Object(_))).collect();
    let map = objects_as_map(&objects, safety)?;
    unify_as(types.iter().map(|ty| if matches!(ty, Type::Object(_)) { &map } else { *ty }), safety)
}

fn with_tuples_as_list(types: &[&Type], safety: Safety) -> Option<Type> {
    let tuples: Vec<&Type> = types.iter().copied().filter(|ty| matches!(ty, Type::Tuple(_))).collect();
    let list = tuples_as_list(&tuples, safety)?;
    unify_as(types.iter().map(|ty| if matches!(ty, Type::Tuple(_)) { &list } else { *ty }), safety)
}

/// Unifies objects with the same attribute names attribute by attribute, and others as a map.
fn unify_objects(types: &[&Type], safety: Safety) -> Option<Type> {
    let objects: Vec<&Arc<ObjectType>> = types.iter().filter_map(|ty| ty.as_object()).collect();
    let first = *objects.first()?;
    if objects.iter().any(|object| object.shape() != first.shape()) {
        return objects_as_map(types, safety);
    }
    let attributes: Option<Vec<(Name, Type)>> = first
        .iter()
        .map(|(name, _)| {
            let across = objects.iter().filter_map(|object| object.attribute(name));
            unify_as(across, safety).map(|ty| (name.clone(), ty))
        })
        .collect();
    let unified = Type::object(attributes?);
    if all_convertible(types, &unified, safety) { Some(unified) } else { objects_as_map(types, safety) }
}

fn objects_as_map(types: &[&Type], safety: Safety) -> Option<Type> {
    let attributes = types.iter().filter_map(|ty| ty.as_object()).flat_map(|object| object.types());
    let map = Type::map(unify_as(attributes, safety)?);
    all_convertible(types, &map, safety).then_some(map)
}

/// Unifies tuples of the same length element by element, and others as a list.
fn unify_tuples(types: &[&Type], safety: Safety) -> Option<Type> {
    let tuples: Vec<&[Type]> = types.iter().filter_map(|ty| ty.as_tuple()).collect();
    let length = tuples.first()?.len();
    if tuples.iter().any(|tuple| tuple.len() != length) {
        return tuples_as_list(types, safety);
    }
    let elements: Option<Vec<Type>> =
        (0..length).map(|at| unify_as(tuples.iter().filter_map(|tuple| tuple.get(at)), safety)).collect();
    let unified = Type::tuple(elements?);
    if all_convertible(types, &unified, safety) { Some(unified) } else { tuples_as_list(types, safety) }
}

fn tuples_as_list(types: &[&Type], safety: Safety) -> Option<Type> {
    let elements = types.iter().filter_map(|ty| ty.as_tuple()).flatten();
    let list = Type::list(unify_as(elements, safety)?);
    all_convertible(types, &list, safety).then_some(list)
}

fn all_convertible(types: &[&Type], want: &Type, safety: Safety) -> bool {
    types.iter().all(|ty| *ty == want || Conversion::find(ty, want, safety).is_some())
}

/// Returns the first of the types, most general first, that all others can be converted to.
fn most_general(types: &[&Type], safety: Safety) -> Option<Type> {
    by_generality(types).into_iter().find(|want| all_convertible(types, want, safety)).cloned()
}

/// Sorts the types topologically by generality, most general first; incomparable types keep their order, as in
/// Terraform.
fn by_generality<'a>(types: &[&'a Type]) -> Vec<&'a Type> {
    let mut more_special: Vec<Vec<usize>> = vec![Vec::new(); types.len()];
    let mut more_general = vec![0usize; types.len()];
    for (i, a) in types.iter().enumerate() {
        for (j, b) in types.iter().enumerate().skip(i + 1) {
            match generality(a, b) {
                Preference::First => {
                    more_special[i].push(j);
                    more_general[j] += 1;
                }
                Preference::Second => {
                    more_special[j].push(i);
                    more_general[i] += 1;
                }
                Preference::Neither => {}
            }
        }
    }
    let mut queue: Vec<usize> = (0..types.len()).filter(|at| more_general[*at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = queue.get(next) {
        next += 1;
        for &other in &more_special[at] {
            more_general[other] -= 1;
            if more_general[other] == 0 {
                queue.push(other);
            }
        }
    }
    queue.into_iter().filter_map(|at| types.get(at).copied()).collect()
}

/// The more general one of two types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Preference {
    First,
    Second,
    Neither,
}

fn generality(a: &Type, b: &Type) -> Preference {
    use Preference::{First, Neither, Second};
    match (a, b) {
        (Type::Dynamic, Type::Dynamic) => Neither,
        (Type::Dynamic, _) => Second,
        (_, Type::Dynamic) => First,
        (Type::String, Type::Bool | Type::Number) => First,
        (Type::Bool | Type::Number, Type::String) => Second,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            generality(a, b)
        }
        (Type::Tuple(_) | Type::List(_), Type::Set(_)) | (Type::List(_), Type::Tuple(_)) => First,
        (Type::Set(_), Type::Tuple(_) | Type::List(_)) | (Type::Tuple(_), Type::List(_)) => Second,
        (Type::Map(_), Type::Object(_)) => First,
        (Type::Object(_), Type::Map(_)) => Second,
        (Type::Object(a), Type::Object(b)) if a.shape() == b.shape() => partwise(a.types(), b.types()),
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => partwise(a, b),
        _ => Neither,
    }
}

/// Returns the side that is more general in at least one part and less general in none.
fn partwise(a: &[Type], b: &[Type]) -> Preference {
    let parts = || a.iter().zip(b).map(|(a, b)| generality(a, b));
    match (parts().any(|part| part == Preference::First), parts().any(|part| part == Preference::Second)) {
        (true, false) => Preference::First,
        (false, true) => Preference::Second,
        _ => Preference::Neither,
    }
}
