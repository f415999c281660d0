//! Evaluation of the arguments in an `encryption` block, whose values may be secrets.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_encryption::{KeyError, Program};
use groma_hcl::{Attribute, ExpressionKind};
use groma_value::{Type, Value, convert};

use crate::load::early::Early;
use crate::model::encryption::EncryptionBlock;

/// Evaluates arguments and collects their problems.
pub(super) struct Arguments<'a> {
    pub(super) block: &'a EncryptionBlock,
    pub(super) early: &'a Early<'a>,
    pub(super) diagnostics: Diagnostics,
}

impl Arguments<'_> {
    /// Evaluates a string argument.
    pub(super) fn text(&mut self, attribute: &Attribute) -> Option<String> {
        let value = self.value(attribute, &Type::String)?;
        value.as_str().map(str::to_owned)
    }

    /// Evaluates an integer argument.
    pub(super) fn number(&mut self, attribute: &Attribute) -> Option<i64> {
        let value = self.value(attribute, &Type::Number)?;
        let number = value.as_number().and_then(|number| number.to_i64());
        if number.is_none() {
            self.error(attribute.name.span, "Invalid encryption argument", "The argument must be a whole number.");
        }
        number
    }

    /// Evaluates a list of bytes; null is the empty list.
    pub(super) fn bytes(&mut self, attribute: &Attribute) -> Option<Vec<u8>> {
        if attribute.expression.kind == ExpressionKind::Null {
            return Some(Vec::new());
        }
        let value = self.value(attribute, &Type::List(Arc::new(Type::Number)))?;
        let bytes = bytes_of(&value);
        if bytes.is_none() {
            self.error(
                attribute.name.span,
                "Invalid encryption argument",
                "The argument must be a list of whole numbers from 0 to 255.",
            );
        }
        bytes
    }

    /// Evaluates a command: a list of the program and its arguments.
    pub(super) fn program(&mut self, attribute: &Attribute) -> Option<Program> {
        let value = self.value(attribute, &Type::List(Arc::new(Type::String)))?;
        let words = value.as_slice().unwrap_or_default().iter().map(|word| word.as_str().map(str::to_owned));
        let program = words
            .collect::<Option<Vec<String>>>()
            .ok_or_else(|| KeyError::Argument("a command must not contain null".to_owned()));
        match program.and_then(Program::new) {
            Ok(program) => Some(program),
            Err(problem) => {
                let detail = format!("The argument {:?} is not a valid command: {problem}.", attribute.name.name);
                self.error(attribute.name.span, "Invalid encryption argument", detail);
                None
            }
        }
    }

    /// Evaluates an argument and converts it to `ty`. Messages contain only the argument's name, because the value may
    /// be a secret.
    fn value(&mut self, attribute: &Attribute, ty: &Type) -> Option<Value> {
        let value = self.early.secret(&attribute.expression, "encryption argument", &mut self.diagnostics)?;
        match convert::convert(&value, ty) {
            Ok(value) if !value.is_null() => Some(value),
            _ => {
                let detail = format!("The argument {:?} must be a {}.", attribute.name.name, ty.friendly_name());
                self.error(attribute.name.span, "Invalid encryption argument", detail);
                None
            }
        }
    }

    /// Reports a problem once: several targets may use the same keys.
    pub(super) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        let problem = Diagnostic::error(summary, detail).at(span);
        if self.diagnostics.iter().all(|known| *known != problem) {
            self.diagnostics.push(problem);
        }
    }
}

/// Converts a list of numbers to bytes; returns `None` if a number is out of range.
pub(super) fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    let numbers = convert::convert(value, &Type::List(Arc::new(Type::Number))).ok()?;
    let byte = |number: &Value| number.as_number().and_then(|number| u8::try_from(number.to_i64()?).ok());
    numbers.as_slice()?.iter().map(byte).collect()
}
