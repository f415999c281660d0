//! Installation: from what a configuration needs to packages in their place and the lock file's new content.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt, stream};
use groma_address::ProviderAddress;
use groma_config::version::{Constraints, Version};
use groma_diagnostics::{Diagnostic, Diagnostics, io_reason};

use super::constraints::{allows, constraints_text};
use super::fetch::{Fetched, fetch};
use super::hash::is_checksum;
use super::lock::{Lock, Locks};
use super::package::{Authentication, SourceError};
use super::platform::Platform;
use super::sources::{Offer, Sources};
use super::store::Store;

/// Maximal number of concurrent requests and downloads.
const AT_ONCE: usize = 6;

/// A progress event of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The version of the lock file is taken.
    Reusing(&'a ProviderAddress),
    /// The versions are asked for; the text holds the constraints, empty without any.
    Finding(&'a ProviderAddress, String),
    /// A package begins to be installed.
    Installing(&'a ProviderAddress, &'a Version),
    /// A package was installed.
    Installed(&'a ProviderAddress, &'a Version, Authentication),
    /// The package in its place is right.
    Present(&'a ProviderAddress, &'a Version),
    /// The package in the shared cache is right.
    Cached(&'a ProviderAddress, &'a Version),
}

/// Whether locked versions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selecting {
    /// The locked versions, as long as the constraints allow them.
    Locked,
    /// The newest version that the constraints allow is taken.
    Newest,
}

/// The cache that several configurations share.
#[derive(Clone, Debug)]
pub struct Cache {
    /// The directory of installed packages.
    pub store: Store,
    /// Whether packages are taken from it that the lock file does not have.
    pub trust: CacheTrust,
}

/// The trust in cached packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTrust {
    /// Packages with a hash of the lock file.
    Locked,
    /// Any, although the lock file then lacks hashes: `plugin_cache_may_break_dependency_lock_file`.
    Any,
}

/// The installer of provider packages.
#[derive(Debug)]
pub struct Installer {
    /// The sources of packages.
    pub sources: Sources,
    /// The directory to install into.
    pub store: Store,
    /// The shared package cache.
    pub cache: Option<Cache>,
    /// The platform they are for.
    pub platform: Platform,
    /// The name of the program in a shell.
    pub command: String,
}

/// The result of an installation.
#[derive(Debug, Default)]
pub struct Installation {
    /// The lock file's content.
    pub locks: Locks,
    /// The providers newly locked with hashes of this platform alone.
    pub hashed_here: Vec<ProviderAddress>,
    /// Whether somebody other than HashiCorp has signed a package.
    pub has_third_party: bool,
    /// Warnings of the installation.
    pub warnings: Diagnostics,
}

impl Installer {
    /// Installs the required packages. The caller writes the lock file.
    ///
    /// # Errors
    /// Problems with all providers that cannot be installed; the packages of the others are in place.
    pub async fn install(
        &self,
        needed: &BTreeMap<ProviderAddress, Constraints>,
        locks: &Locks,
        selecting: Selecting,
        tell: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<Installation, Diagnostics> {
        let told = Mutex::new(tell);
        let tell: Tell<'_> = &|event| (told.lock().unwrap_or_else(PoisonError::into_inner))(event);
        let mut result = Installation::default();
        let mut problems = Diagnostics::new();
        let mut chosen = Vec::new();
        for (address, constraints, choice) in self.choose_all(needed, locks, selecting, tell).await {
            match choice {
                Ok(choice) => {
                    result.warnings.append(registry_warning(address, &choice.warnings));
                    chosen.push((address, constraints, choice));
                }
                Err(problem) => problems.push(self.cannot_query(address, &problem)),
            }
        }
        let ensured = stream::iter(chosen).map(|(address, constraints, choice)| async move {
            let lock = locks.providers.get(address).filter(|lock| lock.version == choice.version);
            let version = choice.version.clone();
            (address, constraints, version, lock, self.ensure(address, choice, lock, tell).await)
        });
        let ensured: Vec<_> = ensured.buffered(AT_ONCE).collect().await;
        for (address, constraints, version, lock, ensured) in ensured {
            match ensured {
                Ok(ensured) => result.take(address, constraints, version, lock, ensured),
                Err(SourceError::Incompatible(problem)) => {
                    problems.push(Diagnostic::error("Incompatible provider version", problem));
                }
                Err(problem) => problems.push(Diagnostic::error(
                    "Failed to install provider",
                    format!("Error while installing {address} v{version}: {problem}"),
                )),
            }
        }
        if problems.has_errors() { Err(problems) } else { Ok(result) }
    }

    async fn choose_all<'a>(
        &self,
        needed: &'a BTreeMap<ProviderAddress, Constraints>,
        locks: &Locks,
        selecting: Selecting,
        tell: Tell<'_>,
    ) -> Vec<(&'a ProviderAddress, &'a Constraints, Result<Choice, String>)> {
        let choices = stream::iter(needed).map(|(address, constraints)| async move {
            let locked = locks.providers.get(address).filter(|_| selecting == Selecting::Locked);
            (address, constraints, self.choose(address, constraints, locked, tell).await)
        });
        choices.buffered(AT_ONCE).collect().await
    }

