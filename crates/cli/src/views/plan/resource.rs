//! One planned change of an object.

use groma_engine::{Action, ResourceChange};

use super::PlanText;
use super::heading::{Cause, write_comment, write_header};
use crate::views::difference::{Manner, Paths, Relevance, Writer, compare_objects};

/// Appends the change; `relevant` limits it to some paths.
pub(super) fn write(
    change: &ResourceChange,
    cause: Cause,
    relevant: Option<Paths<'_>>,
    view: &PlanText,
    out: &mut String,
) {
    write_comment(change, cause, view.palette, &view.wording.product, out);
    write_header(change, view.palette, out);
    let replace = Paths::new(change.replace_paths.iter().map(|path| path.steps()));
    let relevance = relevant.map_or(Relevance::All, Relevance::Only);
    // What is forgotten stays as it is.
    let after = if change.action == Action::Forget { &change.before } else { &change.after };
    let difference = compare_objects(&change.schema.block, &change.before, after, replace, relevance);
    Writer::new(view.palette, out).difference(&difference, 0, Manner::default());
}
