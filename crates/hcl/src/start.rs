//! The starting span of an expression, for messages about its value.

use groma_diagnostics::{Sources, Span};

use crate::ast::{Expression, ExpressionKind, Template, TemplatePart};
use crate::depth::with_stack;

impl Expression {
    /// Returns the beginning of a composite expression, or the whole of a simple one. Terraform marks this span for
    /// invalid function arguments. `sources` has the text, which distinguishes quoted strings from heredocs.
    pub fn start(&self, sources: &Sources) -> Span {
        with_stack(|| self.start_of_parts(sources))
    }

    fn start_of_parts(&self, sources: &Sources) -> Span {
        match &self.kind {
            ExpressionKind::Tuple(_) | ExpressionKind::Object(_) => first_of(self.span),
            ExpressionKind::For(comprehension) => comprehension.open,
            ExpressionKind::Index(index) => first_of(index.brackets),
            ExpressionKind::Splat(splat) => splat.marker,
            ExpressionKind::Call(call) => call.name.span.to(call.open),
            ExpressionKind::Conditional(conditional) => conditional.condition.start(sources),
            ExpressionKind::Unary(unary) => unary.symbol,
            ExpressionKind::Binary(binary) => binary.left.start(sources),
            ExpressionKind::Parentheses(inner) => inner.start(sources),
            ExpressionKind::String(_) => content(self.span, sources),
            ExpressionKind::Template(template) => self.start_of_template(template, sources),
            _ => self.span,
        }
    }

    fn start_of_template(&self, template: &Template, sources: &Sources) -> Span {
        match template.parts.first() {
            _ if template.wrapped().is_some() => self.span,
            Some(TemplatePart::Literal { span, .. }) => *span,
            Some(TemplatePart::Interpolation(expression)) => expression.start(sources),
            Some(TemplatePart::If(directive)) => directive.condition.start(sources),
            Some(TemplatePart::For(directive)) => opening(directive.span, directive.collection.span, sources),
            None => self.span,
        }
    }
}

/// The first byte of a span: a bracket or a brace.
const fn first_of(span: Span) -> Span {
    Span::new(span.start(), span.start() + 1)
}

/// The content between quotes, or the lines of a heredoc; an empty span at the end if empty.
fn content(whole: Span, sources: &Sources) -> Span {
    let Some(text) = sources.text(whole) else { return whole };
    let (before, after) = if text.starts_with("<<") {
        let begin = text.find('\n').map_or(text.len(), |end| end + 1);
        let lines = text.get(begin..).unwrap_or_default();
        // The indentation that `<<-` removes is not part of the content.
        let indentation =
            if text.starts_with("<<-") { lines.len() - lines.trim_start_matches([' ', '\t']).len() } else { 0 };
        // The last line is the delimiter, which is not part of the content either.
        (begin + indentation, lines.len() - lines.rfind('\n').map_or(0, |end| end + 1))
    } else if text.starts_with('"') {
        (1, 1)
    } else {
        return whole;
    };
    let end = text.len().saturating_sub(after);
    match (u32::try_from(before), u32::try_from(end)) {
        (Ok(before), Ok(end)) if before < end => Span::new(whole.start() + before, whole.start() + end),
        _ => Span::new(whole.end(), whole.end()),
    }
}

/// The opening tag of a directive: up to the first brace after `begins_with`.
fn opening(directive: Span, begins_with: Span, sources: &Sources) -> Span {
    let rest = sources.text(Span::new(begins_with.end(), directive.end()));
    let brace = rest.and_then(|text| u32::try_from(text.find('}')? + 1).ok());
    brace.map_or(directive, |brace| Span::new(directive.start(), begins_with.end() + brace))
}
