//! Prose in lines that fit the terminal.

/// Columns below which nothing is wrapped.
pub const NARROWEST: usize = 2;

/// Wraps the lines of `text` for a terminal of `columns`, one column to spare; lines that begin with a space are kept as
/// they are, because they are examples or lists.
pub fn word_wrap(text: &str, columns: usize) -> String {
    if columns < NARROWEST {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if line.starts_with(' ') {
            out.push_str(line);
        } else {
            wrap_line(line, columns - 1, &mut out);
        }
    }
    out
}

/// Appends `line` to `out`, broken at white space so that no line is longer than `limit` characters unless a word is.
pub fn wrap_line(line: &str, limit: usize, out: &mut String) {
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let word_at = rest.find(|c: char| !is_breaking(c)).unwrap_or(rest.len());
        let (space, after) = rest.split_at(word_at);
        let word_end = after.find(is_breaking).unwrap_or(after.len());
        let (word, next) = after.split_at(word_end);
        rest = next;
        let space_width = space.chars().count();
        let width = word.chars().count();
        if word.is_empty() {
            if column + space_width <= limit {
                out.push_str(space);
            }
            return;
        }
        // A word longer than a line only starts a new line if the current one is not empty.
        if column + space_width + width.min(limit.saturating_sub(1)) > limit {
            out.push('\n');
            column = width;
        } else {
            out.push_str(space);
            column += space_width + width;
        }
        out.push_str(word);
    }
}

fn is_breaking(c: char) -> bool {
    c.is_whitespace() && c != '\u{a0}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_before_the_word_that_would_cross_the_edge() {
        assert_eq!(word_wrap("one two three", 8), "one two\nthree");
        assert_eq!(word_wrap("one two three", 9), "one two\nthree");
        assert_eq!(word_wrap("one two three", 14), "one two three");
    }

    #[test]
    fn lines_with_an_indent_are_kept() {
        assert_eq!(word_wrap("a b c d e\n  a b c d e", 6), "a b c\nd e\n  a b c d e");
    }

    #[test]
    fn a_word_longer_than_the_line_stands_alone() {
        assert_eq!(word_wrap("a aaaaaaaaaaaa b", 8), "a\naaaaaaaaaaaa\nb");
    }
}
