//! The attribute `region` of a resource: objects in another region than that of the provider.

use groma_provider::Use;
use groma_value::Value;

use super::fields::{Change, Field, Shape};
use super::interpreted::Interpreted;

/// The name of the attribute, of the argument of the provider block, and of the part of identities.
pub(super) const REGION: &str = "region";

/// Returns the attribute, for a type that has none of this name.
pub(super) fn attribute(fields: &[Field]) -> Option<Field> {
    fields
        .iter()
        .all(|field| &*field.attribute != REGION)
        .then(|| Field { change: Change::Replace, ..Field::of(REGION, Shape::Text, Use::Optional) })
}

impl Interpreted {
    /// Whether objects can set their region; some types have a property of this name instead.
    pub fn has_region(&self) -> bool {
        self.fields.list.iter().any(|field| &*field.attribute == REGION && field.property.is_none())
    }

    /// Returns the region that an object sets, if it does.
    pub fn region(&self, object: &Value) -> Option<String> {
        if !self.has_region() {
            return None;
        }
        object.attribute(REGION)?.as_str().filter(|region| !region.is_empty()).map(str::to_owned)
    }

    /// Returns the object in a region.
    pub fn with_region(&self, object: &Value, region: Option<&str>) -> Value {
        match region.filter(|_| self.has_region()) {
            Some(region) => self.fields.with(object, REGION, &Value::string(region)),
            None => object.clone(),
        }
    }
}
