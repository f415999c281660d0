//! Strings, heredocs and unquoted templates: from tokens to pieces.

use std::borrow::Cow;

use groma_diagnostics::{Diagnostic, Span, grapheme_count, graphemes};

use super::escape::plain_text;
use super::{Newlines, Parser};
use crate::ast::{Expression, ExpressionKind, Ident, Name, Template, TemplatePart};
use crate::scanner::looks_like_an_item;
use crate::token::{Token, TokenKind};

/// A piece of a template before directives are matched.
pub(super) enum Piece<'a> {
    Literal { text: Cow<'a, str>, span: Span },
    Interpolation(Expression),
    If { condition: Expression, span: Span },
    For { key: Option<Ident>, value: Ident, collection: Expression, span: Span },
    Closing { word: Closing, span: Span },
}

/// The directives that end or divide another directive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    Else,
    EndIf,
    EndFor,
}

/// The pieces of one template, collected in order.
#[derive(Default)]
pub(super) struct Pieces<'a> {
    list: Vec<Piece<'a>>,
    /// Whether the previous sequence ended with a strip marker, which trims the following whitespace.
    trim_next: bool,
    /// Whether scanning stopped before the end of the template.
    ended: bool,
}

impl<'a> Pieces<'a> {
    pub(super) fn push(&mut self, piece: Piece<'a>) {
        self.list.push(piece);
    }

    fn add_text(&mut self, text: Cow<'a, str>, span: Span) {
        let text = match text {
            text if !std::mem::take(&mut self.trim_next) => text,
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_start()),
            Cow::Owned(text) => Cow::Owned(text.trim_start().to_owned()),
        };
        self.list.push(Piece::Literal { text, span });
    }

    /// Trims trailing whitespace of the literal before a sequence with a strip marker.
    fn trim_last(&mut self) {
        if let Some(Piece::Literal { text, .. }) = self.list.last_mut() {
            let end = text.trim_end().len();
            match text {
                Cow::Borrowed(text) => *text = &text[..end],
                Cow::Owned(text) => text.truncate(end),
            }
        }
    }
}

impl<'a> Parser<'a> {
    /// Parses a quoted string or a heredoc.
    pub(super) fn template_term(&mut self) -> Expression {
        // The general case builds a list of pieces, which plain strings do not need.
        if let Some((text, span)) = self.simple_string() {
            return Expression::new(ExpressionKind::String(text), span);
        }
        let open = self.bump();
        let heredoc = open.kind == TokenKind::OpenHeredoc;
        let closer = if heredoc { TokenKind::CloseHeredoc } else { TokenKind::CloseQuote };
        let Some(mut pieces) = self.nested(|parser| parser.pieces(closer)) else {
            return Expression::invalid(self.span(open));
        };
        if self.text_of(open).starts_with("<<-") {
            remove_indentation(&mut pieces.list);
        }
        let end = self.last_span();
        self.template(pieces, self.span(open).to(end), end)
    }

    /// Parses the whole text as a template.
    pub(crate) fn whole_template(&mut self) -> Expression {
        let pieces = self.pieces(TokenKind::End);
        let length = self.text.len();
        self.template(pieces, self.bytes_span(0, length), self.bytes_span(length, length))
    }

    /// Parses a quoted string without sequences, the fast path for nearly all strings.
    pub(super) fn simple_string(&mut self) -> Option<(Name, Span)> {
        if self.kind() != TokenKind::OpenQuote {
            return None;
        }
        let (open, rest) = self.tokens.list.get(self.at..)?.split_first()?;
        let (text, close, length) = match rest {
            [text, close, ..] if text.kind.is_quoted_text() && close.kind == TokenKind::CloseQuote => {
                (Some(*text), close, 3)
            }
            [close, ..] if close.kind == TokenKind::CloseQuote => (None, close, 2),
            _ => return None,
        };
        let span = self.origin.span(open.start, close.end);
        let text = text.map_or_else(Name::new, |text| self.quoted_text(text));
        self.go_to(self.at + length);
        Some((text, span))
    }

