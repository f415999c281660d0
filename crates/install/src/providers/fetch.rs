//! Getting one package: download, verify, unpack; in this order and never otherwise.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_diagnostics::io_reason;
use zip::ZipArchive;

use super::hash::{archive_hash, content_hash, folder_hash, is_checksum};
use super::lock::LOCK_FILE;
use super::package::{Authentication, Location, PackageMeta, SourceError};
use super::platform::Platform;
use super::registry::host_of;
use super::sources::{Offer, Sources};
use super::store::Store;
use crate::archive::{Limits, check_entries};
use crate::http::{HttpError, Url, without_secrets};
use crate::oci::Registry;

/// A package that is in its place.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    /// The `h1:` hash of the package.
    pub hash: Arc<str>,
    /// The hashes that its source vouches for.
    pub vouched: Vec<Arc<str>>,
    pub authentication: Authentication,
}

/// Gets the package of an offer into `store`. Where `allowed` has hashes of a kind that it has, too, it must have one of them.
pub(super) async fn fetch(
    sources: &Sources,
    address: &ProviderAddress,
    offer: &Offer,
    platform: &Platform,
    store: &Store,
    allowed: &[Arc<str>],
) -> Result<Fetched, SourceError> {
    let package = sources.package(address, offer, platform).await?;
    let target = store.folder(address, &offer.version, platform);
    let hash = match &package.location {
        Location::Folder(folder) => {
            let hash = store.hash(folder).map_err(|error| unreadable(&package, &error))?;
            check(address, &package, allowed, std::slice::from_ref(&hash))?;
            store
                .put_link(folder, &target)
                .map_err(|error| format!("cannot link {}: {error}", target.display(), error = io_reason(&error)))?;
            hash
        }
        Location::Archive(_) | Location::Download { .. } | Location::Blob(_) => {
            let archive = obtain(sources, &package).await?;
            let hash = verified(address, &package, allowed, &archive)?;
            unpack(store, &archive, &target, &hash)?;
            hash
        }
    };
    // What was unpacked must be what was verified: a disk that is full or faulty shows here. A folder that was linked was hashed just now.
    if !matches!(store.hash_among(&target, std::slice::from_ref(&hash)), Ok(found) if found == hash) {
        store.remove(&target);
        return Err(format!("the package at {} is not what its archive holds", target.display()).into());
    }
    Ok(Fetched { hash, vouched: package.vouched, authentication: package.authentication })
}

/// The hashes of the package of an offer, without installing it: for `providers lock`.
pub(super) async fn hashes(
    sources: &Sources,
    address: &ProviderAddress,
    offer: &Offer,
    platform: &Platform,
    allowed: &[Arc<str>],
) -> Result<Fetched, String> {
    let package = sources.package(address, offer, platform).await.map_err(|error| error.to_string())?;
    let hash = match &package.location {
        Location::Folder(folder) => folder_hash(folder).map_err(|error| unreadable(&package, &error))?,
        Location::Archive(_) | Location::Download { .. } | Location::Blob(_) => {
            verified(address, &package, allowed, &obtain(sources, &package).await?)?
        }
    };
    Ok(Fetched { hash, vouched: package.vouched, authentication: package.authentication })
}

/// The archive of an offer, open and verified: for `providers mirror`.
pub(super) async fn archive(
    sources: &Sources,
    address: &ProviderAddress,
    offer: &Offer,
    platform: &Platform,
    allowed: &[Arc<str>],
) -> Result<(File, Authentication), String> {
    let package = sources.package(address, offer, platform).await.map_err(|error| error.to_string())?;
    if let Location::Folder(folder) = &package.location {
        return Err(format!("{} is an unpacked package, of which no archive can be mirrored", folder.display()));
    }
    let archive = obtain(sources, &package).await?;
    verified(address, &package, allowed, &archive)?;
    Ok((archive, package.authentication))
}

/// The archive of a package, open. One that comes from elsewhere is in a file without a name: a run that is killed leaves nothing behind.
async fn obtain(sources: &Sources, package: &PackageMeta) -> Result<File, String> {
    match &package.location {
        Location::Download { url, .. } => download(sources, url).await,
        Location::Blob(blob) => {
            let (repository, descriptor) = &**blob;
            let mut file = temporary()?;
            let registry = Registry::new(&sources.discovery);
            registry
                .blob(repository, descriptor, &mut file, Limits::PROVIDER.bytes)
                .await
                .map_err(|error| error.to_string())?;
            Ok(file)
        }
        Location::Folder(path) | Location::Archive(path) => {
            File::open(path).map_err(|error| unreadable(package, &error))
        }
    }
}

fn temporary() -> Result<File, String> {
    tempfile::tempfile().map_err(|error| format!("no temporary file can be made: {error}", error = io_reason(&error)))
}

