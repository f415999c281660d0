//! Typed values of settings.

use serde_json::Value;

use super::text::{Entry, Setting};

pub(super) fn text<'a>(entries: &'a [Entry], name: &str) -> Option<&'a str> {
    entries.iter().find(|entry| entry.key == name).and_then(|entry| match &entry.value {
        Setting::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

pub(super) fn texts(entries: &[Entry], name: &str) -> Vec<String> {
    let list = entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value);
    let Some(Setting::List(items)) = list else { return Vec::new() };
    let texts = items.iter().filter_map(|item| match item {
        Setting::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

pub(super) fn json(setting: &Setting) -> Value {
    match setting {
        Setting::Text(text) => Value::from(text.as_str()),
        Setting::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str())),
        Setting::Bool(value) => Value::from(*value),
        Setting::List(items) => items.iter().map(json).collect(),
        Setting::Object(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect())
        }
    }
}
