//! Finds what encloses a position in a file: the top-level block, or in JSON syntax the path.

use groma_diagnostics::{Label, Section, SourceFile};
use groma_hcl::{TokenKind, is_identifier, tokenize};

/// Returns the header of the top-level block that encloses the byte `at`, with its labels in quotes.
///
/// The first byte of a block is not enclosed by it, because it represents the block itself. The JSON syntax has no headers, so the
/// result is the path of the innermost object or array.
pub fn enclosing_block(file: &SourceFile, at: usize) -> Option<String> {
    // The caller only knows positions, so the name of the file tells the syntax.
    if file.name().ends_with(".json") {
        return path(file, at);
    }
    // The outline is cached per file: a configuration may have thousands of diagnostics.
    let blocks = file.outline(top_blocks);
    // Blocks are in source order, so the last one that starts before the position is the only candidate.
    let before = blocks.partition_point(|block| block.start < at);
    let block = blocks.get(before.checked_sub(1)?).filter(|block| at <= block.end)?;
    let Label::Header(open) = block.label else { return None };
    Some(header(file.text().get(block.start..open)?))
}

fn top_blocks(text: &str) -> Vec<Section> {
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    let mut header: Option<usize> = None;
    let mut block: Option<(usize, usize)> = None;
    for (kind, range) in tokenize(text).iter() {
        match kind {
            TokenKind::OpenBrace => {
                // Only a brace after a header begins a block at the top level.
                if depth == 0 {
                    block = header.map(|start| (start, range.start));
                }
                depth += 1;
            }
            TokenKind::CloseBrace => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    blocks.extend(block.take().map(|(start, open)| top_block(start, open, range.end)));
                    header = None;
                }
            }
            // A header must be on one line, so a line without a brace is no header.
            TokenKind::Newline if depth == 0 => header = None,
            // An argument at the top level of a file, as in variable files, is not a block.
            TokenKind::Equal if depth == 0 => header = None,
            TokenKind::Identifier if depth == 0 && header.is_none() && block.is_none() => header = Some(range.start),
            _ => {}
        }
    }
    // An unclosed block extends to the end of the file.
    blocks.extend(block.map(|(start, open)| top_block(start, open, text.len())));
    blocks
}

fn top_block(start: usize, open: usize, end: usize) -> Section {
    Section { start, end, label: Label::Header(open), parent: None }
}

/// Normalizes a block header: one space between words, and quoted labels.
fn header(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut quotes = 0_usize;
    for (kind, range) in tokenize(text).iter() {
        // A quoted label is one word, whatever tokens it contains.
        if quotes == 0 {
            start = range.start;
        }
        match kind {
            TokenKind::OpenQuote => quotes += 1,
            TokenKind::CloseQuote => quotes = quotes.saturating_sub(1),
            TokenKind::Space | TokenKind::Comment | TokenKind::Newline | TokenKind::End => continue,
            _ => {}
        }
        if quotes == 0 {
            words.extend(text.get(start..range.end));
        }
    }
    let labels = words
        .iter()
        .skip(1)
        // Labels may be written without quotes; they are shown as Terraform writes them.
        .map(|label| if is_identifier(label) { format!(" \"{label}\"") } else { format!(" {label}") });
    words.first().copied().into_iter().map(str::to_owned).chain(labels).collect()
}

/// Returns the path of the innermost object or array that encloses the byte `at`, such as `resource.aws_vpc.main.tags[0]`; `None` at
/// the top level. The first byte of an object or array is not enclosed by it.
fn path(file: &SourceFile, at: usize) -> Option<String> {
    let sections = file.outline(sections);
    // The innermost section is the last one that starts before the position, or one of its parents.
    let mut next = sections.partition_point(|section| section.start < at).checked_sub(1);
    while let Some(section) = next.and_then(|number| sections.get(number))
        && section.end <= at
    {
        next = section.parent;
    }
    let mut steps = Vec::new();
    while let Some(section) = next.and_then(|number| sections.get(number)) {
        match section.label {
            // The key is decoded only now, because most sections are never shown.
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
    // An invalid key is shown as it is written.
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
                    // A value in an object is named by its key, every other by its position.
                    (b'{', Some(key)) => Label::Key(key),
                    _ => Label::Element(outer.position),
                });
                let parent = open.last().map(|outer| outer.number);
                open.push(Open { number: sections.len(), kind: *byte, position: 0, key: None });
                // The end is corrected when the section is closed.
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

#[cfg(test)]
mod tests {
    use super::enclosing_block;
    use groma_diagnostics::Sources;

    #[test]
    fn finds_enclosing_block() {
        let sources = Sources::new();
        let text = "a = 1\nresource  x \"y  z\" {\n  b {\n    c = 1\n  }\n}\n\nlocals { # }\n  d = { e = 2 }\n";
        let file = sources.add("main.tf", text).unwrap();
        let around = |word: &str| enclosing_block(&file, text.find(word).unwrap());
        assert_eq!(around("a = 1"), None);
        // The first byte of a block represents the block itself.
        assert_eq!(around("resource"), None);
        assert_eq!(around("x").as_deref(), Some("resource \"x\" \"y  z\""));
        // Nested blocks do not count: the context is always the top-level block.
        assert_eq!(around("c = 1").as_deref(), Some("resource \"x\" \"y  z\""));
        assert_eq!(around("locals"), None);
        // The brace in the comment does not close the block.
        assert_eq!(around("e = 2").as_deref(), Some("locals"));
    }

    #[test]
    fn finds_innermost_json_path() {
        let sources = Sources::new();
        let text = "{\"a\": 1, \"b\\\"\": {\"x\": [{}, 2, [\"[{\", {\"y\": \"deep\"}]], \"z\": 3}, \"c\": [\"e\"], \"open\": [{\"q\": 4";
        let file = sources.add("main.tf.json", text).unwrap();
        let around = |word: &str| enclosing_block(&file, text.find(word).unwrap());
        // The top-level object has no name.
        assert_eq!(around("1,"), None);
        // The key contains an escaped quote.
        assert_eq!(around("3}").as_deref(), Some("b\""));
        assert_eq!(around("2,").as_deref(), Some("b\".x"));
        // The string "[{" opens nothing.
        assert_eq!(around("\"deep").as_deref(), Some("b\".x[2][1]"));
        assert_eq!(around("\"e\"").as_deref(), Some("c"));
        // Unclosed objects and arrays extend to the end of the text.
        assert_eq!(around("4").as_deref(), Some("open[0]"));
        assert_eq!(around("{\"y").as_deref(), Some("b\".x[2]"));
    }
}
