//! An object of the cloud, as it is stored and as a value of its resource type.

use groma_value::{Type, Value};
use serde::{Deserialize, Serialize};

/// An object of the cloud.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The identifier, `<name>#<n>` for the n-th object of that name that was ever created.
    pub id: String,
    /// The name: a label for logs and instructions, not unique.
    pub name: String,
    /// An argument that is updated in place.
    pub value: Option<String>,
    /// An argument whose change needs a new object.
    pub replace: Option<String>,
    /// The identifier of an object that this one lives in; its change needs a new object.
    pub parent: Option<String>,
    /// The identifiers of objects that this one uses; updated in place.
    pub refs: Vec<String>,
    /// The endpoint that the provider had when it created the object.
    pub endpoint: Option<String>,
}

impl Object {
    /// Returns the object that a known value of the resource type describes.
    pub(super) fn from_value(value: &Value, endpoint: Option<String>) -> Self {
        Self {
            id: text(value, "id").unwrap_or_default(),
            name: text(value, "name").unwrap_or_default(),
            value: text(value, "value"),
            replace: text(value, "replace"),
            parent: text(value, "parent"),
            refs: texts(value, "refs"),
            endpoint,
        }
    }

    /// Returns the object as a value of the resource type. `like` says whether an empty list of references is null.
    pub(super) fn to_value(&self, like: &Value) -> Value {
        let optional = |text: &Option<String>| text.as_ref().map_or(Value::null(Type::String), Value::string);
        let is_null = like.attribute("refs").is_none_or(|refs| refs.is_null());
        let refs = match self.refs.is_empty() && is_null {
            true => Value::null(Type::list(Type::String)),
            false => Value::list(Type::String, self.refs.iter().map(Value::string).collect()),
        };
        Value::object([
            ("id", Value::string(&self.id)),
            ("name", Value::string(&self.name)),
            ("parent", optional(&self.parent)),
            ("refs", refs),
            ("replace", optional(&self.replace)),
            ("value", optional(&self.value)),
        ])
    }

    /// Returns the identifiers of the objects that this one refers to.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.parent.iter().chain(&self.refs).map(String::as_str)
    }
}

/// Returns the string attribute `name`, if it is known and not null.
pub(super) fn text(value: &Value, name: &str) -> Option<String> {
    value.attribute(name)?.as_str().map(str::to_owned)
}

/// Returns the known elements of a list of strings; none for a null or unknown list.
pub(super) fn texts(value: &Value, name: &str) -> Vec<String> {
    let list = value.attribute(name);
    let elements = list.as_ref().and_then(|list| list.as_slice()).unwrap_or_default();
    elements.iter().filter_map(|element| element.as_str().map(str::to_owned)).collect()
}
