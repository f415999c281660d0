//! The provider registry protocol, version 1.

use std::fmt::Write;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_config::version::Version;
use groma_diagnostics::json_reason;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::package::{Authentication, Location, PackageMeta, SourceError};
use super::platform::Platform;
use super::signature::PublicKey;
use crate::credentials::Token;
use crate::discovery::Discovery;
use crate::http::{Response, StatusCode, Url, without_secrets};

const SERVICE: &str = "providers.v1";
const LARGEST_DOCUMENT: u64 = 32 << 20;

/// The newest supported minor version of each plugin protocol.
const PROTOCOLS: [&str; 2] = ["5", "6"];

/// The response with the available versions.
#[derive(Deserialize)]
pub(crate) struct Versions {
    /// Servers written in Go send `null` for an empty list.
    #[serde(default)]
    versions: Option<Vec<VersionEntry>>,
    #[serde(default)]
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct VersionEntry {
    #[serde(default)]
    version: String,
    #[serde(default)]
    protocols: Option<Vec<String>>,
}

/// The response with the description of a package.
#[derive(Deserialize)]
pub(crate) struct Download {
    #[serde(default)]
    protocols: Option<Vec<String>>,
    #[serde(default)]
    os: String,
    #[serde(default)]
    arch: String,
    filename: String,
    download_url: String,
    shasum: String,
    shasums_url: String,
    shasums_signature_url: String,
    #[serde(default)]
    signing_keys: SigningKeys,
}

#[derive(Default, Deserialize)]
struct SigningKeys {
    #[serde(default)]
    gpg_public_keys: Vec<SigningKey>,
}

#[derive(Deserialize)]
struct SigningKey {
    ascii_armor: String,
    #[serde(default)]
    trust_signature: String,
}

/// The offer of a registry for a provider.
pub(crate) struct Listing {
    pub versions: Vec<Version>,
    pub warnings: Vec<String>,
}

/// A registry found by service discovery, with the token for it.
pub(super) struct Registry<'a> {
    discovery: &'a Discovery,
    base: Url,
    host: String,
    token: Option<Token>,
}

/// The host with its port, under which credentials are stored.
pub(super) fn host_of(url: &Url) -> String {
    let mut host = url.host_str().unwrap_or_default().to_owned();
    if let Some(port) = url.port() {
        let _ = write!(host, ":{port}");
    }
    host
}

impl<'a> Registry<'a> {
    /// Discovers the registry of the provider's host.
    pub async fn find(discovery: &'a Discovery, address: &ProviderAddress) -> Result<Self, SourceError> {
        let host = &*address.hostname;
        let services = discovery
            .services(host)
            .await
            .map_err(|error| SourceError::Failed(format!("could not connect to {host}: {error}")))?;
        let base = services
            .url(SERVICE)
            .map_err(|_| SourceError::Failed(format!("host {host} does not offer a Terraform provider registry")))?;
        let token = discovery.token(host).await.map_err(SourceError::failed)?;
        Ok(Self { discovery, base, host: host.to_owned(), token })
    }

    /// Requests the versions of a provider that speak a supported plugin protocol.
    pub async fn versions(&self, address: &ProviderAddress) -> Result<Listing, SourceError> {
        let path = format!("{}/{}/versions", address.namespace, address.type_name);
        let (_, versions): (_, Versions) = self.document(&path, address).await?;
        Ok(versions.listing())
    }