    /// Builds the template expression of `span`; `end` is the span right after the last piece.
    fn template(&mut self, pieces: Pieces<'a>, span: Span, end: Span) -> Expression {
        let text = pieces.list.iter().find_map(|piece| match piece {
            Piece::Literal { span, .. } => Some(*span),
            _ => None,
        });
        let mark = self.scratch.parts.mark();
        self.assemble(merge_literals(pieces.list), end);
        if let (Some(span), [TemplatePart::Interpolation(_)]) = (text, self.scratch.parts.since(mark)) {
            // A template whose literals were trimmed to nothing still evaluates to a string, not to the interpolated
            // value.
            self.scratch.parts.push(TemplatePart::Literal { text: Name::new(), span });
        }
        let kind = match self.scratch.parts.since(mark) {
            [] => ExpressionKind::String(Name::new()),
            [TemplatePart::Literal { text, .. }] => ExpressionKind::String(Name::clone(text)),
            _ => {
                return Expression::new(
                    ExpressionKind::Template(Template { parts: self.scratch.parts.take(mark) }),
                    span,
                );
            }
        };
        drop(self.scratch.parts.drain(mark));
        Expression::new(kind, span)
    }

    /// Parses pieces up to and including `closer`.
    fn pieces(&mut self, closer: TokenKind) -> Pieces<'a> {
        let mut pieces = Pieces::default();
        let mut several_lines = false;
        self.templates += 1;
        while !pieces.ended {
            let token = self.next;
            match self.kind() {
                kind if kind == closer => {
                    self.bump();
                    break;
                }
                TokenKind::QuotedText | TokenKind::EscapedText => {
                    self.bump();
                    let text = self.unescaped(token);
                    pieces.add_text(text, self.span(token));
                }
                TokenKind::Text => {
                    self.bump();
                    let span = self.span(token);
                    pieces.add_text(plain_text(self.text_of(token)), span);
                }
                TokenKind::QuotedNewline => {
                    self.bump();
                    // One string of several lines is one mistake, however many lines it has.
                    if !std::mem::replace(&mut several_lines, true) {
                        self.several_lines(token);
                    }
                }
                TokenKind::OpenInterpolation => self.interpolation(closer, &mut pieces),
                TokenKind::OpenDirective => self.directive(closer, &mut pieces),
                _ => {
                    self.unterminated_template(closer);
                    break;
                }
            }
        }
        self.templates -= 1;
        pieces
    }

    fn several_lines(&mut self, token: Token) {
        let detail = "A quoted string must end on the line where it begins. Write \\n for a line break, or use a \
                      heredoc, which begins with <<EOT and ends with a line that is just EOT.";
        self.value_error(Diagnostic::error("Invalid multi-line string", detail).at(self.span(token)));
    }

    fn unterminated_template(&mut self, closer: TokenKind) {
        let detail = match closer {
            TokenKind::CloseHeredoc => {
                "The heredoc is not closed before the end of the file. It must end with a line that contains only its \
                 marker, followed by a line break."
            }
            _ => {
                "The string is not closed on its line. Add a closing quote, or write \\\" for a quote inside the string."
            }
        };
        let found = self.next_span();
        let found = if found.is_empty() { Span::new(found.start(), found.start() + 1) } else { found };
        self.syntax_error(Diagnostic::error("Unterminated template string", detail).at(found));
        self.nesting_unknown |= self
            .text
            .get(self.tokens.range(self.after.saturating_sub(1)))
            .is_some_and(|text| text.contains(['{', '}']));
        self.accept(TokenKind::BrokenQuote);
    }

    fn interpolation(&mut self, closer: TokenKind, pieces: &mut Pieces<'a>) {
        let open = self.sequence_start(pieces);
        let problems = self.problems;
        self.bracketed(TokenKind::CloseSequence, Newlines::Ignored, |parser| {
            let expression = parser.expression();
            pieces.list.push(Piece::Interpolation(expression));
            if parser.kind() != TokenKind::CloseSequence && !parser.failed_since(problems) {
                parser.unclosed_interpolation(open, closer);
            }
            parser.sequence_end(open, closer, problems, pieces);
        });
    }

    fn unclosed_interpolation(&mut self, open: usize, closer: TokenKind) {
        let found = self.next_span();
        let begin = self.span_at(open);
        let unclosed = "This interpolation has no closing brace. For a literal \"${\", for example in another \
                        language, write \"$${\".";
        let diagnostic = match self.kind() {
            TokenKind::End => Diagnostic::error("Unclosed template interpolation sequence", unclosed).at(begin),
            TokenKind::OpenQuote | TokenKind::CloseQuote | TokenKind::BrokenQuote
                if closer == TokenKind::CloseQuote =>
            {
                Diagnostic::error("Unclosed template interpolation sequence", unclosed).at(begin)
            }
            _ => {
                let detail = "Expected a closing brace after the interpolated expression. For a literal \"${\", for example \
                              in a shell script, write \"$${\".";
                let diagnostic = Diagnostic::error("Extra characters after interpolation expression", detail);
                diagnostic.at(found).within(begin.to(found))
            }
        };
        self.syntax_error(diagnostic);
    }

    /// Parses `${` or `%{` and applies its strip marker to the preceding literal.
    pub(super) fn sequence_start(&mut self, pieces: &mut Pieces) -> usize {
        let open = self.at;
        if self.text_of(self.next).ends_with('~') {
            pieces.trim_last();
        }
        pieces.trim_next = false;
        self.bump();
        open
    }

    /// Parses the end of a sequence, or recovers to it after an error.
    pub(super) fn sequence_end(&mut self, open: usize, closer: TokenKind, problems: usize, pieces: &mut Pieces<'a>) {
        if !self.failed_since(problems) {
            let close = self.bump();
            pieces.trim_next = self.text_of(close).starts_with('~');
            return;
        }
        let outermost_string = closer == TokenKind::CloseQuote && self.templates == 1;
        let nesting_before = self.nesting_unknown;
        let on_its_line = outermost_string && (self.failed_at_item(open) || self.breaks_on_its_line(open));
        let rescan = match closer {
            _ if self.templates != 1 => None,
            TokenKind::CloseQuote => Some(Self::rescan_after_line_of as fn(&mut Self, usize) -> bool),
            TokenKind::CloseHeredoc => Some(Self::rescan_after_heredoc_of as fn(&mut Self, usize) -> bool),
            _ => None,
        };
        let unclosed = on_its_line || !self.skip_over(TokenKind::CloseSequence) || !self.kind().is_of_text();
        if unclosed && rescan.is_some_and(|rescan| rescan(self, open)) {
            self.nesting_unknown = nesting_before && !on_its_line;
            pieces.ended = true;
        } else {
            pieces.ended = self.kind() == TokenKind::End || self.rewound_to == Some(self.after);
        }
    }

    /// Whether the error was found on a later line than `open` that looks like an argument or a block. The string was
    /// not meant to extend that far then.
    fn failed_at_item(&self, open: usize) -> bool {
        let from = self.tokens.start(open) as usize;
        let at = self.tokens.start(self.failed_at) as usize;
        let Some(between) = self.text.get(from..at).filter(|text| text.contains('\n')) else { return false };
        let line_start = from + between.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text.get(line_start..).unwrap_or_default();
        let line = line.split('\n').next().unwrap_or_default();
        looks_like_an_item(line.as_bytes())
    }

    /// Whether a string inside the sequence that begins at `open` is not closed on that line. Neither the sequence nor
    /// the outer string was meant to extend further then.
    fn breaks_on_its_line(&self, open: usize) -> bool {
        let kinds = (open..self.tokens.list.len()).map(|index| self.tokens.kind(index));
        kinds.take_while(|kind| *kind != TokenKind::Newline).any(|kind| kind == TokenKind::BrokenQuote)
            || self.stray_quote_line_end().is_some()
    }
}

