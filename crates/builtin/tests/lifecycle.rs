//! `terraform_data` through its lifecycle, with all contract checks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use groma_address::{ProviderAddress, ResourceInstance};
use groma_builtin::Terraform;
use groma_diagnostics::{Diagnostics, Span};
use groma_provider::{
    Answer, ApplyInput, Checked, ClientCapabilities, DataInput, ImportInput, ImportTarget, MoveInput, MoveRequest,
    PlanInput, Planned, Private, ReadInput, Schema, StoredState, Subject,
};
use groma_value::{Type, Value};

struct Setup {
    checked: Checked,
    schema: Arc<Schema>,
    address: ResourceInstance,
}

impl Setup {
    fn new() -> Self {
        let checked = Checked::new(Arc::new(Terraform::default()), ProviderAddress::builtin_terraform());
        let schema = checked.resource_schema("terraform_data").unwrap().unwrap();
        Self { checked, schema, address: "terraform_data.a".parse().unwrap() }
    }

    fn subject(&self) -> Subject<'_> {
        Subject { address: &self.address, schema: &self.schema, body: None, span: Span::NONE }
    }

    fn plan(&self, prior: Value, config: Value) -> Planned {
        let input = PlanInput { prior, config, ..PlanInput::default() };
        let (planned, diagnostics) = now(self.checked.plan(&self.subject(), input));
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        planned.unwrap()
    }

    fn apply(&self, prior: Value, planned: Value, config: Value) -> Value {
        let input = ApplyInput { prior, planned, config, ..ApplyInput::default() };
        let (applied, diagnostics) = now(self.checked.apply(&self.subject(), input));
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        applied.state
    }

    /// Plans and applies a configuration.
    fn change(&self, prior: Value, config: Value) -> Value {
        let planned = self.plan(prior.clone(), config.clone());
        self.apply(prior, planned.state, config)
    }

    fn null(&self) -> Value {
        self.schema.block.null_value()
    }
}

/// Unwraps a ready answer: the builtin provider answers immediately.
fn now<T>(answer: Answer<'_, T>) -> T {
    answer.now().unwrap_or_else(|_| panic!("an answer without waiting"))
}

fn config(input: Value, triggers: Value) -> Value {
    let id = Value::null(Type::String);
    Value::object([("id", id), ("input", input), ("output", Value::NULL), ("triggers_replace", triggers)])
}

fn get(object: &Value, name: &str) -> Value {
    object.attribute(name).unwrap()
}

fn s(text: &str) -> Value {
    Value::string(text)
}

#[test]
fn output_mirrors_the_input_and_the_id_is_a_uuid() {
    let setup = Setup::new();
    let input = Value::object([("a", Value::tuple(vec![Value::number(1)])), ("b", s("x"))]);
    let planned = setup.plan(setup.null(), config(input.clone(), Value::NULL));
    assert!(!get(&planned.state, "id").is_known());
    assert_eq!(get(&planned.state, "output"), Value::unknown(input.ty()), "only known after apply");
    let state = setup.apply(setup.null(), planned.state, config(input.clone(), Value::NULL));
    assert_eq!(get(&state, "output"), input);
    let id = get(&state, "id");
    let lengths: Vec<usize> = id.as_str().unwrap().split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12]);
    // A second object of the same configuration has an ID of its own.
    let other = setup.change(setup.null(), config(input, Value::NULL));
    assert_ne!(get(&other, "id"), id);
}

#[test]
fn without_an_input_the_output_is_null_and_known() {
    let setup = Setup::new();
    let planned = setup.plan(setup.null(), config(Value::NULL, Value::NULL));
    assert!(get(&planned.state, "output").is_null());
}

#[test]
fn unchanged_configuration_plans_no_change() {
    let setup = Setup::new();
    let state = setup.change(setup.null(), config(s("x"), s("t")));
    let planned = setup.plan(state.clone(), config(s("x"), s("t")));
    assert_eq!(planned.state, state);
    assert!(planned.requires_replace.is_empty());
}

#[test]
fn changed_input_updates_the_output_without_replacement() {
    let setup = Setup::new();
    let state = setup.change(setup.null(), config(s("x"), Value::NULL));
    let planned = setup.plan(state.clone(), config(Value::number(1), Value::NULL));
    assert_eq!(get(&planned.state, "id"), get(&state, "id"));
    assert!(!get(&planned.state, "output").is_known() && planned.requires_replace.is_empty());
    let changed = setup.apply(state, planned.state, config(Value::number(1), Value::NULL));
    assert_eq!(get(&changed, "output"), Value::number(1));
}

#[test]
fn changed_triggers_force_replacement() {
    let setup = Setup::new();
    let state = setup.change(setup.null(), config(s("x"), s("1")));
    let planned = setup.plan(state, config(s("x"), s("2")));
    let paths: Vec<String> = planned.requires_replace.iter().map(ToString::to_string).collect();
    assert_eq!(paths, [".triggers_replace"]);
    assert!(!get(&planned.state, "id").is_known() && !get(&planned.state, "output").is_known());
}

#[test]
fn unknown_triggers_force_replacement() {
    let setup = Setup::new();
    let state = setup.change(setup.null(), config(s("x"), s("1")));
    let planned = setup.plan(state, config(s("x"), Value::unknown(Type::String)));
    assert_eq!(planned.requires_replace.len(), 1);
}

