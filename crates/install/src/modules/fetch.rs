//! From the address of a package to its files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use groma_config::Package;

use super::copy::{copy_folder, link, remove};
use super::error::FetchError;
use super::objects::Object;
use super::{git, oci, pattern, web};
use crate::archive::{Archive, Limits, Links};
use crate::discovery::Discovery;

/// Maximal number of redirects from page to page.
const MOST_REDIRECTIONS: u32 = 10;

/// Fetches packages, each once.
#[derive(Debug)]
pub struct Fetcher<'a> {
    discovery: &'a Discovery,
    fetched: HashMap<String, PathBuf>,
}

/// The protocol of an address.
enum Way<'a> {
    Git(&'a str),
    Web(&'a str),
    S3(&'a str),
    Google(&'a str),
    Oci(&'a str),
    Folder(&'a str),
}

impl<'a> Fetcher<'a> {
    /// Web servers are asked as `discovery` asks them.
    pub fn new(discovery: &'a Discovery) -> Self {
        Self { discovery, fetched: HashMap::new() }
    }

    /// Fetches the package at `address` into `target`, replacing its content.
    ///
    /// # Errors
    /// It cannot be fetched, or its kind is not supported.
    pub async fn fetch(&mut self, address: &str, target: &Path) -> Result<(), FetchError> {
        remove(target).map_err(FetchError::file(format!("{} cannot be removed", target.display())))?;
        let parent = target.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(parent).map_err(FetchError::file(format!("{} cannot be made", parent.display())))?;
        if let Some(known) = self.fetched.get(address) {
            let known_kind = fs::symlink_metadata(known).map(|found| found.is_symlink()).unwrap_or_default();
            let copied = match known_kind {
                true => fs::read_link(known).and_then(|leads| link(&leads, target)),
                false => copy_folder(known, target),
            };
            return copied.map_err(FetchError::file(format!("{} cannot be copied", known.display())));
        }
        let result = self.fetch_anew(address, target).await;
        if result.is_err() {
            // Half a package is worse than none; what went wrong before is what counts.
            let _ = remove(target);
        } else {
            self.fetched.insert(address.to_owned(), target.to_owned());
        }
        result
    }

    async fn fetch_anew(&self, address: &str, target: &Path) -> Result<(), FetchError> {
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

    /// Fetches, or learns where else the package is.
    async fn step(&self, address: &str, target: &Path) -> Result<Option<Package>, FetchError> {
        let (http, stores) = (self.discovery.http(), self.discovery.credentials().stores());
        match way(address)? {
            Way::Git(url) => git::clone(url, target).map(|()| None),
            Way::Folder(path) => folder(path, target).map(|()| None),
            Way::Oci(address) => oci::fetch(self.discovery, address, target).await.map(|()| None),
            Way::S3(url) => web::fetch_object(http, &Object::s3(url, stores)?, target).await.map(|()| None),
            Way::Google(url) => web::fetch_object(http, &Object::google(url, stores)?, target).await.map(|()| None),
            Way::Web(url) => match web::fetch(http, url, target).await? {
                web::Found::Unpacked => Ok(None),
                web::Found::Elsewhere(package) => Ok(Some(package)),
            },
        }
    }
}

fn way(address: &str) -> Result<Way<'_>, FetchError> {
    let (protocol, url) = match address.split_once("::") {
        Some((protocol, url)) if protocol.chars().all(|c| c.is_ascii_alphanumeric()) => (protocol, url),
        _ => (address.split_once(':').map_or("", |(scheme, _)| scheme), address),
    };
    match &*protocol.to_ascii_lowercase() {
        "git" => Ok(Way::Git(url)),
        "http" | "https" => Ok(Way::Web(url)),
        "file" => Ok(Way::Folder(url.strip_prefix("file://").unwrap_or(url))),
        "s3" => Ok(Way::S3(url)),
        "gcs" => Ok(Way::Google(url)),
        "oci" => Ok(Way::Oci(address)),
        "hg" => Err(FetchError::Other(
            "Mercurial repositories are not supported: use an archive of the repository".to_owned(),
        )),
        _ => Err(FetchError::Other(format!("download not supported for scheme {protocol:?}"))),
    }
}

/// A folder of this machine is linked to, an archive unpacked.
fn folder(path: &str, target: &Path) -> Result<(), FetchError> {
    let (path, query) = path.split_once('?').map_or((path, ""), |(path, query)| (path, query));
    let source = Path::new(path);
    let found = fs::metadata(source).map_err(FetchError::file(format!("{path} cannot be read")))?;
    if found.is_dir() {
        return link(source, target).map_err(FetchError::file(format!("{} cannot be linked", target.display())));
    }
    let named = query.split('&').find_map(|pair| pair.strip_prefix("archive="));
    let kind = named.map_or_else(|| Archive::of_path(path), Archive::named);
    let kind = kind.ok_or_else(|| FetchError::Other(format!("{path} is neither a folder nor an archive")))?;
    let file = File::open(source).map_err(FetchError::file(format!("{path} cannot be read")))?;
    let name = source.file_stem().unwrap_or_default().to_string_lossy();
    kind.unpack(file, target, &name, Links::Inside, Limits::MODULE)
        .map_err(FetchError::file("the archive cannot be unpacked"))
}

/// Moves what was fetched, or the meant folder of it, to its place.
fn settle(staging: &Path, subfolder: &str, target: &Path) -> Result<(), FetchError> {
    let problem = || FetchError::file(format!("{} cannot be moved", staging.display()));
    if subfolder.is_empty() {
        return fs::rename(staging, target).map_err(problem());
    }
    let inner = pattern::expand(staging, subfolder)?;
    let folder = staging.join(&inner);
    if !fs::metadata(&folder).is_ok_and(|found| found.is_dir()) {
        return Err(FetchError::Other(format!("the package has no folder {inner:?}")));
    }
    copy_folder(&folder, target).map_err(FetchError::file(format!(
        "the folder {inner:?} of the package cannot be copied to {}",
        target.display()
    )))?;
    remove(staging).map_err(problem())
}
