//! Problems with packages: installed ones that cannot be used, and ones that cannot be installed.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_config::version::Version;
use thiserror::Error;

use super::lock::LOCK_FILE;
use super::platform::Platform;

/// The reason why the package that the lock file selects for a provider cannot be used. `package` is the provider's
/// address and version, `root` the directory of all packages.
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
    /// The installed package cannot be read.
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

/// The reason why the package of a version cannot be installed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PackageError {
    /// The package cannot be read.
    #[error("cannot read the package that comes from {location}: {reason}")]
    Unreadable {
        /// The source of the package.
        location: String,
        /// The reason of the operating system.
        reason: String,
    },
    /// The link to an unpacked package cannot be made.
    #[error("cannot link {}: {reason}", path.display())]
    NotLinked {
        /// Path of the link.
        path: PathBuf,
        /// The reason of the operating system.
        reason: String,
    },
    /// The unpacked files are not those of the verified archive: the disk is full or faulty.
    #[error("the package at {} differs from its archive", .0.display())]
    Differs(PathBuf),
    /// The package has no archive that could be mirrored.
    #[error("{} is an unpacked package; only archives can be mirrored", .0.display())]
    Unpacked(PathBuf),
    /// There is no room for a download.
    #[error("cannot create a temporary file: {0}")]
    NoTemporaryFile(String),
    /// The server refused the download.
    #[error("unsuccessful request to {url}: {status}")]
    Refused {
        /// The URL of the download, without credentials.
        url: String,
        /// The status of the response.
        status: String,
    },
    /// The file is not a zip archive.
    #[error(
        "failed to open the provider archive, which comes from {location}: {reason}. See what is there: a page to log in, or of a proxy, is \
         no package"
    )]
    NoArchive {
        /// The source of the package.
        location: String,
        /// The reason of the zip reader.
        reason: String,
    },
    /// The content of the archive is damaged.
    #[error("failed to read the provider archive: {0}")]
    Damaged(String),
    /// No checksum of the lock file matches.
    #[error(transparent)]
    NotLocked(Box<NotLocked>),
    /// No checksum of the source matches.
    #[error("archive has incorrect checksum {found} (expected {expected})")]
    WrongChecksum {
        /// The checksums of the package.
        found: String,
        /// The checksums that the source guarantees.
        expected: String,
    },
    /// The package cannot be unpacked.
    #[error("{0}")]
    NotUnpacked(String),
    /// The package cannot be put into its directory.
    #[error("cannot put the package at {}: {reason}", path.display())]
    NotPut {
        /// The directory of the package.
        path: PathBuf,
        /// The reason of the operating system.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    NotWritten {
        /// Path of the file.
        path: PathBuf,
        /// The reason of the operating system.
        reason: String,
    },
}

/// A package whose checksums are not in the lock file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the current package for {address} {version} doesn't match any of the checksums previously recorded in the dependency lock file\n\n\
     The package comes from {location} and has:\n  {found}\nThe lock file has:\n{allowed}\nThe lock file may have been written on \
     another platform: \"providers lock\" adds the checksums of this one. Otherwise the package was replaced at its source: find out \
     why before you trust it. Only then delete the provider's block in {LOCK_FILE} and run init again"
)]
pub struct NotLocked {
    /// The provider that the package is for.
    pub address: ProviderAddress,
    /// The version of the package.
    pub version: Version,
    /// The source of the package.
    pub location: String,
    /// The checksums of the package, a line each.
    pub found: String,
    /// The checksums of the lock file, a line each.
    pub allowed: String,
}

/// The reason why no version of a provider can be selected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VersionError {
    /// The source has no version at all.
    #[error("provider {0} has no released versions")]
    NoReleases(ProviderAddress),
    /// The source has no version for the platform.
    #[error("provider {address} has no released versions for {platform}")]
    NoReleasesFor {
        /// The provider without a version.
        address: ProviderAddress,
        /// The platform that packages are needed for.
        platform: Platform,
    },
    /// The constraints allow none of the versions.
    #[error("no available releases match the given constraints {0}")]
    NoMatch(String),
    /// The source does not have the version for the platform.
    #[error("provider {address} {version} is not available for {platform}")]
    NotAvailable {
        /// The provider without a package.
        address: ProviderAddress,
        /// The version that was selected or locked.
        version: Version,
        /// The platform that the package is needed for.
        platform: Platform,
    },
    /// The constraints do not allow the locked version.
    #[error(
        "locked provider {address} {version} does not match configured version constraint {constraints}; must use {command} init -upgrade \
         to allow selection of new versions"
    )]
    Locked {
        /// The provider with the conflicting lock.
        address: ProviderAddress,
        /// The version in the lock file.
        version: Version,
        /// The constraints of the configuration.
        constraints: String,
        /// The name of the program.
        command: String,
    },
}
