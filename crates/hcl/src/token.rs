//! Tokens: a lossless split of the source text.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// Spaces and tabs, and a byte order mark at the very start. Not stored in the token list, but implied by the gap
    /// between two tokens.
    Space,
    /// `# …` and `// …` without the line end, or `/* … */`.
    Comment,
    /// A line end outside of strings.
    Newline,
    /// The end of the text: empty, and always the last token.
    End,
    /// An identifier or keyword.
    Identifier,
    /// A number literal, not validated.
    Number,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `(`
    OpenParenthesis,
    /// `)`
    CloseParenthesis,
    /// The `"` that begins a string.
    OpenQuote,
    /// The `"` that ends a string.
    CloseQuote,
    /// An empty token at the end of a line that ends an unclosed string.
    BrokenQuote,
    /// `<<EOT` or `<<-EOT` including the line end.
    OpenHeredoc,
    /// The last line of a heredoc, without its line end.
    CloseHeredoc,
    /// Text in a quoted string without backslashes, dollar and percent signs.
    QuotedText,
    /// Text in a quoted string with backslashes, dollar or percent signs, which may be escapes.
    EscapedText,
    /// Text in a heredoc (at most a line) or in an unquoted template.
    Text,
    /// A line end inside of quotes, which is invalid.
    QuotedNewline,
    /// `${` or `${~`
    OpenInterpolation,
    /// `%{` or `%{~`
    OpenDirective,
    /// The `}` or `~}` that ends an interpolation or directive.
    CloseSequence,
    /// A `~}` that ends neither of them, and is not a valid closing brace.
    StripBrace,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `%`
    Percent,
    /// `==`
    EqualEqual,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `?`
    Question,
    /// `=`
    Equal,
    /// `!`
    Bang,
    /// `.`
    Dot,
    /// `,`
    Comma,
    /// `::`
    DoubleColon,
    /// `...`
    Ellipsis,
    /// `=>`
    FatArrow,
    /// `:`
    Colon,
    /// `&`, the first of the kinds that are not part of the language.
    Ampersand,
    /// `|`
    Pipe,
    /// `^`
    Caret,
    /// `~`
    Tilde,
    /// `;`
    Semicolon,
    /// `` ` ``
    Backtick,
    /// `'`
    Apostrophe,
    /// Any other character that is not part of the language.
    Invalid,
}

/// A token with its byte range. Only spaces lie between a token and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: TokenKind,
}

impl Token {
    /// The end token of an empty text.
    pub(crate) const NONE: Self = Self { start: 0, end: 0, kind: TokenKind::End };

    pub(crate) const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// All tokens of a text except spaces, which the parser ignores. Tokens and spaces together are the exact
/// text.
#[derive(Clone, Debug)]
pub struct Tokens {
    pub(crate) list: Vec<Token>,
}

impl Tokens {
    /// The number of tokens without spaces; at least one, the end token.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the text contains no tokens except the end token.
    pub fn is_empty(&self) -> bool {
        self.list.len() <= 1
    }

    /// Iterates over kinds and byte ranges in order, including spaces.
    pub fn iter(&self) -> impl Iterator<Item = (TokenKind, Range<usize>)> {
        let mut at = 0;
        self.list.iter().flat_map(move |token| {
            let Range { start, end } = token.range();
            let before = std::mem::replace(&mut at, end);
            let space = (before < start).then_some((TokenKind::Space, before..start));
            space.into_iter().chain([(token.kind, start..end)])
        })
    }

    pub(crate) fn kind(&self, index: usize) -> TokenKind {
        self.list.get(index).map_or(TokenKind::End, |token| token.kind)
    }

    /// Returns the token at an index, or the end token beyond the last one.
    pub(crate) fn at(&self, index: usize) -> Token {
        self.list.get(index).copied().unwrap_or_else(|| self.end_of_text())
    }

    #[cold]
    fn end_of_text(&self) -> Token {
        self.list.last().copied().unwrap_or(Token::NONE)
    }

    pub(crate) fn start(&self, index: usize) -> u32 {
        self.at(index).start
    }

    pub(crate) fn end(&self, index: usize) -> u32 {
        self.at(index).end
    }

    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        self.at(index).range()
    }
}

impl TokenKind {
    /// The kind that closes this opening kind.
    pub(crate) const fn closer(self) -> Option<Self> {
        match self {
            Self::OpenBrace => Some(Self::CloseBrace),
            Self::OpenBracket => Some(Self::CloseBracket),
            Self::OpenParenthesis => Some(Self::CloseParenthesis),
            Self::OpenQuote => Some(Self::CloseQuote),
            Self::OpenHeredoc => Some(Self::CloseHeredoc),
            Self::OpenInterpolation | Self::OpenDirective => Some(Self::CloseSequence),
            _ => None,
        }
    }

    /// Whether this is text of a quoted string.
    pub(crate) const fn is_quoted_text(self) -> bool {
        matches!(self, Self::QuotedText | Self::EscapedText)
    }

    /// Whether this kind can follow a sequence inside a string or template.
    pub(crate) const fn is_of_text(self) -> bool {
        matches!(
            self,
            Self::QuotedText
                | Self::EscapedText
                | Self::Text
                | Self::QuotedNewline
                | Self::OpenInterpolation
                | Self::OpenDirective
                | Self::CloseQuote
                | Self::BrokenQuote
                | Self::CloseHeredoc
                | Self::End
        )
    }

    /// The closing kind that this kind counts as during recovery: an unclosed string ends with its line, and `~}` is
    /// accepted as a closing brace.
    pub(crate) const fn as_closer(self) -> Self {
        match self {
            Self::BrokenQuote => Self::CloseQuote,
            Self::StripBrace => Self::CloseBrace,
            kind => kind,
        }
    }

    /// Whether this kind closes a bracket or string.
    pub(crate) const fn closes(self) -> bool {
        matches!(
            self,
            Self::CloseBrace
                | Self::CloseBracket
                | Self::CloseParenthesis
                | Self::CloseQuote
                | Self::BrokenQuote
                | Self::CloseHeredoc
                | Self::CloseSequence
                | Self::StripBrace
        )
    }
}
