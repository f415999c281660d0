//! Structs that represent objects (FW-20).
//!
//! `#[derive(Model)]` on a struct with named fields implements its schema and the conversion between the struct and a value:
//!
//! ```
//! use groma_framework::model::{Maybe, Set};
//! use groma_framework::{Model, SchemaBuilder};
//!
//! /// A rule of a firewall.
//! #[derive(Model)]
//! #[model(version = 1)]
//! struct Rule {
//!     /// The name of the rule.
//!     name: String,
//!     /// The source addresses that the rule admits.
//!     #[attribute(force_new)]
//!     sources: Option<Set<String>>,
//!     #[attribute(default = 443)]
//!     port: Maybe<u16>,
//!     #[attribute(computed, use_state_for_unknown)]
//!     id: Maybe<String>,
//!     #[block(max = 2)]
//!     limit: Vec<Limit>,
//! }
//!
//! #[derive(Model)]
//! struct Limit {
//!     per_second: f64,
//! }
//!
//! let schema = Rule::schema().build();
//! # assert!(schema.is_ok());
//! ```
//!
//! # Types of fields
//!
//! | field | schema |
//! | --- | --- |
//! | `String`, `bool`, integers, `f32`, `f64`, [`Number`](crate::value::Number) | a string, a bool, a number |
//! | `Vec<T>`, [`Set<T>`] or a set of the standard library, maps with `String` keys | a list, a set, a map |
//! | another model | a nested attribute with the nesting mode single; list, set or map inside of `Vec`, `Set` or a map |
//! | `Option<T>` | `T`, or null |
//! | [`Maybe<T>`] | `T`, null, or an unknown value |
//! | [`Value`] | a value of any type; not inside of collections |
//!
//! # Attributes of fields
//!
//! By default an attribute is optional if the type of its field can hold null, and required otherwise. `#[attribute(...)]` takes
//! `required`, `optional`, `computed` (with `optional`, the provider chooses a value that the configuration does not set),
//! `sensitive`, `write_only`, `force_new` or its synonym `requires_replace` (a change replaces the object),
//! `use_state_for_unknown`, `default = ...`, `validator = ...` and `modifier = ...` (any number of times), `equality =
//! ...`, and the strings `name`, `description` and `deprecated`. The doc comment is the default description.
//!
//! `#[block(...)]` makes the field a nested block: a model (always present), or an `Option`, a `Vec`, a `Set` or a map of one. It takes
//! `min`, `max`, `validator`, `modifier`, `name`, `description` and `deprecated`. `#[model(version = ...)]` on the struct sets the schema
//! version of stored objects.
//!
//! Impossible declarations do not compile: a computed attribute whose field cannot hold an unknown value, or an optional one whose field
//! cannot hold null. A model must not contain itself.

mod collections;
mod field;
mod maybe;

pub use collections::Set;
pub use field::{BlockField, Field, FieldShape, attribute, block};
pub use maybe::Maybe;

use std::fmt;
use std::sync::Arc;

use groma_provider::{ProviderDiagnostic, SchemaProblem};
use groma_value::{ObjectType, ObjectView, Path, PathStep, Type, Value};

use crate::Name;
use crate::schema::{Attribute, NestedBlock, ResourceSchema, SchemaBuilder};

/// A struct that represents an object. Derive it; see the [module](self).
pub trait Model: Field {
    /// Returns the attributes by name.
    fn attributes() -> Vec<(Name, Attribute)>;

    /// Returns the nested blocks by name.
    fn blocks() -> Vec<(Name, NestedBlock)>;

    /// Returns the type of the values.
    fn object_type() -> &'static Arc<ObjectType>;

