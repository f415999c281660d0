//! Registry module addresses: `[HOST/]NAMESPACE/NAME/SYSTEM[//SUBDIRECTORY]`.

use std::fmt::{self, Display, Formatter};

use groma_address::{DEFAULT_PROVIDER_HOST, normal_host};

use super::SourceAddressError;

/// The address of a module in a module registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryModule {
    /// Registry host; `None` for the default registry.
    pub host: Option<String>,
    /// Namespace of the publisher in the registry.
    pub namespace: String,
    /// Name of the module.
    pub name: String,
    /// Target system of the module, such as `aws`.
    pub system: String,
    /// Subdirectory inside of the package; empty for the package's root.
    pub subfolder: String,
}

/// Repository hosts that Terraform never treats as registries, even if an address looks like a registry address.
const NO_REGISTRIES: [&str; 2] = ["github.com", "bitbucket.org"];

impl RegistryModule {
    /// Parses a registry address; returns `None` if `text` is an address of another kind.
    ///
    /// # Errors
    /// The subdirectory is outside of the package.
    pub fn parse(text: &str) -> Result<Option<Self>, SourceAddressError> {
        let (package, subfolder) = split_subfolder(text);
        let parts: Vec<&str> = package.split('/').collect();
        let (host, namespace, name, system) = match *parts.as_slice() {
            [namespace, name, system] => (None, namespace, name, system),
            [host, namespace, name, system] => match registry_host(host) {
                Some(host) => (Some(host), namespace, name, system),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        if !is_name(namespace) || !is_name(name) || !is_system(system) {
            return Ok(None);
        }
        let [namespace, name, system] = [namespace, name, system].map(str::to_owned);
        Ok(Some(Self { host, namespace, name, system, subfolder: clean_subfolder(&subfolder)? }))
    }

    /// Returns the registry host, or `default` if the address has none.
    pub fn host_or<'a>(&'a self, default: &'a str) -> &'a str {
        self.host.as_deref().unwrap_or(default)
    }

    /// Returns the address of the package, including the registry host.
    pub fn package(&self, default_host: &str) -> String {
        format!("{}/{}/{}/{}", self.host_or(default_host), self.namespace, self.name, self.system)
    }

    /// Returns the complete address, including registry host and subdirectory.
    pub fn address(&self, default_host: &str) -> String {
        let package = self.package(default_host);
        if self.subfolder.is_empty() { package } else { format!("{package}//{}", self.subfolder) }
    }
}

impl Display for RegistryModule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address(DEFAULT_PROVIDER_HOST))
    }
}

/// Normalizes the registry host; returns `None` if the first part is a directory or a repository host.
fn registry_host(text: &str) -> Option<String> {
    // A registry host needs a dot; otherwise `a/b/c/d` is a directory.
    normal_host(text).filter(|host| host.contains('.') && !NO_REGISTRIES.contains(&host.as_str()))
}

fn is_name(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 64
        && text.starts_with(is_end)
        && text.ends_with(is_end)
        && text.chars().all(|c| is_end(c) || matches!(c, '-' | '_'))
}

fn is_system(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// Splits an address at the first `//` that is not part of `://`; a query string stays with the package.
pub(super) fn split_subfolder(text: &str) -> (String, String) {
    // A query may contain `//`, as in `?url=https://…`.
    let stop = text.find('?').unwrap_or(text.len());
    let (path, query) = text.split_at(stop);
    let offset = path.find("://").map_or(0, |at| at + 3);
    let Some(at) = path.get(offset..).and_then(|rest| rest.find("//")).map(|at| at + offset) else {
        return (text.to_owned(), String::new());
    };
    let (package, subfolder) = path.split_at(at);
    (format!("{package}{query}"), subfolder.trim_start_matches('/').to_owned())
}

/// Normalizes a subdirectory; empty for the package's root.
///
/// # Errors
/// The subdirectory is outside of the package.
pub(super) fn clean_subfolder(text: &str) -> Result<String, SourceAddressError> {
    let mut steps: Vec<&str> = Vec::new();
    for step in text.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.pop().is_none() => {
                return Err(SourceAddressError::Outside(text.to_owned()));
            }
            ".." => {}
            step => steps.push(step),
        }
    }
    Ok(steps.join("/"))
}
