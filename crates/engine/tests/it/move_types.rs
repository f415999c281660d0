//! Moved blocks between resource types (PL-23).

use groma_provider::{Attribute, Block, MoveResponse, NestedBlock, ProviderDiagnostics, Schema};
use groma_scripted::{ResourceScript, Scripted, World};
use groma_value::{Type, json};

use crate::support::Project;

const HEAD: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";
const OLD: &str = "resource \"test_old\" \"a\" {\n  name = \"a\"\n}\n";
const NEW: &str =
    "moved {\n  from = test_old.a\n  to   = test_new.a\n}\nresource \"test_new\" \"a\" {\n  name = \"a\"\n}\n";

fn block() -> Block {
    Block::new(
        [("id", Attribute::computed(Type::String)), ("name", Attribute::optional(Type::String))],
        Vec::<(&str, NestedBlock)>::new(),
    )
}

fn project() -> Project {
    let world = World::new();
    let script = ResourceScript::new(Schema::new(block()));
    let taking_over = script.clone().on_move({
        let world = world.clone();
        move |request, _| {
            assert_eq!(&*request.source_type_name, "test_old");
            let object =
                json::from_json(request.source_state.json().unwrap().as_bytes(), block().implied_type()).unwrap();
            world.put("test_new", object.attribute("id").unwrap().as_str().unwrap(), object.clone());
            MoveResponse {
                target_state: object,
                target_private: request.source_private.clone(),
                target_identity: None,
                diagnostics: ProviderDiagnostics::new(),
            }
        }
    });
    let provider = Scripted::new("test").resource("test_old", script).resource("test_new", taking_over).in_world(world);
    Project::new(&format!("{HEAD}{OLD}")).scripted(provider)
}

#[test]
fn pl_23_provider_converts_an_object_that_moves_to_another_type() {
    let mut project = project();
    project.apply();
    project.rewrite(&format!("{HEAD}{NEW}"));
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    assert!(planned.actions().is_empty(), "{:?}", planned.actions());
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(project.recorded(), ["test_new.a"]);
}

#[test]
fn pl_23_type_without_move_support_is_reported() {
    let mut project = project();
    project.apply();
    let back = NEW.replace("test_old.a", "test_x.a").replace("test_new", "test_old").replace("test_x", "test_new");
    project.rewrite(&format!("{HEAD}{NEW}"));
    project.apply();
    project.rewrite(&format!("{HEAD}{back}"));
    assert_eq!(project.plan().errors(), ["Unsupported move"]);
}
