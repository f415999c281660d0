//! Module source addresses: local directories, registry modules, and remote packages.

mod detect;
mod registry;

pub use registry::RegistryModule;

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use registry::{clean_subfolder, split_subfolder};
use thiserror::Error;

use crate::source::{display, normalize};

/// The source of a module. Displays in the form that the module manifest records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// `./x` or `../x`: a directory of the same package, relative to the calling module's directory.
    Local(PathBuf),
    /// A module in a module registry.
    Registry(RegistryModule),
    /// A repository, an archive or an absolute directory.
    Package(Package),
}

/// A remote package, which is downloaded as a whole, with the module's subdirectory in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Package address, with a forced protocol if it differs from the URL's: `git::https://example.com/x.git?ref=v1`.
    pub address: String,
    /// Subdirectory inside of the package, empty for its root. May be a glob pattern with `*`.
    pub subfolder: String,
}

impl ModuleSource {
    /// Parses the value of a `source` argument.
    ///
    /// # Errors
    /// The text is not a module source; the string is the reason.
    pub fn parse(text: &str) -> Result<Self, SourceAddressError> {
        // A local path must begin with a dot; everything else is a registry or package address.
        if ["./", "../", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix)) {
            return Ok(Self::Local(PathBuf::from(local(text))));
        }
        if let Some(module) = RegistryModule::parse(text)? {
            return Ok(Self::Registry(module));
        }
        Package::parse(text).map(Self::Package)
    }

    /// Returns the complete address; registry modules without a host belong to `default_registry`.
    pub fn address(&self, default_registry: &str) -> String {
        match self {
            Self::Registry(module) => module.address(default_registry),
            other => other.to_string(),
        }
    }

    /// Whether `recorded`, an address from the module manifest, refers to the same module.
    pub fn is(&self, recorded: &str, default_registry: &str) -> bool {
        let own = self.address(default_registry);
        own == recorded || Self::parse(recorded).is_ok_and(|other| other.address(default_registry) == own)
    }
}

impl Package {
    /// Parses a package address, including short forms: `github.com/owner/name//directory?ref=v1`.
    ///
    /// # Errors
    /// The text is not a package address; the string is the reason.
    pub fn parse(text: &str) -> Result<Self, SourceAddressError> {
        let (package, subfolder) = split_subfolder(text);
        if package.trim().is_empty() {
            return Err(SourceAddressError::Empty);
        }
        let detected = detect::complete(&package)?;
        let (address, inner) = split_subfolder(&detected);
        // The expansion of a short form may contain a subdirectory itself (`github.com/a/b/sub`), which comes first.
        let subfolder = if inner.is_empty() { subfolder } else { format!("{inner}/{subfolder}") };
        Ok(Self { address, subfolder: clean_subfolder(&subfolder)? })
    }
}

impl Display for ModuleSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => f.write_str(&local(&path.to_string_lossy())),
            Self::Registry(module) => module.fmt(f),
            Self::Package(package) => package.fmt(f),
        }
    }
}

impl Display for Package {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.subfolder.is_empty() {
            return f.write_str(&self.address);
        }
        let (package, query) = self.address.split_once('?').map_or((&*self.address, None), |(p, q)| (p, Some(q)));
        write!(f, "{package}//{}", self.subfolder)?;
        query.map_or(Ok(()), |query| write!(f, "?{query}"))
    }
}

/// Formats a local source as the manifest does: normalized, with a leading `./` or `../`.
fn local(text: &str) -> String {
    let clean = display(&normalize(std::path::Path::new(&text.replace('\\', "/"))));
    match &*clean {
        "." => "./".to_owned(),
        // Terraform writes the parent directory as `./..`.
        inside if !inside.starts_with("../") => format!("./{inside}"),
        _ => clean,
    }
}

