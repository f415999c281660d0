//! Modules of a registry: `[HOST/]NAMESPACE/NAME/SYSTEM[//FOLDER]`.

use std::fmt::{self, Display, Formatter};

use groma_address::{DEFAULT_PROVIDER_HOST, normal_host};

use super::split::{clean_subfolder, split_subfolder};

/// A module of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryModule {
    /// The registry; nothing where the address names none.
    pub host: Option<String>,
    /// The namespace of the publisher.
    pub namespace: String,
    /// The name of the module.
    pub name: String,
    /// The target system, such as `aws`.
    pub system: String,
    /// The folder inside; empty for the package itself.
    pub subfolder: String,
}

/// Hosts of repositories, which are no registries whatever the address looks like.
const NO_REGISTRIES: [&str; 2] = ["github.com", "bitbucket.org"];

impl RegistryModule {
    /// Reads `text`; nothing where it does not look like a module of a registry.
    ///
    /// # Errors
    /// The folder leads out of the package.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
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

    /// The registry's host, where `default` is the one of addresses without.
    pub fn host_or<'a>(&'a self, default: &'a str) -> &'a str {
        self.host.as_deref().unwrap_or(default)
    }

    /// The address of the package, with its registry.
    pub fn package(&self, default_host: &str) -> String {
        format!("{}/{}/{}/{}", self.host_or(default_host), self.namespace, self.name, self.system)
    }

    /// The whole address, with its registry.
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

/// The host in its normal form; nothing for what is a folder, or a repository on a host that is no registry.
fn registry_host(text: &str) -> Option<String> {
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
