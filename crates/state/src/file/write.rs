//! From a [`State`] to the file's bytes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use groma_address::Name;
use groma_value::Path;

use super::in_turn::Take;
use super::{FORMAT_VERSION, paths, resources};
use crate::json::{new_line, write_indented, write_string};
use crate::model::{CheckResult, CheckStatus, OutputValue, State};

/// The file's bytes for a state, as Terraform 1.15 writes them.
pub fn write(state: &State) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512 + state.len() * 512);
    // What goes into memory cannot fail.
    let _ = write_pieces(state, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    bytes
}

/// Writes what [`write`] returns to `out`, in pieces.
///
/// # Errors
/// The pieces cannot be written.
pub fn write_to(state: &State, out: &mut (dyn Write + Send)) -> io::Result<()> {
    write_pieces(state, &mut |piece| out.write_all(piece))
}

/// Returns what [`write`] does, in memory of exactly its length: for large states, which would be there twice while the
/// memory grows. It takes twice the time.
pub fn write_exact(state: &State) -> Vec<u8> {
    let mut length = 0;
    // What is only counted, or goes into memory, cannot fail.
    let _ = write_pieces(state, &mut |piece| {
        length += piece.len();
        Ok(())
    });
    let mut bytes = Vec::with_capacity(length);
    let _ = write_pieces(state, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    bytes
}

/// Whether `content` is what [`write`] returns for the state, except for the serial, which is `serial` there.
pub(crate) fn is_content_of(content: &[u8], state: &State, serial: u64) -> bool {
    let head = head(&state.terraform_version, serial);
    let Some(mut rest) = content.strip_prefix(&head[..]) else { return false };
    // Compared piece by piece, because a large state need not be in memory twice.
    let compared = write_rest(state, &mut |piece| match rest.strip_prefix(piece) {
        Some(after) => {
            rest = after;
            Ok(())
        }
        None => Err(io::ErrorKind::InvalidData.into()),
    });
    compared.is_ok() && rest.is_empty()
}

/// Whether `content` begins as [`write`] begins a state with this version and serial: then its layout is the same, too.
pub(crate) fn has_own_layout(content: &[u8], terraform_version: &str, serial: u64) -> bool {
    content.starts_with(&head(terraform_version, serial))
}

/// The file in two parts: the header with serial and writer, and the content.
pub(crate) struct Written {
    terraform_version: String,
    /// From the comma after the serial on.
    pub rest: Vec<u8>,
}

impl Written {
    /// The part before the content.
    pub fn head(&self, serial: u64) -> Vec<u8> {
        head(&self.terraform_version, serial)
    }
}

fn head(terraform_version: &str, serial: u64) -> Vec<u8> {
    let mut out = format!("{{\n  \"version\": {FORMAT_VERSION},\n  \"terraform_version\": ").into_bytes();
    write_string(terraform_version, &mut out);
    out.extend_from_slice(format!(",\n  \"serial\": {serial}").as_bytes());
    out
}

/// The file in two parts, so that contents can be compared without their serials.
pub(crate) fn write_parts(state: &State) -> Written {
    let mut rest = Vec::with_capacity(256 + state.len() * 512);
    // What goes into memory cannot fail.
    let _ = write_rest(state, &mut |piece| {
        rest.extend_from_slice(piece);
        Ok(())
    });
    Written { terraform_version: state.terraform_version.clone(), rest }
}

/// Passes the file's bytes piece by piece to `take`, so that a large file need not be in memory; ends at the first error.
pub(crate) fn write_pieces(state: &State, take: &mut Take<'_>) -> io::Result<()> {
    take(&head(&state.terraform_version, state.serial))?;
    write_rest(state, take)
}

/// Passes on all from the comma after the serial on.
fn write_rest(state: &State, take: &mut Take<'_>) -> io::Result<()> {
    let mut out = Vec::new();
    out.extend_from_slice(b",\n  \"lineage\": ");
    write_string(&state.lineage, &mut out);
    out.extend_from_slice(b",\n  \"outputs\": ");
    write_outputs(&state.outputs, &mut out);
    out.extend_from_slice(b",\n  \"resources\": ");
    take(&out)?;
    resources::write(state, take)?;
    out.clear();
    out.extend_from_slice(b",\n  \"check_results\": ");
    write_check_results(state.check_results.as_deref(), &mut out);
    out.extend_from_slice(b"\n}\n");
    take(&out)
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

/// Writes the members of one JSON object, or the elements of one array, each on its own line.
pub(super) struct Members<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
    empty: bool,
    close: u8,
}

impl<'a> Members<'a> {
    pub fn object(out: &'a mut Vec<u8>, depth: usize) -> Self {
        out.push(b'{');
        Self { out, depth: depth + 1, empty: true, close: b'}' }
    }

    pub fn array(out: &'a mut Vec<u8>, depth: usize) -> Self {
        out.push(b'[');
        Self { out, depth: depth + 1, empty: true, close: b']' }
    }

    /// Begins the next element or member.
    pub fn next(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        new_line(self.depth, self.out);
        self.out
    }

    /// Begins a member whose name needs no escapes.
    pub fn member(&mut self, name: &str) -> &mut Vec<u8> {
        let out = self.next();
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\": ");
        out
    }

    pub fn string(&mut self, name: &str, text: &str) {
        write_string(text, self.member(name));
    }

    pub fn number(&mut self, name: &str, number: u64) {
        write_number(number, self.member(name));
    }

    pub fn raw(&mut self, name: &str, json: &str) {
        let depth = self.depth;
        write_indented(json, depth, self.member(name));
    }

    /// Ends the object or the array.
    pub fn finish(self) {
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