/// The reason why a string is not the address of a module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SourceAddressError {
    /// The address is empty.
    #[error(
        "The source is empty. Specify a directory that begins with ./ or ../, or the address of a module to install."
    )]
    Empty,
    /// The address has a port that is not a number.
    #[error("The port in {0:?} is not a number. Write HOST:PORT/PATH, or HOST/PATH for the default port.")]
    Port(String),
    /// The address has no known form.
    #[error(
        "Cannot determine how to install {0:?}. If it is a directory, write \"./{0}\": a leading dot makes the path relative to the \
         calling module."
    )]
    Unknown(String),
    /// The path of a repository is incomplete.
    #[error("{address:?} is not a valid repository address. Write {host}/OWNER/NAME.")]
    Repository {
        /// The whole address.
        address: String,
        /// The host, which has addresses of a known form.
        host: &'static str,
    },
    /// The address of an S3 object is incomplete.
    #[error("{0:?} is not a valid S3 object address. Write BUCKET.s3.REGION.amazonaws.com/KEY.")]
    Bucket(String),
    /// The address of a Cloud Storage object is incomplete.
    #[error("{0:?} is not a valid Cloud Storage object address. Write www.googleapis.com/storage/v1/BUCKET/OBJECT.")]
    GoogleBucket(String),
    /// The subdirectory leads out of the package.
    #[error("The subdirectory {0:?} is outside of the package. After //, name a directory inside of it.")]
    Outside(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match ModuleSource::parse(text) {
            Ok(source) => source.to_string(),
            Err(problem) => format!("! {problem}"),
        }
    }

    #[test]
    fn short_forms_are_expanded() {
        for (text, expected) in [
            ("./modules/z/", "./modules/z"),
            ("./a/../../b", "../b"),
            ("../", "./.."),
            ("../..", "../.."),
            ("github.com/a/b", "git::https://github.com/a/b.git"),
            ("github.com/a/b.git//sub?ref=x", "git::https://github.com/a/b.git//sub?ref=x"),
            ("github.com/a/b/sub?ref=x", "git::https://github.com/a/b.git//sub?ref=x"),
            ("github.com/a/b/sub//deep", "git::https://github.com/a/b.git//sub/deep"),
            ("github.com/a/b/", "git::https://github.com/a/b.git"),
            ("bitbucket.org/a/b//s?ref=1", "git::https://bitbucket.org/a/b.git//s?ref=1"),
            ("git@github.com:a/b.git?ref=1", "git::ssh://git@github.com/a/b.git?ref=1"),
            ("git::git@github.com:a/b.git//x", "git::ssh://git@github.com/a/b.git//x"),
            (
                "git@github.com:a/b.git//x?ref=f/x y~*&depth=1&ref=é",
                "git::ssh://git@github.com/a/b.git//x?depth=1&ref=f%2Fx+y~%2A&ref=%C3%A9",
            ),
            ("git@github.com:a/b.git?", "git::ssh://git@github.com/a/b.git"),
            ("git@github.com:a/b.git?ref", "git::ssh://git@github.com/a/b.git?ref="),
            (
                "git::ssh://git@github.com/a/b.git//x?ref=2&depth=1",
                "git::ssh://git@github.com/a/b.git//x?ref=2&depth=1",
            ),
            ("bucket.s3.amazonaws.com/foo/bar.zip", "s3::https://s3.amazonaws.com/bucket/foo/bar.zip"),
            (
                "bucket.s3-eu-west-1.amazonaws.com/foo/bar.zip//x",
                "s3::https://s3-eu-west-1.amazonaws.com/bucket/foo/bar.zip//x",
            ),
            ("s3-eu-west-1.amazonaws.com/bucket/foo.zip", "s3::https://s3-eu-west-1.amazonaws.com/bucket/foo.zip"),
            ("www.googleapis.com/storage/v1/b/k.zip", "gcs::https://www.googleapis.com/storage/v1/b/k.zip"),
            ("/opt/modules//a", "file:///opt/modules//a"),
            ("git::/opt/repo", "git::file:///opt/repo"),
            ("https://example.com/x.zip//a?archive=zip", "https://example.com/x.zip//a?archive=zip"),
            ("ns/net/aws//sub/", "registry.terraform.io/ns/net/aws//sub"),
            ("example.test/ns/net/aws", "example.test/ns/net/aws"),
            ("gitlab.com/a/b/c", "gitlab.com/a/b/c"),
            ("oci://example.com/x", "oci://example.com/x"),
            ("Example.TEST:443/ns/net/aws", "example.test/ns/net/aws"),
            ("https://user:pass@[::1]:80/x.zip", "https://user:pass@[::1]:80/x.zip"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn invalid_sources_get_a_hint() {
        for text in [
            "modules/vpc",
            "foo",
            "gitlab.com/a/b",
            ".",
            "a/b/c?ref=1",
            "a/b/c/d/e",
            " ./x",
            "foo::bar",
            "localhost/a/b/c",
            "---.com/a/b/c",
            "ab--c.com/a/b/c",
        ] {
            assert!(shown(text).starts_with("! "), "{text}: {}", shown(text));
            assert!(shown(text).contains("\"./"), "{text}: {}", shown(text));
        }
        assert!(shown("github.com/a").contains("github.com/OWNER/NAME"));
        assert!(shown("git::file:///tmp/repo//../x").contains("outside"));
        assert!(shown("").contains("empty"));
        assert!(shown("//x").contains("empty"));
        assert!(shown("https://example.com:x/a").contains("port"));
        assert!(shown("git::ssh://git@example.com:a/b.git").contains("port"));
    }
}
