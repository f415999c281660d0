//! The text of a document, for the library's parser.

use groma_value::convert::ConversionError;
use saphyr_parser::input::SkipTabs;
use saphyr_parser::{Input, StrInput};
use thiserror::Error;

use super::read::{DEEPEST, MOST_NODES};

/// A text in which tabs part what spaces part, as in YAML 1.1: the library wants a space between a colon and a value behind it.
pub(super) struct Document<'a>(StrInput<'a>);

impl<'a> Document<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(StrInput::new(text))
    }
}

impl Input for Document<'_> {
    fn lookahead(&mut self, count: usize) {
        self.0.lookahead(count);
    }

    fn buflen(&self) -> usize {
        self.0.buflen()
    }

    fn bufmaxlen(&self) -> usize {
        self.0.bufmaxlen()
    }

    fn raw_read_ch(&mut self) -> char {
        self.0.raw_read_ch()
    }

    fn raw_read_non_breakz_ch(&mut self) -> Option<char> {
        self.0.raw_read_non_breakz_ch()
    }

    fn skip(&mut self) {
        self.0.skip();
    }

    fn skip_n(&mut self, count: usize) {
        self.0.skip_n(count);
    }

    fn peek(&self) -> char {
        self.0.peek()
    }

    fn peek_nth(&self, n: usize) -> char {
        self.0.peek_nth(n)
    }

    fn peek_opt(&self) -> Option<char> {
        self.0.peek_opt()
    }

    fn skip_ws_to_eol(&mut self, skip_tabs: SkipTabs) -> (usize, Result<SkipTabs, &'static str>) {
        let (count, found) = self.0.skip_ws_to_eol(skip_tabs);
        let parted = |found| if let SkipTabs::Result(true, _) = found { SkipTabs::Result(true, true) } else { found };
        (count, found.map(parted))
    }

    fn skip_while_non_breakz(&mut self) -> usize {
        self.0.skip_while_non_breakz()
    }

    fn skip_while_blank(&mut self) -> usize {
        self.0.skip_while_blank()
    }

    fn fetch_while_is_alpha(&mut self, out: &mut String) -> usize {
        self.0.fetch_while_is_alpha(out)
    }

    fn fetch_while_is_yaml_non_space(&mut self, out: &mut String) -> usize {
        self.0.fetch_while_is_yaml_non_space(out)
    }
}

/// The line breaks of YAML 1.1.
pub(super) const ENDS_OF_LINES: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// The line breaks that a scalar may contain without an escape.
pub(super) const BREAKS: [char; 3] = ['\n', '\u{2028}', '\u{2029}'];

/// Whether a document may have the character as it is, without an escape.
pub(super) fn may_be_read(character: char) -> bool {
    is_printable(character) || matches!(character, '\t' | '\r' | '\u{85}' | '\u{feff}' | '\u{10000}'..)
}

/// Whether a scalar may be written with the character as it is.
pub(super) fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// The escape that the character needs in double quotes; none if it needs none.
pub(super) fn escape(character: char) -> Option<String> {
    let short = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        printable if is_printable(printable) => return None,
        other => return Some(numbered(other)),
    };
    Some(format!("\\{short}"))
}

/// The escape of a character by its number.
pub(super) fn numbered(character: char) -> String {
    let code = u32::from(character);
    match code {
        0..=0xFF => format!("\\x{code:02X}"),
        0x100..=0xFFFF => format!("\\u{code:04X}"),
        _ => format!("\\U{code:08X}"),
    }
}

/// The reason why a string is not a YAML document that values can be made of.
#[derive(Clone, Debug, PartialEq, Error)]
pub(in crate::functions) enum YamlError {
    #[error("U+{:04X} may not be in a document", u32::from(*.0))]
    Character(char),
    #[error("the document ends before it is complete")]
    Incomplete,
    #[error("on line {line}, column {column}: {problem}")]
    At {
        /// Line number, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        problem: YamlProblem,
    },
}

/// A mistake at a position of a YAML document.
#[derive(Clone, Debug, PartialEq, Error)]
pub(in crate::functions) enum YamlProblem {
    /// The message of the parser.
    #[error("{0}")]
    Syntax(String),
    #[error("expecting value but found end of stream")]
    NoValue,
    #[error("expecting value but found the end")]
    NoNode,
    #[error("only a single document is allowed")]
    SecondDocument,
    #[error("cannot refer to an anchor from inside its own definition")]
    RecursiveAnchor,
    #[error("reference to undefined anchor")]
    UndefinedAnchor,
    #[error("the document expands to more than {MOST_NODES} values")]
    TooManyNodes,
    #[error("the document is nested more than {DEEPEST} levels deep")]
    TooDeep,
    #[error("can't interpret {what} as {tag}")]
    WrongTag { what: &'static str, tag: String },
    #[error("the keys of a mapping must be strings")]
    ComplexKey,
    #[error("mapping key cannot be null")]
    NullKey,
    /// The value of a `<<` key is not a mapping.
    #[error("cannot merge {what}{note} into mapping")]
    NotMergeable { what: String, note: &'static str },
    #[error("cannot parse {text:?} as {tag}")]
    Untagged { text: String, tag: &'static str },
    #[error("cannot parse {0:?} as !!binary: not valid base64")]
    NotBase64(String),
    #[error("unsupported tag {0:?}")]
    UnsupportedTag(String),
    #[error("floating point NaN is not supported")]
    NotANumber,
    #[error("{}", .0.message)]
    Conversion(#[from] ConversionError),
}
