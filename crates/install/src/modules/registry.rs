//! The module registry protocol: version lists and download addresses.

use groma_config::version::{Constraints, Version};
use groma_config::{Package, RegistryModule};
use groma_diagnostics::json_reason;
use reqwest::{StatusCode, Url};
use serde::Deserialize;

use super::FetchError;
use super::web::relative_to;
use crate::discovery::{Discovery, allows};
use crate::http::Response;

/// The maximum size of a registry response in bytes.
const LARGEST_ANSWER: u64 = 64 << 20;

/// The service ID of module registries in the discovery document.
const SERVICE: &str = "modules.v1";

#[derive(Deserialize)]
struct Listing {
    modules: Vec<ModuleVersions>,
}

#[derive(Deserialize)]
struct ModuleVersions {
    #[serde(default)]
    versions: Vec<ListedVersion>,
}

#[derive(Deserialize)]
struct ListedVersion {
    version: String,
}

/// Requests the versions of `module` from its registry on `host`. Returns none if the registry does not know the
/// module.
pub(super) async fn versions(
    discovery: &Discovery,
    module: &RegistryModule,
    host: &str,
) -> Result<Option<Vec<Version>>, FetchError> {
    let (answer, url) = ask(discovery, module, host, "versions").await?;
    if answer.status == StatusCode::NOT_FOUND {
        return Ok(None);
    }
    if !answer.status.is_success() {
        return Err(status(&answer, &url));
    }
    listed(&answer.body).map(Some)
}

/// Parses the version list of a registry.
pub(crate) fn listed(answer: &[u8]) -> Result<Vec<Version>, FetchError> {
    let listing: Listing = serde_json::from_slice(answer).map_err(|error| {
        FetchError::Other(format!(
            "the registry returned an invalid version list: {error}",
            error = json_reason(&error)
        ))
    })?;
    let versions = listing.modules.into_iter().next().map(|module| module.versions).unwrap_or_default();
    // Entries that are no versions are skipped instead of making the whole module unusable.
    Ok(versions.iter().filter_map(|listed| listed.version.parse().ok()).collect())
}

/// Requests the package address of a `version` of `module`.
pub(super) async fn location(
    discovery: &Discovery,
    module: &RegistryModule,
    host: &str,
    version: &Version,
) -> Result<Package, FetchError> {
    let (answer, url) = ask(discovery, module, host, &format!("{version}/download")).await?;
    if !answer.status.is_success() {
        return Err(status(&answer, &url));
    }
    let in_document = || in_document(&answer.body);
    // A registry answers with a header or with a JSON document. If it sends both, they should agree; the header is used.
    let source = answer.header("x-terraform-get").map(str::to_owned).or_else(in_document);
    let source = source.filter(|source| !source.is_empty());
    let source = source
        .ok_or_else(|| FetchError::Other(format!("module registry {host} did not return a location for {version}")))?;
    relative_to(&url, &source)
}

/// Reads the package address from a JSON document.
pub(crate) fn in_document(answer: &[u8]) -> Option<String> {
    let document: serde_json::Value = serde_json::from_slice(answer).ok()?;
    document.get("location")?.as_str().map(str::to_owned)
}

async fn ask(
    discovery: &Discovery,
    module: &RegistryModule,
    host: &str,
    rest: &str,
) -> Result<(Response, Url), FetchError> {
    let services = discovery.services(host).await?;
    let path = format!("{}/{}/{}/{rest}", module.namespace, module.name, module.system);
    let url = services
        .url(SERVICE)?
        .join(&path)
        .map_err(|error| FetchError::Other(format!("{path:?} is not a valid path: {error}")))?;
    let token = discovery.token(host).await?;
    let answer = discovery.http().get(&url, token.as_ref(), LARGEST_ANSWER).await?;
    Ok((answer, url))
}

fn status(answer: &Response, url: &Url) -> FetchError {
    FetchError::Other(format!("{} answered {}", url.path(), answer.status))
}

/// Returns the newest version that `allowed` admits.
pub(super) fn newest(versions: &[Version], allowed: &Constraints) -> Option<Version> {
    versions.iter().filter(|version| allows(allowed, version)).max().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(allowed: &str) -> Option<String> {
        let versions: Vec<Version> =
            ["1.0.0", "1.2.3", "2.0.0-beta1", "0.9.0", "1.10.0"].iter().map(|text| text.parse().unwrap()).collect();
        newest(&versions, &allowed.parse().unwrap()).map(|version| version.to_string())
    }

    #[test]
    fn newest_allowed_version_is_selected() {
        assert_eq!(chosen("~> 1.0").as_deref(), Some("1.10.0"));
        assert_eq!(chosen("< 1.5").as_deref(), Some("1.2.3"));
        assert_eq!(chosen("> 5"), None);
        assert_eq!(chosen("2.0.0-beta1").as_deref(), Some("2.0.0-beta1"));
        assert_eq!(chosen(">= 2.0.0-alpha"), None);
    }
}
