//! Tokens: what the scanner makes of a text, without leaving anything out.

/// The kinds of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// Spaces and tabs; at the very start of a text also a byte order mark.
    Space,
    /// `# …` and `// …` without the line end, or `/* … */`.
    Comment,
    /// A line end, outside of strings.
    Newline,
    /// The end of the text; empty, and always the last token.
    End,
    /// A name.
    Identifier,
    /// A number.
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
    /// Characters of a quoted string, with escapes as written.
    QuotedText,
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
    /// `=`
    Equal,
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
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `&`, which the language does not have, as all that follow.
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
    /// Any other character.
    Invalid,
}

/// A token: its kind and where it begins. It ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) start: u32,
    pub(crate) kind: TokenKind,
}

/// All tokens of a text. Put together they are the text again.
#[derive(Clone, Debug)]
pub struct Tokens {
    pub(crate) list: Vec<Token>,
}

impl Tokens {
    /// How many there are; at least one, the end.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is nothing but the end.
    pub fn is_empty(&self) -> bool {
        self.list.len() <= 1
    }

    /// Kinds and byte ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = (TokenKind, std::ops::Range<usize>)> {
        self.list.iter().enumerate().map(|(index, token)| (token.kind, self.range(index)))
    }

    pub(crate) fn kind(&self, index: usize) -> TokenKind {
        self.list.get(index).map_or(TokenKind::End, |token| token.kind)
    }

    pub(crate) fn start(&self, index: usize) -> u32 {
        self.list.get(index).or(self.list.last()).map_or(0, |token| token.start)
    }

    pub(crate) fn end(&self, index: usize) -> u32 {
        self.start(index + 1)
    }

    pub(crate) fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.start(index) as usize..self.end(index) as usize
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
        )
    }
}
