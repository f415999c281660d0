//! Actions: around changes, and because a person asks.

use groma_engine::{InvokeTarget, Mode};
use groma_provider::{Attribute, Block, NestedBlock, ProviderDiagnostic, Schema};
use groma_scripted::{ActionScript, ResourceScript, Scripted};
use groma_value::Type;

use crate::support::Project;

const HEAD: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Schema {
    Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
}

fn note() -> ActionScript {
    ActionScript::new(block([
        ("name", Attribute::required(Type::String)),
        ("about", Attribute::optional(Type::String)),
    ]))
}

fn object() -> ResourceScript {
    ResourceScript::new(block([
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::optional(Type::String)),
        ("size", Attribute::optional(Type::Number)),
    ]))
}

fn project(main: &str, note: ActionScript) -> Project {
    let provider = Scripted::new("test").action("test_note", note).resource("test_object", object());
    Project::new(&format!("{HEAD}{main}")).scripted(provider)
}

/// What was done, in order: invocations and changes.
fn done(project: &Project) -> Vec<String> {
    let texts = project.provider().call_texts();
    texts.into_iter().filter(|call| call.starts_with("invoke") || call.starts_with("apply")).collect()
}

const AROUND: &str = r#"
resource "test_object" "a" {
  name = "a"
  size = 1
  lifecycle {
    action_trigger {
      events  = [before_create, before_update]
      actions = [action.test_note.first, action.test_note.each["k"]]
    }
    action_trigger {
      events  = [after_create]
      actions = [action.test_note.last]
    }
  }
}
action "test_note" "first" {
  config {
    name = "first"
  }
}
action "test_note" "each" {
  for_each = toset(["k", "l"])
  config {
    name = "each-${each.key}"
  }
}
action "test_note" "last" {
  config {
    name  = "last"
    about = test_object.a.id
  }
}
"#;

#[test]
fn actions_are_invoked_before_and_after_a_change_in_the_order_of_the_lists() {
    let reported = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&reported);
    let note = note().on_invoke(move |request| {
        seen.lock().unwrap().push(request.config.attribute("about").unwrap().as_str().map(str::to_owned));
        (request.progress)("half done");
        groma_provider::ProviderDiagnostics::new()
    });
    let mut project = project(AROUND, note);
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    let plan = planned.plan.as_ref().unwrap();
    let invocations: Vec<String> =
        plan.invocations.iter().map(|one| format!("{} {}", one.trigger().unwrap().1.name(), one.action)).collect();
    assert_eq!(
        invocations,
        [
            "BeforeCreate action.test_note.first",
            "BeforeCreate action.test_note.each[\"k\"]",
            "AfterCreate action.test_note.last"
        ]
    );
    assert!(!plan.invocations[2].config.is_wholly_known(), "the id is not known before the object is there");
    assert_eq!(plan.counts().invoke, 3);
    project.provider().forget_calls();
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(
        done(&project),
        ["invoke test_note first", "invoke test_note each-k", "apply test_object a", "invoke test_note last"]
    );
    assert_eq!(*reported.lock().unwrap(), [None, None, Some("test_object-1".to_owned())], "known by then");
    assert!(project.plan().plan.unwrap().invocations.is_empty(), "nothing changes, so nothing is invoked");
    project.rewrite(&format!("{HEAD}{}", AROUND.replace("size = 1", "size = 2")));
    project.provider().forget_calls();
    project.apply();
    assert_eq!(done(&project), ["invoke test_note first", "invoke test_note each-k", "apply test_object a"]);
}

#[test]
fn actions_before_a_replacement_run_before_the_old_object_is_deleted() {
    let mut project = project(AROUND, note());
    project.apply();
    project.options.replace = vec!["test_object.a".parse().unwrap()];
    project.provider().forget_calls();
    project.apply();
    let done = done(&project);
    assert_eq!(done.len(), 5, "{done:?}");
    assert_eq!(done[..2], ["invoke test_note first", "invoke test_note each-k"]);
    assert_eq!(done[4], "invoke test_note last");
}

fn failing(name: &'static str) -> ActionScript {
    note().on_invoke(move |request| {
        let is_it = request.config.attribute("name").unwrap().as_str() == Some(name);
        if is_it { ProviderDiagnostic::error("No ink", "the pen is empty").into() } else { Default::default() }
    })
}

#[test]
fn failed_action_before_a_change_prevents_the_change() {
    let mut project = project(AROUND, failing("each-k"));
    let planned = project.plan();
    project.provider().forget_calls();
    let problems = project.apply_plan(planned);
    assert_eq!(done(&project), ["invoke test_note first", "invoke test_note each-k"]);
    let reported: Vec<String> = problems.iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect();
    assert_eq!(reported, ["Error when invoking action: No ink: the pen is empty"]);
    assert!(problems.iter().all(|one| one.subject.is_some()), "it says which block had it invoked");
    assert!(project.recorded().is_empty());
}

#[test]
fn an_action_that_fails_after_a_change_leaves_the_object_as_it_is() {
    let mut project = project(AROUND, failing("last"));
    let planned = project.plan();
    assert!(project.apply_plan(planned).has_errors());
    assert_eq!(project.recorded(), ["test_object.a"]);
}

