//! Identities of objects: what the state knows of them, and how it is mended (LC-31).

use std::sync::{Arc, Mutex};

use groma_provider::{
    ApplyResponse, Attribute, Block, IdentityAttribute, IdentityImport, IdentitySchema, ImportResponse, ImportTarget,
    ImportedResource, NestedBlock, PlanResponse, ProviderDiagnostics, ReadResponse, Schema, UpgradeIdentityResponse,
};
use groma_scripted::{ResourceScript, Scripted};
use groma_value::{Type, Value};

use crate::support::{Planned, Project};

const MAIN: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\nresource \"test_object\" \
                    \"a\" {\n  name = \"a\"\n}\n";

/// Objects whose identity is one attribute, called `called`.
fn object(version: u64, called: &str) -> ResourceScript {
    let one = IdentityAttribute { ty: Type::String, import: IdentityImport::Required, description: String::new() };
    let identity = IdentitySchema { version, attributes: [(called.into(), one)].into() };
    let attributes = [("id", Attribute::computed(Type::String)), ("name", Attribute::optional(Type::String))];
    let schema = Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new())).identified_by(identity);
    ResourceScript::new(schema)
}

fn identity(name: &str, value: &str) -> Option<Value> {
    Some(Value::object([(name, Value::string(value))]))
}

fn recorded(project: &Project) -> Option<(u64, String)> {
    let address = "test_object.a".parse().unwrap();
    let identity = project.state.object(&address, None).unwrap().identity.clone()?;
    Some((identity.schema_version, identity.json.as_ref().unwrap().as_str().to_owned()))
}

fn made(script: ResourceScript) -> ResourceScript {
    script.on_apply(|_, good| ApplyResponse { new_identity: identity("name", "a"), ..good() })
}

#[test]
fn lc_31_refreshed_identity_is_recorded_without_other_changes() {
    let silent = object(1, "name");
    let mut project = Project::new(MAIN).scripted(Scripted::new("test").resource("test_object", silent));
    project.apply();
    assert_eq!(recorded(&project), None, "the provider has not said one");
    let world = project.provider().world().clone();
    let reading = |value: &'static str| {
        object(1, "name").on_read(move |_, good| ReadResponse { new_identity: identity("name", value), ..good() })
    };
    for value in ["found", "moved"] {
        let provider = Scripted::new("test").resource("test_object", reading(value)).in_world(world.clone());
        project = project.scripted(provider);
        assert_eq!(project.apply(), Vec::<String>::new());
        assert_eq!(recorded(&project), Some((1, format!("{{\"name\":\"{value}\"}}"))));
    }
}

#[test]
fn lc_31_an_identity_of_an_older_shape_is_upgraded_and_recorded() {
    let provider = Scripted::new("test").resource("test_object", made(object(1, "name")));
    let mut project = Project::new(MAIN).scripted(provider);
    project.apply();
    assert_eq!(recorded(&project), Some((1, "{\"name\":\"a\"}".to_owned())));
    let world = project.provider().world().clone();
    let newer = object(2, "label").on_upgrade_identity(|request| {
        assert_eq!((request.version, &*request.raw_identity), (1, "{\"name\":\"a\"}"));
        UpgradeIdentityResponse {
            upgraded_identity: identity("label", "a").unwrap(),
            diagnostics: ProviderDiagnostics::new(),
        }
    });
    project = project.scripted(Scripted::new("test").resource("test_object", newer).in_world(world));
    assert_eq!(project.apply(), Vec::<String>::new());
    assert_eq!(recorded(&project), Some((2, "{\"label\":\"a\"}".to_owned())));
    let unhappy = object(3, "label");
    let world = project.provider().world().clone();
    project = project.scripted(Scripted::new("test").resource("test_object", unhappy).in_world(world));
    assert_eq!(project.plan().errors(), ["Not scripted"], "an identity that nobody upgrades is an error");
}

