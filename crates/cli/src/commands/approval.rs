//! The approval prompt before a plan is applied.

use groma_diagnostics::Diagnostics;
use groma_engine::{Mode, Plan};

use super::context::Context;
use super::outcome::fail;
use crate::terminal::Answer;

/// Answer to the approval prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    Given,
    /// Any answer but `yes`.
    Refused,
}

/// Asks whether to apply `plan`.
///
/// # Errors
///
/// The input ended without an answer, or the user interrupted the prompt.
pub(super) fn ask(context: &mut Context, plan: &Plan) -> Result<Approval, Diagnostics> {
    let (title, text) = question(context, plan);
    let prompter = context.prompter()?;
    context.streams.print("\n");
    match prompter.ask(&title, &text) {
        // As in Terraform, only the exact word approves.
        Answer::Line(line) if line == "yes" => Ok(Approval::Given),
        Answer::Line(_) | Answer::NotUtf8 => {
            let what = if plan.mode == Mode::Destroy { "Destroy" } else { "Apply" };
            context.streams.print(&format!("{what} cancelled.\n"));
            Ok(Approval::Refused)
        }
        Answer::End => Err(fail(
            "error asking for approval: EOF",
            "Standard input ended before an answer was given. Nothing was changed. Use -auto-approve to apply without a prompt.",
        )),
        Answer::Interrupted => Err(fail("error asking for approval: interrupted", "Nothing was changed.")),
    }
}

fn question(context: &Context, plan: &Plan) -> (String, String) {
    let product = context.text_wording.product;
    let location = match &*context.settings.workspace {
        "default" => String::new(),
        workspace => format!(" in workspace {workspace:?}"),
    };
    match plan.mode {
        Mode::Destroy => (
            format!("Do you really want to destroy all resources{location}?"),
            format!(
                "{product} will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be accepted to \
                 confirm."
            ),
        ),
        Mode::RefreshOnly => (
            format!("Would you like to update the {product} state to reflect these detected changes{location}?"),
            format!(
                "{product} will write these changes to the state without modifying any real infrastructure.\nThere is no undo. Only 'yes' \
                 will be accepted to confirm."
            ),
        ),
        Mode::Normal => (
            format!("Do you want to perform these actions{location}?"),
            format!("{product} will perform the actions described above.\nOnly 'yes' will be accepted to approve."),
        ),
    }
}
