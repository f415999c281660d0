//! The message stream of `-json`: one object a line.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use groma_diagnostics::{Diagnostic, Severity, Sources};
use serde_json::{Map, Value};

use super::text::compact;
use crate::views::diagnostic::diagnostic_json;

/// Version of the message format.
const UI_VERSION: &str = "1.3";

/// A stream of JSON messages, one per line. Cheap to clone; lines of several threads do not mix.
#[derive(Clone)]
pub struct Stream {
    out: Arc<Mutex<dyn Write + Send>>,
    now: fn() -> String,
}

/// One message: a sentence for people and fields for programs.
#[derive(Clone, Debug)]
pub struct Message {
    level: &'static str,
    text: String,
    /// The message type; messages for people alone have none.
    kind: Option<&'static str>,
    fields: Vec<(&'static str, Value)>,
}

impl Message {
    /// A message of the kind `kind`.
    pub fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { level: "info", text: text.into(), kind: Some(kind), fields: Vec::new() }
    }

    /// A sentence of which programs need to know nothing.
    pub fn said(text: impl Into<String>) -> Self {
        Self { level: "info", text: text.into(), kind: None, fields: Vec::new() }
    }

    /// Adds a field to the message.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Self {
        self.fields.push((name, value));
        self
    }

    fn at_level(mut self, level: &'static str) -> Self {
        self.level = level;
        self
    }
}

impl Stream {
    /// A stream into `out`; `now` gives the time stamps.
    pub fn new(out: Arc<Mutex<dyn Write + Send>>, now: fn() -> String) -> Self {
        Self { out, now }
    }

    /// Writes one message. A closed stream is not an error: its reader has enough.
    pub fn send(&self, message: Message) {
        let mut fields: BTreeMap<&str, Value> = message.fields.into_iter().collect();
        if let Some(kind) = message.kind {
            fields.insert("type", kind.into());
        }
        let mut object = Map::new();
        object.insert("@level".into(), message.level.into());
        object.insert("@message".into(), message.text.into());
        object.insert("@module".into(), "terraform.ui".into());
        object.insert("@timestamp".into(), (self.now)().into());
        object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let mut line = compact(&Value::Object(object));
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(line.as_bytes());
        let _ = out.flush();
    }

    /// The first message: versions.
    pub fn version(&self, terraform_version: &str) {
        let text = format!("Terraform {terraform_version}");
        self.send(
            Message::new("version", text).with("terraform", terraform_version.into()).with("ui", UI_VERSION.into()),
        );
    }

    /// Sends one diagnostic.
    pub fn diagnostic(&self, diagnostic: &Diagnostic, sources: &Sources) {
        let (level, word) = match diagnostic.severity {
            Severity::Error => ("error", "Error"),
            Severity::Warning => ("warn", "Warning"),
        };
        let text = format!("{word}: {}", diagnostic.summary);
        self.send(
            Message::new("diagnostic", text).at_level(level).with("diagnostic", diagnostic_json(diagnostic, sources)),
        );
    }

    /// Output values by name.
    pub fn outputs(&self, outputs: Map<String, Value>) {
        let text = format!("Outputs: {}", outputs.len());
        self.send(Message::new("outputs", text).with("outputs", Value::Object(outputs)));
    }
}
