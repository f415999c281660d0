//! Finds the path of a position in a file in JSON syntax.

use groma_diagnostics::{Label, Section, SourceFile};

/// Returns the path of the innermost object or array that encloses the byte `at`, such as `resource.aws_vpc.main.tags[0]`; `None` at
/// the top level. The first byte of an object or array is not enclosed by it.
pub(super) fn path(file: &SourceFile, at: usize) -> Option<String> {
    let sections = file.outline(sections);
    let mut next = sections.partition_point(|section| section.start < at).checked_sub(1);
    while let Some(section) = next.and_then(|number| sections.get(number))
        && section.end <= at
    {
        next = section.parent;
    }
    let mut steps = Vec::new();
    while let Some(section) = next.and_then(|number| sections.get(number)) {
        match section.label {
            Label::Key(start) => steps.push(format!(".{}", key(file.text(), start))),
            Label::Element(position) => steps.push(format!("[{position}]")),
            Label::Whole | Label::Header(_) => {}
        }
        next = section.parent;
    }
    let path: String = steps.into_iter().rev().collect();
    (!path.is_empty()).then(|| path.strip_prefix('.').unwrap_or(&path).to_owned())
}

/// Returns the text of the key whose opening quote is at `start`.
fn key(text: &str, start: usize) -> String {
    let end = after_string(text.as_bytes(), start);
    let written = text.get(start..end).unwrap_or_default();
    serde_json::from_str(written).unwrap_or_else(|_| written.trim_matches('"').to_owned())
}

/// An unclosed object or array.
struct Open {
    number: usize,
    kind: u8,
    /// Number of preceding elements.
    position: usize,
    /// Start of the last string, which is a key if a value follows.
    key: Option<usize>,
}

/// Returns all objects and arrays of a text. The text may be invalid; unclosed ones extend to its end.
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
                let parent = open.last().map(|outer| outer.number);
                open.push(Open { number: sections.len(), kind: *byte, position: 0, key: None });
                sections.push(Section { start: at, end: bytes.len(), label, parent });
            }
            b'}' | b']' => {
                if let Some(inner) = open.pop()
                    && let Some(section) = sections.get_mut(inner.number)
                {
                    section.end = at + 1;
                }
            }
            // Positions are counted by commas, so invalid text yields plausible positions.
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

/// Returns the position after the string that starts at `start`.
fn after_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            // JSON strings cannot span lines, so an unclosed string ends here.
            b'\n' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}
