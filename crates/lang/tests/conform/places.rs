//! The parts of an expression, each with what the `for` expressions around it walk.

use groma_hcl::{Expression, ExpressionKind, Selector, Template, TemplatePart};

/// A part of an expression.
pub struct Place<'e> {
    pub expression: &'e Expression,
    /// The collections of the `for` expressions around it: its text may have their names.
    pub walked: Vec<&'e Expression>,
}

/// All parts of an expression, itself first.
pub fn places(expression: &Expression) -> Vec<Place<'_>> {
    let mut search = Search { walked: Vec::new(), found: Vec::new() };
    search.expression(expression);
    search.found
}

struct Search<'e> {
    walked: Vec<&'e Expression>,
    found: Vec<Place<'e>>,
}

impl<'e> Search<'e> {
    fn expression(&mut self, expression: &'e Expression) {
        self.found.push(Place { expression, walked: self.walked.clone() });
        match &expression.kind {
            ExpressionKind::Template(template) => self.template(template),
            ExpressionKind::Relative(relative) => self.expression(&relative.source),
            ExpressionKind::Index(index) => {
                self.expression(&index.source);
                self.expression(&index.key);
            }
            ExpressionKind::Splat(splat) => {
                self.expression(&splat.source);
                self.selectors(&splat.each);
            }
            ExpressionKind::Call(call) => call.arguments().iter().for_each(|argument| self.expression(argument)),
            ExpressionKind::Tuple(elements) => elements.iter().for_each(|element| self.expression(element)),
            ExpressionKind::Object(items) => {
                for item in items.iter() {
                    self.expression(&item.key);
                    self.expression(&item.value);
                }
            }
            ExpressionKind::For(comprehension) => {
                self.expression(&comprehension.collection);
                self.walked.push(&comprehension.collection);
                let inside = [comprehension.key_expression.as_ref(), comprehension.condition.as_ref()];
                inside.into_iter().flatten().for_each(|expression| self.expression(expression));
                self.expression(&comprehension.value_expression);
                self.walked.pop();
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
            _ => {}
        }
    }

    fn selectors(&mut self, selectors: &'e [Selector]) {
        for selector in selectors {
            match selector {
                Selector::Step(_) => {}
                Selector::Index { key, .. } => self.expression(key),
                Selector::Splat { each, .. } => self.selectors(each),
            }
        }
    }

    fn template(&mut self, template: &'e Template) {
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
                    self.walked.push(&directive.collection);
                    self.template(&directive.body);
                    self.walked.pop();
                }
            }
        }
    }
}
