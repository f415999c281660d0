//! The rules of a resource instance's life, with a provider that the test scripts.

use std::sync::{Arc, Mutex};

use groma_engine::Mode;
use groma_engine::hooks::{Hooks, Subject};
use groma_provider::{Attribute, Schema};
use groma_scripted::{DataScript, Fault, Operation, ResourceScript, Scripted};
use groma_value::{Type, Value};

use crate::support::{Project, errors, found, object_with};

fn object() -> Schema {
    object_with("secret", Attribute::optional(Type::String).sensitive())
}

fn provider(script: ResourceScript) -> Scripted {
    let data = DataScript::new(found()).returning(|_| vec![("found", Value::string("yes"))]);
    Scripted::new("test").resource("test_object", script.replace_on("name")).data("test_found", data)
}

fn project(main: &str, script: ResourceScript) -> Project {
    Project::with_test(main, provider(script))
}

#[test]
fn pl_04_drift_is_reverted() {
    let mut project =
        project("resource \"test_object\" \"a\" {\n name = \"a\"\n size = 1\n}", ResourceScript::new(object()));
    project.apply();
    let id = project.provider().world().ids("test_object").remove(0);
    // A change outside of the tool, which the next refresh finds.
    project.provider().world().change("test_object", &id, "size", Value::number(7_i64));
    let planned = project.plan();
    // The configuration wins over the change made outside.
    assert_eq!(planned.actions(), ["test_object.a: update"]);
    assert_eq!(planned.plan.as_ref().unwrap().drift.len(), 1, "LC-22: drift is reported");
    assert!(!project.apply_plan(planned).has_errors());
    assert!(project.plan().actions().is_empty());
}

