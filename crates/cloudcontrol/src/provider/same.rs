//! Semantic equality of values, and the pairing of list elements.

use std::collections::HashMap;

use groma_value::{Kind, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::document::same_json;
use super::fields::{Order, Shape};

/// The comparison of lists whose schema does not state whether their order means something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unstated {
    /// As the author wrote them.
    InOrder,
    /// As the service may return them.
    InAnyOrder,
}

/// Whether two values mean the same (CC-11, CC-12, CC-36): the later one could as well be written as the earlier.
pub fn same(shape: &Shape, left: &Value, right: &Value) -> bool {
    same_with(shape, left, right, Unstated::InOrder)
}

/// As [`same`], for a value in the order of the service: the order of lists counts only where the schema says so.
pub fn same_in_any_order(shape: &Shape, left: &Value, right: &Value) -> bool {
    same_with(shape, left, right, Unstated::InAnyOrder)
}

fn same_with(shape: &Shape, left: &Value, right: &Value, unstated: Unstated) -> bool {
    if left == right {
        return true;
    }
    let same = |shape: &Shape, left: &Value, right: &Value| same_with(shape, left, right, unstated);
    match (shape, left.kind(), right.kind()) {
        (_, Kind::Unknown(_), _) | (_, _, Kind::Unknown(_)) => false,
        (_, Kind::Null, _) => is_empty(shape, right),
        (_, _, Kind::Null) => is_empty(shape, left),
        (Shape::Json, Kind::String(left), Kind::String(right)) => same_json(left, right),
        (Shape::Time, Kind::String(left), Kind::String(right)) => same_instant(left, right),
        (Shape::List(element, order), Kind::List(left), Kind::List(right)) => {
            let in_order = match order {
                Order::Kept => true,
                Order::Unstated => unstated == Unstated::InOrder,
                Order::Ignored => false,
            };
            if !in_order {
                return same_elements(element, left, right, unstated);
            }
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(element, left, right))
        }
        (Shape::Set(element), Kind::Set(left), Kind::Set(right)) => same_elements(element, left, right, unstated),
        (Shape::Map(element), Kind::Map(left), Kind::Map(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(element, left, right)))
        }
        (Shape::Object(fields), Kind::Object(left), Kind::Object(right)) => fields
            .list
            .iter()
            .zip(left.values().iter().zip(right.values()))
            .all(|(field, (left, right))| same(&field.shape, left, right)),
        _ => false,
    }
}

