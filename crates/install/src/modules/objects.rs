//! Archives in object stores: S3, S3-compatible services, and Google Cloud Storage.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
    sign,
};
use aws_sigv4::sign::v4;
use reqwest::Url;

use super::error::FetchError;
use super::query::take;
use super::shown::shown;
use crate::credentials::{AwsKeys, Stores};

/// An object in a store, with the credentials for it.
pub(super) struct Object {
    /// The URL; its query may still contain `archive`.
    pub url: Url,
    who: Who,
}

/// Credentials for an object store.
enum Who {
    Anybody,
    Google(String),
    Aws { region: String, keys: AwsKeys },
}

/// The default endpoint of Google Cloud Storage.
const GOOGLE: &str = "https://storage.googleapis.com";

/// The region of S3 addresses that name none.
const FIRST_REGION: &str = "us-east-1";

impl Object {
    /// Parses an S3 address: `https://s3-REGION.amazonaws.com/BUCKET/KEY`, or one of a compatible service with
    /// `?region=`. In a versioned bucket, `?version=` selects a version. The query may hold keys (`aws_access_key_id`,
    /// `aws_access_key_secret`, `aws_access_token`) or name a profile (`aws_profile`).
    pub(super) fn s3(address: &str, stores: &Stores) -> Result<Self, FetchError> {
        let mut url = parsed(address)?;
        let mut argument = |name: &str| take(&mut url, name).filter(|value| !value.is_empty());
        let (id, secret) = (argument("aws_access_key_id"), argument("aws_access_key_secret"));
        let (session, profile) = (argument("aws_access_token"), argument("aws_profile"));
        let region = argument("region");
        let version = argument("version");
        if let Some(version) = version {
            url.query_pairs_mut().append_pair("versionId", &version);
        }
        let keys = match (id, secret) {
            (Some(id), Some(secret)) => Some(AwsKeys::new(id, secret, session)),
            _ => stores.aws(profile.as_deref()),
        };
        if keys.is_none() && profile.is_some() {
            let profile = profile.unwrap_or_default();
            return Err(FetchError::Other(format!("there are no keys of the AWS profile {profile:?}")));
        }
        let region = region.unwrap_or_else(|| region_of(url.host_str().unwrap_or_default()));
        Ok(Self { url, who: keys.map_or(Who::Anybody, |keys| Who::Aws { region, keys }) })
    }

    /// Parses a Cloud Storage address: `https://www.googleapis.com/storage/VERSION/BUCKET/OBJECT`.
    pub(super) fn google(address: &str, stores: &Stores) -> Result<Self, FetchError> {
        let object =
            address.split_once("/storage/").and_then(|(_, rest)| rest.split_once('/')).map(|(_, object)| object);
        let object = object.ok_or_else(|| {
            FetchError::Other(format!("{:?} is not a valid URL of a Cloud Storage object", shown(address)))
        })?;
        let url = stores.google_address();
        let url = parsed(&format!("{}/{object}", url.as_deref().unwrap_or(GOOGLE).trim_end_matches('/')))?;
        let who = stores.google().map_or(Who::Anybody, |token| Who::Google(format!("Bearer {}", token.secret())));
        Ok(Self { url, who })
    }

    /// Returns the headers that authenticate a request for `url`, which must not contain our own query arguments.
    pub(super) fn headers(&self, url: &Url) -> Result<Vec<(String, String)>, FetchError> {
        match &self.who {
            Who::Anybody => Ok(Vec::new()),
            Who::Google(token) => Ok(vec![("authorization".to_owned(), token.clone())]),
            Who::Aws { region, keys } => signed(url, region, keys, SystemTime::now()),
        }
    }
}

fn parsed(address: &str) -> Result<Url, FetchError> {
    // The address may hold keys: it is not repeated.
    Url::parse(address).map_err(|error| FetchError::Other(format!("the object has an invalid URL: {error}")))
}

