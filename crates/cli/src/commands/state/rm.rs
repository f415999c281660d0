//! `state rm`.

use groma_address::{ResourceInstance, Target};

use super::super::context::Context;
use super::super::outcome::{Outcome, fail};
use super::changing::Changing;
use super::reading::target;
use crate::arguments::{Flag, StateRm};

pub(super) fn run(context: &mut Context, arguments: &StateRm) -> Outcome {
    if arguments.addresses.is_empty() {
        return Err(fail("Required argument missing", "Give the address of something in the state, or several."));
    }
    let targets = arguments.addresses.iter().map(|text| target(text)).collect::<Result<Vec<Target>, _>>()?;
    let mut changing = Changing::open(context, &arguments.change, "state-rm")?;
    let mut found: Vec<ResourceInstance> = Vec::new();
    for target in &targets {
        let instances = changing.state.iter().map(|view| view.address());
        found.extend(instances.filter(|address| target.contains(address)));
    }
    let only_says = arguments.dry_run.is_some_and(Flag::is_on);
    if found.is_empty() && only_says {
        context.say("Would have removed nothing.\n");
        return Ok(0);
    }
    if found.is_empty() {
        return Err(fail(
            "Invalid target address",
            "No matching objects found. \"state list\" prints the addresses of everything in the state.",
        ));
    }
    if only_says {
        found.iter().for_each(|address| context.say(&format!("Would remove {address}\n")));
        return Ok(0);
    }
    for address in &found {
        changing.state.remove_instance(address);
    }
    let undo = changing.save(&context.wording.command)?;
    found.iter().for_each(|address| context.say(&format!("Removed {address}\n")));
    context.say(&format!("Successfully removed {} resource instance(s).\n", found.len()));
    context.say_if_any(&undo);
    Ok(0)
}
