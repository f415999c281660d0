//! Provider installation: selects versions, installs packages, and returns the new content of the lock file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt, stream};
use groma_address::ProviderAddress;
use groma_config::version::{Constraints, Version};
use groma_diagnostics::{Diagnostic, Diagnostics, io_reason};

use super::constraints::{allows, constraints_text};
use super::fetch::{VerifiedPackage, fetch};
use super::hash::is_checksum;
use super::lock::{Lock, Locks};
use super::package::{Authentication, SourceError};
use super::package_error::{PackageError, VersionError};
use super::platform::Platform;
use super::sources::{Offer, Sources};
use super::store::Store;

/// The number of parallel requests and downloads.
const AT_ONCE: usize = 6;

/// A progress event, from which `init` makes a line of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The version in the lock file is used.
    Reusing(&'a ProviderAddress),
    /// The available versions are being requested. Holds the version constraints, which may be empty.
    Finding(&'a ProviderAddress, String),
    /// The installation of a package begins.
    Installing(&'a ProviderAddress, &'a Version),
    /// The installation of a package is complete.
    Installed(&'a ProviderAddress, &'a Version, Authentication),
    /// The installed package is valid and stays.
    Present(&'a ProviderAddress, &'a Version),
    /// The package in the shared cache is valid and is used.
    Cached(&'a ProviderAddress, &'a Version),
}

/// Whether locked versions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionPolicy {
    /// Keeps them as long as the constraints allow them.
    Locked,
    /// Selects the newest version that the constraints allow: `init -upgrade`.
    Newest,
}

/// The plugin cache, which several configurations share.
#[derive(Clone, Debug)]
pub struct Cache {
    /// The directory of the cache, in the layout of all stores.
    pub store: Store,
    /// Whether packages without a hash in the lock file are used.
    pub trust: CacheTrust,
}

/// The trust in packages of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTrust {
    /// Uses packages that match a hash of the lock file.
    Locked,
    /// Uses any package, although the lock file then lacks hashes: `plugin_cache_may_break_dependency_lock_file`.
    Any,
}

/// The inputs of an installation.
#[derive(Debug)]
pub struct Installer {
    /// The sources of packages.
    pub sources: Sources,
    /// The directory to install into.
    pub store: Store,
    /// The shared cache, if configured.
    pub cache: Option<Cache>,
    /// The platform of the packages.
    pub platform: Platform,
    /// The name of the program for commands in messages.
    pub command: String,
}

/// The result of an installation.
#[derive(Debug, Default)]
pub struct Installation {
    /// The new content of the lock file.
    pub locks: Locks,
    /// Newly locked providers that have hashes of this platform only.
    pub hashed_here: Vec<ProviderAddress>,
    /// Whether a package is signed by anyone but HashiCorp.
    pub has_third_party: bool,
    /// Warnings of the sources.
    pub warnings: Diagnostics,
}

impl Installer {
    /// Installs the required providers. The caller writes the lock file.
    ///
    /// # Errors
    /// Returns an error for each provider that cannot be installed. The other packages are installed nevertheless.
    pub async fn install(
        &self,
        needed: &BTreeMap<ProviderAddress, Constraints>,
        locks: &Locks,
        policy: VersionPolicy,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<Installation, Diagnostics> {
        // Installations run in parallel, and the receiver of events is not made for that.
        let receiver = Mutex::new(report);
        let report: Report<'_> = &|event| (receiver.lock().unwrap_or_else(PoisonError::into_inner))(event);
        let mut result = Installation::default();
        let mut problems = Diagnostics::new();
        let mut chosen = Vec::new();
        for (address, constraints, choice) in self.choose_all(needed, locks, policy, report).await {
            match choice {
                Ok(choice) => {
                    result.warnings.append(registry_warning(address, &choice.warnings));
                    chosen.push((address, constraints, choice));
                }
                Err(problem) => problems.push(self.cannot_query(address, &problem)),
            }
        }
        let trust = stream::iter(chosen).map(|(address, constraints, choice)| async move {
            // Hashes of another version say nothing about this one.
            let lock = locks.providers.get(address).filter(|lock| lock.version == choice.version);
            let version = choice.version.clone();
            (address, constraints, version, lock, self.ensure(address, choice, lock, report).await)
        });
        // In the order of the addresses, whichever download ends first.
        let trust: Vec<_> = trust.buffered(AT_ONCE).collect().await;
        for (address, constraints, version, lock, trust) in trust {
            match trust {
                Ok(trust) => result.take(address, constraints, version, lock, trust),
                Err(SourceError::Incompatible(problem)) => {
                    problems.push(Diagnostic::error("Incompatible provider version", problem));
                }
                Err(problem) => problems.push(Diagnostic::error(
                    "Failed to install provider",
                    format!("Error while installing {address} v{version}: {problem}"),
                )),
            }
        }
        // Nothing is locked if anything failed, although the other packages stay installed.
        if problems.has_errors() { Err(problems) } else { Ok(result) }
    }

    async fn choose_all<'a>(
        &self,
        needed: &'a BTreeMap<ProviderAddress, Constraints>,
        locks: &Locks,
        policy: VersionPolicy,
        report: Report<'_>,
    ) -> Vec<(&'a ProviderAddress, &'a Constraints, Result<Choice, SourceError>)> {
        let choices = stream::iter(needed).map(|(address, constraints)| async move {
            let locked = locks.providers.get(address).filter(|_| policy == VersionPolicy::Locked);
            (address, constraints, self.choose(address, constraints, locked, report).await)
        });
        choices.buffered(AT_ONCE).collect().await
    }

