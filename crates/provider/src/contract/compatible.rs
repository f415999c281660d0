//! Comparison of actual values with planned ones (plugin-protocol 4.5; LC-10 to LC-13).
//!
//! One comparison serves two rules: the final plan against the initial plan, and the applied state against the final
//! plan.

use groma_value::{Kind, Type, Value};

use super::planned::{Keyed, sequence};
use super::{Problem, Violation};
use crate::correlate::{Candidates, Mask};
use crate::schema::{Block, Item, NestedBlock, Nesting};
use crate::trail::Trail;

/// Finds everything in `actual` that contradicts `planned`.
///
/// Both values have the implied type of `block` and no marks. Known planned values must be unchanged; unknown ones may
/// become any value of their type within their refinements.
pub fn check_compatible(block: &Block, planned: &Value, actual: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    check_object(block, planned, actual, &Trail::ROOT, &mut found);
    found
}

fn report(found: &mut Vec<Violation>, trail: &Trail<'_>, problem: Problem) {
    found.push(Violation { path: trail.path(), problem });
}

fn check_object(block: &Block, planned: &Value, actual: &Value, trail: &Trail<'_>, found: &mut Vec<Violation>) {
    match (planned.is_null(), actual.is_null()) {
        (true, true) => return,
        (true, false) => return report(found, trail, Problem::Appeared),
        (false, true) => return report(found, trail, Problem::Vanished),
        (false, false) => {}
    }
    // An unknown object ends here: as a plan it allows any result.
    let (Kind::Object(planned), Kind::Object(actual)) = (planned.kind(), actual.kind()) else { return };
    for ((slot, planned), actual) in block.slots().iter().zip(planned.values()).zip(actual.values()) {
        let trail = trail.attribute(&slot.name);
        match &slot.item {
            Item::Attribute(_) => check_value(planned, actual, &trail, found),
            Item::Block(nested) => check_blocks(nested, planned, actual, &trail, found),
        }
    }
}

fn check_blocks(nested: &NestedBlock, planned: &Value, actual: &Value, trail: &Trail<'_>, found: &mut Vec<Violation>) {
    let block = nested.block();
    if matches!(nested.nesting(), Nesting::Single | Nesting::Group) {
        // A dynamic block of unknown number was planned as unknown; none or one of it may exist now.
        if planned.is_known() {
            check_object(block, planned, actual, trail, found);
        }
        return;
    }
    // Without two collections of known size there is nothing to compare.
    if !planned.is_known() || planned.is_null() || actual.is_null() {
        return;
    }
    if !actual.is_known() {
        return report(found, trail, Problem::BecameUnknown);
    }
    match nested.nesting() {
        Nesting::List => {
            let (Some(planned), Some(actual)) = (sequence(planned), sequence(actual)) else { return };
            // With different lengths, positions do not correspond, so one message is enough.
            if planned.len() != actual.len() {
                return report(found, trail, Problem::CountChanged { planned: planned.len(), actual: actual.len() });
            }
            for (position, (planned, actual)) in planned.iter().zip(actual).enumerate() {
                check_object(block, planned, actual, &trail.position(position), found);
            }
        }
        Nesting::Set => {
            let conforms = |planned: &Value, actual: &Value| {
                let mut found = Vec::new();
                check_object(block, planned, actual, &Trail::ROOT, &mut found);
                found.is_empty()
            };
            check_set(planned, actual, trail, &conforms, found);
        }
        _ => check_keyed(planned, actual, trail, found, &mut |planned, actual, trail, found| {
            check_object(block, planned, actual, trail, found);
        }),
    }
}

fn check_value(planned: &Value, actual: &Value, trail: &Trail<'_>, found: &mut Vec<Violation>) {
    // The common case: equal values need no structural comparison.
    if planned.is_wholly_known() && planned == actual {
        return;
    }
    let (planned_type, actual_type) = (planned.ty(), actual.ty());
    if !planned.is_known() {
        // Nothing was promised, not even the type.
        if planned_type == Type::Dynamic {
            return;
        }
        if !actual_type.conforms_to(&planned_type) {
            return report(found, trail, Problem::TypeChanged { planned: planned_type, actual: actual_type });
        }
        // Only a certain contradiction counts: a value that is still unknown may yet fit.
        if planned.range().includes(actual) == Some(false) {
            let problem = Problem::OutsideRefinement { actual: actual.clone(), placeholder: planned.clone() };
            report(found, trail, problem);
        }
        return;
    }
    // A null of dynamic type has no type to keep.
    if planned_type != Type::Dynamic && !same_kind(&planned_type, &actual_type) {
        return report(found, trail, Problem::TypeChanged { planned: planned_type, actual: actual_type });
    }
    if !actual.is_known() {
        return report(found, trail, Problem::BecameUnknown);
    }
    check_known(planned, actual, trail, found);
}

