//! The planned change of one object, below a comment with the action and its reason.

use std::fmt::Write as _;

use groma_address::{InstanceKey, Mode};
use groma_engine::{Action, ActionReason, Importing, ResourceChange};

use crate::terminal::{Palette, Tone};
use crate::views::difference::{Paths, Relevance, RenderOptions, Writer, compare_objects};
use crate::views::redaction::Redaction;

/// Options for rendering a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangeOptions<'l> {
    pub palette: Palette,
    /// Product name in sentences.
    pub product: &'l str,
    pub redaction: Redaction,
}

/// Appends the change; `relevant` limits it to these paths.
pub(super) fn write(
    change: &ResourceChange,
    cause: Cause,
    relevant: Option<Paths<'_>>,
    options: ChangeOptions<'_>,
    out: &mut String,
) {
    write_comment(change, cause, options.palette, options.product, out);
    write_header(change, options.palette, out);
    write_object(change, relevant, options, out);
}

/// Appends the difference of the object.
pub(super) fn write_object(
    change: &ResourceChange,
    relevant: Option<Paths<'_>>,
    options: ChangeOptions<'_>,
    out: &mut String,
) {
    let replace = Paths::new(change.replace_paths.iter().map(|path| path.steps()));
    let relevance = relevant.map_or(Relevance::All, Relevance::Only);
    // A forgotten object is not changed.
    let after = if change.action == Action::Forget { &change.before } else { &change.after };
    let (before, after) = (options.redaction.of(&change.before), options.redaction.of(after));
    let difference = compare_objects(&change.schema.block, &before, &after, replace, relevance);
    // An imported object is shown completely, because it is new to the user.
    let rendering = RenderOptions { shows_unchanged: change.importing.is_some(), ..RenderOptions::default() };
    Writer::new(options.palette, out).difference(&difference, 0, rendering);
}

/// Origin of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A change of the plan.
    Planned,
    /// Drift.
    Detected,
}

/// Returns the symbol of an action, three columns wide.
pub(super) fn symbol(action: Action, palette: Palette) -> String {
    let create = palette.paint(Tone::Green, "+");
    let delete = palette.paint(Tone::Red, "-");
    match action {
        Action::NoOp => "   ".to_owned(),
        Action::Create => format!("  {create}"),
        Action::Read => format!(" {}", palette.paint(Tone::Cyan, "<=")),
        Action::Update => format!("  {}", palette.paint(Tone::Yellow, "~")),
        Action::Delete => format!("  {delete}"),
        Action::DeleteThenCreate => format!("{delete}/{create}"),
        Action::CreateThenDelete => format!("{create}/{delete}"),
        Action::Forget => format!(" {}", palette.paint(Tone::Red, ".")),
        Action::ForgetThenCreate => format!("{}/{create}", palette.paint(Tone::Red, ".")),
    }
}

/// Appends the comment lines.
pub(super) fn write_comment(change: &ResourceChange, cause: Cause, palette: Palette, product: &str, out: &mut String) {
    let name = match &change.deposed {
        Some(key) => format!("{} (deposed object {key})", change.address),
        None => change.address.to_string(),
    };
    let is_forgotten = change.action == Action::Forget;
    // Terraform indents the comment of a forgotten object by only one space.
    let margin = if is_forgotten { " # " } else { "  # " };
    let subject = palette.paint(Tone::Bold, format!("{margin}{name}"));
    let replaced = palette.paint(Tone::BoldRed, "replaced");
    let destroyed = palette.paint(Tone::BoldRed, "destroyed");
    let _ = match (change.action, cause) {
        (Action::Create, _) => write!(out, "{subject} will be created"),
        (Action::Read, _) => write!(out, "{subject} will be read during apply"),
        (Action::Update, Cause::Planned) => write!(out, "{subject} will be updated in-place"),
        (Action::Update, Cause::Detected) => write!(out, "{subject} has changed"),
        (Action::Delete, Cause::Planned) => write!(out, "{subject} will be {destroyed}"),
        (Action::Delete, Cause::Detected) => write!(out, "{subject} has been deleted"),
        (Action::Forget, _) => {
            write!(out, "{subject} will no longer be managed by {product}, but will not be destroyed")
        }
        (Action::ForgetThenCreate, _) => {
            write!(out, "{subject} must be {replaced}, but the existing object will not be destroyed")
        }
        (Action::DeleteThenCreate | Action::CreateThenDelete, _) => match change.reason {
            Some(ActionReason::ReplaceBecauseTainted) => write!(out, "{subject} is tainted, so must be {replaced}"),
            Some(ActionReason::ReplaceByRequest) => write!(out, "{subject} will be {replaced}, as requested"),
            Some(ActionReason::ReplaceByTriggers) => {
                write!(out, "{subject} will be {replaced} due to changes in replace_triggered_by")
            }
            _ => write!(out, "{subject} must be {replaced}"),
        },
        (Action::NoOp, _) if change.importing.is_some() => write!(out, "{subject} will be imported"),
        (Action::NoOp, _) => match &change.previous_address {
            Some(previous) => {
                let previous = palette.paint(Tone::Bold, format!("  # {previous}"));
                write!(out, "{previous} has moved to {}", palette.paint(Tone::Bold, &name))
            }
            None => write!(out, "{subject} is unchanged"),
        },
    };
    out.push('\n');
    if let Some(reason) = reason(change) {
        let _ = writeln!(out, "{margin}{reason}");
    }
    // Terraform's wording, although the replacement need not have failed.
    if change.deposed.is_some() && matches!(change.action, Action::Delete | Action::Forget) {
        let _ = writeln!(out, "{margin}(left over from a partially-failed replacement of this instance)");
    }
    if let Some(importing) = &change.importing {
        write_import(change, importing, (margin, palette), out);
    }
    if change.action != Action::NoOp
        && is_moved(change)
        && let Some(previous) = &change.previous_address
    {
        let _ = writeln!(out, "  # (moved from {previous})");
    }
}

