//! Actions that cannot be planned yet are left to a later run, and so is what waits for them (PL-45).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use groma_engine::{Deferral, InvokeTarget, Mode};
use groma_provider::{Attribute, Block, Deferred, NestedBlock, PlanActionResponse, PlanResponse, Schema};
use groma_scripted::{ActionScript, ResourceScript, Scripted};
use groma_value::Type;

use crate::support::{Planned, Project};

const HEAD: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Schema {
    Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
}

/// Whether actions and objects with the name `late` are put off.
#[derive(Clone)]
struct Late(Arc<AtomicBool>);

impl Late {
    fn yes() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn reason(&self, config: &groma_value::Value) -> Option<Deferred> {
        let is_meant = config.attribute("name").is_some_and(|name| name.as_str() == Some("late"));
        (is_meant && self.0.load(Ordering::Relaxed)).then_some(Deferred::AbsentPrerequisite)
    }

    fn note(&self) -> ActionScript {
        let late = self.clone();
        let schema = block([("name", Attribute::required(Type::String)), ("about", Attribute::optional(Type::String))]);
        ActionScript::new(schema).on_plan(move |request| PlanActionResponse {
            deferred: late.reason(&request.config),
            ..PlanActionResponse::default()
        })
    }

    fn object(&self) -> ResourceScript {
        let late = self.clone();
        let schema = block([
            ("id", Attribute::computed(Type::String)),
            ("name", Attribute::optional(Type::String)),
            ("size", Attribute::optional(Type::Number)),
            ("copies", Attribute::computed(Type::Number)),
        ]);
        ResourceScript::new(schema)
            .on_plan(move |request, good| PlanResponse { deferred: late.reason(&request.config), ..good() })
    }

    fn project(&self, main: &str) -> Project {
        let provider = Scripted::new("test").action("test_note", self.note()).resource("test_object", self.object());
        let mut project = Project::new(&format!("{HEAD}{main}")).scripted(provider);
        project.options.deferral = Deferral::Allowed;
        project
    }
}

/// What a plan does and what it leaves; the plan goes through its saved form.
struct Seen {
    planned: Planned,
    acts: Vec<String>,
    invokes: Vec<String>,
    left: Vec<String>,
    left_actions: Vec<String>,
}

fn seen(project: &mut Project) -> Seen {
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    let planned = planned.saved();
    let plan = planned.plan.as_ref().unwrap();
    let left: Vec<String> =
        plan.deferred.iter().map(|one| format!("{} ({})", one.address(), one.reason.name())).collect();
    let left_actions: Vec<String> = plan
        .deferred_invocations
        .iter()
        .map(|one| {
            let event = one.invocation.trigger().map_or("asked for", |(_, event)| event.name());
            format!("{} {event} ({})", one.address(), one.reason.name())
        })
        .collect();
    assert_eq!(plan.is_complete(), left.is_empty() && left_actions.is_empty());
    let invokes = plan.invocations.iter().map(|one| one.action.to_string()).collect();
    Seen { acts: planned.actions(), invokes, left, left_actions, planned }
}

/// What was done, in order: invocations and changes.
fn done(project: &Project) -> Vec<String> {
    let texts = project.provider().call_texts();
    texts.into_iter().filter(|call| call.starts_with("invoke") || call.starts_with("apply")).collect()
}

const NONE: [&str; 0] = [];

const AROUND: &str = r#"
resource "test_object" "a" {
  name = "a"
  lifecycle {
    action_trigger {
      events  = [before_create]
      actions = [action.test_note.before]
    }
    action_trigger {
      events  = [after_create]
      actions = [action.test_note.after, action.test_note.last]
    }
  }
}
resource "test_object" "user" { name = test_object.a.name }
resource "test_object" "free" { name = "free" }
action "test_note" "before" {
  config { name = "before" }
}
action "test_note" "after" {
  config { name = "after" }
}
action "test_note" "last" {
  config {
    name  = "last"
    about = test_object.a.id
  }
}
"#;

#[test]
fn pl_45_deferred_action_after_a_change_defers_only_later_actions() {
    let late = Late::yes();
    let mut project = late.project(&AROUND.replace("name = \"after\"", "name = \"late\""));
    let seen = seen(&mut project);
    assert_eq!(seen.acts.len(), 3, "{:?}", seen.acts);
    assert_eq!(seen.invokes, ["action.test_note.before"]);
    assert_eq!(seen.left, NONE);
    let left =
        ["action.test_note.after AfterCreate (absent_prereq)", "action.test_note.last AfterCreate (deferred_prereq)"];
    assert_eq!(seen.left_actions, left);
    project.provider().forget_calls();
    assert!(!project.apply_plan(seen.planned).has_errors());
    let done = done(&project);
    assert!(!done.contains(&"invoke test_note late".to_owned()) && !done.contains(&"invoke test_note last".to_owned()));
    assert_eq!(project.recorded(), ["test_object.a", "test_object.free", "test_object.user"]);
}

