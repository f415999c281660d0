//! Provider packages: the providers that a run requires, and the package or process selected for each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use groma_address::{DEFAULT_PROVIDER_HOST, ProviderAddress};
use groma_config::version::Constraints;
use groma_config::{Configuration, DiskFiles, LockFile};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_install::providers::{
    BuiltinChoice, Cache, CacheTrust, Candidates, Installer, Locks, Method, PackageProblem, Platform, Preference,
    Selection, Source, Sources, Store, filesystem,
};
use groma_install::settings::CliConfiguration;

use super::builtin_providers::{cloud_control_choice, is_cloud_control, is_included, preference};
use super::cloudcontrol::schema_file;
use super::context::Context;
use super::plugins::Plugins;
use super::servers::{discovery, implied_mirrors};
use crate::views::wording::Wording;

/// Selected packages and processes of the providers of a run.
#[derive(Clone)]
pub(super) struct Packages {
    selected: BTreeMap<ProviderAddress, Selection>,
    missing: Option<Diagnostic>,
    needed: BTreeSet<ProviderAddress>,
    /// Problems of packages that the lock file selects.
    unusable: BTreeMap<ProviderAddress, PackageProblem>,
    available: Option<Available>,
    plugins: Plugins,
    /// The schemas of Cloud Control that the user has loaded.
    schemas: Option<PathBuf>,
}

/// Warns about all development overrides, used or not.
pub(super) fn overrides_in_effect(context: &Context) -> Diagnostics {
    if context.cli.overrides.is_empty() {
        return Diagnostics::new();
    }
    // Errors are reported where the packages are needed.
    Packages::without_configuration(context).map(|packages| packages.warning()).unwrap_or_default()
}

/// Source of version constraints.
#[derive(Clone, Copy)]
enum Versions {
    /// The constraints of the configuration.
    Wanted,
    /// Only the lock file.
    Locked,
}

/// Packages for providers that only the state requires.
#[derive(Clone, Debug)]
struct Available {
    overrides: BTreeMap<ProviderAddress, PathBuf>,
    locks: Locks,
    preference: Preference,
    store: Store,
    wording: Wording,
}

impl Packages {
    /// Selects packages for the providers that `configuration` requires. A running provider, a development override, the user's
    /// choice, and a version that a built-in provider does not answer as take precedence over it. Missing packages are
    /// reported on use.
    ///
    /// # Errors
    /// The CLI configuration is invalid.
    pub fn of(context: &Context, configuration: &Configuration) -> Result<Self, Diagnostics> {
        Self::of_needed(context, &needed(configuration), Versions::Wanted)
    }

    /// Selects the locked packages for the providers that `configuration` requires, without checking version constraints.
    ///
    /// # Errors
    /// The CLI configuration is invalid.
    pub fn as_locked(context: &Context, configuration: &Configuration) -> Result<Self, Diagnostics> {
        Self::of_needed(context, &needed(configuration), Versions::Locked)
    }

    /// Selects packages without a configuration, from the lock file, the CLI configuration and running processes.
    ///
    /// # Errors
    /// The CLI configuration is invalid.
    pub fn without_configuration(context: &Context) -> Result<Self, Diagnostics> {
        Self::of_needed(context, &BTreeMap::new(), Versions::Wanted)
    }

    fn of_needed(
        context: &Context,
        needed: &BTreeMap<ProviderAddress, Constraints>,
        versions: Versions,
    ) -> Result<Self, Diagnostics> {
        let cli = &context.cli;
        let plugins = Plugins::of(context)?;
        // Errors in the lock file are only reported when a required provider is missing, or when the file would be written.
        let mut problems = Diagnostics::new();
        let locks = locks(context, &mut problems);
        let reattached = plugins.reattached().cloned().collect();
        let store = store(context);
        let preference = preference(&context.settings)?;
        // Computed from the wanted constraints, because one on a built-in provider may ask for a package.
        let builtin = builtin(needed, cli, &locks, preference);
        let needed = &match versions {
            Versions::Wanted => needed.clone(),
            Versions::Locked => needed.keys().map(|address| (address.clone(), Constraints::default())).collect(),
        };
        let candidates = Candidates {
            builtin,
            reattached,
            overrides: &cli.overrides,
            locks: &locks,
            store: &store,
            platform: &Platform::current(),
            product: context.wording.product,
            command: &context.wording.command,
        };
        let (mut selected, mut unusable, mut missing) = (BTreeMap::new(), BTreeMap::new(), None);
        // All providers are selected together, so that one error lists everything that is missing.
        match candidates.select(needed) {
            Ok(all) => selected = all,
            Err(problem) => {
                // One missing package must not hide the others: commands that need no provider, and the error list, use
                // what is available.
                for address in needed.keys() {
                    let one = BTreeMap::from([(address.clone(), Constraints::default())]);
                    match candidates.select(&one) {
                        Ok(one) => selected.extend(one),
                        Err(_) => {
                            unusable.extend(candidates.problem_with(address).map(|problem| (address.clone(), problem)))
                        }
                    }
                }
                // A damaged lock file explains why nothing is selected better than the missing packages do.
                let wrong_locks = problems.into_iter().find(Diagnostic::is_error);
                missing = Some(wrong_locks.unwrap_or(problem));
            }
        }
        let (overrides, wording) = (cli.overrides.clone(), context.wording.clone());
        let available = Some(Available { overrides, locks, preference, store, wording });
        let needed = needed.keys().cloned().collect();
        let schemas = schema_file(&context.settings);
        Ok(Self { selected, missing, needed, unusable, available, plugins, schemas })
    }

