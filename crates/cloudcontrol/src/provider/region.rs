//! The attribute `region` of a resource: objects in another region than that of the provider.

use groma_provider::Use;
use groma_value::Value;

use super::fields::{Change, Field, Fields, Shape};

/// The name of the attribute.
pub(super) const REGION: &str = "region";

/// Returns the attribute, for a type that has none of this name.
pub(super) fn attribute(fields: &[Field]) -> Option<Field> {
    fields
        .iter()
        .all(|field| &*field.attribute != REGION)
        .then(|| Field { change: Change::Replace, ..Field::of(REGION, Shape::Text, Use::Optional) })
}

/// Whether objects have the attribute; some types have a property of this name instead.
pub(super) fn is_offered(fields: &Fields) -> bool {
    fields.list.iter().any(|field| &*field.attribute == REGION && field.property.is_none())
}

/// Returns the region that an object sets, if it does.
pub(super) fn of(fields: &Fields, object: &Value) -> Option<String> {
    if !is_offered(fields) {
        return None;
    }
    object.attribute(REGION)?.as_str().filter(|region| !region.is_empty()).map(str::to_owned)
}

/// Returns the object in a region.
pub(super) fn with(fields: &Fields, object: &Value, region: Option<&str>) -> Value {
    let (Some(view), Some(region)) = (object.as_object(), region.filter(|_| is_offered(fields))) else {
        return object.clone();
    };
    let values = fields
        .list
        .iter()
        .zip(view.values())
        .map(|(field, value)| if &*field.attribute == REGION { Value::string(region) } else { value.clone() });
    fields.block.object(values.collect())
}
