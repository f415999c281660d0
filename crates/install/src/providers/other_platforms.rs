//! Packages for other platforms: hashes for the lock file (`providers lock`), and copies of archives (`providers
//! mirror`).

use std::fs;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_config::version::{Constraints, Version};
use groma_diagnostics::io_reason;
use serde_json::{Map, Value, json};

use super::constraints::{allows, constraints_text};
use super::fetch::{archive, hashes};
use super::filesystem::provider_folder;
use super::hash::{content_hash, folder_hash};
use super::installer::{Cache, CacheTrust};
use super::lock::Lock;
use super::package::{Authentication, SourceError};
use super::package_error::{PackageError, VersionError};
use super::platform::Platform;
use super::sources::{Offer, Sources};

/// The locked package of a provider for a platform.
#[derive(Clone, Debug)]
pub struct LockablePackage {
    /// The version that the hashes are of.
    pub version: Version,
    /// The hashes of the package.
    pub hashes: Vec<Arc<str>>,
    /// The authentication of the package.
    pub authentication: Authentication,
}

/// Looks up a package in the shared cache. Returns `None` if it is not cached, or if `lock` does not know it and the
/// cache is not trusted.
pub fn cached_package(
    cache: &Cache,
    address: &ProviderAddress,
    version: &Version,
    platform: &Platform,
    lock: Option<&Lock>,
) -> Option<LockablePackage> {
    // The cache lists no hashes of its own, so the package is hashed.
    let hash = folder_hash(&cache.store.folder(address, version, platform)).ok()?;
    let is_locked = lock.is_some_and(|lock| lock.hashes.contains(&hash));
    let authentication = Authentication::Checksum;
    (is_locked || cache.trust == CacheTrust::Any).then(|| LockablePackage {
        version: version.clone(),
        hashes: vec![hash],
        authentication,
    })
}

impl Sources {
    /// Selects a version: the locked one, else the newest that the constraints allow.
    ///
    /// # Errors
    /// Fails if no source has such a version.
    pub async fn resolve(
        &self,
        address: &ProviderAddress,
        constraints: &Constraints,
        lock: Option<&Lock>,
        platform: &Platform,
    ) -> Result<Version, SourceError> {
        self.choose(address, constraints, lock, platform).await.map(|offer| offer.version)
    }

    async fn choose(
        &self,
        address: &ProviderAddress,
        constraints: &Constraints,
        lock: Option<&Lock>,
        platform: &Platform,
    ) -> Result<Offer, SourceError> {
        let (offers, _) = self.offers(address, platform).await?;
        let suits = |offer: &Offer| match lock {
            Some(lock) => offer.version == lock.version,
            None => allows(constraints, &offer.version),
        };
        let newest = offers.into_iter().filter(suits).max_by(|a, b| a.version.cmp(&b.version));
        let error = || match lock {
            Some(lock) => not_available(address, &lock.version, platform),
            None if constraints.is_empty() => {
                VersionError::NoReleasesFor { address: address.clone(), platform: platform.clone() }
            }
            None => VersionError::NoMatch(constraints_text(constraints)),
        };
        Ok(newest.ok_or_else(error)?)
    }

    /// Returns the hashes of a version for a platform, from a verified package.
    ///
    /// # Errors
    /// Fails if no source has the package, or if verification fails.
    pub async fn learn(
        &self,
        address: &ProviderAddress,
        version: &Version,
        platform: &Platform,
    ) -> Result<LockablePackage, SourceError> {
        let offer = self.offer(address, version, platform).await?;
        // Not compared with the lock file, which may not have a hash for this platform yet.
        let fetched = hashes(self, address, &offer, platform, &[]).await?;
        let mut hashes = fetched.vouched;
        hashes.push(fetched.hash);
        Ok(LockablePackage { version: version.clone(), hashes, authentication: fetched.authentication })
    }

    /// Copies the archive of a version for a platform into the mirror at `root`, in the packed layout.
    ///
    /// # Errors
    /// Fails if no source has the package, if verification fails, or if the directory cannot be written to.
    pub async fn mirror(
        &self,
        address: &ProviderAddress,
        version: &Version,
        platform: &Platform,
        allowed: &[Arc<str>],
        root: &Path,
    ) -> Result<Authentication, SourceError> {
        let offer = self.offer(address, version, platform).await?;
        // The archive is copied as it is, so that its `zh:` hash stays valid.
        let (archive, authentication) = archive(self, address, &offer, platform, allowed).await?;
        let target = archive_path(root, address, version, platform);
        copy(archive, &target).map_err(|error| PackageError::NotWritten { path: target, reason: io_reason(&error) })?;
        Ok(authentication)
    }

