//! The values of the arguments of an `encryption` block, which may be secrets.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_encryption::Program;
use groma_hcl::{Attribute, ExpressionKind};
use groma_value::{Type, Value, convert};

use crate::load::early::Early;
use crate::model::encryption::EncryptionBlock;

/// Reads arguments, and gathers what is wrong with them.
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

    /// Evaluates an argument that is a whole number.
    pub(super) fn number(&mut self, attribute: &Attribute) -> Option<i64> {
        let value = self.value(attribute, &Type::Number)?;
        let number = value.as_number().and_then(|number| number.to_i64());
        if number.is_none() {
            self.error(attribute.name.span, "Invalid encryption argument", "The argument has to be a whole number.");
        }
        number
    }

    /// Bytes; null is as good as none.
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
                "The argument has to be a list of numbers from 0 to 255.",
            );
        }
        bytes
    }

    /// A program with its arguments.
    pub(super) fn program(&mut self, attribute: &Attribute) -> Option<Program> {
        let value = self.value(attribute, &Type::List(Arc::new(Type::String)))?;
        let words = value.as_slice().unwrap_or_default().iter().map(|word| word.as_str().map(str::to_owned));
        let program = words.collect::<Option<Vec<String>>>().ok_or("null is no word of a command".to_owned());
        match program.and_then(Program::new) {
            Ok(program) => Some(program),
            Err(problem) => {
                let detail = format!("The argument {:?} cannot be run: {problem}.", attribute.name.name);
                self.error(attribute.name.span, "Invalid encryption argument", detail);
                None
            }
        }
    }

    /// The value of an argument, which may be a secret; messages about it show its name only.
    fn value(&mut self, attribute: &Attribute, ty: &Type) -> Option<Value> {
        let value = self.early.secret(&attribute.expression, "encryption argument", &mut self.diagnostics)?;
        match convert::convert(&value, ty) {
            Ok(value) if !value.is_null() => Some(value),
            _ => {
                let detail = format!("The argument {:?} has to be a {}.", attribute.name.name, ty.friendly_name());
                self.error(attribute.name.span, "Invalid encryption argument", detail);
                None
            }
        }
    }

    /// Notes a problem, once: several targets may have the same keys.
    pub(super) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        let problem = Diagnostic::error(summary, detail).at(span);
        if self.diagnostics.iter().all(|known| *known != problem) {
            self.diagnostics.push(problem);
        }
    }
}

/// Converts a list of numbers to bytes.
pub(super) fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    let numbers = convert::convert(value, &Type::List(Arc::new(Type::Number))).ok()?;
    let byte = |number: &Value| number.as_number().and_then(|number| u8::try_from(number.to_i64()?).ok());
    numbers.as_slice()?.iter().map(byte).collect()
}
