//! Secret properties and their write-only arguments.
//!
//! Two kinds of write-only meet here. A write-only *property* of Cloud Control (`writeOnlyProperties`, [`Field::write_only`]) is one
//! that the service never returns; its attribute is stored in the state, marked as sensitive. A write-only *argument* of Terraform is
//! stored nowhere. For the property `password` the provider adds the write-only argument `password_wo`, its twin
//! ([`Field::ephemeral_of`]). No state contains its value, so the provider cannot detect a change: the user changes
//! `password_wo_version`, and the update sends the current `password_wo`.

use groma_provider::Use;
use groma_value::Value;

use super::fields::{Change, Field, Fields, Shape};
use super::node_type::{Main, main_type};
use crate::schema::{Node, TypeSchema};

/// Whether the values of a write-only property are secret. Booleans, numbers and enumerated strings are settings.
pub(super) fn is_secret(schema: &TypeSchema, node: &Node) -> bool {
    let is_setting = matches!(main_type(schema, node), Main::Bool | Main::Integer | Main::Number);
    !is_setting && node.enumeration.is_empty()
}

/// Returns the write-only arguments, with their version arguments, for the optional secret strings among the attributes of a type.
pub(super) fn twins(fields: &[Field]) -> Vec<Field> {
    let has_twin = |field: &&Field| {
        // A create-only property cannot be sent again, so a version argument would have no effect.
        field.sensitive
            && field.change == Change::InPlace
            && field.usage == Use::OptionalComputed
            && matches!(field.shape, Shape::Text | Shape::Json)
    };
    let is_free = |name: &str| fields.iter().all(|field| &*field.attribute != name);
    let mut twins = Vec::new();
    for field in fields.iter().filter(has_twin) {
        let (twin, version) = (format!("{}_wo", field.attribute), format!("{}_wo_version", field.attribute));
        if is_free(&twin) && is_free(&version) {
            twins.push(Field::ephemeral(twin, field.attribute.clone()));
            twins.push(Field::of(version, Shape::Integer, Use::Optional));
        }
    }
    twins
}

/// Returns the object with the configured values of write-only arguments in place of the properties they stand for.
pub(super) fn with_ephemeral(fields: &Fields, object: &Value, config: &Value) -> Value {
    let (Some(view), Some(given)) = (object.as_object(), config.as_object()) else { return object.clone() };
    let mut values = view.values().to_vec();
    for (field, value) in fields.list.iter().zip(given.values()).filter(|(_, value)| !value.is_null()) {
        let Some(twin) = &field.ephemeral_of else { continue };
        let position = fields.list.iter().position(|other| other.attribute == *twin);
        if let Some(slot) = position.and_then(|position| values.get_mut(position)) {
            *slot = value.clone();
        }
    }
    fields.block.object(values)
}
