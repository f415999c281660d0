//! `init`: installs providers, and updates the dependency lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use groma_address::ProviderAddress;
use groma_config::Configuration;
use groma_config::version::Constraints;
use groma_diagnostics::{Diagnostic, Diagnostics, io_reason};
use groma_install::providers::{
    BuiltinChoice, Event, Installation, LOCK_FILE, Locks, Method, Platform, Preference, Source, VersionPolicy,
};
use groma_plugin::client::SchemaCache;
use groma_state::State;

use super::builtin_providers::{CHOICE, cloud_control_choice, is_cloud_control, is_included, preference};
use super::context::Context;
use super::init_reporter::InitReporter;
use super::outcome::fail;
use super::packages::{builtin, installer, locks, methods, needed, reattached};
use super::plugins::schema_folder;
use super::servers::wait;
use crate::arguments::{Flag, Init};
use crate::views::wording::Wording;

/// Messages about the lock file, held back until the backend is initialized.
#[derive(Debug, Default)]
pub(super) struct Notices {
    lock_file: Option<LockFileChange>,
    signatures: Option<String>,
    warnings: Diagnostics,
}

/// Whether the lock file may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LockFileMode {
    Write,
    ReadOnly,
}

/// Provider installation of one `init`, in two steps: first for the configuration, then for objects that only the state contains.
pub(super) struct ProviderSteps<'a> {
    reporter: &'a InitReporter,
    arguments: &'a Init,
    mode: LockFileMode,
    before: Locks,
    preference: Preference,
    needed: BTreeSet<ProviderAddress>,
    done: Installation,
    notices: Notices,
}

impl<'a> ProviderSteps<'a> {
    /// # Errors
    /// A flag or the lock file is invalid.
    pub fn begin(context: &Context, reporter: &'a InitReporter, arguments: &'a Init) -> Result<Self, Diagnostics> {
        let mode = lock_file_mode(arguments)?;
        let mut notices = Notices::default();
        let before = locks(context, &mut notices.warnings);
        if notices.warnings.has_errors() {
            return Err(notices.warnings);
        }
        notices.warnings.append(overrides_warning(context, &context.cli.overrides));
        let preference = preference(&context.settings)?;
        let (needed, done) = (BTreeSet::new(), Installation::default());
        Ok(Self { reporter, arguments, mode, before, preference, needed, done, notices })
    }

    /// Installs the packages that `configuration` requires.
    ///
    /// # Errors
    /// Lists the packages that cannot be installed, with the reasons.
    pub fn configuration(&mut self, context: &Context, configuration: &Configuration) -> Result<(), Diagnostics> {
        let all = needed(configuration);
        possible(&all, context)?;
        self.report_builtin(context, &all);
        let is_upgrade = self.arguments.upgrade.is_some_and(Flag::is_on);
        let policy = if is_upgrade { VersionPolicy::Newest } else { VersionPolicy::Locked };
        let reporter = self.reporter;
        self.install(context, all, policy, &mut |event| reporter.event(context, &event))
    }

    /// Installs the packages that only objects in the state require.
    ///
    /// # Errors
    /// Lists the packages that cannot be installed, with the reasons.
    pub fn state(&mut self, context: &Context, state: &State) -> Result<(), Diagnostics> {
        let in_state: BTreeSet<_> = state.resources().map(|(_, entry)| entry.provider.provider.clone()).collect();
        // These states need a command before init can continue, so nothing is installed for them.
        nameable(&in_state, context)?;
        // The state records no constraints, so any version will do.
        let all = in_state.iter().map(|address| (address.clone(), Constraints::default())).collect();
        self.report_builtin(context, &all);
        let mut missing = BTreeMap::new();
        let reporter = self.reporter;
        let reusing = |address: &ProviderAddress| {
            reporter.item(context, |_| format!("Reusing previous version of {}", address.display_short()));
        };
        for address in in_state {
            // Terraform also reports packages again that the first step has installed; hashing them again would waste time.
            if let Some(lock) = self.done.locks.providers.get(&address) {
                reusing(&address);
                reporter.event(context, &Event::Present(&address, &lock.version));
            } else if !self.needed.contains(&address) {
                missing.insert(address, Constraints::default());
            }
        }
        self.install(context, missing, VersionPolicy::Locked, &mut |event| match event {
            Event::Reusing(address) => reusing(address),
            other => reporter.event(context, &other),
        })
    }

