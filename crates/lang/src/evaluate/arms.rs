//! Conditionals: the common type of both arms, and the known parts of the result while the condition is unknown.

use groma_diagnostics::Diagnostic;
use groma_hcl::{Conditional, Expression};
use groma_value::{Kind, Marks, Type, Value, convert};

use super::Evaluator;
use crate::ranges;

impl Evaluator<'_> {
    pub(super) fn conditional(&mut self, conditional: &Conditional, expression: &Expression) -> Value {
        // Both arms are evaluated, because the result type depends on both. Only the taken arm reports its errors.
        let (yes, yes_problems) = self.apart(&conditional.yes);
        let (no, no_problems) = self.apart(&conditional.no);
        let Some(ty) = common_type(&yes, &no) else {
            let detail =
                format!("Both results of a conditional must have one type. {}.", mismatch(&yes.ty(), &no.ty()));
            let span = conditional.yes.span.to(conditional.no.span);
            let problem =
                Diagnostic::error("Inconsistent conditional result types", detail).at(span).within(expression.span);
            self.report_about(problem, expression);
            return Value::DYNAMIC;
        };
        let (condition, failed) = self.attempt(&conditional.condition);
        if condition.is_null() && !failed {
            let problem =
                Diagnostic::error("Null condition", "The condition is null. It must be either true or false.")
                    .at(conditional.condition.span)
                    .within(expression.span);
            self.report_about(problem, &conditional.condition);
            return Value::unknown(ty);
        }
        let marks = condition.marks().union(yes.marks()).union(no.marks());
        if failed || !condition.is_known() {
            return undecided(&yes, &no, ty).with_marks(&marks);
        }
        let Some(truth) = convert::convert(&condition, &Type::Bool).ok().and_then(|condition| condition.as_bool())
        else {
            let problem = Diagnostic::error("Incorrect condition type", "A condition must be of type bool.")
                .at(conditional.condition.span)
                .within(expression.span);
            self.report_about(problem, &conditional.condition);
            return Value::unknown(ty);
        };
        let (value, problems, arm, which) = if truth {
            (yes, yes_problems, &conditional.yes, "true")
        } else {
            (no, no_problems, &conditional.no, "false")
        };
        self.diagnostics.append(problems);
        self.arm(value, &ty, &marks, arm, which, expression)
    }

    fn arm(
        &mut self,
        value: Value,
        ty: &Type,
        marks: &Marks,
        arm: &Expression,
        which: &str,
        whole: &Expression,
    ) -> Value {
        match convert::convert(&value, ty) {
            Ok(value) => value.with_marks(marks),
            Err(problem) => {
                let detail = format!("The {which} result has the wrong type: {}.", problem.message);
                let problem =
                    Diagnostic::error("Inconsistent conditional result types", detail).at(arm.span).within(whole.span);
                self.report_about(problem, arm);
                Value::unknown(ty.clone()).with_marks(marks)
            }
        }
    }
}

fn is_untyped_null(value: &Value) -> bool {
    value.is_null() && value.ty() == Type::Dynamic
}

/// The type of the result; a bare `null` takes the type of the other arm.
fn common_type(yes: &Value, no: &Value) -> Option<Type> {
    let (yes_type, no_type) = (yes.ty(), no.ty());
    // A bare null has no type of its own, so it must not make the result dynamic.
    if is_untyped_null(yes) {
        return Some(no_type);
    }
    if is_untyped_null(no) || yes_type == no_type {
        return Some(yes_type);
    }
    if yes_type == Type::Dynamic || no_type == Type::Dynamic {
        return Some(Type::Dynamic);
    }
    convert::unify(&[yes_type, no_type])
}

/// Returns the known parts of the result of an unknown condition.
fn undecided(yes: &Value, no: &Value, ty: Type) -> Value {
    // The condition does not matter if both results are null.
    if yes.is_null() && no.is_null() {
        return Value::null(ty);
    }
    // The ranges of the arms say nothing about a result that is converted to another type.
    if yes.ty() == no.ty() && matches!(ty, Type::Number | Type::List(_) | Type::Set(_) | Type::Map(_)) {
        return ranges::either(yes, no, ty);
    }
    if yes.is_definitely_not_null() && no.is_definitely_not_null() {
        Value::unknown(ty).not_null()
    } else {
        Value::unknown(ty)
    }
}

/// Describes the difference between two types, as close to its location as possible.
fn mismatch(yes: &Type, no: &Type) -> String {
    match (yes, no) {
        (Type::Object(yes), Type::Object(no)) => {
            for (name, yes_type) in yes.iter() {
                match no.attribute(name) {
                    None => {
                        return format!(
                            "The 'true' result has the attribute \"{name}\", which the 'false' result lacks"
                        );
                    }
                    Some(no_type) if no_type != yes_type => {
                        return format!(
                            "The types of the attribute \"{name}\" differ: {}",
                            mismatch(yes_type, no_type)
                        );
                    }
                    Some(_) => {}
                }
            }
            if let Some((name, _)) = no.iter().find(|(name, _)| yes.attribute(name).is_none()) {
                return format!("The 'false' result has the attribute \"{name}\", which the 'true' result lacks");
            }
        }
        (Type::Tuple(yes), Type::Tuple(no)) => {
            if yes.len() != no.len() {
                return format!(
                    "The lengths of the tuples differ: {} for 'true' and {} for 'false'",
                    yes.len(),
                    no.len()
                );
            }
            if let Some((index, (yes, no))) = yes.iter().zip(no.iter()).enumerate().find(|(_, (yes, no))| yes != no) {
                return format!("The types of the tuple element {index} differ: {}", mismatch(yes, no));
            }
        }
        (Type::List(yes), Type::List(no)) if structural(yes, no) => {
            return format!("The types of the list elements differ: {}", mismatch(yes, no));
        }
        (Type::Set(yes), Type::Set(no)) if structural(yes, no) => {
            return format!("The types of the set elements differ: {}", mismatch(yes, no));
        }
        (Type::Map(yes), Type::Map(no)) if structural(yes, no) => {
            return format!("The types of the map elements differ: {}", mismatch(yes, no));
        }
        _ => {}
    }
    let (yes, no) = (yes.friendly_name(), no.friendly_name());
    // Equal names would make a confusing message: the types differ only inside.
    if yes == no {
        return "At least one nested attribute or element has a different type in the two results".to_owned();
    }
    format!("For 'true' the result is {yes}, for 'false' it is {no}")
}

fn structural(yes: &Type, no: &Type) -> bool {
    matches!((yes, no), (Type::Object(_), Type::Object(_)) | (Type::Tuple(_), Type::Tuple(_)))
}

/// The truth of a condition that has been converted; used where only true and false matter.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value.kind() {
        Kind::Bool(truth) => Some(truth),
        _ => None,
    }
}
