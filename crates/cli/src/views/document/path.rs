//! Paths of attributes in JSON documents.

use std::collections::BTreeSet;

use groma_engine::plan::RelevantAttribute;
use groma_value::{Kind, Path, PathStep, Value};
use serde_json::{Value as Json, json};

use crate::views::json::{compact, value_json};

/// Returns the relevant attributes without duplicates: `x.m.k` and `x.m["k"]` are different paths with the same JSON form.
pub(super) fn relevant_attributes_json(relevant: &[RelevantAttribute]) -> Json {
    let mut seen = BTreeSet::new();
    relevant.iter().map(relevant_json).filter(|json| seen.insert(json.to_string())).collect()
}

fn relevant_json(relevant: &RelevantAttribute) -> Json {
    let steps = relevant.path.steps();
    let (key, rest) = match steps.split_first() {
        Some((PathStep::Index(key), rest)) => (format!("[{}]", compact(&value_json(key))), rest),
        _ => (String::new(), steps),
    };
    json!({ "resource": format!("{}{key}", relevant.resource), "attribute": steps_json(rest) })
}

/// Returns the steps of a path.
pub(super) fn path_json(path: &Path) -> Json {
    steps_json(path.steps())
}

fn steps_json(steps: &[PathStep]) -> Json {
    let step = |step: &PathStep| match step {
        PathStep::Attribute(name) => Json::String(name.to_string()),
        PathStep::Index(key) => index_json(key),
    };
    steps.iter().map(step).collect()
}

fn index_json(key: &Value) -> Json {
    match key.kind() {
        Kind::Number(_) | Kind::String(_) => value_json(key),
        // Elements of a set have no key.
        _ => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relevant_attributes_are_unique() {
        let relevant = |path: Path| RelevantAttribute {
            resource: "acme_thing.a".parse().unwrap_or_else(|problem| panic!("{problem}")),
            path,
        };
        let map = || Path::root().attribute("m");
        let document =
            relevant_attributes_json(&[relevant(map().attribute("k")), relevant(map().index(Value::string("k")))]);
        assert_eq!(document, json!([{ "resource": "acme_thing.a", "attribute": ["m", "k"] }]));
    }
}
