//! Putting the parts of a string template together.

use crate::convert::{ConversionError, convert};
use crate::marks::Marks;
use crate::refinement::Refinement;
use crate::types::Type;
use crate::value::{Kind, Value};

/// The longest start of an unknown result that is remembered, in bytes.
const LONGEST_PREFIX: usize = 128;

/// A string that is being put together from literal text and values.
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
    /// Something unknown was met: the text is what comes before it.
    Unknown,
    /// A part could not be used, so the text cannot be trusted.
    Failed,
}

/// The reason why a value cannot be part of a string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The value is null.
    #[error("the expression is null, which has no text for a string template")]
    Null,
    /// It cannot be converted to a string.
    #[error("the expression has no text for a string template: {0}")]
    NoString(ConversionError),
}

impl TemplateBuilder {
    /// A builder with room for a text of this many bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        TemplateBuilder { text: String::with_capacity(capacity), ..TemplateBuilder::default() }
    }

    /// Appends literal text to the template.
    pub fn push_str(&mut self, text: &str) {
        if self.state == State::Known {
            self.text.push_str(text);
        }
    }

    /// Adds a value. Its marks come to the result in any case.
    ///
    /// # Errors
    /// If the value is null or no string can be made of it; the result is then unknown.
    pub fn push(&mut self, value: &Value) -> Result<(), TemplateError> {
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

    /// The string; if a part of it is unknown, an unknown one of which the start is known.
    pub fn finish(self) -> Value {
        let result = match self.state {
            State::Known => Value::string(&self.text),
            State::Failed => Value::refined(Type::String, Refinement::NOT_NULL),
            State::Unknown => {
                let mut end = self.text.len().min(LONGEST_PREFIX);
                while !self.text.is_char_boundary(end) {
                    end -= 1;
                }
                Value::refined(Type::String, Refinement::NOT_NULL.prefix(&self.text[..end]))
            }
        };
        result.with_marks(&self.marks)
    }
}
