//! Parsers for the responses of registries, mirrors and web pages, for fuzzing and for tests that supply responses
//! themselves. Nothing here sends a request.

use groma_address::ProviderAddress;
use groma_config::Package;
use groma_config::version::Version;
use serde::de::DeserializeOwned;

use crate::discovery::{DiscoveryError, Services};
use crate::http::Url;
use crate::modules::{FetchError, in_document, in_page, listed, relative_to};
use crate::oci::{Descriptor, Manifest, Tags, TokenServer};
use crate::providers::{Archives, Download, Index, PackageMeta, Platform, SourceError, Versions, checksums};

/// The origin and the subject of a response.
pub struct ResponseContext {
    /// The URL of the response; relative URLs in it are resolved against this.
    pub url: Url,
    /// The provider whose host or registry sent the response.
    pub provider: ProviderAddress,
    /// The version that a description of a package is for.
    pub version: Version,
    /// The platform whose package is taken from a description.
    pub platform: Platform,
}

impl ResponseContext {
    /// Parses the discovery document of a host.
    ///
    /// # Errors
    /// Fails if the document is invalid.
    pub fn services(&self, document: &[u8]) -> Result<Services, DiscoveryError> {
        Services::read(&self.provider.hostname, self.url.clone(), document)
    }

    /// Parses the version list of a provider registry.
    ///
    /// # Errors
    /// Fails if the list is invalid or has no usable version.
    pub fn provider_versions(&self, document: &[u8]) -> Result<Vec<Version>, SourceError> {
        Ok(read::<Versions>(document)?.listing().versions)
    }

    /// Parses the package description of a provider registry, and verifies that `sums` are signed with `signature`.
    ///
    /// # Errors
    /// Fails if any of the three is invalid.
    pub fn provider_package(&self, document: &[u8], sums: &[u8], signature: &[u8]) -> Result<PackageMeta, SourceError> {
        read::<Download>(document)?.package(&self.version, &self.platform, &self.url, sums, signature)
    }

    /// Parses the version list of a network mirror.
    ///
    /// # Errors
    /// Fails if the list is invalid.
    pub fn mirror_versions(&self, document: &[u8]) -> Result<Vec<Version>, SourceError> {
        Ok(read::<Index>(document)?.versions())
    }

    /// Parses the package list of a network mirror.
    ///
    /// # Errors
    /// Fails if the document is invalid or lists no package for the platform.
    pub fn mirror_package(&self, document: &[u8]) -> Result<PackageMeta, SourceError> {
        read::<Archives>(document)?.package(&self.url, &self.provider, &self.version, &self.platform)
    }

    /// Parses the package address in the response of a module registry.
    ///
    /// # Errors
    /// Fails if the response has no address.
    pub fn module_package(&self, document: &[u8]) -> Result<Package, FetchError> {
        self.package(in_document(document))
    }

    /// Parses the package address in a web page.
    ///
    /// # Errors
    /// Fails if the page has no address.
    pub fn page_package(&self, page: &str) -> Result<Package, FetchError> {
        self.package(in_page(page))
    }

    fn package(&self, source: Option<String>) -> Result<Package, FetchError> {
        let source = source.ok_or_else(|| FetchError::Other("no package is named".to_owned()))?;
        relative_to(&self.url, &source)
    }
}

/// Parses a `SHA256SUMS` file into file names and checksums.
///
/// # Errors
/// Fails if a line is invalid.
pub fn sums(file: &[u8]) -> Result<Vec<(String, String)>, SourceError> {
    checksums(file)
}

/// Parses the version list of a module registry.
///
/// # Errors
/// Fails if the list is invalid.
pub fn module_versions(document: &[u8]) -> Result<Vec<Version>, FetchError> {
    listed(document)
}

/// Parses an OCI manifest of the artifact type `wanted`, and returns its archive.
///
/// # Errors
/// Fails if the manifest is invalid or has another type.
pub fn oci_archive(document: &[u8], wanted: &str) -> Result<Descriptor, SourceError> {
    read::<Manifest>(document)?.archive(wanted).cloned().map_err(SourceError::failed)
}

/// Parses the tag list of an OCI repository.
///
/// # Errors
/// Fails if the list is invalid.
pub fn oci_tags(document: &[u8]) -> Result<Vec<String>, SourceError> {
    Ok(read::<Tags>(document)?.tags.unwrap_or_default())
}

/// Parses the challenge in which an OCI registry names its token server.
pub fn oci_token_url(challenge: &str) -> Option<Url> {
    TokenServer::of(challenge).map(|server| server.url())
}

fn read<T: DeserializeOwned>(document: &[u8]) -> Result<T, SourceError> {
    serde_json::from_slice(document).map_err(SourceError::failed)
}
