//! Checksums of downloads: `?checksum=TYPE:HEX` and `?checksum=file:LIST`.

use std::fs;
use std::io::{self, Read};

use reqwest::Url;
use sha2::Digest;

use super::FetchError;
use crate::hex;
use crate::http::Http;

/// The maximum size of a checksum list in bytes.
const LARGEST_LIST: u64 = 16 << 20;

/// Returns the expected checksum of the download from `url`: `sum` itself, or the entry in the list that it names
/// (`file:URL`).
pub(super) async fn wanted(http: &Http, sum: String, url: &Url) -> Result<String, FetchError> {
    let Some(place) = sum.strip_prefix("file:") else { return Ok(sum) };
    let list = match Url::parse(place) {
        Ok(address) if matches!(address.scheme(), "http" | "https") => {
            let answer = http.get(&address, None, LARGEST_LIST).await?;
            if !answer.status.is_success() {
                let code = answer.status.as_u16();
                return Err(FetchError::Other(format!("cannot download the checksum list: bad response code: {code}")));
            }
            String::from_utf8_lossy(&answer.body).into_owned()
        }
        _ => fs::read_to_string(place).map_err(FetchError::file("cannot read the checksum list"))?,
    };
    // A list usually covers several files, and the entry is found by the name of the download.
    let name = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    listed(&list, name).ok_or_else(|| FetchError::Other(format!("the checksum list has no entry for {name:?}")))
}

/// Finds the checksum of the file `name` in a list in the format of `sha256sum` or of the BSD tools. A line with
/// nothing but a checksum applies to any file.
fn listed(list: &str, name: &str) -> Option<String> {
    list.lines().find_map(|line| {
        // `SHA256 (FILE) = DIGITS`; all other lines are `DIGITS  FILE`.
        let bsd = line.split_once(" (").and_then(|(kind, rest)| Some((kind, rest.split_once(") = ")?)));
        let (sum, file) = match bsd {
            Some((kind, (file, digits))) => (format!("{}:{}", kind.trim().to_ascii_lowercase(), digits.trim()), file),
            None => match line.trim().split_once(char::is_whitespace) {
                Some((digits, file)) => (digits.to_owned(), file.trim_start().trim_start_matches('*')),
                None => (line.trim().to_owned(), name),
            },
        };
        (!sum.is_empty() && file.trim_start_matches("./") == name).then_some(sum)
    })
}

/// Checks that `content` has the checksum `wanted`: `md5:`, `sha1:`, `sha256:` or `sha512:` and hexadecimal digits.
/// Without a prefix, the number of digits selects the algorithm.
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
        // No known kind: `check` then reports the checksum.
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
    fn lists_have_the_forms_of_the_usual_tools() {
        let list = "aa  other.zip\nbb *./m.zip\n";
        assert_eq!(listed(list, "m.zip").as_deref(), Some("bb"));
        assert_eq!(listed("SHA256 (m.zip) = cc\n", "m.zip").as_deref(), Some("sha256:cc"));
        assert_eq!(listed("\ndd\n", "m.zip").as_deref(), Some("dd"));
        assert_eq!(listed(list, "none.zip"), None);
    }

    #[test]
    fn changed_download_is_refused() {
        let good = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(check(&mut b"abc".as_slice(), good).is_ok());
        assert!(check(&mut b"abc".as_slice(), good.trim_start_matches("sha256:")).is_ok());
        assert!(check(&mut b"abd".as_slice(), good).unwrap_err().to_string().contains("did not match"));
        assert!(check(&mut b"abc".as_slice(), "md5:900150983cd24fb0d6963f7d28e17f72").is_ok());
        assert!(check(&mut b"abc".as_slice(), "crc:1").is_err());
    }
}
