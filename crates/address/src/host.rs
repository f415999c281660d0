//! Names of hosts, as addresses of providers and modules have them.

use idna::AsciiDenyList;
use idna::uts46::{Hyphens, Uts46};

/// A host as addresses write it: in lower case, its name in Unicode, the port only where it is not that of https. Nothing for what
/// is no host, which the form of international names for machines (`xn--...`) is not either.
pub fn normal_host(text: &str) -> Option<String> {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let port: Option<u16> = match port {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => Some(digits.parse().ok()?),
        Some(_) => return None,
        None => None,
    };
    let name = normal_name(name)?;
    let labels = name.strip_suffix('.').unwrap_or(&name);
    if labels.is_empty() || labels.split('.').any(str::is_empty) {
        return None;
    }
    Some(port.filter(|port| *port != 443).map_or(name.clone(), |port| format!("{name}:{port}")))
}

/// A single part of an address that holds to the rules for the labels of hosts: no dots, no dashes at its ends.
pub(crate) fn normal_label(text: &str) -> Option<String> {
    normal_name(text).filter(|label| !label.is_empty() && !label.contains('.'))
}

fn normal_name(text: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.';
    if text.bytes().all(is_plain) {
        return Some(text.to_owned());
    }
    let is_for_machines = |label: &str| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
    if text.split('.').any(is_for_machines) {
        return None;
    }
    let (name, problems) = Uts46::new().to_unicode(text.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    problems.is_ok().then(|| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_form() {
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
    fn what_is_no_host_is_refused() {
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
