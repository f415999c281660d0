//! The initialized backend, and whether it still matches the configuration.

use groma_config::Module;
use groma_diagnostics::Diagnostics;

use super::super::context::Context;
use super::super::outcome::fail;
use super::block::{Settings, configured};
use super::config::BackendConfig;
use super::record::{Record, RecordFile};

/// Returns the initialized backend, which must match the backend block of `module`.
///
/// # Errors
/// The configuration has another backend than the one `init` recorded. Going on would look like an empty state, and create
/// everything again.
pub(in super::super) fn in_use(context: &Context, module: &Module) -> Result<BackendConfig, Diagnostics> {
    let configured = configured(context, module, &Settings::new())?;
    let record = RecordFile::of(context).read()?;
    let reason = match (configured, record) {
        // Terraform uses the local backend too if neither a block nor a record exists.
        (None, None) => return Ok(BackendConfig::default()),
        // Recorded settings may come from -backend-config, so an unchanged hash of the block is enough.
        (Some(new), Some(Record::Known { backend, hash }))
            if backend.name() == new.backend.name()
                && (new.block.hashes().contains(&hash) || new.backend == backend) =>
        {
            return Ok(backend);
        }
        (Some(new), None) => {
            let name = new.backend.name();
            return Err(required(context, &format!("Initial configuration of the requested backend {name:?}"), ""));
        }
        (Some(new), Some(Record::Known { backend, .. })) if backend.name() == new.backend.name() => {
            format!("Backend configuration block has changed: {}", backend.difference(&new.backend))
        }
        (Some(new), Some(record)) => {
            format!("Backend type changed from {:?} to {:?}", record.kind(), new.backend.name())
        }
        (None, Some(record)) => format!("Unsetting the previously set backend {:?}", record.kind()),
    };
    let command = &context.wording.command;
    let advice = format!(
        " To migrate the state to the new backend, run \"{command} init -migrate-state\". To use the state that is already there, or to \
         start with an empty one, run \"{command} init -reconfigure\". If the backend was changed by mistake, revert the change."
    );
    Err(required(context, &reason, &advice))
}

fn required(context: &Context, reason: &str, advice: &str) -> Diagnostics {
    let command = &context.wording.command;
    fail(
        &format!("Backend initialization required, please run \"{command} init\""),
        format!(
            "Reason: {reason}\n\nThe backend is the location of the state. With another location, existing infrastructure would look as if it \
             had not been created yet. Nothing was read or changed.{advice}"
        ),
    )
}
