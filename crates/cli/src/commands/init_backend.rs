//! `init`: initializes and records the configured backend, and migrates states to it.

use std::path::Path;

use groma_config::variables::{InputValue, Origin};
use groma_config::{Module, unsupported_backend};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_state::ERRORED_STATE;
use groma_value::Value;

use super::backend::{
    Backend, BackendConfig, BackendSettings, Configured, Local, Record, RecordFile, StateOverrides, configured,
    diagnostics, given, location_in, locking, unless_off,
};
use super::context::Context;
use super::init_reporter::InitReporter;
use super::migration::{Consent, Migrated, Migration, OldFile, Side};
use super::outcome::fail;
use crate::arguments::{Flag, Init};
use crate::settings::Questions;
use crate::terminal::Answer;
use crate::views::wording::Wording;

/// Initializes the backend of `module`, and returns it.
///
/// # Errors
/// The backend is invalid or not supported, it has changed without a flag that decides about the states, or a state cannot be
/// copied.
pub(super) fn ready(
    context: &mut Context,
    reporter: &InitReporter,
    arguments: &Init,
    module: &Module,
) -> Result<Backend, Diagnostics> {
    let file = RecordFile::of(context);
    // Both flags are aliases, of which at most one is set.
    if !unless_off(arguments.backend.or(arguments.cloud)) {
        // The configured backend is ignored, including its errors.
        return match file.read() {
            Ok(Some(Record::Known { backend, .. })) => backend.connect(context),
            _ => Ok(Backend::Local(Local::default())),
        };
    }
    reporter.gap(context);
    let heading = match module.cloud {
        Some(_) => "Initializing HCP Terraform...",
        None => "Initializing the backend...",
    };
    reporter.heading(context, heading, "initializing_backend_message");
    if module.cloud.is_some() {
        check_cloud_options(arguments)?;
    }
    let beyond = given(context, &arguments.backend_config)?;
    let configured = completed(context, module, beyond.clone())?;
    let initialization = Initialization { reporter, arguments, module, file: &file };
    if is_on(arguments.reconfigure) {
        return initialization.reconfigure(context, configured);
    }
    if module.backend.is_none() && !beyond.is_empty() {
        // A warning only, as in Terraform. A cloud block cannot be completed either.
        context.show(&without_block().into());
    }
    match (configured, file.read()?) {
        // The default location needs no record.
        (None, None) => Ok(Backend::Local(Local::default())),
        (Some(new), None) => initialization.first(context, new),
        (Some(new), Some(Record::Known { backend, hash })) => {
            // An unchanged block keeps settings that came from an earlier -backend-config, unless new ones are given.
            let hashes = new.block.hashes();
            let is_same_block = new.backend.name() == backend.name() && hashes.contains(&hash) && beyond.is_empty();
            if new.backend != backend && !is_same_block {
                return initialization.changed(context, &backend, new);
            }
            // The settings are equal but written differently; recording the new hash avoids this comparison next time.
            if !hashes.contains(&hash) {
                file.write(&backend, &new.block)?;
            }
            backend.connect(context)
        }
        (None, Some(Record::Known { backend, .. })) => initialization.unset(context, &backend),
        (_, Some(Record::Foreign { kind })) => Err(foreign(context, &kind)),
    }
}

/// Returns the configured backend. Missing required arguments are asked for, if that is possible.
fn completed(
    context: &mut Context,
    module: &Module,
    mut beyond: BackendSettings,
) -> Result<Option<Configured>, Diagnostics> {
    if module.cloud.is_some() {
        beyond.clear();
    }
    // Without a block there is nothing to complete.
    let Some(first) = configured(context, module, &beyond)? else { return Ok(None) };
    let missing = first.backend.missing(context);
    // A block may get them from the record instead.
    let is_recorded = || {
        let record = RecordFile::of(context).read();
        matches!(record, Ok(Some(Record::Known { hash, .. })) if beyond.is_empty() && first.block.hashes().contains(&hash))
    };
    if missing.is_empty() || is_recorded() {
        return Ok(Some(first));
    }
    if context.settings.questions == Questions::Forbidden || context.messages().is_some() {
        // The error about the missing arguments says how to set them.
        return first.backend.connect(context).map(|_| Some(first));
    }
    for name in missing {
        let text = format!("The backend {:?} requires this argument.", first.backend.name());
        // Every other answer leaves the argument missing, which `connect` reports.
        let Answer::Line(line) = context.prompter()?.ask(name, &text) else {
            return first.backend.connect(context).map(|_| Some(first));
        };
        let value = InputValue { value: Value::string(line), origin: Origin::CommandLine, span: Span::NONE };
        beyond.insert(name.into(), value);
    }
    // The answers are checked like command-line values.
    configured(context, module, &beyond)
}

