//! What others wrote, for a terminal: control characters are made visible, so that a text cannot steer it.

/// The text, with the lines and tabs that it has.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') { c } else { visible(c) }).collect()
}

/// The text in one line.
pub fn printable_line(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(c: char) -> char {
    match c {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_seen_and_do_nothing() {
        assert_eq!(printable("a\u{1b}[31m\n\tb\u{7f}"), "a\u{241b}[31m\n\tb\u{2421}");
        assert_eq!(printable_line("a\r\nb\0"), "a\u{240d}\u{240a}b\u{2400}");
    }
}
