//! Marks around the provider boundary (LC-30).

use groma_value::{Marks, Path, PathMarks, Value};

use crate::Block;

/// A value without marks, and the marks it had.
pub(super) struct Unmarked {
    pub(super) value: Value,
    pub(super) marks: PathMarks,
}

impl Unmarked {
    /// Takes the marks off `value`; free when there are none.
    pub(super) fn of(value: Value) -> Self {
        if value.has_marks() {
            let (value, marks) = value.unmark_deep();
            Self { value, marks }
        } else {
            Self { value, marks: PathMarks::default() }
        }
    }
}

/// `value` with `marks` on the paths they were on, and the sensitive mark wherever the schema hides something.
///
/// Marks of write-only attributes stay behind with their values: what came back is null, and may be kept (LC-29).
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

/// The paths of sensitive marks, for messages that must not show what is there.
pub(super) fn secret_paths<'a>(marks: impl IntoIterator<Item = &'a PathMarks>) -> Vec<Path> {
    let sensitive = marks.into_iter().flatten().filter(|(_, marks)| marks.is_sensitive());
    sensitive.map(|(path, _)| path.clone()).collect()
}