/// Merges adjacent literals into one.
fn merge_literals(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let is_literal = |piece: &Piece<'_>| matches!(piece, Piece::Literal { .. });
    if !pieces.windows(2).any(|pair| pair.iter().all(is_literal)) {
        return pieces;
    }
    let mut merged: Vec<Piece<'_>> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if let (Some(Piece::Literal { text, span }), Piece::Literal { text: next, span: more }) =
            (merged.last_mut(), &piece)
        {
            text.to_mut().push_str(next);
            *span = span.to(*more);
        } else {
            merged.push(piece);
        }
    }
    merged
}

/// Removes the common indentation from all lines, as `<<-` requires. Blank lines do not count, nor does interpolated
/// text.
fn remove_indentation(pieces: &mut [Piece<'_>]) {
    let mut least = usize::MAX;
    let mut lines = Vec::new();
    let mut line_start = true;
    for (index, piece) in pieces.iter().enumerate() {
        let Piece::Literal { text, .. } = piece else {
            if line_start {
                least = 0;
            }
            line_start = false;
            continue;
        };
        if line_start {
            let indentation = &text[..text.len() - text.trim_start().len()];
            if indentation.len() < text.len() || !text.ends_with('\n') {
                least = least.min(grapheme_count(indentation));
                lines.push(index);
            }
        }
        line_start = text.ends_with('\n');
    }
    for index in lines {
        if let Some(Piece::Literal { text, .. }) = pieces.get_mut(index) {
            let cut = graphemes(text).take(least).map(str::len).sum::<usize>();
            match text {
                Cow::Borrowed(text) => *text = &text[cut..],
                Cow::Owned(text) => drop(text.drain(..cut)),
            }
        }
    }
}
