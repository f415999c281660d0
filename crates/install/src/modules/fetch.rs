//! Fetching of packages by the type of their address.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use groma_config::Package;

use super::FetchError;
use super::objects::Object;
use super::{address, git, objects, web};
use crate::archive::{Archive, Limits, Links};
use crate::discovery::Discovery;

/// The maximum number of redirects through `terraform-get` pages.
const MOST_REDIRECTIONS: u32 = 10;

/// Fetches packages, each only once.
#[derive(Debug)]
pub struct Fetcher<'a> {
    discovery: &'a Discovery,
    fetched: HashMap<String, PathBuf>,
}

/// The method of fetching an address.
enum Method<'a> {
    Git(&'a str),
    Web(&'a str),
    S3(&'a str),
    Google(&'a str),
    Oci(&'a str),
    Folder(&'a str),
}

impl<'a> Fetcher<'a> {
    /// Creates a fetcher that sends requests with the client of `discovery`.
    pub fn new(discovery: &'a Discovery) -> Self {
        Self { discovery, fetched: HashMap::new() }
    }

    /// Puts the package at `address` into `target`, and replaces an existing directory.
    ///
    /// # Errors
    /// Fails if the package cannot be fetched, or if the type of its address is not supported.
    pub async fn fetch(&mut self, address: &str, target: &Path) -> Result<(), FetchError> {
        remove(target).map_err(FetchError::file(format!("{} cannot be removed", target.display())))?;
        let parent = target.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(parent).map_err(FetchError::file(format!("{} cannot be made", parent.display())))?;
        // Several calls may share a package, each with a directory of its own: copying is faster than another download.
        if let Some(known) = self.fetched.get(address) {
            let known_kind = fs::symlink_metadata(known).map(|found| found.is_symlink()).unwrap_or_default();
            let copied = match known_kind {
                // A local package is a link, and its copy is another link.
                true => fs::read_link(known).and_then(|leads| link(&leads, target)),
                false => copy_folder(known, target),
            };
            return copied.map_err(FetchError::file(format!("{} cannot be copied", known.display())));
        }
        let result = self.fetch_package(address, target).await;
        if result.is_err() {
            // An incomplete package is worse than none. The first error is reported, not that of the removal.
            let _ = remove(target);
        } else {
            self.fetched.insert(address.to_owned(), target.to_owned());
        }
        result
    }

    async fn fetch_package(&self, address: &str, target: &Path) -> Result<(), FetchError> {
        let mut address = address.to_owned();
        let mut subfolder = String::new();
        // No key of a module begins with a dot.
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let staging = target.with_file_name(format!(".{name}.fetching"));
        for _ in 0..MOST_REDIRECTIONS {
            remove(&staging).map_err(FetchError::file(format!("{} cannot be removed", staging.display())))?;
            match self.step(&address, &staging).await {
                Ok(None) => return settle(&staging, &subfolder, target),
                Ok(Some(package)) => {
                    address = package.address;
                    subfolder = package.subfolder;
                }
                Err(error) => {
                    let _ = remove(&staging);
                    return Err(error);
                }
            }
        }
        Err(FetchError::Other(format!("more than {MOST_REDIRECTIONS} pages lead from one to the next")))
    }

    /// Fetches the package, or returns the address that a page redirects to.
    async fn step(&self, address: &str, target: &Path) -> Result<Option<Package>, FetchError> {
        let (http, stores) = (self.discovery.http(), self.discovery.credentials().stores());
        match method(address)? {
            Method::Git(url) => git::clone(url, target).map(|()| None),
            Method::Folder(path) => folder(path, target).map(|()| None),
            Method::Oci(address) => objects::fetch(self.discovery, address, target).await.map(|()| None),
            Method::S3(url) => web::fetch_object(http, &Object::s3(url, stores)?, target).await.map(|()| None),
            Method::Google(url) => web::fetch_object(http, &Object::google(url, stores)?, target).await.map(|()| None),
            Method::Web(url) => match web::fetch(http, url, target).await? {
                web::Found::Unpacked => Ok(None),
                web::Found::Elsewhere(package) => Ok(Some(package)),
            },
        }
    }
}

fn method(address: &str) -> Result<Method<'_>, FetchError> {
    let (protocol, url) = match address.split_once("::") {
        // A forced protocol, such as `git::https://`; "::" may also occur in an IPv6 address.
        Some((protocol, url)) if protocol.chars().all(|c| c.is_ascii_alphanumeric()) => (protocol, url),
        _ => (address.split_once(':').map_or("", |(scheme, _)| scheme), address),
    };
    match &*protocol.to_ascii_lowercase() {
        "git" => Ok(Method::Git(url)),
        "http" | "https" => Ok(Method::Web(url)),
        "file" => Ok(Method::Folder(url.strip_prefix("file://").unwrap_or(url))),
        "s3" => Ok(Method::S3(url)),
        "gcs" => Ok(Method::Google(url)),
        "oci" => Ok(Method::Oci(address)),
        "hg" => Err(FetchError::Other(
            "Mercurial repositories are not supported: use an archive of the repository".to_owned(),
        )),
        _ => Err(FetchError::Other(format!("download not supported for scheme {protocol:?}"))),
    }
}

/// Installs a local package: links to a directory, unpacks an archive.
fn folder(path: &str, target: &Path) -> Result<(), FetchError> {
    let (path, query) = path.split_once('?').map_or((path, ""), |(path, query)| (path, query));
    let source = Path::new(path);
    let found = fs::metadata(source).map_err(FetchError::file(format!("{path} cannot be read")))?;
    if found.is_dir() {
        return link(source, target).map_err(FetchError::file(format!("{} cannot be linked", target.display())));
    }
    let named = query.split('&').find_map(|pair| pair.strip_prefix("archive="));
    let kind = named.map_or_else(|| Archive::of_path(path), Archive::named);
    let kind = kind.ok_or_else(|| FetchError::Other(format!("{path} is neither a directory nor an archive")))?;
    let file = File::open(source).map_err(FetchError::file(format!("{path} cannot be read")))?;
    let name = source.file_stem().unwrap_or_default().to_string_lossy();
    kind.unpack(file, target, &name, Links::Inside, Limits::MODULE)
        .map_err(FetchError::file("the archive cannot be unpacked"))
}

/// Moves the package, or its requested subdirectory, to the target.
fn settle(staging: &Path, subfolder: &str, target: &Path) -> Result<(), FetchError> {
    let problem = || FetchError::file(format!("{} cannot be moved", staging.display()));
    if subfolder.is_empty() {
        return fs::rename(staging, target).map_err(problem());
    }
    let inner = address::expand(staging, subfolder)?;
    let folder = staging.join(&inner);
    if !fs::metadata(&folder).is_ok_and(|found| found.is_dir()) {
        return Err(FetchError::Other(format!("the package has no directory {inner:?}")));
    }
    copy_folder(&folder, target).map_err(FetchError::file(format!(
        "cannot copy the directory {inner:?} of the package to {}",
        target.display()
    )))?;
    remove(staging).map_err(problem())
}

/// Copies the directory `from` to `to` recursively. Symbolic links stay links.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            link(&fs::read_link(entry.path())?, &target)?;
        } else if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Creates the symbolic link `place` to `target`.
#[cfg(unix)]
fn link(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

/// Copies the directory instead: on Windows, creating links requires a privilege that users rarely have.
#[cfg(not(unix))]
fn link(target: &Path, place: &Path) -> io::Result<()> {
    if target.is_dir() { copy_folder(target, place) } else { fs::copy(target, place).map(|_| ()) }
}

/// Removes `place`: a directory with its contents, or a link without its target.
fn remove(place: &Path) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(place),
        Ok(_) => fs::remove_file(place),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
