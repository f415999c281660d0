//! Outputs, check results and sensitive paths, of which a plan file holds the same.

use std::borrow::Cow;
use std::collections::BTreeMap;

use groma_address::Name;
use groma_value::{Path, Type};
use serde_json::value::RawValue;

use crate::error::StateError;
use crate::file::layout::{CheckLayout, CheckedObjectLayout, OutputLayout, OutputsLayout};
use crate::file::paths;
use crate::file::refusal::PathsProblem;
use crate::file::refusal::wrong_types;
use crate::model::{CheckResult, CheckStatus, CheckedObject, OutputValue};

/// Reads outputs as the file holds them, from compact or indented JSON.
pub(crate) fn decode_outputs(text: &str) -> Result<BTreeMap<Name, OutputValue>, StateError> {
    let layout: OutputsLayout<'_> = serde_json::from_str(text).map_err(|error| wrong_types(&error))?;
    outputs(layout)
}

/// Reads check results as the file holds them, from compact or indented JSON.
pub(crate) fn decode_check_results(text: &str) -> Result<Option<Vec<CheckResult>>, StateError> {
    let layout: Option<Vec<CheckLayout<'_>>> = serde_json::from_str(text).map_err(|error| wrong_types(&error))?;
    Ok(layout.map(check_results))
}

/// Reads sensitive paths as the file holds them.
pub(crate) fn parse_paths(text: &str) -> Result<Vec<Path>, PathsProblem> {
    paths::parse(text)
}

pub(super) fn outputs(layout: OutputsLayout<'_>) -> Result<BTreeMap<Name, OutputValue>, StateError> {
    layout.into_iter().map(|(name, output)| Ok((Name::from(&*name), output_value(&name, &output)?))).collect()
}

fn output_value(name: &str, output: &OutputLayout<'_>) -> Result<OutputValue, StateError> {
    let ty = output.ty.map_or("\"dynamic\"", RawValue::get);
    let ty = Type::from_json(ty.as_bytes()).map_err(|_| {
        let detail = format!("The type of the output {name:?} in the state file is not a valid type.");
        StateError::damaged("Invalid output value type in state", detail)
    })?;
    let value = output.value.map_or("null", RawValue::get);
    let value = groma_value::json::from_json(value.as_bytes(), &ty).map_err(|_| {
        let detail = format!("The value of the output {name:?} in the state file does not fit its type.");
        StateError::damaged("Invalid output value saved in state", detail)
    })?;
    Ok(OutputValue {
        ty: if ty == Type::Dynamic { value.ty() } else { ty },
        value,
        sensitive: output.sensitive.unwrap_or_default(),
        deprecated: output.deprecated.as_deref().map(Name::from),
    })
}

pub(super) fn check_results(layout: Vec<CheckLayout<'_>>) -> Vec<CheckResult> {
    let objects = |layout: CheckLayout<'_>| CheckResult {
        object_kind: layout.object_kind.into_owned(),
        config_addr: layout.config_addr.into_owned(),
        status: check_status(&layout.status),
        objects: layout.objects.filter(|objects| !objects.is_empty()).map(|objects| {
            let object = |object: CheckedObjectLayout<'_>| CheckedObject {
                object_addr: object.object_addr.into_owned(),
                status: check_status(&object.status),
                failure_messages: object
                    .failure_messages
                    .unwrap_or_default()
                    .into_iter()
                    .map(Cow::into_owned)
                    .collect(),
            };
            objects.into_iter().map(object).collect()
        }),
    };
    layout.into_iter().map(objects).collect()
}

fn check_status(text: &str) -> CheckStatus {
    match text {
        "pass" => CheckStatus::Pass,
        "fail" => CheckStatus::Fail,
        "error" => CheckStatus::Error,
        _ => CheckStatus::Unknown,
    }
}
