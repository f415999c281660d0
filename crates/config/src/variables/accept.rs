//! Conversion of given values to the types of variables.

use std::fmt::Write as _;

use groma_diagnostics::{Diagnostic, Span};
use groma_value::{Marks, Value, convert::ConversionError};

use super::input::Origin;
use crate::model::Variable;

/// The reason why a value is not suitable for a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsuitable {
    /// Null, for a variable that is not nullable and has no default.
    Null,
    /// It does not fit the type.
    Type(ConversionError),
}

impl Unsuitable {
    /// Returns the error for the value given at `given`, by `origin` for a root variable. It refers to the declaration if there is no
    /// such source text, or if the text would reveal a secret, and then names the origin of the value.
    pub fn diagnose(&self, variable: &Variable, given: Span, origin: Option<&Origin>) -> Diagnostic {
        let name = &variable.name;
        let (summary, mut detail) = match self {
            Self::Null => (
                "Required variable not set",
                format!(
                    "The variable \"{name}\" must not be null: it is declared with nullable = false. Give a value, or leave the \
                     argument out if there is a default."
                ),
            ),
            Self::Type(problem) => {
                let place = if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path) };
                let detail = format!(
                    "The value for var.{name} does not fit the type that the module declares for it: {place}{}.",
                    problem.message
                );
                ("Invalid value for input variable", detail)
            }
        };
        let is_shown = !given.is_none() && given != variable.span && !variable.sensitive;
        if is_shown {
            return Diagnostic::error(summary, detail).at(given);
        }
        if let Some(origin) = origin.filter(|origin| **origin != Origin::CommandLine) {
            let _ = write!(detail, " It was given by {}.", origin.describe(name));
        }
        Diagnostic::error(summary, detail).at(variable.span)
    }
}

impl Variable {
    /// The value that the variable has when `given` is handed in: converted to its type, with defaults of optional
    /// attributes, null replaced by the default where null is not allowed, and with the variable's marks.
    ///
    /// For root variables and arguments of module calls alike.
    ///
    /// # Errors
    /// The value does not fit.
    pub fn accept(&self, given: &Value) -> Result<Value, Unsuitable> {
        if given.is_null() && !self.nullable {
            return self.default.as_ref().map(|default| self.mark(default)).ok_or(Unsuitable::Null);
        }
        self.constraint.convert(given).map(|value| self.mark(&value)).map_err(Unsuitable::Type)
    }

    /// The unknown value of the variable's type.
    ///
    /// Only a constraint has optional attributes. A value has all of its attributes, and so has the type of an unknown one.
    pub fn any_value(&self) -> Value {
        Value::unknown(self.constraint.ty.without_optional_attributes())
    }

    /// The default with the variable's marks.
    pub fn default_value(&self) -> Option<Value> {
        self.default.as_ref().map(|default| self.mark(default))
    }

    fn mark(&self, value: &Value) -> Value {
        let mut marks = Marks::NONE;
        if self.sensitive {
            marks = marks.union(&Marks::SENSITIVE);
        }
        if self.ephemeral {
            marks = marks.union(&Marks::EPHEMERAL);
        }
        value.clone().with_marks(&marks)
    }
}

/// The variable is required and nobody gave a value.
pub fn missing(variable: &Variable) -> Diagnostic {
    Diagnostic::error(
        "No value for required variable",
        format!(
            "The variable {:?} has no default, and no value was given. Give one with -var, -var-file, a .tfvars file or the \
             environment variable TF_VAR_{}.",
            variable.name, variable.name
        ),
    )
    .at(variable.span)
}
