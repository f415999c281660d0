//! The planned change of one object.

use groma_engine::{Action, ResourceChange};

use super::heading::{Cause, write_comment, write_header};
use crate::terminal::Palette;
use crate::views::difference::{Paths, Relevance, RenderOptions, Writer, compare_objects};
use crate::views::redaction::Redaction;

/// Options for rendering a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'l> {
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
    look: Look<'_>,
    out: &mut String,
) {
    write_comment(change, cause, look.palette, look.product, out);
    write_header(change, look.palette, out);
    write_object(change, relevant, look, out);
}

/// Appends the difference of the object.
pub(super) fn write_object(change: &ResourceChange, relevant: Option<Paths<'_>>, look: Look<'_>, out: &mut String) {
    let replace = Paths::new(change.replace_paths.iter().map(|path| path.steps()));
    let relevance = relevant.map_or(Relevance::All, Relevance::Only);
    // A forgotten object is not changed.
    let after = if change.action == Action::Forget { &change.before } else { &change.after };
    let (before, after) = (look.redaction.of(&change.before), look.redaction.of(after));
    let difference = compare_objects(&change.schema.block, &before, &after, replace, relevance);
    // An imported object is shown completely, because it is new to the user.
    let options = RenderOptions { shows_unchanged: change.importing.is_some(), ..RenderOptions::default() };
    Writer::new(look.palette, out).difference(&difference, 0, options);
}
