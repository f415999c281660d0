//! Signature Version 4, and the clock that signatures are dated by.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
    sign,
};
use aws_sigv4::sign::v4;
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;

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
        // Keeps session tokens and signatures out of debug output of headers.
        value.set_sensitive(true);
        request.headers.insert(name, value);
    }
    Ok(())
}

/// Differences below this are transfer times, not wrong clocks.
const TOLERATED_SECONDS: i64 = 240;

/// The difference between the clock of AWS and that of this machine, learned from refused requests.
#[derive(Debug, Default)]
pub(super) struct Clock {
    offset_seconds: AtomicI64,
}

impl Clock {
    /// Returns the time of AWS.
    pub(super) fn now(&self) -> SystemTime {
        let offset = self.offset_seconds.load(Ordering::Relaxed);
        let distance = Duration::from_secs(offset.unsigned_abs());
        let now = SystemTime::now();
        if offset < 0 { now.checked_sub(distance).unwrap_or(UNIX_EPOCH) } else { now + distance }
    }

    /// Learns from the `Date` header of a response that arrived now. Returns whether the clock was wrong so far.
    pub(super) fn learn(&self, date: Option<&str>) -> bool {
        let Some(there) = date.and_then(|date| DateTime::from_str(date, Format::HttpDate).ok()) else { return false };
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs() as i64);
        // Compared with the corrected time: if it is right by now, the clock is not the reason of the error.
        if (there.secs() - seconds(self.now())).abs() < TOLERATED_SECONDS {
            return false;
        }
        // Relative to the local clock, or corrections would add up.
        self.offset_seconds.store(there.secs() - seconds(SystemTime::now()), Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Method, Url};

    fn signed(url: &str, region: &str) -> HttpRequest {
        let mut request = HttpRequest::new(Method::GET, Url::parse(url).unwrap());
        let keys = Credentials::new("AKID", "secret", Some("session".to_owned()), None, "test");
        // 2013-05-24, the date of the examples in the documentation of S3.
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
        // The SHA-256 of an empty body.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(header("x-amz-content-sha256"), Some(empty));
        let scope = "AWS4-HMAC-SHA256 Credential=AKID/20130524/eu-west-1/s3/aws4_request, SignedHeaders=host;";
        assert!(header("authorization").is_some_and(|value| value.starts_with(scope)));
        let other = signed("https://s3.eu-west-1.amazonaws.com/bucket/a%20b.zip", "eu-west-2");
        assert_ne!(header("authorization"), other.headers.get("authorization").and_then(|value| value.to_str().ok()));
    }

    #[test]
    fn wrong_clock_is_corrected_once() {
        let clock = Clock::default();
        assert!(!clock.learn(None) && !clock.learn(Some("yesterday")));
        let date = |time: SystemTime| DateTime::from(time).fmt(Format::HttpDate).unwrap();
        assert!(!clock.learn(Some(&date(SystemTime::now()))));
        let there = SystemTime::now() - Duration::from_secs(86_400);
        assert!(clock.learn(Some(&date(there))));
        let difference = SystemTime::now().duration_since(clock.now()).unwrap();
        assert!((86_395..86_405).contains(&difference.as_secs()), "{difference:?}");
        assert!(!clock.learn(Some(&date(there))));
    }
}
