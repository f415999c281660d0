//! Short forms of package addresses, written out.

/// `address` as a URL, perhaps with a protocol in front (`git::`).
///
/// # Errors
/// It is neither a URL nor a known short form.
pub(super) fn complete(address: &str) -> Result<String, String> {
    let (forced, rest) = match forced(address) {
        Some((protocol, rest)) => (Some(protocol), rest),
        None => (None, address),
    };
    if has_scheme(rest) {
        return if has_right_port(rest) {
            Ok(address.to_owned())
        } else {
            Err(format!(
                "The port in {rest:?} is no number. Behind the host and a colon comes a port, and behind a slash the path."
            ))
        };
    }
    let found = shorthand(rest)?.ok_or_else(|| {
        format!(
            "There is no way to tell how to install {rest:?}. If it is a folder of this package, write \"./{rest}\": the dot says that the \
             path is relative to this module."
        )
    })?;
    let (found_protocol, url) = self::forced(&found).map_or((None, &*found), |(protocol, url)| (Some(protocol), url));
    Ok(match forced.or(found_protocol) {
        Some(protocol) => format!("{protocol}::{url}"),
        None => url.to_owned(),
    })
}

/// The protocol in front of an address, and what follows.
fn forced(address: &str) -> Option<(&str, &str)> {
    let (protocol, rest) = address.split_once("::")?;
    let is_protocol = !protocol.is_empty() && protocol.chars().all(|c| c.is_ascii_alphanumeric());
    (is_protocol && !rest.is_empty()).then_some((protocol, rest))
}

/// Whether it begins as a URL does: `scheme:`.
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// Whether the port of a URL, if it has one, is a number.
fn has_right_port(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return true };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let behind_address = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    behind_address.split_once(':').is_none_or(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()))
}

fn shorthand(text: &str) -> Result<Option<String>, String> {
    let (place, query) = text.split_at(text.find('?').unwrap_or(text.len()));
    if place.starts_with('/') {
        return Ok(Some(format!("file://{text}")));
    }
    for host in ["github.com", "bitbucket.org"] {
        if place.strip_prefix(host).is_some_and(|rest| rest.starts_with('/')) {
            return repository(host, place).map(|url| Some(format!("git::{url}{query}")));
        }
    }
    if let Some(url) = secure_shell(place) {
        return Ok(Some(format!("git::{url}{}", written_anew(query))));
    }
    if place.contains(".amazonaws.com/") {
        return bucket(place).map(|url| Some(format!("s3::{url}{query}")));
    }
    if place.contains("googleapis.com/") {
        return google_bucket(place).map(|url| Some(format!("gcs::{url}{query}")));
    }
    Ok(None)
}

fn repository(host: &str, place: &str) -> Result<String, String> {
    let mut parts = place.splitn(4, '/').skip(1);
    let (Some(owner), Some(name)) = (parts.next(), parts.next().filter(|name| !name.is_empty())) else {
        return Err(format!("A repository there is written {host}/OWNER/NAME, and this is {place:?}."));
    };
    let name = name.strip_suffix(".git").unwrap_or(name);
    let below = parts.next().filter(|rest| !rest.is_empty());
    // On GitHub nothing but a folder of the repository can be meant.
    let divider = if host == "github.com" { "//" } else { "/" };
    let below = below.map(|rest| format!("{divider}{rest}")).unwrap_or_default();
    Ok(format!("https://{host}/{owner}/{name}.git{below}"))
}

/// `git@host:path`, as `scp` and git have it.
fn secure_shell(place: &str) -> Option<String> {
    let (host, path) = place.strip_prefix("git@")?.split_once(':')?;
    let path = path.strip_prefix('/').unwrap_or(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("ssh://git@{host}/{path}"))
}

/// The arguments of an address as Terraform writes those of `git@host:path` into the manifest of modules: in the order of their names, with
/// every character escaped that has a meaning anywhere in a URL.
fn written_anew(query: &str) -> String {
    let arguments = form_urlencoded::parse(query.strip_prefix('?').unwrap_or_default().as_bytes());
    let mut arguments: Vec<_> = arguments.collect();
    if arguments.is_empty() {
        return String::new();
    }
    // Those of one name stay in their order.
    arguments.sort_by(|(one, _), (other, _)| one.cmp(other));
    let text = form_urlencoded::Serializer::for_suffix(String::from("?"), 1).extend_pairs(arguments).finish();
    // Form encoding escapes these two the other way.
    text.replace("%7E", "~").replace('*', "%2A")
}

fn bucket(place: &str) -> Result<String, String> {
    let wrong = || format!("{place:?} is no address of an S3 object. Write BUCKET.s3.REGION.amazonaws.com/KEY.");
    let (host, key) = place.split_once('/').ok_or_else(wrong)?;
    match *host.split('.').collect::<Vec<_>>() {
        [region, _, _] => Ok(format!("https://{region}.amazonaws.com/{key}")),
        [bucket, region, _, _] => Ok(format!("https://{region}.amazonaws.com/{bucket}/{key}")),
        [bucket, "s3", region, _, _] => Ok(format!("https://s3-{region}.amazonaws.com/{bucket}/{key}")),
        _ => Err(wrong()),
    }
}

fn google_bucket(place: &str) -> Result<String, String> {
    match *place.splitn(5, '/').collect::<Vec<_>>() {
        [_, _, version, bucket, object] => {
            Ok(format!("https://www.googleapis.com/storage/{version}/{bucket}/{object}"))
        }
        _ => Err(format!(
            "{place:?} is no address of a Cloud Storage object. Write www.googleapis.com/storage/v1/BUCKET/OBJECT."
        )),
    }
}