/// The instant of a timestamp, to the nanosecond.
pub fn instant(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

/// Whether two texts are the same instant.
pub fn same_instant(left: &str, right: &str) -> bool {
    left == right || matches!((instant(left), instant(right)), (Some(left), Some(right)) if left == right)
}

/// An empty list, set or map is as good as none, and so is an object of nothing (CC-36).
pub fn is_empty(shape: &Shape, value: &Value) -> bool {
    match (shape, value.kind()) {
        (_, Kind::Null) => true,
        (Shape::List(..), Kind::List(values)) | (Shape::Set(_), Kind::Set(values)) => values.is_empty(),
        (Shape::Map(_), Kind::Map(view)) => view.is_empty(),
        (Shape::Object(fields), Kind::Object(view)) => {
            fields.list.iter().zip(view.values()).all(|(field, value)| is_empty(&field.shape, value))
        }
        _ => false,
    }
}

fn same_elements(element: &Shape, left: &[Value], right: &[Value], unstated: Unstated) -> bool {
    left.len() == right.len() && {
        let partners = partners(element, left, right);
        let mut seen = vec![false; right.len()];
        left.iter().zip(partners).all(|(value, partner)| match partner {
            Some(index) if !seen[index] => {
                seen[index] = true;
                same_with(element, value, &right[index], unstated)
            }
            _ => false,
        })
    }
}

/// Longer lists are matched by equality and key alone, not by comparing everything with everything.
const MOST_COMPARED: usize = 64;

/// For each value of `wanted` the position of the value in `known` that it belongs to, each used once: an equal one, else
/// one of the same key, else one that means the same.
#[allow(clippy::mutable_key_type)] // equality and hash of a value do not look at what it caches
pub fn partners(element: &Shape, wanted: &[Value], known: &[Value]) -> Vec<Option<usize>> {
    let mut found = vec![None; wanted.len()];
    let mut taken = vec![false; known.len()];
    let mut equal: HashMap<&Value, Vec<usize>> = HashMap::new();
    // In reverse, because equal values are taken from the end: the first one comes first.
    for (index, value) in known.iter().enumerate().rev() {
        equal.entry(value).or_default().push(index);
    }
    for (value, partner) in wanted.iter().zip(found.iter_mut()) {
        *partner = equal.get_mut(value).and_then(Vec::pop);
        if let Some(index) = *partner {
            taken[index] = true;
        }
    }
    // Keys before agreement, which compares every pair.
    by_key(element, wanted, known, &mut found, &mut taken);
    let open = found.iter().filter(|partner| partner.is_none()).count();
    let free = taken.iter().filter(|taken| !**taken).count();
    if open > 0 && free > 0 && open.max(free) <= MOST_COMPARED {
        by_agreement(element, wanted, known, &mut found, &mut taken);
    }
    found
}

/// Pairs values with those they agree with. A value that could be several others waits until the ones with fewer choices
/// have theirs.
fn by_agreement(element: &Shape, wanted: &[Value], known: &[Value], found: &mut [Option<usize>], taken: &mut [bool]) {
    let free: Vec<usize> = (0..known.len()).filter(|index| !taken[*index]).collect();
    let mut open: Vec<(usize, Vec<usize>)> = (0..wanted.len())
        .filter(|index| found[*index].is_none())
        .map(|index| {
            let agreeing = free.iter().copied().filter(|other| agrees(element, &wanted[index], &known[*other]));
            (index, agreeing.collect())
        })
        .collect();
    while !open.is_empty() {
        for (_, choices) in &mut open {
            choices.retain(|choice| !taken[*choice]);
        }
        open.retain(|(_, choices)| !choices.is_empty());
        let fewest = open.iter().enumerate().min_by_key(|(_, (_, choices))| choices.len()).map(|(at, _)| at);
        let Some((index, choices)) = fewest.map(|at| open.swap_remove(at)) else { break };
        if let Some(choice) = choices.first() {
            found[index] = Some(*choice);
            taken[*choice] = true;
        }
    }
}

fn by_key(element: &Shape, wanted: &[Value], known: &[Value], found: &mut [Option<usize>], taken: &mut [bool]) {
    let Shape::Object(fields) = element else { return };
    let Some(key) = fields.key else { return };
    let key_of =
        |value: &Value| value.as_object().and_then(|view| view.values().get(key)).and_then(Value::as_name).cloned();
    // A key that several elements have tells nothing.
    let mut count: HashMap<_, (usize, usize)> = HashMap::new();
    for key in known.iter().filter_map(key_of) {
        count.entry(key).or_default().0 += 1;
    }
    for key in wanted.iter().filter_map(key_of) {
        count.entry(key).or_default().1 += 1;
    }
    let mut positions = HashMap::new();
    for (index, value) in known.iter().enumerate() {
        let key = key_of(value).filter(|key| !taken[index] && count.get(key).is_some_and(|(a, b)| *a <= 1 && *b <= 1));
        if let Some(key) = key {
            positions.insert(key, index);
        }
    }
    for (value, partner) in wanted.iter().zip(found.iter_mut()).filter(|(_, partner)| partner.is_none()) {
        if let Some(index) = key_of(value).and_then(|key| positions.remove(&key)) {
            taken[index] = true;
            *partner = Some(index);
        }
    }
}

/// Whether `known` may be `wanted` completed by the service: everything that `wanted` sets is equal.
pub fn agrees(shape: &Shape, wanted: &Value, known: &Value) -> bool {
    match (shape, wanted.kind(), known.kind()) {
        (_, Kind::Null | Kind::Unknown(_), _) => true,
        (Shape::Object(fields), Kind::Object(wanted), Kind::Object(known)) => fields
            .list
            .iter()
            .zip(wanted.values().iter().zip(known.values()))
            .all(|(field, (wanted, known))| field.write_only || agrees(&field.shape, wanted, known)),
        (Shape::List(element, Order::Kept), Kind::List(wanted), Kind::List(known)) => {
            wanted.len() == known.len()
                && wanted.iter().zip(known).all(|(wanted, known)| agrees(element, wanted, known))
        }
        (Shape::List(element, _), Kind::List(wanted), Kind::List(known))
        | (Shape::Set(element), Kind::Set(wanted), Kind::Set(known)) => elements_agree(element, wanted, known),
        (Shape::Map(element), Kind::Map(wanted), Kind::Map(known)) => {
            wanted.iter().all(|(key, wanted)| known.get(key).is_some_and(|known| agrees(element, wanted, known)))
        }
        _ => same(shape, wanted, known),
    }
}

fn elements_agree(element: &Shape, wanted: &[Value], known: &[Value]) -> bool {
    if wanted.len() != known.len() {
        return false;
    }
    // Usually the service keeps the order, and no partners have to be found.
    let agree_pairwise = wanted.iter().zip(known).all(|(wanted, known)| agrees(element, wanted, known));
    agree_pairwise
        || partners(element, wanted, known).iter().zip(wanted).all(|(partner, wanted)| {
            partner.and_then(|index| known.get(index)).is_some_and(|known| agrees(element, wanted, known))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cc_11_instants_compare_across_zones() {
        assert!(same_instant("2026-01-01T00:00:00Z", "2026-01-01T01:00:00.000+01:00"));
        assert!(!same_instant("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z"));
        assert!(!same_instant("2026-01-01", "yesterday"));
        let seconds = |text| instant(text).map(OffsetDateTime::unix_timestamp);
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:34:56Z"), Some(951_827_696));
    }

    #[test]
    fn cc_11_what_is_no_instant_is_none() {
        for text in
            ["2026-02-30T00:00:00Z", "2026-01-01T9223372036854775807:00:00Z", "2026-01-01T00:00:00+9999999999999999:00"]
        {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