    async fn offer(
        &self,
        address: &ProviderAddress,
        version: &Version,
        platform: &Platform,
    ) -> Result<Offer, SourceError> {
        let (offers, _) = self.offers(address, platform).await?;
        let offer = offers.into_iter().find(|offer| offer.version == *version);
        Ok(offer.ok_or_else(|| not_available(address, version, platform))?)
    }
}

fn not_available(address: &ProviderAddress, version: &Version, platform: &Platform) -> VersionError {
    VersionError::NotAvailable { address: address.clone(), version: version.clone(), platform: platform.clone() }
}

/// Returns the path of an archive in a mirror.
fn archive_path(root: &Path, address: &ProviderAddress, version: &Version, platform: &Platform) -> PathBuf {
    provider_folder(root, address).join(format!("terraform-provider-{}_{version}_{platform}.zip", address.type_name))
}

/// Writes a file atomically.
fn copy(mut from: fs::File, to: &Path) -> std::io::Result<()> {
    let folder = to.parent().ok_or_else(|| std::io::Error::other("it has no folder"))?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    from.rewind()?;
    std::io::copy(&mut from, file.as_file_mut())?;
    write_whole(file, to)
}

fn write_whole(file: tempfile::NamedTempFile, to: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    file.persist(to).map(drop).map_err(|error| error.error)
}

/// Writes the documents of the network mirror protocol for all archives of a provider in the mirror at `root`.
///
/// # Errors
/// Fails if an archive cannot be read or the directory cannot be written to.
pub fn write_mirror_documents(root: &Path, address: &ProviderAddress) -> std::io::Result<()> {
    let folder = provider_folder(root, address);
    let prefix = format!("terraform-provider-{}_", address.type_name);
    let mut versions: Map<String, Value> = Map::new();
    let mut names: Vec<String> =
        fs::read_dir(&folder)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in names {
        let Some(rest) = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(".zip")) else { continue };
        let Some((version, platform)) = rest.split_once('_') else { continue };
        let path = folder.join(&name);
        // The documents are computed from the archives that are there, including those of earlier runs.
        let mut opened = zip::ZipArchive::new(fs::File::open(&path)?).map_err(std::io::Error::other)?;
        let entry = json!({"hashes": [*content_hash(&mut opened)?], "url": name});
        let archives = versions.entry(version.to_owned()).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(archives) = archives {
            archives.insert(platform.to_owned(), entry);
        }
    }
    let index: Map<String, Value> = versions.keys().map(|version| (version.clone(), json!({}))).collect();
    write_json(&folder, "index.json", &json!({"versions": index}))?;
    for (version, archives) in &versions {
        write_json(&folder, &format!("{version}.json"), &json!({"archives": archives}))?;
    }
    Ok(())
}

fn write_json(folder: &Path, name: &str, value: &Value) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut file, value)?;
    write_whole(file, &folder.join(name))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn mirror_documents_list_each_archive_with_its_hash() {
        let root = tempfile::tempdir().unwrap();
        let address = ProviderAddress::parse("example.com/acme/tool", "registry.terraform.io").unwrap();
        let folder = provider_folder(root.path(), &address);
        fs::create_dir_all(&folder).unwrap();
        let name = "terraform-provider-tool_1.0.0_linux_amd64.zip";
        let mut archive = zip::ZipWriter::new(fs::File::create(folder.join(name)).unwrap());
        archive.start_file("terraform-provider-tool_v1.0.0", zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(b"program").unwrap();
        archive.finish().unwrap();
        // Mirrors may hold further files, which must not be taken for packages.
        fs::write(folder.join("notes.txt"), "no archive").unwrap();
        write_mirror_documents(root.path(), &address).unwrap();

        let read = |name: &str| -> Value { serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap() };
        assert_eq!(read("index.json"), json!({"versions": {"1.0.0": {}}}));
        let version = read("1.0.0.json");
        let entry = &version["archives"]["linux_amd64"];
        assert_eq!(entry["url"], name);
        let hashes: Vec<&str> = entry["hashes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(matches!(&hashes[..], [only] if only.starts_with("h1:")), "{hashes:?}");
    }
}
