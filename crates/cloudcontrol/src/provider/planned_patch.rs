//! The patch of a planned update, as people may see it: without secrets, and with placeholders for unknown values.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use groma_framework::PrivateData;
use groma_value::{Kind, Redacted, Value};
use serde_json::{Map, Value as Json, json};

use super::document::{Part, of_value};
use super::fields::{Change, Fields, Shape};
use super::interpreted::{Interpreted, Types};
use super::patch::patch;
use super::present::identifier_of;
use super::private_state::{Configured, PrivateState};
use super::tags::TagSettings;
use crate::Name;
use crate::schema::Catalogue;

const UNKNOWN: &str = "(known after apply)";

/// The text in place of a sensitive value.
fn redacted() -> Json {
    Redacted::Sensitive.to_string().into()
}

/// The patches that updates send to the service, computed from planned changes.
#[derive(Debug)]
pub struct Patches {
    types: Types,
    /// The types of earlier patches, so that each is interpreted once.
    used: Mutex<HashMap<Name, Arc<Interpreted>>>,
}

/// A planned update of an object.
#[derive(Debug, Clone, Copy)]
pub struct PlannedUpdate<'a> {
    /// The prior object.
    pub before: &'a Value,
    /// The planned object. Its sensitive parts are marked.
    pub after: &'a Value,
    /// The provider's bytes of the plan.
    pub private: &'a Arc<[u8]>,
}

/// The patch that an update sends to the service.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedPatch {
    /// The type, such as `AWS::S3::Bucket`.
    pub type_name: Name,
    /// The primary identifier of the object.
    pub identifier: String,
    /// The operations of RFC 6902. Sensitive and unknown values are replaced by a placeholder.
    pub operations: Vec<Json>,
}

impl Patches {
    /// Returns the patches of the types in a catalogue.
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        Self { types: Types::new(catalogue), used: Mutex::default() }
    }

    fn interpreted(&self, resource_type: &str) -> Option<Arc<Interpreted>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interpreted) = used.get(resource_type) {
            return Some(interpreted.clone());
        }
        let interpreted = self.types.one(resource_type).ok().flatten()?;
        used.insert(resource_type.into(), interpreted.clone());
        Some(interpreted)
    }

    /// Returns the patch of an update; none for a type without updates, or if nothing is sent.
    pub fn of(&self, resource_type: &str, update: PlannedUpdate<'_>) -> Option<PlannedPatch> {
        let interpreted = self.interpreted(resource_type)?;
        interpreted.schema.handlers.update.as_ref()?;
        let (before, after) = (update.before.unmark_deep().0, update.after.unmark_deep().0);
        let identifier = identifier_of(&before)?;
        let mut operations = operations(&interpreted, &before, &after);
        let configured = PrivateState::decode(&PrivateData::decode(update.private)).configured.unwrap_or_default();
        let fields = &interpreted.fields;
        announce_unknown(fields, &before, &after, &configured, "", &mut operations);
        operations.iter_mut().for_each(|operation| hide_values(fields, update.after, operation));
        let type_name = interpreted.schema.type_name.clone();
        (!operations.is_empty()).then_some(PlannedPatch { type_name, identifier, operations })
    }
}

fn operations(interpreted: &Interpreted, before: &Value, after: &Value) -> Vec<Json> {
    let fields = &interpreted.fields;
    let Some(place) = &interpreted.tags else { return patch(fields, before, after) };
    // The plan has the default tags among all tags, so the provider's settings are not needed.
    let settings = TagSettings::with_defaults(after.attribute("tags_all").as_ref());
    let none = BTreeMap::new();
    patch(fields, &place.current(&settings, fields, before, &none), &place.desired(&settings, fields, after, &none))
}

