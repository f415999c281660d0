//! The parser of the native syntax: tokens to syntax trees.
//!
//! Parsing never fails. An error is reported once; recovery skips to a token where a new item probably begins, and the
//! tree contains [`ExpressionKind::Invalid`](crate::ExpressionKind::Invalid) in the gap.

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
use crate::encoding::Origin;
use crate::token::{Token, TokenKind, Tokens};
use crate::{lexical, scanner};

/// A recursive-descent parser over the tokens of one text.
///
/// Owns the tokens, the unfinished lists of all levels ([`scratch::Scratch`]), the table of shared names and the
/// diagnostics. Borrows only the text.
///
/// Guarantees: it always terminates and returns a tree; spans are in source order; nesting is limited by
/// [`MAX_NESTING`], [`MAX_OPERATIONS`] and [`MAX_BLOCKS`]; recovery costs at most a constant number of passes over the
/// text (`rewinds_left`).
///
/// An error sets `recovering`, which suppresses further reports until an item begins cleanly. Each production returns
/// a usable node even after an error, and callers ask [`Parser::failed_since`] whether to continue.
///
/// It does not evaluate, and does not know which blocks and arguments exist: see [`crate::BodySchema`].
pub(crate) struct Parser<'a> {
    text: &'a str,
    origin: Origin<'a>,
    tokens: Tokens,
    /// The next token and its index.
    at: usize,
    next: Token,
    /// The index after the last consumed token.
    after: usize,
    newlines: Newlines,
    names: names::Names,
    scratch: scratch::Scratch,
    diagnostics: Diagnostics,
    /// The indexes of the diagnostics about a token that is not part of the language.
    about_unknown: Vec<usize>,
    /// The number of problems, including suppressed ones.
    problems: usize,
    /// Set after a problem until a new item begins: the next problems are probably consequences.
    recovering: bool,
    /// The index of the token at which that problem was found.
    failed_at: usize,
    /// Set if the previous item had a problem.
    after_problem: bool,
    /// Set when skipped braces may not have matched. Missing and extra braces are then consequences.
    nesting_unknown: bool,
    /// Set when a misplaced brace was found, or an object key outside of an object. The next extra closing brace is
    /// then a consequence.
    brace_too_many: bool,
    nesting: u32,
    height: u32,
    /// Set when the nesting limit was exceeded. All later problems are consequences.
    is_too_deep: bool,
    /// The number of open multi-line blocks.
    blocks: u32,
    /// The closing brackets expected by the enclosing expression, innermost last.
    expected: Vec<Expected>,
    /// The number of open templates.
    templates: u32,
    /// The index to which the last search for a closing bracket returned without finding it.
    rewound_to: Option<usize>,
    /// The remaining number of such rewinds. Limits the cost of malformed input to linear time.
    rewinds_left: u32,
}

/// The significance of line ends in the current context.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Newlines {
    Significant,
    Ignored,
}

/// The height of the operation tree at one level of nesting.
struct Height(u32);

/// An open bracket with the closing bracket that it needs.
#[derive(Clone, Copy)]
struct Expected {
    closer: TokenKind,
    /// The index of the opening token.
    open: usize,
}

impl<'a> Parser<'a> {
    /// Creates a parser for a body or an expression.
    pub(crate) fn new(text: &'a str, origin: Origin<'a>) -> Self {
        Self::with_tokens(text, origin, scanner::tokenize(text))
    }

    /// Creates a parser without tokens, which are loaded in portions.
    fn without_tokens(text: &'a str, origin: Origin<'a>) -> Self {
        let tokens = Tokens { list: vec![Token::NONE] };
        Self::with_tokens(text, origin, tokens)
    }

    /// Loads the tokens of the next portion of the text. Returns false after the last one.
    fn load_next(&mut self, portions: &mut scanner::Portions<'_>) -> bool {
        let is_loaded = portions.next_into(&mut self.tokens);
        if is_loaded {
            self.after = 0;
            self.settle();
        }
        is_loaded
    }

    /// Creates a parser for a template without quotes.
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
            failed_at: 0,
            after_problem: false,
            nesting_unknown: false,
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

    /// Returns all diagnostics in source order, including those about characters that are not part of the language.
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

    /// Reports a structural error, unless it is probably a consequence of an earlier one, and starts recovery.
    fn syntax_error(&mut self, diagnostic: Diagnostic) {
        if !self.recovering {
            if self.kind() >= TokenKind::Ampersand {
                self.about_unknown.push(self.diagnostics.len());
            }
            self.diagnostics.push(diagnostic);
            self.failed_at = self.at;
            // If the text ends within an expression, the blocks around it are unclosed too.
            self.nesting_unknown |= self.kind() == TokenKind::End;
        }
        self.problems += 1;
        self.recovering = true;
    }

    /// Reports an error that does not affect the structure of the rest.
    fn value_error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.problems += 1;
    }

    /// Whether a structural error occurred since the problem count was `problems`.
    fn failed_since(&self, problems: usize) -> bool {
        self.recovering && self.problems > problems
    }

    /// Runs `parse` one level deeper. Returns `None` at the nesting limit.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.nested_up_to(MAX_NESTING, parse)
    }

    /// Runs `parse` one level deeper. Returns `None` if `limit` levels are open already.
    fn nested_up_to<T>(&mut self, limit: u32, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let outer = self.descend(limit).ok()?;
        let result = with_stack(|| parse(self));
        self.ascend(outer);
        Some(result)
    }

    /// Enters a level of nesting and returns the height of the outer level.
    ///
    /// # Errors
    /// Reports an error at `limit` levels and returns the span of the next token.
    fn descend(&mut self, limit: u32) -> Result<Height, Span> {
        if self.nesting >= limit {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        Ok(Height(std::mem::take(&mut self.height)))
    }

    /// Leaves a level of nesting.
    fn ascend(&mut self, Height(outer): Height) {
        self.nesting -= 1;
        self.height = outer.max(self.height + 1);
    }

    /// Counts an operation around the last operand. Returns false at the limit.
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
            "Nesting is limited to {MAX_NESTING} levels of brackets and templates, {MAX_OPERATIONS} operations and \
             {MAX_BLOCKS} blocks. Move parts of the expression to local values."
        );
        let span = self.next_span();
        self.syntax_error(Diagnostic::error("Expression or block nested too deeply", detail).at(span));
        // Such text is generated or malicious; recovery would have to scan for the ends of thousands of open brackets.
        self.nesting_unknown = true;
        self.is_too_deep = true;
        self.skip_to_end();
        span
    }

    fn kind(&self) -> TokenKind {
        self.next.kind
    }
}
