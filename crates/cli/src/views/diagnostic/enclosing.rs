//! Finds the top-level block that encloses a position in a file.

use groma_diagnostics::{Label, Section, SourceFile};
use groma_hcl::{TokenKind, is_identifier, tokenize};

use super::json_path as json;

/// Returns the header of the top-level block that encloses the byte `at`, with its labels in quotes.
///
/// The first byte of a block is not enclosed by it, because it represents the block itself. The JSON syntax has no headers, so the
/// result is the path of the innermost object or array.
pub fn enclosing_block(file: &SourceFile, at: usize) -> Option<String> {
    if file.name().ends_with(".json") {
        return json::path(file, at);
    }
    // The outline is cached per file: a configuration may have thousands of diagnostics.
    let blocks = file.outline(top_blocks);
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
        .map(|label| if is_identifier(label) { format!(" \"{label}\"") } else { format!(" {label}") });
    words.first().copied().into_iter().map(str::to_owned).chain(labels).collect()
}

#[cfg(test)]
mod tests {
    use groma_diagnostics::Sources;

    use super::enclosing_block;

    #[test]
    fn finds_enclosing_block() {
        let sources = Sources::new();
        let text = "a = 1\nresource  x \"y  z\" {\n  b {\n    c = 1\n  }\n}\n\nlocals { # }\n  d = { e = 2 }\n";
        let file = sources.add("main.tf", text).unwrap();
        let around = |word: &str| enclosing_block(&file, text.find(word).unwrap());
        assert_eq!(around("a = 1"), None);
        assert_eq!(around("resource"), None);
        assert_eq!(around("x").as_deref(), Some("resource \"x\" \"y  z\""));
        assert_eq!(around("c = 1").as_deref(), Some("resource \"x\" \"y  z\""));
        assert_eq!(around("locals"), None);
        assert_eq!(around("e = 2").as_deref(), Some("locals"));
    }

    #[test]
    fn finds_innermost_json_path() {
        let sources = Sources::new();
        let text = "{\"a\": 1, \"b\\\"\": {\"x\": [{}, 2, [\"[{\", {\"y\": \"deep\"}]], \"z\": 3}, \"c\": [\"e\"], \"open\": [{\"q\": 4";
        let file = sources.add("main.tf.json", text).unwrap();
        let around = |word: &str| enclosing_block(&file, text.find(word).unwrap());
        assert_eq!(around("1,"), None);
        assert_eq!(around("3}").as_deref(), Some("b\""));
        assert_eq!(around("2,").as_deref(), Some("b\".x"));
        assert_eq!(around("\"deep").as_deref(), Some("b\".x[2][1]"));
        assert_eq!(around("\"e\"").as_deref(), Some("c"));
        assert_eq!(around("4").as_deref(), Some("open[0]"));
        assert_eq!(around("{\"y").as_deref(), Some("b\".x[2]"));
    }
}
