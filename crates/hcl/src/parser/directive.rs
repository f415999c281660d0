//! Template directives: parsing, and matching them with their ends.

use groma_diagnostics::{Diagnostic, Span, did_you_mean};

use super::template::{Closing, Piece, Pieces};
use super::{Newlines, Parser};
use crate::ast::{Expression, Ident, List, Template, TemplateFor, TemplateIf, TemplatePart};
use crate::token::{Token, TokenKind};

impl Closing {
    const fn word(self) -> &'static str {
        match self {
            Self::Else => "else",
            Self::EndIf => "endif",
            Self::EndFor => "endfor",
        }
    }
}

impl<'a> Parser<'a> {
    /// Parses a directive: `%{ … }`.
    pub(super) fn directive(&mut self, closer: TokenKind, pieces: &mut Pieces<'a>) {
        let open = self.sequence_start(pieces);
        let problems = self.problems;
        self.bracketed(TokenKind::CloseSequence, Newlines::Ignored, |parser| {
            if let Some(piece) = parser.directive_content(open) {
                pieces.push(piece);
            }
            parser.sequence_end(open, closer, problems, pieces);
        });
    }

    fn directive_content(&mut self, open: usize) -> Option<Piece<'a>> {
        let begin = self.span_at(open);
        let Some(token) = self.accept(TokenKind::Identifier) else {
            let found = self.next_span();
            let detail = "Expected a directive after \"%{\": if, else, endif, for or endfor. For a literal \"%{\", write \"%%{\".";
            self.syntax_error(
                Diagnostic::error("Invalid template directive", detail).at(found).within(begin.to(found)),
            );
            return None;
        };
        let word = self.text_of(token).to_owned();
        let closing = |word, parser: &Self| Piece::Closing { word, span: begin.to(parser.next_span()) };
        let piece = match word.as_str() {
            "if" => {
                let condition = self.expression();
                Piece::If { condition, span: begin.to(self.next_span()) }
            }
            "for" => self.for_directive(begin)?,
            "else" => closing(Closing::Else, self),
            "endif" => closing(Closing::EndIf, self),
            "endfor" => closing(Closing::EndFor, self),
            _ => {
                self.unknown_directive(token, &word);
                return None;
            }
        };
        if self.kind() != TokenKind::CloseSequence {
            let found = self.next_span();
            let summary = format!("Extra characters in {word} marker");
            let detail = "Expected a closing brace after the directive.";
            self.syntax_error(Diagnostic::error(summary, detail).at(found).within(begin.to(found)));
        }
        Some(piece)
    }

    fn unknown_directive(&mut self, token: Token, word: &str) {
        let hint = did_you_mean(word, ["if", "for", "else", "endif", "endfor"]);
        let detail = format!("\"{word}\" is not a template directive.{hint}");
        self.syntax_error(Diagnostic::error("Invalid template control keyword", detail).at(self.span(token)));
    }

    fn for_directive(&mut self, begin: Span) -> Option<Piece<'a>> {
        let Some(token) = self.accept(TokenKind::Identifier) else {
            return self.for_directive_error("Expected a variable name after \"for\".");
        };
        let mut key = None;
        let mut value = self.ident_of(token);
        if self.accept(TokenKind::Comma).is_some() {
            let Some(token) = self.accept(TokenKind::Identifier) else {
                return self.for_directive_error("Expected a value variable name after the comma.");
            };
            key = Some(std::mem::replace(&mut value, self.ident_of(token)));
        }
        if !self.at_word("in") {
            return self.for_directive_error("Expected \"in\" and a collection after the variable names.");
        }
        self.bump();
        let collection = self.expression();
        Some(Piece::For { key, value, collection, span: begin.to(self.next_span()) })
    }

    fn for_directive_error(&mut self, detail: &str) -> Option<Piece<'a>> {
        let found = self.next_span();
        self.syntax_error(Diagnostic::error("Invalid 'for' directive", detail).at(found));
        None
    }

    /// Matches directives with their ends and pushes the resulting parts on the parser's stack.
    pub(super) fn assemble(&mut self, pieces: Vec<Piece<'a>>, end: Span) {
        let mut assembly = Assembly { pieces: pieces.into_iter(), end };
        while let Some(piece) = assembly.next(self) {
            if let Some(part) = self.part(piece, &mut assembly) {
                self.scratch.parts.push(part);
            }
        }
    }

    fn part(&mut self, piece: Piece<'a>, assembly: &mut Assembly<'a>) -> Option<TemplatePart> {
        // Strip markers may leave nothing of a literal.
        match piece {
            Piece::Literal { text, .. } if text.is_empty() => None,
            Piece::Literal { text, span } => Some(TemplatePart::Literal { text: self.names.share_text(&text), span }),
            Piece::Interpolation(expression) => Some(TemplatePart::Interpolation(expression)),
            Piece::If { condition, span } => self.nested(|parser| parser.if_part(condition, span, assembly)),
            Piece::For { key, value, collection, span } => {
                let opening = ForOpening { key, value, collection, span };
                self.nested(|parser| parser.for_part(opening, assembly))
            }
            Piece::Closing { word, span } => {
                self.unexpected(word, span, "No open directive precedes this one.".to_owned());
                None
            }
        }
    }

    fn unexpected(&mut self, word: Closing, span: Span, detail: String) {
        self.value_error(Diagnostic::error(format!("Unexpected {} directive", word.word()), detail).at(span));
    }

    fn unexpected_end(&mut self, word: &str, open: Span, assembly: &Assembly<'a>) {
        // The directives after excessive nesting were dropped, so a missing end is no mistake.
        if self.is_too_deep {
            return;
        }
        let location = self.line_of(open).map(|line| format!(" on line {line}")).unwrap_or_default();
        let detail = format!("The directive \"{word}\"{location} has no matching \"%{{ end{word} }}\".");
        self.value_error(Diagnostic::error("Unexpected end of template", detail).at(assembly.end).within(open));
    }

    fn if_part(&mut self, condition: Expression, open: Span, assembly: &mut Assembly<'a>) -> TemplatePart {
        let mut yes = Vec::new();
        let mut no = None;
        let close = loop {
            let Some(piece) = assembly.next(self) else {
                self.unexpected_end("if", open, assembly);
                return TemplatePart::Interpolation(Expression::invalid(open));
            };
            match piece {
                Piece::Closing { word: Closing::EndIf, span } => break span,
                Piece::Closing { word: Closing::Else, .. } if no.is_none() => no = Some(Vec::new()),
                Piece::Closing { word, span } => {
                    let detail = match word {
                        Closing::Else => "This \"if\" directive already has an \"else\".",
                        _ => "The preceding \"if\" directive must be closed with \"%{ endif }\" first.",
                    };
                    self.unexpected(word, span, detail.to_owned());
                    return TemplatePart::Interpolation(Expression::invalid(span));
                }
                piece => {
                    if let Some(part) = self.part(piece, assembly) {
                        no.as_mut().unwrap_or(&mut yes).push(part);
                    }
                }
            }
        };
        let template = |parts| Template { parts: List::new(parts) };
        let (yes, no) = (template(yes), template(no.unwrap_or_default()));
        TemplatePart::If(Box::new(TemplateIf { condition, yes, no, span: open.to(close) }))
    }

    fn for_part(&mut self, opening: ForOpening, assembly: &mut Assembly<'a>) -> TemplatePart {
        let ForOpening { key, value, collection, span: open } = opening;
        let mut parts = Vec::new();
        let close = loop {
            let Some(piece) = assembly.next(self) else {
                self.unexpected_end("for", open, assembly);
                return TemplatePart::Interpolation(Expression::invalid(open));
            };
            match piece {
                Piece::Closing { word: Closing::EndFor, span } => break span,
                Piece::Closing { word, span } => {
                    let detail = match word {
                        Closing::Else => "A \"for\" directive cannot have an \"else\".",
                        _ => "The preceding \"for\" directive must be closed with \"%{ endfor }\" first.",
                    };
                    self.unexpected(word, span, detail.to_owned());
                    return TemplatePart::Interpolation(Expression::invalid(span));
                }
                piece => parts.extend(self.part(piece, assembly)),
            }
        };
        let body = Template { parts: List::new(parts) };
        TemplatePart::For(Box::new(TemplateFor { key, value, collection, body, span: open.to(close) }))
    }
}

/// The pieces of a template that are not matched yet.
struct Assembly<'a> {
    pieces: std::vec::IntoIter<Piece<'a>>,
    /// The end of the template, for reports of unclosed directives.
    end: Span,
}

impl<'a> Assembly<'a> {
    /// Returns the next piece. After excessive nesting it returns `None`, because the remaining ends would match nothing.
    fn next(&mut self, parser: &Parser<'_>) -> Option<Piece<'a>> {
        if parser.is_too_deep { None } else { self.pieces.next() }
    }
}

/// The parts of a `for` directive's opening tag.
struct ForOpening {
    key: Option<Ident>,
    value: Ident,
    collection: Expression,
    span: Span,
}
