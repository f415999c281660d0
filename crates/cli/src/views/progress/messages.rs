//! Progress as JSON messages.

use std::sync::Arc;
use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_engine::hooks::{EphemeralPhase, Operation, Subject};
use groma_engine::plan::{Cause, Invocation};
use groma_engine::{Hooks, Importing, Searched};
use groma_value::Value;
use serde_json::{Map, Value as Json};

use super::tee::Counter;
use super::texts;
use super::ticker::{InFlight, Progress};
use crate::views::json::{Message, Stream, action_json, resource_json};
use crate::views::query;

/// Sends a message when an operation starts, at intervals while it runs, and when it ends.
pub struct MessageProgress {
    stream: Stream,
    counter: Arc<Counter>,
    /// Operations in flight, with the common fields of their messages.
    running: InFlight<Map<String, Json>>,
}

impl MessageProgress {
    /// Creates progress that sends to `stream` and counts in `counter`.
    pub fn new(stream: Stream, counter: Arc<Counter>) -> Self {
        Self { stream, counter, running: InFlight::new() }
    }
}

fn hook(subject: &Subject, operation: Option<Operation>) -> Map<String, Json> {
    let mut hook = Map::new();
    // The address, split into the parts that programs need.
    hook.insert("resource".into(), resource_json(&subject.address));
    if let Some(operation) = operation {
        hook.insert("action".into(), texts::action(operation).into());
    }
    hook
}

fn identify(hook: &mut Map<String, Json>, identifier: Option<(&'static str, String)>) {
    if let Some((key, value)) = identifier {
        hook.insert("id_key".into(), key.into());
        hook.insert("id_value".into(), value.into());
    }
}

fn provision_hook(address: &ResourceInstance, provisioner: &str, output: Option<&str>) -> Json {
    let mut hook = Map::new();
    hook.insert("resource".into(), resource_json(address));
    hook.insert("provisioner".into(), provisioner.into());
    if let Some(line) = output {
        hook.insert("output".into(), line.into());
    }
    Json::Object(hook)
}

fn ephemeral_hook(address: &ResourceInstance, phase: EphemeralPhase, elapsed: Option<Duration>) -> Json {
    let mut hook = Map::new();
    hook.insert("resource".into(), resource_json(address));
    let action = match phase {
        EphemeralPhase::Open => "open",
        EphemeralPhase::Renew => "renew",
        EphemeralPhase::Close => "close",
    };
    hook.insert("action".into(), action.into());
    if let Some(elapsed) = elapsed {
        hook.insert("elapsed_seconds".into(), texts::rounded_seconds(elapsed).into());
    }
    Json::Object(hook)
}

/// Returns the prefix of an action name: the instance and the block that trigger the action.
fn trigger_prefix(invocation: &Invocation) -> String {
    match &invocation.cause {
        Cause::Request => String::new(),
        Cause::Trigger { resource, block, .. } => format!("{resource} ({block}): "),
    }
}

fn action_hook(invocation: &Invocation, said: Option<(&'static str, &str)>) -> Json {
    let mut hook = Map::new();
    hook.insert("action".into(), action_json(&invocation.action));
    if let Some((name, text)) = said {
        hook.insert(name.into(), text.into());
    }
    match &invocation.cause {
        // An empty object tells that a flag of the command line invoked the action.
        Cause::Request => hook.insert("invoke".into(), Json::Object(Map::new())),
        Cause::Trigger { resource, event, block, entry } => {
            let mut lifecycle = Map::new();
            lifecycle.insert("resource".into(), resource_json(resource));
            lifecycle.insert("trigger_index".into(), (*block).into());
            lifecycle.insert("actions_index".into(), (*entry).into());
            lifecycle.insert("trigger_event".into(), event.name().into());
            hook.insert("lifecycle".into(), Json::Object(lifecycle))
        }
    };
    Json::Object(hook)
}

// As in Terraform, JSON messages call the reading of data sources a refresh.

fn beginning(operation: Operation) -> &'static str {
    if operation == Operation::Read { "Refreshing..." } else { texts::beginning(operation) }
}

fn continuing(operation: Operation) -> &'static str {
    if operation == Operation::Read { "Still refreshing..." } else { texts::continuing(operation) }
}

