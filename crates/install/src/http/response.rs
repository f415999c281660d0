//! Complete HTTP responses, and their decompression.

use std::io::Read;

use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url};

use super::error::{HttpError, without_secrets};

/// A response whose body was received completely.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status, which may be that of an error.
    pub status: StatusCode,
    /// The headers of the final response, after redirects.
    pub headers: HeaderMap,
    /// The body, no longer than the limit of the request.
    pub body: Vec<u8>,
    /// The final URL, after redirects.
    pub url: Url,
}

impl Response {
    /// Returns the value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A response whose body may not have been read yet.
pub(super) trait ResponseHead {
    fn status(&self) -> StatusCode;
    fn headers(&self) -> &HeaderMap;
}

impl ResponseHead for Response {
    fn status(&self) -> StatusCode {
        self.status
    }

    fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

impl ResponseHead for reqwest::Response {
    fn status(&self) -> StatusCode {
        self.status()
    }

    fn headers(&self) -> &HeaderMap {
        self.headers()
    }
}

/// Decompresses a document. The client requests no compression, but static file servers may send files that are stored
/// compressed.
pub(super) fn unpacked(body: Vec<u8>, encoding: Option<&str>, url: &Url, limit: u64) -> Result<Vec<u8>, HttpError> {
    let is_packed = encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("gzip"));
    // Some servers announce gzip for files that they send unpacked.
    if !is_packed || !body.starts_with(&[0x1f, 0x8b]) {
        return Ok(body);
    }
    let received = body.len() as u64;
    let mut whole = Vec::new();
    // The limit applies to the decompressed document, which may be a thousand times larger.
    let mut bounded = flate2::read::MultiGzDecoder::new(&body[..]).take(limit.saturating_add(1));
    bounded.read_to_end(&mut whole).map_err(|error| HttpError::Truncated {
        url: without_secrets(url),
        received,
        reason: format!("cannot decompress the response: {error}"),
    })?;
    let is_too_large = whole.len() as u64 > limit;
    if is_too_large { Err(HttpError::TooLarge { url: without_secrets(url), limit }) } else { Ok(whole) }
}

/// Separates a response from its body.
pub(super) fn head(answer: reqwest::Response) -> (Response, reqwest::Response) {
    let response = Response {
        status: answer.status(),
        headers: answer.headers().clone(),
        body: Vec::new(),
        url: answer.url().clone(),
    };
    (response, answer)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn compressed_document_is_decompressed_up_to_the_limit() {
        let url = "https://example.com/index.json".parse().unwrap();
        let pack = |content: &[u8]| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(content).unwrap();
            packer.finish().unwrap()
        };
        let seen = |body, encoding| unpacked(body, encoding, &url, 1 << 16).map_err(|error| error.to_string());
        assert_eq!(seen(pack(b"{}"), Some("gzip")).unwrap(), b"{}");
        // A body that is only declared as compressed is returned unchanged.
        assert_eq!(seen(b"{}".to_vec(), Some("gzip")).unwrap(), b"{}");
        assert_eq!(seen(pack(b"{}"), None).unwrap(), pack(b"{}"));
        assert!(seen(pack(&[b' '; 1 << 20]), Some("gzip")).unwrap_err().contains("larger than 64 KiB"));
        let mut cut = pack(b"{}");
        cut.truncate(12);
        assert!(seen(cut, Some("gzip")).unwrap_err().contains("cannot decompress"));
    }
}
