//! Removal and restoration of marks at the provider boundary (LC-30).

use groma_value::{Marks, Path, PathMarks, Value};

use crate::Block;

/// An unmarked value together with the marks that were removed from it.
pub(super) struct Unmarked {
    pub(super) value: Value,
    pub(super) marks: PathMarks,
}

impl Unmarked {
    /// Removes the marks of `value`, without a copy if it has none.
    pub(super) fn of(value: Value) -> Self {
        // Most values have no marks, and then neither is copied nor walked.
        if value.has_marks() {
            let (value, marks) = value.unmark_deep();
            Self { value, marks }
        } else {
            Self { value, marks: PathMarks::default() }
        }
    }
}

/// Reapplies `marks` to `value`, and marks the attributes that the schema declares sensitive.
///
/// Marks of write-only attributes are dropped along with their values: the stored null needs no mark (LC-29).
pub(super) fn restore(block: &Block, value: Value, marks: &PathMarks) -> Value {
    if value.is_null() {
        return value;
    }
    let mut all: PathMarks = marks.iter().filter(|(path, _)| !block.is_write_only_at(path)).cloned().collect();
    if block.contains_sensitive() {
        all.extend(block.sensitive_paths(&value).into_iter().map(|path| (path, Marks::SENSITIVE)));
    }
    if all.is_empty() { value } else { value.mark_paths(&all) }
}

/// Returns the paths with sensitive marks, whose values messages must not show.
pub(super) fn secret_paths<'a>(marks: impl IntoIterator<Item = &'a PathMarks>) -> Vec<Path> {
    let sensitive = marks.into_iter().flatten().filter(|(_, marks)| marks.is_sensitive());
    sensitive.map(|(path, _)| path.clone()).collect()
}
