//! Pairs the elements of two sequences for a diff, by equality that ignores types and marks.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use groma_value::{Kind, Value};

/// Maximum size of the table for the longest common subsequence: 4M cells are 16 MB. Larger inputs use a coarser method.
const MOST_CELLS: usize = 4 << 20;

/// Positions of two paired elements; `None` for an added or removed element.
pub(super) type Together = (Option<usize>, Option<usize>);

/// Pairs the elements of two lists.
///
/// Lists of the same length that lose an element are compared by position, because a value was probably changed in place. All other
/// lists are matched by their longest common subsequence. Unmatched objects at the same position are paired; other unmatched
/// elements count as removed and added.
pub(super) fn align_values(
    before: &[Value],
    after: &[Value],
    both_objects: impl Fn(usize, usize) -> bool,
) -> Vec<Together> {
    let (before_ids, after_ids) = identify(before, after);
    if before.len() == after.len() && is_any_gone(&before_ids, &after_ids) {
        return (0..before.len()).map(|position| (Some(position), Some(position))).collect();
    }
    align(&before_ids, &after_ids, both_objects)
}

/// Pairs the lines of two texts as [`align_values`] does, except that unmatched lines are always removed and added.
pub(super) fn align_lines(before: &[&str], after: &[&str]) -> Vec<Together> {
    let mut ids = HashMap::new();
    let mut identify = |lines: &[&str]| -> Vec<u32> {
        // The number of a line is that of its first occurrence on either side.
        let numbers = lines.iter().map(|line| {
            let next = number(ids.len());
            *ids.entry((*line).to_owned()).or_insert(next)
        });
        numbers.collect()
    };
    let before_ids = identify(before);
    let after_ids = identify(after);
    if before.len() != after.len() || !is_any_gone(&before_ids, &after_ids) {
        return align(&before_ids, &after_ids, |_, _| false);
    }
    // Two different lines are a removal and an addition, because a line is never shown as changed.
    let opposite = |(position, (before, after)): (usize, (u32, u32))| match before == after {
        true => [(Some(position), Some(position)), (None, None)],
        false => [(Some(position), None), (None, Some(position))],
    };
    before_ids.into_iter().zip(after_ids).enumerate().flat_map(opposite).filter(|pair| *pair != (None, None)).collect()
}

/// Pairs the elements of two sets: equal and removed elements in their order, then added ones.
pub(super) fn align_sets(before: &[Value], after: &[Value]) -> Vec<Together> {
    let mut unmatched: HashMap<u64, Vec<usize>> = HashMap::new();
    for (position, value) in after.iter().enumerate() {
        // An unknown element equals no other, so it is always added.
        if value.is_known() {
            unmatched.entry(digest(value)).or_default().push(position);
        }
    }
    // Sets may contain equal elements after marks are removed; each pairs only once.
    let mut taken = vec![false; after.len()];
    let mut pairs = Vec::with_capacity(before.len() + after.len());
    for (position, value) in before.iter().enumerate() {
        let candidates = unmatched.get(&digest(value)).map(Vec::as_slice).unwrap_or_default();
        let equal = candidates.iter().copied().find(|candidate| {
            !taken[*candidate]
                && same(value, &after[*candidate])
                // A change of sensitivity alone is shown as well.
                && is_sensitive(value) == is_sensitive(&after[*candidate])
        });
        if let Some(partner) = equal {
            taken[partner] = true;
        }
        pairs.push((Some(position), equal));
    }
    // Added elements come last, as in Terraform.
    pairs.extend(taken.iter().enumerate().filter(|(_, taken)| !**taken).map(|(position, _)| (None, Some(position))));
    pairs
}

fn is_sensitive(value: &Value) -> bool {
    value.marks().is_sensitive()
}

