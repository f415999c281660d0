//! Filesystem mirrors in both layouts: packed (`HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip`) and
//! unpacked (`HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use groma_address::ProviderAddress;
use groma_config::version::Version;
use groma_diagnostics::io_reason;

use super::package::{Authentication, Location, PackageMeta, SourceError};
use super::platform::Platform;

/// Returns the directory of a provider below `root`.
pub fn provider_folder(root: &Path, address: &ProviderAddress) -> PathBuf {
    root.join(&*address.hostname).join(&*address.namespace).join(&*address.type_name)
}

/// Returns the directory of an unpacked package below `root`.
pub fn package_folder(root: &Path, address: &ProviderAddress, version: &Version, platform: &Platform) -> PathBuf {
    provider_folder(root, address).join(version.to_string()).join(platform.to_string())
}

/// Lists the packages of a provider for a platform below `root`.
///
/// # Errors
/// Fails if the directory exists but cannot be listed, or has nothing of the provider.
pub fn packages(root: &Path, address: &ProviderAddress, platform: &Platform) -> Result<Vec<PackageMeta>, SourceError> {
    let folder = provider_folder(root, address);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(SourceError::NotFound(format!("provider {address} was not found in {}", root.display())));
        }
        Err(error) => {
            return Err(SourceError::Failed(format!(
                "cannot list {}: {error}",
                folder.display(),
                error = io_reason(&error)
            )));
        }
    };
    let mut found = Vec::new();
    let mut other_platforms = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(|error| SourceError::Failed(format!("cannot list {}: {error}", folder.display())))?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        // A directory is a version of the unpacked layout, a file a package of the packed one.
        let meta = match path.is_dir() {
            true => unpacked(&path, &name, platform, &mut other_platforms)?,
            false => packed(path, &name, address, platform, &mut other_platforms),
        };
        found.extend(meta);
    }
    if found.is_empty() && !other_platforms.is_empty() {
        let platforms: Vec<String> = other_platforms.into_iter().collect();
        return Err(SourceError::NotFound(format!(
            "{} has packages of {address} for {}, and none for {platform}, the platform that they are needed for",
            root.display(),
            platforms.join(", ")
        )));
    }
    Ok(found)
}

/// Whether a provider has a directory below `root`.
pub fn holds(root: &Path, address: &ProviderAddress) -> bool {
    provider_folder(root, address).is_dir()
}

/// Returns the package for `platform` in the directory of a version. Adds the other platforms that it has to
/// `other_platforms`.
fn unpacked(
    folder: &Path,
    name: &str,
    platform: &Platform,
    other_platforms: &mut BTreeSet<String>,
) -> Result<Option<PackageMeta>, SourceError> {
    // Other directories, such as those of version control, may lie next to the versions.
    let Ok(version) = name.parse::<Version>() else { return Ok(None) };
    let package = folder.join(platform.to_string());
    let unreadable = |error| SourceError::Failed(format!("cannot read {}: {error}", package.display()));
    match std::fs::metadata(&package) {
        // The metadata follow links, as mirrors may consist of links into a shared directory.
        Ok(found) if found.is_dir() => return Ok(Some(meta(version, Location::Folder(package)))),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(error)),
    }
    for entry in std::fs::read_dir(folder).map_err(unreadable)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        other_platforms.extend(name.parse::<Platform>().is_ok().then_some(name));
    }
    Ok(None)
}

fn packed(
    path: PathBuf,
    name: &str,
    address: &ProviderAddress,
    platform: &Platform,
    other_platforms: &mut BTreeSet<String>,
) -> Option<PackageMeta> {
    let rest = name.strip_prefix(&format!("terraform-provider-{}_", address.type_name))?.strip_suffix(".zip")?;
    // Versions have no underscore, so the first one ends the version.
    let (version, found) = rest.split_once('_')?;
    let version = version.parse().ok()?;
    if found == platform.to_string() {
        return Some(meta(version, Location::Archive(path)));
    }
    other_platforms.insert(found.to_owned());
    None
}

fn meta(version: Version, location: Location) -> PackageMeta {
    PackageMeta { version, location, required: Vec::new(), vouched: Vec::new(), authentication: Authentication::None }
}
