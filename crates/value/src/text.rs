//! Unicode normalization form C.

use std::borrow::Cow;

use groma_diagnostics::graphemes;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_stream_safe_quick};
use unicode_segmentation::GraphemeCursor;

/// Normalizes to form C. Like Terraform's normalization library, which uses the Stream-Safe Text Format, it inserts a
/// combining grapheme joiner after thirty combining characters.
pub fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_stream_safe_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.stream_safe().nfc().collect())
    }
}

/// Returns the prefix of a string that no following text can change: the last grapheme cluster is dropped, since it
/// could be extended, unless it is a common delimiter.
pub fn safe_prefix(prefix: &str) -> String {
    let text = normalized(prefix);
    let Some(last) = text.chars().next_back() else { return String::new() };
    let mut cursor = GraphemeCursor::new(text.len(), text.len(), true);
    let near = cursor.prev_boundary(&text, 0).ok().flatten().unwrap_or(0);
    // A grapheme cluster of the current Unicode version may be several in the older version that Terraform uses.
    let boundary = text.len() - graphemes(&text[near..]).last().map_or(0, str::len);
    let alone = boundary + last.len_utf8() == text.len();
    if alone && ends_clusters(last) {
        return text.into_owned();
    }
    text[..boundary].to_owned()
}

/// Delimiters that Terraform assumes not to be extended by a combining character.
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