#[test]
fn lc_31_a_plan_has_the_identity_that_the_provider_plans_and_a_replacement_is_planned_with_it() {
    type Asked = (bool, Option<Value>);
    let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let script = made(object(1, "name")).replace_on("name").on_plan(move |request, good| {
        seen.lock().unwrap().push((request.prior_state.is_null(), request.prior_identity.clone()));
        let unknown = Some(Value::object([("name", Value::unknown(Type::String))]));
        let creates = request.prior_state.is_null();
        PlanResponse { planned_identity: if creates { unknown } else { identity("name", "next") }, ..good() }
    });
    let mut project = Project::new(MAIN).scripted(Scripted::new("test").resource("test_object", script));
    let planned = |step: &Planned| step.plan.as_ref().unwrap().changes[0].planned_identity.clone().unwrap();
    let first = project.plan();
    assert!(!planned(&first).is_wholly_known(), "nobody knows it before the object is there");
    assert!(!project.apply_plan(first).has_errors());
    assert_eq!(recorded(&project), Some((1, "{\"name\":\"a\"}".to_owned())));
    assert_eq!(planned(&project.plan()), identity("name", "next").unwrap(), "also where nothing changes");
    project.rewrite(&MAIN.replace("name = \"a\"", "name = \"b\""));
    asked.lock().unwrap().clear();
    let replaced = project.plan();
    assert!(!planned(&replaced).is_wholly_known(), "that of the object to come");
    let expected = [(false, identity("name", "a")), (true, identity("name", "next"))];
    assert_eq!(*asked.lock().unwrap(), expected, "the second plan begins where the first ended");
    let before = planned(&replaced);
    assert_eq!(planned(&replaced.saved()), before, "it is saved with the plan");
}

#[test]
fn lc_31_a_deletion_has_the_identity_that_the_provider_plans() {
    let script =
        made(object(1, "name")).on_plan(|_, good| PlanResponse { planned_identity: identity("name", "a"), ..good() });
    let mut project = Project::new(MAIN).scripted(Scripted::new("test").resource("test_object", script));
    project.apply();
    project.rewrite(&MAIN[..MAIN.find("resource").unwrap()]);
    let planned = project.plan();
    assert_eq!(planned.actions(), ["test_object.a: delete (delete_because_no_resource_config)"]);
    assert_eq!(planned.plan.as_ref().unwrap().changes[0].planned_identity, identity("name", "a"));
    assert!(!project.apply_plan(planned).has_errors());
}

#[test]
fn lc_31_missing_object_is_planned_with_the_refreshed_identity() {
    let asked: Arc<Mutex<Vec<Option<Value>>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let script = made(object(1, "name"))
        .on_read(|_, good| ReadResponse { new_state: Value::NULL, new_identity: identity("name", "left"), ..good() })
        .on_plan(move |request, good| {
            seen.lock().unwrap().push(request.prior_identity.clone());
            PlanResponse { planned_identity: request.prior_identity.clone(), ..good() }
        });
    let mut project = Project::new(MAIN).scripted(Scripted::new("test").resource("test_object", script));
    project.apply();
    asked.lock().unwrap().clear();
    let planned = project.plan();
    assert_eq!(planned.actions(), ["test_object.a: create"]);
    let plan = planned.plan.as_ref().unwrap();
    assert_eq!(plan.changes[0].planned_identity, identity("name", "left"));
    assert_eq!(plan.drift[0].planned_identity, identity("name", "left"), "drift is reported with the former identity");
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(*asked.lock().unwrap(), [identity("name", "left"), None], "when it is applied, there is nothing left");
}

