//! Objects that exist already are taken over by import blocks, as people write them (PL-26, LC-23, LC-24).

use groma_engine::{Action, PlanOptions, Refresh};
use groma_provider::{Attribute, Block, Schema};
use groma_scripted::{ResourceScript, Scripted, World};
use groma_value::{Type, Value};

use crate::support::Project;

const HEAD: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";

fn block() -> Block {
    Block::new(
        [
            ("id", Attribute::computed(Type::String)),
            ("name", Attribute::optional(Type::String)),
            ("size", Attribute::optional(Type::Number)),
        ],
        Vec::<(&str, groma_provider::NestedBlock)>::new(),
    )
}

fn provider(world: World) -> Scripted {
    let script = ResourceScript::new(Schema::new(block())).replace_on("name");
    Scripted::new("test").resource("test_object", script).in_world(world)
}

/// A world with one object that nobody manages.
fn world(id: &str, name: &str) -> World {
    let world = World::new();
    let object = block().object(vec![Value::string(id), Value::string(name), Value::null(Type::Number)]);
    world.put("test_object", id, object);
    world
}

fn project(main: &str, world: World) -> Project {
    Project::new(&format!("{HEAD}{main}")).scripted(provider(world))
}

const ONE: &str =
    "import {\n  to = test_object.a\n  id = \"x1\"\n}\nresource \"test_object\" \"a\" {\n  name = \"web\"\n}\n";

#[test]
fn pl_26_an_existing_object_is_imported_and_then_managed() {
    let mut project = project(ONE, world("x1", "web"));
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    let plan = planned.plan.as_ref().unwrap();
    assert!(plan.is_applyable());
    assert_eq!(plan.counts().import, 1);
    let change = &plan.changes[0];
    // The object is already as configured, so the import is the only effect.
    assert_eq!(change.action, Action::NoOp);
    assert_eq!(change.importing.as_ref().unwrap().id(), Some("x1"));
    let diagnostics = project.apply_plan(planned);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_eq!(project.recorded(), ["test_object.a"]);
    // The block may stay: there is nothing left to do for it.
    project.provider().forget_calls();
    let again = project.plan();
    assert!(!again.plan.as_ref().unwrap().is_applyable());
    assert!(!project.provider().call_texts().iter().any(|call| call.starts_with("import")));
}

#[test]
fn lc_23_an_import_is_always_read_before_it_is_planned() {
    let mut project = project(ONE, world("x1", "web"));
    // -refresh=false trusts the state, but an imported object is not in the state yet.
    project.options = PlanOptions { refresh: Refresh::Trust, ..PlanOptions::default() };
    project.plan();
    let calls = project.provider().call_texts();
    let at = |word: &str| calls.iter().position(|call| call.starts_with(word));
    let (import, read, plan) = (at("import").unwrap(), at("read").unwrap(), at("plan").unwrap());
    assert!(import < read && read < plan, "{calls:?}");
}

#[test]
fn lc_23_an_object_that_does_not_exist_cannot_be_imported() {
    // The world is empty, so the id belongs to nothing.
    let mut project = project(ONE, World::new());
    let planned = project.plan();
    assert_eq!(planned.errors(), ["Cannot import non-existent remote object"]);
    assert!(planned.plan.unwrap().errored);
}

#[test]
fn lc_24_what_differs_from_the_configuration_is_changed_after_the_import() {
    let main = ONE.replace("name = \"web\"", "name = \"web\"\n  size = 3");
    let mut project = project(&main, world("x1", "web"));
    let planned = project.plan();
    assert_eq!(planned.actions(), ["test_object.a: update"]);
    assert!(planned.plan.as_ref().unwrap().changes[0].importing.is_some());
    let diagnostics = project.apply_plan(planned);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert!(project.plan().actions().is_empty());
}

