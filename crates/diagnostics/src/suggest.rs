//! Guesses at what somebody meant to write.

/// The one of `candidates` that is the fewest edits (a character added, left out or replaced) away from `given`, and two at most.
///
/// Of several that are as near the first wins, so put the likelier ones first.
pub fn suggest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The same word is known for another place, and no help here.
    let others = candidates.into_iter().filter(|candidate| *candidate != given);
    let near = others.filter_map(|candidate| Some((edits(given, candidate)?, candidate)));
    near.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// ` Did you mean "x"?`, for the end of a message, where one of `candidates` is [suggested](suggest); or nothing.
pub fn did_you_mean<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    suggest(given, candidates).map_or_else(String::new, |meant| format!(" Did you mean \"{meant}\"?"))
}

/// How many edits make `b` of `a`, if two are enough: only the diagonal band of the table that can hold such small distances
/// is walked.
fn edits(a: &str, b: &str) -> Option<usize> {
    const LIMIT: usize = 2;
    // Bytes never outnumber four to a character, so very different lengths need no decoding.
    if a.len() > 4 * (b.len() + LIMIT) || b.len() > 4 * (a.len() + LIMIT) {
        return None;
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > LIMIT {
        return None;
    }
    let far = LIMIT + 1;
    let mut before: Vec<usize> = (0..=b.len()).map(|column| column.min(far)).collect();
    let mut now = vec![far; b.len() + 1];
    for (row, have) in a.iter().enumerate() {
        now.fill(far);
        now[0] = (row + 1).min(far);
        let first = (row + 1).saturating_sub(LIMIT).max(1);
        let last = (row + 1 + LIMIT).min(b.len());
        for column in first..=last {
            let replaced = before[column - 1] + usize::from(*have != b[column - 1]);
            now[column] = replaced.min(before[column] + 1).min(now[column - 1] + 1).min(far);
        }
        std::mem::swap(&mut before, &mut now);
    }
    Some(before[b.len()]).filter(|edits| *edits <= LIMIT)
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
        assert_eq!(suggest("", ["ab", "abc"]), Some("ab"));
        assert_eq!(suggest("ééé", ["eéé"]), Some("eéé"));
    }

    #[test]
    fn the_band_agrees_with_the_whole_table() {
        let words =
            ["", "a", "ab", "ba", "abc", "acb", "abcd", "xabc", "xyabc", "xyzabc", "abcxyz", "kitten", "sitting"];
        for a in words {
            for b in words {
                assert_eq!(edits(a, b), Some(whole_distance(a, b)).filter(|edits| *edits <= 2), "{a} {b}");
            }
        }
    }

    fn whole_distance(a: &str, b: &str) -> usize {
        match (a.chars().next(), b.chars().next()) {
            (None, _) => b.len(),
            (_, None) => a.len(),
            (Some(x), Some(y)) if x == y => whole_distance(&a[1..], &b[1..]),
            _ => 1 + whole_distance(&a[1..], b).min(whole_distance(a, &b[1..])).min(whole_distance(&a[1..], &b[1..])),
        }
    }
}
