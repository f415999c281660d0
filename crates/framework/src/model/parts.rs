//! The values of an object, for the fields of a struct.

use groma_value::{ObjectType, ObjectView, Path, PathStep, Value};

use super::{Field, ModelError};
use crate::Name;

/// The values of an object that is there.
pub struct Parts<'a> {
    object: ObjectView<'a>,
    /// Whether the values are in the order of the model's names.
    aligned: bool,
}

impl<'a> Parts<'a> {
    /// Splits `value` into the attributes of the type `ty`.
    ///
    /// # Errors
    ///
    /// There is no object, or nobody knows yet.
    pub fn of(value: &'a Value, ty: &ObjectType, path: &Path) -> Result<Self, ModelError> {
        match value.as_object() {
            Some(object) => Ok(Self { object, aligned: object.shape() == ty.shape() }),
            None if value.is_null() => Err(ModelError::new(path, "there is no object, and the field needs one")),
            None if !value.is_known() => Err(ModelError::new(path, "the object is known after apply only")),
            None => Err(ModelError::new(path, format!("{} is no object", value.ty().friendly_name()))),
        }
    }

    /// The field `name`, which is the one at `position` in the order of the names.
    ///
    /// # Errors
    ///
    /// The field cannot hold the value.
    pub fn field<T: Field>(&self, position: usize, name: &str, path: &mut Path) -> Result<T, ModelError> {
        let value = if self.aligned { self.object.values().get(position) } else { self.object.get(name) };
        path.push(PathStep::Attribute(Name::from(name)));
        let field = match value {
            Some(value) => T::from_value(value, path),
            None => T::from_value(&Value::null(T::ty()), path),
        };
        path.pop();
        field
    }
}
