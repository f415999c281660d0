//! Addresses of packages in texts: without what only their user must know.

/// Query parameters that select a version or part, and contain no secrets.
const HARMLESS: [&str; 9] = ["ref", "depth", "archive", "checksum", "filename", "tag", "digest", "region", "version"];

/// The address without passwords, tokens and keys, and otherwise as it was written.
pub fn shown(address: &str) -> String {
    let (place, query) = address.split_once('?').map_or((address, None), |(place, query)| (place, Some(query)));
    let mut text = without_user(place);
    if let Some(query) = query {
        text.push('?');
        let mut sign = "";
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            text.push_str(sign);
            if value.is_empty() || HARMLESS.contains(&name) {
                text.push_str(pair);
            } else {
                text.push_str(&format!("{name}=..."));
            }
            sign = "&";
        }
    }
    text
}

/// `https://token@host/x` without the token; the name of an account that logs in with a key stays.
fn without_user(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let Some((user, host)) = authority.rsplit_once('@') else { return place.to_owned() };
    let name = user.split(':').next().unwrap_or_default();
    let is_key = scheme.ends_with("ssh") && !name.is_empty();
    let kept = if is_key { format!("{name}@") } else { String::new() };
    format!("{scheme}://{kept}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_of_an_address_is_shown() {
        for (address, wanted) in [
            ("git::https://me:s3cret@example.com/a.git?ref=v1", "git::https://example.com/a.git?ref=v1"),
            ("git::https://s3cret@example.com/a.git", "git::https://example.com/a.git"),
            ("https://me:s3@cret@example.com", "https://example.com"),
            (
                "git::ssh://git:s3cret@example.com/a.git?sshkey=s3cret&depth=1",
                "git::ssh://git@example.com/a.git?sshkey=...&depth=1",
            ),
            ("git::ssh://git@example.com/a.git", "git::ssh://git@example.com/a.git"),
            ("git@example.com:a/b.git", "git@example.com:a/b.git"),
            (
                "https://example.com/m.zip?X-Signature=s3cret&archive=zip",
                "https://example.com/m.zip?X-Signature=...&archive=zip",
            ),
            (
                "s3::https://bucket/m.zip?region=eu-west-1&aws_access_key_secret=s3cret",
                "s3::https://bucket/m.zip?region=eu-west-1&aws_access_key_secret=...",
            ),
            ("https://example.com/a@b/m.zip", "https://example.com/a@b/m.zip"),
            ("./local", "./local"),
        ] {
            assert_eq!(shown(address), wanted);
        }
    }
}