#[test]
fn pl_45_change_after_a_deferred_action_is_deferred_with_its_dependents() {
    let late = Late::yes();
    let main = AROUND.replace("name = \"before\"", "name = \"late\"");
    let mut project = late.project(&main);
    let seen_now = seen(&mut project);
    assert_eq!(seen_now.acts, ["test_object.free: create"]);
    assert_eq!(seen_now.invokes, NONE);
    assert_eq!(seen_now.left, ["test_object.a (deferred_prereq)", "test_object.user (deferred_prereq)"]);
    let left = [
        "action.test_note.before BeforeCreate (absent_prereq)",
        "action.test_note.after AfterCreate (deferred_prereq)",
        "action.test_note.last AfterCreate (deferred_prereq)",
    ];
    assert_eq!(seen_now.left_actions, left);
    project.provider().forget_calls();
    assert!(!project.apply_plan(seen_now.planned).has_errors());
    assert_eq!(done(&project), ["apply test_object free"]);
    late.end();
    let seen_later = seen(&mut project);
    assert_eq!((seen_later.left, seen_later.left_actions), (Vec::new(), Vec::new()));
    project.provider().forget_calls();
    assert!(!project.apply_plan(seen_later.planned).has_errors());
    let done = done(&project);
    assert_eq!(done[..2], ["invoke test_note late", "apply test_object a"]);
    assert!(done.contains(&"invoke test_note last".to_owned()), "{done:?}");
}

#[test]
fn pl_45_actions_around_a_deferred_change_are_deferred() {
    let late = Late::yes();
    let main = AROUND.replace("name = \"a\"", "name = \"late\"").replace(
        "events  = [after_create]\n",
        "events  = [after_create]\n      condition = test_object.a.copies == 1\n",
    );
    let mut project = late.project(&main);
    let seen = seen(&mut project);
    assert_eq!(seen.acts, ["test_object.free: create"]);
    assert_eq!(seen.left, ["test_object.a (absent_prereq)", "test_object.user (deferred_prereq)"]);
    let left = [
        "action.test_note.before BeforeCreate (deferred_prereq)",
        "action.test_note.after AfterCreate (deferred_prereq)",
        "action.test_note.last AfterCreate (deferred_prereq)",
    ];
    assert_eq!(seen.left_actions, left);
}

#[test]
fn pl_45_action_that_depends_on_a_deferred_change_is_deferred() {
    let late = Late::yes();
    let main = r#"
        resource "test_object" "late" { name = "late" }
        resource "test_object" "a" {
          name = "a"
          lifecycle {
            action_trigger {
              events  = [after_create]
              actions = [action.test_note.about]
            }
          }
        }
        action "test_note" "about" {
          config {
            name  = "about"
            about = test_object.late.id
          }
        }
    "#;
    let mut project = late.project(main);
    let seen_now = seen(&mut project);
    assert_eq!(seen_now.acts, ["test_object.a: create"]);
    assert_eq!(seen_now.left_actions, ["action.test_note.about AfterCreate (deferred_prereq)"]);
    // Nobody asks about it either.
    project.options.invoke = Some(target("about"));
    project.options.mode = Mode::RefreshOnly;
    let asked = seen(&mut project);
    assert_eq!((asked.invokes.len(), asked.left_actions), (1, Vec::new()), "looking puts nothing off");
}

const OPEN: &str = r#"
resource "test_object" "n" { name = "n" }
resource "test_object" "a" {
  name = "a"
  lifecycle {
    action_trigger {
      events    = [before_create]
      condition = CONDITION
      actions   = [action.test_note.before]
    }
    action_trigger {
      events  = [after_create]
      actions = [action.test_note.after[0]]
    }
  }
}
action "test_note" "before" {
  config { name = "before" }
}
action "test_note" "after" {
  count = COUNT
  config { name = "after" }
}
"#;

