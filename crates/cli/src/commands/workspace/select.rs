//! `workspace select`.

use super::super::backend::valid_workspace;
use super::super::context::Context;
use super::super::outcome::Outcome;
use super::new::create;
use super::places::{Places, absent, choose, not_overridden, single_name};
use crate::arguments::{Flag, WorkspaceSelect};

pub(super) fn run(context: &mut Context, arguments: &WorkspaceSelect) -> Outcome {
    context.view(&arguments.view);
    context.speak(&arguments.json)?;
    let name = single_name(&arguments.rest)?;
    not_overridden(context)?;
    valid_workspace(name)?;
    if name == context.settings.workspace {
        return Ok(0);
    }
    let places = Places::of(context)?;
    if !places.exists(name) {
        return match arguments.or_create {
            Some(Flag::On) => create(context, &places, name).map(|()| 0),
            _ => Err(absent(context, name)),
        };
    }
    choose(context, name)?;
    context.say(&format!("Switched to workspace {name:?}.\n"));
    Ok(0)
}
