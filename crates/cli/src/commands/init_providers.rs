//! The providers' part of `init`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use groma_address::ProviderAddress;
use groma_config::Configuration;
use groma_config::version::Constraints;
use groma_diagnostics::{Diagnostic, Diagnostics, io_reason};
use groma_install::providers::{Event, Installation, LOCK_FILE, Locks, Method, Platform, Selecting, Source};
use groma_plugin::client::SchemaCache;
use groma_state::State;

use super::context::Context;
use super::init_teller::Teller;
use super::outcome::fail;
use super::own_providers::is_included;
use super::packages::{builtin, installer, locks, methods, needed, reattached};
use super::plugins::schema_folder;
use super::servers::wait;
use crate::arguments::{Flag, Init};

/// Messages about the lock file for the time after the backend is initialized.
#[derive(Debug, Default)]
pub(super) struct Notices {
    lock_file: Option<String>,
    signatures: Option<String>,
    warnings: Diagnostics,
}

/// Whether the lock file may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LockFileMode {
    Write,
    ReadOnly,
}

/// The installation of a run of `init`: in steps, one for what the configuration needs and one for what the state needs besides.
pub(super) struct ProviderSteps<'a> {
    teller: &'a Teller,
    arguments: &'a Init,
    mode: LockFileMode,
    before: Locks,
    needed: BTreeSet<ProviderAddress>,
    done: Installation,
    notices: Notices,
}

impl<'a> ProviderSteps<'a> {
    /// # Errors
    /// A flag or the lock file is wrong.
    pub fn begin(context: &Context, teller: &'a Teller, arguments: &'a Init) -> Result<Self, Diagnostics> {
        let mode = lock_file_mode(arguments)?;
        let mut notices = Notices::default();
        let before = locks(context, &mut notices.warnings);
        if notices.warnings.has_errors() {
            return Err(notices.warnings);
        }
        notices.warnings.append(overrides_warning(context, &context.cli.overrides));
        let (needed, done) = (BTreeSet::new(), Installation::default());
        Ok(Self { teller, arguments, mode, before, needed, done, notices })
    }

    /// Installs the packages that `configuration` needs.
    ///
    /// # Errors
    /// What cannot be installed, and why.
    pub fn configuration(&mut self, context: &Context, configuration: &Configuration) -> Result<(), Diagnostics> {
        let all = needed(configuration);
        possible(&all, context)?;
        self.tell_builtin(context, &all);
        let is_upgrade = self.arguments.upgrade.is_some_and(Flag::is_on);
        let selecting = if is_upgrade { Selecting::Newest } else { Selecting::Locked };
        let teller = self.teller;
        self.install(context, all, selecting, &mut |event| teller.event(context, &event))
    }

    /// Installs the packages that only objects in the state need.
    ///
    /// # Errors
    /// What cannot be installed, and why.
    pub fn state(&mut self, context: &Context, state: &State) -> Result<(), Diagnostics> {
        let in_state: BTreeSet<_> = state.resources().map(|(_, entry)| entry.provider.provider.clone()).collect();
        nameable(&in_state, context)?;
        let all = in_state.iter().map(|address| (address.clone(), Constraints::default())).collect();
        self.tell_builtin(context, &all);
        let mut missing = BTreeMap::new();
        let teller = self.teller;
        let reusing = |address: &ProviderAddress| {
            teller.item(context, &format!("Reusing previous version of {}", address.display_short()));
        };
        for address in in_state {
            // A package that was installed and verified by the previous step is reported again, but not hashed again.
            if let Some(lock) = self.done.locks.providers.get(&address) {
                reusing(&address);
                teller.event(context, &Event::Present(&address, &lock.version));
            } else if !self.needed.contains(&address) {
                missing.insert(address, Constraints::default());
            }
        }
        self.install(context, missing, Selecting::Locked, &mut |event| match event {
            Event::Reusing(address) => reusing(address),
            other => teller.event(context, &other),
        })
    }

    fn tell_builtin(&self, context: &Context, all: &BTreeMap<ProviderAddress, Constraints>) {
        for address in builtin(all, &context.cli, &self.before) {
            self.teller.item(context, &format!("{address} is built in to {}", context.wording.product));
        }
    }