fn done(operation: Operation) -> &'static str {
    if operation == Operation::Read { "Refresh complete" } else { texts::done(operation) }
}

fn failed(operation: Operation) -> &'static str {
    if operation == Operation::Read { "Refresh errored" } else { texts::failed(operation) }
}

impl Hooks for MessageProgress {
    fn imported(&self, _address: &ResourceInstance, _importing: &Importing) {
        self.counter.count_import();
    }

    fn refresh_start(&self, subject: &Subject) {
        let mut hook = hook(subject, None);
        identify(&mut hook, subject.identifier.clone());
        let text = format!("{}: Refreshing state...{}", subject.address, texts::identifier(subject));
        self.stream.send(Message::new("refresh_start", text).with("hook", Json::Object(hook)));
    }

    fn refresh_complete(&self, subject: &Subject) {
        let mut hook = hook(subject, None);
        identify(&mut hook, subject.identifier.clone());
        let text = format!("{}: Refresh complete{}", subject.address, texts::identifier(subject));
        self.stream.send(Message::new("refresh_complete", text).with("hook", Json::Object(hook)));
    }

    fn read_start(&self, address: &ResourceInstance) {
        self.apply_start(&texts::unnamed(address), Operation::Read);
    }

    fn read_complete(&self, address: &ResourceInstance, value: &Value) {
        let elapsed = self.running.elapsed(&address.to_string());
        self.apply_complete(&texts::unnamed(address), Operation::Read, value, elapsed);
    }

    fn list_start(&self, address: &ResourceInstance, config: Option<&Value>) {
        self.stream.send(query::start(address, config));
    }

    fn list_complete(&self, searched: &Searched) {
        query::end(searched).into_iter().for_each(|message| self.stream.send(message));
    }

    fn provision_start(&self, address: &ResourceInstance, provisioner: &str) {
        let text = format!("{address}: Provisioning with '{provisioner}'...");
        self.stream
            .send(Message::new("provision_start", text).with("hook", provision_hook(address, provisioner, None)));
    }

    fn provision_output(&self, address: &ResourceInstance, provisioner: &str, line: &str) {
        let text = format!("{address}: ({provisioner}): {line}");
        let hook = provision_hook(address, provisioner, Some(line));
        self.stream.send(Message::new("provision_progress", text).with("hook", hook));
    }

    fn provision_complete(&self, address: &ResourceInstance, provisioner: &str) {
        let text = format!("{address}: ({provisioner}) Provisioning complete");
        self.stream
            .send(Message::new("provision_complete", text).with("hook", provision_hook(address, provisioner, None)));
    }

    fn provision_errored(&self, address: &ResourceInstance, provisioner: &str) {
        let text = format!("{address}: ({provisioner}) Provisioning errored");
        self.stream
            .send(Message::new("provision_errored", text).with("hook", provision_hook(address, provisioner, None)));
    }

    fn ephemeral_start(&self, address: &ResourceInstance, phase: EphemeralPhase) {
        let [beginning, ..] = texts::ephemeral(phase);
        let message = Message::new("ephemeral_op_start", format!("{address}: {beginning}"));
        self.stream.send(message.with("hook", ephemeral_hook(address, phase, None)));
    }

    fn ephemeral_complete(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        let [_, done, _] = texts::ephemeral(phase);
        let text = format!("{address}: {done} after {}", texts::rounded(elapsed));
        let hook = ephemeral_hook(address, phase, Some(elapsed));
        self.stream.send(Message::new("ephemeral_op_complete", text).with("hook", hook));
    }

