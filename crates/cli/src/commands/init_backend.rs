//! `init`: initializes and records the configured backend, and migrates states to it.

use groma_config::{Module, unsupported_backend};
use groma_diagnostics::{Diagnostic, Diagnostics};

use super::backend::{Configured, Local, Record, RecordFile, configured, given, locking, unless_off};
use super::context::Context;
use super::init_reporter::InitReporter;
use super::migration::{Consent, Migration, OldFile};
use super::outcome::fail;
use crate::arguments::{Flag, Init};
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
) -> Result<Local, Diagnostics> {
    let file = RecordFile::of(context);
    if !unless_off(arguments.backend.or(arguments.cloud)) {
        return Ok(as_recorded(&file));
    }
    reporter.gap(context);
    reporter.heading(context, "Initializing the backend...", "initializing_backend_message");
    let beyond = given(context, &arguments.backend_config)?;
    let configured = configured(module, &beyond)?;
    let initialization = Initialization { reporter, arguments, module, file: &file };
    if is_on(arguments.reconfigure) {
        return initialization.reconfigure(context, configured);
    }
    if configured.is_none() && !beyond.is_empty() {
        context.show(&without_block().into());
    }
    match (configured, file.read()?) {
        (None, None) => Ok(Local::default()),
        (Some(new), None) => initialization.first(context, new),
        (Some(new), Some(Record::Local { settings, hash })) => {
            // An unchanged block keeps settings that came from an earlier -backend-config, unless new ones are given.
            if new.local == settings || new.hash == hash && beyond.is_empty() {
                // The settings are equal but written differently; recording the new hash avoids this comparison next
                // time.
                if new.hash != hash {
                    file.write(&settings, new.hash)?;
                }
                return Ok(settings);
            }
            initialization.changed(context, &settings, new)
        }
        (None, Some(Record::Local { settings, .. })) => initialization.unset(context, &settings),
        (_, Some(Record::Foreign { kind })) => Err(foreign(context, &kind)),
    }
}

/// Returns the recorded backend. With `-backend=false` the configured one is ignored, including its errors.
fn as_recorded(file: &RecordFile) -> Local {
    match file.read() {
        Ok(Some(Record::Local { settings, .. })) => settings,
        _ => Local::default(),
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
    fn reconfigure(&self, context: &Context, configured: Option<Configured>) -> Result<Local, Diagnostics> {
        match configured {
            Some(new) => self.record(context, new),
            None => {
                if !matches!(self.file.read(), Ok(None)) {
                    self.file.clear()?;
                }
                Ok(Local::default())
            }
        }
    }

    /// Records the first backend block. States may already exist in the default location.
    fn first(&self, context: &mut Context, new: Configured) -> Result<Local, Diagnostics> {
        self.migrate(context, &Local::default(), &new.local, OldFile::Retired)?;
        self.record(context, new)
    }

    fn changed(&self, context: &mut Context, old: &Local, new: Configured) -> Result<Local, Diagnostics> {
        self.may_migrate(context, &old.difference(&new.local))?;
        let text = format!(
            "Backend configuration changed!\n\nThe backend block has changed since it was last initialized:\n{}.\n",
            old.difference(&new.local)
        );
        self.reporter.notice(context, "backend_reconfigure", |_| text.clone());
        self.migrate(context, old, &new.local, OldFile::Kept)?;
        self.record(context, new)
    }

    fn unset(&self, context: &mut Context, old: &Local) -> Result<Local, Diagnostics> {
        self.may_migrate(context, "the backend block was removed")?;
        self.reporter.notice(context, "backend_migrate_local", |Wording { product, .. }| {
            format!("{product} has detected you're unconfiguring your previously set \"local\" backend.\n")
        });
        let new = Local::default();
        self.migrate(context, old, &new, OldFile::Kept)?;
        self.file.clear()?;
        self.reporter.notice(context, "backend_configured_unset", |Wording { product, .. }| {
            format!("\nSuccessfully unset the backend \"local\". {product} will now operate locally.\n")
        });
        Ok(new)
    }

    /// Checks that a flag allows to migrate the states.
    fn may_migrate(&self, context: &Context, change: &str) -> Result<(), Diagnostics> {
        if is_on(self.arguments.migrate_state) || is_on(self.arguments.force_copy) {
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

    fn migrate(&self, context: &mut Context, from: &Local, to: &Local, old_file: OldFile) -> Result<(), Diagnostics> {
        let consent = if is_on(self.arguments.force_copy) { Consent::Given } else { Consent::Asked };
        let locking = locking(&self.arguments.locking, "migration of states");
        Migration { module: self.module, from, to, consent, locking, old_file }.run(context)
    }

    fn record(&self, context: &Context, new: Configured) -> Result<Local, Diagnostics> {
        self.file.write(&new.local, new.hash)?;
        self.reporter.notice(context, "backend_configured_success", |Wording { product, .. }| {
            format!(
                "\nSuccessfully configured the backend \"local\"! {product} will use it until its\nconfiguration changes.\n"
            )
        });
        Ok(new.local)
    }
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
            "The state of this directory is in the backend {kind:?}, but this version of Groma only supports the local backend, so it cannot \
             migrate the state. Nothing was read or written. Export the state to a file with the program that created it (state pull), then \
             run \"{command} init -reconfigure\" and \"{command} state push FILE\" here."
        ),
    )
    .into()
}
