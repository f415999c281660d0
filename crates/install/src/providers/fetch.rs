//! Installation of one package: download, verify, unpack. The order guarantees that nothing unverified is unpacked.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_diagnostics::io_reason;
use zip::ZipArchive;

use super::hash::{archive_hash, content_hash, folder_hash, is_checksum};
use super::package::{Authentication, Location, PackageMeta, SourceError};
use super::package_error::{NotLocked, PackageError};
use super::platform::Platform;
use super::registry::host_of;
use super::sources::{Offer, Sources};
use super::store::Store;
use crate::archive::{Limits, check_entries};
use crate::http::{HttpError, Url, without_secrets};
use crate::oci::Registry;

/// The hashes and the authentication of a verified package.
#[derive(Clone, Debug)]
pub(super) struct VerifiedPackage {
    /// The `h1:` hash of the installed files.
    pub hash: Arc<str>,
    /// The hashes that the source guarantees.
    pub vouched: Vec<Arc<str>>,
    pub authentication: Authentication,
}

/// Installs the package of an offer into `store`. If `allowed` has hashes of a scheme that the package has too, one of
/// them must match.
pub(super) async fn fetch(
    sources: &Sources,
    address: &ProviderAddress,
    offer: &Offer,
    platform: &Platform,
    store: &Store,
    allowed: &[Arc<str>],
) -> Result<VerifiedPackage, SourceError> {
    let package = sources.package(address, offer, platform).await?;
    let target = store.folder(address, &offer.version, platform);
    let hash = match &package.location {
        Location::Folder(folder) => {
            let hash = store.hash(folder).map_err(|error| unreadable(&package, &error))?;
            // A directory has no archive, so only its `h1:` hash can be compared.
            check(address, &package, allowed, std::slice::from_ref(&hash))?;
            store
                .put_link(folder, &target)
                .map_err(|error| PackageError::NotLinked { path: target.clone(), reason: io_reason(&error) })?;
            hash
        }
        Location::Archive(_) | Location::Download { .. } | Location::Blob(_) => {
            let archive = obtain(sources, &package).await?;
            let hash = verified(address, &package, allowed, &archive)?;
            unpack(store, &archive, &target, &hash)?;
            hash
        }
    };
    // The unpacked files must be the verified ones, which detects a full or faulty disk. A linked directory was hashed
    // above.
    if !matches!(store.hash_among(&target, std::slice::from_ref(&hash)), Ok(found) if found == hash) {
        // A package that fails here must not be used by a later run.
        store.remove(&target);
        return Err(PackageError::Differs(target).into());
    }
    Ok(VerifiedPackage { hash, vouched: package.vouched, authentication: package.authentication })
}

/// Returns the hashes of an offered package without installing it: for `providers lock`.
pub(super) async fn hashes(
    sources: &Sources,
    address: &ProviderAddress,
    offer: &Offer,
    platform: &Platform,
    allowed: &[Arc<str>],
) -> Result<VerifiedPackage, SourceError> {
    let package = sources.package(address, offer, platform).await?;
    let hash = match &package.location {
        Location::Folder(folder) => folder_hash(folder).map_err(|error| unreadable(&package, &error))?,
        Location::Archive(_) | Location::Download { .. } | Location::Blob(_) => {
            verified(address, &package, allowed, &obtain(sources, &package).await?)?
        }
    };
    Ok(VerifiedPackage { hash, vouched: package.vouched, authentication: package.authentication })
}

/// Downloads and verifies the archive of an offer: for `providers mirror`.
pub(super) async fn archive(
    sources: &Sources,
    address: &ProviderAddress,
    offer: &Offer,
    platform: &Platform,
    allowed: &[Arc<str>],
) -> Result<(File, Authentication), SourceError> {
    let package = sources.package(address, offer, platform).await?;
    if let Location::Folder(folder) = &package.location {
        // Packing it here would make an archive with other checksums than the published one.
        return Err(PackageError::Unpacked(folder.clone()).into());
    }
    let archive = obtain(sources, &package).await?;
    verified(address, &package, allowed, &archive)?;
    Ok((archive, package.authentication))
}

/// Opens the archive of a package. A download goes to an unnamed file, so that a killed run leaves nothing behind.
async fn obtain(sources: &Sources, package: &PackageMeta) -> Result<File, SourceError> {
    match &package.location {
        Location::Download { url, .. } => download(sources, url).await,
        Location::Blob(blob) => {
            let (repository, descriptor) = &**blob;
            let mut file = temporary()?;
            let registry = Registry::new(&sources.discovery);
            registry
                .blob(repository, descriptor, &mut file, Limits::PROVIDER.bytes)
                .await
                .map_err(SourceError::failed)?;
            Ok(file)
        }
        Location::Folder(path) | Location::Archive(path) => {
            Ok(File::open(path).map_err(|error| unreadable(package, &error))?)
        }
    }
}