#[test]
fn a_condition_that_does_not_hold_invokes_nothing() {
    let main = AROUND.replace("events  = [after_create]", "events  = [after_create]\n      condition = false");
    let mut project = project(&main, note());
    let plan = project.plan().plan.unwrap();
    assert_eq!(plan.invocations.len(), 2);
    assert!(plan.invocations.iter().all(|one| &*one.action.name != "last"));
}

#[test]
fn invoke_option_runs_only_the_requested_action() {
    let mut project = project(AROUND, note());
    project.apply();
    project.rewrite(&format!("{HEAD}{}", AROUND.replace("size = 1", "size = 2")));
    let target = |name: &str| InvokeTarget {
        module: groma_address::ModuleInstance::root(),
        type_name: "test_note".into(),
        name: name.into(),
        key: None,
    };
    project.options.mode = Mode::RefreshOnly;
    project.options.invoke = Some(target("last"));
    project.provider().forget_calls();
    assert!(project.apply().is_empty());
    assert_eq!(done(&project), ["invoke test_note last"]);
    project.options.invoke = Some(target("each"));
    project.provider().forget_calls();
    project.apply();
    let mut invoked = done(&project);
    // Neither waits for the other.
    invoked.sort();
    assert_eq!(invoked, ["invoke test_note each-k", "invoke test_note each-l"]);
    project.options.invoke = Some(target("nothing"));
    assert_eq!(project.plan().errors(), ["action action.test_note.nothing does not exist in the configuration"]);
}

#[test]
fn action_before_a_change_cannot_depend_on_the_change() {
    let main = AROUND.replace("name = \"first\"", "name = test_object.a.id");
    let problems = project(&main, note()).validate();
    assert!(crate::support::errors(&problems).iter().any(|one| one.starts_with("Cycle")), "{problems:?}");
}

#[test]
fn requested_action_refreshes_only_its_dependencies() {
    let main = format!("{AROUND}resource \"test_object\" \"other\" {{\n  name = \"other\"\n}}\n");
    let mut project = project(&main, note());
    project.apply();
    project.options.mode = Mode::RefreshOnly;
    let reads = |project: &mut Project, name: &str| -> Vec<String> {
        project.options.invoke = Some(InvokeTarget {
            module: groma_address::ModuleInstance::root(),
            type_name: "test_note".into(),
            name: name.into(),
            key: None,
        });
        project.provider().forget_calls();
        let planned = project.plan();
        assert!(!planned.plan.unwrap().invocations.is_empty());
        project.provider().call_texts().into_iter().filter(|call| call.starts_with("read")).collect()
    };
    assert_eq!(reads(&mut project, "first"), Vec::<String>::new());
    assert_eq!(reads(&mut project, "last"), ["read test_object a"]);
}

#[test]
fn refused_action_is_reported_at_its_trigger() {
    let refusing = |name: &'static str| {
        note().on_plan(move |request| groma_provider::PlanActionResponse {
            diagnostics: match request.config.attribute("name").unwrap().as_str() == Some(name) {
                true => ProviderDiagnostic::error("No ink", "the pen is empty").into(),
                false => groma_provider::ProviderDiagnostics::new(),
            },
            ..Default::default()
        })
    };
    for name in ["first", "last"] {
        let mut triggered = project(AROUND, refusing(name));
        let planned = triggered.plan();
        let reported: Vec<String> =
            planned.diagnostics.iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect();
        assert_eq!(reported, ["Failed to plan action: No ink: the pen is empty"]);
        let span = planned.diagnostics.iter().next().unwrap().subject.unwrap();
        assert_eq!(
            span.end() - span.start(),
            format!("action.test_note.{name}").len() as u32,
            "the element of the list"
        );
        assert!(planned.plan.unwrap().invocations.iter().all(|one| &*one.action.name != name));

        triggered.options.mode = Mode::RefreshOnly;
        triggered.options.invoke = Some(InvokeTarget {
            module: groma_address::ModuleInstance::root(),
            type_name: "test_note".into(),
            name: name.into(),
            key: None,
        });
        let planned = triggered.plan();
        let reported = planned.diagnostics.iter().next().unwrap();
        let address = reported.address.as_ref().map(ToString::to_string);
        assert_eq!((&*reported.summary, address), ("No ink", Some(format!("action.test_note.{name}"))));
        assert_eq!(planned.plan.unwrap().invocations.len(), 1);
    }
}

/// An action type with an argument that the schema hides and one that nothing keeps, and what invocations were given of the latter.
fn with_secrets() -> (ActionScript, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
    let given = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = std::sync::Arc::clone(&given);
    let note = ActionScript::new(block([
        ("name", Attribute::optional(Type::String)),
        ("password", Attribute::optional(Type::String).sensitive()),
        ("token", Attribute::optional(Type::String).write_only()),
    ]));
    let note = note.on_invoke(move |request| {
        let token = request.config.attribute("token").unwrap();
        noted.lock().unwrap().extend(token.as_str().map(str::to_owned));
        groma_provider::ProviderDiagnostics::new()
    });
    (note, given)
}