/// Refuses the flags that have no meaning for a cloud block.
fn check_cloud_options(arguments: &Init) -> Result<(), Diagnostics> {
    let flags = [
        ("-reconfigure", arguments.reconfigure, "Changed settings of a cloud block are used without it."),
        ("-migrate-state", arguments.migrate_state, "init asks before it copies states to HCP Terraform."),
        ("-force-copy", arguments.force_copy, "init asks before it copies states to HCP Terraform."),
    ];
    match flags.into_iter().find(|(_, flag, _)| is_on(*flag)) {
        None => Ok(()),
        Some((name, _, reason)) => Err(fail(
            "Invalid command-line option",
            format!("The {name} option is for state backends only, and cannot be used with a cloud block. {reason}"),
        )),
    }
}

fn is_on(flag: Option<Flag>) -> bool {
    flag.is_some_and(Flag::is_on)
}

/// The backend step of one `init`.
struct Initialization<'a> {
    reporter: &'a InitReporter,
    arguments: &'a Init,
    module: &'a Module,
    file: &'a RecordFile,
}

impl Initialization<'_> {
    /// Records the configured backend without regard to the previous one: `-reconfigure`.
    fn reconfigure(&self, context: &Context, configured: Option<Configured>) -> Result<Backend, Diagnostics> {
        let previous = self.file.read();
        let backend = match configured {
            Some(new) => {
                let backend = new.backend.connect(context)?;
                self.record(context, &backend, new)?;
                backend
            }
            None => {
                if !matches!(previous, Ok(None)) {
                    // Without a record no file is created, so a directory without a backend stays clean.
                    self.file.clear()?;
                }
                Backend::Local(Local::default())
            }
        };
        let previous = match previous {
            Ok(Some(Record::Known { backend, .. })) => Some(backend),
            Ok(None) => Some(BackendConfig::default()),
            // What another program or a damaged record says is ignored with the rest of it.
            Ok(Some(Record::Foreign { .. })) | Err(_) => None,
        };
        let warning = previous.and_then(|previous| self.left_journal(context, &previous, &backend));
        warning.into_iter().for_each(|warning| context.show(&warning.into()));
        Ok(backend)
    }

    /// Returns the warning about a journal of the previous backend, which runs with the new one do not read.
    fn left_journal(&self, context: &Context, previous: &BackendConfig, new: &Backend) -> Option<Diagnostic> {
        let workspace = &context.settings.workspace;
        let location =
            |backend: &Backend| location_in(context, backend, self.module, workspace, StateOverrides::default()).ok();
        // A backend that cannot be connected any more does not keep -reconfigure from leaving it.
        let old = location(&previous.connect(context).ok()?)?;
        let journal = old.left_journal()?;
        if location(new).is_some_and(|new| new.is_same(&old)) {
            return None;
        }
        let command = &context.wording.command;
        let rescue = match Path::new(ERRORED_STATE).exists() {
            true => format!(
                " If {ERRORED_STATE} is the state of that run, \"{command} state push {ERRORED_STATE}\" stores it in the new backend instead."
            ),
            false => String::new(),
        };
        Some(Diagnostic::warning(
            "Results of a run are left behind with the previous backend",
            format!(
                "The journal {} has results that the state {} does not have: the run was interrupted, or could not write its state. The new \
                 backend does not use this journal, so objects that the run created may be missing from the new state. Restore the previous backend \
                 block, run \"{command} init -reconfigure\" and \"{command} apply\" once to recover them, then migrate with \"{command} init \
                 -migrate-state\".{rescue}",
                journal.display(),
                old.shown()
            ),
        ))
    }

    /// Records the first backend block. States may already exist in the default location.
    fn first(&self, context: &mut Context, new: Configured) -> Result<Backend, Diagnostics> {
        let backend = new.backend.connect(context)?;
        // States in the default location predate the block; leaving them behind would look like an empty state.
        let local = Backend::Local(Local::default());
        let from = Side { name: "local", backend: &local };
        let to = Side { name: new.backend.name(), backend: &backend };
        let migrated = self.migrate(context, from, to, OldFile::Retired)?;
        self.record(context, &backend, new)?;
        migrated.retire()?;
        Ok(backend)
    }

    fn changed(&self, context: &mut Context, old: &BackendConfig, new: Configured) -> Result<Backend, Diagnostics> {
        // Other settings of a cloud block are used at once, as in Terraform: the service keeps the states of all of them.
        if self.module.cloud.is_some() && old.name() == new.backend.name() {
            let backend = new.backend.connect(context)?;
            self.record(context, &backend, new)?;
            return Ok(backend);
        }
        let difference = old.difference(&new.backend);
        // Checked before anything is connected: the decision needs no access to either backend.
        self.may_migrate(context, &difference)?;
        let text = format!(
            "Backend configuration changed!\n\nThe backend block has changed since it was last initialized:\n{difference}.\n"
        );
        self.reporter.notice(context, "backend_reconfigure", |_| text.clone());
        // The old backend is connected from its record, because its block is gone.
        let (previous, backend) = (old.connect(context)?, new.backend.connect(context)?);
        let from = Side { name: old.name(), backend: &previous };
        self.migrate(context, from, Side { name: new.backend.name(), backend: &backend }, OldFile::Kept)?;
        self.record(context, &backend, new)?;
        Ok(backend)
    }

    fn unset(&self, context: &mut Context, old: &BackendConfig) -> Result<Backend, Diagnostics> {
        self.may_migrate(context, "the backend block was removed")?;
        let name = old.name();
        self.reporter.notice(context, "backend_migrate_local", |Wording { product, .. }| {
            format!("{product} has detected you're unconfiguring your previously set {name:?} backend.\n")
        });
        let (previous, new) = (old.connect(context)?, Backend::Local(Local::default()));
        let from = Side { name, backend: &previous };
        self.migrate(context, from, Side { name: "local", backend: &new }, OldFile::Kept)?;
        // Cleared only after the migration, so that a failure leaves the old backend in use.
        self.file.clear()?;
        self.reporter.notice(context, "backend_configured_unset", |Wording { product, .. }| {
            format!("\nSuccessfully unset the backend {name:?}. {product} will now operate locally.\n")
        });
        Ok(new)
    }

    /// Checks that a flag allows to migrate the states.
    fn may_migrate(&self, context: &Context, change: &str) -> Result<(), Diagnostics> {
        // With a cloud block the flag is refused, and the migration asks.
        if is_on(self.arguments.migrate_state) || is_on(self.arguments.force_copy) || self.module.cloud.is_some() {
            return Ok(());
        }
        let command = &context.wording.command;
        Err(fail(
            "Backend configuration changed",
            format!(
                "The backend has changed since it was last initialized: {change}. The state may still be in the previous backend. To migrate \
                 it, run \"{command} init -migrate-state\". To use the new backend without migrating the state, run \"{command} init \
                 -reconfigure\"."
            ),
        ))
    }

    fn migrate(
        &self,
        context: &mut Context,
        from: Side<'_>,
        to: Side<'_>,
        old_file: OldFile,
    ) -> Result<Migrated, Diagnostics> {
        // -force-copy answers all questions of the migration.
        let consent = if is_on(self.arguments.force_copy) { Consent::Given } else { Consent::Asked };
        let locking = ["migration source state", "migration destination state"]
            .map(|operation| locking(&self.arguments.locking, operation));
        Migration { module: self.module, from, to, consent, locking, old_file }.run(context)
    }

    /// Records a backend, after a read that shows that it can be used.
    fn record(&self, context: &Context, backend: &Backend, new: Configured) -> Result<(), Diagnostics> {
        if let Backend::Remote(remote) = backend {
            let selected = Some(&context.settings.workspace).filter(|name| remote.supports_workspace(name)).cloned();
            // What is selected may not exist in this backend; then any request shows whether it can be used.
            let shown = match selected.or_else(|| remote.default_workspace()) {
                Some(workspace) => remote.read(&workspace).map(drop),
                None => remote.workspaces().map(drop),
            };
            shown.map_err(|problem| diagnostics(&problem))?;
        }
        // Recorded last: an unusable backend must not become the one in use.
        self.file.write(&new.backend, &new.block)?;
        let name = new.backend.name();
        if name == "inmem" {
            context.show(&forgetful().into());
        }
        self.reporter.notice(context, "backend_configured_success", |Wording { product, .. }| {
            format!("\nSuccessfully configured the backend {name:?}! {product} will use it until its\nconfiguration changes.\n")
        });
        Ok(())
    }
}

/// Warns about the backend that keeps states in memory only.
fn forgetful() -> Diagnostic {
    Diagnostic::warning(
        "The state will be lost at the end of each command",
        "The backend \"inmem\" stores the state in memory, so objects that an apply creates are untracked as soon as it ends. Use it for \
         tests only.",
    )
}

fn without_block() -> Diagnostic {
    Diagnostic::warning(
        "Missing backend configuration",
        "The configuration has no backend block that -backend-config could complete, so the option has no effect. To use it, add a \
         block:\n\nterraform {\n  backend \"local\" {}\n}",
    )
}

/// Reports that the state is in a backend that only another program supports.
fn foreign(context: &Context, kind: &str) -> Diagnostics {
    let command = &context.wording.command;
    unsupported_backend(
        format!(
            "The state of this directory is in the backend {kind:?}, which this version of Groma does not support, so it cannot migrate the \
             state. Nothing was read or written. Export the state to a file with the program that created it (state pull), then \
             run \"{command} init -reconfigure\" and \"{command} state push FILE\" here."
        ),
    )
    .into()
}
