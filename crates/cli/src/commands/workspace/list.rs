//! `workspace list`.

use super::super::context::Context;
use super::super::outcome::{Outcome, fail};
use super::places::Places;
use crate::arguments::WorkspaceList;

pub(super) fn run(context: &mut Context, arguments: &WorkspaceList) -> Outcome {
    context.view(&arguments.view);
    if !arguments.rest.is_empty() {
        return Err(fail("Too many command line arguments", "Another directory is chosen with -chdir."));
    }
    let mut text = String::new();
    for name in Places::of(context)?.names()? {
        let sign = if name == context.settings.workspace { '*' } else { ' ' };
        text.push_str(&format!("{sign} {name}\n"));
    }
    text.push('\n');
    if context.settings.workspace_is_overridden {
        text.push_str("\nThe environment variable TF_WORKSPACE says which workspace is active.\n\n");
    }
    context.streams.print(&text);
    Ok(0)
}