    /// Returns the selection for the provider; `None` if it is not installed.
    pub fn selection(&self, address: &ProviderAddress) -> Option<Selection> {
        let selected = self.selected.get(address).cloned();
        // The state may need a provider that only the lock file names.
        selected.or_else(|| self.available.as_ref()?.select(address, &self.plugins)?.ok())
    }

    /// Returns the reason why the provider is not available, if the configuration or the lock file requires it.
    pub fn problem_with(&self, address: &ProviderAddress) -> Option<Diagnostic> {
        let locked = || self.available.as_ref()?.select(address, &self.plugins)?.err();
        // The error about the configuration is more helpful, because it names all missing providers.
        self.missing.clone().or_else(locked)
    }

    /// Returns the file with the schemas of Cloud Control that the user has loaded, if there is one.
    pub fn schemas(&self) -> Option<&PathBuf> {
        self.schemas.as_ref()
    }

    /// Returns the settings of plugin processes.
    pub fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// Warns about development overrides in use.
    pub fn warning(&self) -> Diagnostics {
        // An attached process replaces the override.
        let is_attached = |address: &ProviderAddress| self.plugins.reattached().any(|one| one == address);
        let overrides = self.available.iter().flat_map(|available| &available.overrides);
        let used: Vec<String> = overrides
            .filter(|(address, _)| !is_attached(address))
            .map(|(address, folder)| format!(" - {} in {}", address.display_short(), folder.display()))
            .collect();
        if used.is_empty() {
            return Diagnostics::new();
        }
        let detail = format!(
            "The following provider development overrides are set in the CLI configuration:\n{}\n\nThese builds are not verified, and \
             may behave differently from all released versions. Released versions may be unable to read the state that they write.",
            used.join("\n")
        );
        Diagnostic::warning("Provider development overrides are in effect", detail).into()
    }

    /// Returns an error for each provider of the configuration that cannot be used. The summary of a missing package tells wrappers of
    /// `validate` that `init` must run first, so a damaged package has a different summary.
    pub fn not_available(&self) -> Diagnostics {
        let command = self.available.as_ref().map_or("", |available| &available.wording.command);
        let lacking = self.needed.iter().filter(|address| !self.selected.contains_key(address));
        let reported = lacking.map(|address| match self.unusable.get(address) {
            Some(problem) if !problem.is_missing() => Diagnostic::error(
                "Provider package cannot be used",
                format!("{address}: {problem}.\n\n{}", problem.advice(command)),
            ),
            problem => {
                let problem = problem.cloned().unwrap_or(PackageProblem::NotLocked);
                let detail = format!(
                    "This configuration requires provider {address}, but {problem}. {}",
                    problem.advice(command)
                );
                Diagnostic::error("Missing required provider", detail)
            }
        });
        let reported: Diagnostics = reported.collect();
        // Without a problem of one package, the error concerns all of them.
        if reported.is_empty() { self.missing.clone().map_or_else(Diagnostics::new, Into::into) } else { reported }
    }

    /// Returns the error about providers of the configuration that are not available.
    pub fn missing(&self) -> Option<&Diagnostic> {
        self.missing.as_ref()
    }
}

impl Available {
    /// Returns the selection for the provider, or the reason why it is not available; `None` if nothing refers to it.
    fn select(&self, address: &ProviderAddress, plugins: &Plugins) -> Option<Result<Selection, Diagnostic>> {
        let is_builtin = is_cloud_control(address)
            && self.locks.providers.contains_key(address)
            && answers(address, &Constraints::default(), &self.locks, self.preference);
        let candidates = Candidates {
            builtin: is_builtin.then(|| address.clone()).into_iter().collect(),
            reattached: plugins.reattached().cloned().collect(),
            overrides: &self.overrides,
            locks: &self.locks,
            store: &self.store,
            platform: &Platform::current(),
            product: self.wording.product,
            command: &self.wording.command,
        };
        let one = BTreeMap::from([(address.clone(), Constraints::default())]);
        match candidates.select(&one) {
            Ok(mut selected) => selected.remove(address).map(Ok),
            // Without a lock nobody has asked for this provider, so it is no error that it is missing.
            Err(problem) => self.locks.providers.contains_key(address).then_some(Err(problem)),
        }
    }
}

