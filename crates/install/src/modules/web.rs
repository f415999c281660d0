//! Module packages on web servers: archives, and pages that redirect to a package.

use std::fs::File;
use std::io::Seek;
use std::path::Path;

use groma_config::Package;
use reqwest::Url;

use super::FetchError;
use super::address::{shown, take};
use super::checksum;
use super::objects::Object;
use crate::archive::{Archive, Limits, Links};
use crate::http::Http;

/// The maximum size in bytes of a page that is searched for `terraform-get`.
const LARGEST_PAGE: u64 = 1 << 20;

/// The result of fetching a URL.
pub(super) enum Found {
    /// An archive, already unpacked.
    Unpacked,
    /// A page that names the address of a package.
    Elsewhere(Package),
}

/// Fetches `address`, and unpacks it into `target` if it is an archive.
pub(super) async fn fetch(http: &Http, address: &str, target: &Path) -> Result<Found, FetchError> {
    let mut url = Url::parse(address)
        .map_err(|error| FetchError::Other(format!("{:?} is not a valid URL: {error}", shown(address))))?;
    let archive = take(&mut url, "archive");
    let sum = match take(&mut url, "checksum") {
        Some(sum) => Some(checksum::wanted(http, sum, &url).await?),
        None => None,
    };
    // An argument of go-getter that means nothing for archives; the server must not get it.
    take(&mut url, "filename");
    let kind = match archive.as_deref() {
        Some("false") => None,
        Some(name) => {
            Some(Archive::named(name).ok_or_else(|| FetchError::Other(format!("unsupported archive type {name:?}")))?)
        }
        None => Archive::of_path(url.path()),
    };
    match kind {
        Some(kind) => unpack(http, &url, &[], kind, sum.as_deref(), target).await.map(|()| Found::Unpacked),
        None => ask(http, &url).await.map(Found::Elsewhere),
    }
}

/// Fetches an archive from an object store and unpacks it into `target`.
pub(super) async fn fetch_object(http: &Http, object: &Object, target: &Path) -> Result<(), FetchError> {
    let mut url = object.url.clone();
    let (archive, sum) = (take(&mut url, "archive"), take(&mut url, "checksum"));
    let kind = archive.as_deref().map_or_else(|| Archive::of_path(url.path()), Archive::named);
    let kind = kind.ok_or_else(|| {
        FetchError::Other(
            "the object is not a supported archive; its name must have an extension such as .zip or .tar.gz, or set ?archive= to the type"
                .to_owned(),
        )
    })?;
    let headers = object.headers(&url).await?;
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    unpack(http, &url, &headers, kind, sum.as_deref(), target).await
}

async fn unpack(
    http: &Http,
    url: &Url,
    headers: &[(&str, &str)],
    kind: Archive,
    sum: Option<&str>,
    target: &Path,
) -> Result<(), FetchError> {
    let mut file = tempfile::tempfile().map_err(FetchError::file("the download cannot be stored"))?;
    let answer = http.download(url, None, headers, &mut file, Limits::MODULE.bytes).await?;
    if !answer.status.is_success() {
        return Err(FetchError::Other(format!("bad response code: {}", answer.status.as_u16())));
    }
    let rewind = |file: &mut File| file.rewind().map_err(FetchError::file("the download cannot be read"));
    if let Some(sum) = sum {
        rewind(&mut file)?;
        checksum::check(&mut file, sum)?;
    }
    rewind(&mut file)?;
    let name = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    // A single compressed file is named after the download, without the extension of the compression.
    let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
    kind.unpack(file, target, if name.is_empty() { "file" } else { name }, Links::Inside, Limits::MODULE)
        .map_err(FetchError::file("the archive cannot be unpacked"))
}

/// Requests a page and reads the package address from its header or its `meta` element.
async fn ask(http: &Http, url: &Url) -> Result<Package, FetchError> {
    let mut question = url.clone();
    // The parameter by which servers recognize such a request.
    question.query_pairs_mut().append_pair("terraform-get", "1");
    let answer = http.get(&question, None, LARGEST_PAGE).await?;
    if !answer.status.is_success() {
        return Err(FetchError::Other(format!("bad response code: {}", answer.status.as_u16())));
    }
    let text = String::from_utf8_lossy(&answer.body);
    let source = answer.header("x-terraform-get").map(str::to_owned).or_else(|| in_page(&text));
    let source = source.filter(|source| !source.is_empty()).ok_or_else(|| {
        FetchError::Other(
            "no source URL was returned: there is neither a header X-Terraform-Get nor a meta element terraform-get"
                .to_owned(),
        )
    })?;
    relative_to(url, &source)
}

/// Resolves the source address `source` relative to the page at `url`.
pub(crate) fn relative_to(url: &Url, source: &str) -> Result<Package, FetchError> {
    let is_relative = ["/", "./", "../"].iter().any(|prefix| source.starts_with(prefix));
    if !is_relative {
        return Package::parse(source).map_err(|problem| FetchError::Other(problem.to_string()));
    }
    // Relative addresses have no scheme, so "//" begins the subdirectory.
    let (path, _) = source.split_at(source.find("//").unwrap_or(source.len()));
    let query = source.split_once('?').map(|(_, query)| query);
    let path = path.split('?').next().unwrap_or_default();
    let mut address = url.join(path).map_err(|error| {
        FetchError::Other(format!("the server responded with the invalid address {source:?}: {error}"))
    })?;
    address.set_query(query);
    Ok(Package { address: address.to_string(), subfolder: subfolder_of(source) })
}

/// Returns the subdirectory after `//` of a relative address.
fn subfolder_of(source: &str) -> String {
    let path = source.split('?').next().unwrap_or_default();
    path.split_once("//").map(|(_, subfolder)| subfolder.trim_matches('/').to_owned()).unwrap_or_default()
}

/// Reads the content of `<meta name="terraform-get" content="…">`.
pub(crate) fn in_page(page: &str) -> Option<String> {
    page.split("<meta").skip(1).find_map(|element| {
        let element = element.split('>').next()?;
        (attribute(element, "name")? == "terraform-get").then(|| attribute(element, "content")).flatten()
    })
}

fn attribute(element: &str, name: &str) -> Option<String> {
    let (_, rest) = element.split_once(&format!("{name}="))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let value = rest.get(1..)?.split(quote).next()?;
    Some(value.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_addresses_may_be_relative() {
        let url = Url::parse("http://127.0.0.1:8000/v1/x/download").unwrap();
        let package = relative_to(&url, "/arch/top.tar.gz//top-1?archive=tar.gz").unwrap();
        assert_eq!(package.address, "http://127.0.0.1:8000/arch/top.tar.gz?archive=tar.gz");
        assert_eq!(package.subfolder, "top-1");
        let package = relative_to(&url, "./m.zip").unwrap();
        assert_eq!(package.address, "http://127.0.0.1:8000/v1/x/m.zip");
        assert_eq!(package.subfolder, "");
        let package = relative_to(&url, "git::https://example.com/x.git//sub?ref=1").unwrap();
        assert_eq!(package.address, "git::https://example.com/x.git?ref=1");
    }

    #[test]
    fn package_address_is_read_from_the_meta_element() {
        let page = r#"<head><meta charset="utf-8"><meta name="terraform-get" content="https://e.org/m.zip?a=1&amp;b=2" /></head>"#;
        assert_eq!(in_page(page).as_deref(), Some("https://e.org/m.zip?a=1&b=2"));
        assert_eq!(in_page("<meta name=\"x\" content=\"y\">"), None);
    }
}
