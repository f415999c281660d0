//! Names, steps and indexes.

use groma_hcl::{Expression, Index, Relative, Step, Traversal};
use groma_value::Value;

use super::{Evaluator, access};

impl Evaluator<'_> {
    pub(super) fn traversal(&mut self, traversal: &Traversal, expression: &Expression) -> Value {
        match self.scope.resolve(traversal) {
            Ok(resolved) => {
                let rest = traversal.steps().get(resolved.consumed..).unwrap_or_default();
                self.steps(resolved.value, rest, expression)
            }
            Err(problem) => {
                self.report(problem);
                Value::DYNAMIC
            }
        }
    }

    pub(super) fn steps(&mut self, mut value: Value, steps: &[Step], expression: &Expression) -> Value {
        for step in steps {
            match access::step(&value, step) {
                Ok(next) => value = next,
                Err(problem) => {
                    self.report_about(problem.within(expression.span), expression);
                    return Value::DYNAMIC;
                }
            }
        }
        value
    }

    pub(super) fn relative(&mut self, relative: &Relative, expression: &Expression) -> Value {
        match self.attempt(&relative.source) {
            // The error is reported. The type of the result still matters to a conditional whose other arm is taken.
            (source, true) => super::follow(&source, &relative.steps).unwrap_or(Value::DYNAMIC),
            (source, false) => self.steps(source, &relative.steps, expression),
        }
    }

    pub(super) fn index(&mut self, index: &Index, expression: &Expression) -> Value {
        let (source, source_failed) = self.attempt(&index.source);
        let (key, key_failed) = self.attempt(&index.key);
        // The errors are reported. The type of the result still matters to a conditional whose other arm is taken.
        if source_failed || key_failed {
            return access::index(&source, &key, index.brackets).unwrap_or(Value::DYNAMIC);
        }
        match access::index(&source, &key, index.brackets) {
            Ok(value) => value,
            Err(problem) => {
                self.report_about(problem.within(expression.span), expression);
                Value::DYNAMIC
            }
        }
    }
}