/// Assigns equal numbers to equal elements.
fn identify(before: &[Value], after: &[Value]) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<u64, Vec<(u32, &Value)>> = HashMap::new();
    let mut count = 0_usize;
    // An unknown element is compared as null, because neither has a value to show.
    let shown = |value: &Value| if value.is_known() { value.clone() } else { value.unknown_as_null() };
    let before: Vec<Value> = before.iter().map(shown).collect();
    let after: Vec<Value> = after.iter().map(shown).collect();
    let mut id = |value| {
        let bucket = known.entry(digest(value)).or_default();
        // Equal hashes need not mean equal values.
        if let Some((id, _)) = bucket.iter().find(|(_, other)| same(value, other)) {
            return *id;
        }
        let id = number(count);
        count += 1;
        bucket.push((id, value));
        id
    };
    let before_ids = before.iter().map(&mut id).collect();
    let after_ids = after.iter().map(&mut id).collect();
    (before_ids, after_ids)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn is_any_gone(before: &[u32], after: &[u32]) -> bool {
    let present: std::collections::HashSet<u32> = after.iter().copied().collect();
    before.iter().any(|id| !present.contains(id))
}

fn align(before: &[u32], after: &[u32], comparable: impl Fn(usize, usize) -> bool) -> Vec<Together> {
    let common = common_subsequence(before, after);
    let mut pairs = Vec::with_capacity(before.len().max(after.len()));
    let (mut b, mut a, mut c) = (0, 0, 0);
    while b < before.len() || a < after.len() || c < common.len() {
        while b < before.len() && common.get(c) != Some(&before[b]) {
            // The opposite element already has a partner that comes later.
            let opposite_is_common = a < after.len() && common.get(c) == Some(&after[a]);
            if a < after.len() && !opposite_is_common && comparable(b, a) {
                pairs.push((Some(b), Some(a)));
                a += 1;
            } else {
                pairs.push((Some(b), None));
            }
            b += 1;
        }
        while a < after.len() && common.get(c) != Some(&after[a]) {
            // The element before is common or missing, so there is nothing to compare with.
            pairs.push((None, Some(a)));
            a += 1;
        }
        if c < common.len() {
            pairs.push((Some(b), Some(a)));
            b += 1;
            a += 1;
            c += 1;
        }
    }
    pairs
}

/// Returns a longest common subsequence.
///
/// Common prefixes and suffixes need no table. If the rest is too large for the table, it is matched greedily by elements that occur
/// exactly once on both sides.
fn common_subsequence(before: &[u32], after: &[u32]) -> Vec<u32> {
    // Plans usually change few elements, so most of a list is prefix or suffix.
    let start = before.iter().zip(after).take_while(|(b, a)| b == a).count();
    let (before_rest, after_rest) = (&before[start..], &after[start..]);
    let end = before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(|(b, a)| b == a).count();
    let before_middle = &before_rest[..before_rest.len() - end];
    let after_middle = &after_rest[..after_rest.len() - end];
    let mut common = before[..start].to_vec();
    // The product cannot overflow: it saturates far above the limit.
    if before_middle.len().saturating_mul(after_middle.len()) <= MOST_CELLS {
        common.extend(by_table(before_middle, after_middle));
    } else {
        common.extend(by_anchors(before_middle, after_middle));
    }
    common.extend_from_slice(&before_rest[before_rest.len() - end..]);
    common
}