/// Returns the providers that the configuration requires, with their version constraints.
pub(super) fn needed(configuration: &Configuration) -> BTreeMap<ProviderAddress, Constraints> {
    let requirements = configuration.provider_requirements();
    requirements.iter().map(|(address, requirement)| (address.clone(), requirement.constraints.clone())).collect()
}

/// Returns the required providers that are built in and not replaced by a package.
pub(super) fn builtin(
    needed: &BTreeMap<ProviderAddress, Constraints>,
    cli: &CliConfiguration,
    locks: &Locks,
    preference: Preference,
) -> BTreeSet<ProviderAddress> {
    let is_free = |address: &ProviderAddress, constraints: &Constraints| {
        // Only Cloud Control shares its address with a provider in the registry.
        !is_cloud_control(address)
            || (!cli.overrides.contains_key(address) && answers(address, constraints, locks, preference))
    };
    let builtin = needed.iter().filter(|(address, constraints)| is_included(address) && is_free(address, constraints));
    builtin.map(|(address, _)| address.clone()).collect()
}

/// Whether the built-in Cloud Control provider answers as a version that constraints and the lock file select.
fn answers(address: &ProviderAddress, constraints: &Constraints, locks: &Locks, preference: Preference) -> bool {
    matches!(cloud_control_choice(address, constraints, locks, preference), BuiltinChoice::Builtin(..))
}

/// Returns the providers of running processes: `TF_REATTACH_PROVIDERS`.
///
/// # Errors
/// `TF_REATTACH_PROVIDERS` is invalid. Ignoring it would install packages instead of attaching to the running providers.
pub(super) fn reattached(context: &Context) -> Result<BTreeSet<ProviderAddress>, Diagnostics> {
    Ok(Plugins::of(context)?.reattached().cloned().collect())
}

/// Reads the dependency lock file of the working directory.
pub(super) fn locks(context: &Context, problems: &mut Diagnostics) -> Locks {
    let (file, found) = LockFile::read(&context.sources, &DiskFiles::new("."));
    problems.append(found);
    Locks::from(&file)
}

/// Returns the package store of the working directory.
pub(super) fn store(context: &Context) -> Store {
    noted_store(context, context.settings.data_directory.join("providers"))
}

/// Returns a store that recognizes verified packages by notes in the data directory.
fn noted_store(context: &Context, root: impl Into<PathBuf>) -> Store {
    Store::with_hash_cache(root, context.settings.data_directory.join("packages"))
}

/// Returns the shared plugin cache, if one is configured.
pub(super) fn cache(context: &Context) -> Option<Cache> {
    let cli = &context.cli;
    let trust = if cli.cache_may_break_lock_file { CacheTrust::Any } else { CacheTrust::Locked };
    cli.plugin_cache.as_ref().map(|folder| Cache { store: noted_store(context, folder), trust })
}

/// Returns the installer for provider packages.
///
/// # Errors
/// The network cannot be used.
pub(super) fn installer(context: &Context, methods: Vec<Method>) -> Result<Installer, Diagnostics> {
    Ok(Installer {
        sources: Sources { methods, discovery: discovery(context)? },
        store: store(context),
        cache: cache(context),
        platform: Platform::current(),
        command: context.wording.command.clone(),
    })
}

/// Returns the installation methods: the configured ones, else the implied local mirrors, and the registries for providers that no
/// local mirror has.
pub(super) fn methods(context: &Context, needed: &BTreeMap<ProviderAddress, Constraints>) -> Vec<Method> {
    if let Some(methods) = &context.cli.methods {
        return methods.clone();
    }
    // Terraform searches these directories even without any CLI configuration.
    let folders = implied_mirrors(&context.settings);
    let mut methods = Vec::new();
    let mut found = Vec::new();
    for folder in folders {
        // A directory only serves the providers that it holds; others come from their registry.
        let held: Vec<_> = needed
            .keys()
            .filter(|address| filesystem::holds(&folder, address))
            .filter_map(|address| groma_install::providers::Pattern::parse(&address.to_string(), DEFAULT_PROVIDER_HOST))
            .collect();
        if !held.is_empty() {
            found.extend(held.iter().cloned());
            methods.push(Method { source: Source::Filesystem(folder), include: held, exclude: Vec::new() });
        }
    }
    // Providers in a local mirror are never downloaded, even if the registry has newer versions.
    methods.push(Method { source: Source::Direct, include: Vec::new(), exclude: found });
    methods
}
