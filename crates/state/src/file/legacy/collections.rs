//! Format 2 counted the elements of lists, sets and maps alike under `#`; since format 3 a map's count is under `%`.

use std::collections::{BTreeMap, BTreeSet};

/// Gives the counts of what must be maps their name of today, and leaves out the counts of what is empty, since nobody can
/// tell what that is: its provider sees that it is not there.
pub(super) fn name_maps(flat: &mut BTreeMap<String, String>) {
    let prefixes: Vec<String> = flat
        .keys()
        .filter_map(|key| key.strip_suffix('#'))
        .filter(|prefix| prefix.ends_with('.'))
        .map(Into::into)
        .collect();
    for prefix in prefixes {
        let names = element_names(flat, &prefix);
        if !names.is_empty() && names.iter().all(|name| is_index(name)) {
            continue;
        }
        let count = flat.remove(&format!("{prefix}#"));
        if let Some(count) = count.filter(|_| !names.is_empty()) {
            flat.insert(format!("{prefix}%"), count);
        }
    }
}

/// The names or indexes directly below `prefix`.
fn element_names(flat: &BTreeMap<String, String>, prefix: &str) -> BTreeSet<String> {
    let below = flat.range(prefix.to_owned()..).map_while(|(key, _)| key.strip_prefix(prefix));
    below.filter(|rest| *rest != "#").map(|rest| rest.split('.').next().unwrap_or_default().to_owned()).collect()
}

/// The index of a list, or the hash of a set's element.
fn is_index(name: &str) -> bool {
    name.parse::<i64>().is_ok()
}
