//! Warnings about partial plans.

use std::collections::BTreeSet;

use groma_address::{AbsResource, ResourceInstance, Target};
use groma_diagnostics::{Diagnostic, Diagnostics, quoted};

use crate::moves::Moves;
use crate::options::PlanOptions;

/// The warning that a plan does not cover everything.
pub(in crate::planning) fn partial(options: &PlanOptions) -> Diagnostics {
    let (covers, option) = match (options.targets.as_slice(), options.excludes.as_slice()) {
        ([], []) => return Diagnostics::new(),
        (_, []) => ("only what -target names and what that depends on", "-target"),
        _ => ("neither what -exclude names nor what depends on that", "-exclude"),
    };
    let detail = format!(
        "This plan covers {covers}. Other changes that the configuration asks for may be missing from it.\n\nKeep {option} for \
         emergencies, such as getting past an error or a mistake, or for when a message advises it."
    );
    Diagnostic::warning("Resource targeting is in effect", detail).into()
}

/// The problem that what is excluded covers an object that has moved, at one of its addresses.
pub(in crate::planning) fn moved(moves: &Moves, excludes: &[Target]) -> Option<Diagnostic> {
    let is_excluded = |address: &ResourceInstance| excludes.iter().any(|target| target.may_mean(address));
    let pairs = moves.previous.iter().flat_map(|(to, from)| [from, to]);
    let moved: BTreeSet<AbsResource> =
        pairs.filter(|address| is_excluded(address)).map(|address| address.abs_resource()).collect();
    if moved.is_empty() {
        return None;
    }
    let options: String =
        moved.iter().map(|resource| format!("\n  -exclude={}", quoted(&resource.to_string()))).collect();
    let detail = format!(
        "Objects of the state have moved to other addresses in this configuration, and a plan is only right with all of them, but the \
         -exclude options leave some out. Leave the options away, or those that cover:{options}\n\nMore objects may become part of the \
         plan without them, because they depend on each other."
    );
    Some(Diagnostic::error("Moved resource instances excluded by targeting", detail))
}
