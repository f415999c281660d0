//! Templates: text with values in it.

use std::fmt::Write as _;

use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Expression, Template, TemplateFor, TemplateIf, TemplatePart, with_stack};
use groma_value::{Kind, Marks, Type, Value, convert};

use super::repeat::variables;
use super::{Evaluator, Reporting};
use crate::ranges;

/// A string in the making.
struct Rendering {
    text: String,
    marks: Marks,
    /// Whether everything up to here is known and without error; after that, text is only checked, not kept.
    known: bool,
    /// Whether an error was reported, which makes even the known beginning suspect.
    failed: bool,
}

impl Rendering {
    fn push(&mut self, text: &str) {
        if self.known {
            self.text.push_str(text);
        }
    }

    /// Renders a directive, which is known as a whole or not at all: what it begins with says nothing of the result, as in Terraform.
    fn directive(&mut self, render: impl FnOnce(&mut Self)) {
        let before = self.text.len();
        render(self);
        if !self.known {
            self.text.truncate(before);
        }
    }
}

impl Evaluator<'_> {
    pub(super) fn template(&mut self, template: &Template, span: Span) -> Value {
        // A template that is nothing but one interpolation passes its value through with its type, as in Terraform.
        if let Some(expression) = template.wrapped() {
            return self.evaluate(expression);
        }
        let mut rendering = Rendering { text: String::new(), marks: Marks::NONE, known: true, failed: false };
        self.render(template, span, &mut rendering);
        let value = if rendering.known {
            Value::string(&rendering.text)
        } else if rendering.failed {
            Value::unknown(Type::String).not_null()
        } else {
            ranges::with_prefix(&rendering.text)
        };
        if rendering.marks.is_empty() { value } else { value.with_marks(&rendering.marks) }
    }

    fn render(&mut self, template: &Template, whole: Span, rendering: &mut Rendering) {
        for part in &template.parts {
            match part {
                TemplatePart::Literal { text, .. } => rendering.push(text),
                TemplatePart::Interpolation(expression) => self.interpolate(expression, whole, rendering),
                TemplatePart::If(directive) => {
                    rendering.directive(|rendering| with_stack(|| self.render_if(directive, rendering)));
                }
                TemplatePart::For(directive) => {
                    rendering.directive(|rendering| with_stack(|| self.render_for(directive, rendering)));
                }
            }
        }
    }

    fn interpolate(&mut self, expression: &Expression, whole: Span, rendering: &mut Rendering) {
        let (value, failed) = self.attempt(expression);
        if !value.marks().is_empty() {
            rendering.marks = rendering.marks.union(value.marks());
        }
        if failed {
            rendering.failed = true;
            rendering.known = false;
            return;
        }
        let problem = match value.kind() {
            Kind::String(text) => return rendering.push(text),
            Kind::Number(number) => {
                if rendering.known {
                    // Writing to a String cannot fail.
                    let _ = write!(rendering.text, "{number}");
                }
                return;
            }
            Kind::Bool(truth) => return rendering.push(if truth { "true" } else { "false" }),
            Kind::Unknown(_) => match convert::convert(&value, &Type::String) {
                // The rest of this part is not evaluated, as in Terraform.
                Ok(_) => {
                    rendering.known = false;
                    return;
                }
                Err(problem) => format!("This value cannot be included in a string template: {}.", problem.message),
            },
            Kind::Null => {
                "The expression result is null. A null value cannot be included in a string template.".to_owned()
            }
            _ => match convert::convert(&value, &Type::String) {
                Ok(text) => return rendering.push(text.as_str().unwrap_or_default()),
                Err(problem) => format!("This value cannot be included in a string template: {}.", problem.message),
            },
        };
        let problem =
            Diagnostic::error("Invalid template interpolation value", problem).at(expression.span).within(whole);
        self.report_about(problem, expression);
        rendering.failed = true;
        rendering.known = false;
    }

    /// Both branches are evaluated, so that errors in either are found only if it is the chosen one, but its marks and
    /// unknown parts always count, as in a conditional.
    fn render_if(&mut self, directive: &TemplateIf, rendering: &mut Rendering) {
        let (condition, failed) = self.attempt(&directive.condition);
        rendering.marks = rendering.marks.union(condition.marks());
        let problem = if failed {
            None
        } else if condition.is_null() {
            Some(Diagnostic::error("Null condition", "The condition is null. It must be either true or false."))
        } else if !condition.is_known() {
            let yes = self.branch(&directive.yes, directive.span, Reporting::Outcome);
            let no = self.branch(&directive.no, directive.span, Reporting::Outcome);
            rendering.marks = rendering.marks.union(yes.marks()).union(no.marks());
            rendering.known = false;
            return;
        } else {
            match convert::convert(&condition, &Type::Bool).ok().and_then(|condition| condition.as_bool()) {
                Some(true) => return self.render_chosen(&directive.yes, &directive.no, directive.span, rendering),
                Some(false) => return self.render_chosen(&directive.no, &directive.yes, directive.span, rendering),
                None => Some(Diagnostic::error("Incorrect condition type", "A condition must be of type bool.")),
            }
        };
        if let Some(problem) = problem {
            self.report_about(problem.at(directive.condition.span).within(directive.span), &directive.condition);
        }
        rendering.failed = true;
        rendering.known = false;
    }

    fn render_chosen(&mut self, chosen: &Template, other: &Template, span: Span, rendering: &mut Rendering) {
        let other = self.branch(other, span, Reporting::Outcome);
        rendering.marks = rendering.marks.union(other.marks());
        self.depth += 1;
        self.render(chosen, span, rendering);
        self.depth -= 1;
    }

    /// A branch on its own, without its problems.
    fn branch(&mut self, template: &Template, span: Span, reporting: Reporting) -> Value {
        let mut ignored = groma_diagnostics::Diagnostics::new();
        let (depth, value_depth) = (self.depth + 1, self.value_depth);
        let mut evaluator = Evaluator { scope: self.scope, diagnostics: &mut ignored, depth, value_depth, reporting };
        evaluator.template(template, span)
    }

    fn render_for(&mut self, directive: &TemplateFor, rendering: &mut Rendering) {
        let Some(collection) = self.iterated(&directive.collection, directive.span) else {
            rendering.failed = true;
            rendering.known = false;
            return;
        };
        rendering.marks = rendering.marks.union(collection.marks());
        if !collection.is_known() {
            rendering.known = false;
            return;
        }
        self.with_variables(variables(directive.key.as_ref(), &directive.value), |nested| {
            for (key, element) in collection.elements() {
                nested.bind(directive.key.as_ref().map(|_| key), element);
                nested.evaluator().render(&directive.body, directive.span, rendering);
            }
        });
    }
}
