//! Instance keys of resources and module calls.

use std::fmt::{self, Write};

use crate::write_literal;

use crate::Name;

/// The key of an instance: none without `count` and `for_each`, an integer under `count`, a string under `for_each`.
///
/// Sorts no key first, then integers, then strings by bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstanceKey {
    /// The only instance of an object without `count` and `for_each`.
    #[default]
    None,
    /// An index of `count`.
    Int(u64),
    /// A key of `for_each`.
    String(Name),
}

impl InstanceKey {
    /// Whether the instance has no key.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Appends the displayed form without going through `fmt`, which is slow for the many addresses of a large state.
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

/// Formats the key as nothing, `[0]` or `["key"]`, with the string quoted as in the language.
impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Int(index) => write!(f, "[{index}]"),
            Self::String(key) => {
                f.write_char('[')?;
                write_literal(key, f)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_display_as_language_literals() {
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
