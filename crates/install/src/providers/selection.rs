//! Selection of the implementation of each provider: built in, running, development override, or installed package.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_config::version::{Constraints, Version};
use groma_diagnostics::{Diagnostic, io_reason};

use super::constraints::{allows, constraints_text};
use super::lock::{Lock, Locks};
use super::package_error::PackageProblem;
use super::platform::Platform;
use super::store::Store;

/// The implementation of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A provider that is part of this program.
    Builtin,
    /// A running process (`TF_REATTACH_PROVIDERS`).
    Reattach,
    /// The executable in a directory of `dev_overrides`; not verified.
    Override(PathBuf),
    /// An installed package, verified against the lock file.
    Package {
        /// The directory of the package.
        folder: PathBuf,
        /// The version in the lock file.
        version: Version,
        /// The hashes in the lock file, one of which the package has.
        hashes: Vec<Arc<str>>,
        /// The hash of the package; none if the lock file has none.
        verified: Option<Arc<str>>,
    },
}

/// The available implementations of providers.
#[derive(Clone, Debug)]
pub struct Candidates<'a> {
    /// The providers that are part of this program.
    pub builtin: BTreeSet<ProviderAddress>,
    /// The providers of `TF_REATTACH_PROVIDERS`.
    pub reattached: BTreeSet<ProviderAddress>,
    /// The directories of `dev_overrides`.
    pub overrides: &'a BTreeMap<ProviderAddress, PathBuf>,
    /// The content of the lock file.
    pub locks: &'a Locks,
    /// The directory of installed packages.
    pub store: &'a Store,
    /// The platform of the packages.
    pub platform: &'a Platform,
    /// The product name for messages.
    pub product: &'a str,
    /// The name of the program for commands in messages.
    pub command: &'a str,
}

impl Candidates<'_> {
    /// Selects the implementation of each required provider.
    ///
    /// # Errors
    /// Reports `Inconsistent dependency lock file` if the lock file does not cover the requirements, and `Required
    /// plugins are not installed` if packages are missing or differ from the lock file.
    pub fn select(
        &self,
        needed: &BTreeMap<ProviderAddress, Constraints>,
    ) -> Result<BTreeMap<ProviderAddress, Selection>, Diagnostic> {
        let mut selected = BTreeMap::new();
        let mut rest = Vec::new();
        for (address, constraints) in needed {
            // A provider under a debugger precedes everything, even a development override.
            if self.reattached.contains(address) {
                selected.insert(address.clone(), Selection::Reattach);
            } else if let Some(folder) = self.overrides.get(address) {
                selected.insert(address.clone(), Selection::Override(folder.clone()));
            } else if self.builtin.contains(address) {
                selected.insert(address.clone(), Selection::Builtin);
            } else {
                rest.push((address, constraints));
            }
        }
        // All inconsistencies in one message, because one `init` repairs them all.
        self.check_locks(&rest)?;
        let mut problems = Vec::new();
        for (address, _) in rest {
            match self.package(address) {
                Ok(selection) => drop(selected.insert(address.clone(), selection)),
                Err(problem) => problems.push((address, problem)),
            }
        }
        if problems.is_empty() { Ok(selected) } else { Err(self.not_installed(&problems)) }
    }

    fn check_locks(&self, needed: &[(&ProviderAddress, &Constraints)]) -> Result<(), Diagnostic> {
        let mut problems = String::new();
        for (address, constraints) in needed {
            match self.locks.providers.get(address) {
                None => problems.push_str(&format!(
                    "\n  - provider {address}: required by this configuration but no version is selected"
                )),
                Some(lock) if !allows(constraints, &lock.version) => {
                    problems.push_str(&format!(
                        "\n  - provider {address}: locked version selection {} doesn't match the updated version constraints \"{}\"",
                        lock.version,
                        constraints_text(constraints)
                    ));
                }
                Some(_) => {}
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        let command = self.command;
        let advice = if self.locks.providers.is_empty() {
            format!(
                "To make the initial dependency selections that will initialize the dependency lock file, run:\n  {command} init"
            )
        } else {
            format!(
                "To update the locked dependency selections to match a changed configuration, run:\n  {command} init -upgrade"
            )
        };
        Err(Diagnostic::error(
            "Inconsistent dependency lock file",
            format!(
                "The following dependency selections recorded in the lock file are inconsistent with the current configuration:{problems}\
                 \n\n{advice}"
            ),
        ))
    }

    /// Returns the reason why the locked package of a provider cannot be used, or `None` if it can.
    pub fn problem_with(&self, address: &ProviderAddress) -> Option<PackageProblem> {
        self.package(address).err()
    }

    fn package(&self, address: &ProviderAddress) -> Result<Selection, PackageProblem> {
        let lock = self.locks.providers.get(address).ok_or(PackageProblem::NotLocked)?;
        let folder = self.store.folder(address, &lock.version, self.platform);
        let verified = match &lock.hashes[..] {
            // A lock without hashes pins the version only.
            [] => self.present(address, lock, &folder).map(|()| None)?,
            _ => Some(self.verified(address, lock, &folder)?),
        };
        Ok(Selection::Package { folder, version: lock.version.clone(), hashes: lock.hashes.clone(), verified })
    }

    fn present(&self, address: &ProviderAddress, lock: &Lock, folder: &Path) -> Result<(), PackageProblem> {
        let package = || (format!("{address} {}", lock.version), self.store.root().to_owned());
        match std::fs::metadata(folder) {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => {
                let ((package, root), error) = (package(), format!("{} is not a directory", folder.display()));
                Err(PackageProblem::Unreadable { package, root, error })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // Links to a cache that was deleted look like missing packages.
                let ((package, root), leads_to) = (package(), std::fs::read_link(folder).ok());
                Err(PackageProblem::Missing { package, root, leads_to })
            }
            Err(error) => {
                let ((package, root), error) = (package(), error.to_string());
                Err(PackageProblem::Unreadable { package, root, error })
            }
        }
    }

    /// Returns the hash of the package in `folder`, if the lock file has it.
    fn verified(&self, address: &ProviderAddress, lock: &Lock, folder: &Path) -> Result<Arc<str>, PackageProblem> {
        self.present(address, lock, folder)?;
        let (package, root) = (format!("{address} {}", lock.version), self.store.root().to_owned());
        let found = match self.store.hash_among(folder, &lock.hashes) {
            Ok(found) => found,
            Err(error) => return Err(PackageProblem::Unreadable { package, root, error: error.to_string() }),
        };
        if lock.hashes.contains(&found) {
            return Ok(found);
        }
        // A `zh:` hash is that of an archive, and cannot be compared with an unpacked package.
        let recorded: Vec<_> = lock.hashes.iter().filter(|hash| hash.starts_with("h1:")).cloned().collect();
        Err(match recorded.is_empty() {
            true => PackageProblem::Unverifiable { package, root, found },
            false => PackageProblem::Changed { package, root, found, recorded },
        })
    }

    fn not_installed(&self, problems: &[(&ProviderAddress, PackageProblem)]) -> Diagnostic {
        let (product, command) = (self.product, self.command);
        let list: String = problems.iter().map(|(address, problem)| format!("\n  - {address}: {problem}")).collect();
        let present = problems.iter().filter(|(_, problem)| !problem.is_missing());
        // The advice for missing packages is part of the message below.
        let advice: BTreeSet<String> = present.map(|(_, problem)| format!("\n\n{}", problem.advice(command))).collect();
        let advice = advice.into_iter().collect::<String>();
        Diagnostic::error(
            "Required plugins are not installed",
            format!(
                "The installed provider plugins are not consistent with the packages selected in the dependency lock file:{list}\n\n{product} \
                 uses external plugins to integrate with a variety of different infrastructure services. To download the plugins required \
                 for this configuration, run:\n  {command} init{advice}"
            ),
        )
    }
}

/// The reason why a package directory has no usable executable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutableError {
    /// The directory cannot be read.
    #[error("could not read {}: {reason}", folder.display())]
    Unreadable {
        /// The package directory that was listed.
        folder: PathBuf,
        /// The reason of the operating system.
        reason: String,
    },
    /// No executable has the right name.
    #[error("could not find executable file starting with {prefix} in {}", folder.display())]
    Missing {
        /// The beginning of the name.
        prefix: String,
        /// The package directory that was searched.
        folder: PathBuf,
    },
    /// Several executables have the right name.
    #[error("found multiple executable files starting with {prefix} in {}", folder.display())]
    Several {
        /// The beginning of the name.
        prefix: String,
        /// The package directory that was searched.
        folder: PathBuf,
    },
}

