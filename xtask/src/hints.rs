//! Hints: the constraints of cfn-lint that the schemas in the AWS registry do not have.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;

use crate::subschemas::subschemas;

type Outcome<T> = Result<T, String>;

const TABLE: &str = "xtask/data/hints.tsv.zst";
static RECORDED: &[u8] = include_bytes!("../data/hints.tsv.zst");

/// The constraints that are compared. Changed types and orders are not hints: they decide the type of an attribute.
const CONSTRAINTS: [&str; 15] = [
    "pattern",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "anyOf",
    "oneOf",
    "allOf",
    "required",
    "if",
    "not",
    "const",
];

/// The hints of a node: its JSON pointer and the keywords.
#[derive(Debug, Clone)]
pub struct Hint {
    pointer: String,
    keywords: Vec<String>,
}

/// Reads the recorded table, by type name.
pub fn table() -> Outcome<HashMap<String, Vec<Hint>>> {
    let text = zstd::decode_all(RECORDED).map_err(|error| format!("{TABLE}: {error}"))?;
    let text = String::from_utf8(text).map_err(|error| format!("{TABLE}: {error}"))?;
    let mut hints: HashMap<String, Vec<Hint>> = HashMap::new();
    for line in text.lines() {
        let mut columns = line.split('\t');
        let (Some(name), Some(pointer), Some(keywords)) = (columns.next(), columns.next(), columns.next()) else {
            return Err(format!("{TABLE}: {line:?} does not have three columns"));
        };
        let keywords = keywords.split(',').map(str::to_owned).collect();
        hints.entry(name.to_owned()).or_default().push(Hint { pointer: pointer.to_owned(), keywords });
    }
    Ok(hints)
}

/// Marks the hints in a schema: nodes get the keyword `hints`.
pub fn mark(schema: &mut Value, hints: &[Hint]) {
    for hint in hints {
        if let Some(Value::Object(node)) = schema.pointer_mut(&hint.pointer) {
            node.insert("hints".to_owned(), hint.keywords.clone().into());
        }
    }
}

/// Compares the schemas of a wheel with those in `folder` and writes the table.
pub fn run(wheel: &Path, folder: &Path) -> Outcome<()> {
    let linted = crate::schemas::read_wheel(wheel)?.types;
    let published = published(folder)?;
    let mut lines = Vec::new();
    let mut compared = 0;
    for (name, schema) in &linted {
        let Some(fact) = published.get(name) else { continue };
        compared += 1;
        compare(name, schema, Some(fact), "", &mut lines);
    }
    let packed = zstd::encode_all(lines.join("\n").as_bytes(), 19).map_err(|error| format!("{TABLE}: {error}"))?;
    let output = crate::workspace_root().join(TABLE);
    std::fs::write(&output, packed).map_err(|error| format!("cannot write {}: {error}", output.display()))?;
    println!("{} nodes with hints in {compared} types", lines.len());
    Ok(())
}

fn published(folder: &Path) -> Outcome<BTreeMap<String, Value>> {
    let problem = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&path).map_err(problem)?;
            let schema: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            if let Some(name) = schema.get("typeName").and_then(Value::as_str) {
                found.insert(name.to_owned(), schema);
            }
        }
    }
    Ok(found)
}

fn compare(name: &str, linted: &Value, fact: Option<&Value>, pointer: &str, lines: &mut Vec<String>) {
    let Value::Object(members) = linted else { return };
    if let Some(Value::Object(fact)) = fact {
        let is_hint = |keyword: &&&str| match (members.get(**keyword), fact.get(**keyword)) {
            // The published schemas have an empty pattern where a reader could not understand the one of AWS.
            (Some(_), Some(Value::String(fact))) if fact.is_empty() => false,
            (Some(linted), Some(fact)) => !same(linted, fact),
            (linted, _) => linted.is_some(),
        };
        let hints: Vec<&str> = CONSTRAINTS.iter().filter(is_hint).copied().collect();
        if !hints.is_empty() {
            lines.push(format!("{name}\t{pointer}\t{}", hints.join(",")));
        }
    }
    for (step, below) in subschemas(linted) {
        let fact = fact.and_then(|fact| fact.pointer(&step));
        compare(name, below, fact, &format!("{pointer}{step}"), lines);
    }
}

/// Whether two constraints are the same: prose apart, lists in any order.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().all(|one| right.iter().any(|other| same(one, other)))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_fact = |key: &&String| !["description", "title", "format"].contains(&key.as_str());
            let keys = |object: &serde_json::Map<String, Value>| object.keys().filter(is_fact).count();
            keys(left) == keys(right)
                && left.keys().filter(is_fact).all(|key| right.get(key).is_some_and(|other| same(&left[key], other)))
        }
        _ => left == right,
    }
}
