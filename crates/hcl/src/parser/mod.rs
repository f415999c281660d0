//! The parser of the native syntax: tokens to trees.
//!
//! Parsing never fails. What cannot be understood is reported once, skipped up to a place where something new begins,
//! and represented in the tree by [`ExpressionKind::Invalid`](crate::ExpressionKind::Invalid).

mod access;
mod body;
mod call;
mod collection;
mod cursor;
mod directive;
mod escape;
mod expression;
mod for_expression;
mod item;
mod label;
mod names;
mod recovery;
mod scratch;
mod template;
mod traversal;

use std::collections::HashSet;

pub(crate) use body::parse_body;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use crate::depth::{MAX_BLOCKS, MAX_NESTING, MAX_OPERATIONS, with_stack};
use crate::origin::Origin;
use crate::token::{Token, TokenKind, Tokens};
use crate::{lexical, scanner};

/// A parser at some place of a text.
pub(crate) struct Parser<'a> {
    text: &'a str,
    origin: Origin<'a>,
    tokens: Tokens,
    /// The token to be read next, and its index.
    at: usize,
    next: Token,
    /// One past the token that was read last.
    after: usize,
    newlines: Newlines,
    names: names::Names,
    scratch: scratch::Scratch,
    diagnostics: Diagnostics,
    /// The positions of diagnostics about tokens that the language does not have.
    about_unknown: Vec<usize>,
    /// Problems found, including those that were not worth a message.
    problems: usize,
    /// Set after a problem, until something new begins: what comes next is probably a consequence.
    recovering: bool,
    /// The token at which that problem came up.
    lost_at: usize,
    /// Set when the item before this place had a problem.
    after_problem: bool,
    /// Set when braces were skipped that may not have matched: missing and extra braces are then consequences too.
    nesting_lost: bool,
    /// Set after a brace that belongs to nothing, or after content of an object outside of one: the next superfluous closing brace is
    /// a consequence.
    brace_too_many: bool,
    nesting: u32,
    height: u32,
    /// Set when the text nests too deeply: later problems are consequences of it.
    is_too_deep: bool,
    /// Number of open multi-line blocks.
    blocks: u32,
    /// The closing brackets of the current expression, the innermost last.
    expected: Vec<Expected>,
    /// Number of open templates.
    templates: u32,
    /// The position to which the last skipping returned, because the token that it searched never came.
    rewound_to: Option<usize>,
    /// Number of further times that skipping may return; keeps malformed input from costing quadratic time.
    rewinds_left: u32,
}

/// Whether line ends mean something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Newlines {
    Significant,
    Ignored,
}

/// Number of nested operations at a level.
struct Height(u32);

/// A bracket that is open.
#[derive(Clone, Copy)]
struct Expected {
    closer: TokenKind,
    /// The token that opened it.
    open: usize,
}

impl<'a> Parser<'a> {
    /// A parser for arguments and blocks, or an expression.
    pub(crate) fn new(text: &'a str, origin: Origin<'a>) -> Self {
        Self::with_tokens(text, origin, scanner::tokenize(text))
    }

    /// A parser that has no tokens yet.
    fn without_tokens(text: &'a str, origin: Origin<'a>) -> Self {
        let tokens = Tokens { list: vec![Token::NONE] };
        Self::with_tokens(text, origin, tokens)
    }

    /// Loads the next portion of the text; false after the last one.
    fn load_next(&mut self, portions: &mut scanner::Portions<'_>) -> bool {
        let is_loaded = portions.next_into(&mut self.tokens);
        if is_loaded {
            self.after = 0;
            self.settle();
        }
        is_loaded
    }

    /// A parser for a template without quotes.
    pub(crate) fn for_template(text: &'a str, origin: Origin<'a>) -> Self {
        Self::with_tokens(text, origin, scanner::tokenize_template(text))
    }

