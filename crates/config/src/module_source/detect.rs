//! Expansion of short package addresses to URLs.

use super::SourceAddressError;

/// Expands `address` to a URL with an optional forced protocol (`git::`).
///
/// # Errors
/// The address is neither a URL nor a known short form.
pub(super) fn complete(address: &str) -> Result<String, SourceAddressError> {
    let (forced, rest) = match forced(address) {
        Some((protocol, rest)) => (Some(protocol), rest),
        None => (None, address),
    };
    if has_scheme(rest) {
        return if has_right_port(rest) {
            Ok(address.to_owned())
        } else {
            Err(SourceAddressError::Port(rest.to_owned()))
        };
    }
    let found = shorthand(rest)?.ok_or_else(|| SourceAddressError::Unknown(rest.to_owned()))?;
    let (found_protocol, url) = self::forced(&found).map_or((None, &*found), |(protocol, url)| (Some(protocol), url));
    Ok(match forced.or(found_protocol) {
        Some(protocol) => format!("{protocol}::{url}"),
        None => url.to_owned(),
    })
}

/// Splits a forced protocol (`git::`) from an address.
fn forced(address: &str) -> Option<(&str, &str)> {
    let (protocol, rest) = address.split_once("::")?;
    let is_protocol = !protocol.is_empty() && protocol.chars().all(|c| c.is_ascii_alphanumeric());
    (is_protocol && !rest.is_empty()).then_some((protocol, rest))
}

/// Whether the text begins with a URL scheme: `https:`.
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// Whether the port of a URL, if present, is a number.
fn has_right_port(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return true };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // The colons of an IPv6 address in brackets are not port separators.
    let after_brackets = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    after_brackets.split_once(':').is_none_or(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()))
}

fn shorthand(text: &str) -> Result<Option<String>, SourceAddressError> {
    let (base, query) = text.split_at(text.find('?').unwrap_or(text.len()));
    if base.starts_with('/') {
        return Ok(Some(format!("file://{text}")));
    }
    for host in ["github.com", "bitbucket.org"] {
        if base.strip_prefix(host).is_some_and(|rest| rest.starts_with('/')) {
            return repository(host, base).map(|url| Some(format!("git::{url}{query}")));
        }
    }
    if let Some(url) = secure_shell(base) {
        return Ok(Some(format!("git::{url}{}", normalize_query(query))));
    }
    if base.contains(".amazonaws.com/") {
        return bucket(base).map(|url| Some(format!("s3::{url}{query}")));
    }
    if base.contains("googleapis.com/") {
        return google_bucket(base).map(|url| Some(format!("gcs::{url}{query}")));
    }
    Ok(None)
}

fn repository(host: &'static str, base: &str) -> Result<String, SourceAddressError> {
    let mut parts = base.splitn(4, '/').skip(1);
    let (Some(owner), Some(name)) = (parts.next(), parts.next().filter(|name| !name.is_empty())) else {
        return Err(SourceAddressError::Repository { address: base.to_owned(), host });
    };
    let name = name.strip_suffix(".git").unwrap_or(name);
    let below = parts.next().filter(|rest| !rest.is_empty());
    // For GitHub a path after the repository is a subdirectory. Terraform does not treat Bitbucket paths this way.
    let divider = if host == "github.com" { "//" } else { "/" };
    let below = below.map(|rest| format!("{divider}{rest}")).unwrap_or_default();
    Ok(format!("https://{host}/{owner}/{name}.git{below}"))
}

/// Expands the scp-like form `git@host:path` to an `ssh://` URL.
fn secure_shell(base: &str) -> Option<String> {
    let (host, path) = base.strip_prefix("git@")?.split_once(':')?;
    let path = path.strip_prefix('/').unwrap_or(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("ssh://git@{host}/{path}"))
}

/// Normalizes the query string as Terraform does for `git@host:path` sources in the module manifest: sorted by name,
/// with all reserved characters escaped.
fn normalize_query(query: &str) -> String {
    let arguments = form_urlencoded::parse(query.strip_prefix('?').unwrap_or_default().as_bytes());
    let mut arguments: Vec<_> = arguments.collect();
    if arguments.is_empty() {
        return String::new();
    }
    // A stable sort keeps the order of arguments with the same name.
    arguments.sort_by(|(one, _), (other, _)| one.cmp(other));
    let text = form_urlencoded::Serializer::for_suffix(String::from("?"), 1).extend_pairs(arguments).finish();
    // Go's `url.Values` escapes `*` but not `~`; form encoding does the opposite.
    text.replace("%7E", "~").replace('*', "%2A")
}

fn bucket(base: &str) -> Result<String, SourceAddressError> {
    let wrong = || SourceAddressError::Bucket(base.to_owned());
    let (host, key) = base.split_once('/').ok_or_else(wrong)?;
    match *host.split('.').collect::<Vec<_>>() {
        // Path style: the bucket is the first part of the key.
        [region, _, _] => Ok(format!("https://{region}.amazonaws.com/{key}")),
        // Virtual-host style: the bucket is the first label of the host.
        [bucket, region, _, _] => Ok(format!("https://{region}.amazonaws.com/{bucket}/{key}")),
        // Virtual-host style with a separate region label, normalized to the same form.
        [bucket, "s3", region, _, _] => Ok(format!("https://s3-{region}.amazonaws.com/{bucket}/{key}")),
        _ => Err(wrong()),
    }
}

fn google_bucket(base: &str) -> Result<String, SourceAddressError> {
    match *base.splitn(5, '/').collect::<Vec<_>>() {
        [_, _, version, bucket, object] => {
            Ok(format!("https://www.googleapis.com/storage/{version}/{bucket}/{object}"))
        }
        _ => Err(SourceAddressError::GoogleBucket(base.to_owned())),
    }
}