    fn install(
        &mut self,
        context: &Context,
        all: BTreeMap<ProviderAddress, Constraints>,
        selecting: Selecting,
        tell: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Diagnostics> {
        let cli = &context.cli;
        let mut wanted = all.clone();
        let running = reattached(context)?;
        let without = builtin(&all, cli, &self.before);
        wanted.retain(|address, _| {
            !without.contains(address) && !running.contains(address) && !cli.overrides.contains_key(address)
        });
        self.needed.extend(all.into_keys());
        if wanted.is_empty() {
            return Ok(());
        }
        let methods = match &self.arguments.plugin_dir[..] {
            [] => methods(context, &wanted),
            folders => folders.iter().map(|folder| Method::for_all(Source::Filesystem(folder.clone()))).collect(),
        };
        let installer = installer(context, methods)?;
        self.done.add(wait(installer.install(&wanted, &self.before, selecting, tell))??);
        Ok(())
    }

    /// Writes the lock file.
    ///
    /// # Errors
    /// It must not be written and would have to be, or cannot be written.
    pub fn finish(self, context: &Context) -> Result<Notices, Diagnostics> {
        // Schemas are cached for packages that were verified before; what cannot be removed here is only used if it passes the checks
        // of the cache.
        let _ = SchemaCache::clear(&schema_folder(context));
        finish(context, self.notices, self.mode, &self.before, self.done, &self.needed)
    }
}

/// Refuses versions of built-in providers: each exists in one version only, or not at all.
fn possible(all: &BTreeMap<ProviderAddress, Constraints>, context: &Context) -> Result<(), Diagnostics> {
    let problem = |(address, constraints): (&ProviderAddress, &Constraints)| {
        let product = &context.wording.product;
        let detail = if !is_included(address) {
            format!("{address} would be a part of {product}, which has no such provider. Check its \"source\".")
        } else if !constraints.is_empty() {
            format!(
                "{address} is a part of {product} and has no version of its own. Remove the constraint {constraints}."
            )
        } else {
            return None;
        };
        Some(Diagnostic::error("Invalid dependency on built-in provider", detail))
    };
    let problems: Diagnostics = all.iter().filter(|(address, _)| address.is_builtin()).filter_map(problem).collect();
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

/// States from before Terraform 0.13 have the last names of their providers only, which no registry knows.
fn nameable(in_state: &BTreeSet<ProviderAddress>, context: &Context) -> Result<(), Diagnostics> {
    let half_named = in_state.iter().filter(|address| address.is_half_named());
    let problem = |address: &ProviderAddress| {
        let (command, name) = (&context.wording.command, &address.type_name);
        let detail = format!(
            "The state has objects of the unqualified provider \"{name}\": an old version of Terraform wrote it, before \
             providers had namespaces. Say which provider that is, such as hashicorp/{name}, then run init again:\n  \
             {command} state replace-provider {address} hashicorp/{name}"
        );
        Diagnostic::error("Invalid legacy provider address", detail)
    };
    let problems: Diagnostics = half_named.map(problem).collect();
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

fn lock_file_mode(arguments: &Init) -> Result<LockFileMode, Diagnostics> {
    let mode = match arguments.lockfile.as_deref() {
        None | Some("") => return Ok(LockFileMode::Write),
        Some("readonly") => LockFileMode::ReadOnly,
        Some(other) => {
            return Err(fail(
                "Invalid lockfile mode",
                format!("The option -lockfile does not know the mode {other:?}; there is only \"readonly\"."),
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
    // What runs without installation keeps its lock.
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
    let (product, command) = (&context.wording.product, &context.wording.command);
    notices.lock_file = Some(if before.providers.is_empty() {
        format!(
            "\n{product} has created a lock file {LOCK_FILE} to record the provider\nselections it made above. Include this file in your version \
             control repository\nso that {product} can guarantee to make the same selections by default when\nyou run \"{command} init\" in \
             the future.\n\n"
        )
    } else {
        format!(
            "\n{product} has made some changes to the provider dependency selections recorded\nin the {LOCK_FILE} file. Review those changes \
             and commit them to your\nversion control system if they represent changes you intended to make.\n\n"
        )
    });
    notices.warnings.append(incomplete(context, &hashed_here));
    Ok(notices)
}

fn read_only(context: &Context, mut notices: Notices, before: &Locks, now: &Locks) -> Result<Notices, Diagnostics> {
    let command = &context.wording.command;
    // The same selections with other constraints or hashes are no change for the user.
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
             development overrides. It is not necessary and may error unexpectedly: {product} runs what is in these folders without \
             installation and without any check.",
            list.join("\n")
        ),
    ))
}

impl Notices {
    /// Prints the collected messages.
    pub fn tell(&self, context: &Context, teller: &Teller) {
        if let Some(text) = &self.lock_file {
            teller.notice(context, text, "lock_info");
        }
        context.show(&self.warnings);
        if let Some(text) = &self.signatures {
            teller.notice(context, text, "partner_and_community_providers_message");
        }
    }
}
