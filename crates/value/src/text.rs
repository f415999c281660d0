//! Text in normal form C.

use std::borrow::Cow;

use groma_diagnostics::graphemes;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_stream_safe_quick};
use unicode_segmentation::GraphemeCursor;

/// The text in normal form C. A joiner parts more than thirty accents on one letter, as in the streams of Unicode and in Terraform.
pub fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_stream_safe_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.stream_safe().nfc().collect())
    }
}

/// The start of a text that stays as it is whatever follows it: the last grapheme cluster is dropped, as it might go
/// on, unless it is one of the usual delimiters.
pub fn safe_prefix(prefix: &str) -> String {
    let text = normalized(prefix);
    let Some(last) = text.chars().next_back() else { return String::new() };
    let mut cursor = GraphemeCursor::new(text.len(), text.len(), true);
    let near = cursor.prev_boundary(&text, 0).ok().flatten().unwrap_or(0);
    // Clusters of today may be several of Terraform's.
    let boundary = text.len() - graphemes(&text[near..]).last().map_or(0, str::len);
    let alone = boundary + last.len_utf8() == text.len();
    if alone && ends_clusters(last) {
        return text.into_owned();
    }
    text[..boundary].to_owned()
}

/// Characters that stand between words in text for machines and people, and take no accents.
fn ends_clusters(character: char) -> bool {
    matches!(
        character,
        '-' | '_'
            | ':'
            | ';'
            | '/'
            | '\\'
            | ','
            | '.'
            | '('
            | ')'
            | '{'
            | '}'
            | '['
            | ']'
            | '|'
            | '?'
            | '!'
            | '~'
            | ' '
            | '\t'
            | '@'
            | '#'
            | '$'
            | '%'
            | '^'
            | '&'
            | '*'
            | '+'
            | '"'
            | '\''
    )
}