    fn report_builtin(&self, context: &Context, all: &BTreeMap<ProviderAddress, Constraints>) {
        // Built-in providers are listed for completeness; nothing is installed for them.
        for address in builtin(all, &context.cli, &self.before, self.preference) {
            match all.get(&address).filter(|_| is_cloud_control(&address)) {
                Some(constraints) => self.report_choice(context, &address, constraints),
                None => {
                    self.reporter
                        .item(context, |Wording { product, .. }| format!("{address} is built in to {product}"));
                }
            }
        }
        for (address, constraints) in all.iter().filter(|(address, _)| is_cloud_control(address)) {
            let choice = cloud_control_choice(address, constraints, &self.before, self.preference);
            let is_replaced = context.cli.overrides.contains_key(address);
            if let (BuiltinChoice::Plugin(reason), false) = (choice, is_replaced) {
                self.reporter.item(context, |Wording { product, .. }| {
                    let short = address.display_short();
                    format!("Using the plugin {short} instead of the provider that is built in to {product}: {reason}")
                });
            }
        }
    }

    /// Reports that the built-in Cloud Control provider runs, and why.
    fn report_choice(&self, context: &Context, address: &ProviderAddress, constraints: &Constraints) {
        let choice = cloud_control_choice(address, constraints, &self.before, self.preference);
        let BuiltinChoice::Builtin(version, reason) = choice else { return };
        self.reporter.item(context, |Wording { product, .. }| {
            let short = address.display_short();
            format!(
                "{short} {version} is built in to {product}, and {reason}; set {CHOICE}=plugin to use the plugin instead"
            )
        });
    }

