//! Archives in object stores: S3, S3-compatible services, and Google Cloud Storage.

use std::path::Path;

use groma_cloud::TokenError;
use groma_cloud::aws::{AwsClient, AwsError, AwsKeys, AwsService};
use groma_cloud::google::GoogleCredentials;
use reqwest::Url;

use super::FetchError;
use super::address::{shown, take};
use crate::archive::{Archive, Limits, Links};
use crate::credentials::Stores;
use crate::discovery::Discovery;
use crate::oci::{Registry, Repository};

/// An object in a store, with the credentials for it.
pub(super) struct Object {
    /// The URL; its query may still contain `archive`.
    pub url: Url,
    credentials: ObjectCredentials,
}

/// Credentials for an object store.
enum ObjectCredentials {
    Anonymous,
    Google(GoogleCredentials),
    Aws {
        region: String,
        client: AwsClient,
        /// The profile that the address names, whose credentials are then required.
        profile: Option<String>,
    },
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
            // The name of the parameter in S3's API.
            url.query_pairs_mut().append_pair("versionId", &version);
        }
        let keys = id.zip(secret).map(|(id, secret)| AwsKeys::new(id, secret, session));
        let region = region.unwrap_or_else(|| region_of(url.host_str().unwrap_or_default()));
        let client = stores.aws(keys, profile.clone(), &region).map_err(|error| unusable(&error))?;
        Ok(Self { url, credentials: ObjectCredentials::Aws { region, client, profile } })
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
        let credentials = stores.google().transpose();
        let credentials =
            credentials.map_err(|error| FetchError::Other(format!("cannot use Google Cloud: {error}")))?;
        Ok(Self { url, credentials: credentials.map_or(ObjectCredentials::Anonymous, ObjectCredentials::Google) })
    }

    /// Returns the headers that authenticate a request for `url`, which must not contain our own query arguments.
    /// Returns no headers without credentials, because public objects need none.
    pub(super) async fn headers(&self, url: &Url) -> Result<Vec<(String, String)>, FetchError> {
        match &self.credentials {
            ObjectCredentials::Anonymous => Ok(Vec::new()),
            ObjectCredentials::Google(credentials) => match credentials.token().await {
                Ok(token) => Ok(vec![("authorization".to_owned(), format!("Bearer {}", token.reveal()))]),
                // Public objects need no token.
                Err(TokenError::Missing(_)) => Ok(Vec::new()),
                Err(error) => Err(FetchError::Other(format!("cannot get a token of Google Cloud: {error}"))),
            },
            ObjectCredentials::Aws { region, client, profile } => {
                match client.signed_headers(url, AwsService::S3, region).await {
                    // A profile in the address means that credentials are expected.
                    Err(AwsError::MissingCredentials(_)) if profile.is_none() => Ok(Vec::new()),
                    signed => signed.map_err(|error| unusable(&error)),
                }
            }
        }
    }
}

fn unusable(error: &AwsError) -> FetchError {
    FetchError::Other(format!("cannot use AWS: {error}"))
}

fn parsed(address: &str) -> Result<Url, FetchError> {
    // The message does not contain the address, which may contain keys.
    Url::parse(address).map_err(|error| FetchError::Other(format!("the object has an invalid URL: {error}")))
}

/// Finds the region in an AWS host name: `s3-REGION.`, `s3.REGION.`, `BUCKET.s3-REGION.`, `BUCKET.s3.REGION.`.
fn region_of(host: &str) -> String {
    let Some(names) = host.strip_suffix(".amazonaws.com") else { return FIRST_REGION.to_owned() };
    let last = names.rsplit('.').next().unwrap_or_default();
    let region = last.strip_prefix("s3-").or(Some(last).filter(|last| *last != "s3" && names.contains('.')));
    region.unwrap_or(FIRST_REGION).to_owned()
}

/// The artifact type of module packages.
const MODULE: &str = "application/vnd.opentofu.modulepkg";

/// Fetches the module at `oci://HOST/NAME?tag=TAG` (or `?digest=`; the tag is `latest` unless given) into `target`.
pub(super) async fn fetch(discovery: &Discovery, address: &str, target: &Path) -> Result<(), FetchError> {
    let wrong = |what: &str| FetchError::Other(format!("{:?} {what}", shown(address)));
    let url = Url::parse(address).map_err(|error| wrong(&format!("is not a valid URL: {error}")))?;
    if let Some((other, _)) = url.query_pairs().find(|(name, _)| !matches!(&**name, "tag" | "digest")) {
        return Err(wrong(&format!(
            "has the argument {other:?}, which means nothing here: a version is chosen by \"tag\" or \"digest\""
        )));
    }
    let argument = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let reference = match (argument("tag"), argument("digest")) {
        (Some(_), Some(_)) => return Err(wrong("has a tag and a digest: give one of them")),
        (Some(reference), None) | (None, Some(reference)) => reference,
        (None, None) => "latest".to_owned(),
    };
    if reference.contains('/') || reference.is_empty() {
        return Err(wrong("has an invalid tag"));
    }
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let repository = Repository::parse(&format!("{host}{port}/{}", url.path().trim_start_matches('/')));
    let repository = repository.ok_or_else(|| wrong("is not a repository such as oci://example.com/name"))?;
    let failed = |error: crate::oci::OciError| FetchError::Other(error.to_string());
    let registry = Registry::new(discovery);
    let manifest = registry.manifest(&repository, &reference).await.map_err(failed)?;
    let layer = manifest.archive(MODULE).map_err(|problem| wrong(&format!("is not a module: {problem}")))?;
    let mut file = tempfile::tempfile().map_err(FetchError::file("no temporary file can be made"))?;
    registry.blob(&repository, layer, &mut file, Limits::MODULE.bytes).await.map_err(failed)?;
    Archive::Zip
        .unpack(file, target, "", Links::Inside, Limits::MODULE)
        .map_err(FetchError::file("the archive cannot be unpacked"))
}

#[cfg(test)]
mod tests {
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
    fn version_of_an_address_selects_the_object_version() {
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
}
