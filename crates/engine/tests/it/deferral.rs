//! What cannot be planned yet is left to a later run, where that is asked for (PL-29, PL-45).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use groma_engine::{Deferral, Mode};
use groma_provider::{
    Attribute, Block, Deferred, ImportResponse, NestedBlock, PlanResponse, ProviderDiagnostic, ReadDataResponse,
    ReadResponse, Schema,
};
use groma_scripted::{DataScript, EphemeralScript, ResourceScript, Scripted};
use groma_value::{Type, Value};

use crate::support::{Planned, Project, errors, found, object_with};

fn script() -> ResourceScript {
    // The computed number of copies is unknown until the object exists, which makes counts unknown.
    ResourceScript::new(object_with("copies", Attribute::computed(Type::Number)))
}

fn provider(script: ResourceScript) -> Scripted {
    let settings = Block::new([("region", Attribute::optional(Type::String))], Vec::<(&str, NestedBlock)>::new());
    Scripted::new("test")
        .config(Schema::new(settings))
        .resource("test_object", script)
        .data("test_found", DataScript::new(found()))
        .ephemeral("test_secret", EphemeralScript::new(found()))
}

fn project(main: &str) -> Project {
    with(main, provider(script()))
}

fn with(main: &str, provider: Scripted) -> Project {
    let mut project = Project::with_test(main, provider);
    project.options.deferral = Deferral::Allowed;
    project
}

/// What is left to a later run, with the reasons; the plan goes through its saved form.
fn deferred(planned: Planned) -> (Planned, Vec<String>) {
    assert_eq!(planned.errors(), Vec::<String>::new());
    // Through the saved form, because deferred changes must survive a plan file.
    let planned = planned.saved();
    let plan = planned.plan.as_ref().unwrap();
    let line = |one: &groma_engine::DeferredChange| {
        format!("{}: {} ({})", one.address(), one.change.action.names().join(" then "), one.reason.name())
    };
    let lines: Vec<String> = plan.deferred.iter().map(line).collect();
    assert_eq!(plan.is_complete(), lines.is_empty());
    (planned, lines)
}

/// One run: what it does, and what it leaves.
fn run(project: &mut Project) -> (Vec<String>, Vec<String>) {
    let (planned, left) = deferred(project.plan());
    let actions = planned.actions();
    let problems = project.apply_plan(planned);
    assert!(!problems.has_errors(), "{problems:#?}");
    (actions, left)
}

const NONE: [&str; 0] = [];

const CHAIN: &str = r#"
    resource "test_object" "a" { name = "a" }
    resource "test_object" "many" {
      for_each = toset([test_object.a.id])
      name     = each.key
    }
    resource "test_object" "after" { name = join(",", [for one in test_object.many : one.name]) }
    resource "test_object" "free" { name = "free" }
    output "after" { value = test_object.after.name }
    output "free" { value = test_object.free.name }
"#;

#[test]
fn pl_29_unknown_number_of_instances_is_deferred_with_all_dependents() {
    let mut project = project(CHAIN);
    // Without deferral, unknown keys are an error, as in Terraform.
    project.options.deferral = Deferral::Refused;
    assert_eq!(project.plan().errors(), ["Invalid for_each argument"]);
    project.options.deferral = Deferral::Allowed;
    let (actions, left) = run(&mut project);
    assert_eq!(actions, ["test_object.a: create", "test_object.free: create"]);
    let many = "test_object.many[*]: create (instance_count_unknown)";
    assert_eq!(left, ["test_object.after: create (deferred_prereq)", many]);
    assert_eq!(project.recorded(), ["test_object.a", "test_object.free"]);
    // The output of the deferred resource is not stored with an unknown value.
    assert_eq!(project.state.outputs.keys().map(|name| &**name).collect::<Vec<_>>(), ["free"]);

    let (actions, left) = run(&mut project);
    assert_eq!((actions.len(), left), (2, Vec::new()), "{actions:?}");
    // Both outputs have known values now.
    assert_eq!(project.state.outputs.len(), 2);
    // Nothing is left to do or to defer once everything exists.
    let (actions, left) = run(&mut project);
    assert_eq!((actions, left), (Vec::new(), Vec::new()));
}