#[test]
fn deletion_is_planned_and_applied() {
    let setup = Setup::new();
    let state = setup.change(setup.null(), config(s("x"), Value::NULL));
    let planned = setup.plan(state.clone(), setup.null());
    assert!(planned.state.is_null());
    assert!(setup.apply(state, planned.state, setup.null()).is_null());
}

#[test]
fn marks_pass_through() {
    let setup = Setup::new();
    // `Checked` removes marks from requests and restores them in responses.
    let secret = s("x").with_marks(&groma_value::Marks::SENSITIVE);
    let state = setup.change(setup.null(), config(secret, Value::NULL));
    assert!(get(&state, "input").marks().is_sensitive());
}

#[test]
fn computed_attributes_cannot_be_set() {
    let setup = Setup::new();
    let set =
        Value::object([("id", s("1")), ("input", Value::NULL), ("output", s("2")), ("triggers_replace", Value::NULL)]);
    let found = now(setup.checked.validate(&setup.subject(), &set));
    let summaries: Vec<&str> = found.iter().map(|found| &*found.summary).collect();
    assert_eq!(summaries, ["\"id\" attribute is read-only", "\"output\" attribute is read-only"]);
}

#[test]
fn stored_objects_are_decoded() {
    let setup = Setup::new();
    let upgrade =
        |json: &str| now(setup.checked.upgrade(&setup.subject(), StoredState { version: 0, object: json.into() }));
    let (state, problems) = upgrade(
        // A dynamic attribute is stored with its type, as Terraform's state files have it.
        r#"{"id":"1","input":{"value":[1],"type":["tuple",["number"]]},"output":null,"triggers_replace":null}"#,
    );
    assert!(problems.is_empty(), "{problems:?}");
    let state = state.unwrap();
    assert_eq!(get(&state, "input"), Value::tuple(vec![Value::number(1)]));
    let input = ReadInput { current: state.clone(), ..ReadInput::default() };
    let (read, problems) = now(setup.checked.read(&setup.subject(), input));
    assert!(problems.is_empty());
    assert_eq!(read.unwrap().state, state);
    let (state, problems) = upgrade("{\"id\": 7, ");
    assert!(state.is_none() && problems.has_errors());
}

#[test]
fn import_keeps_the_id_unchanged() {
    let setup = Setup::new();
    let import = |target: ImportTarget| {
        let input = ImportInput { target, config: Value::NULL, capabilities: ClientCapabilities::default() };
        let (imported, problems) = now(setup.checked.import(&setup.subject(), input));
        assert!(problems.is_empty(), "{problems:?}");
        imported.unwrap()
    };
    let by_id = import(ImportTarget::Id("some-id".into()));
    assert_eq!(get(&by_id.state, "id"), s("some-id"));
    assert!(get(&by_id.state, "input").is_null());
    let identity = Value::object([("id", s("zzz"))]);
    let by_identity = import(ImportTarget::Identity(identity.clone()));
    assert_eq!((get(&by_identity.state, "id"), by_identity.identity), (s("zzz"), Some(identity)));
    // The next plan updates the imported object to the configuration (LC-24).
    let planned = setup.plan(by_id.state, config(s("x"), Value::NULL));
    assert_eq!(get(&planned.state, "id"), s("some-id"));
    assert!(planned.requires_replace.is_empty());
}

fn moved(source: &str, json: &str) -> (Option<Value>, Diagnostics) {
    let setup = Setup::new();
    let request = MoveRequest {
        source_provider_address: "registry.terraform.io/hashicorp/null".into(),
        source_type_name: source.into(),
        source_schema_version: 0,
        source_state: json.into(),
        source_private: Private::default(),
        source_identity: None,
        target_type_name: "terraform_data".into(),
    };
    let (moved, problems) = now(setup.checked.move_state(&setup.subject(), MoveInput { request }));
    (moved.map(|moved| moved.state), problems)
}

#[test]
fn null_resource_can_be_moved_to_terraform_data() {
    let (state, problems) = moved("null_resource", r#"{"id":"5","triggers":{"a":"b"}}"#);
    assert!(problems.is_empty(), "{problems:?}");
    let state = state.unwrap();
    assert_eq!(get(&state, "id"), s("5"));
    assert_eq!(get(&state, "triggers_replace"), Value::object([("a", s("b"))]));
    // Only `null_resource` has the triggers that `terraform_data` replaces.
    let (state, problems) = moved("random_id", "{}");
    assert!(state.is_none());
    assert_eq!(problems.iter().next().unwrap().summary, "Unsupported move");
}

#[test]
fn remote_state_of_unsupported_backend_is_an_error() {
    let checked = Checked::new(Arc::new(Terraform::default()), ProviderAddress::builtin_terraform());
    let schema = checked.data_schema("terraform_remote_state").unwrap().unwrap();
    let address = "data.terraform_remote_state.r".parse().unwrap();
    let subject = Subject { address: &address, schema: &schema, body: None, span: Span::NONE };
    let config = schema.block.empty_value().clone();
    let input = DataInput { config, meta: Value::NULL, capabilities: ClientCapabilities::default() };
    let (state, problems) = now(checked.read_data(&subject, input));
    assert!(state.is_none());
    assert!(problems.iter().next().unwrap().detail.contains("input variables"));
}
