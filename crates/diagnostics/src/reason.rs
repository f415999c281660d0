//! Reasons of I/O and JSON errors, worded for the middle of a sentence.
//!
//! The standard library's messages end in a number that means nothing to a user: `No such file or directory (os error
//! 2)`.

use std::io;

use serde_json::error::Category;

/// Returns the reason of a failed I/O operation: `no such file or directory`.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    // The number means nothing to users, and the text before it says the same.
    let words = match error.raw_os_error() {
        Some(number) => text.strip_suffix(&format!(" (os error {number})")).unwrap_or(&text),
        None => &text,
    };
    let words = words.trim_end_matches('.');
    let mut characters = words.chars();
    // Messages of the operating system are capitalized; other errors may begin with a proper name, so they stay as
    // they are.
    match (error.raw_os_error(), characters.next()) {
        (Some(_), Some(first)) => first.to_lowercase().chain(characters).collect(),
        _ => words.to_owned(),
    }
}

/// Returns the reason why a document is not the expected JSON. It never quotes the document, which may contain
/// secrets.
pub fn json_reason(error: &serde_json::Error) -> String {
    let position = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        Category::Io => "it cannot be read".to_owned(),
        Category::Syntax => format!("it is not valid JSON at {position}"),
        Category::Eof => format!("its JSON ends too early, at {position}"),
        // Values converted from a parsed document have no position.
        Category::Data if error.line() == 0 => "its JSON does not have the expected structure".to_owned(),
        Category::Data => format!("its JSON does not have the expected structure at {position}"),
    }
}

/// Returns `text` with its first character in upper case.
pub fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_reasons_do_not_quote_the_document() {
        let reason = |text: &str| json_reason(&serde_json::from_str::<Vec<u8>>(text).unwrap_err());
        assert_eq!(reason("[1,\n x]"), "it is not valid JSON at line 2, column 2");
        assert_eq!(reason("[1,"), "its JSON ends too early, at line 1, column 3");
        assert_eq!(reason("[\"s3cret\"]"), "its JSON does not have the expected structure at line 1, column 9");
    }

    #[test]
    fn io_reasons_have_no_error_numbers() {
        assert_eq!(io_reason(&io::Error::from_raw_os_error(2)), "no such file or directory");
        assert_eq!(io_reason(&io::Error::from_raw_os_error(28)), "no space left on device");
        assert_eq!(io_reason(&io::Error::other("The disk is on fire.")), "The disk is on fire");
        assert_eq!(io_reason(&io::ErrorKind::UnexpectedEof.into()), "unexpected end of file");
        assert_eq!(capitalized("no space left"), "No space left");
    }
}
