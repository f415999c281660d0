//! The network mirror protocol: two kinds of JSON documents, and archives.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_config::version::Version;
use groma_diagnostics::json_reason;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::package::{Authentication, Location, PackageMeta, SourceError};
use super::platform::Platform;
use crate::discovery::Discovery;
use crate::http::{StatusCode, Url, without_secrets};

const LARGEST_DOCUMENT: u64 = 16 << 20;

/// The available versions of a provider.
#[derive(Deserialize)]
pub(crate) struct Index {
    versions: BTreeMap<String, serde_json::Value>,
}

/// The packages of a version.
#[derive(Deserialize)]
pub(crate) struct Archives {
    #[serde(default)]
    archives: BTreeMap<String, Archive>,
}

#[derive(Deserialize)]
struct Archive {
    url: String,
    #[serde(default)]
    hashes: Vec<Arc<str>>,
}

/// The versions of a provider that the mirror at `base` has.
pub(super) async fn versions(
    discovery: &Discovery,
    base: &Url,
    address: &ProviderAddress,
) -> Result<Vec<Version>, SourceError> {
    let (_, index): (_, Index) = document(discovery, base, address, "index.json").await?;
    Ok(index.versions())
}

impl Index {
    /// The versions, in no order.
    pub(crate) fn versions(&self) -> Vec<Version> {
        self.versions.keys().filter_map(|text| text.parse().ok()).collect()
    }
}

/// Returns the mirror's description of one package.
pub(super) async fn package(
    discovery: &Discovery,
    base: &Url,
    address: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> Result<PackageMeta, SourceError> {
    let (url, archives): (_, Archives) = document(discovery, base, address, &format!("{version}.json")).await?;
    archives.package(&url, address, version, platform)
}

impl Archives {
    /// The package for `platform`, as the document at `url` tells it.
    pub(crate) fn package(
        &self,
        url: &Url,
        address: &ProviderAddress,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        let archive = self.archives.get(&platform.to_string()).ok_or_else(|| {
            SourceError::NotFound(format!("the mirror has no package of {address} {version} for {platform}"))
        })?;
        let location = url.join(&archive.url).map_err(|error| {
            SourceError::Failed(format!(
                "{} has an invalid archive address {:?}: {error}",
                without_secrets(url),
                archive.url
            ))
        })?;
        let filename = location.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default().to_owned();
        Ok(PackageMeta {
            version: version.clone(),
            location: Location::Download { url: location, filename },
            required: archive.hashes.clone(),
            // The lock file takes over what somebody has signed, and a mirror signs nothing.
            vouched: Vec::new(),
            authentication: if archive.hashes.is_empty() { Authentication::None } else { Authentication::Checksum },
        })
    }
}

async fn document<T: DeserializeOwned>(
    discovery: &Discovery,
    base: &Url,
    address: &ProviderAddress,
    name: &str,
) -> Result<(Url, T), SourceError> {
    let path = format!("{}/{}/{}/{name}", address.hostname, address.namespace, address.type_name);
    let url = base.join(&path).map_err(SourceError::failed)?;
    let host = super::registry::host_of(&url);
    let token = discovery.token(&host).await.map_err(SourceError::failed)?;
    let answer = discovery.http().get(&url, token.as_ref(), LARGEST_DOCUMENT).await.map_err(SourceError::failed)?;
    let (shown, base) = (without_secrets(&url), without_secrets(base));
    match answer.status {
        status if status.is_success() => {}
        StatusCode::NOT_FOUND => {
            return Err(SourceError::NotFound(format!("provider mirror {base} does not have {address} ({name})")));
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            return Err(SourceError::Failed(format!("provider mirror {base} refused the credentials for {host}")));
        }
        status => return Err(SourceError::Failed(format!("{shown} answered {status}"))),
    }
    let value = serde_json::from_slice(&answer.body).map_err(|error| {
        SourceError::Failed(format!("{shown} is no valid mirror document: {error}", error = json_reason(&error)))
    })?;
    Ok((answer.url, value))
}