#[test]
fn pl_29_unknown_count_and_modules_are_deferred() {
    let child = "variable \"name\" {}\nresource \"test_object\" \"inner\" {\n  name = var.name\n}\n\
                 output \"id\" {\n  value = test_object.inner.id\n}\noutput \"five\" {\n  value = 5\n}\n";
    let main = r#"
        resource "test_object" "a" { name = "a" }
        module "one" {
          source = "./child"
          count  = test_object.a.copies
          name   = "one${count.index}"
        }
        module "known" {
          source   = "./child"
          for_each = { x = one(module.one[*].id) }
          name     = "x"
        }
        resource "test_object" "guess" { name = try(module.one[7].five, "none") }
        resource "test_object" "counted" {
          count = test_object.a.copies
          name  = "counted${count.index}"
        }
    "#;
    let mut project = project("").with("child/main.tf", child);
    project.rewrite(main);
    let (actions, left) = run(&mut project);
    assert_eq!(actions, ["test_object.a: create"]);
    let expected = [
        "test_object.counted[*]: create (instance_count_unknown)",
        "test_object.guess: create (deferred_prereq)",
        "module.known[\"x\"].test_object.inner: create (deferred_prereq)",
        "module.one[*].test_object.inner: create (instance_count_unknown)",
    ];
    assert_eq!(left, expected);
    // With the first object created, the second run knows all numbers.
    let (actions, left) = run(&mut project);
    let all = ["counted[0]", "guess"].map(|name| format!("test_object.{name}: create"));
    let inner = ["known[\"x\"]", "one[0]"].map(|name| format!("module.{name}.test_object.inner: create"));
    assert_eq!((actions, left), ([all, inner].concat(), Vec::new()));
}

#[test]
fn pl_29_existing_objects_are_kept_while_the_number_of_instances_is_unknown() {
    let many = |count: &str| {
        format!(
            "resource \"test_object\" \"a\" {{\n  name = \"a\"\n}}\nresource \"test_object\" \"b\" {{\n  count = {count}\n  name  = \"b\"\n}}\n"
        )
    };
    let mut project = project(&many("2"));
    run(&mut project);
    // The replaced object makes the number unknown again, while its instances still exist.
    let replaced = many("test_object.a.copies").replace("name = \"a\"", "name = \"other\"");
    project = with(&replaced, provider(script().replace_on("name")).in_world(project.provider().world().clone()))
        .holding(project.state);
    let (actions, left) = run(&mut project);
    assert_eq!(actions, ["test_object.a: delete then create (replace_because_cannot_update)"]);
    assert_eq!(left, ["test_object.b[*]: create (instance_count_unknown)"]);
    // An unknown number is no reason to delete existing instances.
    assert_eq!(project.recorded(), ["test_object.a", "test_object.b[0]", "test_object.b[1]"]);
    // Only now the number is known, and the surplus instance is deleted.
    let (actions, left) = run(&mut project);
    assert_eq!(
        (&*actions, &*left),
        (&["test_object.b[1]: delete (delete_because_count_index)".to_owned()][..], &[][..])
    );
}

#[test]
fn pl_29_a_provider_that_needs_its_whole_configuration_waits_for_it() {
    const A: &str = "resource \"test_object\" \"a\" {\n  name = \"a\"\n}\n";
    let main = |version: u32, object: &str| {
        format!(
            "provider \"test\" {{\n  region = terraform_data.region.id\n}}\nresource \"terraform_data\" \"region\" {{\n  \
             triggers_replace = {version}\n}}\nresource \"terraform_data\" \"free\" {{\n  input = {version}\n}}\n{object}\
             data \"test_found\" \"a\" {{\n  name = \"a\"\n}}\n"
        )
    };
    let provider = provider(script()).on_configure(|request, good| match request.config.is_wholly_known() {
        true => good(),
        // Like real providers that need the region for every call.
        false => ProviderDiagnostic::error("No region", "The region must be known.").into(),
    });
    let mut project = with(&main(1, A), provider);
    // Without deferral the provider is configured with an unknown region and refuses it.
    project.options.deferral = Deferral::Refused;
    assert_eq!(project.plan().errors(), ["No region"]);
    project.options.deferral = Deferral::Allowed;
    let (actions, left) = run(&mut project);
    assert_eq!(actions, ["terraform_data.free: create", "terraform_data.region: create"]);
    let data = "data.test_found.a: read (provider_config_unknown)";
    // Resources of other providers are created meanwhile.
    assert_eq!(left, [data, "test_object.a: create (provider_config_unknown)"]);
    assert_eq!(run(&mut project), (vec!["test_object.a: create".to_owned()], Vec::new()));

    // What it manages can neither change nor go while it waits.
    project.rewrite(&main(2, &A.replace("\"a\"\n}", "\"b\"\n}")));
    let (actions, left) = run(&mut project);
    // Only the two terraform_data resources, whose provider needs no region.
    assert_eq!(actions.len(), 2, "{actions:?}");
    assert_eq!(left, [data, "test_object.a: update (provider_config_unknown)"]);
    project.rewrite(&main(3, ""));
    assert_eq!(run(&mut project).1, [data, "test_object.a: delete (provider_config_unknown)"]);
    // The deletion is deferred, so the object must stay in the state.
    assert_eq!(project.recorded().last().unwrap(), "test_object.a");
    let gone = "test_object.a: delete (delete_because_no_resource_config)".to_owned();
    assert_eq!(run(&mut project), (vec![gone], Vec::new()));
}

