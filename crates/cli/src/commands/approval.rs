//! The question before anything is changed.

use groma_diagnostics::Diagnostics;
use groma_engine::{Mode, Plan};

use super::context::Context;
use super::outcome::fail;
use crate::terminal::Answer;

/// The decision about the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    /// The user has approved.
    Given,
    /// The user has declined.
    Refused,
}

/// Asks whether `plan` is to be carried out.
///
/// # Errors
///
/// There is no answer: the input ended, or the user interrupted.
pub(super) fn ask(context: &mut Context, plan: &Plan) -> Result<Approval, Diagnostics> {
    let (title, text) = question(context, plan);
    let prompter = context.prompter()?;
    context.streams.print("\n");
    match prompter.ask(&title, &text) {
        Answer::Line(line) if line == "yes" => Ok(Approval::Given),
        Answer::Line(_) | Answer::NotUtf8 => {
            let what = if plan.mode == Mode::Destroy { "Destroy" } else { "Apply" };
            context.streams.print(&format!("{what} cancelled.\n"));
            Ok(Approval::Refused)
        }
        Answer::End => Err(fail(
            "error asking for approval: EOF",
            "The input ended before there was an answer; nothing was changed. Use -auto-approve where nobody can answer.",
        )),
        Answer::Interrupted => Err(fail("error asking for approval: interrupted", "Nothing was changed.")),
    }
}

fn question(context: &Context, plan: &Plan) -> (String, String) {
    let product = &context.wording.product;
    let place = match &*context.settings.workspace {
        "default" => String::new(),
        workspace => format!(" in workspace {workspace:?}"),
    };
    match plan.mode {
        Mode::Destroy => (
            format!("Do you really want to destroy all resources{place}?"),
            format!(
                "{product} will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be accepted to \
                 confirm."
            ),
        ),
        Mode::RefreshOnly => (
            format!("Would you like to update the {product} state to reflect these detected changes{place}?"),
            format!(
                "{product} will write these changes to the state without modifying any real infrastructure.\nThere is no undo. Only 'yes' \
                 will be accepted to confirm."
            ),
        ),
        Mode::Normal => (
            format!("Do you want to perform these actions{place}?"),
            format!("{product} will perform the actions described above.\nOnly 'yes' will be accepted to approve."),
        ),
    }
}
