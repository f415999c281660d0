//! Texts to tokens.

use groma_hcl::TokenKind::{self, *};
use groma_hcl::{is_identifier, tokenize};

fn check(text: &str, expected: &[(TokenKind, &str)]) {
    let tokens = tokenize(text);
    let found: Vec<(TokenKind, &str)> = tokens
        .iter()
        .filter(|(kind, _)| !matches!(kind, Space | End))
        .map(|(kind, range)| (kind, &text[range]))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn numbers_never_end_with_a_dot() {
    check("1.5.6", &[(Number, "1.5.6")]);
    check("1...", &[(Number, "1"), (Ellipsis, "...")]);
    check("1.a", &[(Number, "1"), (Dot, "."), (Identifier, "a")]);
    check("1e", &[(Number, "1"), (Identifier, "e")]);
    check("1e+5", &[(Number, "1e+5")]);
    check("2.0e-3x", &[(Number, "2.0e-3"), (Identifier, "x")]);
}

#[test]
fn operators_are_as_long_as_possible() {
    check("<=>===!=", &[(LessEqual, "<="), (GreaterEqual, ">="), (EqualEqual, "=="), (NotEqual, "!=")]);
    check("=>&&||::", &[(FatArrow, "=>"), (And, "&&"), (Or, "||"), (DoubleColon, "::")]);
    check("<<", &[(Less, "<"), (Less, "<")]);
}

#[test]
fn comments_do_not_hold_their_line_end() {
    check(
        "# a\n//b\r\n/* c\n */d",
        &[
            (Comment, "# a"),
            (Newline, "\n"),
            (Comment, "//b"),
            (Newline, "\r\n"),
            (Comment, "/* c\n */"),
            (Identifier, "d"),
        ],
    );
    check("/* a", &[(Slash, "/"), (Star, "*"), (Identifier, "a")]);
}

#[test]
fn braces_inside_of_interpolations_are_counted() {
    check(
        "\"${{a}}\"",
        &[
            (OpenQuote, "\""),
            (OpenInterpolation, "${"),
            (OpenBrace, "{"),
            (Identifier, "a"),
            (CloseBrace, "}"),
            (CloseSequence, "}"),
            (CloseQuote, "\""),
        ],
    );
}

#[test]
fn a_broken_string_ends_at_its_line() {
    check("\"a\nb", &[(OpenQuote, "\""), (QuotedText, "a"), (BrokenQuote, ""), (Newline, "\n"), (Identifier, "b")]);
}

#[test]
fn a_string_that_goes_on_is_followed_to_its_quote() {
    check(
        "\"a\nb\"",
        &[(OpenQuote, "\""), (QuotedText, "a"), (QuotedNewline, "\n"), (QuotedText, "b"), (CloseQuote, "\"")],
    );
    // The next line is an argument of its own.
    check(
        "\"a\nb = \"",
        &[
            (OpenQuote, "\""),
            (QuotedText, "a"),
            (BrokenQuote, ""),
            (Newline, "\n"),
            (Identifier, "b"),
            (Equal, "="),
            (OpenQuote, "\""),
        ],
    );
}

#[test]
fn a_lone_carriage_return_does_not_end_a_string() {
    check(
        "\"a\rb\"",
        &[(OpenQuote, "\""), (QuotedText, "a"), (QuotedNewline, "\r"), (QuotedText, "b"), (CloseQuote, "\"")],
    );
}

#[test]
fn a_byte_order_mark_is_space() {
    check("\u{feff}a", &[(Identifier, "a")]);
    check("a\u{feff}", &[(Identifier, "a"), (Invalid, "\u{feff}")]);
}

#[test]
fn a_heredoc_begins_with_a_name_and_a_line_end() {
    check("<<A B\n", &[(Less, "<"), (Less, "<"), (Identifier, "A"), (Identifier, "B"), (Newline, "\n")]);
    check("<<-A\nx\n A\n", &[(OpenHeredoc, "<<-A\n"), (Text, "x\n"), (CloseHeredoc, " A"), (Newline, "\n")]);
}

#[test]
fn identifiers() {
    for good in ["a", "_", "a-b", "é", "名前", "a1"] {
        assert!(is_identifier(good), "{good}");
    }
    for bad in ["", "1a", "-a", "a b", "a.b", "a\u{feff}"] {
        assert!(!is_identifier(bad), "{bad}");
    }
}
