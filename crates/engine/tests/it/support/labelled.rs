//! Providers that are instances of one block: each notes what it does under the label that it was configured with.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it; a test that fails may panic")]

use std::sync::{Arc, Mutex};

use groma_provider::{
    ApplyResponse, Attribute, Block, IdentityAttribute, IdentityImport, IdentitySchema, Listed, NestedBlock,
    ProviderDiagnostic, ProviderDiagnostics, Schema, ServerCapabilities,
};
use groma_scripted::{ActionScript, DataScript, EphemeralScript, ListScript, ResourceScript, Scripted, World};
use groma_state::State;
use groma_value::{Type, Value};

use super::{Project, input};

/// What the providers did, each told by its own label.
#[derive(Clone, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    /// What was noted since the last time, sorted.
    pub fn take(&self) -> Vec<String> {
        let mut notes = std::mem::take(&mut *self.0.lock().unwrap());
        notes.sort();
        notes
    }
}

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Schema {
    Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
}

fn known_by_name() -> Schema {
    let name = IdentityAttribute { ty: Type::String, import: IdentityImport::Required, description: String::new() };
    let schema = block([("name", Attribute::optional(Type::String))]);
    schema.identified_by(IdentitySchema { version: 0, attributes: [("name".into(), name)].into() })
}

fn text(object: &Value, name: &str) -> String {
    object.attribute(name).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_else(|| "nothing".to_owned())
}

/// A provider that knows the label it was configured with.
fn labelled(world: &World, notes: &Notes) -> Scripted {
    let label: Arc<Mutex<String>> = Arc::default();
    let received = {
        let (label, notes) = (Arc::clone(&label), notes.clone());
        move |what: &str, object: &Value| {
            notes.note(format!("{what} {} at {}", text(object, "name"), label.lock().unwrap()));
        }
    };
    let [read, applied, found, invoked, listed] = std::array::from_fn(|_| received.clone());
    let object = block([
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::required(Type::String)),
        ("kind", Attribute::optional(Type::String)),
    ]);
    let look = block([("name", Attribute::required(Type::String)), ("found", Attribute::computed(Type::String))]);
    let named = || block([("name", Attribute::required(Type::String))]);
    let configured = notes.clone();
    let capabilities = ServerCapabilities { plan_destroy: true, repeatable_create: true, ..Default::default() };
    Scripted::new("test")
        .capabilities(capabilities)
        .in_world(world.clone())
        .config(block([("label", Attribute::optional(Type::String))]))
        .on_configure(move |request, _| {
            *label.lock().unwrap() = text(&request.config, "label");
            configured.note(format!("configure {}", text(&request.config, "label")));
            match &*text(&request.config, "label") {
                "broken" => ProviderDiagnostic::error("Broken label", "There is no such place.").into(),
                _ => ProviderDiagnostics::new(),
            }
        })
        .resource(
            "test_object",
            ResourceScript::new(object)
                .replace_on("kind")
                .on_read(move |request, good| {
                    read("read", &request.current_state);
                    good()
                })
                .on_apply(move |request, good| {
                    if !request.planned_state.is_null() {
                        applied("apply", &request.planned_state);
                        return good();
                    }
                    applied("delete", &request.prior_state);
                    if text(&request.prior_state, "name") != "stuck" {
                        return good();
                    }
                    let mut response = ApplyResponse::new(request.prior_state.clone(), Arc::default());
                    response.diagnostics.push(ProviderDiagnostic::error("Stuck", "It does not go."));
                    response
                }),
        )
        .data(
            "test_found",
            DataScript::new(look).returning(move |config| {
                found("find", config);
                vec![("found", Value::string("f"))]
            }),
        )
        .resource("test_listed", ResourceScript::new(known_by_name()))
        .list(
            "test_listed",
            ListScript::new(named()).on_list(move |request| {
                listed("list", &request.config);
                let object = Value::object([("name", Value::string("l"))]);
                let found = Listed {
                    identity: Some(object.clone()),
                    display_name: "l".to_owned(),
                    object: Some(object),
                    diagnostics: ProviderDiagnostics::new(),
                };
                let _ = (request.found)(found);
                ProviderDiagnostics::new()
            }),
        )
        .ephemeral("test_token", EphemeralScript::new(named()))
        .action(
            "test_note",
            ActionScript::new(named()).on_invoke(move |request| {
                invoked("invoke", &request.config);
                ProviderDiagnostics::new()
            }),
        )
}

pub fn project(main: &str) -> (Project, Notes) {
    let (world, notes) = (World::new(), Notes::default());
    let noted = notes.clone();
    let main = format!("{REQUIRED}{main}");
    (Project::new(&main).scripted_each(move || labelled(&world, &noted)), notes)
}

pub const REQUIRED: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";

pub const PROVIDER_INSTANCES: &str = r#"
variable "places" {
  type    = map(string)
  default = { a = "x", b = "y" }
}
provider "test" {
  alias    = "by"
  for_each = var.places
  label    = "${each.key}-${each.value}"
}
"#;

pub const OBJECTS: &str = r#"
variable "objects" {
  type    = map(string)
  default = { one = "a", two = "b" }
}
resource "test_object" "o" {
  for_each = var.objects
  provider = test.by[each.value]
  name     = each.key
}
"#;

/// Sets a variable of strings by key for the next run.
pub fn set(project: &mut Project, variable: &str, entries: &[(&str, &str)]) {
    let entries = entries.iter().map(|(key, value)| (*key, Value::string(value)));
    let mut input = input("");
    input.value = Value::object(entries);
    project.options.inputs.insert(variable.into(), input);
}

/// Who manages each object, the key of the provider instance alone.
pub fn managers(state: &State) -> Vec<String> {
    let mut lines = Vec::new();
    for view in state.iter() {
        let current = view.record.current.iter().map(|object| ("", object));
        for (what, object) in current.chain(view.record.deposed.values().map(|object| (" deposed", object))) {
            lines.push(format!("{}{what}: {}", view.address(), view.manager(object).key));
        }
    }
    lines
}

/// What is wrong, with the detail.
pub fn errors(project: &mut Project) -> Vec<String> {
    let planned = project.plan();
    let errors = planned.diagnostics.iter().filter(|problem| problem.is_error());
    errors.map(|problem| format!("{}: {}", problem.summary, problem.detail)).collect()
}

pub fn only_error(project: &mut Project) -> String {
    let errors = errors(project);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.into_iter().next().unwrap()
}
