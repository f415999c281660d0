//! JSON text as Go's encoder writes it: `<`, `>`, `&` and Unicode line separators are escaped. Readers compare the output
//! with Terraform's byte by byte.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// Returns `value` as JSON on one line.
pub fn compact(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail, and all map keys are strings.
    let _ = write_compact(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Writes `value` as JSON on one line, without a line break.
///
/// # Errors
///
/// Writing to `out` fails.
pub fn write_compact(value: &(impl Serialize + ?Sized), out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Escaping(CompactFormatter));
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// Returns `value` as JSON, indented by two spaces.
pub fn pretty(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Escaping(PrettyFormatter::new()));
    let _ = value.serialize(&mut serializer);
    String::from_utf8(out).unwrap_or_default()
}

/// The first byte of U+2028 and U+2029 in UTF-8, which other characters share.
const LINE_SEPARATOR_START: u8 = 0xe2;

struct Escaping<F>(F);

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // Nearly no text has such characters, and a search for bytes is much faster than one for characters. Without an early end, the
        // compiler compares many of them at once.
        let is_escaped = |byte: u8| matches!(byte, b'<' | b'>' | b'&' | LINE_SEPARATOR_START);
        if !fragment.bytes().fold(false, |found, byte| found | is_escaped(byte)) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (plain, from) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut characters = from.chars();
            if let Some(c) = characters.next() {
                write!(writer, "\\u{:04x}", u32::from(c))?;
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

/// A JSON value whose long lists are generated during serialization, one element at a time, so that memory use does not depend on
/// their length.
pub enum Streamed<'a> {
    /// A small value in memory.
    Json(Json),
    /// An object with its members in order.
    Object(Vec<(String, Streamed<'a>)>),
    /// A short list of large elements.
    Array(Vec<Streamed<'a>>),
    /// A long list of small elements.
    List(Box<dyn Elements + 'a>),
}

/// List elements, generated on each call.
pub trait Elements {
    /// Generates the elements in order.
    fn elements(&self) -> Box<dyn Iterator<Item = Json> + '_>;
}

struct Mapped<'a, T> {
    items: Vec<&'a T>,
    to_json: Box<dyn Fn(&T) -> Json + 'a>,
}

impl<T> Elements for Mapped<'_, T> {
    fn elements(&self) -> Box<dyn Iterator<Item = Json> + '_> {
        Box::new(self.items.iter().map(|item| (self.to_json)(item)))
    }
}

impl<'a> Streamed<'a> {
    /// Creates a list that converts each item with `to_json`.
    pub fn list<T>(items: Vec<&'a T>, to_json: impl Fn(&T) -> Json + 'a) -> Self {
        Self::List(Box::new(Mapped { items, to_json: Box::new(to_json) }))
    }
}

impl From<Json> for Streamed<'_> {
    fn from(json: Json) -> Self {
        Self::Json(json)
    }
}

impl Serialize for Streamed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(json) => json.serialize(serializer),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, member)| map.serialize_entry(name, member))?;
                map.end()
            }
            Self::Array(elements) => elements.serialize(serializer),
            Self::List(list) => serializer.collect_seq(list.elements()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::json::{compact, write_compact};
    use serde_json::json;
    use std::cell::Cell;

    #[test]
    fn escapes_angle_brackets() {
        assert_eq!(
            compact(&serde_json::json!({ "a": "<&>\u{2028}é\"" })),
            "{\"a\":\"\\u003c\\u0026\\u003e\\u2028é\\\"\"}"
        );
        assert_eq!(
            pretty(&serde_json::json!({ "a": [1], "b": {}, "c": [] })),
            "{\n  \"a\": [\n    1\n  ],\n  \"b\": {},\n  \"c\": []\n}"
        );
    }

    #[test]
    fn streamed_document_equals_document_in_memory() {
        let numbers = [1, 2];
        let list = Streamed::list(numbers.iter().collect(), |number| json!({ "number": number }));
        let document = Streamed::Object(vec![
            ("first".into(), json!("<").into()),
            ("list".into(), list),
            ("none".into(), Streamed::list(Vec::<&u8>::new(), |_| Json::Null)),
        ]);
        assert_eq!(compact(&document), r#"{"first":"\u003c","list":[{"number":1},{"number":2}],"none":[]}"#);
    }

    /// Counts the elements that were made, and fails when an element is made before the one ahead of it was written.
    struct Written<'c>(&'c Cell<usize>);

    impl Write for Written<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.set(self.0.get() + bytes.iter().filter(|byte| **byte == b'x').count());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn elements_are_generated_during_serialization() {
        let items = [(); 100];
        let (made, written) = (Cell::new(0), Cell::new(0));
        let list = Streamed::list(items.iter().collect(), |()| {
            assert_eq!(made.get(), written.get(), "an element was made before the one ahead of it was written");
            made.set(made.get() + 1);
            json!("x")
        });
        write_compact(&list, &mut Written(&written)).unwrap();
        assert_eq!((made.get(), written.get()), (100, 100));
    }
}
