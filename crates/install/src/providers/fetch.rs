//! Getting one package: download, verify, unpack; in this order and never otherwise.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::ProviderAddress;
use zip::ZipArchive;

use super::hash::{archive_hash, content_hash, folder_hash, is_checksum};
use super::package::{Authentication, Location, PackageMeta};
use super::platform::Platform;
use super::registry::host_of;
use super::sources::{Offer, Sources};
use super::store::Store;
use crate::http::{HttpError, Url, without_secrets};
use crate::oci::Registry;

/// More than any provider's archive has.
const LARGEST_ARCHIVE: u64 = 4 << 30;

/// A package that is in its place.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    /// Its `h1:` hash.
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
) -> Result<Fetched, String> {
    let package = sources.package(address, offer, platform).await.map_err(|error| error.to_string())?;
    let target = store.folder(address, &offer.version, platform);
    let hash = match &package.location {
        Location::Folder(folder) => {
            let hash = store.hash(folder).map_err(|error| unreadable(folder, &error))?;
            check(address, &package, allowed, std::slice::from_ref(&hash))?;
            store.put_link(folder, &target).map_err(|error| format!("cannot link {}: {error}", target.display()))?;
            hash
        }
        Location::Archive(archive) => {
            let hash = verified(address, &package, allowed, archive)?;
            unpack(store, archive, &target, &hash)?;
            hash
        }
        Location::Download { .. } | Location::Blob(_) => {
            let archive = obtain(sources, &package.location).await?;
            let hash = verified(address, &package, allowed, archive.path())?;
            unpack(store, archive.path(), &target, &hash)?;
            hash
        }
    };
    // What was unpacked must be what was verified: a disk that is full or faulty shows here. A folder that was linked was hashed just now.
    if !matches!(store.hash_among(&target, std::slice::from_ref(&hash)), Ok(found) if found == hash) {
        store.remove(&target);
        return Err(format!("the package at {} is not what its archive holds", target.display()));
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
        Location::Folder(folder) => folder_hash(folder).map_err(|error| unreadable(folder, &error))?,
        Location::Archive(archive) => verified(address, &package, allowed, archive)?,
        Location::Download { .. } | Location::Blob(_) => {
            let archive = obtain(sources, &package.location).await?;
            verified(address, &package, allowed, archive.path())?
        }
    };
    Ok(Fetched { hash, vouched: package.vouched, authentication: package.authentication })
}

/// An archive of an offer on this machine, verified: for `providers mirror`. The second part keeps a download alive.
pub(super) async fn archive(
    sources: &Sources,
    address: &ProviderAddress,
    offer: &Offer,
    platform: &Platform,
    allowed: &[Arc<str>],
) -> Result<(PathBuf, Option<tempfile::NamedTempFile>, Authentication), String> {
    let package = sources.package(address, offer, platform).await.map_err(|error| error.to_string())?;
    match &package.location {
        Location::Folder(folder) => {
            Err(format!("{} is an unpacked package, of which no archive can be mirrored", folder.display()))
        }
        Location::Archive(archive) => {
            verified(address, &package, allowed, archive)?;
            Ok((archive.clone(), None, package.authentication))
        }
        Location::Download { .. } | Location::Blob(_) => {
            let file = obtain(sources, &package.location).await?;
            verified(address, &package, allowed, file.path())?;
            Ok((file.path().to_owned(), Some(file), package.authentication))
        }
    }
}

/// An archive that is somewhere else, on this machine.
async fn obtain(sources: &Sources, location: &Location) -> Result<tempfile::NamedTempFile, String> {
    match location {
        Location::Download { url, .. } => download(sources, url).await,
        Location::Blob(blob) => {
            let (repository, descriptor) = &**blob;
            let mut file = temporary()?;
            let registry = Registry::new(&sources.discovery);
            registry.blob(repository, descriptor, file.as_file_mut()).await.map_err(|error| error.to_string())?;
            Ok(file)
        }
        Location::Folder(path) | Location::Archive(path) => Err(format!("{} is here already", path.display())),
    }
}

fn temporary() -> Result<tempfile::NamedTempFile, String> {
    tempfile::NamedTempFile::new().map_err(|error| format!("no temporary file can be made: {error}"))
}

async fn download(sources: &Sources, url: &Url) -> Result<tempfile::NamedTempFile, String> {
    // Only over https: a token must not be read by others on the way.
    let token = match url.scheme() {
        "https" => sources.discovery.token(&host_of(url)).await.map_err(|error| error.to_string())?,
        _ => None,
    };
    let http = sources.discovery.http();
    let mut attempt = 0;
    loop {
        let mut file = temporary()?;
        match http.download(url, token.as_ref(), &[], file.as_file_mut(), LARGEST_ARCHIVE).await {
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
    archive: &Path,
) -> Result<Arc<str>, String> {
    let outer = archive_hash(archive).map_err(|error| unreadable(archive, &error))?;
    // A wrong checksum says more than that the archive cannot be read.
    if package.required.iter().all(|hash| hash.starts_with("zh:")) {
        check_source(package, std::slice::from_ref(&outer))?;
    }
    let file = File::open(archive).map_err(|error| unreadable(archive, &error))?;
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
    let mut comparable = allowed.iter().filter(comparable).peekable();
    if comparable.peek().is_some() && !comparable.any(|hash| found.contains(hash)) {
        return Err(format!(
            "the current package for {address} {} doesn't match any of the checksums previously recorded in the dependency lock file; \
             for more information: https://developer.hashicorp.com/terraform/language/provider-checksum-verification",
            package.version
        ));
    }
    Ok(())
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

/// What is in its place already stays there: others may be using it.
fn unpack(store: &Store, archive: &Path, target: &Path, hash: &Arc<str>) -> Result<(), String> {
    if matches!(store.hash(target), Ok(found) if found == *hash) {
        return Ok(());
    }
    store.put_archive(archive, target).map_err(|error| error.to_string())
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}
