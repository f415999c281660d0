//! The objects of instances, and their lists of dependencies.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_address::InstanceKey;

use super::paths;
use super::write::Members;
use crate::dependencies::{ByAddress, Dependencies};
use crate::json::new_line;
use crate::object::{ObjectRecord, ObjectStatus};

/// The line of each dependency in the file, from the comma before it on, rendered once for all lists that contain it.
#[derive(Default)]
pub(super) struct DependencyLines(ByAddress<Line>);

/// A line, read millions of times: most are stored together with their length, which the processor fetches at once.
#[repr(align(64))]
enum Line {
    Short { length: u8, text: [u8; SHORT] },
    Long(Box<[u8]>),
}

/// With what else is in it, a line of this length fills 64 bytes.
const SHORT: usize = 62;

/// The nesting depth of the dependency list of an object in the file.
const DEPENDENCIES_DEPTH: usize = 5;

impl DependencyLines {
    fn write(&mut self, dependencies: &Dependencies, out: &mut Vec<u8>) {
        let start = out.len();
        self.0.each(dependencies, |_, address| Line::of(address), |line| line.write(out));
        if let Some(first_comma) = out.get_mut(start) {
            *first_comma = b'[';
        }
        new_line(DEPENDENCIES_DEPTH, out);
        out.push(b']');
    }
}

impl Line {
    /// The line of a dependency.
    fn of(address: &str) -> Self {
        let mut line = Vec::with_capacity(SHORT);
        line.push(b',');
        new_line(DEPENDENCIES_DEPTH + 1, &mut line);
        line.push(b'"');
        // Names and dots need no escapes.
        line.extend_from_slice(address.as_bytes());
        line.push(b'"');
        let mut text = [0; SHORT];
        match text.get_mut(..line.len()) {
            Some(room) => room.copy_from_slice(&line),
            None => return Self::Long(line.into()),
        }
        Self::Short { length: line.len() as u8, text }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Short { length, text } => {
                let end = out.len() + usize::from(*length);
                // A copy of a length that the compiler knows is a few instructions: what is too much is cut off.
                out.extend_from_slice(text);
                out.truncate(end);
            }
            Self::Long(text) => out.extend_from_slice(text),
        }
    }
}

/// Appends an object of the instance `key`: the current one, or the one that was deposed under a name. `provider` manages it,
/// where not the whole resource has the same.
pub(super) fn write_object(
    (key, deposed): (&InstanceKey, Option<&str>),
    provider: Option<&str>,
    object: &ObjectRecord,
    lines: &mut DependencyLines,
    out: &mut Vec<u8>,
) {
    let mut members = Members::object(out, 4);
    match key {
        InstanceKey::None => {}
        InstanceKey::Int(index) => members.number("index_key", *index),
        InstanceKey::String(key) => members.string("index_key", key),
    }
    if object.status == ObjectStatus::Tainted {
        members.string("status", "tainted");
    }
    if let Some(deposed) = deposed {
        members.string("deposed", deposed);
    }
    let foreign = object.foreign.as_deref();
    if let Some(own) = object.provider() {
        members.string("provider", &own.to_string());
    } else if let Some(provider) = provider {
        members.string("provider", provider);
    }
    members.number("schema_version", object.schema_version);
    match foreign.and_then(|keys| keys.attributes_flat.as_deref()) {
        Some(flat) => members.raw("attributes_flat", flat),
        None => members.raw("attributes", object.attributes.as_str()),
    }
    if object.sensitive_attributes.is_empty() {
        members.member("sensitive_attributes").extend_from_slice(b"[]");
    } else {
        let mut json = Vec::new();
        paths::write(&object.sensitive_attributes, &mut json);
        members.raw("sensitive_attributes", &String::from_utf8_lossy(&json));
    }
    members.number("identity_schema_version", object.identity.as_ref().map_or(0, |identity| identity.schema_version));
    if let Some(identity) = object.identity.as_ref().and_then(|identity| identity.json.as_ref()) {
        members.raw("identity", identity.as_str());
    }
    if !object.private.is_empty() {
        members.string("private", &STANDARD.encode(&object.private));
    }
    if !object.dependencies.is_empty() {
        lines.write(&object.dependencies, members.member("dependencies"));
    }
    if let Some(depends_on) = foreign.and_then(|keys| keys.depends_on.as_deref()) {
        members.raw("depends_on", depends_on);
    }
    if object.create_before_destroy {
        members.member("create_before_destroy").extend_from_slice(b"true");
    }
    if foreign.is_some_and(|keys| keys.skip_destroy) {
        members.member("skip_destroy").extend_from_slice(b"true");
    }
    members.finish();
}