    fn ephemeral_errored(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        let [_, _, failed] = texts::ephemeral(phase);
        let text = format!("{address}: {failed} after {}", texts::rounded(elapsed));
        let hook = ephemeral_hook(address, phase, Some(elapsed));
        self.stream.send(Message::new("ephemeral_op_errored", text).with("hook", hook));
    }

    fn action_start(&self, invocation: &Invocation) {
        let text = match &invocation.cause {
            Cause::Request => format!("Action started: {}", invocation.action),
            Cause::Trigger { resource, block, .. } => {
                format!("{resource}.trigger[{block}]: Action started: {}", invocation.action)
            }
        };
        self.stream.send(Message::new("action_start", text).with("hook", action_hook(invocation, None)));
    }

    fn action_progress(&self, invocation: &Invocation, message: &str) {
        let text = format!("{}{} - {message}", trigger_prefix(invocation), invocation.action);
        let hook = action_hook(invocation, Some(("message", message)));
        self.stream.send(Message::new("action_progress", text).with("hook", hook));
    }

    fn action_complete(&self, invocation: &Invocation) {
        self.counter.count_invocation();
        let text = format!("{}Action complete: {}", trigger_prefix(invocation), invocation.action);
        self.stream.send(Message::new("action_complete", text).with("hook", action_hook(invocation, None)));
    }

    fn action_errored(&self, invocation: &Invocation, problems: &Diagnostics) {
        let problem = texts::first_problem(problems);
        let text = format!("{}Action errored: {} - {problem}", trigger_prefix(invocation), invocation.action);
        let hook = action_hook(invocation, Some(("error", &problem)));
        self.stream.send(Message::new("action_errored", text).with("hook", hook));
    }

    fn apply_start(&self, subject: &Subject, operation: Operation) {
        let mut hook = hook(subject, Some(operation));
        // Progress messages repeat the fields of the start message, except the identifier.
        self.running.begin(texts::name(subject), operation, hook.clone());
        identify(&mut hook, subject.identifier.clone());
        let text = format!("{}: {}{}", subject.address, beginning(operation), texts::identifier(subject));
        self.stream.send(Message::new("apply_start", text).with("hook", Json::Object(hook)));
    }

    fn apply_complete(&self, subject: &Subject, operation: Operation, value: &Value, elapsed: Duration) {
        self.counter.count(operation);
        self.running.end(&texts::name(subject));
        let mut hook = hook(subject, Some(operation));
        let identifier = texts::identifier_of(value);
        let suffix = identifier.as_ref().map(|(key, value)| format!(" [{key}={value}]")).unwrap_or_default();
        identify(&mut hook, identifier);
        hook.insert("elapsed_seconds".into(), texts::rounded_seconds(elapsed).into());
        let text = format!("{}: {} after {}{suffix}", subject.address, done(operation), texts::rounded(elapsed));
        self.stream.send(Message::new("apply_complete", text).with("hook", Json::Object(hook)));
    }

    fn apply_errored(&self, subject: &Subject, operation: Operation, _problems: &Diagnostics, elapsed: Duration) {
        self.running.end(&texts::name(subject));
        let mut hook = hook(subject, Some(operation));
        hook.insert("elapsed_seconds".into(), texts::rounded_seconds(elapsed).into());
        let text = format!("{}: {} after {}", subject.address, failed(operation), texts::rounded(elapsed));
        self.stream.send(Message::new("apply_errored", text).with("hook", Json::Object(hook)));
    }
}

impl Progress for MessageProgress {
    fn tick(&self) {
        for due in self.running.due() {
            let mut hook = due.detail;
            hook.insert("elapsed_seconds".into(), texts::rounded_seconds(due.elapsed).into());
            let (verb, elapsed) = (continuing(due.operation), texts::rounded(due.elapsed));
            let text = format!("{}: {verb} [{elapsed} elapsed]", due.name);
            self.stream.send(Message::new("apply_progress", text).with("hook", Json::Object(hook)));
        }
    }

    fn settle(&self) {}
}
