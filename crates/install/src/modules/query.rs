//! Query arguments of module source addresses that are for the installer instead of the server.

use reqwest::Url;

/// Removes an argument from the query and returns its value. The first of several counts; an empty one counts as
/// missing.
pub(super) fn take(url: &mut Url, name: &str) -> Option<String> {
    let mut found = None;
    let mut rest = Vec::new();
    for (key, value) in url.query_pairs() {
        if key == name {
            found.get_or_insert(value.into_owned());
        } else {
            rest.push((key.into_owned(), value.into_owned()));
        }
    }
    if found.is_some() {
        url.set_query(None);
        if !rest.is_empty() {
            url.query_pairs_mut().extend_pairs(rest);
        }
    }
    found.filter(|value| !value.is_empty())
}