    fn install(
        &mut self,
        context: &Context,
        all: BTreeMap<ProviderAddress, Constraints>,
        policy: VersionPolicy,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Diagnostics> {
        let cli = &context.cli;
        let mut to_install = all.clone();
        let running = reattached(context)?;
        let without = builtin(&all, cli, &self.before, self.preference);
        // Attached processes, development overrides and built-in providers need no package.
        to_install.retain(|address, _| {
            !without.contains(address) && !running.contains(address) && !cli.overrides.contains_key(address)
        });
        // All required providers count here, also those that need no package, so that their locks are kept.
        self.needed.extend(all.into_keys());
        if to_install.is_empty() {
            return Ok(());
        }
        // -plugin-dir replaces all configured installation methods.
        let methods = match &self.arguments.plugin_dir[..] {
            [] => methods(context, &to_install),
            folders => folders.iter().map(|folder| Method::for_all(Source::Filesystem(folder.clone()))).collect(),
        };
        let installer = installer(context, methods)?;
        self.done.add(wait(installer.install(&to_install, &self.before, policy, report))??);
        Ok(())
    }

    /// Writes the lock file.
    ///
    /// # Errors
    /// The file cannot be written, or would have to change although it is read-only.
    pub fn finish(self, context: &Context) -> Result<Notices, Diagnostics> {
        // Cached schemas belong to the packages before this run. Entries that cannot be removed are harmless, because the cache checks
        // every entry before use.
        let _ = SchemaCache::clear(&schema_folder(context));
        finish(context, self.notices, self.mode, &self.before, self.done, &self.needed)
    }
}

/// Checks built-in providers: they must exist, and must not have a version constraint.
fn possible(all: &BTreeMap<ProviderAddress, Constraints>, context: &Context) -> Result<(), Diagnostics> {
    let problem = |(address, constraints): (&ProviderAddress, &Constraints)| {
        let product = context.wording.product;
        let detail = if !is_included(address) {
            format!("{product} has no built-in provider {address}. Check its \"source\".")
        } else if !constraints.is_empty() {
            format!(
                "The provider {address} is built in to {product}, so it has no version of its own. Remove the version constraint \
                {constraints}."
            )
        } else {
            return None;
        };
        Some(Diagnostic::error("Invalid dependency on built-in provider", detail))
    };
    // Other addresses cannot be built in, so their constraints are normal.
    let problems: Diagnostics = all.iter().filter(|(address, _)| address.is_builtin()).filter_map(problem).collect();
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

/// Rejects provider addresses from states before Terraform 0.13, which have no namespace and so exist in no registry.
fn nameable(in_state: &BTreeSet<ProviderAddress>, context: &Context) -> Result<(), Diagnostics> {
    let half_named = in_state.iter().filter(|address| address.is_legacy());
    let problem = |address: &ProviderAddress| {
        let (command, name) = (&context.wording.command, &address.type_name);
        let detail = format!(
            "The state contains objects of the unqualified provider \"{name}\", written by a version of Terraform before \
             0.13. Replace it with a qualified provider such as hashicorp/{name}, then run init again:\n  {command} state \
             replace-provider {address} hashicorp/{name}"
        );
        Diagnostic::error("Invalid legacy provider address", detail)
    };
    let problems: Diagnostics = half_named.map(problem).collect();
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

fn lock_file_mode(arguments: &Init) -> Result<LockFileMode, Diagnostics> {
    let mode = match arguments.lockfile.as_deref() {
        // An empty value counts as no flag, as scripts pass empty variables.
        None | Some("") => return Ok(LockFileMode::Write),
        Some("readonly") => LockFileMode::ReadOnly,
        Some(other) => {
            return Err(fail(
                "Invalid lockfile mode",
                format!("Unsupported -lockfile mode {other:?}. The only supported mode is \"readonly\"."),
            ));
        }
    };
    if arguments.upgrade.is_some_and(Flag::is_on) {
        return Err(fail("The -upgrade flag conflicts with -lockfile=readonly.", ""));
    }
    Ok(mode)
}

fn finish(
    context: &Context,
    mut notices: Notices,
    mode: LockFileMode,
    before: &Locks,
    installation: Installation,
    needed: &BTreeSet<ProviderAddress>,
) -> Result<Notices, Diagnostics> {
    let Installation { mut locks, hashed_here, has_third_party, warnings } = installation;
    notices.warnings.append(warnings);
    // Providers that run without installation keep their locks.
    for (address, lock) in &before.providers {
        if needed.contains(address) && !locks.providers.contains_key(address) {
            locks.providers.insert(address.clone(), lock.clone());
        }
    }
    if has_third_party {
        notices.signatures = Some(
            "\nPartner and community providers are signed by their developers.\nIf you'd like to know more about provider signing, you can read about it here:\nhttps://developer.hashicorp.com/terraform/cli/plugins/signing\n"
                .to_owned(),
        );
    }
    // An unchanged file is not written, so that its formatting and modification time stay.
    if locks == *before {
        return Ok(notices);
    }
    if mode == LockFileMode::ReadOnly {
        return read_only(context, notices, before, &locks);
    }
    locks.write(Path::new(".")).map_err(|error| {
        fail(
            "Failed to save dependency lock file",
            format!("{LOCK_FILE} cannot be written: {error}.", error = io_reason(&error)),
        )
    })?;
    // Terraform has one message for a new file and one for a changed file.
    notices.lock_file =
        Some(if before.providers.is_empty() { LockFileChange::Created } else { LockFileChange::Changed });
    notices.warnings.append(incomplete(context, &hashed_here));
    Ok(notices)
}

fn read_only(context: &Context, mut notices: Notices, before: &Locks, now: &Locks) -> Result<Notices, Diagnostics> {
    let command = &context.wording.command;
    // Changed constraints or checksums do not select other versions, so they only cause a warning.
    let has_same_selections = before.providers.keys().eq(now.providers.keys());
    if !has_same_selections {
        return Err(fail(
            "Provider dependency changes detected",
            format!(
                "Changes to the required provider dependencies were detected, but the lock file is read-only. To use and record these \
                 requirements, run \"{command} init\" without the \"-lockfile=readonly\" flag."
            ),
        ));
    }
    notices.warnings.push(Diagnostic::warning(
        "Provider lock file not updated",
        format!(
            "Changes to the provider selections were detected, but not saved in the {LOCK_FILE} file. To record these selections, run \
             \"{command} init\" without the \"-lockfile=readonly\" flag."
        ),
    ));
    Ok(notices)
}

fn incomplete(context: &Context, hashed_here: &[ProviderAddress]) -> Option<Diagnostic> {
    if hashed_here.is_empty() {
        return None;
    }
    let (product, command) = (&context.wording.product, &context.wording.command);
    let platform = Platform::current();
    let list: Vec<String> = hashed_here.iter().map(|address| format!("  - {}", address.display_short())).collect();
    Some(Diagnostic::warning(
        "Incomplete lock file information for providers",
        format!(
            "Due to your customized provider installation methods, {product} was forced to calculate lock file checksums locally for the \
             following providers:\n{}\n\nThe current {LOCK_FILE} file only includes checksums for {platform}, so {product} running on another \
             platform will fail to install these providers.\n\nTo calculate additional checksums for another platform, run:\n  {command} \
             providers lock -platform=linux_amd64\n(where linux_amd64 is the platform to generate)",
            list.join("\n")
        ),
    ))
}

fn overrides_warning(
    context: &Context,
    overrides: &BTreeMap<ProviderAddress, std::path::PathBuf>,
) -> Option<Diagnostic> {
    if overrides.is_empty() {
        return None;
    }
    let (product, command) = (&context.wording.product, &context.wording.command);
    let list: Vec<String> = overrides
        .iter()
        .map(|(address, folder)| format!(" - {} in {}", address.display_short(), folder.display()))
        .collect();
    Some(Diagnostic::warning(
        "Provider development overrides are in effect",
        format!(
            "The following provider development overrides are set in the CLI configuration:\n{}\n\nSkip {command} init when using provider \
             development overrides. It is not necessary and may error unexpectedly: {product} runs the executables in these directories \
             without installing or verifying them.",
            list.join("\n")
        ),
    ))
}

/// Change of the dependency lock file by `init`.
#[derive(Clone, Copy, Debug)]
enum LockFileChange {
    Created,
    Changed,
}

impl LockFileChange {
    fn text(self, Wording { product, command }: &Wording) -> String {
        match self {
            Self::Created => format!(
                "\n{product} has created a lock file {LOCK_FILE} to record the provider\nselections it made above. Include this file in your \
                 version control repository\nso that {product} can guarantee to make the same selections by default when\nyou run \"{command} \
                 init\" in the future.\n\n"
            ),
            Self::Changed => format!(
                "\n{product} has made some changes to the provider dependency selections recorded\nin the {LOCK_FILE} file. Review those \
                 changes and commit them to your\nversion control system if they represent changes you intended to make.\n\n"
            ),
        }
    }
}

impl Notices {
    /// Prints the messages.
    pub fn print(&self, context: &Context, reporter: &InitReporter) {
        if let Some(change) = self.lock_file {
            reporter.notice(context, "lock_info", |wording| change.text(wording));
        }
        // After the message about the lock file, which the warnings refer to.
        context.show(&self.warnings);
        if let Some(text) = &self.signatures {
            reporter.notice(context, "partner_and_community_providers_message", |_| text.clone());
        }
    }
}
