//! The queries of addresses: in part they are for us, and not for the server.

use reqwest::Url;

/// Takes an argument out of the query. The first of several counts, and an empty one is none.
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
