//! `state rm`: removes items from the state without destroying the real objects.

use groma_address::{ResourceInstance, Target};

use super::super::context::Context;
use super::super::outcome::{Outcome, fail};
use super::changing::Changing;
use super::reading::target;
use crate::arguments::{Flag, StateRm};

pub(super) fn run(context: &mut Context, arguments: &StateRm) -> Outcome {
    Changing::configure(context, &arguments.change)?;
    if arguments.addresses.is_empty() {
        return Err(fail("Required argument missing", "Expected one or more addresses of items in the state."));
    }
    // All addresses are parsed before the state is locked.
    let targets = arguments.addresses.iter().map(|text| target(text)).collect::<Result<Vec<Target>, _>>()?;
    let mut changing = Changing::open(context, &arguments.change, "state-rm")?;
    let mut found: Vec<ResourceInstance> = Vec::new();
    for target in &targets {
        let instances = changing.state.iter().map(|view| view.address());
        found.extend(instances.filter(|address| target.contains(address)));
    }
    let only_says = arguments.dry_run.is_some_and(Flag::is_on);
    // A dry run of nothing is no error: it only reports.
    if found.is_empty() && only_says {
        context.report("Would have removed nothing.\n");
        return Ok(0);
    }
    if found.is_empty() {
        return Err(fail(
            "Invalid target address",
            "No matching objects found. Run \"state list\" to see all addresses in the state.",
        ));
    }
    if only_says {
        found.iter().for_each(|address| context.report(&format!("Would remove {address}\n")));
        return Ok(0);
    }
    // Instances that two addresses match are removed once; the second removal has no effect.
    for address in &found {
        changing.state.remove_instance(address);
    }
    let undo = changing.save(&context.wording.command)?;
    // Reported after the write, so that the output does not claim what did not happen.
    found.iter().for_each(|address| context.report(&format!("Removed {address}\n")));
    context.report(&format!("Successfully removed {} resource instance(s).\n", found.len()));
    context.report_nonempty(&undo);
    Ok(0)
}
