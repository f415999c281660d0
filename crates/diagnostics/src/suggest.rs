//! Guesses at what somebody meant to write.

/// Returns the candidate that is nearest to `given`, within two edits and one edit for every
/// three characters. An edit adds, removes or replaces a character, or swaps two neighbors.
///
/// Of several that are as near the first wins, so put the likelier ones first.
pub fn suggest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The same word is known for another place, and no help here.
    let others = candidates.into_iter().filter(|candidate| *candidate != given);
    let near = others.filter_map(|candidate| Some((distance(given, candidate)?, candidate)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// ` Did you mean "x"?`, for the end of a message, where one of `candidates` is [suggested](suggest); or nothing.
pub fn did_you_mean<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    suggest(given, candidates).map_or_else(String::new, |meant| format!(" Did you mean \"{meant}\"?"))
}

/// More edits than this make another word, however long it is.
const MOST_EDITS: usize = 2;

/// The number of edits between two words; nothing if they are not near.
fn distance(a: &str, b: &str) -> Option<usize> {
    // Bytes never outnumber four to a character, so very different lengths need no decoding.
    if a.len() > 4 * (b.len() + MOST_EDITS) || b.len() > 4 * (a.len() + MOST_EDITS) {
        return None;
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.iter().flat_map(|c| c.to_lowercase()).eq(b.iter().flat_map(|c| c.to_lowercase())) {
        return Some(1);
    }
    edits(&a, &b, MOST_EDITS.min(a.len().max(b.len()) / 3))
}

/// The number of edits from `a` to `b`, if it is within `limit`: only the diagonal band of the table that can hold such small
/// distances is walked.
fn edits(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let far = limit + 1;
    let row_zero: Vec<usize> = (0..=b.len()).map(|column| column.min(far)).collect();
    let (mut before_that, mut before, mut now) = (vec![far; b.len() + 1], row_zero, vec![far; b.len() + 1]);
    for (row, have) in a.iter().enumerate() {
        now.fill(far);
        now[0] = (row + 1).min(far);
        let first = (row + 1).saturating_sub(limit).max(1);
        let last = (row + 1 + limit).min(b.len());
        for column in first..=last {
            let replaced = before[column - 1] + usize::from(*have != b[column - 1]);
            let mut least = replaced.min(before[column] + 1).min(now[column - 1] + 1);
            if row > 0 && column > 1 && *have == b[column - 2] && a[row - 1] == b[column - 1] {
                least = least.min(before_that[column - 2] + 1);
            }
            now[column] = least.min(far);
        }
        std::mem::swap(&mut before_that, &mut before);
        std::mem::swap(&mut before, &mut now);
    }
    Some(before[b.len()]).filter(|edits| *edits <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name() {
        let names = ["count", "for_each", "provider", "depends_on"];
        assert_eq!(suggest("for_eahc", names), Some("for_each"));
        assert_eq!(suggest("conut", names), Some("count"));
        assert_eq!(suggest("dependson", names), Some("depends_on"));
        assert_eq!(suggest("lifecycle", names), None);
        assert_eq!(suggest("count", names), None);
        assert_eq!(suggest("otput", ["input", "output"]), Some("output"));
        assert_eq!(suggest("nmae", ["name"]), Some("name"));
        assert_eq!(suggest("ééé", ["eéé"]), Some("eéé"));
    }

    #[test]
    fn a_word_with_little_in_common_is_no_suggestion() {
        for (given, other) in
            [("z", "x"), ("", "ab"), ("id", "ip"), ("xy", "x"), ("abc", "xyc"), ("port", "name"), ("size", "side_a")]
        {
            assert_eq!(suggest(given, [other]), None, "{given} {other}");
        }
    }

    #[test]
    fn case_alone_is_a_slip_of_any_length() {
        assert_eq!(suggest("ID", ["ip", "id"]), Some("id"));
    }

    #[test]
    fn the_band_agrees_with_the_whole_table() {
        let words = [
            "", "a", "ab", "ba", "abc", "acb", "abcd", "xabc", "xyabc", "xyzabc", "abcxyz", "kitten", "sitting",
            "bacd", "badc",
        ];
        for a in words {
            for b in words {
                let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
                for limit in 0..3 {
                    let whole = Some(whole_distance(&a, &b)).filter(|edits| *edits <= limit);
                    assert_eq!(edits(&a, &b, limit), whole, "{a:?} {b:?}");
                }
            }
        }
    }

    fn whole_distance(a: &[char], b: &[char]) -> usize {
        match (a, b) {
            ([], _) => b.len(),
            (_, []) => a.len(),
            ([x, first @ ..], [y, second @ ..]) if x == y => whole_distance(first, second),
            ([x, first @ ..], [y, second @ ..]) => {
                let swapped = match (first, second) {
                    ([other, first @ ..], [same, second @ ..]) if other == y && same == x => {
                        whole_distance(first, second)
                    }
                    _ => usize::MAX - 1,
                };
                1 + whole_distance(first, b)
                    .min(whole_distance(a, second))
                    .min(whole_distance(first, second))
                    .min(swapped)
            }
        }
    }
}
