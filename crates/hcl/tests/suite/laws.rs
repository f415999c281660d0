//! Laws that hold for any text.

use groma_hcl::{
    TokenKind, format, parse_expression, parse_file, parse_json_file, parse_template, parse_traversal, tokenize,
};
use proptest::prelude::*;

use crate::formatting;
use crate::mistakes;
use crate::show::source;
use crate::ugly::Ugly;

/// Pieces of the language in any order: far more interesting than random characters.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b.c",
        "for",
        "in",
        "if",
        "x",
        "true",
        "null",
        "1",
        "2.5",
        "1e3",
        "\"",
        "\"s\"",
        "${",
        "%{",
        "~}",
        "}",
        "{",
        "[",
        "]",
        "(",
        ")",
        ",",
        ".",
        "...",
        "=",
        "==",
        "=>",
        "!=",
        "<",
        "<=",
        "<<E\n",
        "<<-E\n",
        "E\n",
        "\n",
        "\r\n",
        " ",
        "  ",
        "\t",
        "# c\n",
        "// d",
        "/*",
        "*/",
        "+",
        "-",
        "*",
        "/",
        "%",
        "&&",
        "||",
        "!",
        "?",
        ":",
        "::",
        "[*]",
        ".*",
        "\\",
        "\\n",
        "\\u00e9",
        "$${",
        "$",
        "'",
        "`",
        ";",
        "&",
        "é",
        "“",
        "\u{feff}",
        "%{ if a }",
        "%{ endif }",
        "%{ for x in y }",
        "%{ endfor }",
        "resource \"a\" \"b\" {\n",
        "a = 1\n",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Good and bad texts of this suite with a few bytes changed.
