//! `cargo xtask schemas`: the AWS resource type schemas as a small, indexed blob.
//!
//! The input is the PyPI package cfn-lint (MIT-0), pinned by version and checksum. The output contains facts only: no
//! links or examples. Descriptions and permissions are in a blob of their own, which a plan does not load. Constraints that
//! cfn-lint has added to the schemas of AWS are marked as hints. Equal input gives equal bytes. The layout is documented in
//! `groma-cloudcontrol`, module `schema::blob`, which reads it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

const VERSION: &str = "1.58.0";
const SHA256: &str = "9d9f06043160756a6158f5c3f92a44ce38254b1c578127461608305bc8262987";
const OUTPUT: &str = "crates/cloudcontrol/data/schemas.bin";
const TEXTS: &str = "crates/cloudcontrol/data/descriptions.bin";
const PROVIDERS: &str = "cfnlint/data/schemas/providers/";
const RESOURCES: &str = "cfnlint/data/schemas/resources/";
/// The target size of a frame, small enough that expanding one type takes far less than a millisecond.
const FRAME_BYTES: usize = 128 * 1024;
const DICTIONARY_BYTES: usize = 32 * 1024;
const LEVEL: i32 = 22;

type Outcome<T> = Result<T, String>;

/// Builds the blob from the wheel at `wheel`, or from a downloaded one.
pub fn run(wheel: Option<&str>) -> Outcome<()> {
    let scratch = tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let path = match wheel {
        Some(path) => PathBuf::from(path),
        None => download(scratch.path())?,
    };
    let bytes = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    // The blob is committed, so it must be reproducible: any other wheel is an error.
    check_pin(&bytes, &path)?;
    let Schemas { types, source } = read_wheel(&path)?;
    let additions: Value = serde_json::from_str(include_str!("../data/additions.json"))
        .map_err(|error| format!("additions.json: {error}"))?;
    let hints = crate::hints::table()?;
    let (mut schemas, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for (name, mut schema) in types {
        if let Some(addition) = additions.get(&name) {
            merge(&mut schema, addition);
        }
        crate::hints::mark(&mut schema, hints.get(&name).map_or(&[][..], Vec::as_slice));
        texts.insert(name.clone(), crate::descriptions::of(&schema).to_string());
        schemas.insert(name, facts(schema, Position::Schema).to_string());
    }
    write(OUTPUT, &Collected { types: schemas, source: source.clone() })?;
    write(TEXTS, &Collected { types: texts, source })
}

fn write(output: &str, collected: &Collected) -> Outcome<()> {
    let blob = encode(collected)?;
    let path = crate::workspace_root().join(output);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    }
    std::fs::write(&path, &blob).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let expanded: usize = collected.types.values().map(String::len).sum();
    println!(
        "{} types, {expanded} bytes of JSON, {} bytes in {output} ({})",
        collected.types.len(),
        blob.len(),
        collected.source
    );
    Ok(())
}

