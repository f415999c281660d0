//! Normalization of host names in provider and module addresses.

use idna::AsciiDenyList;
use idna::uts46::{Hyphens, Uts46};

/// Normalizes a host: lower case, Unicode instead of Punycode, and a port only if it differs from 443.
///
/// Returns `None` for an invalid host. Punycode (`xn--...`) is invalid too, because Terraform requires the Unicode
/// form in source addresses.
pub fn normal_host(text: &str) -> Option<String> {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let port: Option<u16> = match port {
        // Leading zeros are allowed, a sign is not (`parse` would accept `+1`).
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => Some(digits.parse().ok()?),
        Some(_) => return None,
        None => None,
    };
    let name = normal_name(name)?;
    // A trailing dot marks a fully qualified name and is valid.
    let labels = name.strip_suffix('.').unwrap_or(&name);
    if labels.is_empty() || labels.split('.').any(str::is_empty) {
        return None;
    }
    Some(port.filter(|port| *port != 443).map_or(name.clone(), |port| format!("{name}:{port}")))
}

/// Normalizes a namespace or provider name, which follows the rules of a host label: no dots, no leading or trailing
/// dash.
pub(crate) fn normal_label(text: &str) -> Option<String> {
    normal_name(text).filter(|label| !label.is_empty() && !label.contains('.'))
}

fn normal_name(text: &str) -> Option<String> {
    let is_ascii_label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.';
    // Nearly all hosts take this path, which avoids the IDNA tables.
    if text.bytes().all(is_ascii_label) {
        return Some(text.to_owned());
    }
    let is_punycode = |label: &str| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
    if text.split('.').any(is_punycode) {
        return None;
    }
    let (name, problems) = Uts46::new().to_unicode(text.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    problems.is_ok().then(|| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_normalized() {
        for (text, expected) in [
            ("Example.COM", "example.com"),
            ("a.b:0443", "a.b"),
            ("a.b:00080", "a.b:80"),
            ("a.b:0", "a.b:0"),
            ("a.b.", "a.b."),
            ("BÜCHER.example", "bücher.example"),
            ("straße.de", "straße.de"),
            ("a。b", "a.b"),
            ("ａ.b", "a.b"),
            ("☃.net", "☃.net"),
            ("a\u{ad}b.com", "ab.com"),
            ("a", "a"),
        ] {
            assert_eq!(normal_host(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn invalid_hosts_are_refused() {
        for text in [
            "",
            ".",
            "..",
            "a..b",
            ".a",
            "---.com",
            "-a.b",
            "a-.b",
            "a.-b",
            "a.b-",
            "ab--c.d",
            "xn--bcher-kva.example",
            "XN--c.d",
            "xn--bücher.example",
            "a_b.c",
            "a b.c",
            "a@b.c",
            "[::1]",
            "1א.com",
            "a\u{200d}b.com",
            "a.b:",
            "a.b:x",
            "a.b:+1",
            "a.b:65536",
            "a.b:1:2",
        ] {
            assert_eq!(normal_host(text), None, "{text}");
        }
    }
}