#[test]
fn lc_31_import_is_reported_with_the_identity_from_the_provider() {
    let [name, space] =
        [("name", IdentityImport::Required), ("space", IdentityImport::Optional)].map(|(name, import)| {
            (name.into(), IdentityAttribute { ty: Type::String, import, description: String::new() })
        });
    let identity = IdentitySchema { version: 0, attributes: [name, space].into() };
    let attributes = [("id", Attribute::computed(Type::String)), ("name", Attribute::optional(Type::String))];
    let schema = Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new())).identified_by(identity);
    let whole = || Some(Value::object([("name", Value::string("a")), ("space", Value::string("main"))]));
    let there = Value::object([("id", Value::string("x")), ("name", Value::string("a"))]);
    let script = ResourceScript::new(schema)
        .on_import({
            let there = there.clone();
            move |_, good| {
                let mut response: ImportResponse = good();
                response.diagnostics = ProviderDiagnostics::new();
                response.imported = vec![ImportedResource {
                    type_name: "test_object".into(),
                    state: there.clone(),
                    private: Arc::default(),
                    identity: whole(),
                }];
                response
            }
        })
        .on_read(move |_, good| ReadResponse {
            new_state: there.clone(),
            new_identity: whole(),
            diagnostics: ProviderDiagnostics::new(),
            ..good()
        });
    let import = "import {\n  to = test_object.a\n  identity = { name = \"a\" }\n}\n";
    let project = Project::new(&format!("{MAIN}{import}"));
    let planned = project.scripted(Scripted::new("test").resource("test_object", script)).plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    let importing = planned.plan.as_ref().unwrap().changes[0].importing.clone().unwrap();
    assert_eq!(importing.target, ImportTarget::Identity(whole().unwrap()));
}

#[test]
fn import_identity_has_required_attributes_of_the_right_type() {
    let head = MAIN.split("resource").next().unwrap();
    let [name, space] =
        [("name", IdentityImport::Required), ("space", IdentityImport::Optional)].map(|(name, import)| {
            (name.into(), IdentityAttribute { ty: Type::String, import, description: String::new() })
        });
    let identity = IdentitySchema { version: 0, attributes: [name, space].into() };
    let attributes = [("id", Attribute::computed(Type::String)), ("name", Attribute::optional(Type::String))];
    let schema = Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new())).identified_by(identity);
    let types = "variable \"o\" {\n  default = { nam = \"a\" }\n}\nresource \"terraform_data\" \"t\" {\n}\n";
    // A resource that is declared, and one whose block is still to be written.
    for block in [MAIN.split_at(head.len()).1, ""] {
        let project = |identity: &str| {
            let import = format!("import {{\n  to = test_object.a\n  identity = {identity}\n}}\n");
            let script = ResourceScript::new(schema.clone());
            let mut project = Project::new(&format!("{head}{types}{block}{import}"));
            project.options.missing = groma_engine::MissingResources::Generated;
            project.scripted(Scripted::new("test").resource("test_object", script))
        };
        for wrong in ["{}", "{ nam = \"a\" }", "{ name = [] }", "{ name = \"a\", space = {} }", "\"a\"", "[\"a\"]"] {
            let project = project(wrong);
            assert_eq!(crate::support::errors(&project.validate()), ["Incorrect value type"], "{wrong}");
        }
        assert_eq!(crate::support::errors(&project("null").validate()), ["Invalid import identity argument"]);
        assert_eq!(project("var.o").plan().errors(), ["Incorrect value type"], "only a plan knows its value");
        let unknown = project("{ name = terraform_data.t.id }").plan().errors();
        assert_eq!(unknown, ["Invalid import identity argument"]);
        for right in
            ["{ name = \"a\", nam = \"passed over\" }", "tomap({ name = \"a\" })", "{ name = 1, space = null }"]
        {
            assert_eq!(crate::support::errors(&project(right).validate()), Vec::<String>::new(), "{right}");
            let problems = project(right).plan().errors();
            assert!(problems.iter().all(|one| one.contains("import non-existent")), "{right}: {problems:?}");
        }
    }
}

#[test]
fn import_by_identity_needs_a_block() {
    let import = |name: &str, how: &str| format!("import {{\n  to = test_object.{name}\n  {how}\n}}\n");
    let head = MAIN.split_once("resource").unwrap().0;
    let imports = import("a", "identity = { called = \"a\" }") + &import("b", "id = \"b\"");
    let project = Project::new(&format!("{head}{imports}"));
    let errors = project.scripted(Scripted::new("test").resource("test_object", object(0, "called"))).plan().errors();
    assert_eq!(errors, ["Configuration for import target does not exist"; 2]);
}