fn mutated() -> impl Strategy<Value = String> {
    let mut texts: Vec<String> = formatting::texts().into_iter().map(str::to_owned).collect();
    texts.extend(mistakes::cases().into_iter().map(|case| case.text));
    let edits =
        prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, "[{}()\\[\\]\"=.,:?\\n$%~<a1 #*-]{0,3}"), 0..4);
    (prop::sample::select(texts), edits).prop_map(|(mut text, edits)| {
        for (offset, removed, inserted) in edits {
            let start = text.floor_char_boundary(offset.index(text.len() + 1));
            let end = text.floor_char_boundary((start + removed).min(text.len())).max(start);
            text.replace_range(start..end, &inserted);
        }
        text
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![pieces(), mutated(), (1_u64..).prop_map(|seed| Ugly(seed).file()), any::<String>()]
}

/// A text in the canonical layout, and the same with other spaces between its tokens.
fn scrambled() -> impl Strategy<Value = (String, String)> {
    let texts: Vec<String> = formatting::texts().into_iter().map(format).collect();
    let widths = prop::collection::vec(0usize..4, 1..50);
    (prop::sample::select(texts), widths).prop_map(|(text, widths)| {
        let mut scrambled = String::new();
        let mut widths = widths.iter().cycle();
        let mut after_comment = false;
        for (kind, range) in tokenize(&text).iter() {
            match (kind, widths.next()) {
                (TokenKind::Space, Some(width)) => scrambled.push_str(&" ".repeat((*width).max(1))),
                (TokenKind::Newline, Some(width)) if !after_comment => {
                    scrambled.push_str(&" ".repeat(*width));
                    scrambled.push_str(&text[range]);
                }
                _ => scrambled.push_str(&text[range]),
            }
            // Spaces after a comment or the end of a heredoc would belong to it.
            after_comment = matches!(kind, TokenKind::Comment | TokenKind::CloseHeredoc);
        }
        (text, scrambled)
    })
}

/// Everything but white space, in order.
fn solid(text: &str) -> Vec<(TokenKind, String)> {
    let tokens = tokenize(text);
    let mut solid: Vec<(TokenKind, String)> = Vec::new();
    for (kind, range) in tokens.iter().filter(|(kind, _)| !matches!(kind, TokenKind::Space | TokenKind::End)) {
        solid.push((kind, text[range].to_owned()));
    }
    solid
}

/// What no layout touches, be it in an outdated spelling or not: comments, the lines of heredocs, numbers.
fn untouched(text: &str) -> Vec<(TokenKind, String)> {
    let mut kept = solid(text);
    kept.retain(|(kind, _)| matches!(kind, TokenKind::Comment | TokenKind::Text | TokenKind::Number));
    kept
}

/// Whether a comment may lie between the labels of a block, where it goes if one of them has no quotes.
fn has_comments_between_labels(text: &str) -> bool {
    use TokenKind::{CloseQuote, Comment, Identifier, OpenBrace, OpenQuote};
    let solid = solid(text);
    let after = |offset: usize| solid[offset..].iter().find(|(kind, _)| *kind != Comment).map(|(kind, _)| *kind);
    let before = |offset: usize| solid[..offset].iter().rev().find(|(kind, _)| *kind != Comment).map(|(kind, _)| *kind);
    solid.iter().enumerate().filter(|(_, (kind, _))| *kind == Comment).any(|(offset, _)| {
        matches!(before(offset), Some(Identifier | CloseQuote))
            && matches!(after(offset), Some(Identifier | OpenQuote | OpenBrace))
    })
}

/// `PROPTEST_CASES` asks for more, for a long search.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|number| number.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn tokens_put_together_are_the_text(text in any_text()) {
        let tokens = tokenize(&text);
        let mut at = 0;
        for (kind, range) in tokens.iter() {
            prop_assert_eq!(range.start, at);
            prop_assert!(text.get(range.clone()).is_some(), "tokens end between characters");
            prop_assert!(!range.is_empty() || matches!(kind, TokenKind::End | TokenKind::BrokenQuote));
            let written = text[range.clone()].trim_start_matches(if at == 0 { '\u{feff}' } else { ' ' });
            prop_assert!(kind != TokenKind::Space || written.trim_matches([' ', '\t']).is_empty());
            at = range.end;
        }
        prop_assert_eq!(at, text.len());
    }

    #[test]
    fn parsing_never_fails(text in any_text()) {
        let file = source(&text);
        parse_file(&file);
        parse_expression(&file);
        parse_template(&file);
        parse_traversal(&file);
        parse_json_file(&file);
    }

    #[test]
    fn unknown_operators_are_always_errors(
        (text, offset) in (prop::sample::select(formatting::texts()), any::<prop::sample::Index>()),
        unknown in prop::sample::select(vec!["&", "|", "^", "~", ";", "`", "'", "\u{201c}"]),
    ) {
        let offset = text.floor_char_boundary(offset.index(text.len() + 1));
        let text = format!("{} {unknown} {}", &text[..offset], &text[offset..]);
        let is_token = tokenize(&text).iter().any(|(kind, _)| kind >= TokenKind::Ampersand);
        prop_assert!(!is_token || parse_file(&source(&text)).1.has_errors());
    }

    #[test]
    fn diagnostics_have_spans_in_source_order(text in any_text()) {
        let file = source(&text);
        let (_, diagnostics) = parse_file(&file);
        let mut last = file.base();
        for diagnostic in &diagnostics {
            let subject = diagnostic.subject.unwrap();
            prop_assert!(subject.start() >= last && subject.end() <= file.base() + text.len() as u32 + 1, "{:?}", diagnostic);
            last = subject.start();
        }
    }

    #[test]
    fn formatting_is_idempotent(text in any_text()) {
        let once = format(&text);
        prop_assert_eq!(&format(&once), &once);
        let mistakes = |text: &str| parse_file(&source(text)).1.has_errors();
        prop_assert_eq!(mistakes(&once), mistakes(&text));
    }

    #[test]
    fn formatting_keeps_comments_strings_and_numbers(text in any_text()) {
        if !has_comments_between_labels(&text) {
            prop_assert_eq!(untouched(&format(&text)), untouched(&text));
        }
    }

    #[test]
    fn formatting_changes_only_white_space((laid_out, scrambled) in scrambled()) {
        let again = format(&scrambled);
        prop_assert_eq!(solid(&again), solid(&scrambled));
        prop_assert_eq!(solid(&again), solid(&laid_out));
        prop_assert_eq!(format(&again), again);
    }
}
