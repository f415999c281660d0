//! Provider blocks with `for_each`: each instance is a provider of its own, and objects are managed by the one that their block
//! chooses.

use std::sync::Arc;

use groma_engine::{Action, Deferral, FoundObjects, MissingResources, Mode, Recovery, Refresh, Unrecorded};
use groma_state::{Begin, CreateRequest, ObjectStatus, Operation, State};
use groma_value::{Type, Value, msgpack};

use crate::support::labelled::{OBJECTS, PROVIDER_INSTANCES, REQUIRED, managers, only_error, project, set};
use crate::support::{Project, is_over_the_protocol};

#[test]
fn each_element_is_a_provider_of_its_own() {
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    assert_eq!(project.apply(), ["test_object.o[\"one\"]: create", "test_object.o[\"two\"]: create"]);
    assert_eq!(notes.take(), ["apply one at a-x", "apply two at b-y", "configure a-x", "configure b-y"]);
    assert_eq!(managers(&project.state), ["test_object.o[\"one\"]: [\"a\"]", "test_object.o[\"two\"]: [\"b\"]"]);

    // The next run asks who manages each; a saved plan keeps it.
    set(&mut project, "objects", &[("one", "a"), ("three", "b")]);
    let planned = project.plan().saved();
    assert_eq!(notes.take(), ["configure a-x", "configure b-y", "read one at a-x", "read two at b-y"]);
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(notes.take(), ["apply three at b-y", "delete two at b-y"]);
    project.options.mode = Mode::Destroy;
    project.apply();
    assert!(project.state.is_empty());
    let done = notes.take();
    assert!(
        done.contains(&"delete one at a-x".to_owned()) && done.contains(&"delete three at b-y".to_owned()),
        "{done:?}"
    );
}

#[test]
fn saved_plan_configures_its_providers_again() {
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    let plan = project.plan();
    let changes = plan.plan.as_ref().unwrap().changes.iter();
    let providers: Vec<String> = changes.map(|change| change.provider.to_string()).collect();
    let of = |key: &str| format!("provider[\"registry.terraform.io/test/test\"].by[\"{key}\"]");
    assert_eq!(providers, [of("a"), of("b")]);
    notes.take();
    assert!(!project.apply_plan(plan.saved()).has_errors());
    assert_eq!(notes.take(), ["apply one at a-x", "apply two at b-y"]);
}

#[test]
fn all_users_of_a_provider_select_an_instance() {
    let main = format!(
        "{PROVIDER_INSTANCES}
data \"test_found\" \"d\" {{
  for_each = var.places
  provider = test.by[each.key]
  name     = \"d-${{each.key}}\"
}}
ephemeral \"test_token\" \"t\" {{
  provider = test.by[\"b\"]
  name     = \"t\"
}}
action \"test_note\" \"n\" {{
  for_each = var.places
  provider = test.by[each.key]
  config {{
    name = \"n-${{each.key}}\"
  }}
}}
resource \"test_object\" \"o\" {{
  count    = 1
  provider = test.by[[\"b\"][count.index]]
  name     = \"o\"
  lifecycle {{
    action_trigger {{
      events  = [after_create]
      actions = [action.test_note.n[\"a\"], action.test_note.n[\"b\"]]
    }}
  }}
}}
"
    );
    let (mut project, notes) = project(&main);
    project.apply();
    let expected = ["apply o at b-y", "configure a-x", "configure b-y", "find d-a at a-x", "find d-b at b-y"];
    let done = notes.take();
    for line in expected.into_iter().chain(["invoke n-a at a-x", "invoke n-b at b-y"]) {
        assert!(done.iter().any(|noted| noted == line), "{line}: {done:?}");
    }
    assert_eq!(
        managers(&project.state),
        ["data.test_found.d[\"a\"]: [\"a\"]", "data.test_found.d[\"b\"]: [\"b\"]", "test_object.o[0]: [\"b\"]"]
    );
    // Nothing has changed for them.
    assert!(project.apply().is_empty());
}

const INNER: &str = r#"
terraform {
  required_providers {
    test = {
      source                = "test/test"
      configuration_aliases = [test.inner]
    }
  }
}
module "n" {
  source    = "../n"
  count     = 2
  providers = { test = test.inner }
}
resource "test_object" "m" {
  provider = test.inner
  name     = "m"
}
"#;

const INNERMOST: &str = r#"
terraform {
  required_providers {
    test = { source = "test/test" }
  }
}
resource "test_object" "n" {
  name = "n"
}
module "p" {
  source = "../p"
}
"#;