    /// Returns the description in Markdown; may be empty.
    fn description() -> &'static str {
        ""
    }

    /// Returns the schema version of stored objects.
    fn version() -> u64 {
        0
    }

    /// Returns the schema, to be extended or built.
    fn schema() -> SchemaBuilder {
        let mut schema = SchemaBuilder::new().version(Self::version()).described(Self::description());
        for (name, attribute) in Self::attributes() {
            schema = schema.attribute(name, attribute);
        }
        for (name, block) in Self::blocks() {
            schema = schema.block(name, block);
        }
        schema
    }

    /// Converts `object` to the struct.
    ///
    /// # Errors
    ///
    /// Fails if the object is null or unknown, or if a field cannot hold its value.
    fn of(object: &Value) -> Result<Self, ModelError> {
        Self::from_value(object, &mut Path::root())
    }

    /// Returns the differences between the model and `schema`: none if the schema was made from the model.
    fn mismatches(schema: &ResourceSchema) -> Vec<SchemaProblem> {
        mismatches(Self::object_type(), schema.block().implied_type(), "")
    }
}

fn mismatches(own: &ObjectType, theirs: &Type, prefix: &str) -> Vec<SchemaProblem> {
    let problem = |name: &str, message: String| SchemaProblem { path: format!("{prefix}{name}"), message };
    // Not an object at all: the caller reports the type as a whole.
    let Some(theirs) = theirs.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (name, ty) in own.iter() {
        match theirs.attribute(name) {
            None => found.push(problem(name, "the model has it, and the schema does not".into())),
            Some(other) if other == ty => {}
            Some(other) => match (ty, other) {
                // Differences inside nested objects are reported with their own path.
                (Type::Object(inner), Type::Object(_)) => {
                    found.extend(mismatches(inner, other, &format!("{prefix}{name}.")));
                }
                _ => found.push(problem(
                    name,
                    format!("the model has {}, and the schema {}", ty.friendly_name(), other.friendly_name()),
                )),
            },
        }
    }
    // An attribute without a field would be null in every object that the provider returns.
    let missing = theirs.iter().filter(|(name, _)| own.attribute(name).is_none());
    found.extend(missing.map(|(name, _)| problem(name, "the schema has it, and the model does not".into())));
    found
}

/// The error for a value that a field cannot hold. It does not contain the value, which may be a secret.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// The path in the object.
    pub path: Path,
    /// The found and the expected value, for the provider's developers.
    pub message: String,
    /// The requirement on the value, for users: `must be a number`.
    pub demand: String,
}

impl ModelError {
    /// Creates the error for the value at `path`.
    pub fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.clone(), message: message.into(), demand: "is not what the provider can work with".into() }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for ModelError {}

impl From<ModelError> for ProviderDiagnostic {
    fn from(error: ModelError) -> Self {
        let detail = format!(
            "{}. This is a bug in the provider: the field of its model must be able to hold the value. Please report it to \
             those who develop the provider.",
            error.message
        );
        ProviderDiagnostic::error("Value does not fit the provider's model", detail).at(error.path)
    }
}

/// The attribute values of an object that is neither null nor unknown.
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
    /// Fails if the object is null or unknown.
    pub fn of(value: &'a Value, ty: &ObjectType, path: &Path) -> Result<Self, ModelError> {
        match value.as_object() {
            // Equal shapes have the same names in the same order, so values can be taken by position.
            Some(object) => Ok(Self { object, aligned: object.shape() == ty.shape() }),
            None if value.is_null() => Err(ModelError::new(path, "there is no object, and the field needs one")),
            None if !value.is_known() => Err(ModelError::new(path, "the object is known after apply only")),
            None => Err(ModelError::new(path, format!("{} is no object", value.ty().friendly_name()))),
        }
    }

    /// Converts the field `name`, whose index in the sorted names is `position`.
    ///
    /// # Errors
    ///
    /// Fails if the field cannot hold the value.
    pub fn field<T: Field>(&self, position: usize, name: &str, path: &mut Path) -> Result<T, ModelError> {
        // Values of the schema's own type need no lookup by name.
        let value = if self.aligned { self.object.values().get(position) } else { self.object.get(name) };
        path.push(PathStep::Attribute(Name::from(name)));
        let field = match value {
            Some(value) => T::from_value(value, path),
            // A missing attribute counts as null, as in stored objects of older versions.
            None => T::from_value(&Value::null(T::ty()), path),
        };
        path.pop();
        field
    }
}