/// Whether a value of type `actual` can replace a planned value of type `planned`. Types of tuples and objects may
/// differ where the plan had unknown parts; those parts are compared individually.
fn same_kind(planned: &Type, actual: &Type) -> bool {
    match (planned, actual) {
        (Type::Tuple(_), Type::Tuple(_)) => true,
        (Type::Object(planned), Type::Object(actual)) => planned.shape() == actual.shape(),
        _ => actual.conforms_to(planned),
    }
}

/// Compares two known values whose types have the same kind.
fn check_known(planned: &Value, actual: &Value, trail: &Trail<'_>, found: &mut Vec<Violation>) {
    match (planned.kind(), actual.kind()) {
        (Kind::List(planned), Kind::List(actual)) | (Kind::Tuple(planned), Kind::Tuple(actual)) => {
            for (position, (planned, actual)) in planned.iter().zip(actual).enumerate() {
                check_value(planned, actual, &trail.position(position), found);
            }
            // Elements past the common length have no counterpart; at most one of the two ranges is not empty.
            for position in actual.len()..planned.len() {
                report(found, trail, Problem::ElementVanished(position.to_string()));
            }
            for position in planned.len()..actual.len() {
                report(found, trail, Problem::ElementAppeared(position.to_string()));
            }
        }
        (Kind::Map(_), Kind::Map(_)) => check_keyed(planned, actual, trail, found, &mut check_value),
        (Kind::Object(planned), Kind::Object(actual)) => {
            for ((name, planned), actual) in planned.iter().zip(actual.values()) {
                check_value(planned, actual, &trail.attribute(name), found);
            }
        }
        (Kind::Set(_), Kind::Set(_)) => {
            let conforms = |planned: &Value, actual: &Value| {
                let mut found = Vec::new();
                check_value(planned, actual, &Trail::ROOT, &mut found);
                found.is_empty()
            };
            check_set(planned, actual, trail, &conforms, found);
        }
        _ if planned == actual => {}
        _ => report(found, trail, Problem::Changed { planned: planned.clone(), actual: actual.clone() }),
    }
}

/// A comparison of one planned element with the actual one.
type Each<'e> = dyn FnMut(&Value, &Value, &Trail<'_>, &mut Vec<Violation>) + 'e;

fn check_keyed(planned: &Value, actual: &Value, trail: &Trail<'_>, found: &mut Vec<Violation>, each: &mut Each<'_>) {
    let (Some(planned), Some(actual)) = (Keyed::of(planned), Keyed::of(actual)) else { return };
    for (key, planned) in planned.pairs() {
        match actual.get(key) {
            Some(actual) => each(planned, actual, &trail.key(key), found),
            None => report(found, trail, Problem::ElementVanished(format!("{key:?}"))),
        }
    }
    for (key, _) in actual.pairs().filter(|(key, _)| planned.get(key).is_none()) {
        report(found, trail, Problem::ElementAppeared(format!("{key:?}")));
    }
}

/// Checks that every planned element became one of the actual elements, and that every actual element was planned.
/// Planned elements with unknown parts may turn out equal, so the set may shrink, but it never grows.
fn check_set(
    planned: &Value,
    actual: &Value,
    trail: &Trail<'_>,
    conforms: &dyn Fn(&Value, &Value) -> bool,
    found: &mut Vec<Violation>,
) {
    let (Kind::Set(promised), Kind::Set(elements)) = (planned.kind(), actual.kind()) else { return };
    let mut candidates = Candidates::new(elements);
    let mut promised_ones = vec![false; elements.len()];
    let mut seen = std::collections::HashSet::new();
    let mut is_incomplete = false;
    for planned in promised {
        // Duplicate placeholders (unknown elements are never merged) match the same actual elements.
        if !planned.is_wholly_known() && !seen.insert(planned) {
            continue;
        }
        let mut fulfilled = false;
        for &position in candidates.matching(planned, Mask::of_unknowns(planned)).iter() {
            let Some(element) = elements.get(position) else { continue };
            // The candidates of a wholly known element equal it, so they need no comparison.
            if planned.is_wholly_known() || conforms(planned, element) {
                fulfilled = true;
                if let Some(flag) = promised_ones.get_mut(position) {
                    *flag = true;
                }
            }
        }
        if !fulfilled {
            is_incomplete = true;
            report(found, trail, Problem::PlannedElementMissing(planned.clone()));
        }
    }
    if is_incomplete {
        // Each missing element usually has an unplanned counterpart, which would report the same mistake again.
        return;
    }
    for (element, _) in elements.iter().zip(&promised_ones).filter(|(_, promised)| !**promised) {
        report(found, trail, Problem::ElementNotPlanned(element.clone()));
    }
    if promised.len() < elements.len() {
        report(found, trail, Problem::CountChanged { planned: promised.len(), actual: elements.len() });
    }
}
