//! `workspace select`: switches to another workspace.

use super::super::backend::valid_workspace;
use super::super::context::Context;
use super::super::outcome::Outcome;
use super::new::create;
use super::workspaces::{Workspaces, absent, choose, not_overridden, single_name};
use crate::arguments::{Flag, WorkspaceSelect};

pub(super) fn run(context: &mut Context, arguments: &WorkspaceSelect) -> Outcome {
    context.configure_view(&arguments.view);
    context.configure_json(&arguments.json)?;
    let name = single_name(&arguments.rest)?;
    not_overridden(context)?;
    valid_workspace(name)?;
    if name == context.settings.workspace {
        return Ok(0);
    }
    let workspaces = Workspaces::of(context)?;
    if !workspaces.exists(name)? {
        return match arguments.or_create {
            Some(Flag::On) => create(context, &workspaces, name).map(|()| 0),
            _ => Err(absent(context, name)),
        };
    }
    choose(context, name)?;
    context.report(&format!("Switched to workspace {name:?}.\n"));
    Ok(0)
}
