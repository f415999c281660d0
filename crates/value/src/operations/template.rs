//! Building the result of a string template.

use crate::convert::{ConversionError, convert};
use crate::marks::Marks;
use crate::refinement::Refinement;
use crate::types::Type;
use crate::value::{Kind, Value};

/// The longest known prefix of an unknown result, in bytes.
const LONGEST_PREFIX: usize = 128;

/// A builder that concatenates literal text and values.
#[derive(Debug, Default)]
pub struct TemplateBuilder {
    text: String,
    state: State,
    marks: Marks,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    #[default]
    Known,
    /// An unknown part was added; `text` is the known prefix.
    Unknown,
    /// A part was invalid, so not even a prefix is known.
    Failed,
}

/// The error of interpolating a value into a string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The value is null.
    #[error("the expression result is null; cannot include a null value in a string template")]
    Null,
    /// The value cannot be converted to a string.
    #[error("cannot include the given value in a string template: {0}")]
    NoString(ConversionError),
}

impl TemplateBuilder {
    /// Creates a builder that reserves `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        TemplateBuilder { text: String::with_capacity(capacity), ..TemplateBuilder::default() }
    }

    /// Appends literal text, unless the result is already unknown.
    pub fn push_str(&mut self, text: &str) {
        // Text after an unknown part has no known position, so it cannot extend the prefix.
        if self.state == State::Known {
            self.text.push_str(text);
        }
    }

    /// Appends a value. Its marks are added to the result even if it is invalid or unknown.
    ///
    /// # Errors
    /// Fails if the value is null or cannot be converted to a string; the result is then unknown.
    pub fn push(&mut self, value: &Value) -> Result<(), TemplateError> {
        // Marks come first: even the failure of a sensitive value must not make the result look harmless.
        if value.is_marked() {
            self.marks = self.marks.union(value.marks());
        }
        match value.kind() {
            Kind::String(text) => self.push_str(text),
            Kind::Null => {
                self.state = State::Failed;
                return Err(TemplateError::Null);
            }
            Kind::Unknown(_) => {
                // A failed part stays decisive: its text is missing, so the prefix is not reliable.
                if self.state == State::Known {
                    self.state = State::Unknown;
                }
            }
            _ => match convert(value, &Type::String) {
                Ok(text) => self.push_str(text.as_str().unwrap_or_default()),
                Err(error) => {
                    self.state = State::Failed;
                    return Err(TemplateError::NoString(error));
                }
            },
        }
        Ok(())
    }

    /// Returns the string; if a part is unknown, an unknown string with a known prefix.
    pub fn finish(self) -> Value {
        let result = match self.state {
            State::Known => Value::string(&self.text),
            State::Failed => Value::refined(Type::String, Refinement::NOT_NULL),
            State::Unknown => {
                let mut end = self.text.len().min(LONGEST_PREFIX);
                // The limit is in bytes and may fall within a character.
                while !self.text.is_char_boundary(end) {
                    end -= 1;
                }
                Value::refined(Type::String, Refinement::NOT_NULL.prefix(&self.text[..end]))
            }
        };
        result.with_marks(&self.marks)
    }
}
