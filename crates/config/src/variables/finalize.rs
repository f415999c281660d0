//! From what was given to what variables have.

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_value::{Marks, Value, convert::ConversionError};
use indexmap::IndexMap;

use super::input::{InputValue, Origin};
use crate::decode::place;
use crate::model::Variable;

/// The value that a variable has in a run.
#[derive(Clone, Debug)]
pub struct Finalized {
    /// The value: converted, and marked as the variable says.
    pub value: Value,
    /// Where it was given; nothing for a default.
    pub origin: Option<Origin>,
}

/// Why a value cannot be a variable's.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsuitable {
    /// It is null, and the variable takes no null and has no default.
    Null,
    /// It does not fit the type.
    Type(ConversionError),
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

/// The values of all `variables`; those without a suitable value are reported and unknown.
pub fn finalize(
    variables: &IndexMap<Name, Variable>,
    given: &IndexMap<Name, InputValue>,
    sources: &Sources,
) -> (IndexMap<Name, Finalized>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut finalized = IndexMap::with_capacity(variables.len());
    for (name, variable) in variables {
        let value = match (given.get(name), variable.default_value()) {
            (Some(input), _) => suitable(variable, input, sources, &mut diagnostics),
            (None, Some(default)) => default,
            (None, None) => {
                diagnostics.push(missing(variable));
                Value::unknown(variable.constraint.ty.clone())
            }
        };
        let origin = given.get(name).map(|input| input.origin.clone());
        finalized.insert(Name::clone(name), Finalized { value, origin });
    }
    (finalized, diagnostics)
}

/// The variable is required and nobody gave a value.
pub(crate) fn missing(variable: &Variable) -> Diagnostic {
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

fn suitable(variable: &Variable, input: &InputValue, sources: &Sources, diagnostics: &mut Diagnostics) -> Value {
    match variable.accept(&input.value) {
        Ok(value) => value,
        Err(problem) => {
            diagnostics.push(unsuitable(variable, input, problem, sources));
            Value::unknown(variable.constraint.ty.clone())
        }
    }
}

fn unsuitable(variable: &Variable, input: &InputValue, problem: Unsuitable, sources: &Sources) -> Diagnostic {
    let name = &variable.name;
    let (summary, reason) = match problem {
        Unsuitable::Null => ("Required variable not set", "the variable is required and may not be null".to_owned()),
        Unsuitable::Type(error) => ("Invalid value for input variable", error.to_string()),
    };
    let origin = input.origin.describe(name);
    if input.span.is_none() {
        let detail = format!("The value for var.{name} from {origin} does not fit: {reason}.");
        return Diagnostic::error(summary, detail).at(variable.span);
    }
    if variable.sensitive {
        // The text at fault would show the value.
        let place = place(sources, input.span);
        let detail =
            format!("The value for var.{name}, which is sensitive, does not fit: {reason}. It is given at {place}.");
        return Diagnostic::error(summary, detail).at(variable.span);
    }
    let detail =
        format!("The value for var.{name}, declared at {}, does not fit: {reason}.", place(sources, variable.span));
    Diagnostic::error(summary, detail).at(input.span)
}