const INHERITS: &str = r#"
terraform {
  required_providers {
    test = { source = "test/test" }
  }
}
data "test_found" "p" {
  name = "p"
}
"#;

#[test]
fn provider_instance_passed_to_a_module_is_inherited_by_nested_modules() {
    let call = r#"
module "m" {
  source    = "./m"
  for_each  = { one = "a", two = "b" }
  providers = { test.inner = test.by[each.value] }
}
"#;
    let (project, notes) = project(&format!("{PROVIDER_INSTANCES}{call}"));
    let mut project = project.with("m/m.tf", INNER).with("n/n.tf", INNERMOST).with("p/p.tf", INHERITS);
    project.apply();
    for (key, label) in [("one", "[\"a\"]"), ("two", "[\"b\"]")] {
        let of = |rest: &str| format!("module.m[\"{key}\"].{rest}: {label}");
        let all = managers(&project.state);
        for rest in [
            "test_object.m",
            "module.n[0].test_object.n",
            "module.n[1].test_object.n",
            "module.n[1].module.p.data.test_found.p",
        ] {
            assert!(all.contains(&of(rest)), "{rest}: {all:#?}");
        }
    }
    let done = notes.take();
    let count = |line: &str| done.iter().filter(|noted| *noted == line).count();
    assert_eq!((count("apply n at a-x"), count("apply n at b-y"), count("find p at b-y")), (2, 2, 2));
    assert_eq!(count("configure a-x"), 1);
    project.options.mode = Mode::Destroy;
    project.apply();
    assert!(project.state.is_empty(), "{:?}", managers(&project.state));
}

#[test]
fn object_moves_to_the_provider_instance_that_its_block_selects() {
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    project.apply();
    notes.take();
    set(&mut project, "objects", &[("one", "b"), ("two", "a")]);
    assert!(project.apply().is_empty());
    assert_eq!(notes.take(), ["configure a-x", "configure b-y", "read one at b-y", "read two at a-x"]);
    assert_eq!(managers(&project.state), ["test_object.o[\"one\"]: [\"b\"]", "test_object.o[\"two\"]: [\"a\"]"]);
    // What goes is destroyed by who managed it last, whatever its block says.
    set(&mut project, "objects", &[("one", "a")]);
    project.options.mode = Mode::Destroy;
    project.apply();
    let done = notes.take();
    assert!(
        done.contains(&"delete one at b-y".to_owned()) && done.contains(&"delete two at a-x".to_owned()),
        "{done:?}"
    );
}

