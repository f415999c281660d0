//! One planned change of an object.

use groma_engine::{Action, ResourceChange};

use super::heading::{Cause, write_comment, write_header};
use crate::terminal::Palette;
use crate::views::difference::{Manner, Paths, Relevance, Writer, compare_objects};
use crate::views::secrecy::Secrecy;

/// Settings of the rendering of a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'l> {
    pub palette: Palette,
    /// The name of the program.
    pub product: &'l str,
    pub secrecy: Secrecy,
}

/// Appends the change; `relevant` limits it to some paths.
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

/// Appends what becomes of the object.
pub(super) fn write_object(change: &ResourceChange, relevant: Option<Paths<'_>>, look: Look<'_>, out: &mut String) {
    let replace = Paths::new(change.replace_paths.iter().map(|path| path.steps()));
    let relevance = relevant.map_or(Relevance::All, Relevance::Only);
    // What is forgotten stays as it is.
    let after = if change.action == Action::Forget { &change.before } else { &change.after };
    let (before, after) = (look.secrecy.of(&change.before), look.secrecy.of(after));
    let difference = compare_objects(&change.schema.block, &before, &after, replace, relevance);
    // Of what is taken over everything is shown: nobody has seen it here before.
    let manner = Manner { shows_unchanged: change.importing.is_some(), ..Manner::default() };
    Writer::new(look.palette, out).difference(&difference, 0, manner);
}
