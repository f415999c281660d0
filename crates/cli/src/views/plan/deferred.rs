//! What a plan leaves to a later run.

use groma_address::Mode;
use groma_engine::{Action, DeferralReason, DeferredChange};

use super::heading::write_header;
use super::resource::{Look, write_object};
use crate::terminal::Tone;

/// Appends a change that is left to a later run.
pub(super) fn write_deferred(deferred: &DeferredChange, look: Look<'_>, out: &mut String) {
    let change = &deferred.change;
    let deposed = change.deposed.as_ref().map(|key| format!(" (deposed object {key})")).unwrap_or_default();
    let subject = format!("  # {}{deposed}", deferred.address());
    out.push_str(&format!("{} was deferred\n", look.palette.paint(Tone::Bold, subject)));
    out.push_str(&format!("  # ({})\n", explanation(deferred.reason)));
    if change.action == Action::NoOp {
        return;
    }
    write_header(change, look.palette, out);
    write_object(change, None, look, out);
    out.push('\n');
}

/// Whether a plan tells about it: nobody need know of data that is gone.
pub(super) fn is_told(deferred: &DeferredChange) -> bool {
    deferred.change.action != Action::Delete || deferred.change.address.resource.mode == Mode::Managed
}

fn explanation(reason: DeferralReason) -> &'static str {
    match reason {
        DeferralReason::InstanceCountUnknown => "because the number of resource instances is unknown",
        DeferralReason::ResourceConfigUnknown => "because the resource configuration is unknown",
        DeferralReason::ProviderConfigUnknown => "because the provider configuration is unknown",
        DeferralReason::AbsentPrerequisite => "because something that it needs does not exist yet",
        DeferralReason::DeferredPrerequisite => "because something that it depends on is deferred",
        DeferralReason::Unknown => "because its provider cannot plan it yet",
    }
}
