//! `init`: the backend that the configuration asks for is got ready and recorded, and states move along where that is wanted.

use groma_config::{Module, UNSUPPORTED_BACKEND};
use groma_diagnostics::{Diagnostic, Diagnostics};

use super::backend::{Configured, Local, Record, RecordFile, configured, given, locking, unless_off};
use super::context::Context;
use super::init_teller::Teller;
use super::migration::{Consent, Leftover, Migration};
use super::outcome::fail;
use crate::arguments::{Flag, Init};

/// Gets the backend of `module` ready; where its states are then.
///
/// # Errors
/// The backend is wrong or not there; it has changed, and no flag says what becomes of the states; a state cannot be copied.
pub(super) fn ready(
    context: &mut Context,
    teller: &Teller,
    arguments: &Init,
    module: &Module,
) -> Result<Local, Diagnostics> {
    let file = RecordFile::of(context);
    if !unless_off(arguments.backend.or(arguments.cloud)) {
        return Ok(as_recorded(&file));
    }
    teller.gap(context);
    teller.heading(context, "Initializing the backend...", "initializing_backend_message");
    let beyond = given(context, &arguments.backend_config)?;
    let configured = configured(module, &beyond)?;
    let initialization = Initialization { teller, arguments, module, file: &file };
    if is_on(arguments.reconfigure) {
        return initialization.begin_anew(context, configured);
    }
    if configured.is_none() && !beyond.is_empty() {
        context.show(&without_block().into());
    }
    match (configured, file.read()?) {
        (None, None) => Ok(Local::default()),
        (Some(new), None) => initialization.first(context, new),
        (Some(new), Some(Record::Local { settings, hash })) => {
            if new.local == settings || new.hash == hash && beyond.is_empty() {
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

/// Returns the location of the states by the backend record alone: with `-backend=false` the configuration does not count, nor do
/// its errors.
fn as_recorded(file: &RecordFile) -> Local {
    match file.read() {
        Ok(Some(Record::Local { settings, .. })) => settings,
        _ => Local::default(),
    }
}

fn is_on(flag: Option<Flag>) -> bool {
    flag.is_some_and(Flag::is_on)
}

/// One `init`, as far as the backend goes.
struct Initialization<'a> {
    teller: &'a Teller,
    arguments: &'a Init,
    module: &'a Module,
    file: &'a RecordFile,
}

impl Initialization<'_> {
    /// `-reconfigure`: what was before does not count.
    fn begin_anew(&self, context: &Context, configured: Option<Configured>) -> Result<Local, Diagnostics> {
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

    /// There was no backend block before; there may have been states without one.
    fn first(&self, context: &mut Context, new: Configured) -> Result<Local, Diagnostics> {
        self.migrate(context, &Local::default(), &new.local, Leftover::Retired)?;
        self.record(context, new)
    }

    fn changed(&self, context: &mut Context, old: &Local, new: Configured) -> Result<Local, Diagnostics> {
        self.may_migrate(context, &old.difference(&new.local))?;
        let text = format!(
            "Backend configuration changed!\n\nThe block says something else than when the backend was last initialized:\n{}.\n",
            old.difference(&new.local)
        );
        self.teller.notice(context, &text, "backend_reconfigure");
        self.migrate(context, old, &new.local, Leftover::Kept)?;
        self.record(context, new)
    }

    fn unset(&self, context: &mut Context, old: &Local) -> Result<Local, Diagnostics> {
        self.may_migrate(context, "the backend block is gone")?;
        let product = &context.wording.product;
        let text = format!("{product} has detected you're unconfiguring your previously set \"local\" backend.\n");
        self.teller.notice(context, &text, "backend_migrate_local");
        let new = Local::default();
        self.migrate(context, old, &new, Leftover::Kept)?;
        self.file.clear()?;
        let text = format!(
            "\nSuccessfully unset the backend \"local\". {} will now operate locally.\n",
            context.wording.product
        );
        self.teller.notice(context, &text, "backend_configured_unset");
        Ok(new)
    }

    /// Whether a flag says what becomes of the states.
    fn may_migrate(&self, context: &Context, change: &str) -> Result<(), Diagnostics> {
        if is_on(self.arguments.migrate_state) || is_on(self.arguments.force_copy) {
            return Ok(());
        }
        let command = &context.wording.command;
        Err(fail(
            "Backend configuration changed",
            format!(
                "Since the backend was last initialized, it has changed: {change}. The states may be in the old place still. To take them \
                 along, run \"{command} init -migrate-state\". To use what is in the new place, and leave them where they are, run \
                 \"{command} init -reconfigure\"."
            ),
        ))
    }

    fn migrate(&self, context: &mut Context, from: &Local, to: &Local, leftover: Leftover) -> Result<(), Diagnostics> {
        let consent = if is_on(self.arguments.force_copy) { Consent::Given } else { Consent::Asked };
        let locking = locking(&self.arguments.locking, "migration of states");
        Migration { module: self.module, from, to, consent, locking, leftover }.run(context)
    }

    fn record(&self, context: &Context, new: Configured) -> Result<Local, Diagnostics> {
        self.file.write(&new.local, new.hash)?;
        let text = format!(
            "\nSuccessfully configured the backend \"local\"! {} will use it until its\nconfiguration changes.\n",
            context.wording.product
        );
        self.teller.notice(context, &text, "backend_configured_success");
        Ok(new.local)
    }
}

fn without_block() -> Diagnostic {
    Diagnostic::warning(
        "Missing backend configuration",
        "The option -backend-config completes a backend block, and the configuration has none, so it says nothing. Write one for it to \
         complete:\n\nterraform {\n  backend \"local\" {}\n}",
    )
}

/// The state is where only another program gets at it.
fn foreign(context: &Context, kind: &str) -> Diagnostics {
    let command = &context.wording.command;
    fail(
        UNSUPPORTED_BACKEND,
        format!(
            "Until now the state of this directory was kept in the backend {kind:?}. This version of Groma knows the local backend only, so \
             it cannot take the state along from there. Nothing was read or written. Write the state to a file with the program that made \
             it (state pull), then run \"{command} init -reconfigure\" and \"{command} state push FILE\" here."
        ),
    )
}
