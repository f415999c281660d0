//! A single module without its child modules, for `init -from-module`.

use std::fs;
use std::path::{Path, PathBuf};

use groma_config::version::Constraints;
use groma_config::{ModuleSource, Package, RegistryModule};

use super::FetchError;
use super::fetch::{Fetcher, copy_folder};
use super::{address, registry};
use crate::discovery::Discovery;

/// Directories of version control systems and of installations, which are not copied.
const OWN: [&str; 2] = [".git", ".terraform"];

/// Copies the module at `address` into the directory `target`. Registry addresses without a host belong to
/// `default_registry`.
///
/// # Errors
/// Fails if the address is invalid, or if the module cannot be fetched or copied.
pub async fn copy_module(
    address: &str,
    target: &Path,
    default_registry: &str,
    discovery: &Discovery,
) -> Result<(), FetchError> {
    let scratch = tempfile::tempdir().map_err(FetchError::file("cannot create a temporary directory"))?;
    let folder = match ModuleSource::parse(address).map_err(|problem| FetchError::Other(problem.to_string()))? {
        ModuleSource::Local(folder) => folder,
        ModuleSource::Package(package) => fetched(&package, "", scratch.path(), discovery).await?,
        ModuleSource::Registry(module) => {
            let package = newest(&module, default_registry, discovery).await?;
            fetched(&package, &module.subfolder, scratch.path(), discovery).await?
        }
    };
    let unreadable = |error| FetchError::file(format!("{} cannot be copied", folder.display()))(error);
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if OWN.iter().any(|own| entry.file_name() == *own) {
            continue;
        }
        let to = target.join(entry.file_name());
        // Follows links: their targets may be outside of the module, and are not copied otherwise.
        match entry.path().is_dir() {
            true => copy_folder(&entry.path(), &to),
            false => fs::copy(entry.path(), &to).map(drop),
        }
        .map_err(unreadable)?;
    }
    Ok(())
}

/// Returns the directory of the module within its package.
async fn fetched(package: &Package, below: &str, scratch: &Path, discovery: &Discovery) -> Result<PathBuf, FetchError> {
    let target = scratch.join("package");
    Fetcher::new(discovery).fetch(&package.address, &target).await?;
    let mut folder = target;
    // The registry may name a subdirectory of the package, and the address one within it.
    for subfolder in [&package.subfolder[..], below].into_iter().filter(|subfolder| !subfolder.is_empty()) {
        let inner = address::expand(&folder, subfolder)?;
        folder = folder.join(inner);
    }
    Ok(folder)
}

async fn newest(module: &RegistryModule, default_registry: &str, discovery: &Discovery) -> Result<Package, FetchError> {
    let host = module.host.as_deref().unwrap_or(default_registry);
    let versions = registry::versions(discovery, module, host).await?;
    // Addresses on the command line have no version constraint.
    let version = versions.and_then(|versions| registry::newest(&versions, &Constraints::default()));
    let version = version.ok_or_else(|| FetchError::Other(format!("the registry {host} has no version of it")))?;
    registry::location(discovery, module, host, &version).await
}