    fn cannot_query(&self, address: &ProviderAddress, problem: &str) -> Diagnostic {
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
        tell: Tell<'_>,
    ) -> Result<Choice, String> {
        if let Some(lock) = locked {
            tell(Event::Reusing(address));
            if !allows(constraints, &lock.version) {
                return Err(format!(
                    "locked provider {address} {} does not match configured version constraint {}; must use {} init -upgrade to allow \
                     selection of new versions",
                    lock.version,
                    constraints_text(constraints),
                    self.command
                ));
            }
            return Ok(Choice { version: lock.version.clone(), offer: None, warnings: Vec::new() });
        }
        tell(Event::Finding(address, constraints_text(constraints)));
        let (offers, warnings) =
            self.sources.offers(address, &self.platform).await.map_err(|error| error.to_string())?;
        let newest = offers.into_iter().filter(|offer| allows(constraints, &offer.version));
        let newest = newest.max_by(|a, b| a.version.cmp(&b.version));
        match newest {
            Some(offer) => Ok(Choice { version: offer.version.clone(), offer: Some(offer), warnings }),
            None if constraints.is_empty() => Err(format!("provider {address} has no released versions")),
            None => Err(format!("no available releases match the given constraints {}", constraints_text(constraints))),
        }
    }

    /// Sees to it that the package is in its place.
    async fn ensure(
        &self,
        address: &ProviderAddress,
        choice: Choice,
        lock: Option<&Lock>,
        tell: Tell<'_>,
    ) -> Result<Ensured, SourceError> {
        let version = &choice.version;
        let target = self.store.folder(address, version, &self.platform);
        if let Some(lock) = lock
            && matches(&self.store, &target, &lock.hashes)
        {
            tell(Event::Present(address, version));
            return Ok(Ensured::Present);
        }
        let _held = match &self.cache {
            Some(cache) => cache.store.hold(&cache.store.folder(address, version, &self.platform)).await,
            None => None,
        };
        if let Some(ensured) = self.take_cached(address, version, lock, &target)? {
            tell(Event::Cached(address, version));
            return Ok(ensured);
        }
        let offer = match choice.offer {
            Some(offer) => offer,
            None => self.offer_of(address, version).await?,
        };
        tell(Event::Installing(address, version));
        let allowed = lock.map(|lock| lock.hashes.as_slice()).unwrap_or_default();
        let fetched = match &self.cache {
            None => fetch(&self.sources, address, &offer, &self.platform, &self.store, allowed).await?,
            Some(cache) => {
                let fetched = fetch(&self.sources, address, &offer, &self.platform, &cache.store, allowed).await?;
                let source = cache.store.folder(address, version, &self.platform);
                self.store.put_link(&source, &target).map_err(|error| cannot_write(&target, &error))?;
                fetched
            }
        };
        tell(Event::Installed(address, version, fetched.authentication.clone()));
        Ok(Ensured::Fetched(fetched))
    }