/// Adds operations for configured values that are unknown until apply. Values that nobody configures are not sent.
fn announce_unknown(
    fields: &Fields,
    before: &Value,
    after: &Value,
    configured: &Configured,
    path: &str,
    into: &mut Vec<Json>,
) {
    let (Some(before), Some(after)) = (before.as_object(), after.as_object()) else { return };
    for (field, (before, after)) in fields.list.iter().zip(before.values().iter().zip(after.values())) {
        let is_sendable = !field.read_only() && field.change == Change::InPlace;
        let Some(property) = field.property.as_ref().filter(|_| is_sendable) else { continue };
        let Some(configured) = configured.get(&field.attribute) else { continue };
        let here = format!("{path}/{}", property.replace('~', "~0").replace('/', "~1"));
        match &field.shape {
            Shape::Object(inner) if after.is_known() => {
                announce_unknown(inner, before, after, configured, &here, into);
            }
            _ if after.is_known() => {}
            _ => {
                // An unknown value looks like a removed one to the patch.
                into.retain(|operation| operation["path"] != here.as_str());
                let operation = if before.is_null() { "add" } else { "replace" };
                into.push(json!({"op": operation, "path": here, "value": UNKNOWN}));
            }
        }
    }
}

/// Replaces sensitive and unknown parts of an operation's value.
fn hide_values(fields: &Fields, after: &Value, operation: &mut Json) {
    let Some(path) = operation["path"].as_str().map(str::to_owned) else { return };
    let Some(value_sent) = operation.get_mut("value") else { return };
    let mut steps = path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    let Some(first) = steps.next() else { return };
    let Some(mut location) = Location::of_property(fields, after, &first) else { return };
    for step in steps {
        match location.inside(&step) {
            Some(inside) => location = inside,
            None => return,
        }
    }
    let Location { shape, value, is_sensitive, part } = location;
    if is_sensitive {
        *value_sent = redacted();
    } else if value.is_known() && (value.has_marks() || !value.is_wholly_known()) {
        *value_sent = shown(shape, &value, part).unwrap_or(Json::Null);
    }
}

/// The planned value at the path of an operation.
struct Location<'a> {
    shape: &'a Shape,
    value: Value,
    is_sensitive: bool,
    part: Part,
}

impl<'a> Location<'a> {
    fn of_property(fields: &'a Fields, object: &Value, property: &str) -> Option<Self> {
        let (object, marks) = object.unmark();
        let view = object.as_object()?;
        let mut members = fields.list.iter().zip(view.values());
        let (field, value) = members.find(|(field, _)| field.property.as_deref() == Some(property))?;
        let (value, own) = value.unmark();
        let part = if field.write_only { Part::Changeable } else { Part::Given };
        Some(Self { shape: &field.shape, value, is_sensitive: marks.is_sensitive() || own.is_sensitive(), part })
    }

    fn inside(&self, step: &str) -> Option<Self> {
        match (self.shape, self.value.kind()) {
            (Shape::Object(fields), _) => {
                let inside = Self::of_property(fields, &self.value, step)?;
                Some(Self { is_sensitive: self.is_sensitive || inside.is_sensitive, ..inside })
            }
            (Shape::Map(element), Kind::Map(view)) => {
                let (value, marks) = view.get(step)?.unmark();
                Some(Self { shape: element, value, is_sensitive: self.is_sensitive || marks.is_sensitive(), ..*self })
            }
            _ => None,
        }
    }
}

/// Returns the JSON of a value as [`of_value`] does, with placeholders.
fn shown(shape: &Shape, value: &Value, part: Part) -> Option<Json> {
    let (value, marks) = value.unmark();
    // Nothing is sent for a null, whatever its marks.
    if value.is_null() {
        return None;
    }
    if marks.is_sensitive() {
        return Some(redacted());
    }
    if !value.is_known() {
        return Some(UNKNOWN.into());
    }
    match (shape, value.kind()) {
        (Shape::List(element, _) | Shape::Set(element), Kind::List(values) | Kind::Set(values)) => {
            let elements: Vec<Json> = values.iter().filter_map(|value| shown(element, value, part)).collect();
            (!elements.is_empty()).then_some(Json::Array(elements))
        }
        (Shape::Map(element), Kind::Map(view)) => {
            let members = view.iter().filter_map(|(key, value)| Some((key.to_string(), shown(element, value, part)?)));
            let members: Map<String, Json> = members.collect();
            (!members.is_empty()).then_some(Json::Object(members))
        }
        (Shape::Object(fields), Kind::Object(view)) => {
            let members = fields.list.iter().zip(view.values()).filter_map(|(field, value)| {
                let is_left_out = field.read_only() || (part == Part::Changeable && field.change != Change::InPlace);
                let property = field.property.as_ref().filter(|_| !is_left_out)?;
                // A member that nobody configures is unknown too, but it is not sent.
                let is_chosen_by_service = !value.is_known() && field.usage.is_computed();
                if is_chosen_by_service {
                    None
                } else {
                    Some((property.to_string(), shown(&field.shape, value, part)?))
                }
            });
            Some(Json::Object(members.collect::<Map<_, _>>()))
        }
        _ => of_value(shape, &value, part),
    }
}

