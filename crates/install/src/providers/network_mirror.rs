//! Mirrors on the network: servers of the provider network mirror protocol (`index.json`, `VERSION.json`, archives),
//! and OCI registries.

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
use crate::oci::{OciError, Registry, Repository};

const LARGEST_DOCUMENT: u64 = 16 << 20;

/// The `index.json` of a provider.
#[derive(Deserialize)]
pub(crate) struct Index {
    versions: BTreeMap<String, serde_json::Value>,
}

/// The `VERSION.json` of a provider.
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

/// Requests the versions of a provider that the mirror at `base` has.
pub(super) async fn versions(
    discovery: &Discovery,
    base: &Url,
    address: &ProviderAddress,
) -> Result<Vec<Version>, SourceError> {
    let (_, index): (_, Index) = document(discovery, base, address, "index.json").await?;
    Ok(index.versions())
}

impl Index {
    /// The versions in arbitrary order.
    pub(crate) fn versions(&self) -> Vec<Version> {
        self.versions.keys().filter_map(|text| text.parse().ok()).collect()
    }
}

/// Requests the description of one package.
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
    /// Returns the package for `platform` in the document at `url`.
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
        // The documents name an archive by its URL only.
        let filename = location.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default().to_owned();
        Ok(PackageMeta {
            version: version.clone(),
            location: Location::Download { url: location, filename },
            required: archive.hashes.clone(),
            // The lock file takes over signed hashes only, and mirrors sign nothing.
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
    // The base URL ends with a slash, so the path is appended to it.
    let url = base.join(&path).map_err(SourceError::failed)?;
    // Credentials belong to the mirror's host, not to that of the provider.
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
        SourceError::Failed(format!("{shown} is not a valid mirror document: {error}", error = json_reason(&error)))
    })?;
    // The URL after redirects, which relative archive URLs refer to.
    Ok((answer.url, value))
}

/// The artifact type of the index of a version.
const PROVIDER: &str = "application/vnd.opentofu.provider";

/// The artifact type of the manifest for one platform.
const TARGET: &str = "application/vnd.opentofu.provider-target";

/// The template of repository names, with `${hostname}`, `${namespace}` and `${type}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTemplate(String);

impl RepositoryTemplate {
    /// Parses a template. Returns `None` if it cannot name a repository.
    pub fn parse(text: &str) -> Option<Self> {
        let template = Self(text.to_owned());
        // Whether the result is a valid name does not depend on the provider.
        let example = ProviderAddress::default_for("example");
        template.repository(&example).map(|_| template)
    }

    fn repository(&self, address: &ProviderAddress) -> Option<Repository> {
        // No template language: OpenTofu allows these three placeholders only.
        let text = self.0.replace("${hostname}", &address.hostname).replace("${namespace}", &address.namespace);
        Repository::parse(&text.replace("${type}", &address.type_name))
    }
}

/// Requests the versions of a provider that the mirror has.
pub(super) async fn oci_versions(
    discovery: &Discovery,
    template: &RepositoryTemplate,
    address: &ProviderAddress,
) -> Result<Vec<Version>, SourceError> {
    let repository = repository(template, address)?;
    let tags = Registry::new(discovery).tags(&repository).await.map_err(failed)?;
    // A tag has no plus sign.
    Ok(tags.iter().filter_map(|tag| tag.replace('_', "+").parse().ok()).collect())
}

/// Requests the description of one package.
pub(super) async fn oci_package(
    discovery: &Discovery,
    template: &RepositoryTemplate,
    address: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> Result<PackageMeta, SourceError> {
    let repository = repository(template, address)?;
    let registry = Registry::new(discovery);
    // The reverse of the replacement in `oci_versions`.
    let index = registry.manifest(&repository, &version.to_string().replace('+', "_")).await.map_err(failed)?;
    // The repository may also hold images, whose tags look like versions.
    if index.artifact_type != PROVIDER {
        return Err(SourceError::Failed(format!("the tag {version} of its repository is not a provider")));
    }
    let wanted = platform.to_string();
    let target = index.manifests.iter().find(|manifest| {
        let machine = manifest.platform.as_ref();
        machine.is_some_and(|machine| format!("{}_{}", machine.os, machine.architecture) == wanted)
    });
    let target = target.ok_or_else(|| {
        SourceError::NotFound(format!("the mirror has no package of {address} {version} for {platform}"))
    })?;
    let manifest = registry.manifest(&repository, &target.digest).await.map_err(failed)?;
    let layer = manifest.archive(TARGET).map_err(SourceError::failed)?;
    // The digest of the layer is the SHA-256 checksum of the archive, and so is a `zh:` hash.
    let hash = layer.sha256().map(|digits| format!("zh:{digits}").into());
    Ok(PackageMeta {
        version: version.clone(),
        location: Location::Blob(Box::new((repository, layer.clone()))),
        required: hash.iter().cloned().collect(),
        vouched: hash.into_iter().collect(),
        authentication: Authentication::Checksum,
    })
}

fn repository(template: &RepositoryTemplate, address: &ProviderAddress) -> Result<Repository, SourceError> {
    let found = template.repository(address);
    found.ok_or_else(|| SourceError::Failed(format!("repository_template makes no repository of {address}")))
}

fn failed(error: OciError) -> SourceError {
    match error {
        OciError::NotFound(url) => SourceError::NotFound(format!("{url} does not exist")),
        other => SourceError::failed(other),
    }
}
