//! From a [`State`] to the file's bytes.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_address::{AbsResource, ConfigResource, InstanceKey, Mode, ModuleInstance, Name};
use groma_value::Path;

use super::{FORMAT_VERSION, paths};
use crate::dependencies::{ByAddress, Dependencies, text_parts};
use crate::json::{new_line, write_indented, write_string};
use crate::model::{CheckResult, CheckStatus, OutputValue, ResourceEntry, State};
use crate::object::{ObjectRecord, ObjectStatus};

/// The file's bytes for a state, as Terraform 1.15 writes them.
pub fn write(state: &State) -> Vec<u8> {
    let parts = write_parts(state);
    let mut bytes = parts.head(state.serial);
    bytes.extend_from_slice(&parts.rest);
    bytes
}

/// The file in two parts: what tells about the writing, and the content.
pub(crate) struct Written {
    terraform_version: String,
    /// From the comma after the serial on.
    pub rest: Vec<u8>,
}

impl Written {
    /// The part before the content.
    pub fn head(&self, serial: u64) -> Vec<u8> {
        let mut out = format!("{{\n  \"version\": {FORMAT_VERSION},\n  \"terraform_version\": ").into_bytes();
        write_string(&self.terraform_version, &mut out);
        out.extend_from_slice(format!(",\n  \"serial\": {serial}").as_bytes());
        out
    }
}

/// The file in two parts, so that contents can be compared without their serials.
pub(crate) fn write_parts(state: &State) -> Written {
    let mut rest = Vec::with_capacity(256 + state.len() * 512);
    write_rest(state, &mut rest, &mut |_| {});
    Written { terraform_version: state.terraform_version.clone(), rest }
}

/// Passes the file's bytes piece by piece to `take`, so that a large file need not be in memory; ends at the first error.
pub(crate) fn write_pieces(state: &State, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let written = Written { terraform_version: state.terraform_version.clone(), rest: Vec::new() };
    let mut out = Vec::with_capacity(PIECE + PIECE / 2);
    out.extend_from_slice(&written.head(state.serial));
    let mut result = Ok(());
    write_rest(state, &mut out, &mut |out| {
        if out.len() >= PIECE {
            if result.is_ok() {
                result = take(out);
            }
            out.clear();
        }
    });
    result?;
    take(&out)
}

/// How much is passed on at once.
const PIECE: usize = 1 << 18;

/// Told after each object: may take away what was written so far.
type Spill<'a> = dyn FnMut(&mut Vec<u8>) + 'a;

/// Appends all from the comma after the serial on.
fn write_rest(state: &State, out: &mut Vec<u8>, spill: &mut Spill<'_>) {
    out.extend_from_slice(b",\n  \"lineage\": ");
    write_string(&state.lineage, out);
    out.extend_from_slice(b",\n  \"outputs\": ");
    write_outputs(&state.outputs, out);
    out.extend_from_slice(b",\n  \"resources\": ");
    write_resources(state, out, spill);
    out.extend_from_slice(b",\n  \"check_results\": ");
    write_check_results(state.check_results.as_deref(), out);
    out.extend_from_slice(b"\n}\n");
}

/// Writes the members of one JSON object, or the elements of one array, each on its own line.
struct Members<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
    empty: bool,
    close: u8,
}

impl<'a> Members<'a> {
    fn object(out: &'a mut Vec<u8>, depth: usize) -> Self {
        out.push(b'{');
        Self { out, depth: depth + 1, empty: true, close: b'}' }
    }

    fn array(out: &'a mut Vec<u8>, depth: usize) -> Self {
        out.push(b'[');
        Self { out, depth: depth + 1, empty: true, close: b']' }
    }

    fn next(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        new_line(self.depth, self.out);
        self.out
    }

    /// Begins a member whose name needs no escapes.
    fn member(&mut self, name: &str) -> &mut Vec<u8> {
        let out = self.next();
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\": ");
        out
    }

    fn string(&mut self, name: &str, text: &str) {
        write_string(text, self.member(name));
    }

    fn number(&mut self, name: &str, number: u64) {
        write_number(number, self.member(name));
    }

    fn raw(&mut self, name: &str, json: &str) {
        let depth = self.depth;
        write_indented(json, depth, self.member(name));
    }

    fn finish(self) {
        if !self.empty {
            new_line(self.depth - 1, self.out);
        }
        self.out.push(self.close);
    }
}

fn write_number(number: u64, out: &mut Vec<u8>) {
    if number >= 10 {
        write_number(number / 10, out);
    }
    out.push(b'0' + (number % 10) as u8);
}

/// Appends the value of `outputs`.
pub(crate) fn write_outputs(outputs: &BTreeMap<Name, OutputValue>, out: &mut Vec<u8>) {
    let mut members = Members::object(out, 1);
    for (name, output) in outputs {
        let out = members.next();
        write_string(name, out);
        out.extend_from_slice(b": ");
        let mut members = Members::object(out, 2);
        // Marks have no form in the file, and unknown values, which only a failed run leaves, become null.
        let value = if output.value.has_marks() { output.value.unmark_deep().0 } else { output.value.clone() };
        let value = groma_value::json::to_json(&value, &output.ty).unwrap_or_else(|_| b"null".to_vec());
        members.raw("value", &String::from_utf8_lossy(&value));
        members.raw("type", &output.ty.to_json());
        if output.sensitive {
            members.member("sensitive").extend_from_slice(b"true");
        }
        if let Some(deprecated) = &output.deprecated {
            members.string("deprecated", deprecated);
        }
        members.finish();
    }
    members.finish();
}

