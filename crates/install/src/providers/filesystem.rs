//! Folders with packages, in two layouts: `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip`, and unpacked in
//! `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/`.

use std::path::{Path, PathBuf};

use groma_address::ProviderAddress;
use groma_config::version::Version;

use super::package::{Authentication, Location, PackageMeta, SourceError};
use super::platform::Platform;

/// The folder of a provider below `root`.
pub fn provider_folder(root: &Path, address: &ProviderAddress) -> PathBuf {
    root.join(&*address.hostname).join(&*address.namespace).join(&*address.type_name)
}

/// Where a version's unpacked package is below `root`.
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
        Err(error) => return Err(SourceError::Failed(format!("cannot list {}: {error}", folder.display()))),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let meta =
            if path.is_dir() { unpacked(&path, &name, platform) } else { packed(path, &name, address, platform) };
        found.extend(meta);
    }
    Ok(found)
}

/// The addresses of all providers that have a folder below `root`; for the folders that are searched without being asked for.
pub fn holds(root: &Path, address: &ProviderAddress) -> bool {
    provider_folder(root, address).is_dir()
}

fn unpacked(folder: &Path, name: &str, platform: &Platform) -> Option<PackageMeta> {
    let version: Version = name.parse().ok()?;
    let package = folder.join(platform.to_string());
    package.is_dir().then(|| meta(version, Location::Folder(package)))
}

fn packed(path: PathBuf, name: &str, address: &ProviderAddress, platform: &Platform) -> Option<PackageMeta> {
    let rest = name.strip_prefix(&format!("terraform-provider-{}_", address.type_name))?.strip_suffix(".zip")?;
    let version = rest.strip_suffix(&format!("_{platform}"))?;
    Some(meta(version.parse().ok()?, Location::Archive(path)))
}

fn meta(version: Version, location: Location) -> PackageMeta {
    PackageMeta { version, location, required: Vec::new(), vouched: Vec::new(), authentication: Authentication::None }
}
