//! Leases in the binary form in which Terraform sends them.

use serde_json::{Map, Value as Json, json};

/// The beginning of a binary object.
const MAGIC: &[u8] = b"k8s\0";

/// Decodes a lease: its names, labels, annotations and holder. `None` if it is something else.
pub fn lease(body: &[u8]) -> Option<Json> {
    let envelope = fields(body.strip_prefix(MAGIC)?)?;
    let object = fields(one(&envelope, 2)?)?;
    let metadata = fields(one(&object, 1)?)?;
    let text =
        |fields: &Fields<'_>, number| one(fields, number).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let pairs = |number: u64| -> Option<Json> {
        let mut map = Map::new();
        for (_, entry) in metadata.iter().filter(|(known, _)| *known == number) {
            let entry = fields(entry)?;
            map.insert(text(&entry, 1)?, json!(text(&entry, 2).unwrap_or_default()));
        }
        Some(Json::Object(map))
    };
    let mut decoded = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": text(&metadata, 1)?, "labels": pairs(11)?, "annotations": pairs(12)? },
        "spec": {},
    });
    if let Some(version) = text(&metadata, 6).filter(|version| !version.is_empty()) {
        decoded["metadata"]["resourceVersion"] = json!(version);
    }
    let spec = one(&object, 2).and_then(fields).unwrap_or_default();
    if let Some(holder) = text(&spec, 1) {
        decoded["spec"]["holderIdentity"] = json!(holder);
    }
    Some(decoded)
}

type Fields<'a> = Vec<(u64, &'a [u8])>;

fn one<'a>(fields: &Fields<'a>, number: u64) -> Option<&'a [u8]> {
    fields.iter().find(|(known, _)| *known == number).map(|(_, bytes)| *bytes)
}

/// Returns the fields with bytes of a message. Numbers are skipped.
fn fields(mut bytes: &[u8]) -> Option<Fields<'_>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        match key & 7 {
            0 => {
                varint(&mut bytes)?;
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                found.push((key >> 3, bytes.get(..length)?));
                bytes = &bytes[length..];
            }
            _ => return None,
        }
    }
    Some(found)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
