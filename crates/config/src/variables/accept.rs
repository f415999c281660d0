//! Conversion of given values to the variable's type.

use std::fmt::Write as _;

use groma_diagnostics::{Diagnostic, Span};
use groma_value::{Marks, Value, convert::ConversionError};

use super::read::Origin;
use crate::model::Variable;

/// Reason why a value cannot be assigned to a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsuitable {
    /// The value is null, but the variable is not nullable and has no default.
    Null,
    /// The value cannot be converted to the variable's type.
    Type(ConversionError),
}

impl Unsuitable {
    /// Creates the diagnostic for a value at the span `given`; `origin` is the source of a root variable's value.
    ///
    /// The subject is the declaration if the value has no source text or is sensitive; the detail then names the
    /// origin. Values of the command line need no origin: the user just typed them.
    pub fn diagnose(&self, variable: &Variable, given: Span, origin: Option<&Origin>) -> Diagnostic {
        let name = &variable.name;
        let (summary, mut detail) = match self {
            Self::Null => (
                "Required variable not set",
                format!(
                    "The variable \"{name}\" must not be null because it is declared with nullable = false. Set it to a value \
                     other than null."
                ),
            ),
            Self::Type(problem) => {
                let path = if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path) };
                let detail =
                    format!("The value for var.{name} does not match the variable's type: {path}{}.", problem.message);
                ("Invalid value for input variable", detail)
            }
        };
        let is_shown = !given.is_none() && given != variable.span && !variable.sensitive;
        if is_shown {
            return Diagnostic::error(summary, detail).at(given);
        }
        if let Some(origin) = origin.filter(|origin| **origin != Origin::CommandLine) {
            // Writing to a String cannot fail.
            let _ = write!(detail, " The value comes from {}.", origin.describe(name));
        }
        Diagnostic::error(summary, detail).at(variable.span)
    }
}

impl Variable {
    /// Converts `given` to the variable's final value: of the declared type, with defaults of optional attributes,
    /// null replaced by the default if the variable is not nullable, and with the variable's marks.
    ///
    /// Applies to root variables and to arguments of module calls.
    ///
    /// # Errors
    /// The value is null or cannot be converted.
    pub fn accept(&self, given: &Value) -> Result<Value, Unsuitable> {
        // A non-nullable variable takes its default for an explicit null, like for a missing argument.
        if given.is_null() && !self.nullable {
            return self.default.as_ref().map(|default| self.mark(default)).ok_or(Unsuitable::Null);
        }
        self.constraint.convert(given).map(|value| self.mark(&value)).map_err(Unsuitable::Type)
    }

    /// Returns an unknown value of the variable's type.
    ///
    /// Optional attributes are a property of type constraints; in the type of a value they are ordinary attributes.
    pub fn any_value(&self) -> Value {
        Value::unknown(self.constraint.ty.without_optional_attributes())
    }

    /// Returns the default value with the variable's marks.
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

/// Creates the error for a required variable without a value.
pub fn missing(variable: &Variable) -> Diagnostic {
    Diagnostic::error(
        "No value for required variable",
        format!(
            "The variable {:?} has no default, and no value was set. Set one with -var, -var-file, a .tfvars file or the \
             environment variable TF_VAR_{}.",
            variable.name, variable.name
        ),
    )
    .at(variable.span)
}