    fn cannot_query(&self, address: &ProviderAddress, problem: &SourceError) -> Diagnostic {
        Diagnostic::error(
            "Failed to query available provider packages",
            format!(
                "Could not retrieve the list of available versions for provider {}: {problem}\n\nTo see which modules are currently \
                 depending on {} and what versions are specified, run the following command:\n    {} providers",
                address.display_short(),
                address.display_short(),
                self.command
            ),
        )
    }

    async fn choose(
        &self,
        address: &ProviderAddress,
        constraints: &Constraints,
        locked: Option<&Lock>,
        report: Report<'_>,
    ) -> Result<Choice, SourceError> {
        if let Some(lock) = locked {
            report(Event::Reusing(address));
            if !allows(constraints, &lock.version) {
                return Err(VersionError::Locked {
                    address: address.clone(),
                    version: lock.version.clone(),
                    constraints: constraints_text(constraints),
                    command: self.command.to_string(),
                }
                .into());
            }
            // No source is queried for a locked version: usually the package is installed already.
            return Ok(Choice { version: lock.version.clone(), offer: None, warnings: Vec::new() });
        }
        report(Event::Finding(address, constraints_text(constraints)));
        let (offers, warnings) = self.sources.offers(address, &self.platform).await?;
        let newest = offers.into_iter().filter(|offer| allows(constraints, &offer.version));
        let newest = newest.max_by(|a, b| a.version.cmp(&b.version));
        match newest {
            Some(offer) => Ok(Choice { version: offer.version.clone(), offer: Some(offer), warnings }),
            // Without constraints no release was excluded, so the source has none.
            None if constraints.is_empty() => Err(VersionError::NoReleases(address.clone()).into()),
            None => Err(VersionError::NoMatch(constraints_text(constraints)).into()),
        }
    }

    /// Ensures that a package is installed.
    async fn ensure(
        &self,
        address: &ProviderAddress,
        choice: Choice,
        lock: Option<&Lock>,
        report: Report<'_>,
    ) -> Result<PackageTrust, SourceError> {
        let version = &choice.version;
        let target = self.store.folder(address, version, &self.platform);
        if let Some(lock) = lock
            && matches(&self.store, &target, &lock.hashes)
        {
            report(Event::Present(address, version));
            return Ok(PackageTrust::Present);
        }
        // Other processes may install the same package into the cache; the second one then finds it there.
        let _held = match &self.cache {
            Some(cache) => cache.store.hold(&cache.store.folder(address, version, &self.platform)).await,
            None => None,
        };
        if let Some(trust) = self.take_cached(address, version, lock, &target)? {
            report(Event::Cached(address, version));
            return Ok(trust);
        }
        let offer = match choice.offer {
            Some(offer) => offer,
            None => self.offer_of(address, version).await?,
        };
        report(Event::Installing(address, version));
        // Without a lock any package of the source is accepted: trust on first use.
        let allowed = lock.map(|lock| lock.hashes.as_slice()).unwrap_or_default();
        let fetched = match &self.cache {
            None => fetch(&self.sources, address, &offer, &self.platform, &self.store, allowed).await?,
            Some(cache) => {
                let fetched = fetch(&self.sources, address, &offer, &self.platform, &cache.store, allowed).await?;
                let source = cache.store.folder(address, version, &self.platform);
                // A link instead of a copy saves hundreds of megabytes per configuration.
                self.store.put_link(&source, &target).map_err(|error| cannot_write(&target, &error))?;
                fetched
            }
        };
        report(Event::Installed(address, version, fetched.authentication.clone()));
        Ok(PackageTrust::Fetched(fetched))
    }

