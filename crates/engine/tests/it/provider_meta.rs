//! What a module tells a provider about itself.

use std::sync::{Arc, Mutex};

use groma_address::{ProviderConfig, ResourceInstance};
use groma_diagnostics::Diagnostic;
use groma_engine::{Recorder, Recovery, Unrecorded};
use groma_provider::{Attribute, Block, NestedBlock, Schema, ServerCapabilities};
use groma_scripted::{DataScript, ResourceScript, Scripted};
use groma_state::{Begin, DeposedKey, ObjectRecord, Outcome, State};
use groma_value::{Type, Value};

use crate::support::{Project, found, is_over_the_protocol, object_with};

/// What was told, call by call.
type Received = Arc<Mutex<Vec<String>>>;

fn object() -> Schema {
    object_with("label", Attribute::optional(Type::String))
}

fn meta() -> Schema {
    let attributes = [("name", Attribute::optional(Type::String)), ("level", Attribute::optional(Type::Number))];
    Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
}

fn provider(received: &Received) -> Scripted {
    let listener = |call: &'static str| {
        let received = Arc::clone(received);
        move |meta: &Value| {
            let name = meta.attribute("name").and_then(|name| name.as_str().map(str::to_owned));
            received.lock().unwrap().push(format!("{call} {}", name.unwrap_or_default()));
        }
    };
    let (planned, applied, read, looked) =
        (listener("plan"), listener("apply"), listener("read"), listener("read data"));
    let script = ResourceScript::new(object())
        .on_plan(move |request, good| {
            planned(&request.meta);
            good()
        })
        .on_apply(move |request, good| {
            applied(&request.meta);
            good()
        })
        .on_read(move |request, good| {
            read(&request.meta);
            good()
        });
    let data = DataScript::new(found()).on_read(move |request, good| {
        looked(&request.meta);
        good()
    });
    // What is asked for again after a kill is the same call.
    let capabilities = ServerCapabilities { plan_destroy: true, repeatable_create: true, ..Default::default() };
    let scripted = Scripted::new("test").capabilities(capabilities).meta(meta());
    scripted.resource("test_object", script).data("test_found", data)
}

/// Keeps what a journal would say of calls that begin.
#[derive(Default)]
struct Begun(Mutex<Vec<Begin>>);

impl Recorder for Begun {
    fn begin(&self, begin: &Begin) -> Result<(), Diagnostic> {
        self.0.lock().unwrap().push(begin.clone());
        Ok(())
    }

    fn finished(
        &self,
        _: &ResourceInstance,
        _: Option<&DeposedKey>,
        _: &ProviderConfig,
        _: Option<&ObjectRecord>,
        _: Outcome,
    ) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn resolved(&self, _: &ResourceInstance, _: Option<&DeposedKey>) -> Result<(), Diagnostic> {
        Ok(())
    }
}

const CHILD: &str = r#"
terraform {
  required_providers { mine = { source = "test/test" } }
  provider_meta "mine" {
    name = "child"
  }
}
resource "test_object" "in" {
  provider = mine
  name     = "in"
}
"#;

fn project(received: &Received, meta: &str) -> Project {
    let main = format!(
        r#"
        terraform {{
          provider_meta "test" {{
            {meta}
          }}
        }}
        resource "test_object" "out" {{ name = "out" }}
        data "test_found" "it" {{ name = "x" }}
        module "child" {{
          source    = "./child"
          providers = {{ mine = test }}
        }}
        "#
    );
    Project::with_test(&main, provider(received)).with("child/main.tf", CHILD)
}

#[test]
fn each_module_passes_its_own_provider_meta() {
    let received = Received::default();
    let mut project = project(&received, r#"name = "root""#);
    project.apply();
    let mut first = std::mem::take(&mut *received.lock().unwrap());
    first.sort();
    first.dedup();
    assert_eq!(first, ["apply child", "apply root", "plan child", "plan root", "read data root"]);
    project.plan();
    let mut second = std::mem::take(&mut *received.lock().unwrap());
    second.sort();
    assert_eq!(second, ["plan child", "plan root", "read child", "read data root", "read root"]);
}

#[test]
fn invalid_provider_meta_is_reported_once() {
    let received = Received::default();
    for (meta, summary) in
        [("nope = 1", "Unsupported argument"), (r#"level = "high""#, "Incorrect attribute value type")]
    {
        let planned = project(&received, meta).plan();
        let summaries: Vec<&str> = planned.diagnostics.iter().map(|problem| &*problem.summary).collect();
        assert_eq!(summaries, [summary], "{meta}");
        // Who only checks a module tells no provider anything.
        assert!(project(&received, meta).validate().is_empty());
    }
    let script = ResourceScript::new(object());
    let plain = Scripted::new("test").resource("test_object", script).data("test_found", DataScript::new(found()));
    let planned = project(&received, r#"name = "root""#).scripted(plain).plan();
    let summaries: Vec<&str> = planned.diagnostics.iter().map(|problem| &*problem.summary).collect();
    // For the root module and for the child.
    assert_eq!(summaries, ["Provider registry.terraform.io/test/test doesn't support provider_meta"; 2]);
}

#[test]
fn repeated_creation_request_returns_the_same_result() {
    // The protocol does not tell whether a creation may be asked for again.
    if is_over_the_protocol() {
        return;
    }
    let received = Received::default();
    let mut project = project(&received, r#"name = "root""#);
    let begun = Arc::new(Begun::default());
    let planned = project.plan();
    assert!(!project.apply_recorded(planned, Arc::clone(&begun) as Arc<dyn Recorder>).has_errors());
    let in_flight = std::mem::take(&mut *begun.0.lock().unwrap());
    assert_eq!(in_flight.len(), 2);
    received.lock().unwrap().clear();
    // Killed before any of it was known, and the module says something else by now.
    project.state = State::default();
    let mut project = project.with("child/main.tf", &CHILD.replace("\"child\"", "\"other\""));
    project.options.recovery = Some(Arc::new(Recovery { in_flight, recorder: Arc::new(Unrecorded) }));
    project.plan();
    let mut again = std::mem::take(&mut *received.lock().unwrap());
    again.retain(|call| call.starts_with("apply"));
    again.sort();
    assert_eq!(again, ["apply child", "apply root"]);
}