#[test]
fn pl_45_unknown_condition_defers_the_action_and_later_ones() {
    let late = Late::yes();
    let main = OPEN.replace("CONDITION", "test_object.n.copies == null").replace("COUNT", "1");
    let mut project = late.project(&main);
    project.options.deferral = Deferral::Refused;
    assert_eq!(project.plan().errors(), ["Condition must be known"]);
    project.options.deferral = Deferral::Allowed;
    let seen_now = seen(&mut project);
    assert_eq!(seen_now.acts, ["test_object.n: create"]);
    assert_eq!(seen_now.left, ["test_object.a (deferred_prereq)"]);
    let left = [
        "action.test_note.before BeforeCreate (resource_config_unknown)",
        "action.test_note.after[0] AfterCreate (deferred_prereq)",
    ];
    assert_eq!(seen_now.left_actions, left);
    assert!(!project.apply_plan(seen_now.planned).has_errors());
    let seen_later = seen(&mut project);
    assert_eq!((seen_later.left, seen_later.left_actions), (Vec::new(), Vec::new()));
    assert_eq!(seen_later.acts, ["test_object.a: create"]);
}

#[test]
fn pl_45_action_with_an_unknown_count_is_deferred() {
    let late = Late::yes();
    let main = OPEN.replace("CONDITION", "true").replace("COUNT", "test_object.n.copies == null ? 1 : 2");
    let mut project = late.project(&main);
    project.options.deferral = Deferral::Refused;
    assert_eq!(project.plan().errors(), ["Invalid count argument"]);
    project.options.deferral = Deferral::Allowed;
    let seen = seen(&mut project);
    assert_eq!(seen.acts, ["test_object.a: create", "test_object.n: create"]);
    assert_eq!((seen.left, seen.invokes), (Vec::new(), vec!["action.test_note.before".to_owned()]));
    assert_eq!(seen.left_actions, ["action.test_note.after[0] AfterCreate (instance_count_unknown)"]);
    assert!(!project.apply_plan(seen.planned).has_errors());
}

#[test]
fn pl_45_action_with_an_unknown_key_and_its_change_are_deferred() {
    let late = Late::yes();
    let main = OPEN.replace("CONDITION", "true").replace("COUNT", "2");
    let main = main.replace("after[0]", "after[test_object.n.copies == null ? 0 : 1]");
    let mut project = late.project(&main);
    project.options.deferral = Deferral::Refused;
    assert_eq!(project.plan().errors(), ["Invalid action instance key"]);
    project.options.deferral = Deferral::Allowed;
    let after = seen(&mut project);
    assert_eq!(after.acts, ["test_object.a: create", "test_object.n: create"]);
    assert_eq!((after.left, after.invokes), (Vec::new(), vec!["action.test_note.before".to_owned()]));
    assert_eq!(after.left_actions, ["action.test_note.after[*] AfterCreate (resource_config_unknown)"]);

    let mut project = late.project(&main.replace("[after_create]", "[before_create]"));
    let before = seen(&mut project);
    assert_eq!(before.acts, ["test_object.n: create"]);
    assert_eq!(before.left, ["test_object.a (deferred_prereq)"]);
    assert!(!project.apply_plan(before.planned).has_errors());
    let later = seen(&mut project);
    assert_eq!((later.left, later.left_actions), (Vec::new(), Vec::new()));
    assert_eq!(later.acts, ["test_object.a: create"]);
    assert_eq!(later.invokes, ["action.test_note.before", "action.test_note.after[1]"]);
}

fn target(name: &str) -> InvokeTarget {
    InvokeTarget {
        module: groma_address::ModuleInstance::root(),
        type_name: "test_note".into(),
        name: name.into(),
        key: None,
    }
}

#[test]
fn pl_45_requested_action_is_deferred_or_a_provider_bug() {
    let late = Late::yes();
    let main = "action \"test_note\" \"a\" {\n  config { name = \"late\" }\n}\n";
    let mut project = late.project(main);
    project.options.mode = Mode::RefreshOnly;
    project.options.invoke = Some(target("a"));
    let seen = seen(&mut project);
    assert_eq!(seen.left_actions, ["action.test_note.a asked for (absent_prereq)"]);
    assert!(!seen.planned.plan.as_ref().unwrap().is_applyable());
    project.options.deferral = Deferral::Refused;
    assert_eq!(project.plan().errors(), ["Provider deferred changes when Terraform did not allow deferrals"]);
    late.end();
    assert_eq!(project.plan().errors(), NONE);
}

#[test]
fn pl_45_trigger_of_an_action_that_cannot_be_deferred_is_an_error() {
    for (from, at) in [("name = \"before\"", "before"), ("name = \"after\"", "after")] {
        let mut project = Late::yes().project(&AROUND.replace(from, "name = \"late\""));
        project.options.deferral = Deferral::Refused;
        let planned = project.plan();
        assert_eq!(planned.errors(), ["Failed to plan action"], "{at}");
        let unallowed = "Provider deferred changes when Terraform did not allow deferrals: ";
        assert!(planned.diagnostics.iter().any(|one| one.detail.starts_with(unallowed)), "{at}");
    }
}