/// Whether a provider puts its answers off.
#[derive(Clone)]
struct Off(Arc<AtomicBool>);

impl Off {
    fn yes() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    fn reason(&self, reason: Deferred) -> Option<Deferred> {
        self.0.load(Ordering::Relaxed).then_some(reason)
    }

    fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn pl_45_provider_defers_a_change_with_its_dependents() {
    let off = Off::yes();
    let answers = off.clone();
    let script = script().on_plan(move |request, good| {
        let is_meant = request.config.attribute("name").is_some_and(|name| name.as_str() == Some("late"));
        // Only a host that allows deferrals may get one.
        let may = request.client_capabilities.deferral_allowed && is_meant;
        let deferred = answers.reason(Deferred::AbsentPrerequisite).filter(|_| may);
        PlanResponse { deferred, ..good() }
    });
    let main = r#"
        resource "test_object" "late" { name = "late" }
        resource "test_object" "user" { name = test_object.late.id }
        resource "test_object" "named" { name = test_object.late.name }
        resource "test_object" "free" { name = "free" }
        data "test_found" "user" { name = test_object.late.id }
        ephemeral "test_secret" "user" { name = test_object.late.id }
    "#;
    let mut project = with(main, provider(script));
    let (actions, left) = run(&mut project);
    assert_eq!(actions, ["test_object.free: create"]);
    let expected = [
        "data.test_found.user: read (deferred_prereq)",
        "test_object.late: create (absent_prereq)",
        "test_object.named: create (deferred_prereq)",
        "test_object.user: create (deferred_prereq)",
    ];
    assert_eq!(left, expected);
    // From now on the provider answers, so the second run plans everything.
    off.end();
    let (actions, left) = run(&mut project);
    assert_eq!((actions.len(), left), (4, Vec::new()), "{actions:?}");
}

#[test]
fn pl_45_reads_and_imports_are_deferred() {
    let off = Off::yes();
    let (reads, imports, data) = (off.clone(), off.clone(), off.clone());
    let script = script()
        .on_read(move |_, good| ReadResponse { deferred: reads.reason(Deferred::ProviderConfigUnknown), ..good() })
        .on_import(move |_, good| match imports.reason(Deferred::ProviderConfigUnknown) {
            None => good(),
            deferred => ImportResponse { deferred, imported: Vec::new(), ..good() },
        });
    let data = DataScript::new(found())
        .on_read(move |_, good| ReadDataResponse { deferred: data.reason(Deferred::ResourceConfigUnknown), ..good() });
    let main = "resource \"test_object\" \"a\" {\n  name = \"a\"\n}\n";
    let mut project = with(main, provider(script.clone()));
    // The first run must succeed, so that there is an object to refresh.
    off.end();
    run(&mut project);
    let world = project.provider().world().clone();
    let more = "import {\n  to = test_object.b\n  id = \"there\"\n}\nresource \"test_object\" \"b\" {\n  name = \"there\"\n}\n\
                data \"test_found\" \"c\" {\n  name = \"c\"\n}\n";
    let object = object_with("copies", Attribute::computed(Type::Number)).block;
    let there = object.object(vec![
        Value::number(1),
        Value::string("there"),
        Value::string("there"),
        Value::null(Type::Number),
    ]);
    // The imported object already exists in the provider's world.
    world.put("test_object", "there", there);
    let provider = provider(script).data("test_found", data).in_world(world);
    let text = format!("{}{more}", main.replace("name = \"a\"", "name = \"new\""));
    let mut project = with(&text, provider).holding(project.state);
    off.0.store(true, Ordering::Relaxed);
    let (actions, left) = run(&mut project);
    assert_eq!(actions, NONE);
    let expected = [
        "data.test_found.c: read (resource_config_unknown)",
        "test_object.a: update (provider_config_unknown)",
        "test_object.b: create (provider_config_unknown)",
    ];
    assert_eq!(left, expected);
    assert_eq!(project.recorded(), ["test_object.a"]);
    // Who only looks learns nothing about it.
    project.options.mode = Mode::RefreshOnly;
    let (_, left) = deferred(project.plan());
    assert_eq!(left[1..], ["test_object.a: no-op (provider_config_unknown)"]);
    project.options.mode = Mode::Normal;
    off.end();
    let (actions, left) = run(&mut project);
    assert_eq!((actions, left), (vec!["test_object.a: update".to_owned()], Vec::new()));
    assert_eq!(project.recorded(), ["data.test_found.c", "test_object.a", "test_object.b"]);
}

#[test]
fn pl_45_deferral_without_permission_is_a_provider_bug() {
    let script = script().on_plan(|_, good| PlanResponse { deferred: Some(Deferred::Unknown), ..good() });
    let mut project = with("resource \"test_object\" \"a\" {\n  name = \"a\"\n}\n", provider(script));
    project.options.deferral = Deferral::Refused;
    assert_eq!(project.plan().errors(), ["Provider deferred changes when Terraform did not allow deferrals"]);
    project.options.deferral = Deferral::Allowed;
    assert_eq!(deferred(project.plan()).1, ["test_object.a: create (unknown)"]);
}

#[test]
fn pl_45_dependency_of_a_deferred_deletion_is_kept() {
    let off = Off::yes();
    let answers = off.clone();
    let script = script().on_plan(move |request, good| {
        let goes = request.config.is_null()
            && request.prior_state.attribute("name").is_some_and(|name| name.as_str() == Some("user"));
        PlanResponse { deferred: answers.reason(Deferred::AbsentPrerequisite).filter(|_| goes), ..good() }
    });
    let capabilities = groma_provider::ServerCapabilities { plan_destroy: true, ..Default::default() };
    let main = r#"
        resource "test_object" "base" { name = "base" }
        resource "test_object" "user" {
          name       = "user"
          depends_on = [test_object.base]
        }
        resource "test_object" "other" { name = "other" }
    "#;
    for mode in [Mode::Normal, Mode::Destroy] {
        let mut project = with(main, provider(script.clone()).capabilities(capabilities));
        off.end();
        run(&mut project);
        off.0.store(true, Ordering::Relaxed);
        // In normal mode the blocks disappear; in destroy mode they stay.
        if mode == Mode::Normal {
            project.rewrite("");
        }
        project.options.mode = mode;
        let (actions, left) = run(&mut project);
        assert_eq!(actions.len(), 1, "{actions:?}");
        let expected = ["test_object.base: delete (deferred_prereq)", "test_object.user: delete (absent_prereq)"]
            .map(str::to_owned);
        assert_eq!(left, expected);
        // The dependency is kept, because its user still exists.
        assert_eq!(project.recorded(), ["test_object.base", "test_object.user"]);
        off.end();
        run(&mut project);
        assert_eq!(project.recorded(), NONE);
        off.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn pl_29_import_with_an_unknown_target_is_deferred() {
    let main = r#"
        resource "test_object" "a" { name = "a" }
        import {
          to = test_object.b
          id = test_object.a.id
        }
        resource "test_object" "b" { name = "a" }
        import {
          for_each = toset([test_object.a.id])
          to       = test_object.c[each.key]
          id       = each.key
        }
        resource "test_object" "c" {
          for_each = toset(["x"])
          name     = each.key
        }
        resource "test_object" "user" { name = test_object.b.id }
    "#;
    let mut project = project(main);
    let (actions, left) = run(&mut project);
    assert_eq!(actions, ["test_object.a: create"]);
    let expected = [
        "test_object.b: create (resource_config_unknown)",
        "test_object.c[\"x\"]: create (resource_config_unknown)",
        "test_object.user: create (deferred_prereq)",
    ];
    assert_eq!(left, expected);
    // Without deferral the second import names an instance that the configuration does not declare.
    project.options.deferral = Deferral::Refused;
    let planned = project.plan();
    let problems = errors(&planned.diagnostics);
    assert_eq!(problems, ["Configuration for import target does not exist"], "the second import is into nothing");
}
