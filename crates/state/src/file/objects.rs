//! The objects of instances, and their lists of dependencies.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_address::{ConfigResource, InstanceKey};

use super::members::Members;
use super::paths;
use crate::dependencies::{ByAddress, Dependencies, text_parts};
use crate::json::new_line;
use crate::object::{ObjectRecord, ObjectStatus};

/// What a file says about each dependency, made once for all the lists that it is in.
pub(super) type DependencyLines = ByAddress<Line>;

/// The line of a dependency, from the comma before it on.
///
/// There are millions: a copy of a length that the compiler knows is a few instructions, so short lines are copied as if
/// they were that long, and cut off.
pub(super) enum Line {
    Short([u8; SHORT], u8),
    Long(Box<[u8]>),
}

const SHORT: usize = 63;

impl Line {
    fn of(dependency: &ConfigResource) -> Self {
        let mut line = Vec::with_capacity(SHORT);
        line.push(b',');
        new_line(DEPENDENCIES_DEPTH + 1, &mut line);
        line.push(b'"');
        // Names and dots need no escapes.
        text_parts(dependency).for_each(|part| line.extend_from_slice(part.as_bytes()));
        line.push(b'"');
        let length = line.len();
        if length > SHORT {
            return Self::Long(line.into());
        }
        let mut short = [0; SHORT];
        short[..length].copy_from_slice(&line);
        Self::Short(short, length as u8)
    }

    fn push_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Short(text, length) => {
                let end = out.len() + usize::from(*length);
                out.extend_from_slice(text);
                out.truncate(end);
            }
            Self::Long(text) => out.extend_from_slice(text),
        }
    }
}

/// How deep the list of an object's dependencies is in the file.
const DEPENDENCIES_DEPTH: usize = 5;

fn write_dependencies(dependencies: &Dependencies, lines: &mut DependencyLines, out: &mut Vec<u8>) {
    out.reserve(dependencies.len() * (SHORT + 1));
    let begin = out.len();
    lines.each(dependencies, Line::of, |line| line.push_to(out));
    match out.get_mut(begin) {
        Some(first_comma) => *first_comma = b'[',
        None => out.push(b'['),
    }
    new_line(DEPENDENCIES_DEPTH, out);
    out.push(b']');
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
        write_dependencies(&object.dependencies, lines, members.member("dependencies"));
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
