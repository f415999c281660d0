//! OCI mirrors of providers: a repository for each provider, a tag for each version.

use groma_address::ProviderAddress;
use groma_config::version::Version;

use super::package::{Authentication, Location, PackageMeta, SourceError};
use super::platform::Platform;
use crate::discovery::Discovery;
use crate::oci::{OciError, Registry, Repository};

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
        let example = ProviderAddress::default_for("example");
        template.repository(&example).map(|_| template)
    }

    fn repository(&self, address: &ProviderAddress) -> Option<Repository> {
        let text = self.0.replace("${hostname}", &address.hostname).replace("${namespace}", &address.namespace);
        Repository::parse(&text.replace("${type}", &address.type_name))
    }
}

/// Requests the versions of a provider that the mirror has.
pub(super) async fn versions(
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
pub(super) async fn package(
    discovery: &Discovery,
    template: &RepositoryTemplate,
    address: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> Result<PackageMeta, SourceError> {
    let repository = repository(template, address)?;
    let registry = Registry::new(discovery);
    let index = registry.manifest(&repository, &version.to_string().replace('+', "_")).await.map_err(failed)?;
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
