//! Sources of packages: the methods of `provider_installation` in their order.

use std::collections::BTreeSet;
use std::path::PathBuf;

use groma_address::ProviderAddress;
use groma_config::version::Version;

use super::network_mirror::RepositoryTemplate;
use super::package::{PackageMeta, SourceError};
use super::platform::Platform;
use super::registry::Registry;
use super::{filesystem, network_mirror};
use crate::discovery::Discovery;
use crate::http::Url;

/// An installation method, for some providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// The location of the packages.
    pub source: Source,
    /// The providers to include; all if empty.
    pub include: Vec<Pattern>,
    /// The providers to exclude.
    pub exclude: Vec<Pattern>,
}

/// The kind of an installation method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `direct`: the registry of the provider's own host.
    Direct,
    /// `filesystem_mirror`: a directory.
    Filesystem(PathBuf),
    /// `network_mirror`: the base URL of a server, with a final slash.
    Network(Url),
    /// `oci_mirror`: an OCI registry.
    Oci(RepositoryTemplate),
}

/// A pattern of provider addresses: `registry.terraform.io/hashicorp/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    host: String,
    namespace: String,
    type_name: String,
}

impl Pattern {
    /// Parses `HOST/NAMESPACE/TYPE` or `NAMESPACE/TYPE`, each of which may be `*`. The default host is `default_host`.
    pub fn parse(text: &str, default_host: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, type_name) = match parts[..] {
            [host, namespace, type_name] => (host, namespace, type_name),
            [namespace, type_name] => (default_host, namespace, type_name),
            _ => return None,
        };
        let is_part = |part: &str| part == "*" || (!part.is_empty() && !part.contains('*'));
        // As in Terraform, a wildcard for the namespace requires one for the type.
        if ![host, namespace, type_name].into_iter().all(is_part) || (namespace == "*" && type_name != "*") {
            return None;
        }
        Some(Self {
            // Addresses are in lower case, so patterns must be as well.
            host: host.to_lowercase(),
            namespace: namespace.to_lowercase(),
            type_name: type_name.to_lowercase(),
        })
    }

    /// Whether the pattern matches a provider.
    pub fn covers(&self, address: &ProviderAddress) -> bool {
        let fits = |pattern: &str, part: &str| pattern == "*" || pattern == part;
        fits(&self.host, &address.hostname)
            && fits(&self.namespace, &address.namespace)
            && fits(&self.type_name, &address.type_name)
    }
}

impl Method {
    /// Creates a method for all providers.
    pub fn for_all(source: Source) -> Self {
        Self { source, include: Vec::new(), exclude: Vec::new() }
    }

    fn serves(&self, address: &ProviderAddress) -> bool {
        (self.include.is_empty() || self.include.iter().any(|pattern| pattern.covers(address)))
            && !self.exclude.iter().any(|pattern| pattern.covers(address))
    }
}

/// The installation methods of a run, and the clients for them.
#[derive(Debug)]
pub struct Sources {
    /// In order of precedence: the first method that has a version supplies it.
    pub methods: Vec<Method>,
    /// The HTTP client and service discovery.
    pub discovery: Discovery,
}

/// An available version and the method that offers it.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub version: Version,
    method: usize,
}

impl Sources {
    /// Lists all versions of a provider that any method offers, with the warnings of registries.
    pub(super) async fn offers(
        &self,
        address: &ProviderAddress,
        platform: &Platform,
    ) -> Result<(Vec<Offer>, Vec<String>), SourceError> {
        let mut offers: Vec<Offer> = Vec::new();
        let mut offered = BTreeSet::new();
        let mut warnings = Vec::new();
        let mut missing = Vec::new();
        let mut is_covered = false;
        for (index, method) in self.methods.iter().enumerate().filter(|(_, method)| method.serves(address)) {
            match self.versions(&method.source, address, platform, &mut warnings).await {
                Ok(versions) => {
                    is_covered = true;
                    for version in versions {
                        // The first method in the list supplies a version that several have.
                        if offered.insert(version.clone()) {
                            offers.push(Offer { version, method: index });
                        }
                    }
                }
                // Another method may have it; any other failure must not silently select another source.
                Err(SourceError::NotFound(problem)) => missing.push(problem),
                Err(problem) => return Err(problem),
            }
        }
        // A method without versions does not report that the provider is missing, because another one may have it.
        let has_answer = !offers.is_empty() || is_covered && missing.is_empty();
        match (has_answer, &missing[..]) {
            (true, _) => Ok((offers, warnings)),
            (false, []) => Err(SourceError::NotFound(
                "no available provider source covers it: see the include and exclude of provider_installation"
                    .to_owned(),
            )),
            (false, [one]) => Err(SourceError::NotFound(one.clone())),
            (false, several) => Err(SourceError::NotFound(format!(
                "provider {address} was not found in any of the search locations\n\n  - {}",
                several.join("\n  - ")
            ))),
        }
    }

    async fn versions(
        &self,
        source: &Source,
        address: &ProviderAddress,
        platform: &Platform,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Version>, SourceError> {
        match source {
            Source::Filesystem(root) => {
                Ok(filesystem::packages(root, address, platform)?.into_iter().map(|package| package.version).collect())
            }
            Source::Network(base) => network_mirror::versions(&self.discovery, base, address).await,
            Source::Oci(template) => network_mirror::oci_versions(&self.discovery, template, address).await,
            Source::Direct => {
                let listing = Registry::find(&self.discovery, address).await?.versions(address).await?;
                warnings.extend(listing.warnings);
                Ok(listing.versions)
            }
        }
    }

    /// Requests the description of the package of an offer.
    pub(super) async fn package(
        &self,
        address: &ProviderAddress,
        offer: &Offer,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        let nothing = || SourceError::NotFound(format!("{address} {} has no package for {platform}", offer.version));
        match &self.methods.get(offer.method).ok_or_else(nothing)?.source {
            Source::Filesystem(root) => {
                let packages = filesystem::packages(root, address, platform)?;
                // The directory may have changed since it was listed.
                packages.into_iter().find(|package| package.version == offer.version).ok_or_else(nothing)
            }
            Source::Network(base) => {
                network_mirror::package(&self.discovery, base, address, &offer.version, platform).await
            }
            Source::Oci(template) => {
                network_mirror::oci_package(&self.discovery, template, address, &offer.version, platform).await
            }
            Source::Direct => {
                Registry::find(&self.discovery, address).await?.package(address, &offer.version, platform).await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_address::DEFAULT_PROVIDER_HOST;

    use super::*;

    #[test]
    fn patterns_match_provider_addresses() {
        let aws = ProviderAddress::default_for("aws");
        for pattern in ["hashicorp/aws", "hashicorp/*", "registry.terraform.io/*/*", "*/*/*", "*/*"] {
            assert!(Pattern::parse(pattern, DEFAULT_PROVIDER_HOST).unwrap().covers(&aws), "{pattern}");
        }
        assert!(!Pattern::parse("hashicorp/*", "registry.example.com").unwrap().covers(&aws));
        assert!(!Pattern::parse("example.com/*/*", DEFAULT_PROVIDER_HOST).unwrap().covers(&aws));
        for wrong in ["aws", "*/aws", "a/b/c/d", "host/na*/x", ""] {
            assert_eq!(Pattern::parse(wrong, DEFAULT_PROVIDER_HOST), None, "{wrong}");
        }
    }
}