/// Appends the value of `check_results`.
pub(crate) fn write_check_results(results: Option<&[CheckResult]>, out: &mut Vec<u8>) {
    let Some(results) = results.filter(|results| !results.is_empty()) else {
        return out.extend_from_slice(b"null");
    };
    let mut list = Members::array(out, 1);
    for result in results {
        let mut members = Members::object(list.next(), 2);
        members.string("object_kind", &result.object_kind);
        members.string("config_addr", &result.config_addr);
        members.string("status", check_status(result.status));
        write_checked_objects(result, members.member("objects"));
        members.finish();
    }
    list.finish();
}

fn write_checked_objects(result: &CheckResult, out: &mut Vec<u8>) {
    let Some(objects) = result.objects.as_deref().filter(|objects| !objects.is_empty()) else {
        return out.extend_from_slice(b"null");
    };
    let mut list = Members::array(out, 3);
    for object in objects {
        let mut members = Members::object(list.next(), 4);
        members.string("object_addr", &object.object_addr);
        members.string("status", check_status(object.status));
        if !object.failure_messages.is_empty() {
            let mut messages = Members::array(members.member("failure_messages"), 5);
            for message in &object.failure_messages {
                write_string(message, messages.next());
            }
            messages.finish();
        }
        members.finish();
    }
    list.finish();
}

fn check_status(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
        CheckStatus::Unknown => "unknown",
    }
}

/// Appends a list of sensitive paths as compact JSON.
pub(crate) fn write_paths_json(paths: &[Path], out: &mut Vec<u8>) {
    paths::write(paths, out);
}

type Resource<'a> = (&'a AbsResource, &'a ResourceEntry);

/// Resources are sorted by the *text* of their module, which is not the order of addresses: `module.a[10]` comes
/// before `module.a[2]`, and `module.a.module.b` before `module.c`.
fn write_resources(state: &State, out: &mut Vec<u8>, spill: &mut Spill<'_>) {
    let mut modules: Vec<(&ModuleInstance, String, Vec<Resource<'_>>)> = Vec::new();
    for (address, entry) in state.resources().filter(|(address, _)| address.resource.mode != Mode::Ephemeral) {
        match modules.last_mut() {
            Some((module, _, resources)) if **module == address.module => resources.push((address, entry)),
            _ => modules.push((&address.module, address.module.to_string(), vec![(address, entry)])),
        }
    }
    modules.sort_by(|(_, one, _), (_, other, _)| one.cmp(other));
    let mut list = Members::array(out, 1);
    let mut lines = DependencyLines::default();
    let mut provider = (None, String::new());
    for (_, module, resources) in &modules {
        for (address, entry) in resources {
            if provider.0.is_none_or(|last| !Arc::ptr_eq(last, &entry.provider)) {
                provider = (Some(&entry.provider), entry.provider.to_string());
            }
            write_resource(module, (address, &provider.1), entry, (&mut lines, spill), list.next());
        }
    }
    list.finish();
}

/// What a file says about each dependency, made once for all the lists that it is in.
type DependencyLines = ByAddress<Line>;

/// The line of a dependency, from the line break on.
///
/// There are millions: a copy of a length that the compiler knows is a few instructions, so short lines are copied as if
/// they were that long, and cut off.
enum Line {
    Short([u8; SHORT], u8),
    Long(Box<[u8]>),
}

const SHORT: usize = 63;

impl Line {
    fn of(dependency: &ConfigResource) -> Self {
        let mut line = Vec::with_capacity(SHORT);
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
    let mut before = b'[';
    lines.each(dependencies, Line::of, |line| {
        out.push(before);
        before = b',';
        line.push_to(out);
    });
    new_line(DEPENDENCIES_DEPTH, out);
    out.push(b']');
}

fn write_resource(
    module: &str,
    (address, provider): (&AbsResource, &str),
    entry: &ResourceEntry,
    (lines, spill): (&mut DependencyLines, &mut Spill<'_>),
    out: &mut Vec<u8>,
) {
    let resource = &address.resource;
    let mut members = Members::object(out, 2);
    if !module.is_empty() {
        members.string("module", module);
    }
    members.string("mode", if resource.mode == Mode::Data { "data" } else { "managed" });
    members.string("type", &resource.type_name);
    members.string("name", &resource.name);
    let has_own_provider = |object: &ObjectRecord| object.foreign.as_ref().is_some_and(|keys| keys.provider.is_some());
    let by_instance = entry.instances().any(|(_, record)| record.current.as_deref().is_some_and(has_own_provider));
    if !by_instance {
        members.string("provider", provider);
    }
    let mut instances = Members::array(members.member("instances"), 3);
    for (key, record) in entry.instances() {
        if let Some(object) = &record.current {
            write_object((key, None), object, lines, instances.next());
        }
        for (deposed, object) in &record.deposed {
            write_object((key, Some(deposed.as_str())), object, lines, instances.next());
        }
        spill(instances.out);
    }
    instances.finish();
    members.finish();
}

fn write_object(
    (key, deposed): (&InstanceKey, Option<&str>),
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
    if let Some(provider) = foreign.and_then(|keys| keys.provider.as_deref()) {
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
