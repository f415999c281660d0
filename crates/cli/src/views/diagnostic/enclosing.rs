//! The block around a place in a file.

use groma_diagnostics::SourceFile;
use groma_hcl::{TokenKind, tokenize};

/// The header of the top-level block that holds the byte `at`, as its author wrote it, white space evened out.
///
/// A place at the very start of a block is the block itself, not something in it. Files in the JSON syntax have no
/// headers.
pub fn enclosing_block(file: &SourceFile, at: usize) -> Option<String> {
    if file.name().ends_with(".json") {
        return None;
    }
    let text: &str = file.text();
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
                    if let Some((start, open)) = block.take()
                        && start < at
                        && at <= range.end
                    {
                        return Some(evened(text.get(start..open)?));
                    }
                    header = None;
                }
            }
            TokenKind::Newline if depth == 0 => header = None,
            // An argument at the top of a file is no block.
            TokenKind::Equal if depth == 0 => header = None,
            TokenKind::Space | TokenKind::Comment | TokenKind::Newline | TokenKind::End => {}
            TokenKind::Identifier if depth == 0 && header.is_none() && block.is_none() => {
                if range.start > at {
                    return None;
                }
                header = Some(range.start);
            }
            _ => {}
        }
    }
    // A block that nothing closes goes on to the end of the file.
    let (start, open) = block.filter(|(start, _)| *start < at)?;
    Some(evened(text.get(start..open)?))
}

fn evened(header: &str) -> String {
    header.split_whitespace().collect::<Vec<_>>().join(" ")
}
