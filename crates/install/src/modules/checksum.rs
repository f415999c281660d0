//! `?checksum=KIND:HEX`: what a download must be.

use std::io::{self, Read};

use sha2::Digest;

use super::error::FetchError;
use crate::hex::hex;

/// Checks that `content` has the checksum `wanted`: `md5:`, `sha1:`, `sha256:` or `sha512:` and hexadecimal digits, of which the
/// number says enough.
pub(super) fn check(content: &mut dyn Read, wanted: &str) -> Result<(), FetchError> {
    let (kind, digits) = wanted.split_once(':').unwrap_or((by_length(wanted), wanted));
    let found = match kind {
        "md5" => digest::<md5::Md5>(content),
        "sha1" => digest::<sha1::Sha1>(content),
        "sha256" => digest::<sha2::Sha256>(content),
        "sha512" => digest::<sha2::Sha512>(content),
        _ => {
            return Err(FetchError::Other(format!(
                "the checksum {wanted:?} is of no known kind: write md5:, sha1:, sha256: or sha512: and hexadecimal digits"
            )));
        }
    };
    let found = found.map_err(FetchError::file("the download cannot be read"))?;
    if found.eq_ignore_ascii_case(digits) {
        return Ok(());
    }
    Err(FetchError::Other(format!(
        "checksums did not match: the download has {kind}:{found}, and {kind}:{digits} was expected"
    )))
}

fn by_length(digits: &str) -> &'static str {
    match digits.len() {
        32 => "md5",
        40 => "sha1",
        64 => "sha256",
        128 => "sha512",
        _ => "",
    }
}

fn digest<D: Digest>(content: &mut dyn Read) -> io::Result<String> {
    let mut digest = D::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match content.read(&mut buffer)? {
            0 => break,
            length => digest.update(buffer.get(..length).unwrap_or_default()),
        }
    }
    Ok(hex(&digest.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_download_is_refused() {
        let good = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(check(&mut b"abc".as_slice(), good).is_ok());
        assert!(check(&mut b"abc".as_slice(), good.trim_start_matches("sha256:")).is_ok());
        assert!(check(&mut b"abd".as_slice(), good).unwrap_err().to_string().contains("did not match"));
        assert!(check(&mut b"abc".as_slice(), "md5:900150983cd24fb0d6963f7d28e17f72").is_ok());
        assert!(check(&mut b"abc".as_slice(), "crc:1").is_err());
    }
}
