//! Unary and binary operators.

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Binary, BinaryOperator, Expression, ExpressionKind, Unary, UnaryOperator};
use groma_value::operations::{self, OperationError};
use groma_value::{Type, Value, convert};

use super::Evaluator;

/// The type that the operands of an operator are converted to.
fn operand_type(operator: BinaryOperator) -> Type {
    match operator {
        BinaryOperator::Or | BinaryOperator::And => Type::Bool,
        // Equality compares values of any two types without conversion.
        BinaryOperator::Equal | BinaryOperator::NotEqual => Type::Dynamic,
        BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual
        | BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo => Type::Number,
    }
}

fn result_type(operator: BinaryOperator) -> Type {
    match operator {
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo => Type::Number,
        _ => Type::Bool,
    }
}

fn apply(operator: BinaryOperator, left: &Value, right: &Value) -> Result<Value, OperationError> {
    match operator {
        BinaryOperator::Or => operations::or(left, right),
        BinaryOperator::And => operations::and(left, right),
        BinaryOperator::Equal => Ok(left.equals(right)),
        BinaryOperator::NotEqual => operations::not(&left.equals(right)),
        BinaryOperator::Less => operations::less_than(left, right),
        BinaryOperator::LessOrEqual => operations::less_than_or_equal(left, right),
        BinaryOperator::Greater => operations::greater_than(left, right),
        BinaryOperator::GreaterOrEqual => operations::greater_than_or_equal(left, right),
        BinaryOperator::Add => operations::add(left, right),
        BinaryOperator::Subtract => operations::subtract(left, right),
        BinaryOperator::Multiply => operations::multiply(left, right),
        BinaryOperator::Divide => operations::divide(left, right),
        BinaryOperator::Modulo => operations::modulo(left, right),
    }
}

/// An operand after evaluation and conversion, with the problems found on the way.
struct Operand {
    value: Option<Value>,
    diagnostics: Diagnostics,
}