    fn take_cached(
        &self,
        address: &ProviderAddress,
        version: &Version,
        lock: Option<&Lock>,
        target: &Path,
    ) -> Result<Option<PackageTrust>, PackageError> {
        let Some(cache) = &self.cache else { return Ok(None) };
        let cached = cache.store.folder(address, version, &self.platform);
        // An unreadable package of the cache is replaced below.
        let Ok(hash) = self.store.hash(&cached) else { return Ok(None) };
        let is_locked = lock.is_some_and(|lock| lock.hashes.contains(&hash));
        let has_lock = lock.is_some_and(|lock| lock.hashes.iter().any(|known| known.starts_with("h1:")));
        // Even a trusted cache must not contradict the lock file.
        if !is_locked && (cache.trust == CacheTrust::Locked || has_lock) {
            return Ok(None);
        }
        self.store.put_link(&cached, target).map_err(|error| cannot_write(target, &error))?;
        Ok(Some(if is_locked { PackageTrust::Known } else { PackageTrust::Unvouched(hash) }))
    }

    async fn offer_of(&self, address: &ProviderAddress, version: &Version) -> Result<Offer, SourceError> {
        // Warnings concern the selection of a version, and this one is locked.
        let (offers, _) = self.sources.offers(address, &self.platform).await.map_err(SourceError::failed)?;
        offers.into_iter().find(|offer| offer.version == *version).ok_or_else(|| {
            SourceError::Failed(format!(
                "provider {address} {version} is not available: none of the sources has this version for {}",
                self.platform
            ))
        })
    }
}

impl Installation {
    /// Merges the result of a later installation of other providers.
    pub fn add(&mut self, later: Self) {
        self.locks.providers.extend(later.locks.providers);
        self.hashed_here.extend(later.hashed_here);
        self.has_third_party |= later.has_third_party;
        self.warnings.append(later.warnings);
    }

    fn take(
        &mut self,
        address: &ProviderAddress,
        constraints: &Constraints,
        version: Version,
        before: Option<&Lock>,
        trust: PackageTrust,
    ) {
        let mut lock = Lock { version, constraints: constraints.clone(), hashes: Vec::new() };
        let is_present = matches!(trust, PackageTrust::Present);
        // Keeps no hashes of unknown schemes for a new installation: the package was not compared with them.
        let kept = before.into_iter().flat_map(|lock| &lock.hashes).filter(|hash| is_present || is_checksum(hash));
        lock.add_hashes(kept.cloned());
        match trust {
            PackageTrust::Present | PackageTrust::Known => {}
            PackageTrust::Unvouched(hash) => {
                lock.add_hashes([hash]);
                self.hashed_here.push(address.clone());
            }
            PackageTrust::Fetched(fetched) => {
                // Reported once for all providers.
                self.has_third_party |= fetched.authentication.is_third_party();
                let was_known = before.is_some_and(|lock| lock.hashes.iter().any(|hash| is_checksum(hash)));
                // `init` then advises to complete the lock file: it lacks the hashes for other platforms.
                if fetched.vouched.is_empty() && !was_known {
                    self.hashed_here.push(address.clone());
                }
                lock.add_hashes(fetched.vouched);
                lock.add_hashes([fetched.hash]);
            }
        }
        // An unchanged lock keeps its spelling, so that the file changes only if a lock does.
        if let Some(before) = before.filter(|before| is_present || before.hashes == lock.hashes) {
            lock.constraints = before.constraints.clone();
        }
        self.locks.providers.insert(address.clone(), lock);
    }
}

/// A selected version, with its offer if a source was queried.
struct Choice {
    version: Version,
    offer: Option<Offer>,
    warnings: Vec<String>,
}

/// The receiver of progress events, shared by parallel installations.
type Report<'a> = &'a (dyn Fn(Event<'_>) + Sync);

fn registry_warning(address: &ProviderAddress, warnings: &[String]) -> Option<Diagnostic> {
    let lines: String = warnings.iter().map(|warning| format!("\n- {warning}")).collect();
    let detail = format!("The remote registry returned warnings for {address}:{lines}");
    (!warnings.is_empty()).then(|| Diagnostic::warning("Additional provider information from registry", detail))
}

/// The trust in an installed package.
enum PackageTrust {
    /// The package was installed before, and the lock file has its hash.
    Present,
    /// The lock file has its hash.
    Known,
    /// Only its own hash is known.
    Unvouched(Arc<str>),
    /// The package was downloaded and verified in this run.
    Fetched(VerifiedPackage),
}

/// Whether the package in `folder` has one of the hashes.
fn matches(store: &Store, folder: &Path, hashes: &[Arc<str>]) -> bool {
    folder.is_dir()
        // A `zh:` hash cannot be compared with an unpacked package, so hashing it would be in vain.
        && hashes.iter().any(|hash| hash.starts_with("h1:"))
        && store.hash(folder).is_ok_and(|hash| hashes.contains(&hash))
}

fn cannot_write(target: &Path, error: &std::io::Error) -> PackageError {
    PackageError::NotPut { path: target.to_owned(), reason: io_reason(error) }
}
