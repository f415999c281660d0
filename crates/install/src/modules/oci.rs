//! Modules in OCI registries.

use std::path::Path;

use super::error::FetchError;
use super::shown::shown;
use crate::archive::{Archive, Limits, Links};
use crate::discovery::Discovery;
use crate::http::Url;
use crate::oci::{Registry, Repository};

/// The artifact type of a module's manifest.
const MODULE: &str = "application/vnd.opentofu.modulepkg";

/// Fetches the module at `oci://HOST/NAME?tag=TAG` (or `?digest=`; the tag is `latest` unless given) into `target`.
pub(super) async fn fetch(discovery: &Discovery, address: &str, target: &Path) -> Result<(), FetchError> {
    let wrong = |what: &str| FetchError::Other(format!("{:?} {what}", shown(address)));
    let url = Url::parse(address).map_err(|error| wrong(&format!("is no address: {error}")))?;
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
        return Err(wrong("has a tag that is none"));
    }
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let repository = Repository::parse(&format!("{host}{port}/{}", url.path().trim_start_matches('/')));
    let repository = repository.ok_or_else(|| wrong("is no repository such as oci://example.com/name"))?;
    let failed = |error: crate::oci::OciError| FetchError::Other(error.to_string());
    let registry = Registry::new(discovery);
    let manifest = registry.manifest(&repository, &reference).await.map_err(failed)?;
    let layer = manifest.archive(MODULE).map_err(|problem| wrong(&format!("is no module: {problem}")))?;
    let mut file = tempfile::tempfile().map_err(FetchError::file("no temporary file can be made"))?;
    registry.blob(&repository, layer, &mut file, Limits::MODULE.bytes).await.map_err(failed)?;
    Archive::Zip
        .unpack(file, target, "", Links::Inside, Limits::MODULE)
        .map_err(FetchError::file("the archive cannot be unpacked"))
}