#[test]
fn pl_26_ids_of_many_instances_come_from_a_map_and_reach_into_modules() {
    let main = "locals { ids = { a = \"x1\" } }\nimport {\n  for_each = local.ids\n  to = module.m[\"k\"].test_object.o[each.key]\n  \
                id = each.value\n}\nmodule \"m\" {\n  for_each = toset([\"k\"])\n  source = \"./m\"\n}\n";
    let inner =
        format!("{HEAD}resource \"test_object\" \"o\" {{\n  for_each = toset([\"a\", \"b\"])\n  name = each.key\n}}\n");
    let mut project = project(main, world("x1", "a")).with("m/main.tf", &inner);
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    // Only "a" has an id in the map; "b" is created as usual.
    assert_eq!(planned.actions(), ["module.m[\"k\"].test_object.o[\"b\"]: create"]);
    assert_eq!(planned.plan.as_ref().unwrap().counts().import, 1);
    project.apply_plan(planned);
    assert_eq!(project.recorded(), ["module.m[\"k\"].test_object.o[\"a\"]", "module.m[\"k\"].test_object.o[\"b\"]"]);
}

#[test]
fn pl_26_an_id_may_be_sensitive_or_ephemeral() {
    for kind in ["sensitive", "ephemeral"] {
        let variable = format!("variable \"id\" {{\n  default = \"x1\"\n  {kind} = true\n}}\n");
        let mut project = project(&format!("{variable}{}", ONE.replace("\"x1\"", "var.id")), world("x1", "web"));
        let planned = project.plan();
        assert_eq!(planned.errors(), Vec::<String>::new());
        assert_eq!(planned.plan.as_ref().unwrap().changes[0].importing.as_ref().unwrap().id(), Some("x1"));
    }
}

#[test]
fn pl_26_id_known_after_apply_is_an_error() {
    let main = format!("{ONE}resource \"test_object\" \"other\" {{}}\n").replace("\"x1\"", "test_object.other.id");
    let mut project = project(&main, World::new());
    // The import happens during planning, so the id must be known then.
    assert_eq!(project.plan().errors(), ["Invalid import id argument"]);
}

#[test]
fn pl_26_an_import_needs_an_instance_in_the_configuration() {
    let main = ONE.replace("to = test_object.a", "to = test_object.a[3]").replace("name =", "count = 1\n  name =");
    let mut project = project(&main, world("x1", "web"));
    assert_eq!(project.plan().errors(), ["Configuration for import target does not exist"]);
}

#[test]
fn pl_26_imported_object_may_be_destroyed_while_the_import_block_remains() {
    let text = |count: u8| {
        format!(
            "{HEAD}import {{\n  to = test_object.a[0]\n  id = \"x1\"\n}}\nresource \"test_object\" \"a\" {{\n  count = {count}\n  name  = \"web\"\n}}\n"
        )
    };
    let mut project = project("", world("x1", "web"));
    project.rewrite(&text(1));
    project.apply();
    project.rewrite(&text(0));
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    // The block refers to an object in the state, so it does not require the instance to be declared.
    assert_eq!(planned.actions(), ["test_object.a[0]: delete (delete_because_count_index)"]);
}

#[test]
fn configuration_is_generated_for_an_import_without_a_block() {
    let import = "import {\n  to = test_object.a\n  id = \"x1\"\n}\n";
    let mut project = project(import, world("x1", "{\"a\":{},\"b\":[1,\"${c}\"]}"));
    project.options.missing = groma_engine::MissingResources::Generated;
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    assert!(
        planned.actions().is_empty(),
        "the object is as the block says, and is not deleted: {:?}",
        planned.actions()
    );
    // The generated block is part of the plan, so that it can be written to a file.
    let plan = planned.plan.as_ref().unwrap();
    let text = "resource \"test_object\" \"a\" {\n  name = jsonencode({\n    a = {}\n    b = [1, \"$${c}\"]\n  })\n  size = null\n}";
    assert_eq!(plan.generated, [groma_engine::plan::Generated { id: Some("x1".to_owned()), text: text.to_owned() }]);
    assert_eq!(plan.changes[0].importing.as_ref().unwrap().generated.as_deref(), Some(text));
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(project.recorded(), ["test_object.a"]);
    // With the block in place, the next plan must find nothing to change.
    project.rewrite(&format!("{HEAD}{text}\n"));
    assert!(project.plan().actions().is_empty(), "the block that was written describes the object");
}