fn by_table(before: &[u32], after: &[u32]) -> Vec<u32> {
    if before.is_empty() || after.is_empty() {
        return Vec::new();
    }
    let width = before.len();
    // Length of the longest common subsequence of `before[..=x]` and `after[..=y]`.
    let mut lengths = vec![0_u32; width * after.len()];
    let at = |lengths: &[u32], x: Option<usize>, y: Option<usize>| match (x, y) {
        (Some(x), Some(y)) => lengths[y * width + x],
        _ => 0,
    };
    for (y, after_id) in after.iter().enumerate() {
        for (x, before_id) in before.iter().enumerate() {
            let (left, up) = (x.checked_sub(1), y.checked_sub(1));
            lengths[y * width + x] = if before_id == after_id {
                at(&lengths, left, up) + 1
            } else {
                at(&lengths, left, Some(y)).max(at(&lengths, Some(x), up))
            };
        }
    }
    let mut common = Vec::new();
    let (mut x, mut y) = (width.checked_sub(1), after.len().checked_sub(1));
    while let (Some(b), Some(a)) = (x, y) {
        if before[b] == after[a] {
            common.push(before[b]);
            x = b.checked_sub(1);
            y = a.checked_sub(1);
        } else if at(&lengths, b.checked_sub(1), y) > at(&lengths, x, a.checked_sub(1)) {
            x = b.checked_sub(1);
        } else {
            // A tie decides among several longest subsequences: plans show the same one as Terraform's.
            y = a.checked_sub(1);
        }
    }
    common.reverse();
    common
}

fn by_anchors(before: &[u32], after: &[u32]) -> Vec<u32> {
    // Elements that occur once on both sides are unambiguous anchors.
    let once = |ids: &[u32]| {
        let mut seen: HashMap<u32, (usize, usize)> = HashMap::new();
        for (position, id) in ids.iter().enumerate() {
            seen.entry(*id).and_modify(|(_, count)| *count += 1).or_insert((position, 1));
        }
        seen
    };
    let in_after = once(after);
    let in_before = once(before);
    let mut next = 0;
    let mut common = Vec::new();
    for id in before {
        let unique = in_before.get(id).is_some_and(|(_, count)| *count == 1);
        if let Some((position, 1)) = in_after.get(id)
            && unique
            // Anchors must not cross: positions only grow.
            && *position >= next
        {
            common.push(*id);
            next = position + 1;
        }
    }
    common
}

/// Whether both values are rendered identically. An unknown value equals no other.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a.kind(), b.kind()) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Bool(a), Kind::Bool(b)) => a == b,
        (Kind::Number(a), Kind::Number(b)) => a == b,
        (Kind::String(a), Kind::String(b)) => a == b,
        (Kind::Map(a), Kind::Map(b)) => same_entries(a.iter(), b.iter()),
        // A map and an object with equal entries are rendered alike.
        (Kind::Map(a), Kind::Object(b)) => same_entries(a.iter(), b.iter()),
        (Kind::Object(a), Kind::Map(b)) => same_entries(a.iter(), b.iter()),
        (Kind::Object(a), Kind::Object(b)) => same_entries(a.iter(), b.iter()),
        _ => match (a.as_slice(), b.as_slice()) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            _ => false,
        },
    }
}

fn same_entries<'a>(
    a: impl ExactSizeIterator<Item = (&'a groma_value::Name, &'a Value)>,
    b: impl ExactSizeIterator<Item = (&'a groma_value::Name, &'a Value)>,
) -> bool {
    // Both iterate in the order of their keys.
    a.len() == b.len() && a.zip(b).all(|((a_key, a), (b_key, b))| a_key == b_key && same(a, b))
}

/// Returns a hash that is consistent with [`same`].
pub(super) fn digest(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}

fn feed(value: &Value, hasher: &mut DefaultHasher) {
    match value.kind() {
        Kind::Null => 0_u8.hash(hasher),
        Kind::Unknown(_) => 1_u8.hash(hasher),
        Kind::Bool(value) => (2_u8, value).hash(hasher),
        // Equal numbers have equal texts, whatever their representation.
        Kind::Number(number) => (3_u8, number.to_string()).hash(hasher),
        Kind::String(text) => (4_u8, text).hash(hasher),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            // The kind of sequence is not hashed, because `same` ignores it.
            (5_u8, values.len()).hash(hasher);
            values.iter().for_each(|value| feed(value, hasher));
        }
        Kind::Map(map) => feed_entries(map.iter(), hasher),
        Kind::Object(object) => feed_entries(object.iter(), hasher),
    }
}

