//! Results of conditions in the documents of states and plans.

use groma_address::ResourceInstance;
use groma_state::{CheckResult, CheckStatus};
use serde_json::{Map, Value as Json, json};

use crate::views::json::key_json;

/// Results of conditions as documents list them.
pub(crate) fn checks_json(checks: &[CheckResult]) -> Json {
    let status = |status| match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
        CheckStatus::Unknown => "unknown",
    };
    let mut sorted: Vec<&CheckResult> = checks.iter().collect();
    sorted.sort_by(|a, b| a.config_addr.cmp(&b.config_addr));
    let checks = sorted.into_iter().map(|check| {
        let mut json = Map::new();
        json.insert("address".into(), checkable_json(&check.object_kind, &check.config_addr));
        json.insert("status".into(), status(check.status).into());
        let mut objects: Vec<_> = check.objects.iter().flatten().collect();
        objects.sort_by_cached_key(|object| object.object_addr.parse::<ResourceInstance>().ok());
        let instances: Vec<Json> = objects
            .into_iter()
            .map(|object| {
                let mut json = Map::new();
                json.insert("address".into(), instance_address_json(&check.object_kind, &object.object_addr));
                json.insert("status".into(), status(object.status).into());
                if !object.failure_messages.is_empty() {
                    let problems = object.failure_messages.iter().map(|message| json!({ "message": message }));
                    json.insert("problems".into(), problems.collect());
                }
                Json::Object(json)
            })
            .collect();
        if !instances.is_empty() {
            json.insert("instances".into(), Json::Array(instances));
        }
        Json::Object(json)
    });
    checks.collect()
}

fn checkable_json(kind: &str, address: &str) -> Json {
    let (module, own) = split_module(address);
    let mut json = Map::new();
    let kind_word = if kind == "output" { "output_value" } else { kind };
    json.insert("kind".into(), kind_word.into());
    match kind {
        "resource" => {
            let (mode, rest) = match own.split_once('.') {
                Some((mode @ ("data" | "ephemeral"), rest)) => (mode, rest),
                _ => ("managed", own),
            };
            let (type_name, name) = rest.split_once('.').unwrap_or((rest, ""));
            json.insert("mode".into(), mode.into());
            if let Some(module) = module {
                json.insert("module".into(), module.into());
            }
            json.insert("name".into(), name.into());
            json.insert("to_display".into(), address.into());
            json.insert("type".into(), type_name.into());
        }
        _ => {
            if let Some(module) = module {
                json.insert("module".into(), module.into());
            }
            json.insert("name".into(), own.split_once('.').map_or(own, |(_, name)| name).into());
            json.insert("to_display".into(), address.into());
        }
    }
    Json::Object(json)
}

/// Splits the module path from an address without keys.
fn split_module(address: &str) -> (Option<&str>, &str) {
    let mut own = address;
    while let Some((_, rest)) = own.strip_prefix("module.").and_then(|rest| rest.split_once('.')) {
        own = rest;
    }
    let module = address.strip_suffix(own).and_then(|module| module.strip_suffix('.'));
    (module, own)
}

fn instance_address_json(kind: &str, address: &str) -> Json {
    let mut json = Map::new();
    if kind != "resource" {
        // The last two parts are the word of the kind and a name; a key may hold anything.
        if let Some((module, _)) = address.rsplit_once('.').and_then(|(rest, _)| rest.rsplit_once('.')) {
            json.insert("module".into(), module.into());
        }
    } else if let Ok(instance) = address.parse::<ResourceInstance>() {
        if let Some(key) = key_json(&instance.key) {
            json.insert("instance_key".into(), key);
        }
        if !instance.module.is_root() {
            json.insert("module".into(), instance.module.to_string().into());
        }
    }
    json.insert("to_display".into(), address.into());
    Json::Object(json)
}
