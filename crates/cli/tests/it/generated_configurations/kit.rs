//! A provider whose one type has blocks and attributes of all kinds, served in this process to whatever program attaches.

use std::sync::Arc;

use groma_plugin::Protocol;
use groma_plugin::server::{Served, serve_below};
use groma_provider::{
    Attribute, Block, NestedBlock, Nesting, ObjectNesting, ObjectSchema, PlanRequest, PlanResponse, ReadRequest,
    ReadResponse, Schema, Use,
};
use groma_scripted::{Fault, Operation, ResourceScript, Scripted};
use groma_value::{Path, PathStep, Type, Value};
use serde_json::json;

use crate::common::Folder;

const ADDRESS: &str = "registry.terraform.io/example/kit";

/// The requirement in modules that use it.
pub const REQUIREMENT: &str = "terraform {\n  required_providers {\n    kit = { source = \"example/kit\" }\n  }\n}\n\n";

/// The provider while it can be attached to.
pub struct Kit {
    environment: String,
    _served: Served,
    _runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl Kit {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let entered = runtime.enter();
        let served = serve_below(folder.path(), Arc::new(provider()), Protocol::V6).unwrap();
        drop(entered);
        let entry = json!({ ADDRESS: {
            "Protocol": "grpc",
            "ProtocolVersion": 6,
            "Pid": std::process::id(),
            "Test": true,
            "Addr": { "Network": "unix", "String": served.path() },
        }});
        Self { environment: entry.to_string(), _served: served, _runtime: runtime, _folder: folder }
    }

    /// The folder, where programs attach to it.
    pub fn attached_in(&self, folder: Folder) -> Folder {
        folder.with("TF_REATTACH_PROVIDERS", &self.environment)
    }
}

fn provider() -> Scripted {
    let resource_script = ResourceScript::new(schema())
        .replace_on("table")
        .fault_for(Operation::Apply, "fails", Fault::ErrorAfter("it was made and is not right"))
        .fault_for(Operation::Apply, "refused", Fault::Error("it cannot be made"))
        .on_read(|request, _| read(request))
        .on_plan(|request, good| plan(request, good()))
        .on_apply(|request, good| {
            let mut response = good();
            let is_new = request.prior_state.is_null();
            if let Some(object) = response.new_state.take() {
                // The same in every run.
                let id = Value::string(format!("id of {}", name(&object).as_deref().unwrap_or("nobody")));
                response.new_state = Some(if is_new { with(&object, "id", &id) } else { object });
            }
            response
        });
    Scripted::new("kit").resource("kit_thing", resource_script)
}

fn schema() -> Schema {
    let none = || [] as [(&str, NestedBlock); 0];
    let text = || Attribute::optional(Type::String);
    let sub = Block::new([("x", text()), ("n", Attribute::optional(Type::Number))], none());
    let item = Block::new(
        [
            ("k", Attribute::required(Type::String)),
            ("v", text()),
            ("c", Attribute::computed(Type::String)),
            ("s", text().sensitive()),
        ],
        [
            ("sub", NestedBlock::new(Nesting::Set, sub.clone())),
            ("deep", NestedBlock::new(Nesting::List, sub.clone()).at_most(2)),
        ],
    );
    let tag = Block::new([("key", Attribute::required(Type::String)), ("value", text())], none());
    let one = Block::new([("a", text()), ("b", Attribute::optional_computed(Type::String))], none());
    let nested = |nesting, more| {
        let attributes = [("p", text()), ("q", more), ("z", text().sensitive())];
        Attribute::nested(ObjectSchema::new(nesting, attributes), Use::Optional)
    };
    Schema::new(Block::new(
        [
            ("id", Attribute::computed(Type::String)),
            ("name", text()),
            ("later", Attribute::computed(Type::String)),
            ("choice", Attribute::optional_computed(Type::String)),
            ("secret", text().sensitive()),
            ("words", Attribute::optional(Type::list(Type::String))),
            ("table", Attribute::optional(Type::map(Type::String))),
            ("any", Attribute::optional(Type::Dynamic)),
            ("objs", nested(ObjectNesting::List, Attribute::optional_computed(Type::Number))),
            ("cfg", nested(ObjectNesting::Single, Attribute::optional(Type::map(Type::String)))),
            ("named", nested(ObjectNesting::Map, Attribute::optional_computed(Type::String))),
            ("several", nested(ObjectNesting::Set, text())),
        ],
        [
            ("item", NestedBlock::new(Nesting::List, item)),
            ("tag", NestedBlock::new(Nesting::Set, tag)),
            ("one", NestedBlock::new(Nesting::Single, one.clone())),
            ("grp", NestedBlock::new(Nesting::Group, one)),
            ("m", NestedBlock::new(Nesting::Map, sub)),
        ],
    ))
}

/// Objects are as they were left, but for those whose name says something else.
fn read(request: &ReadRequest) -> ReadResponse {
    let object = request.current_state.clone();
    let new_state = match name(&object).as_deref() {
        Some("gone") => Value::NULL,
        Some("drifts") => with(&object, "words", &Value::list(Type::String, vec![Value::string("drifted")])),
        _ => object,
    };
    ReadResponse { new_state, ..ReadResponse::unchanged(request.clone()) }
}

/// Some changes inside of blocks need another object, and each change makes something known only later.
fn plan(request: &PlanRequest, mut response: PlanResponse) -> PlanResponse {
    let (prior, planned) = (&request.prior_state, &response.planned_state);
    if prior.is_null() || planned.is_null() || prior == planned {
        return response;
    }
    let nestings = [
        Path::root().attribute("one").attribute("a"),
        Path::root().attribute("cfg").attribute("p"),
        Path::root().attribute("item").position(0).attribute("v"),
        Path::root().attribute("objs").position(0).attribute("p"),
    ];
    let changed = |place: &Path| match (at(prior, place), at(planned, place)) {
        (Some(before), Some(after)) => before != after,
        _ => false,
    };
    response.requires_replace.extend(nestings.into_iter().filter(changed));
    response.planned_state = with(planned, "later", &Value::unknown(Type::String));
    response
}

fn name(object: &Value) -> Option<String> {
    object.attribute("name")?.as_str().map(str::to_owned)
}

/// The value at that path, if the path exists.
fn at(value: &Value, place: &Path) -> Option<Value> {
    place.steps().iter().try_fold(value.clone(), |value, step| match step {
        _ if value.is_null() || !value.is_known() => None,
        PathStep::Attribute(name) => value.attribute(name),
        PathStep::Index(_) => value.as_slice()?.first().cloned(),
    })
}

/// The object with another value of an attribute.
fn with(object: &Value, attribute: &str, value: &Value) -> Value {
    let Some(view) = object.as_object() else { return object.clone() };
    let new = |(name, old): (&_, &Value)| {
        let name: &groma_provider::Name = name;
        (name.clone(), if **name == *attribute { value.clone() } else { old.clone() })
    };
    Value::object(view.iter().map(new).collect::<Vec<_>>())
}