impl Evaluator<'_> {
    pub(super) fn unary(&mut self, unary: &Unary, expression: &Expression) -> Value {
        let ty = match unary.operator {
            UnaryOperator::Negate => Type::Number,
            UnaryOperator::Not => Type::Bool,
        };
        let (value, failed) = self.attempt(&unary.operand);
        // The error of the operand is reported; the type of the result is certain regardless.
        if failed {
            return Value::unknown(ty);
        }
        let Some(value) = self.operand(&value, &ty, "unary", &unary.operand, expression) else {
            return Value::unknown(ty);
        };
        let result = match unary.operator {
            UnaryOperator::Negate => operations::negate(&value),
            UnaryOperator::Not => operations::not(&value),
        };
        result.unwrap_or_else(|problem| {
            self.report_about(failure(&problem, expression), expression);
            Value::unknown(ty)
        })
    }

    /// A chain such as `a + b + c` is walked from its innermost left operand on, so that its length costs no stack.
    pub(super) fn binary<'e>(&mut self, binary: &'e Binary, expression: &'e Expression) -> Value {
        let mut outer: Vec<(&Binary, &Expression)> = Vec::new();
        let (mut binary, mut expression) = (binary, expression);
        while let ExpressionKind::Binary(inner) = &binary.left.kind {
            outer.push((binary, expression));
            expression = &binary.left;
            binary = inner;
        }
        let mut left = self.apart(&binary.left);
        loop {
            left = self.combined(binary, left, expression);
            match outer.pop() {
                Some(next) => (binary, expression) = next,
                None => break,
            }
        }
        let (value, diagnostics) = left;
        self.diagnostics.append(diagnostics);
        value
    }

    /// Evaluates an operator whose left operand is evaluated, and combines the problems of both sides.
    fn combined(
        &mut self,
        binary: &Binary,
        left: (Value, Diagnostics),
        expression: &Expression,
    ) -> (Value, Diagnostics) {
        let operator = binary.operator;
        let ty = operand_type(operator);
        let right = self.apart(&binary.right);
        if matches!(binary.right.kind, ExpressionKind::Invalid) {
            // What the operator is meant to join is not there, which has been reported.
            return (Value::unknown(result_type(operator)), Diagnostics::new());
        }
        let left = self.side(left, &binary.left, &ty, "left", operator, expression);
        let right = self.side(right, &binary.right, &ty, "right", operator, expression);
        let mut diagnostics = left.diagnostics;
        let (Some(left_value), Some(right_value)) = (left.value, right.value) else {
            diagnostics.append(right.diagnostics);
            return (Value::unknown(result_type(operator)), diagnostics);
        };
        if let Some(decided) = shortcut(operator, &left_value, &right_value, &diagnostics) {
            let value = decided.value.with_marks(left_value.marks()).with_marks(right_value.marks());
            return match decided.side {
                Side::Left => (value, diagnostics),
                Side::Right => (value, right.diagnostics),
            };
        }
        diagnostics.append(right.diagnostics);
        if diagnostics.has_errors() {
            let unknown = Value::unknown(result_type(operator));
            return (unknown.with_marks(left_value.marks()).with_marks(right_value.marks()), diagnostics);
        }
        let value = match apply(operator, &left_value, &right_value) {
            Ok(value) => value,
            Err(problem) => {
                diagnostics.push(self.with_observations(failure(&problem, expression), expression));
                Value::unknown(result_type(operator))
            }
        };
        (value, diagnostics)
    }

    fn side(
        &self,
        (value, mut diagnostics): (Value, Diagnostics),
        operand: &Expression,
        ty: &Type,
        which: &str,
        operator: BinaryOperator,
        whole: &Expression,
    ) -> Operand {
        let problem = match convert::convert(&value, ty) {
            Ok(value) => return Operand { value: Some(value), diagnostics },
            Err(problem) => hint(operator, &value, problem.message),
        };
        let detail = format!("Unsuitable value for {which} operand: {problem}.");
        let problem = Diagnostic::error("Invalid operand", detail).at(operand.span).within(whole.span);
        diagnostics.push(self.with_observations(problem, operand));
        Operand { value: None, diagnostics }
    }

    fn operand(
        &mut self,
        value: &Value,
        ty: &Type,
        which: &str,
        operand: &Expression,
        whole: &Expression,
    ) -> Option<Value> {
        let problem = match convert::convert(value, ty) {
            Ok(value) => return Some(value),
            Err(problem) => problem.message,
        };
        let detail = format!("Unsuitable value for {which} operand: {problem}.");
        self.report_about(Diagnostic::error("Invalid operand", detail).at(operand.span).within(whole.span), operand);
        None
    }
}

fn failure(problem: &OperationError, expression: &Expression) -> Diagnostic {
    Diagnostic::error("Operation failed", format!("Error during operation: {problem}.")).at(expression.span)
}

/// Adds what people coming from other languages need to know.
fn hint(operator: BinaryOperator, value: &Value, message: String) -> String {
    match (operator, value.ty()) {
        (BinaryOperator::Add, Type::String) => {
            format!("{message}; to join strings, write a template such as \"${{a}}${{b}}\"")
        }
        (BinaryOperator::Add, ty) if ty.is_collection() || ty.as_tuple().is_some() => {
            format!("{message}; to join collections, use concat or merge")
        }
        _ => message,
    }
}

enum Side {
    Left,
    Right,
}

struct Decided {
    value: Value,
    side: Side,
}

/// The result of `&&` and `||` where one side decides, so that problems of the other side do not count.
fn shortcut(operator: BinaryOperator, left: &Value, right: &Value, left_problems: &Diagnostics) -> Option<Decided> {
    let decisive = match operator {
        BinaryOperator::Or => true,
        BinaryOperator::And => false,
        _ => return None,
    };
    let unknown = || Value::unknown(Type::Bool).not_null();
    let decided = |value, side| Some(Decided { value, side });
    // Where the other side decides, null counts as false.
    let truth = |value: &Value| if value.is_null() { Some(false) } else { value.as_bool() };
    match (truth(left), truth(right)) {
        (None, None) if !left_problems.has_errors() => decided(unknown(), Side::Left),
        (Some(truth), _) if truth == decisive => decided(Value::bool(decisive), Side::Left),
        (_, Some(truth)) if truth == decisive => decided(Value::bool(decisive), Side::Right),
        (None, Some(_)) => decided(unknown(), Side::Left),
        (Some(_), None) => decided(unknown(), Side::Right),
        _ => None,
    }
}