#[test]
fn pl_64_configuration_is_generated_for_a_targeted_import() {
    let imports = |to: &str| format!("import {{\n  to = test_object.{to}\n  id = \"x1\"\n}}\n");
    // A provider block is evaluated only if something in the target set needs it.
    let blocks = format!("provider \"test\" {{\n}}\n{}{}", imports("a"), imports("b"));
    let mut project = project(&blocks, world("x1", "web"));
    project.options.missing = groma_engine::MissingResources::Generated;
    let written = |project: &mut Project| -> Vec<String> {
        let plan = project.plan().plan.unwrap();
        plan.generated.iter().map(|one| one.text.lines().next().unwrap_or_default().to_owned()).collect()
    };
    // Only the targeted import may generate a block.
    project.options.targets = vec!["test_object.b".parse().unwrap()];
    assert_eq!(written(&mut project), ["resource \"test_object\" \"b\" {"]);
    project.options.targets.clear();
    project.options.excludes = vec!["test_object.b".parse().unwrap()];
    assert_eq!(written(&mut project), ["resource \"test_object\" \"a\" {"]);
}

/// The plan is one of the block that is written, which the next plan reads: `jsonencode` writes JSON its own way.
#[test]
fn changes_of_generated_configuration_are_planned_in_the_same_run() {
    let import = "import {\n  to = test_object.a\n  id = \"x1\"\n}\n";
    let mut project = project(import, world("x1", "{ \"a\": 1 }"));
    project.options.missing = groma_engine::MissingResources::Generated;
    let planned = project.plan();
    let text = planned.plan.as_ref().unwrap().generated[0].text.clone();
    let actions = planned.actions();
    assert_eq!(actions, ["test_object.a: delete then create (replace_because_cannot_update)"]);
    // The second plan reads the written block like any configuration.
    project.options.missing = groma_engine::MissingResources::Refused;
    project.rewrite(&format!("{HEAD}{import}{text}\n"));
    assert_eq!(project.plan().actions(), actions);
}

#[test]
fn no_block_is_written_for_many_instances() {
    let import = "import {\n  for_each = toset([\"x1\"])\n  to = test_object.a[each.key]\n  id = each.key\n}\n";
    let mut project = project(import, world("x1", "web"));
    project.options.missing = groma_engine::MissingResources::Generated;
    // As in Terraform, a block is generated only for a single resource address.
    assert_eq!(project.plan().errors(), ["Invalid import 'to' expression"]);
}

/// What is written leaves secrets out, so that carrying the plan out takes them from the object.
#[test]
fn generated_configuration_that_changes_the_object_is_applied() {
    let block = Block::new(
        [
            ("id", Attribute::computed(Type::String)),
            ("name", Attribute::optional(Type::String)),
            ("token", Attribute::optional(Type::String).sensitive()),
            ("zone", Attribute::optional_computed(Type::String)),
        ],
        Vec::<(&str, groma_provider::NestedBlock)>::new(),
    );
    let world = World::new();
    world.put(
        "test_object",
        "x1",
        block.object(vec![Value::string("x1"), Value::string("web"), Value::string("hush"), Value::null(Type::String)]),
    );
    let script = ResourceScript::new(Schema::new(block));
    let provider = Scripted::new("test").resource("test_object", script).in_world(world.clone());
    let import = "import {\n  to = test_object.a\n  id = \"x1\"\n}\n";
    let mut project = Project::new(&format!("{HEAD}{import}")).scripted(provider);
    project.options.missing = groma_engine::MissingResources::Generated;
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    assert_eq!(planned.actions(), ["test_object.a: update"]);
    let text = planned.plan.as_ref().unwrap().generated[0].text.clone();
    assert!(text.contains("token = null # sensitive"), "{text}");
    assert!(!text.contains("zone"), "what the provider may choose and did not is not written: {text}");
    let diagnostics = project.apply_plan(planned);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let object = world.get("test_object", "x1").unwrap();
    // The sensitive value was not written, so the generated configuration removes it.
    assert!(object.attribute("token").unwrap().is_null(), "the change that was planned was made");
    assert_eq!(project.recorded(), ["test_object.a"]);
}
