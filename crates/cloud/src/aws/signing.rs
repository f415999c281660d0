//! Signature Version 4.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
    sign,
};
use aws_sigv4::sign::v4;

use super::error::AwsError;
use super::service::AwsService;
use crate::http::{HeaderValue, HttpRequest};

/// Adds the headers that sign a request.
///
/// # Errors
/// Fails if a header is not text.
pub(super) fn sign_request(
    request: &mut HttpRequest,
    service: AwsService,
    region: &str,
    keys: &Credentials,
    time: SystemTime,
) -> Result<(), AwsError> {
    let failed = |error: &dyn std::fmt::Display| AwsError::Setting(format!("the request cannot be signed: {error}"));
    let identity = keys.clone().into();
    let mut settings = SigningSettings::default();
    if service == AwsService::S3 {
        // S3 signs paths as they are sent: keys may contain "//" and percent signs.
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service.signing_name)
        .time(time)
        .settings(settings)
        .build()
        .map_err(|error| failed(&error))?
        .into();
    let mut headers = Vec::with_capacity(request.headers.len());
    for (name, value) in &request.headers {
        let text = value.to_str().map_err(|_| failed(&format_args!("the header {name} is not text")))?;
        headers.push((name.as_str(), text));
    }
    let body = SignableBody::Bytes(&request.body);
    let signable = SignableRequest::new(request.method.as_str(), request.url.as_str(), headers.into_iter(), body)
        .map_err(|error| failed(&error))?;
    let (instructions, _) = sign(signable, &parameters).map_err(|error| failed(&error))?.into_parts();
    for (name, value) in instructions.headers() {
        let name = name.parse::<crate::http::HeaderName>().map_err(|error| failed(&error))?;
        let mut value = HeaderValue::from_str(value).map_err(|error| failed(&error))?;
        value.set_sensitive(true);
        request.headers.insert(name, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::http::{Method, Url};

    fn signed(url: &str, region: &str) -> HttpRequest {
        let mut request = HttpRequest::new(Method::GET, Url::parse(url).unwrap());
        let keys = Credentials::new("AKID", "secret", Some("session".to_owned()), None, "test");
        let time = UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        sign_request(&mut request, AwsService::S3, region, &keys, time).unwrap();
        request
    }

    #[test]
    fn requests_are_signed_for_region_and_time() {
        let request = signed("https://s3.eu-west-1.amazonaws.com/bucket/a%20b.zip", "eu-west-1");
        let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        assert_eq!(header("x-amz-date"), Some("20130524T000000Z"));
        assert_eq!(header("x-amz-security-token"), Some("session"));
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(header("x-amz-content-sha256"), Some(empty));
        let scope = "AWS4-HMAC-SHA256 Credential=AKID/20130524/eu-west-1/s3/aws4_request, SignedHeaders=host;";
        assert!(header("authorization").is_some_and(|value| value.starts_with(scope)));
        let other = signed("https://s3.eu-west-1.amazonaws.com/bucket/a%20b.zip", "eu-west-2");
        assert_ne!(header("authorization"), other.headers.get("authorization").and_then(|value| value.to_str().ok()));
    }
}