#[test]
fn lc_21_missing_object_is_created_again() {
    let mut project = project(r#"resource "test_object" "a" { name = "a" }"#, ResourceScript::new(object()));
    project.apply();
    let id = project.provider().world().ids("test_object").remove(0);
    // The object disappears outside of the tool.
    project.provider().world().remove("test_object", &id);
    // A missing object is not an error: Terraform plans to create it again.
    assert_eq!(project.apply(), ["test_object.a: create"]);
}

#[test]
fn pl_61_refresh_only_records_drift_and_does_nothing_else() {
    let mut project =
        project("resource \"test_object\" \"a\" {\n name = \"a\"\n size = 1\n}", ResourceScript::new(object()));
    project.apply();
    let id = project.provider().world().ids("test_object").remove(0);
    project.provider().world().change("test_object", &id, "size", Value::number(7_i64));
    project.options.mode = Mode::RefreshOnly;
    let planned = project.plan();
    assert!(planned.actions().is_empty());
    // The refreshed state differs, so the plan can be applied although it has no actions.
    assert!(planned.plan.as_ref().unwrap().is_applyable());
    assert!(!project.apply_plan(planned).has_errors());
    let record = project.state.object(&"test_object.a".parse().unwrap(), None).unwrap();
    assert!(record.attributes.as_str().contains("\"size\":7"), "{}", record.attributes.as_str());
}

#[test]
fn pl_61_refresh_only_reads_nothing_later() {
    let mut project = project(
        r#"
        resource "test_object" "a" { name = "a" }
        data "test_found" "b" { name = test_object.a.name }
        output "found" { value = data.test_found.b.found }
        "#,
        ResourceScript::new(object()),
    );
    project.apply();
    let id = project.provider().world().ids("test_object").remove(0);
    project.provider().world().remove("test_object", &id);
    project.options.mode = Mode::RefreshOnly;
    let planned = project.plan();
    assert!(planned.actions().is_empty(), "what the data source asks for is gone: {:?}", planned.actions());
    assert!(planned.plan.as_ref().unwrap().is_applyable());
    // Nothing may wait for a read that no later step performs.
    assert_eq!(errors(&project.apply_plan(planned)), [""; 0]);
    assert_eq!(project.recorded(), [""; 0]);
    project.options.mode = Mode::Normal;
    assert_eq!(
        project.apply(),
        ["data.test_found.b: read (read_because_dependency_pending)", "test_object.a: create"],
        "the next run makes it again, and reads"
    );
}

#[derive(Default)]
struct Refreshed(Mutex<Vec<String>>);

impl Hooks for Refreshed {
    fn refresh_start(&self, subject: &Subject) {
        self.note("start", subject);
    }

    fn refresh_complete(&self, subject: &Subject) {
        self.note("complete", subject);
    }
}

impl Refreshed {
    fn note(&self, what: &str, subject: &Subject) {
        let is_identified = if subject.identifier.is_some() { "id" } else { "no id" };
        self.0.lock().unwrap().push(format!("{what} {} {is_identified}", subject.address));
    }
}

#[test]
fn lc_21_missing_object_has_no_id() {
    let mut project = project(r#"resource "test_object" "a" { name = "a" }"#, ResourceScript::new(object()));
    project.apply();
    let id = project.provider().world().ids("test_object").remove(0);
    project.provider().world().remove("test_object", &id);
    let refreshed = Arc::new(Refreshed::default());
    project.hooks = Arc::clone(&refreshed) as Arc<dyn Hooks>;
    project.plan();
    // The object was identified before the read, and was gone after it.
    assert_eq!(*refreshed.0.lock().unwrap(), ["start test_object.a id", "complete test_object.a no id"]);
}

#[test]
fn lc_16_a_creation_that_fails_with_an_object_is_kept_tainted_and_replaced() {
    let script = ResourceScript::new(object()).fault_for(Operation::Apply, "bad", Fault::ErrorAfter("half way"));
    let mut project = project(
        r#"
        resource "test_object" "a" { name = "bad" }
        resource "test_object" "b" { name = test_object.a.id }
        "#,
        script,
    );
    let planned = project.plan();
    assert_eq!(errors(&project.apply_plan(planned)), ["half way"]);
    // An object that exists must be recorded even though its creation failed.
    assert_eq!(project.recorded(), ["test_object.a tainted"], "what depends on it was not begun");
    let planned = project.plan();
    assert_eq!(
        planned.actions(),
        ["test_object.a: delete then create (replace_because_tainted)", "test_object.b: create"],
        "PL-05"
    );
}

#[test]
fn lc_16_a_creation_that_fails_with_nothing_stores_nothing() {
    let script = ResourceScript::new(object()).fault_for(Operation::Apply, "bad", Fault::Error("no"));
    let mut project = project(
        r#"
        resource "test_object" "a" { name = "bad" }
        resource "test_object" "b" { name = "good" }
        "#,
        script,
    );
    let planned = project.plan();
    assert_eq!(errors(&project.apply_plan(planned)), ["no"]);
    // The failed creation stored nothing, and the independent object is created.
    assert_eq!(project.recorded(), ["test_object.b"], "what does not depend on it goes on");
}

/// An object whose successor is created before it is deleted.
fn created_first(name: &str) -> String {
    format!("resource \"test_object\" \"a\" {{\n name = \"{name}\"\n lifecycle {{ create_before_destroy = true }}\n}}")
}

#[test]
fn pl_10_a_replacement_that_cannot_be_created_leaves_the_old_object_current() {
    let script = ResourceScript::new(object()).fault_for(Operation::Apply, "bad", Fault::Error("no"));
    let mut project = project(&created_first("good"), script);
    project.apply();
    project.rewrite(&created_first("bad"));
    let planned = project.plan();
    assert_eq!(planned.actions(), ["test_object.a: create then delete (replace_because_cannot_update)"]);
    assert_eq!(errors(&project.apply_plan(planned)), ["no"]);
    // The deposed object was restored, so no object is deposed.
    assert_eq!(project.recorded(), ["test_object.a"]);
    assert_eq!(project.provider().world().len(), 1);
}

#[test]
fn pl_10_partly_created_replacement_is_tainted_and_the_old_object_deposed() {
    let script = ResourceScript::new(object()).on_apply(|request, good| {
        let is_bad = request.planned_state.attribute("name").is_some_and(|name| name.as_str() == Some("bad"));
        let mut response = good();
        if is_bad {
            response.diagnostics = groma_provider::ProviderDiagnostic::error("half way", "Made, but not well.").into();
        }
        response
    });
    let mut project = project(&created_first("good"), script);
    project.apply();
    project.rewrite(&created_first("bad"));
    let planned = project.plan();
    assert_eq!(errors(&project.apply_plan(planned)), ["half way"]);
    // Both objects exist, so both must be recorded.
    assert_eq!(project.recorded(), ["test_object.a tainted", "test_object.a deposed"]);
    project.rewrite(&created_first("better"));
    // The deposed object of the first attempt is deleted after the new one exists.
    assert_eq!(
        project.apply(),
        ["test_object.a: create then delete (replace_because_tainted)", "test_object.a deposed: delete"]
    );
    assert_eq!(project.recorded(), ["test_object.a"]);
    assert_eq!(project.provider().world().len(), 1);
}

#[test]
fn pl_12_dependents_are_destroyed_before_their_dependency() {
    let mut project = project(
        r#"
        resource "test_object" "a" { name = "a" }
        resource "test_object" "b" { name = test_object.a.id }
        resource "test_object" "c" { name = test_object.b.id }
        "#,
        ResourceScript::new(object()),
    );
    project.apply();
    project.rewrite("");
    project.provider().forget_calls();
    project.apply();
    let calls = project.provider().call_texts();
    let applied: Vec<&String> = calls.iter().filter(|text| text.contains("apply")).collect();
    // c has the name test_object-2, which is the id of b, and so on.
    let order = ["apply test_object test_object-2", "apply test_object test_object-1", "apply test_object a"];
    assert_eq!(applied, order, "c, b, a");
    assert!(project.provider().world().is_empty());
}

#[test]
fn pl_06_pl_07_data_is_read_while_planning_unless_something_pending_is_mentioned() {
    let mut project = project(
        r#"
        resource "test_object" "a" { name = "a" }
        data "test_found" "now" { name = "fixed" }
        data "test_found" "later" { name = test_object.a.id }
        data "test_found" "after" {
          name       = "fixed"
          depends_on = [test_object.a]
        }
        output "found" { value = data.test_found.later.found }
        "#,
        ResourceScript::new(object()),
    );
    assert_eq!(
        project.apply(),
        [
            "data.test_found.after: read (read_because_dependency_pending)",
            "data.test_found.later: read (read_because_config_unknown)",
            "test_object.a: create",
        ]
    );
    // The output refers to data that was read only during apply.
    assert_eq!(project.state.outputs["found"].value.as_str(), Some("yes"));
    assert!(project.plan().actions().is_empty());
}

#[test]
fn lc_28_a_broken_promise_is_the_providers_bug() {
    let script = ResourceScript::new(object()).fault(Operation::Apply, Fault::Returns("name", Value::string("other")));
    let mut project = project(r#"resource "test_object" "a" { name = "a" }"#, script);
    let planned = project.plan();
    let problems = project.apply_plan(planned);
    // Terraform's summary, which users search for.
    assert_eq!(errors(&problems), ["Provider produced inconsistent result after apply"]);
    let text = &problems.iter().next().unwrap().detail;
    assert!(text.contains("test_object.a") && text.contains("bug in the provider"), "{text}");
}

#[test]
fn lc_29_a_sensitive_value_stays_marked_in_state_and_plan() {
    let mut project = project(
        r#"
        resource "test_object" "a" {
          name   = "a"
          secret = "hush"
        }
        resource "test_object" "b" { name = test_object.a.secret }
        "#,
        ResourceScript::new(object()),
    );
    project.apply();
    let record = project.state.object(&"test_object.b".parse().unwrap(), None).unwrap();
    // The mark follows the value into an attribute that is not sensitive itself.
    assert_eq!(record.sensitive_attributes.iter().map(ToString::to_string).collect::<Vec<_>>(), [".name", ".secret"]);
    assert!(project.plan().actions().is_empty());
}

#[test]
fn lc_33_an_instance_is_validated_and_planned_then_validated_planned_and_applied() {
    let mut project = project(r#"resource "test_object" "a" { name = "a" }"#, ResourceScript::new(object()));
    project.apply();
    let calls: Vec<Operation> = project.provider().calls().iter().map(|call| call.operation).collect();
    let about_objects: Vec<Operation> = calls
        .into_iter()
        .filter(|operation| matches!(operation, Operation::Validate | Operation::Plan | Operation::Apply))
        .collect();
    // The second validation of the plan has the values; apply validates and plans once more (LC-03, LC-06).
    assert_eq!(
        about_objects,
        [
            Operation::Validate,
            Operation::Validate,
            Operation::Plan,
            Operation::Validate,
            Operation::Plan,
            Operation::Apply
        ]
    );
}

#[test]
fn lc_10_a_final_plan_that_contradicts_the_first_one_is_refused() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for (first, last, summaries) in [
        (Some("one"), Some("two"), &["Provider produced inconsistent final plan"][..]),
        // LC-11: what was not known may become known, and must not become unknown again.
        (None, Some("two"), &[]),
        (Some("one"), None, &["Provider produced inconsistent final plan"]),
    ] {
        let count = AtomicUsize::new(0);
        let script = ResourceScript::new(object()).on_plan(move |_, good| {
            let mut response = good();
            let id = if count.fetch_add(1, Ordering::SeqCst) == 0 { first } else { last };
            response.planned_state = response.planned_state.transform(|path, value| match id {
                Some(id) if path.to_string() == ".id" => Value::string(id),
                _ => value,
            });
            response
        });
        let mut project = project(r#"resource "test_object" "a" { name = "a" }"#, script);
        let planned = project.plan();
        assert!(!planned.diagnostics.has_errors());
        assert_eq!(errors(&project.apply_plan(planned)), summaries, "{first:?} {last:?}");
        // A contradiction must stop the call before anything is created.
        assert_eq!(project.provider().world().len(), usize::from(summaries.is_empty()), "nothing is made then");
    }
}

#[test]
fn pl_10_a_replacement_that_is_refused_before_it_begins_leaves_the_old_object_current() {
    let script = ResourceScript::new(object()).on_validate(|request, good| {
        let name = request.config.attribute("name").and_then(|name| name.as_str().map(str::to_owned));
        if name.as_deref() == Some("bad") {
            return groma_provider::ProviderDiagnostic::error("bad is no name", "Take another.").into();
        }
        good()
    });
    let text = |name: &str| {
        format!(
            r#"
            resource "terraform_data" "cause" {{ input = "{name}" }}
            resource "test_object" "a" {{
              name = terraform_data.cause.output
              lifecycle {{ create_before_destroy = true }}
            }}
            "#
        )
    };
    let mut project = project(&text("good"), script);
    project.apply();
    project.rewrite(&text("bad"));
    let planned = project.plan();
    assert!(
        planned.actions().contains(&"test_object.a: create then delete (replace_because_cannot_update)".to_owned())
    );
    assert_eq!(errors(&project.apply_plan(planned)), ["bad is no name"]);
    // The provider refuses before the creation begins, so the old object stays current.
    assert_eq!(project.recorded(), ["terraform_data.cause", "test_object.a"], "nothing is deposed");
    assert_eq!(project.provider().world().len(), 1);
}