/// Finds the region in an AWS host name: `s3-REGION.`, `s3.REGION.`, `BUCKET.s3-REGION.`, `BUCKET.s3.REGION.`.
fn region_of(host: &str) -> String {
    let Some(names) = host.strip_suffix(".amazonaws.com") else { return FIRST_REGION.to_owned() };
    let last = names.rsplit('.').next().unwrap_or_default();
    let region = last.strip_prefix("s3-").or(Some(last).filter(|last| *last != "s3" && names.contains('.')));
    region.unwrap_or(FIRST_REGION).to_owned()
}

/// Returns the headers that sign a request for `url` with `keys` (Signature Version 4).
fn signed(url: &Url, region: &str, keys: &AwsKeys, time: SystemTime) -> Result<Vec<(String, String)>, FetchError> {
    let failed = |error: &dyn std::fmt::Display| FetchError::Other(format!("cannot sign the request: {error}"));
    let session = keys.session.as_ref().map(|token| token.secret().to_owned());
    let identity = Credentials::new(&*keys.id, keys.secret.secret(), session, None, "module source").into();
    let mut settings = SigningSettings::default();
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("s3")
        .time(time)
        .settings(settings)
        .build()
        .map_err(|error| failed(&error))?
        .into();
    let request = SignableRequest::new("GET", url.as_str(), std::iter::empty(), SignableBody::Bytes(&[]))
        .map_err(|error| failed(&error))?;
    let (instructions, _) = sign(request, &parameters).map_err(|error| failed(&error))?.into_parts();
    Ok(instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn hosts_of_s3_name_their_region() {
        for (host, region) in [
            ("s3.amazonaws.com", "us-east-1"),
            ("s3-eu-west-1.amazonaws.com", "eu-west-1"),
            ("s3.eu-west-1.amazonaws.com", "eu-west-1"),
            ("bucket.s3-eu-west-1.amazonaws.com", "eu-west-1"),
            ("bucket.s3.eu-west-1.amazonaws.com", "eu-west-1"),
            ("bucket.s3.amazonaws.com", "us-east-1"),
            ("127.0.0.1", "us-east-1"),
        ] {
            assert_eq!(region_of(host), region, "{host}");
        }
    }

    #[test]
    fn the_version_that_an_address_names_is_asked_for() {
        let object = |query: &str| {
            let address = format!("https://s3-eu-west-1.amazonaws.com/bucket/m.zip?{query}");
            Object::s3(&address, &Stores::default())
                .map(|object| object.url.to_string())
                .map_err(|error| error.to_string())
        };
        let url = "https://s3-eu-west-1.amazonaws.com/bucket/m.zip";
        assert_eq!(object("version=a%2Bb&region=eu-west-1"), Ok(format!("{url}?versionId=a%2Bb")));
        assert_eq!(object("region=eu-west-1"), Ok(url.to_owned()));
    }

    /// The example for a request without a body in the public description of the signature, with the headers that we send.
    #[test]
    fn requests_are_signed_for_region_and_time() {
        let url = Url::parse("https://s3-eu-west-1.amazonaws.com/bucket/a%20b.zip").unwrap();
        let keys = AwsKeys::new("AKID".to_owned(), "secret".to_owned(), Some("session".to_owned()));
        let time = UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let headers = signed(&url, "eu-west-1", &keys, time).unwrap();
        let header = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        assert_eq!(header("x-amz-date"), Some("20130524T000000Z"));
        assert_eq!(header("x-amz-security-token"), Some("session"));
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(header("x-amz-content-sha256"), Some(empty));
        let authorization = header("authorization").unwrap();
        let scope = "AWS4-HMAC-SHA256 Credential=AKID/20130524/eu-west-1/s3/aws4_request, SignedHeaders=host;";
        assert!(authorization.starts_with(scope), "{authorization}");
        let other_region = signed(&url, "eu-west-2", &keys, time).unwrap();
        assert_ne!(headers, other_region);
    }
}