    fn with_tokens(text: &'a str, origin: Origin<'a>, tokens: Tokens) -> Self {
        let mut parser = Self {
            text,
            origin,
            tokens,
            at: 0,
            next: Token::NONE,
            after: 0,
            newlines: Newlines::Significant,
            names: names::Names::new(),
            scratch: scratch::Scratch::default(),
            diagnostics: Diagnostics::new(),
            about_unknown: Vec::new(),
            problems: 0,
            recovering: false,
            lost_at: 0,
            after_problem: false,
            nesting_lost: false,
            brace_too_many: false,
            nesting: 0,
            height: 0,
            is_too_deep: false,
            blocks: 0,
            expected: Vec::new(),
            templates: 0,
            rewound_to: None,
            rewinds_left: 32,
        };
        parser.settle();
        parser
    }

    /// The diagnostics in the order of the text, with those about characters that the language does not know.
    pub(crate) fn finish(self) -> Diagnostics {
        let unknown: Vec<Diagnostic> = lexical::check(self.text, &self.tokens, &self.origin).into_iter().collect();
        let reported: HashSet<Option<Span>> =
            unknown.iter().map(|diagnostic| diagnostic.subject.map(Span::head)).collect();
        let said_better = |index: &usize, diagnostic: &Diagnostic| {
            self.about_unknown.binary_search(index).is_ok() && reported.contains(&diagnostic.subject.map(Span::head))
        };
        let kept =
            self.diagnostics.into_iter().enumerate().filter(|(index, diagnostic)| !said_better(index, diagnostic));
        let mut list: Vec<Diagnostic> = kept.map(|(_, diagnostic)| diagnostic).chain(unknown).collect();
        list.sort_by_key(|diagnostic| diagnostic.subject.map(Span::start));
        list.into_iter().collect()
    }

    /// Reports `diagnostic`, unless it is likely to be a consequence of an earlier one; from now on things are likely
    /// to be consequences of this one.
    fn syntax_error(&mut self, diagnostic: Diagnostic) {
        if !self.recovering {
            if self.kind() >= TokenKind::Ampersand {
                self.about_unknown.push(self.diagnostics.len());
            }
            self.diagnostics.push(diagnostic);
            self.lost_at = self.at;
            // Whatever the text ends in the middle of, the blocks around it are not closed either.
            self.nesting_lost |= self.kind() == TokenKind::End;
        }
        self.problems += 1;
        self.recovering = true;
    }

    /// Reports `diagnostic`, which says nothing about the structure of what follows.
    fn value_error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.problems += 1;
    }

    /// Whether the text read since `problems` had been counted could not be understood.
    fn lost_since(&self, problems: usize) -> bool {
        self.recovering && self.problems > problems
    }

    /// Runs `parse` one level deeper. Returns nothing when there are too many levels already.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.nested_up_to(MAX_NESTING, parse)
    }

    /// Runs `parse` one level deeper. Returns nothing when there are `limit` levels already.
    fn nested_up_to<T>(&mut self, limit: u32, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let around = self.descend(limit).ok()?;
        let result = with_stack(|| parse(self));
        self.ascend(around);
        Some(result)
    }

    /// Goes one level deeper and returns the height around, for the way back.
    ///
    /// # Errors
    /// There are `limit` levels already, which is reported. The error is the span of the next token.
    fn descend(&mut self, limit: u32) -> Result<Height, Span> {
        if self.nesting >= limit {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        Ok(Height(std::mem::take(&mut self.height)))
    }

    /// Comes back from one level deeper.
    fn ascend(&mut self, Height(around): Height) {
        self.nesting -= 1;
        self.height = around.max(self.height + 1);
    }

    /// Counts an operation around what was parsed last; false when there are too many.
    fn grow(&mut self) -> bool {
        self.height += 1;
        if self.height >= MAX_OPERATIONS {
            self.too_deep();
        }
        self.height < MAX_OPERATIONS
    }

    #[cold]
    fn too_deep(&mut self) -> Span {
        let detail = format!(
            "Brackets and templates may nest {MAX_NESTING} levels deep, operations {MAX_OPERATIONS} and blocks \
             {MAX_BLOCKS}. Move parts of this to local values and refer to them."
        );
        let span = self.next_span();
        self.syntax_error(Diagnostic::error("Expression or block nested too deeply", detail).at(span));
        // The remaining text was not written by a person; searching the ends of all open brackets would take long.
        self.nesting_lost = true;
        self.is_too_deep = true;
        self.skip_to_end();
        span
    }

    fn kind(&self) -> TokenKind {
        self.next.kind
    }
}
