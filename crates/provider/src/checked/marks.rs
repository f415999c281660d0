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
pub(super) fn restore(block: &Block, value: Value, marks: &PathMarks) -> Value {
    if value.is_null() {
        return value;
    }
    let value = if marks.is_empty() { value } else { value.mark_paths(marks) };
    if !block.contains_sensitive() {
        return value;
    }
    let hidden: PathMarks = block.sensitive_paths(&value).into_iter().map(|path| (path, Marks::SENSITIVE)).collect();
    value.mark_paths(&hidden)
}

/// The paths of sensitive marks, for messages that must not show what is there.
pub(super) fn secret_paths<'a>(marks: impl IntoIterator<Item = &'a PathMarks>) -> Vec<Path> {
    let sensitive = marks.into_iter().flatten().filter(|(_, marks)| marks.is_sensitive());
    sensitive.map(|(path, _)| path.clone()).collect()
}
