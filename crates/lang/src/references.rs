//! The walk through an expression that finds what it depends on.

use groma_diagnostics::Diagnostics;
use groma_hcl::{
    BinaryOperator, Call, Expression, ExpressionKind, Ident, Index, Name, Selector, Template, TemplatePart, Traversal,
    with_stack,
};

use crate::reference::{Referenced, names_type, parse_reference};

/// The objects that an expression refers to, in the order of the source, and what is wrong with the references.
///
/// Names bound by `for` within the expression are not references. One object can occur several times.
pub fn references(expression: &Expression) -> (Vec<Referenced>, Diagnostics) {
    let mut found = Vec::new();
    let mut diagnostics = Diagnostics::new();
    for_each_traversal(expression, &mut |traversal| match parse_reference(traversal) {
        Ok(reference) => found.push(reference),
        Err(problem) => diagnostics.push(problem),
    });
    (found, diagnostics)
}

/// Calls `visit` with every traversal of free names in the expression, in the order of the source.
pub fn for_each_traversal(expression: &Expression, visit: &mut dyn FnMut(&Traversal)) {
    for_each_traversal_with_context(expression, &mut |traversal, _| visit(traversal));
}

/// Calls `visit` with each traversal and its context.
pub fn for_each_traversal_with_context(expression: &Expression, visit: &mut dyn FnMut(&Traversal, Enclosing<'_>)) {
    for_each_mention(expression, &mut |mention, enclosing| {
        if let Mention::Name(traversal) = mention {
            visit(traversal, enclosing);
        }
    });
}

/// Calls `visit` with every call of a function in the expression, the outer ones first.
pub fn for_each_call(expression: &Expression, visit: &mut dyn FnMut(&Call)) {
    for_each_mention(expression, &mut |mention, _| {
        if let Mention::Function(call) = mention {
            visit(call);
        }
    });
}

/// Calls `visit` with all parts of an expression except literals, in source order, with their contexts.
pub fn for_each_mention(expression: &Expression, visit: &mut dyn FnMut(Mention<'_>, Enclosing<'_>)) {
    Walk { bound: Vec::new(), error_handling: ErrorHandling::None, visit }.expression(expression);
}

/// A part of an expression that is not a literal.
#[derive(Clone, Copy, Debug)]
pub enum Mention<'e> {
    /// A name that nothing in the expression binds.
    Name(&'e Traversal),
    /// A name with a word in brackets after it, which no instance has for a key: `null`, `true` or `false`.
    Word(&'e Traversal, &'e Index),
    /// A function call.
    Function(&'e Call),
}

/// The enclosing expressions of a part.
#[derive(Clone, Copy, Debug)]
pub struct Enclosing<'e> {
    /// The treatment of its errors by enclosing expressions.
    pub error_handling: ErrorHandling,
    /// The names that `for` expressions around it bind.
    pub bound: &'e [Name],
}

/// Whether a mistake in a part of an expression shows when the whole is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorHandling {
    /// Errors are reported.
    #[default]
    None,
    /// It may stay unseen: the part is not always evaluated, or what goes wrong in it is caught.
    Some,
}

struct Walk<'a> {
    /// Names of the `for` expressions around the current place.
    bound: Vec<Name>,
    error_handling: ErrorHandling,
    visit: &'a mut dyn FnMut(Mention<'_>, Enclosing<'_>),
}

