//! Between values and the records of the state.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_provider::{Checked, Private, RawState, Schema, StoredIdentity, StoredState, Subject};
use groma_state::{AttributesJson, Dependencies, Identity, ObjectRecord, ObjectStatus};
use groma_value::{CodecError, Marks, Path, PathMarks, Value, json};

/// An object to record, as a provider returned it.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its value, wholly known; sensitive parts are marked.
    pub value: Value,
    /// The provider's private data.
    pub private: Private,
    /// The identity of the object.
    pub identity: Option<Value>,
}

/// The metadata that is recorded with an object.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// Whether the object is tainted.
    pub status: ObjectStatus,
    /// The recorded dependencies of the object.
    pub dependencies: Dependencies,
    /// Whether its replacement is created first.
    pub create_before_destroy: bool,
    /// Whether the object has `destroy = false`.
    pub is_kept: bool,
}

impl Circumstances {
    /// Returns the metadata of a record.
    pub fn of(record: &ObjectRecord) -> Self {
        Self {
            status: record.status,
            dependencies: record.dependencies.clone(),
            create_before_destroy: record.create_before_destroy,
            is_kept: record.is_kept(),
        }
    }
}

/// Encodes an object as the record that the state and the journal store.
///
/// # Errors
///
/// The value does not match the schema or is not wholly known. This is a bug in Groma, because `Checked` verifies responses.
pub fn encode(schema: &Schema, object: &Object, circumstances: Circumstances) -> Result<ObjectRecord, CodecError> {
    encode_by(&mut String::with_capacity(512), schema, object, circumstances)
}

/// Encodes an object like [`encode`], with `text` as a reusable buffer: threads that allocate for each record contend for the allocator.
pub fn encode_by(
    text: &mut String,
    schema: &Schema,
    object: &Object,
    circumstances: Circumstances,
) -> Result<ObjectRecord, CodecError> {
    let (plain, marks) = match object.value.has_marks() {
        true => object.value.unmark_deep(),
        false => (object.value.clone(), PathMarks::default()),
    };
    text.clear();
    json::write_json(&plain, schema.block.implied_type(), text)?;
    let identity = match (&object.identity, &schema.identity) {
        (Some(identity), Some(of)) if !identity.is_null() => {
            let mut text = String::new();
            json::write_json(identity, &of.implied_type(), &mut text)?;
            Some(Arc::new(Identity { schema_version: of.version, json: Some(AttributesJson::compact(text)) }))
        }
        _ => None,
    };
    Ok(ObjectRecord {
        status: circumstances.status,
        schema_version: schema.version,
        attributes: AttributesJson::compact(text.as_str()),
        sensitive_attributes: sensitive_paths(&marks),
        private: Arc::clone(&object.private),
        identity,
        dependencies: circumstances.dependencies,
        create_before_destroy: circumstances.create_before_destroy,
        foreign: None,
    }
    .kept(circumstances.is_kept))
}

/// Whether a record needs no new identity: it has `identity` with the current schema version, or there is none (LC-31).
pub fn keeps_identity(schema: &Schema, record: &ObjectRecord, identity: Option<&Value>) -> bool {
    let (Some(identity), Some(of)) = (identity.filter(|identity| !identity.is_null()), &schema.identity) else {
        return true;
    };
    let Some(stored) = record.identity.as_ref().filter(|stored| stored.schema_version == of.version) else {
        return false;
    };
    let known = stored.json.as_ref().and_then(|text| json::from_json(text.as_bytes(), &of.implied_type()).ok());
    known.as_ref() == Some(identity)
}

fn sensitive_paths(marks: &PathMarks) -> Vec<Path> {
    let mut paths: Vec<Path> =
        marks.iter().filter(|(_, marks)| marks.is_sensitive()).map(|(path, _)| path.clone()).collect();
    paths.sort();
    paths
}

/// Decodes the object of a record without a provider call; `None` if it does not match the current schema.
pub fn decode(schema: &Schema, record: &ObjectRecord) -> Option<Value> {
    let value = record.decode(schema.block.implied_type()).ok()?;
    Some(remember_marks(value, record))
}

/// Returns the recorded object in the form that providers upgrade.
pub fn raw_state(record: &ObjectRecord) -> RawState {
    match record.flat_attributes() {
        Some(flat) => RawState::Flat(Arc::new(flat)),
        None => record.attributes.as_str().into(),
    }
}

/// Returns `value` with the sensitive marks of a record.
pub fn remember_marks(value: Value, record: &ObjectRecord) -> Value {
    if value.is_null() || record.sensitive_attributes.is_empty() {
        return value;
    }
    let marks: PathMarks = record.sensitive_attributes.iter().map(|path| (path.clone(), Marks::SENSITIVE)).collect();
    value.mark_paths(&marks)
}

/// Returns the recorded object, upgraded by its provider to the current schema version, with its sensitive marks (LC-19).
pub async fn recall(
    provider: &Checked,
    subject: &Subject<'_>,
    record: &ObjectRecord,
    diagnostics: &mut Diagnostics,
) -> Option<Object> {
    let stored = StoredState { version: record.schema_version, object: raw_state(record) };
    let (value, problems) = provider.upgrade(subject, stored).await;
    diagnostics.append(problems);
    let value = remember_marks(value?, record);
    let mut identity = None;
    if let Some(stored) = &record.identity
        && let Some(text) = &stored.json
    {
        let stored = StoredIdentity { version: stored.schema_version, json: text.as_str().into() };
        let (upgraded, problems) = provider.upgrade_identity(subject, stored).await;
        diagnostics.append(problems);
        identity = upgraded;
    }
    Some(Object { value, private: Arc::clone(&record.private), identity })
}

/// Returns the error that an object could not be encoded.
pub fn unrecordable(address: &ResourceInstance, problem: &CodecError) -> Diagnostic {
    let detail = format!(
        "The object of {address} cannot be written to the state: {problem}. This is a bug in Groma; please report it."
    );
    Diagnostic::error("Failed to record an object", detail).about(address)
}