#[test]
fn deposed_object_is_destroyed_by_the_provider_instance_that_created_it() {
    let object = |name: &str, kind: &str, key: &str| {
        format!(
            "{PROVIDER_INSTANCES}resource \"test_object\" \"o\" {{\n  provider = test.by[\"{key}\"]\n  name = \"{name}\"\n  kind = \"{kind}\"\n  lifecycle {{\n    \
             create_before_destroy = true\n  }}\n}}\n"
        )
    };
    let (mut project, notes) = project(&object("stuck", "k", "a"));
    project.apply();
    project.rewrite(&format!("{REQUIRED}{}", object("stuck", "l", "a")));
    let planned = project.plan();
    assert!(project.apply_plan(planned).has_errors());
    assert_eq!(managers(&project.state), ["test_object.o: [\"a\"]", "test_object.o deposed: [\"a\"]"]);
    // The block has gone over to another instance meanwhile.
    project.rewrite(&format!("{REQUIRED}{}", object("stuck", "l", "b")));
    let deposed = |project: &mut Project| {
        let planned = project.plan();
        let changes = planned.plan.as_ref().unwrap().changes.iter().filter(|change| change.deposed.is_some());
        changes.map(|change| (change.action, change.provider.key.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(deposed(&mut project), [(Action::Delete, "[\"a\"]".to_owned())]);
    set(&mut project, "places", &[("b", "y")]);
    assert!(only_error(&mut project).contains("by[\"a\"]"));
    notes.take();
}

#[test]
fn import_blocks_go_through_the_instance_of_their_resource() {
    let import = "import {\n  for_each = var.objects\n  to       = test_object.o[each.key]\n  id       = each.key\n}\n";
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    project.apply();
    let ids: Vec<String> =
        project.state.iter().map(|view| view.record.current.as_ref().unwrap().id_json().unwrap().to_string()).collect();
    project.state = State::new("1.15.5");
    let import =
        import.replace("id       = each.key", &format!("id = {{ one = {}, two = {} }}[each.key]", ids[0], ids[1]));
    project.rewrite(&format!("{REQUIRED}{PROVIDER_INSTANCES}{OBJECTS}{import}"));
    notes.take();
    let planned = project.plan();
    let counts = planned.plan.as_ref().unwrap().counts();
    assert_eq!((counts.import, counts.add, counts.change), (2, 0, 0));
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(managers(&project.state), ["test_object.o[\"one\"]: [\"a\"]", "test_object.o[\"two\"]: [\"b\"]"]);
}

#[test]
fn unknown_change_can_be_deferred() {
    let main = format!(
        "{PROVIDER_INSTANCES}resource \"test_object\" \"first\" {{\n  provider = test.by[\"a\"]\n  name = \"first\"\n}}\nresource \"test_object\" \"o\" \
         {{\n  for_each = toset([test_object.first.id])\n  provider = test.by[each.key == \"\" ? \"a\" : \"b\"]\n  name = \"o\"\n}}\nresource \
         \"test_object\" \"p\" {{\n  provider = test.by[test_object.first.id == \"\" ? \"a\" : \"b\"]\n  name = \"p\"\n}}\ndata \
         \"test_found\" \"q\" {{\n  provider = test.by[test_object.first.id == \"\" ? \"a\" : \"b\"]\n  name = \"q\"\n}}\n"
    );
    let (mut project, _) = project(&main);
    project.options.deferral = Deferral::Allowed;
    let planned = project.plan();
    assert!(!planned.diagnostics.has_errors(), "{:#?}", planned.diagnostics);
    let deferred = planned.plan.as_ref().unwrap().deferred.iter();
    let mut left: Vec<String> = deferred.map(|one| format!("{} {}", one.address(), one.reason.name())).collect();
    left.sort();
    assert_eq!(
        left,
        [
            "data.test_found.q provider_config_unknown",
            "test_object.o[*] provider_config_unknown",
            "test_object.p provider_config_unknown"
        ]
    );
    assert!(!project.apply_plan(planned).has_errors());
    project.apply();
    assert_eq!(project.state.len(), 4);
}

#[test]
fn generated_configuration_names_the_provider_instance_of_the_search() {
    let queries = "list \"test_listed\" \"l\" {\n  for_each = toset([\"a\", \"b\"])\n  provider = test.by[each.key]\n  config {\n    name = \
                   each.key\n  }\n}\n";
    let (project, notes) = project(PROVIDER_INSTANCES);
    let mut project = project.with("queries.tfquery.hcl", queries);
    project.options.found = FoundObjects::Generated;
    let (searched, diagnostics) = project.query();
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(notes.take(), ["configure a-x", "configure b-y", "list a at a-x", "list b at b-y"]);
    let written = searched.iter().flat_map(|one| &one.found).map(|found| found.written.as_ref().unwrap());
    for (blocks, key) in written.zip(["a", "b"]) {
        let provider = format!("provider = test.by[\"{key}\"]");
        assert!(format!("{blocks:?}").replace('\\', "").contains(&provider), "{blocks:?}");
    }
}

#[test]
fn configuration_is_generated_for_an_import_through_a_provider_instance() {
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    project.apply();
    let id = project.state.iter().next().unwrap().record.current.as_ref().unwrap().id_json().unwrap().to_string();
    project.state = State::new("1.15.5");
    let import = format!("import {{\n  to = test_object.g\n  id = {id}\n  provider = test.by[\"b\"]\n}}\n");
    project.rewrite(&format!("{REQUIRED}{PROVIDER_INSTANCES}{import}"));
    project.options.missing = MissingResources::Generated;
    notes.take();
    let planned = project.plan();
    assert_eq!(notes.take(), ["configure a-x", "configure b-y", "read nothing at b-y"]);
    let generated = &planned.plan.as_ref().unwrap().generated;
    assert!(generated[0].text.contains("provider = test.by[\"b\"]"), "{generated:?}");
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(managers(&project.state), ["test_object.g: [\"b\"]"]);
}

#[test]
fn a_check_reads_its_data_source_through_an_instance() {
    let main = format!(
        "{PROVIDER_INSTANCES}check \"c\" {{\n  data \"test_found\" \"d\" {{\n    provider = test.by[\"b\"]\n    name = \"d\"\n  }}\n  assert {{\n    \
         condition = data.test_found.d.found == \"f\"\n    error_message = \"no\"\n  }}\n}}\n"
    );
    let (mut project, notes) = project(&main);
    project.apply();
    assert!(notes.take().contains(&"find d at b-y".to_owned()));
    assert_eq!(managers(&project.state), ["data.test_found.d: [\"b\"]"]);
}

#[test]
fn interrupted_creation_is_requested_again_from_the_same_provider_instance() {
    // The protocol does not tell whether a creation may be asked for again.
    if is_over_the_protocol() {
        return;
    }
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    let object =
        |id: Value| Value::object([("id", id), ("kind", Value::null(Type::String)), ("name", Value::string("two"))]);
    let encoded = |value: &Value| -> Arc<[u8]> { msgpack::encode(value, &value.ty()).unwrap().into() };
    let begin = Begin {
        address: "test_object.o[\"two\"]".parse().unwrap(),
        deposed: None,
        operation: Operation::Create,
        provider: "provider[\"registry.terraform.io/test/test\"].by[\"b\"]".parse().unwrap(),
        request: Some(CreateRequest {
            schema_version: 0,
            planned_private: Arc::default(),
            planned_state: encoded(&object(Value::unknown(Type::String))),
            config: encoded(&object(Value::null(Type::String))),
            meta: Arc::default(),
        }),
        dependencies: groma_state::Dependencies::default(),
        create_before_destroy: false,
        is_kept: false,
        status: ObjectStatus::Ready,
    };
    project.options.recovery = Some(Arc::new(Recovery { in_flight: vec![begin], recorder: Arc::new(Unrecorded) }));
    let planned = project.plan();
    assert_eq!(notes.take(), ["apply two at b-y", "configure a-x", "configure b-y", "read two at b-y"]);
    assert_eq!(planned.actions(), ["test_object.o[\"one\"]: create"]);
    project.options.recovery = None;
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(managers(&project.state), ["test_object.o[\"one\"]: [\"a\"]", "test_object.o[\"two\"]: [\"b\"]"]);
}

#[test]
fn targets_refreshes_and_replacements_use_their_provider_instances() {
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    project.apply();
    notes.take();
    project.options.targets = vec!["test_object.o[\"two\"]".parse().unwrap()];
    project.options.replace = vec!["test_object.o[\"two\"]".parse().unwrap()];
    project.apply();
    let done = notes.take();
    for line in ["read two at b-y", "delete two at b-y", "apply two at b-y"] {
        assert!(done.contains(&line.to_owned()), "{line}: {done:?}");
    }
    assert!(!done.iter().any(|line| line.contains("one")), "{done:?}");
    project.options.targets.clear();
    project.options.replace.clear();
    project.options.mode = Mode::RefreshOnly;
    project.apply();
    assert_eq!(notes.take(), ["configure a-x", "configure b-y", "read one at a-x", "read two at b-y"]);
    // Without looking, what the state says is enough to destroy it.
    (project.options.mode, project.options.refresh) = (Mode::Destroy, Refresh::Trust);
    project.apply();
    let done = notes.take();
    assert!(
        done.contains(&"delete one at a-x".to_owned()) && !done.iter().any(|line| line.starts_with("read")),
        "{done:?}"
    );
}

#[test]
fn module_with_repeated_provider_blocks_can_be_disabled_and_deferred() {
    for above in ["depends_on = [terraform_data.first]", "lifecycle {\n enabled = var.on\n }"] {
        let main = format!(
            "variable \"on\" {{\n  default = true\n}}\nresource \"terraform_data\" \"first\" {{}}\n\
             module \"m\" {{\n  source = \"./m\"\n  {above}\n}}\n"
        );
        let (project, _) = project(&main);
        let inside = format!(
            "{REQUIRED}provider \"test\" {{\n  alias    = \"by\"\n  for_each = toset([\"a\", \"b\"])\n}}\n\
             resource \"test_object\" \"o\" {{\n  provider = test.by[\"b\"]\n  name     = \"o\"\n}}\n"
        );
        let mut project = project.with("m/main.tf", &inside);
        project.apply();
        assert!(project.plan().actions().is_empty(), "{above}");
        project.rewrite(&main.replace("default = true", "default = false"));
        let gone: &[&str] = match above.contains("enabled") {
            true => &["module.m.test_object.o: delete (delete_because_no_module)"],
            false => &[],
        };
        assert_eq!(project.apply(), gone);
        project.options.mode = Mode::Destroy;
        project.apply();
        assert!(project.state.is_empty());
    }
}
