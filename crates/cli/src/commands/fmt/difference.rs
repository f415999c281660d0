//! The output of `-diff`: changed lines with context.

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff, group_diff_ops};

/// Number of unchanged lines shown around a change.
const AROUND: usize = 3;

/// Up to this many lines the least difference is looked for, which takes longer for each line the more there are.
const SEARCHED: usize = 1 << 11;

/// The differences between two contents of the file `name`. Bytes that are not UTF-8 stay as they are.
pub(super) fn unified(name: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    let lines = |content| <[u8]>::split_inclusive(content, |byte| *byte == b'\n').collect::<Vec<&[u8]>>();
    let (old, new) = (lines(old), lines(new));
    let mut text = format!("--- old/{name}\n+++ new/{name}\n").into_bytes();
    for hunk in group_diff_ops(operations(&old, &new), AROUND) {
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
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// Returns the line operations from `old` to `new`. Formatting changes lines but never adds or removes any, so that empty lines stay and
/// the lines between them can be compared separately.
fn operations(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    if old.len() != new.len() {
        return capture_diff(Algorithm::Myers, old, 0..old.len(), new, 0..new.len());
    }
    let mut operations = Vec::new();
    let mut start = 0;
    while start < old.len() {
        let is_border = |at: &usize| old[*at] == new[*at] && old[*at].trim_ascii().is_empty();
        let end = (start + 1..old.len()).find(is_border).unwrap_or(old.len());
        if end - start <= SEARCHED {
            append(&mut operations, capture_diff(Algorithm::Myers, old, start..end, new, start..end));
        } else {
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

/// Puts `more` behind `operations`; what is alike in a row becomes one.
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
    fn differences_are_shown_with_lines_around_them() {
        let old = "a=1\nb = 2\n\nc {\n    d {\n  e = 1\n    }\n  }\n\n\n\nf = 1\n\n\n\n\nlast=1";
        let new = "a = 1\nb = 2\n\nc {\n  d {\n    e = 1\n  }\n}\n\n\n\nf = 1\n\n\n\n\nlast = 1";
        insta::assert_snapshot!(unified("x.tf", old, new));
    }

    #[test]
    fn of_many_lines_in_a_row_each_is_compared_with_its_own() {
        let line = |at: usize, sign: &str| format!("a{at}{sign}{at}\n");
        let old: String = (0..5000).map(|at| line(at, "=")).collect();
        let new: String = (0..5000).map(|at| line(at, if at == 3000 { "=" } else { " = " })).collect();
        let shown = unified("x.tf", &old, &new);
        assert_eq!(shown.lines().filter(|line| line.starts_with('-')).count(), 1 + 4999);
        assert!(shown.contains("\n+a2999 = 2999\n a3000=3000\n-a3001=3001\n"), "{shown}");
    }
}