    fn take_cached(
        &self,
        address: &ProviderAddress,
        version: &Version,
        lock: Option<&Lock>,
        target: &Path,
    ) -> Result<Option<Ensured>, String> {
        let Some(cache) = &self.cache else { return Ok(None) };
        let cached = cache.store.folder(address, version, &self.platform);
        let Ok(hash) = self.store.hash(&cached) else { return Ok(None) };
        let is_locked = lock.is_some_and(|lock| lock.hashes.contains(&hash));
        let has_lock = lock.is_some_and(|lock| lock.hashes.iter().any(|known| known.starts_with("h1:")));
        if !is_locked && (cache.trust == CacheTrust::Locked || has_lock) {
            return Ok(None);
        }
        self.store.put_link(&cached, target).map_err(|error| cannot_write(target, &error))?;
        Ok(Some(if is_locked { Ensured::Known } else { Ensured::Unvouched(hash) }))
    }

    async fn offer_of(&self, address: &ProviderAddress, version: &Version) -> Result<Offer, String> {
        let (offers, _) = self.sources.offers(address, &self.platform).await.map_err(|error| error.to_string())?;
        offers.into_iter().find(|offer| offer.version == *version).ok_or_else(|| {
            SourceError::NotFound(format!(
                "provider {address} {version} is not available: none of the sources has this version for {}",
                self.platform
            ))
            .to_string()
        })
    }
}

impl Installation {
    /// With what a later installation of other providers came to.
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
        ensured: Ensured,
    ) {
        let mut lock = Lock { version, constraints: constraints.clone(), hashes: Vec::new() };
        let is_present = matches!(ensured, Ensured::Present);
        // A new package was not compared with hashes of unknown schemes, so they would vouch for nothing.
        let kept = before.into_iter().flat_map(|lock| &lock.hashes).filter(|hash| is_present || is_checksum(hash));
        lock.add_hashes(kept.cloned());
        match ensured {
            Ensured::Present | Ensured::Known => {}
            Ensured::Unvouched(hash) => {
                lock.add_hashes([hash]);
                self.hashed_here.push(address.clone());
            }
            Ensured::Fetched(fetched) => {
                self.has_third_party |= fetched.authentication.is_third_party();
                let was_known = before.is_some_and(|lock| lock.hashes.iter().any(|hash| is_checksum(hash)));
                if fetched.vouched.is_empty() && !was_known {
                    self.hashed_here.push(address.clone());
                }
                lock.add_hashes(fetched.vouched);
                lock.add_hashes([fetched.hash]);
            }
        }
        // What is locked as before stays as it is written.
        if let Some(before) = before.filter(|before| is_present || before.hashes == lock.hashes) {
            lock.constraints = before.constraints.clone();
        }
        self.locks.providers.insert(address.clone(), lock);
    }
}

/// A version, and where it is offered if that was asked.
struct Choice {
    version: Version,
    offer: Option<Offer>,
    warnings: Vec<String>,
}

/// The receiver of events: several packages are installed concurrently.
type Tell<'a> = &'a (dyn Fn(Event<'_>) + Sync);

fn registry_warning(address: &ProviderAddress, warnings: &[String]) -> Option<Diagnostic> {
    let lines: String = warnings.iter().map(|warning| format!("\n- {warning}")).collect();
    let detail = format!("The remote registry returned warnings for {address}:{lines}");
    (!warnings.is_empty()).then(|| Diagnostic::warning("Additional provider information from registry", detail))
}

/// The result of checking an existing package.
enum Ensured {
    /// It was there, and the lock file has it.
    Present,
    /// The lock file has it.
    Known,
    /// Only its own hash.
    Unvouched(Arc<str>),
    /// The package was downloaded.
    Fetched(Fetched),
}

/// Whether the package at `folder` has one of the hashes.
fn matches(store: &Store, folder: &Path, hashes: &[Arc<str>]) -> bool {
    folder.is_dir()
        && hashes.iter().any(|hash| hash.starts_with("h1:"))
        && store.hash(folder).is_ok_and(|hash| hashes.contains(&hash))
}

fn cannot_write(target: &Path, error: &std::io::Error) -> String {
    format!("cannot put the package at {}: {error}", PathBuf::from(target).display(), error = io_reason(error))
}
