//! Folders with packages, in two layouts: `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip`, and unpacked in
//! `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use groma_address::ProviderAddress;
use groma_config::version::Version;
use groma_diagnostics::io_reason;

use super::package::{Authentication, Location, PackageMeta, SourceError};
use super::platform::Platform;

/// The folder of a provider below `root`.
pub fn provider_folder(root: &Path, address: &ProviderAddress) -> PathBuf {
    root.join(&*address.hostname).join(&*address.namespace).join(&*address.type_name)
}

/// Returns the directory of a version's unpacked package below `root`.
pub fn package_folder(root: &Path, address: &ProviderAddress, version: &Version, platform: &Platform) -> PathBuf {
    provider_folder(root, address).join(version.to_string()).join(platform.to_string())
}

/// The packages of a provider for a platform below `root`.
///
/// # Errors
/// The folder is there but cannot be listed, or has nothing of the provider.
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
    let mut elsewhere = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(|error| SourceError::Failed(format!("cannot list {}: {error}", folder.display())))?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let meta = match path.is_dir() {
            true => unpacked(&path, &name, platform, &mut elsewhere)?,
            false => packed(path, &name, address, platform, &mut elsewhere),
        };
        found.extend(meta);
    }
    if found.is_empty() && !elsewhere.is_empty() {
        let platforms: Vec<String> = elsewhere.into_iter().collect();
        return Err(SourceError::NotFound(format!(
            "{} has packages of {address} for {}, and none for {platform}, the platform that they are needed for",
            root.display(),
            platforms.join(", ")
        )));
    }
    Ok(found)
}

/// The addresses of all providers that have a folder below `root`; for the folders that are searched without being asked for.
pub fn holds(root: &Path, address: &ProviderAddress) -> bool {
    provider_folder(root, address).is_dir()
}

/// The package for `platform` in the directory of a version. The other platforms that it has are added to `elsewhere`.
fn unpacked(
    folder: &Path,
    name: &str,
    platform: &Platform,
    elsewhere: &mut BTreeSet<String>,
) -> Result<Option<PackageMeta>, SourceError> {
    let Ok(version) = name.parse::<Version>() else { return Ok(None) };
    let package = folder.join(platform.to_string());
    let unreadable = |error| SourceError::Failed(format!("cannot read {}: {error}", package.display()));
    match std::fs::metadata(&package) {
        Ok(found) if found.is_dir() => return Ok(Some(meta(version, Location::Folder(package)))),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(error)),
    }
    for entry in std::fs::read_dir(folder).map_err(unreadable)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        elsewhere.extend(name.parse::<Platform>().is_ok().then_some(name));
    }
    Ok(None)
}

fn packed(
    path: PathBuf,
    name: &str,
    address: &ProviderAddress,
    platform: &Platform,
    elsewhere: &mut BTreeSet<String>,
) -> Option<PackageMeta> {
    let rest = name.strip_prefix(&format!("terraform-provider-{}_", address.type_name))?.strip_suffix(".zip")?;
    let (version, found) = rest.split_once('_')?;
    let version = version.parse().ok()?;
    if found == platform.to_string() {
        return Some(meta(version, Location::Archive(path)));
    }
    elsewhere.insert(found.to_owned());
    None
}

fn meta(version: Version, location: Location) -> PackageMeta {
    PackageMeta { version, location, required: Vec::new(), vouched: Vec::new(), authentication: Authentication::None }
}