/// Finds the executable in a package directory: the file whose name begins with `terraform-provider-TYPE`. Ignores
/// non-executable files next to it, which compilers create in build directories (`terraform-provider-TYPE.d`).
///
/// # Errors
/// Fails if there is no such file, or several.
pub fn executable(folder: &Path, address: &ProviderAddress) -> Result<PathBuf, ExecutableError> {
    let prefix = format!("terraform-provider-{}", address.type_name);
    let entries = std::fs::read_dir(folder)
        .map_err(|error| ExecutableError::Unreadable { folder: folder.to_owned(), reason: io_reason(&error) })?;
    // Types may be prefixes of others: `google` must not select the program of `google-beta`.
    let is_program =
        |name: &str| name.strip_prefix(&prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']));
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| is_program(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    if found.len() > 1 {
        // Only where there are several: a lone file without permission should fail with that reason.
        found.retain(|path| may_be_executed(path));
    }
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Err(ExecutableError::Missing { prefix, folder: folder.to_owned() }),
        _ => Err(ExecutableError::Several { prefix, folder: folder.to_owned() }),
    }
}

#[cfg(unix)]
fn may_be_executed(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn may_be_executed(path: &Path) -> bool {
    path.extension().is_none_or(|extension| extension == "exe") && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn non_executable_files_next_to_the_program_are_ignored() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let address = ProviderAddress::parse("example/files", "registry.terraform.io").expect("an address");
        let write = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").expect("a file");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its permissions");
            path
        };
        let program = write("terraform-provider-files", 0o755);
        write("terraform-provider-files.d", 0o644);
        assert_eq!(executable(folder.path(), &address), Ok(program));
        // The choice between two programs would be arbitrary.
        write("terraform-provider-files_v2", 0o755);
        assert!(
            executable(folder.path(), &address).unwrap_err().to_string().starts_with("found multiple executable files")
        );
    }
}
