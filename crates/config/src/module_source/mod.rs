//! Addresses of modules: folders, modules of a registry, packages of any other kind.

mod detect;
mod registry;
mod split;

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

pub use registry::RegistryModule;

use crate::source::{display, normalize};
use split::{clean_subfolder, split_subfolder};

/// The source of a module. Its text form is the one in the manifest of installed modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// `./x` or `../x`: a folder of the same package, relative to the calling module's directory.
    Local(PathBuf),
    /// A module of a registry.
    Registry(RegistryModule),
    /// A repository, an archive, a folder elsewhere.
    Package(Package),
}

/// A package that is fetched whole, and the folder in it that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its address with the protocol in front if it is not that of the URL: `git::https://example.com/x.git?ref=v1`.
    pub address: String,
    /// The folder inside; empty for the package itself. It may be a pattern with `*`.
    pub subfolder: String,
}

impl ModuleSource {
    /// Reads the text of a `source` argument.
    ///
    /// # Errors
    /// The text is no address; says why.
    pub fn parse(text: &str) -> Result<Self, String> {
        if ["./", "../", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix)) {
            return Ok(Self::Local(PathBuf::from(local(text))));
        }
        if let Some(module) = RegistryModule::parse(text)? {
            return Ok(Self::Registry(module));
        }
        Package::parse(text).map(Self::Package)
    }

    /// The whole address, where modules of a registry without a host belong to `default_registry`.
    pub fn address(&self, default_registry: &str) -> String {
        match self {
            Self::Registry(module) => module.address(default_registry),
            other => other.to_string(),
        }
    }

    /// Whether `recorded`, an address that somebody wrote down, means the same.
    pub fn is(&self, recorded: &str, default_registry: &str) -> bool {
        let own = self.address(default_registry);
        own == recorded || Self::parse(recorded).is_ok_and(|other| other.address(default_registry) == own)
    }
}

impl Package {
    /// Reads the address of a package, in short forms too: `github.com/owner/name//folder?ref=v1`.
    ///
    /// # Errors
    /// The text is no address; says why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (package, subfolder) = split_subfolder(text);
        if package.trim().is_empty() {
            return Err("The source is empty. Write a folder that begins with ./ or ../, or the address of a module to install.".to_owned());
        }
        let detected = detect::complete(&package)?;
        let (address, inner) = split_subfolder(&detected);
        // A short form can hold a folder of its own, which then comes first.
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

/// The folder as the manifest writes it: without detours, and with a dot in front.
fn local(text: &str) -> String {
    let clean = display(&normalize(std::path::Path::new(&text.replace('\\', "/"))));
    match &*clean {
        "." => "./".to_owned(),
        // The folder above becomes `./..`, as in Terraform.
        inside if !inside.starts_with("../") => format!("./{inside}"),
        _ => clean,
    }
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
    fn short_forms_are_written_out() {
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
    fn what_is_no_address_gets_a_hint() {
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