    /// Requests the description of one package, and verifies the checksum list and its signature.
    pub async fn package(
        &self,
        address: &ProviderAddress,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        let path =
            format!("{}/{}/{version}/download/{}/{}", address.namespace, address.type_name, platform.os, platform.arch);
        // A listed version may lack a package for some platforms.
        let (url, download): (Url, Download) = self.document(&path, address).await.map_err(|error| match error {
            SourceError::NotFound(_) => SourceError::Incompatible(format!(
                "provider {address} {version} is not available for {platform}, the platform of this machine. Other versions may be: each \
                 is built for the platforms of its time"
            )),
            other => other,
        })?;
        if let Some(protocols) = download.protocols.as_deref().filter(|protocols| !is_supported(protocols)) {
            return Err(SourceError::Incompatible(format!(
                "provider {address} {version} speaks plugin protocol {}, and this program 5 and 6: choose another version",
                protocols.join(", ")
            )));
        }
        // The checksums and their signature are files of their own: the signature covers the list of all platforms.
        let sums = self.file(&download.address(&url, &download.shasums_url)?, "checksums").await?;
        let signature_url = download.address(&url, &download.shasums_signature_url)?;
        let signature = self.file(&signature_url, "signature of the checksums").await?;
        download.package(version, platform, &url, &sums, &signature)
    }

    async fn document<T: DeserializeOwned>(
        &self,
        path: &str,
        address: &ProviderAddress,
    ) -> Result<(Url, T), SourceError> {
        let url = self.base.join(path).map_err(SourceError::failed)?;
        let answer = self.discovery.http().get(&url, self.token.as_ref(), LARGEST_DOCUMENT).await.map_err(|error| {
            SourceError::Failed(format!("could not query provider registry for {address}: {error}"))
        })?;
        self.check(&answer, &url, address)?;
        let value = serde_json::from_slice(&answer.body).map_err(|error| {
            let url = without_secrets(&url);
            SourceError::Failed(format!(
                "{url} answered with something else than the protocol asks: {error}",
                error = json_reason(&error)
            ))
        })?;
        Ok((answer.url, value))
    }

    fn check(&self, answer: &Response, url: &Url, address: &ProviderAddress) -> Result<(), SourceError> {
        let host = &self.host;
        match answer.status {
            status if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND => {
                Err(SourceError::NotFound(format!("provider registry {host} does not have a provider named {address}")))
            }
            // Without a token the advice is to log in; with one, the token is wrong or lacks permission.
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if self.token.is_none() => {
                Err(SourceError::Failed(self.discovery.credentials().needed_by(host)))
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(SourceError::Failed(format!("host {host} rejected the given authentication credentials")))
            }
            status => Err(SourceError::Failed(format!("{} answered {status}", without_secrets(url)))),
        }
    }

    async fn file(&self, url: &Url, what: &str) -> Result<Vec<u8>, SourceError> {
        // The files may be on another host, which must not receive the registry's token.
        let token = self.token.as_ref().filter(|_| host_of(url) == self.host && url.scheme() == "https");
        let answer = self.discovery.http().get(url, token, LARGEST_DOCUMENT).await.map_err(SourceError::failed)?;
        if !answer.status.is_success() {
            return Err(SourceError::Failed(format!(
                "failed to retrieve the {what}: {} answered {}",
                without_secrets(url),
                answer.status
            )));
        }
        Ok(answer.body)
    }
}

impl Versions {
    /// Returns the versions that speak a supported protocol, or all versions if no version does: the package
    /// description then names the problem.
    pub(crate) fn listing(self) -> Listing {
        let speaks = |offered: &&VersionEntry| offered.protocols.as_deref().is_none_or(is_supported);
        let offered = self.versions.unwrap_or_default();
        let mut versions: Vec<Version> = offered.iter().filter(speaks).filter_map(VersionEntry::read).collect();
        // An old provider must be reported by its protocol, and not as if it had no versions.
        if versions.is_empty() {
            versions = offered.iter().filter_map(VersionEntry::read).collect();
        }
        Listing { versions, warnings: self.warnings.unwrap_or_default() }
    }
}

impl VersionEntry {
    /// Parses a version. Returns `None` for other spellings, such as a leading `v`, which registries do not use.
    fn read(&self) -> Option<Version> {
        self.version.starts_with(|first: char| first.is_ascii_digit()).then(|| self.version.parse().ok())?
    }
}

impl Download {
    /// Resolves a URL in the response from `url`.
    fn address(&self, url: &Url, text: &str) -> Result<Url, SourceError> {
        url.join(text).map_err(|error| {
            SourceError::Failed(format!("the registry answered with an invalid address {text:?}: {error}"))
        })
    }

