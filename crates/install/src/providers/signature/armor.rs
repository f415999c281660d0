//! The text form of keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The bytes between `-----BEGIN PGP …-----` and its end.
pub(super) fn dearmor(text: &str) -> Option<Vec<u8>> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with("-----BEGIN PGP "));
    lines.next()?;
    let mut data = String::new();
    let mut in_headers = true;
    for line in lines {
        if line.starts_with("-----END PGP ") || line.starts_with('=') {
            return STANDARD.decode(data).ok();
        }
        if in_headers {
            in_headers = line.contains(": ");
            if in_headers {
                continue;
            }
        }
        data.push_str(line);
    }
    None
}
