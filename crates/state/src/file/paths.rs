//! Paths of sensitive attributes: lists of steps, each an object with `type` and `value`.

use groma_value::{Path, PathStep, Type};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::refusal::PathsProblem;
use crate::json;

const ATTRIBUTE: &str = "get_attr";
const INDEX: &str = "index";

#[derive(Deserialize)]
struct StepLayout<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// Reads a list of paths.
///
/// # Errors
/// Fails with a sentence that contains no values of the text.
pub(super) fn parse(text: &str) -> Result<Vec<Path>, PathsProblem> {
    if text == "[]" {
        return Ok(Vec::new());
    }
    let layout: Option<Vec<Vec<StepLayout<'_>>>> = serde_json::from_str(text).map_err(|_| PathsProblem::NoLists)?;
    layout.unwrap_or_default().iter().map(|steps| steps.iter().map(parse_step).collect()).collect()
}

fn parse_step(step: &StepLayout<'_>) -> Result<PathStep, PathsProblem> {
    match &*step.kind {
        ATTRIBUTE => serde_json::from_str::<String>(step.value.get())
            .map(|name| PathStep::Attribute(name.into()))
            .map_err(|_| PathsProblem::AttributeName),
        INDEX => groma_value::json::from_json(step.value.get().as_bytes(), &Type::Dynamic)
            .map(PathStep::Index)
            .map_err(|_| PathsProblem::Index),
        other => Err(PathsProblem::UnknownStep(other.to_owned())),
    }
}

/// Appends a list of paths as compact JSON.
pub(super) fn write(paths: &[Path], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, path) in paths.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"[" } else { b",[" });
        for (index, step) in path.steps().iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_step(step, out);
        }
        out.push(b']');
    }
    out.push(b']');
}

fn write_step(step: &PathStep, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    match step {
        PathStep::Attribute(name) => {
            out.extend_from_slice(ATTRIBUTE.as_bytes());
            out.extend_from_slice(b"\",\"value\":");
            json::write_string(name, out);
        }
        PathStep::Index(key) => {
            out.extend_from_slice(INDEX.as_bytes());
            out.extend_from_slice(b"\",\"value\":");
            // Only numbers and strings index what a state holds paths into; they always have a JSON form.
            let key = groma_value::json::to_json(key, &Type::Dynamic);
            out.extend_from_slice(&key.unwrap_or_else(|_| b"null".to_vec()));
        }
    }
    out.push(b'}');
}
