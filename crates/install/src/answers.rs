//! Parsers for answers of registries, mirrors and web pages, without requests, for tests with
//! recorded answers.

use groma_address::ProviderAddress;
use groma_config::Package;
use groma_config::version::Version;
use serde::de::DeserializeOwned;

use crate::discovery::{DiscoveryError, Services};
use crate::http::Url;
use crate::modules::{FetchError, in_document, in_page, listed, relative_to};
use crate::oci::{Descriptor, Manifest, Tags, TokenServer};
use crate::providers::{Archives, Download, Index, PackageMeta, Platform, SourceError, Versions, checksums};

/// The context of an answer: its address, and the subject of the request.
pub struct Asked {
    /// The address that answered.
    pub url: Url,
    /// The address of the provider.
    pub provider: ProviderAddress,
    /// The version of the provider.
    pub version: Version,
    /// The platform of the package.
    pub platform: Platform,
}

impl Asked {
    /// The services of a host, as its document says.
    ///
    /// # Errors
    /// The document is none.
    pub fn services(&self, document: &[u8]) -> Result<Services, DiscoveryError> {
        Services::read(&self.provider.hostname, self.url.clone(), document)
    }

    /// The versions that a provider registry lists.
    ///
    /// # Errors
    /// The list is none, or nothing in it can be used.
    pub fn provider_versions(&self, document: &[u8]) -> Result<Vec<Version>, SourceError> {
        Ok(read::<Versions>(document)?.listing().versions)
    }

    /// The package that a provider registry leads to; `sums` are signed with `signature`.
    ///
    /// # Errors
    /// One of the three is wrong.
    pub fn provider_package(&self, document: &[u8], sums: &[u8], signature: &[u8]) -> Result<PackageMeta, SourceError> {
        read::<Download>(document)?.package(&self.version, &self.platform, &self.url, sums, signature)
    }

    /// The versions that a network mirror lists.
    ///
    /// # Errors
    /// The list is none.
    pub fn mirror_versions(&self, document: &[u8]) -> Result<Vec<Version>, SourceError> {
        Ok(read::<Index>(document)?.versions())
    }

    /// The package that a network mirror leads to.
    ///
    /// # Errors
    /// The document is none, or has no such package.
    pub fn mirror_package(&self, document: &[u8]) -> Result<PackageMeta, SourceError> {
        read::<Archives>(document)?.package(&self.url, &self.provider, &self.version, &self.platform)
    }

    /// The package that a module registry leads to.
    ///
    /// # Errors
    /// The document names none.
    pub fn module_package(&self, document: &[u8]) -> Result<Package, FetchError> {
        self.place(in_document(document))
    }

    /// The package that a web page leads to.
    ///
    /// # Errors
    /// The page names none.
    pub fn page_package(&self, page: &str) -> Result<Package, FetchError> {
        self.place(in_page(page))
    }

    fn place(&self, source: Option<String>) -> Result<Package, FetchError> {
        let source = source.ok_or_else(|| FetchError::Other("no package is named".to_owned()))?;
        relative_to(&self.url, &source)
    }
}

/// The names of files with their checksums, as `SHA256SUMS` lists them.
///
/// # Errors
/// A line of it is none.
pub fn sums(file: &[u8]) -> Result<Vec<(String, String)>, SourceError> {
    checksums(file)
}

/// The versions that a module registry lists.
///
/// # Errors
/// The list is none.
pub fn module_versions(document: &[u8]) -> Result<Vec<Version>, FetchError> {
    listed(document)
}

/// The archive of a manifest whose type is `wanted`.
///
/// # Errors
/// The manifest is none, or is of another type.
pub fn oci_archive(document: &[u8], wanted: &str) -> Result<Descriptor, SourceError> {
    read::<Manifest>(document)?.archive(wanted).cloned().map_err(SourceError::Failed)
}

/// The tags of a repository.
///
/// # Errors
/// The list is none.
pub fn oci_tags(document: &[u8]) -> Result<Vec<String>, SourceError> {
    Ok(read::<Tags>(document)?.tags.unwrap_or_default())
}

/// Returns the token server that an OCI registry names when it refuses a request.
pub fn oci_token_place(challenge: &str) -> Option<Url> {
    TokenServer::of(challenge).map(|server| server.url())
}

fn read<T: DeserializeOwned>(document: &[u8]) -> Result<T, SourceError> {
    serde_json::from_slice(document).map_err(SourceError::failed)
}
