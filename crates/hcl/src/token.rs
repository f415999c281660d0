//! Tokens: what the scanner makes of a text, without leaving anything out.

use std::ops::Range;

/// The kinds of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// Spaces and tabs; at the very start of a text also a byte order mark. The list of tokens leaves it out: it is what lies
    /// between two of them.
    Space,
    /// `# …` and `// …` without the line end, or `/* … */`.
    Comment,
    /// A line end, outside of strings.
    Newline,
    /// The end of the text; empty, and always the last token.
    End,
    /// An identifier or keyword.
    Identifier,
    /// A number literal.
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
    /// `"` that begins a string.
    OpenQuote,
    /// `"` that ends a string.
    CloseQuote,
    /// Empty: the place where a string ends because its line ends.
    BrokenQuote,
    /// `<<EOT` or `<<-EOT` with the line end.
    OpenHeredoc,
    /// The line that ends a heredoc, without its line end.
    CloseHeredoc,
    /// Characters of a quoted string without escapes.
    QuotedText,
    /// Characters of a quoted string that may contain escapes: backslashes, dollar and percent signs.
    EscapedText,
    /// Characters of a heredoc (at most a line of it) or of a bare template.
    Text,
    /// A line end inside of quotes, where none may be.
    QuotedNewline,
    /// `${` or `${~`
    OpenInterpolation,
    /// `%{` or `%{~`
    OpenDirective,
    /// The `}` or `~}` that ends an interpolation or a directive.
    CloseSequence,
    /// A `~}` that ends neither: a brace that is open would need another one.
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
    /// `&`, which the language does not have, like all following kinds.
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
    /// Any other character that starts no token.
    Invalid,
}

/// A token: its kind and its place. Between its end and the start of the next one is nothing but spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: TokenKind,
}

impl Token {
    /// The end of an empty text.
    pub(crate) const NONE: Self = Self { start: 0, end: 0, kind: TokenKind::End };

    pub(crate) const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// All tokens of a text but the spaces between them, of which the parser makes nothing. Put together with these they are the text
/// again.
#[derive(Clone, Debug)]
pub struct Tokens {
    pub(crate) list: Vec<Token>,
}

impl Tokens {
    /// Returns the number of tokens, without spaces; at least one, the end.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is nothing but the end.
    pub fn is_empty(&self) -> bool {
        self.list.len() <= 1
    }

    /// Kinds and byte ranges, in order, spaces included.
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

    /// The token, or the end of the text for an index behind it.
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
    /// The kind that closes what this kind opens.
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

    /// Whether it is characters of a quoted string.
    pub(crate) const fn is_quoted_text(self) -> bool {
        matches!(self, Self::QuotedText | Self::EscapedText)
    }

    /// Whether it can follow a sequence in the text that contains the sequence.
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

    /// Returns the kind that this one counts as in searches for closing brackets: a string that its line ends is closed, and so is a
    /// brace by a
    /// `~}` that may not close it.
    pub(crate) const fn as_closer(self) -> Self {
        match self {
            Self::BrokenQuote => Self::CloseQuote,
            Self::StripBrace => Self::CloseBrace,
            kind => kind,
        }
    }

    /// Whether this kind closes something.
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
