//! The walk through an expression that finds what it depends on.

use groma_diagnostics::Diagnostics;
use groma_hcl::{Expression, ExpressionKind, Ident, Name, Selector, Template, TemplatePart, Traversal};

use crate::reference::{Referenced, parse_reference};

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
    Walk { bound: Vec::new(), visit }.expression(expression);
}

struct Walk<'a> {
    /// Names of the `for` expressions around the current place.
    bound: Vec<Name>,
    visit: &'a mut dyn FnMut(&Traversal),
}

impl Walk<'_> {
    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Invalid
            | ExpressionKind::Null
            | ExpressionKind::Bool(_)
            | ExpressionKind::Number(_)
            | ExpressionKind::String(_) => {}
            ExpressionKind::Template(template) => self.template(template),
            ExpressionKind::JsonString(string) => self.expression(&string.template),
            ExpressionKind::Traversal(traversal) => {
                if !self.bound.contains(&traversal.root.name) {
                    (self.visit)(traversal);
                }
            }
            ExpressionKind::Relative(relative) => self.expression(&relative.source),
            ExpressionKind::Index(index) => {
                self.expression(&index.source);
                self.expression(&index.key);
            }
            ExpressionKind::Splat(splat) => {
                self.expression(&splat.source);
                self.selectors(&splat.each);
            }
            ExpressionKind::Call(call) => {
                for (index, argument) in call.arguments.iter().enumerate() {
                    // The second argument of `convert` is a type: what looks like names are keywords.
                    if index != 1 || &*call.name.name != "convert" {
                        self.expression(argument);
                    }
                }
            }
            ExpressionKind::Tuple(elements) => elements.iter().for_each(|element| self.expression(element)),
            ExpressionKind::Object(items) => {
                for item in items.iter() {
                    self.expression(&item.key);
                    self.expression(&item.value);
                }
            }
            ExpressionKind::For(comprehension) => {
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
                self.expression(&conditional.yes);
                self.expression(&conditional.no);
            }
            ExpressionKind::Unary(unary) => self.expression(&unary.operand),
            ExpressionKind::Binary(binary) => {
                self.expression(&binary.left);
                self.expression(&binary.right);
            }
            ExpressionKind::Parentheses(inner) => self.expression(inner),
        }
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
                    self.template(&directive.yes);
                    self.template(&directive.no);
                }
                TemplatePart::For(directive) => {
                    self.expression(&directive.collection);
                    self.binding(directive.key.as_ref(), &directive.value, |walk| walk.template(&directive.body));
                }
            }
        }
    }

    fn binding(&mut self, key: Option<&Ident>, value: &Ident, inside: impl FnOnce(&mut Self)) {
        let depth = self.bound.len();
        self.bound.extend(key.map(|key| key.name.clone()));
        self.bound.push(value.name.clone());
        inside(self);
        self.bound.truncate(depth);
    }
}