impl Walk<'_> {
    fn expression(&mut self, expression: &Expression) {
        with_stack(|| self.parts(expression));
    }

    fn parts(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Invalid
            | ExpressionKind::Null
            | ExpressionKind::Bool(_)
            | ExpressionKind::Number(_)
            | ExpressionKind::String(_) => {}
            ExpressionKind::Template(template) => self.template(template),
            // Errors in the text are reported when it is evaluated, and references in it are ignored.
            ExpressionKind::JsonString(string) if string.diagnostics.has_errors() => {}
            ExpressionKind::JsonString(string) => self.expression(&string.template),
            ExpressionKind::Traversal(traversal) => {
                if !self.bound.contains(&traversal.root.name) && !names_type(traversal) {
                    self.mention(Mention::Name(traversal));
                }
            }
            ExpressionKind::Relative(relative) => self.expression(&relative.source),
            ExpressionKind::Index(index) => {
                if let (ExpressionKind::Traversal(traversal), ExpressionKind::Null | ExpressionKind::Bool(_)) =
                    (&index.source.kind, &index.key.kind)
                    && !self.bound.contains(&traversal.root.name)
                {
                    self.mention(Mention::Word(traversal, index));
                }
                self.expression(&index.source);
                self.expression(&index.key);
            }
            ExpressionKind::Splat(splat) => {
                self.expression(&splat.source);
                self.selectors(&splat.each);
            }
            ExpressionKind::Call(call) => {
                self.mention(Mention::Function(call));
                // `try` and `can` catch the errors of their arguments.
                let inside =
                    if matches!(&*call.name.name, "try" | "can") { ErrorHandling::Some } else { self.error_handling };
                self.sheltered(inside, |walk| {
                    call.arguments().iter().for_each(|argument| walk.expression(argument));
                });
            }
            ExpressionKind::Tuple(elements) => elements.iter().for_each(|element| self.expression(element)),
            ExpressionKind::Object(items) => {
                for item in items.iter() {
                    self.expression(&item.key);
                    self.expression(&item.value);
                }
            }
            ExpressionKind::For(comprehension) => {
                // The collection is outside the scope of the loop variables.
                self.expression(&comprehension.collection);
                self.binding(comprehension.key.as_ref(), &comprehension.value, |walk| {
                    if let Some(key) = &comprehension.key_expression {
                        walk.expression(key);
                    }
                    walk.expression(&comprehension.value_expression);
                    if let Some(condition) = &comprehension.condition {
                        walk.expression(condition);
                    }
                });
            }
            ExpressionKind::Conditional(conditional) => {
                self.expression(&conditional.condition);
                // Only one arm is taken, so an error in the other one never shows.
                self.sheltered(ErrorHandling::Some, |walk| {
                    walk.expression(&conditional.yes);
                    walk.expression(&conditional.no);
                });
            }
            ExpressionKind::Unary(unary) => self.expression(&unary.operand),
            ExpressionKind::Binary(binary) => {
                self.expression(&binary.left);
                let may_not_matter = matches!(binary.operator, BinaryOperator::And | BinaryOperator::Or);
                let right = if may_not_matter { ErrorHandling::Some } else { self.error_handling };
                self.sheltered(right, |walk| walk.expression(&binary.right));
            }
            ExpressionKind::Parentheses(inner) => self.expression(inner),
        }
    }

    fn mention(&mut self, mention: Mention<'_>) {
        (self.visit)(mention, Enclosing { error_handling: self.error_handling, bound: &self.bound });
    }

    fn selectors(&mut self, selectors: &[Selector]) {
        for selector in selectors {
            match selector {
                Selector::Step(_) => {}
                Selector::Index { key, .. } => self.expression(key),
                Selector::Splat { each, .. } => self.selectors(each),
            }
        }
    }

    fn template(&mut self, template: &Template) {
        for part in &template.parts {
            match part {
                TemplatePart::Literal { .. } => {}
                TemplatePart::Interpolation(expression) => self.expression(expression),
                TemplatePart::If(directive) => {
                    self.expression(&directive.condition);
                    self.sheltered(ErrorHandling::Some, |walk| {
                        // Directives nest without an expression in between, so each level checks the stack itself.
                        with_stack(|| walk.template(&directive.yes));
                        with_stack(|| walk.template(&directive.no));
                    });
                }
                TemplatePart::For(directive) => {
                    self.expression(&directive.collection);
                    self.binding(directive.key.as_ref(), &directive.value, |walk| {
                        with_stack(|| walk.template(&directive.body));
                    });
                }
            }
        }
    }

    fn binding(&mut self, key: Option<&Ident>, value: &Ident, inside: impl FnOnce(&mut Self)) {
        let depth = self.bound.len();
        self.bound.extend(key.map(|key| key.name.clone()));
        self.bound.push(value.name.clone());
        // The body of a loop over an empty collection is never evaluated.
        self.sheltered(ErrorHandling::Some, inside);
        self.bound.truncate(depth);
    }

    fn sheltered(&mut self, error_handling: ErrorHandling, inside: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.error_handling, error_handling);
        inside(self);
        self.error_handling = outside;
    }
}