    /// Returns the package, if the checksum list is signed and names it.
    pub(crate) fn package(
        &self,
        version: &Version,
        platform: &Platform,
        url: &Url,
        sums: &[u8],
        signature: &[u8],
    ) -> Result<PackageMeta, SourceError> {
        let (os, arch) = (&self.os, &self.arch);
        // A registry that mixes up platforms would have the wrong program locked for this one.
        if *os != platform.os || *arch != platform.arch {
            return Err(SourceError::Failed(format!(
                "the registry was asked for the package for {platform}, and answered with the one for {os}_{arch}"
            )));
        }
        let authentication = authenticate(sums, signature, &self.signing_keys)?;
        let vouched = checksums(sums)?;
        let listed = vouched
            .iter()
            // Only the signed list counts; the checksum in the response is not signed.
            .find(|(name, _)| *name == self.filename)
            .ok_or_else(|| SourceError::Failed(format!("the checksum list has no entry for {}", self.filename)))?;
        if !listed.1.eq_ignore_ascii_case(&self.shasum) {
            return Err(SourceError::Failed(format!(
                "the registry says that {} has the checksum {}, and the signed list of checksums says {}",
                self.filename, self.shasum, listed.1
            )));
        }
        let location = self.address(url, &self.download_url)?;
        Ok(PackageMeta {
            version: version.clone(),
            location: Location::Download { url: location, filename: self.filename.clone() },
            required: vec![Arc::from(format!("zh:{}", listed.1))],
            vouched: vouched.iter().map(|(_, sum)| format!("zh:{sum}").into()).collect(),
            authentication,
        })
    }
}

/// Returns the signer of the checksum list.
fn authenticate(sums: &[u8], signature: &[u8], keys: &SigningKeys) -> Result<Authentication, SourceError> {
    let mut problem = "the registry names no key".to_owned();
    for entry in &keys.gpg_public_keys {
        let key = match PublicKey::parse(&entry.ascii_armor) {
            Ok(key) => key,
            Err(error) => {
                problem = format!("the registry has an unusable signing key: {error}");
                continue;
            }
        };
        match key.verify(sums, signature) {
            Ok(()) if key.is_hashicorp() => return Ok(Authentication::Official),
            Ok(()) if entry.trust_signature.is_empty() => return Ok(Authentication::SelfSigned(key.id())),
            Ok(()) => {
                // Any registry can claim that its key is a partner's, but only HashiCorp can sign that.
                let partners = PublicKey::hashicorp_partners();
                return partners
                    .and_then(|partners| partners.verify_trust(&entry.ascii_armor, &entry.trust_signature))
                    .map(|()| Authentication::Partner(key.id()))
                    .map_err(|error| SourceError::Failed(format!("error verifying trust signature: {error}")));
            }
            Err(error) => problem = error.to_string(),
        }
    }
    Err(SourceError::Failed(format!("error checking signature: {problem}")))
}

/// Parses a `SHA256SUMS` file into file names and checksums.
pub(crate) fn checksums(sums: &[u8]) -> Result<Vec<(String, String)>, SourceError> {
    let text =
        std::str::from_utf8(sums).map_err(|_| SourceError::Failed("the checksum list is not UTF-8 text".to_owned()))?;
    // One broken line makes the list useless: it may have been cut or replaced by an error page.
    let mut list = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let entry = line.split_once(char::is_whitespace).map(|(sum, name)| (sum, name.trim_start_matches([' ', '*'])));
        match entry {
            Some((sum, name)) if sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                list.push((name.to_owned(), sum.to_ascii_lowercase()));
            }
            _ => return Err(SourceError::Failed(format!("the checksum list has the invalid line {line:?}"))),
        }
    }
    Ok(list)
}

fn is_supported(protocols: &[String]) -> bool {
    // Old registries do not list protocols.
    protocols.is_empty()
        || protocols.iter().any(|protocol| PROTOCOLS.contains(&protocol.split('.').next().unwrap_or_default()))
}
