//! The unified diff of `-diff`.

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff, group_diff_ops};

/// Number of context lines around a change.
const CONTEXT_LINES: usize = 3;

/// Maximum number of lines in a section for which a minimal diff is computed, since its cost grows quadratically.
const MINIMAL_DIFF_LINES: usize = 1 << 11;

/// Returns the unified diff between two contents of the file `name`. Bytes that are not UTF-8 are preserved.
pub(super) fn unified(name: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    let lines = |content| <[u8]>::split_inclusive(content, |byte| *byte == b'\n').collect::<Vec<&[u8]>>();
    let (old, new) = (lines(old), lines(new));
    let mut text = format!("--- old/{name}\n+++ new/{name}\n").into_bytes();
    for hunk in group_diff_ops(operations(&old, &new), CONTEXT_LINES) {
        // Hunk headers need no file name, because each file has its own diff.
        text.extend_from_slice(format!("{}\n", UnifiedHunkHeader::new(&hunk)).as_bytes());
        for operation in hunk {
            let (before, after) = (&old[operation.old_range()], &new[operation.new_range()]);
            if operation.tag() == DiffTag::Equal {
                write_lines(b' ', before, &mut text);
            } else {
                write_lines(b'-', before, &mut text);
                write_lines(b'+', after, &mut text);
            }
        }
    }
    text
}

fn write_lines(sign: u8, lines: &[&[u8]], text: &mut Vec<u8>) {
    for line in lines {
        text.push(sign);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            // The marker that diff and patch use for a missing line end.
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// Returns the edits that turn `old` into `new`. Formatting usually keeps the number of lines, so unchanged empty lines split the
/// file into sections that can be compared independently.
fn operations(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    if old.len() != new.len() {
        // Lines were added or removed, so positions in both files no longer correspond.
        return capture_diff(Algorithm::Myers, old, 0..old.len(), new, 0..new.len());
    }
    let mut operations = Vec::new();
    let mut start = 0;
    while start < old.len() {
        // Only a line that is empty in both files at the same position is certain to correspond.
        let is_border = |at: &usize| old[*at] == new[*at] && old[*at].trim_ascii().is_empty();
        let end = (start + 1..old.len()).find(is_border).unwrap_or(old.len());
        if end - start <= MINIMAL_DIFF_LINES {
            append(&mut operations, capture_diff(Algorithm::Myers, old, start..end, new, start..end));
        } else {
            // A minimal diff of so many lines would be slow, and formatting changes most of them in place.
            append(&mut operations, (start..end).map(|at| line_by_line(at, old, new)));
        }
        start = end;
    }
    operations
}

fn line_by_line(at: usize, old: &[&[u8]], new: &[&[u8]]) -> DiffOp {
    match old[at] == new[at] {
        true => DiffOp::Equal { old_index: at, new_index: at, len: 1 },
        false => DiffOp::Replace { old_index: at, old_len: 1, new_index: at, new_len: 1 },
    }
}

/// Appends `more` to `operations`, and merges adjacent operations of one type.
fn append(operations: &mut Vec<DiffOp>, more: impl IntoIterator<Item = DiffOp>) {
    for operation in more {
        match (operations.last_mut(), operation) {
            (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: further, .. }) => *len += further,
            (
                Some(DiffOp::Replace { old_len, new_len, .. }),
                DiffOp::Replace { old_len: further_old, new_len: further_new, .. },
            ) => {
                *old_len += further_old;
                *new_len += further_new;
            }
            _ => operations.push(operation),
        }
    }
}

#[cfg(test)]
mod tests {
    /// The differences as text.
    fn unified(name: &str, old: &str, new: &str) -> String {
        String::from_utf8(super::unified(name, old.as_bytes(), new.as_bytes())).unwrap()
    }

    #[test]
    fn diff_contains_context_lines() {
        let old = "a=1\nb = 2\n\nc {\n    d {\n  e = 1\n    }\n  }\n\n\n\nf = 1\n\n\n\n\nlast=1";
        let new = "a = 1\nb = 2\n\nc {\n  d {\n    e = 1\n  }\n}\n\n\n\nf = 1\n\n\n\n\nlast = 1";
        insta::assert_snapshot!(unified("x.tf", old, new));
    }

    #[test]
    fn large_section_is_compared_line_by_line() {
        let line = |at: usize, sign: &str| format!("a{at}{sign}{at}\n");
        let old: String = (0..5000).map(|at| line(at, "=")).collect();
        let new: String = (0..5000).map(|at| line(at, if at == 3000 { "=" } else { " = " })).collect();
        let shown = unified("x.tf", &old, &new);
        // One line is the header; the unchanged line 3000 is not counted.
        assert_eq!(shown.lines().filter(|line| line.starts_with('-')).count(), 1 + 4999);
        assert!(shown.contains("\n+a2999 = 2999\n a3000=3000\n-a3001=3001\n"), "{shown}");
    }
}