fn temporary() -> Result<File, PackageError> {
    tempfile::tempfile().map_err(|error| PackageError::NoTemporaryFile(io_reason(&error)))
}

async fn download(sources: &Sources, url: &Url) -> Result<File, SourceError> {
    // Only over https, because a token must be encrypted on the network.
    let token = match url.scheme() {
        "https" => sources.discovery.token(&host_of(url)).await.map_err(SourceError::failed)?,
        _ => None,
    };
    let http = sources.discovery.http();
    let mut attempt = 0;
    loop {
        let mut file = temporary()?;
        match http.download(url, token.as_ref(), &[], &mut file, Limits::PROVIDER.bytes).await {
            Ok(answer) if answer.status.is_success() => return Ok(file),
            Ok(answer) => {
                let (url, status) = (without_secrets(url).to_string(), answer.status.to_string());
                return Err(PackageError::Refused { url, status }.into());
            }
            // The partial file is useless, so the next attempt starts with a new one.
            Err(HttpError::Truncated { .. }) if attempt < http.retries() => attempt += 1,
            Err(error) => return Err(SourceError::failed(error)),
        }
    }
}

/// Returns the `h1:` hash of an archive, after checking it against its source and the lock file.
fn verified(
    address: &ProviderAddress,
    package: &PackageMeta,
    allowed: &[Arc<str>],
    archive: &File,
) -> Result<Arc<str>, SourceError> {
    let outer = archive_hash(archive).map_err(|error| unreadable(package, &error))?;
    // Checked first: a wrong checksum is a better message than an unreadable archive.
    if package.required.iter().all(|hash| hash.starts_with("zh:")) {
        check_source(package, std::slice::from_ref(&outer))?;
    }
    let mut file = archive;
    // Before the directory of the archive is read into memory.
    check_entries(&mut file, Limits::PROVIDER).map_err(SourceError::failed)?;
    let mut opened = ZipArchive::new(file).map_err(|error| PackageError::NoArchive {
        location: package.location.to_string(),
        reason: error.to_string(),
    })?;
    let inner = content_hash(&mut opened).map_err(|error| PackageError::Damaged(error.to_string()))?;
    check(address, package, allowed, &[Arc::clone(&inner), outer])?;
    Ok(inner)
}

fn check(
    address: &ProviderAddress,
    package: &PackageMeta,
    allowed: &[Arc<str>],
    found: &[Arc<str>],
) -> Result<(), PackageError> {
    check_source(package, found)?;
    // An unpacked package has no hash of an archive, and hashes of unknown schemes cannot be compared.
    let comparable = |hash: &&Arc<str>| found.iter().any(|own| own.split(':').next() == hash.split(':').next());
    let comparable: Vec<&str> = allowed.iter().filter(comparable).map(|hash| &**hash).collect();
    if comparable.is_empty() || found.iter().any(|hash| comparable.contains(&&**hash)) {
        return Ok(());
    }
    let found: Vec<&str> = found.iter().map(|hash| &**hash).collect();
    Err(PackageError::NotLocked(Box::new(NotLocked {
        address: address.clone(),
        version: package.version.clone(),
        location: package.location.to_string(),
        found: found.join("\n  "),
        allowed: listed(&comparable),
    })))
}

/// Joins the first checksums of a list for a message: a lock file for many platforms has dozens.
fn listed(hashes: &[&str]) -> String {
    // Enough to recognize another version, few enough to keep the message readable.
    const SHOWN: usize = 8;
    let lines: String = hashes.iter().take(SHOWN).map(|hash| format!("  {hash}\n")).collect();
    match hashes.len().checked_sub(SHOWN) {
        None | Some(0) => lines,
        Some(more) => format!("{lines}  and {more} more\n"),
    }
}

fn check_source(package: &PackageMeta, found: &[Arc<str>]) -> Result<(), PackageError> {
    let known: Vec<&Arc<str>> = package.required.iter().filter(|hash| is_checksum(hash)).collect();
    if known.is_empty() || found.iter().any(|hash| known.contains(&hash)) {
        return Ok(());
    }
    let words: Vec<&str> = known.iter().map(|hash| &***hash).collect();
    let found: Vec<&str> = found.iter().map(|hash| &**hash).collect();
    Err(PackageError::WrongChecksum { found: found.join(" and "), expected: words.join(" or ") })
}

/// Moves a package to its final directory. An existing one stays, because other processes may be using it.
fn unpack(store: &Store, archive: &File, target: &Path, hash: &Arc<str>) -> Result<(), PackageError> {
    // A damaged one is replaced, although others may be using it: it would be refused at their next start, too.
    if matches!(store.hash(target), Ok(found) if found == *hash) {
        return Ok(());
    }
    store.put_archive(archive, target).map_err(|error| PackageError::NotUnpacked(io_reason(&error)))
}

fn unreadable(package: &PackageMeta, error: &std::io::Error) -> PackageError {
    PackageError::Unreadable { location: package.location.to_string(), reason: error.to_string() }
}