#[cfg(test)]
mod tests {
    use groma_value::{Marks, Type};

    use super::*;

    fn object(interpreted: &Interpreted, values: &[(&str, Value)]) -> Value {
        let fields = &interpreted.fields;
        let empty = fields.block.empty_value();
        let view = empty.as_object().unwrap();
        let values = fields.list.iter().zip(view.values()).map(|(field, empty)| {
            let given = values.iter().find(|(name, _)| **name == *field.attribute);
            given.map_or_else(|| empty.clone(), |(_, value)| value.clone())
        });
        fields.block.object(values.collect())
    }

    fn patch_of(resource_type: &str, before: &[(&str, Value)], after: &[(&str, Value)], configured: &str) -> Vec<Json> {
        let patches = Patches::new(Catalogue::shipped().clone());
        let interpreted = patches.types.one(resource_type).unwrap().unwrap();
        let (before, after) = (object(&interpreted, before), object(&interpreted, after));
        let mut private = PrivateData::new();
        private.set("configured", configured);
        let private: Arc<[u8]> = private.encode();
        let update = PlannedUpdate { before: &before, after: &after, private: &private };
        patches.of(resource_type, update).map(|patch| patch.operations).unwrap_or_default()
    }

    #[test]
    fn sensitive_and_unknown_values_are_replaced_by_placeholders() {
        let id = || ("id", Value::string("/a"));
        let before = [id(), ("value", Value::string("old")), ("description", Value::string("x"))];
        let secret = Value::string("new").with_marks(&Marks::SENSITIVE);
        let after = [id(), ("value", secret), ("description", Value::unknown(Type::String))];
        let configured = r#"{"value": {}, "description": {}}"#;
        let operations = patch_of("awscc_ssm_parameter", &before, &after, configured);
        assert_eq!(
            Json::Array(operations),
            json!([
                {"op": "replace", "path": "/Value", "value": redacted()},
                {"op": "replace", "path": "/Description", "value": UNKNOWN},
            ])
        );
    }

    #[test]
    fn removed_values_are_removals() {
        let id = || ("id", Value::string("/a"));
        let before = [id(), ("retention_in_days", Value::number(14))];
        let after = [id(), ("retention_in_days", Value::unknown(Type::Number))];
        let operations = patch_of("awscc_logs_log_group", &before, &after, "{}");
        assert_eq!(Json::Array(operations), json!([{"op": "remove", "path": "/RetentionInDays"}]));
    }

    #[test]
    fn default_tags_are_part_of_the_patch() {
        let tags = |all: &[(&str, &str)]| {
            Value::map(Type::String, all.iter().map(|(key, value)| (*key, Value::string(*value))))
        };
        let id = || ("id", Value::string("/a"));
        let before = [id(), ("tags_all", tags(&[("team", "one")]))];
        let after = [id(), ("tags_all", tags(&[("team", "two")]))];
        let operations = patch_of("awscc_logs_log_group", &before, &after, "{}");
        assert_eq!(
            Json::Array(operations),
            json!([{"op": "replace", "path": "/Tags", "value": [{"Key": "team", "Value": "two"}]}])
        );
    }
}
