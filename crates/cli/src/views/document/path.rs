//! Paths into objects, and what of objects is relevant to a plan.

use std::collections::BTreeSet;

use groma_engine::plan::RelevantAttribute;
use groma_value::{Kind, Path, PathStep, Value};
use serde_json::{Value as Json, json};

use crate::views::json::{compact, value_json};

/// Each once: `x.m.k` and `x.m["k"]` are two paths, and one to who reads the document.
pub(super) fn relevant_attributes_json(relevant: &[RelevantAttribute]) -> Json {
    let mut told = BTreeSet::new();
    relevant.iter().map(relevant_json).filter(|json| told.insert(json.to_string())).collect()
}

fn relevant_json(relevant: &RelevantAttribute) -> Json {
    let steps = relevant.path.steps();
    let (key, rest) = match steps.split_first() {
        Some((PathStep::Index(key), rest)) => (format!("[{}]", compact(&value_json(key))), rest),
        _ => (String::new(), steps),
    };
    json!({ "resource": format!("{}{key}", relevant.resource), "attribute": steps_json(rest) })
}

/// The steps of a path.
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
        // An element of a set has no key.
        _ => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_relevant_is_told_once_however_it_is_written() {
        let relevant = |path: Path| RelevantAttribute {
            resource: "acme_thing.a".parse().unwrap_or_else(|problem| panic!("{problem}")),
            path,
        };
        let map = || Path::root().attribute("m");
        let told =
            relevant_attributes_json(&[relevant(map().attribute("k")), relevant(map().index(Value::string("k")))]);
        assert_eq!(told, json!([{ "resource": "acme_thing.a", "attribute": ["m", "k"] }]));
    }
}