async fn download(sources: &Sources, url: &Url) -> Result<File, String> {
    // Only over https: a token must not be read by others on the way.
    let token = match url.scheme() {
        "https" => sources.discovery.token(&host_of(url)).await.map_err(|error| error.to_string())?,
        _ => None,
    };
    let http = sources.discovery.http();
    let mut attempt = 0;
    loop {
        let mut file = temporary()?;
        match http.download(url, token.as_ref(), &[], &mut file, Limits::PROVIDER.bytes).await {
            Ok(answer) if answer.status.is_success() => return Ok(file),
            Ok(answer) => return Err(format!("unsuccessful request to {}: {}", without_secrets(url), answer.status)),
            // What is there of it is of no use.
            Err(HttpError::Truncated { .. }) if attempt < http.retries() => attempt += 1,
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// The `h1:` hash of an archive that is what its source and the lock file say.
fn verified(
    address: &ProviderAddress,
    package: &PackageMeta,
    allowed: &[Arc<str>],
    archive: &File,
) -> Result<Arc<str>, String> {
    let outer = archive_hash(archive).map_err(|error| unreadable(package, &error))?;
    // A wrong checksum says more than that the archive cannot be read.
    if package.required.iter().all(|hash| hash.starts_with("zh:")) {
        check_source(package, std::slice::from_ref(&outer))?;
    }
    let mut file = archive;
    check_entries(&mut file, Limits::PROVIDER).map_err(|error| error.to_string())?;
    let mut opened = ZipArchive::new(file).map_err(|error| {
        format!(
            "failed to open the provider archive, which comes from {}: {error}. See what is there: a page to log in, or of a proxy, is no \
             package",
            package.location
        )
    })?;
    let inner = content_hash(&mut opened).map_err(|error| format!("failed to read the provider archive: {error}"))?;
    check(address, package, allowed, &[Arc::clone(&inner), outer])?;
    Ok(inner)
}

fn check(
    address: &ProviderAddress,
    package: &PackageMeta,
    allowed: &[Arc<str>],
    found: &[Arc<str>],
) -> Result<(), String> {
    check_source(package, found)?;
    // An unpacked package has no hash of an archive, and hashes of a kind that is to come say nothing yet.
    let comparable = |hash: &&Arc<str>| found.iter().any(|own| own.split(':').next() == hash.split(':').next());
    let comparable: Vec<&str> = allowed.iter().filter(comparable).map(|hash| &**hash).collect();
    if comparable.is_empty() || found.iter().any(|hash| comparable.contains(&&**hash)) {
        return Ok(());
    }
    let found: Vec<&str> = found.iter().map(|hash| &**hash).collect();
    Err(format!(
        "the current package for {address} {} doesn't match any of the checksums previously recorded in the dependency lock file\n\nThe \
         package comes from {} and has:\n  {}\nThe lock file has:\n{}\nThe lock file may have been written on another platform: \
         \"providers lock\" adds the checksums of this one. Otherwise the package was replaced at its source: find out why before you \
         trust it. Only then delete the provider's block in {LOCK_FILE} and run init again",
        package.version,
        package.location,
        found.join("\n  "),
        listed(&comparable)
    ))
}

/// The first checksums of a list, one a line: a lock file for many platforms has dozens.
fn listed(hashes: &[&str]) -> String {
    const SHOWN: usize = 8;
    let lines: String = hashes.iter().take(SHOWN).map(|hash| format!("  {hash}\n")).collect();
    match hashes.len().checked_sub(SHOWN) {
        None | Some(0) => lines,
        Some(more) => format!("{lines}  and {more} more\n"),
    }
}

fn check_source(package: &PackageMeta, found: &[Arc<str>]) -> Result<(), String> {
    let known: Vec<&Arc<str>> = package.required.iter().filter(|hash| is_checksum(hash)).collect();
    if known.is_empty() || found.iter().any(|hash| known.contains(&hash)) {
        return Ok(());
    }
    let words: Vec<&str> = known.iter().map(|hash| &***hash).collect();
    let found: Vec<&str> = found.iter().map(|hash| &**hash).collect();
    Err(format!("archive has incorrect checksum {} (expected {})", found.join(" and "), words.join(" or ")))
}

/// An existing package stays: others may be using it.
fn unpack(store: &Store, archive: &File, target: &Path, hash: &Arc<str>) -> Result<(), String> {
    if matches!(store.hash(target), Ok(found) if found == *hash) {
        return Ok(());
    }
    store.put_archive(archive, target).map_err(|error| io_reason(&error))
}

fn unreadable(package: &PackageMeta, error: &std::io::Error) -> String {
    format!("cannot read the package that comes from {}: {error}", package.location)
}
