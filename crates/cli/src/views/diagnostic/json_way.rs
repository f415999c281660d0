//! The way to a place in a file of the JSON syntax.

use groma_diagnostics::{Label, Section, SourceFile};

/// The keys and positions of the objects and arrays around the byte `at`: `resource.aws_vpc.main.tags[0]`. None at the top of the file.
/// A place at the very start of one is not in it.
pub(super) fn way(file: &SourceFile, at: usize) -> Option<String> {
    let sections = file.outline(sections);
    let mut next = sections.partition_point(|section| section.start < at).checked_sub(1);
    while let Some(section) = next.and_then(|number| sections.get(number))
        && section.end <= at
    {
        next = section.around;
    }
    let mut steps = Vec::new();
    while let Some(section) = next.and_then(|number| sections.get(number)) {
        match section.label {
            Label::Key(start) => steps.push(format!(".{}", key(file.text(), start))),
            Label::Element(position) => steps.push(format!("[{position}]")),
            Label::Whole | Label::Header(_) => {}
        }
        next = section.around;
    }
    let way: String = steps.into_iter().rev().collect();
    (!way.is_empty()).then(|| way.strip_prefix('.').unwrap_or(&way).to_owned())
}

/// The text of the key whose quote is at `start`.
fn key(text: &str, start: usize) -> String {
    let end = after_string(text.as_bytes(), start);
    let written = text.get(start..end).unwrap_or_default();
    serde_json::from_str(written).unwrap_or_else(|_| written.trim_matches('"').to_owned())
}

/// An object or array that is not closed yet.
struct Open {
    number: usize,
    kind: u8,
    /// Number of elements before this one.
    position: usize,
    /// The last string: a key, if a value of its own comes next.
    key: Option<usize>,
}

/// All objects and arrays of a text, which may be wrong: what is not closed goes on to its end.
fn sections(text: &str) -> Vec<Section> {
    let bytes = text.as_bytes();
    let mut sections: Vec<Section> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                if let Some(inner) = open.last_mut() {
                    inner.key = Some(at);
                }
                at = after_string(bytes, at);
                continue;
            }
            b'{' | b'[' => {
                let label = open.last().map_or(Label::Whole, |outer| match (outer.kind, outer.key) {
                    (b'{', Some(key)) => Label::Key(key),
                    _ => Label::Element(outer.position),
                });
                let around = open.last().map(|outer| outer.number);
                open.push(Open { number: sections.len(), kind: *byte, position: 0, key: None });
                sections.push(Section { start: at, end: bytes.len(), label, around });
            }
            b'}' | b']' => {
                if let Some(inner) = open.pop()
                    && let Some(section) = sections.get_mut(inner.number)
                {
                    section.end = at + 1;
                }
            }
            b',' => {
                if let Some(inner) = open.last_mut() {
                    inner.position += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    sections
}

/// The byte after the string that begins at `start`.
fn after_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            // No string goes on over a line.
            b'\n' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}
