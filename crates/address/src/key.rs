//! What tells the instances of one resource or module call apart.

use std::fmt::{self, Write};

use crate::Name;

/// The key of an instance: none without repetition, a number under `count`, a string under `for_each`.
///
/// Sorts in this order: no key, numbers, strings by bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstanceKey {
    /// The only instance of something that is not repeated.
    #[default]
    None,
    /// An instance of something with `count`.
    Int(u64),
    /// An instance of something with `for_each`.
    String(Name),
}

impl InstanceKey {
    /// Whether there is no key.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Appends what formatting gives.
    pub(crate) fn push_to(&self, text: &mut String) {
        match self {
            Self::None => {}
            Self::Int(index) => {
                text.push('[');
                push_number(*index, text);
                text.push(']');
            }
            // Writing into a string cannot fail.
            Self::String(_) => write!(text, "{self}").unwrap_or_default(),
        }
    }
}

impl From<u64> for InstanceKey {
    fn from(index: u64) -> Self {
        Self::Int(index)
    }
}

impl From<&str> for InstanceKey {
    fn from(key: &str) -> Self {
        Self::String(key.into())
    }
}

impl From<Name> for InstanceKey {
    fn from(key: Name) -> Self {
        Self::String(key)
    }
}

/// Nothing, `[0]` or `["key"]`, the string quoted as in the language.
impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Int(index) => write!(f, "[{index}]"),
            Self::String(key) => {
                f.write_char('[')?;
                write_quoted(key, f)?;
                f.write_char(']')
            }
        }
    }
}

fn push_number(number: u64, text: &mut String) {
    if number >= 10 {
        push_number(number / 10, text);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

/// Writes `text` as a quoted string of the language: escapes, and doubled template introducers.
pub(crate) fn write_quoted(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '$' | '%' if text.as_bytes().get(at + 1) == Some(&b'{') => {
                out.write_char(c)?;
                out.write_char(c)?;
            }
            c if is_printable(c) => out.write_char(c)?,
            c if u32::from(c) < 0x1_0000 => write!(out, "\\u{:04x}", u32::from(c))?,
            c => write!(out, "\\U{:08x}", u32::from(c))?,
        }
    }
    out.write_char('"')
}

/// Whether Go's `unicode.IsPrint` holds: letters, marks, numbers, punctuation, symbols and the plain space.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // The standard library's debug escapes follow the same categories; after another character it leaves marks alone.
    let mut buffer = [b'a', 0, 0, 0, 0];
    let length = 1 + c.encode_utf8(&mut buffer[1..]).len();
    std::str::from_utf8(&buffer[..length]).is_ok_and(|text| text.escape_debug().eq(text.chars()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_as_in_the_language() {
        let shown = |key: &str| InstanceKey::from(key).to_string();
        assert_eq!(InstanceKey::None.to_string(), "");
        assert_eq!(InstanceKey::Int(7).to_string(), "[7]");
        assert_eq!(shown(""), r#"[""]"#);
        assert_eq!(shown("a b"), r#"["a b"]"#);
        assert_eq!(shown("q\"b\\n\n\t\r"), r#"["q\"b\\n\n\t\r"]"#);
        assert_eq!(shown("${x} %{y} $ % $x $${"), r#"["$${x} %%{y} $ % $x $$${"]"#);
        assert_eq!(shown("ü\u{301}日🎉"), "[\"ü\u{301}日🎉\"]");
        assert_eq!(shown("\u{0}\u{a0}\u{200b}\u{e0001}"), r#"["\u0000\u00a0\u200b\U000e0001"]"#);
    }

    #[test]
    fn no_key_comes_before_numbers_and_numbers_before_strings() {
        let keys = [InstanceKey::None, 2.into(), 10.into(), "10".into(), "2".into(), "a".into()];
        assert!(keys.is_sorted());
    }
}