const SECRET: &str = r#"
variable "once" {
  default   = "o"
  ephemeral = true
}
resource "test_object" "a" {
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.test_note.a]
    }
  }
}
action "test_note" "a" {
  config {
    password = "p"
    token    = var.once
  }
}
"#;

#[test]
fn lc_28_a_plan_hides_what_the_schema_of_an_action_hides() {
    let plan = project(SECRET, with_secrets().0).plan().plan.unwrap();
    assert!(plan.invocations[0].config.attribute("password").unwrap().marks().is_sensitive());
}

#[test]
fn lc_29_a_write_only_argument_of_an_action_reaches_it_and_no_plan() {
    let (note, given) = with_secrets();
    let mut project = project(SECRET, note);
    let planned = project.plan();
    assert!(planned.plan.as_ref().unwrap().invocations[0].config.attribute("token").unwrap().is_null());
    assert!(project.apply_plan(planned).is_empty());
    assert_eq!(*given.lock().unwrap(), ["o"]);
}

#[test]
fn lc_29_ephemeral_value_is_refused_in_a_stored_argument_of_an_action() {
    let main = SECRET.replace("password = \"p\"", "name = var.once");
    let mut project = project(&main, with_secrets().0);
    assert_eq!(crate::support::errors(&project.validate()), ["Invalid use of ephemeral value"]);
    assert_eq!(project.plan().errors(), ["Invalid use of ephemeral value"]);
}

#[test]
fn null_condition_skips_the_action_and_keeps_the_change() {
    let conditional = AROUND.replace("events  =", "condition = var.when\n      events  =");
    let other = "resource \"test_object\" \"b\" {\n  name = test_object.a.id\n}\n";
    let mut project = project(&format!("variable \"when\" {{\n  default = null\n}}\n{conditional}{other}"), note());
    let planned = project.plan();
    assert_eq!(planned.actions(), ["test_object.a: create", "test_object.b: create"]);
    assert!(planned.plan.unwrap().invocations.is_empty());
}

#[test]
fn a_condition_must_be_known_and_true_or_false() {
    for (condition, summary) in
        [("test_object.b.id != \"\"", "Condition must be known"), ("[]", "Incorrect value type")]
    {
        let main = AROUND
            .replace("events  = [after_create]", &format!("condition = {condition}\n      events = [after_create]"));
        let other = "resource \"test_object\" \"b\" {\n  name = \"b\"\n}\n";
        assert_eq!(project(&format!("{main}{other}"), note()).plan().errors(), [summary]);
    }
}

#[test]
fn pl_64_target_includes_dependencies_of_its_actions_and_their_conditions() {
    let main = r#"
        variable "on" { default = true }
        locals { name = "l-${test_object.other.id}" }
        resource "test_object" "a" {
          name = "a"
          lifecycle {
            action_trigger {
              events    = [after_create]
              condition = var.on
              actions   = [action.test_note.n]
            }
          }
        }
        resource "test_object" "other" { name = "other" }
        resource "test_object" "more" { name = "more" }
        action "test_note" "n" {
          config { name = local.name }
        }
    "#;
    let mut project = project(main, note());
    project.options.targets = vec!["test_object.a".parse().unwrap()];
    assert_eq!(project.apply(), ["test_object.a: create", "test_object.other: create"]);
    assert!(done(&project).iter().any(|call| call.starts_with("invoke test_note l-")), "{:?}", done(&project));
}

#[test]
fn object_whose_action_needs_an_excluded_object_is_excluded() {
    let main = AROUND.replace("about = test_object.a.id", "about = test_object.b.id");
    let mut project = project(&format!("{main}resource \"test_object\" \"b\" {{\n  name = \"b\"\n}}\n"), note());
    project.options.excludes = vec!["test_object.b".parse().unwrap()];
    assert!(project.apply().is_empty());
}

#[test]
fn missing_action_instance_is_reported_at_its_reference() {
    let mut triggered = project(&AROUND.replace("each[\"k\"]", "each[\"z\"]"), note());
    let planned = triggered.plan();
    assert_eq!(planned.errors(), ["Reference to non-existent action instance"]);
    let span = planned.diagnostics.iter().next().unwrap().subject.unwrap();
    assert_eq!(span.end() - span.start(), "action.test_note.each[\"z\"]".len() as u32);

    let mut asked = project(AROUND, note());
    asked.options.mode = Mode::RefreshOnly;
    let mut target = InvokeTarget {
        module: groma_address::ModuleInstance::root(),
        type_name: "test_note".into(),
        name: "each".into(),
        key: Some(groma_address::InstanceKey::String("z".into())),
    };
    asked.options.invoke = Some(target.clone());
    assert_eq!(asked.plan().errors(), ["Invalid action"]);

    // Of none there is nothing to do.
    asked.rewrite(&format!("{HEAD}{}", AROUND.replace("toset([\"k\", \"l\"])", "toset([])")));
    target.key = None;
    asked.options.invoke = Some(target);
    let planned = asked.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    assert!(planned.plan.unwrap().invocations.is_empty());
}