/// Merges properties into a schema; lists and plain values replace those of the schema.
fn merge(schema: &mut Value, addition: &Value) {
    match (schema, addition) {
        (Value::Object(schema), Value::Object(addition)) => {
            for (key, value) in addition {
                merge(schema.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (schema, addition) => *schema = addition.clone(),
    }
}

fn download(folder: &Path) -> Outcome<PathBuf> {
    let requirement = format!("cfn-lint=={VERSION}");
    let status = Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"])
        .arg(folder)
        .arg(&requirement)
        .status()
        .map_err(|error| format!("cannot run python3 -m pip: {error}; give the path of a downloaded wheel instead"))?;
    if !status.success() {
        return Err(format!("pip could not download {requirement}"));
    }
    Ok(folder.join(format!("cfn_lint-{VERSION}-py3-none-any.whl")))
}

fn check_pin(bytes: &[u8], path: &Path) -> Outcome<()> {
    let found: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found == SHA256 {
        return Ok(());
    }
    Err(format!("{} has sha256 {found}, expected {SHA256} (cfn-lint {VERSION})", path.display()))
}

/// The schemas in the wheel by type name, and a line about their origin.
pub struct Schemas {
    /// The schema documents of all types that have handlers.
    pub types: BTreeMap<String, Value>,
    /// Package, version and date.
    pub source: String,
}

/// The content of a blob.
struct Collected {
    types: BTreeMap<String, String>,
    source: String,
}

/// Reads the schemas in a wheel of cfn-lint.
pub fn read_wheel(path: &Path) -> Outcome<Schemas> {
    let file = File::open(path).map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    let mut wheel =
        zip::ZipArchive::new(file).map_err(|error| format!("{} is not a wheel: {error}", path.display()))?;
    // One file for each region. That of the serverless transform lists types which CloudFormation only expands.
    let regions: Vec<String> = wheel
        .file_names()
        .filter_map(Result::ok)
        .filter(|name| name.starts_with(PROVIDERS) && name.ends_with(".json") && !name.ends_with("/sam.json"))
        .map(Cow::into_owned)
        .collect();
    let mut hashes: BTreeMap<String, String> = BTreeMap::new();
    for region in regions {
        let Value::Object(types) = read_json(&mut wheel, &region)? else {
            return Err(format!("{region} is not an object"));
        };
        for (name, hash) in types {
            let hash = hash.as_str().ok_or_else(|| format!("{region}: the hash of {name} is not a string"))?;
            let known = hashes.entry(name.clone()).or_insert_with(|| hash.to_owned());
            if known != hash {
                return Err(format!("{name} has two schemas, but the blob supports one per type"));
            }
        }
    }
    let mut types = BTreeMap::new();
    for (name, hash) in hashes {
        let schema = read_json(&mut wheel, &format!("{RESOURCES}{hash}.json"))?;
        // Without handlers, the Cloud Control API cannot create or read the type.
        if schema.get("handlers").is_some_and(Value::is_object) {
            types.insert(name, schema);
        }
    }
    let version = read_json(&mut wheel, "cfnlint/data/schemas/version.json").unwrap_or(Value::Null);
    let date = version.get("schema_date").and_then(Value::as_str).unwrap_or("unknown date");
    Ok(Schemas { types, source: format!("cfn-lint {VERSION}, schemas of {date}") })
}

fn read_json(wheel: &mut zip::ZipArchive<File>, name: &str) -> Outcome<Value> {
    let mut text = String::new();
    wheel
        .by_name(name)
        .map_err(|error| format!("{name}: {error}"))?
        .read_to_string(&mut text)
        .map_err(|error| format!("{name}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))
}

/// The position in a schema document: keys are keywords only in schemas, not in maps of property names.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    Schema,
    Names,
}

/// Removes prose and sorts keys.
fn facts(value: Value, position: Position) -> Value {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<(String, Value)> = members.into_iter().collect();
            // Sorted keys compress better, and give equal bytes whatever order the input has.
            sorted.sort_by(|left, right| left.0.cmp(&right.0));
            let mut kept = Map::new();
            for (key, member) in sorted {
                if position == Position::Schema && is_prose(&key) {
                    continue;
                }
                // Values of these keywords are data: members that look like keywords must stay.
                let verbatim = position == Position::Schema && matches!(key.as_str(), "enum" | "const" | "default");
                let next = match key.as_str() {
                    "properties" | "definitions" | "patternProperties" if position == Position::Schema => {
                        // The keys of these maps are names of properties, which may be `title` or `description`.
                        Position::Names
                    }
                    _ => Position::Schema,
                };
                kept.insert(key, if verbatim { member } else { facts(member, next) });
            }
            Value::Object(kept)
        }
        Value::Array(elements) => {
            Value::Array(elements.into_iter().map(|element| facts(element, Position::Schema)).collect())
        }
        other => other,
    }
}

fn is_prose(keyword: &str) -> bool {
    matches!(
        keyword,
        "description"
            | "title"
            | "examples"
            | "$comment"
            | "$schema"
            | "sourceUrl"
            | "documentationUrl"
            | "resourceLink"
            | "permissions"
    )
}

/// Encodes header, index, dictionary and frames.
fn encode(collected: &Collected) -> Outcome<Vec<u8>> {
    // The schemas are similar to each other: a dictionary of common parts lets small frames compress nearly as well as
    // one.
    let samples: Vec<&[u8]> = collected.types.values().map(String::as_bytes).collect();
    let dictionary = zstd::dict::from_samples(&samples, DICTIONARY_BYTES)
        .map_err(|error| format!("cannot train a dictionary: {error}"))?;
    let mut compressor =
        zstd::bulk::Compressor::with_dictionary(LEVEL, &dictionary).map_err(|error| format!("zstd: {error}"))?;

    let mut records = Vec::new();
    let mut names = Vec::new();
    let mut frame_table = Vec::new();
    let mut frames = Vec::new();
    let mut pending: Vec<u8> = Vec::new();
    let mut frame_number: u32 = 0;
    for (name, schema) in &collected.types {
        // A schema is never split: a reader expands one frame for one type.
        if !pending.is_empty() && pending.len() + schema.len() > FRAME_BYTES {
            close_frame(&mut compressor, &mut pending, &mut frame_table, &mut frames)?;
            frame_number += 1;
        }
        for number in [names.len(), name.len()] {
            records.extend_from_slice(&length(number)?);
        }
        records.extend_from_slice(&frame_number.to_le_bytes());
        for number in [pending.len(), schema.len()] {
            records.extend_from_slice(&length(number)?);
        }
        names.extend_from_slice(name.as_bytes());
        pending.extend_from_slice(schema.as_bytes());
    }
    close_frame(&mut compressor, &mut pending, &mut frame_table, &mut frames)?;

    let packed_dictionary = zstd::bulk::compress(&dictionary, LEVEL).map_err(|error| format!("zstd: {error}"))?;
    // The format and its version.
    let mut blob = b"GROMSCH1".to_vec();
    let counts = [
        collected.types.len(),
        // Each frame has three numbers of four bytes in the table.
        frame_table.len() / 12,
        collected.source.len(),
        names.len(),
        packed_dictionary.len(),
        dictionary.len(),
    ];
    for count in counts {
        blob.extend_from_slice(&length(count)?);
    }
    for part in [&records, &frame_table, collected.source.as_bytes(), &names, &packed_dictionary, &frames] {
        blob.extend_from_slice(part);
    }
    Ok(blob)
}

fn close_frame(
    compressor: &mut zstd::bulk::Compressor<'_>,
    pending: &mut Vec<u8>,
    table: &mut Vec<u8>,
    frames: &mut Vec<u8>,
) -> Outcome<()> {
    let packed = compressor.compress(pending).map_err(|error| format!("zstd: {error}"))?;
    for number in [frames.len(), packed.len(), pending.len()] {
        table.extend_from_slice(&length(number)?);
    }
    frames.extend_from_slice(&packed);
    pending.clear();
    Ok(())
}

fn length(number: usize) -> Outcome<[u8; 4]> {
    u32::try_from(number).map(u32::to_le_bytes).map_err(|_| format!("{number} does not fit the blob's index"))
}
