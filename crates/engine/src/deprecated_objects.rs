//! The marks on objects of which something is deprecated by their schemas.

use std::sync::Arc;

use groma_address::{ConfigResource, DeprecationOrigin, InstanceKey};
use groma_provider::{DeprecatedPart, PartKind, Schema};
use groma_value::{Deprecation, Marks, PathMarks, Type, Value};

/// Marks the objects of a resource.
#[derive(Debug)]
pub struct Marker {
    schema: Arc<Schema>,
    address: ConfigResource,
}

impl Marker {
    /// Returns the marks for objects of a resource with this schema; `None` if nothing about them is deprecated.
    pub fn of(schema: &Arc<Schema>, address: impl FnOnce() -> ConfigResource) -> Option<Box<Self>> {
        schema.block.contains_deprecated().then(|| Box::new(Self { schema: Arc::clone(schema), address: address() }))
    }

    /// The object of the instance `key`, with marks on what is deprecated about it.
    pub fn mark(&self, object: Value, key: &InstanceKey) -> Value {
        let object = spread(object);
        let marks: PathMarks =
            self.schema.block.deprecated_parts(&object).into_iter().map(|part| self.marks(part, key)).collect();
        object.mark_paths(&marks)
    }

    fn marks(&self, part: DeprecatedPart<'_>, key: &InstanceKey) -> (groma_value::Path, Marks) {
        let within = part.path.to_string();
        let message = match (part.deprecation.message.trim(), part.kind) {
            ("", PartKind::Whole) => {
                "Resources of this type are deprecated. See the provider's documentation for a replacement.".to_owned()
            }
            ("", kind) => {
                let what = if kind == PartKind::Attribute { "attribute" } else { "block" };
                let name = within.strip_prefix('.').unwrap_or(&within);
                format!("The {what} {name:?} is deprecated. See the provider's documentation for a replacement.")
            }
            (message, _) => message.to_owned(),
        };
        let origin =
            DeprecationOrigin::Object { resource: self.address.clone(), key: key.clone(), path: within.into() };
        (part.path, Marks::deprecated(Deprecation { message: message.into(), origin }))
    }
}

/// An unknown object as one of unknown attributes: there is one in any case, and marks on a part say nothing of the rest.
fn spread(object: Value) -> Value {
    match (object.is_known(), object.ty()) {
        (false, Type::Object(ty)) => {
            let marks = object.marks().clone();
            Value::object_typed(&ty, ty.types().iter().map(|ty| Value::unknown(ty.clone())).collect())
                .with_marks(&marks)
        }
        _ => object,
    }
}
