//! The backend that commands use: the one that `init` got ready, as long as the configuration still asks for it.

use groma_config::Module;
use groma_diagnostics::Diagnostics;

use super::super::context::Context;
use super::super::outcome::fail;
use super::block::{Settings, configured};
use super::local::Local;
use super::record::{Record, RecordFile};

/// The backend of `module`.
///
/// # Errors
/// The backend differs from the initialized one, so the state is in another location and the one here would be wrong.
pub(in super::super) fn in_use(context: &Context, module: &Module) -> Result<Local, Diagnostics> {
    let configured = configured(module, &Settings::new())?;
    let record = RecordFile::of(context).read()?;
    let reason = match (configured, record) {
        (None, None) => return Ok(Local::default()),
        // The settings of the record may have come with -backend-config, so that the block alone does not have them.
        (Some(new), Some(Record::Local { settings, hash })) if new.hash == hash || new.local == settings => {
            return Ok(settings);
        }
        (Some(_), None) => {
            return Err(required(context, "Initial configuration of the requested backend \"local\"", ""));
        }
        (Some(new), Some(Record::Local { settings, .. })) => {
            format!("Backend configuration block has changed: {}", settings.difference(&new.local))
        }
        (Some(_), Some(Record::Foreign { kind })) => format!("Backend type changed from {kind:?} to \"local\""),
        (None, Some(record)) => format!("Unsetting the previously set backend {:?}", record.kind()),
    };
    let command = &context.wording.command;
    let ways = format!(
        " If the state is to be taken along to the new place, run \"{command} init -migrate-state\"; if the state that is there already \
         is to be used, or a new one begun, \"{command} init -reconfigure\". If the backend was changed by mistake, change it back."
    );
    Err(required(context, &reason, &ways))
}

fn required(context: &Context, reason: &str, ways: &str) -> Diagnostics {
    let command = &context.wording.command;
    fail(
        &format!("Backend initialization required, please run \"{command} init\""),
        format!(
            "Reason: {reason}\n\nThe backend says where the state is kept; a state in another place would look as if nothing had been made \
             yet. Nothing was read or changed.{ways}"
        ),
    )
}
