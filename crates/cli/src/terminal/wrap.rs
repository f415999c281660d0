//! Word wrapping.

/// Minimum number of columns for wrapping.
pub const NARROWEST: usize = 2;

/// Wraps the lines of `text` at one column less than `columns`. Lines that start with a space are not wrapped, because they are
/// examples or lists.
pub fn word_wrap(text: &str, columns: usize) -> String {
    // A narrower output has no room for a word and the margin.
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

/// Appends `line` to `out`, broken at white space so that only single words exceed `limit` characters.
pub fn wrap_line(line: &str, limit: usize, out: &mut String) {
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let word_at = rest.find(|c: char| !is_breaking(c)).unwrap_or(rest.len());
        let (space, after) = rest.split_at(word_at);
        let word_end = after.find(is_breaking).unwrap_or(after.len());
        let (word, next) = after.split_at(word_end);
        rest = next;
        // Characters, not display columns, as in Terraform.
        let space_width = space.chars().count();
        let width = word.chars().count();
        if word.is_empty() {
            if column + space_width <= limit {
                out.push_str(space);
            }
            return;
        }
        // A word longer than the limit only starts a new line if it is not the first of its line.
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
    // A no-break space keeps its words together.
    c.is_whitespace() && c != '\u{a0}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_before_word_that_exceeds_width() {
        assert_eq!(word_wrap("one two three", 8), "one two\nthree");
        assert_eq!(word_wrap("one two three", 9), "one two\nthree");
        assert_eq!(word_wrap("one two three", 14), "one two three");
    }

    #[test]
    fn keeps_indented_lines() {
        assert_eq!(word_wrap("a b c d e\n  a b c d e", 6), "a b c\nd e\n  a b c d e");
    }

    #[test]
    fn wraps_overlong_word_onto_its_own_line() {
        assert_eq!(word_wrap("a aaaaaaaaaaaa b", 8), "a\naaaaaaaaaaaa\nb");
    }
}
