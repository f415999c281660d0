//! JSON text as Go programs write it: `<`, `>`, `&` and the line separators of Unicode are escaped, so that the text can
//! be embedded in a web page; readers compare such texts byte by byte.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// `value` on one line.
pub fn compact(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail, and the keys of all our maps are strings.
    let _ = write_compact(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Writes `value` on one line, without a line end.
///
/// # Errors
///
/// `out` cannot be written to.
pub fn write_compact(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Escaping(CompactFormatter));
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// `value` with two spaces an indent.
pub fn pretty(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Escaping(PrettyFormatter::new()));
    let _ = value.serialize(&mut serializer);
    String::from_utf8(out).unwrap_or_default()
}

struct Escaping<F>(F);

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angle_brackets_are_escaped() {
        assert_eq!(
            compact(&serde_json::json!({ "a": "<&>\u{2028}é\"" })),
            "{\"a\":\"\\u003c\\u0026\\u003e\\u2028é\\\"\"}"
        );
        assert_eq!(
            pretty(&serde_json::json!({ "a": [1], "b": {}, "c": [] })),
            "{\n  \"a\": [\n    1\n  ],\n  \"b\": {},\n  \"c\": []\n}"
        );
    }
}
