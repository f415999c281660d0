//! Positions in source text.

/// A byte range in the address space of one [`Sources`](crate::Sources): half open, eight bytes.
///
/// The default span points at no text; printing it shows no snippet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The span of nothing: for things that no author wrote.
    pub const NONE: Self = Self { start: 0, end: 0 };

    /// The range from `start` up to, not including, `end`; an `end` before `start` counts as `start`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// Returns the offset of the first byte.
    pub const fn start(self) -> u32 {
        self.start
    }

    /// One past the last byte.
    pub const fn end(self) -> u32 {
        self.end
    }

    /// Returns the number of bytes.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the range holds no byte.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether this is [`Span::NONE`].
    pub const fn is_none(self) -> bool {
        self.end == 0
    }

    /// The smallest span that covers both; `NONE` is neutral.
    #[inline]
    pub fn to(self, other: Self) -> Self {
        if self.is_none() {
            other
        } else if other.is_none() {
            self
        } else {
            Self { start: self.start.min(other.start), end: self.end.max(other.end) }
        }
    }

    /// The empty span at the start of this one.
    pub const fn head(self) -> Self {
        Self { start: self.start, end: self.start }
    }
}

/// Something together with the place where it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value without its location.
    pub value: T,
    /// The location of the value.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs `value` with `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