/// Appends the comment lines about an import.
fn write_import(change: &ResourceChange, importing: &Importing, (margin, palette): (&str, Palette), out: &mut String) {
    if importing.generated.is_some() && change.action == Action::NoOp {
        let _ = writeln!(out, "{margin}(config will be generated)");
    }
    if change.action != Action::NoOp {
        let _ = match importing.id() {
            Some(id) => writeln!(out, "{margin}(imported from {id:?})"),
            None => writeln!(out, "{margin}(will be imported first)"),
        };
    }
    // The import would be pointless: the object is destroyed right after it.
    if change.action.is_replace() && change.action != Action::ForgetThenCreate {
        let warning = palette.paint(Tone::Yellow, "Warning: this will destroy the imported resource");
        let _ = writeln!(out, "{margin}{warning}");
    }
}

/// Returns the reason of the action, in parentheses.
fn reason(change: &ResourceChange) -> Option<String> {
    let resource = &change.address.resource;
    let text = match (change.action, change.reason) {
        (Action::Forget, Some(ActionReason::ForgotBecauseLifecycleDestroyInState)) => {
            "destroy = false was set in the configuration".to_owned()
        }
        (Action::Forget | Action::ForgetThenCreate, _) => "destroy = false is set in the configuration".to_owned(),
        (_, Some(ActionReason::DeleteBecauseNoResourceConfig)) => {
            format!("because {}.{} is not in configuration", resource.type_name, resource.name)
        }
        (_, Some(ActionReason::DeleteBecauseNoModule)) => {
            format!("because {} is not in configuration", change.address.module)
        }
        (_, Some(ActionReason::DeleteBecauseNoMoveTarget)) => {
            let previous = change.previous_address.as_deref().unwrap_or(&change.address);
            format!("because {previous} was moved to {}, which is not in configuration", change.address)
        }
        (_, Some(ActionReason::DeleteBecauseWrongRepetition)) => match change.address.key {
            InstanceKey::None => "because resource uses count or for_each".to_owned(),
            InstanceKey::Int(_) => "because resource does not use count".to_owned(),
            InstanceKey::String(_) => "because resource does not use for_each".to_owned(),
        },
        (_, Some(ActionReason::DeleteBecauseEnabledFalse)) => "because enabled is false".to_owned(),
        (_, Some(ActionReason::DeleteBecauseCountIndex)) => {
            format!("because index {} is out of range for count", change.address.key)
        }
        (_, Some(ActionReason::DeleteBecauseEachKey)) => {
            format!("because key {} is not in for_each map", change.address.key)
        }
        (_, Some(ActionReason::ReadBecauseConfigUnknown)) => "config refers to values not yet known".to_owned(),
        (_, Some(ActionReason::ReadBecauseDependencyPending)) => {
            "depends on a resource or a module with changes pending".to_owned()
        }
        (_, Some(ActionReason::ReadBecauseCheckNested)) => "config will be reloaded to verify a check block".to_owned(),
        _ => return None,
    };
    Some(format!("({text})"))
}

/// Appends the header of the resource block, without its opening brace.
pub(super) fn write_header(change: &ResourceChange, palette: Palette, out: &mut String) {
    let resource = &change.address.resource;
    let keyword = if resource.mode == Mode::Managed { "resource" } else { "data" };
    let _ =
        write!(out, "{} {keyword} \"{}\" \"{}\" ", symbol(change.action, palette), resource.type_name, resource.name);
}

/// Whether the plan shows the change.
pub(super) fn is_shown(change: &ResourceChange) -> bool {
    match change.action {
        // An unchanged object is only shown if its address changes or if it is imported.
        Action::NoOp => is_moved(change) || change.importing.is_some(),
        Action::Delete => change.address.resource.mode == Mode::Managed,
        _ => change.address.resource.mode != Mode::Ephemeral,
    }
}

pub(super) fn is_moved(change: &ResourceChange) -> bool {
    change.previous_address.as_deref().is_some_and(|previous| *previous != change.address)
}
