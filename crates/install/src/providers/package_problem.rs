//! Problems with installed packages.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::lock::LOCK_FILE;

/// The reason why the package that the lock file selects for a provider cannot be used. `package` is the provider's address and version, `root` the
/// directory of all packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageProblem {
    /// The lock file selects no version.
    NotLocked,
    /// No package is installed.
    Missing {
        /// The address and version of the package.
        package: String,
        /// The directory of all packages.
        root: PathBuf,
        /// The target of the link to a shared cache that no longer exists.
        leads_to: Option<PathBuf>,
    },
    /// Something is installed and cannot be read.
    Unreadable {
        /// The address and version of the package.
        package: String,
        /// The directory of all packages.
        root: PathBuf,
        /// The reason given by the operating system.
        error: String,
    },
    /// The package is not the one that was locked.
    Changed {
        /// The address and version of the package.
        package: String,
        /// The directory of all packages.
        root: PathBuf,
        /// The hash of the installed package.
        found: Arc<str>,
        /// The hashes in the lock file that an unpacked package can have.
        recorded: Vec<Arc<str>>,
    },
    /// The lock file has hashes, but none of a kind that can be compared with an unpacked package.
    Unverifiable {
        /// The address and version of the package.
        package: String,
        /// The directory of all packages.
        root: PathBuf,
        /// The hash of the installed package.
        found: Arc<str>,
    },
}

impl PackageProblem {
    /// Whether there is no package at all.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::NotLocked | Self::Missing { .. })
    }

    /// Returns what to do about it; `command` is the name of the program.
    pub fn advice(&self, command: &str) -> String {
        match self {
            Self::NotLocked | Self::Missing { .. } => format!("To install it, run:\n  {command} init"),
            Self::Unreadable { .. } => {
                format!("Make it readable, or delete it and install it again:\n  {command} init")
            }
            Self::Changed { .. } => replaced_package(command),
            Self::Unverifiable { .. } => {
                format!("To have the package verified and its checksum recorded, run:\n  {command} init")
            }
        }
    }
}

/// The advice about a package that differs from the lock file.
pub(super) fn replaced_package(command: &str) -> String {
    format!(
        "If only the installed files were changed, \"{command} init\" puts the locked package back. If init reports the wrong checksum too, \
         the package was replaced at its source: find out why before you trust it. Only then delete the provider's block in {LOCK_FILE} \
         and run init again, which records the new checksums."
    )
}

impl fmt::Display for PackageProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLocked => f.write_str("no version is selected"),
            Self::Missing { package, root, leads_to } => {
                write!(f, "there is no package for {package} cached in {}", root.display())?;
                match leads_to {
                    Some(path) => write!(f, ": the link there leads to {}, which does not exist", path.display()),
                    None => Ok(()),
                }
            }
            Self::Unreadable { package, root, error } => {
                write!(f, "failed to verify checksum of {package} package cached in {}: {error}", root.display())
            }
            Self::Changed { package, root, found, recorded } => {
                let recorded: Vec<&str> = recorded.iter().map(|hash| &**hash).collect();
                write!(
                    f,
                    "the cached package for {package} (in {}) does not match any of the checksums recorded in the dependency lock file: \
                     the package has {found}, the lock file has {}",
                    root.display(),
                    recorded.join(" and ")
                )
            }
            Self::Unverifiable { package, root, found } => write!(
                f,
                "the cached package for {package} (in {}) does not match any of the checksums recorded in the dependency lock file: \
                 these are all of archives (zh:), which say nothing about the unpacked package, whose checksum is {found}",
                root.display()
            ),
        }
    }
}