fn feed_entries<'a>(
    entries: impl ExactSizeIterator<Item = (&'a groma_value::Name, &'a Value)>,
    hasher: &mut DefaultHasher,
) {
    (6_u8, entries.len()).hash(hasher);
    for (key, value) in entries {
        key.hash(hasher);
        feed(value, hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(numbers: &[i64]) -> Vec<Value> {
        numbers.iter().map(|n| Value::number(*n)).collect()
    }

    fn shown(before: &[i64], after: &[i64]) -> String {
        let pairs = align_values(&list(before), &list(after), |_, _| false);
        let words = pairs.into_iter().map(|pair| match pair {
            (Some(b), Some(a)) if before[b] == after[a] => before[b].to_string(),
            (Some(b), Some(a)) => format!("{}>{}", before[b], after[a]),
            (Some(b), None) => format!("-{}", before[b]),
            (None, Some(a)) => format!("+{}", after[a]),
            (None, None) => "?".to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn list_that_loses_an_element_is_aligned_by_position() {
        // One element is gone and the lengths are equal, so elements are compared in place.
        assert_eq!(shown(&[1, 2, 3], &[1, 3, 4]), "1 2>3 3>4");
        assert_eq!(shown(&[1, 2, 3, 4, 5], &[1, 2, 3, 3, 5]), "1 2 3 4>3 5");
        assert_eq!(shown(&[1, 2, 3], &[3, 3, 1]), "1>3 2>3 3>1");
    }

    #[test]
    fn other_lists_are_aligned_by_longest_common_subsequence() {
        // All elements are still present, so the first one was moved to the end.
        assert_eq!(shown(&[1, 2, 3, 4], &[2, 3, 4, 1]), "-1 2 3 4 +1");
        assert_eq!(shown(&[1, 2, 2], &[3, 1, 2]), "+3 1 2 -2");
        assert_eq!(shown(&[1, 2, 3], &[3, 2, 1]), "-1 -2 3 +2 +1");
        assert_eq!(shown(&[1, 2, 3, 4, 5], &[1, 3, 2, 5, 4]), "1 -2 3 -4 +2 5 +4");
        assert_eq!(shown(&[1, 1, 2, 2], &[1, 2, 2, 5]), "1 -1 2 2 +5");
        assert_eq!(shown(&[1, 1, 1, 1, 1, 1, 1, 1], &[1, 1, 1, 1, 2, 1, 1, 1]), "1 1 1 1 +2 1 1 1 -1");
        assert_eq!(shown(&[1, 2, 3, 4], &[1, 9, 3, 4, 5]), "1 -2 +9 3 4 +5");
    }

    #[test]
    fn equal_number_of_lines_is_aligned_by_position() {
        let shown = |before: &str, after: &str| {
            let (before, after): (Vec<&str>, Vec<&str>) = (before.split(' ').collect(), after.split(' ').collect());
            let pairs = align_lines(&before, &after).into_iter().map(|pair| match pair {
                (Some(b), Some(_)) => before[b].to_owned(),
                (Some(b), None) => format!("-{}", before[b]),
                (None, a) => format!("+{}", after[a.unwrap()]),
            });
            pairs.collect::<Vec<_>>().join(" ")
        };
        // Every line moved, but the number of lines is equal.
        assert_eq!(shown("a b c d", "b c d e"), "-a +b -b +c -c +d -d +e");
        assert_eq!(shown("a b c", "x b y"), "-a +x b -c +y");
        assert_eq!(shown("a b c", "b c a"), "-a b c +a");
        // The number of lines differs, so the common lines are aligned.
        assert_eq!(shown("a b c", "b c d e"), "-a b c +d +e");
    }

    #[test]
    fn huge_lists_are_matched_in_linear_time() {
        let before: Vec<u32> = (0..200_000).collect();
        let after: Vec<u32> = (1..200_001).rev().chain([7]).collect();
        // A quadratic method would take minutes for this input.
        assert!(!align(&before, &after, |_, _| false).is_empty());
    }
}
