//! What providers are asked and told, and what they may decide: with a provider that the test scripts.

use std::sync::{Arc, Mutex};

use groma_diagnostics::Diagnostics;
use groma_engine::Mode;
use groma_provider::{Attribute, ProviderDiagnostic, Schema, ServerCapabilities};
use groma_scripted::{DataScript, Fault, Operation, ResourceScript, Scripted};
use groma_value::{Path, Type, Value};

use crate::support::{Project, errors, found, object_with};

fn object() -> Schema {
    object_with("list", Attribute::optional(Type::list(Type::String)))
}

fn script() -> ResourceScript {
    ResourceScript::new(object())
}

fn project(main: &str, script: ResourceScript) -> Project {
    let provider = Scripted::new("test").resource("test_object", script).data("test_found", DataScript::new(found()));
    Project::with_test(main, provider)
}

fn named(name: &str) -> String {
    format!("resource \"test_object\" \"a\" {{\n name = \"{name}\"\n}}\n")
}

fn sized(size: u32) -> String {
    format!("resource \"test_object\" \"a\" {{\n name = \"a\"\n size = {size}\n}}\n")
}

/// What was noted, in order.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, text: String) {
        self.0.lock().expect("no test panicked while it held this").push(text);
    }

    /// What was noted since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no test panicked while it held this"))
    }
}

/// An attribute, as short as can be.
fn show(object: &Value, name: &str) -> String {
    match object.attribute(name) {
        _ if object.is_null() => "nothing".to_owned(),
        None => "absent".to_owned(),
        Some(value) if !value.is_known() => "unknown".to_owned(),
        Some(value) if value.is_null() => "null".to_owned(),
        Some(value) => value.as_str().map_or_else(|| format!("{value:?}"), str::to_owned),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn lc_03_validation_sees_the_configuration_alone_first_with_unknowns_and_wholly_known_before_apply() {
    let notes = Notes::default();
    let seen = notes.clone();
    let script = script().on_validate(move |request, good| {
        seen.note(format!("{} {}", show(&request.config, "name"), show(&request.config, "id")));
        good()
    });
    let mut project = project(
        r#"
        resource "terraform_data" "cause" {}
        resource "test_object" "a" { name = terraform_data.cause.id == "" ? "no" : "yes" }
        "#,
        script,
    );
    assert!(!project.validate().has_errors());
    assert_eq!(notes.take(), ["unknown null"], "checking alone asks once, and what the provider computes is not there");
    let planned = project.plan();
    let asked = notes.take();
    assert_eq!(asked.last().map(String::as_str), Some("unknown null"));
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(notes.take(), ["yes null"], "before it is applied, the configuration is wholly known");
    project.rewrite(r#"resource "test_object" "a" { name = "yes" }"#);
    assert!(project.plan().actions().iter().all(|action| action.starts_with("terraform_data.cause")));
    assert_eq!(notes.take().last().map(String::as_str), Some("yes null"), "an existing object plays no part in it");
}

fn summaries(diagnostics: &Diagnostics) -> Vec<&str> {
    diagnostics.iter().map(|problem| &*problem.summary).collect()
}

#[test]
fn lc_03_block_that_violates_its_schema_is_not_sent_to_the_provider() {
    let notes = Notes::default();
    let seen = notes.clone();
    let script = script().on_validate(move |request, _| {
        seen.note(show(&request.config, "name"));
        ProviderDiagnostic::error("Again", "It does not fit.").into()
    });
    let wrong = "resource \"test_object\" \"a\" {\n  name = \"a\"\n  nosuch = 1\n}\n";
    let mut project = project(wrong, script);
    assert_eq!(summaries(&project.validate()), ["Unsupported argument"]);
    assert_eq!(project.plan().errors(), ["Unsupported argument"]);
    assert!(notes.take().is_empty());
    // What is right beside it is asked about.
    project.rewrite(&format!("{wrong}resource \"test_object\" \"b\" {{\n  name = \"b\"\n}}\n"));
    assert_eq!(summaries(&project.validate()), ["Unsupported argument", "Again"]);
    assert_eq!(notes.take(), ["b"]);
}

#[test]
fn lc_03_configuration_that_is_invalid_once_known_is_not_applied() {
    let script = script().on_validate(|request, good| match show(&request.config, "name").as_str() {
        "yes" => ProviderDiagnostic::error("yes is no name", "Take another.").into(),
        _ => good(),
    });
    let mut project = project(
        r#"
        resource "terraform_data" "cause" {}
        resource "test_object" "a" { name = terraform_data.cause.id == "" ? "no" : "yes" }
        "#,
        script,
    );
    let planned = project.plan();
    assert!(!planned.diagnostics.has_errors());
    assert_eq!(errors(&project.apply_plan(planned)), ["yes is no name"]);
    assert!(project.provider().world().is_empty());
}

#[test]
fn lc_14_apply_gets_the_object_the_final_plan_the_configuration_and_the_plans_private_data() {
    let notes = Notes::default();
    let seen = notes.clone();
    let script = script()
        .on_plan(|_, good| {
            let mut response = good();
            response.planned_private = Arc::from(&b"of the plan"[..]);
            response
        })
        .on_apply(move |request, good| {
            let objects = [&request.prior_state, &request.planned_state, &request.config];
            let [prior, planned, config] = objects.map(|object| show(object, "name"));
            let ids = [&request.planned_state, &request.config].map(|object| show(object, "id")).join(" ");
            seen.note(format!("{prior} | {planned} | {config} | {ids} | {}", text(&request.planned_private)));
            good()
        });
    let mut project = project(
        r#"
        resource "terraform_data" "cause" {}
        resource "test_object" "a" { name = terraform_data.cause.id == "" ? "no" : "first" }
        "#,
        script,
    );
    project.apply();
    assert_eq!(notes.take(), ["nothing | first | first | unknown null | of the plan"]);
    project.rewrite(&named("second"));
    project.apply();
    assert_eq!(notes.take(), ["first | second | second | test_object-1 null | of the plan"]);
    project.rewrite("");
    project.apply();
    assert_eq!(notes.take(), ["second | nothing | nothing | nothing nothing | of the plan"]);
}

#[test]
fn lc_18_what_apply_returns_is_the_next_runs_previous_state_with_private_data_and_schema_version() {
    let notes = Notes::default();
    let (upgrades, reads) = (notes.clone(), notes.clone());
    let schema = Schema { version: 7, ..object() };
    let script = ResourceScript::new(schema)
        .on_apply(|_, good| {
            let mut response = good();
            response.private = Arc::from(&b"\x00kept \xff"[..]);
            response
        })
        .on_upgrade(move |request, good| {
            upgrades.note(format!("{} {}", request.version, request.raw_state.json().unwrap()));
            good()
        })
        .on_read(move |request, good| {
            reads.note(format!("{:?}", &request.private[..]));
            good()
        });
    let mut project = project(&sized(3), script);
    project.apply();
    let record = project.state.object(&"test_object.a".parse().unwrap(), None).unwrap();
    assert_eq!(record.schema_version, 7);
    notes.take();
    project.plan();
    assert_eq!(
        notes.take(),
        [r#"7 {"id":"test_object-1","list":null,"name":"a","size":3}"#.to_owned(), format!("{:?}", b"\x00kept \xff")]
    );
}

#[test]
fn lc_22_equal_value_is_no_change_and_another_value_is_drift() {
    let mut project = project(&sized(1), script());
    project.apply();
    let planned = project.plan();
    assert!(planned.plan.unwrap().drift.is_empty(), "the form of the author is kept");
    let id = project.provider().world().ids("test_object").remove(0);
    project.provider().world().change("test_object", &id, "size", Value::number(7_i64));
    for mode in [Mode::Normal, Mode::RefreshOnly] {
        project.options.mode = mode;
        let planned = project.plan().plan.unwrap();
        let drift = &planned.drift[0];
        assert_eq!((planned.drift.len(), drift.action.names()), (1, &["update"][..]));
        assert_eq!(drift.before.attribute("size"), Some(Value::number(1_i64)));
        assert_eq!(drift.after.attribute("size"), Some(Value::number(7_i64)));
    }
    project.options.mode = Mode::Destroy;
    assert!(project.plan().plan.unwrap().drift.is_empty(), "all of it goes anyway");
    project.options.mode = Mode::Normal;
    project.provider().world().remove("test_object", &id);
    let planned = project.plan().plan.unwrap();
    assert_eq!(planned.drift[0].action.names(), ["delete"]);
}

#[test]
fn pl_41_only_changed_paths_force_replacement_and_a_missing_path_is_a_provider_bug() {
    let asking = |path: Path| {
        script().on_plan(move |_, good| {
            let mut response = good();
            response.requires_replace = vec![path.clone()];
            response
        })
    };
    let at = |name: &str| Path::root().attribute(name);
    for (path, expected) in [
        (at("name"), "test_object.a: update"),
        (at("size"), "test_object.a: delete then create (replace_because_cannot_update)"),
    ] {
        let mut project = project(&sized(1), asking(path.clone()));
        project.apply();
        project.rewrite(&sized(2));
        let planned = project.plan();
        assert_eq!(planned.actions(), [expected]);
        let paths: Vec<String> =
            planned.plan.unwrap().changes[0].replace_paths.iter().map(ToString::to_string).collect();
        assert_eq!(paths, if path == at("size") { vec![".size"] } else { vec![] });
    }
    let mut project = project(&sized(1), asking(at("nowhere")));
    project.apply();
    project.rewrite(&sized(2));
    let planned = project.plan();
    assert_eq!(planned.errors(), ["Provider produced invalid plan"]);
    let problem = planned.diagnostics.iter().find(|problem| problem.is_error()).unwrap();
    assert!(
        problem.detail.contains(".nowhere") && problem.detail.contains("bug in the provider"),
        "{}",
        problem.detail
    );
}

#[test]
fn pl_42_semantically_equal_value_keeps_its_prior_form() {
    // Names mean the same whatever their case.
    let script = script().on_plan(|request, good| {
        let mut response = good();
        let (old, new) = (show(&request.prior_state, "name"), show(&request.proposed_new_state, "name"));
        if old != new && old.eq_ignore_ascii_case(&new) {
            let keep =
                |path: &Path, value: Value| if path.to_string() == ".name" { Value::string(&old) } else { value };
            response.planned_state = response.planned_state.transform(keep);
        }
        response
    });
    let mut project = project(&named("web"), script);
    project.apply();
    project.rewrite(&named("WEB"));
    assert!(project.plan().actions().is_empty());
    project.rewrite(&named("db"));
    assert_eq!(project.plan().actions(), ["test_object.a: update"]);
}

#[test]
fn pl_43_engine_derives_the_action_from_the_planned_state() {
    // It asks for a replacement each time: that means nothing without an object, and nothing without a change.
    let asking = script().on_plan(|_, good| {
        let mut response = good();
        response.requires_replace = vec![Path::root().attribute("name")];
        response
    });
    let mut eager = project(&named("a"), asking);
    assert_eq!(eager.plan().actions(), ["test_object.a: create"]);
    eager.apply();
    assert!(eager.plan().actions().is_empty());
    eager.rewrite("");
    assert_eq!(eager.plan().actions(), ["test_object.a: delete (delete_because_no_resource_config)"]);

    // It can neither refuse to create, nor delete what is configured, nor keep what is to go.
    let mut refusing = project(&named("a"), script().fault(Operation::Plan, Fault::Null));
    assert_eq!(refusing.plan().errors(), ["Provider produced invalid plan"]);
    let keeping = script().on_plan(|request, good| {
        let mut response = good();
        if request.proposed_new_state.is_null() {
            response.planned_state = request.prior_state.clone();
        }
        response
    });
    let mut keeping = project(&named("a"), keeping);
    keeping.apply();
    keeping.rewrite("");
    assert_eq!(keeping.plan().errors(), ["Provider produced invalid plan"]);
}

#[test]
fn pl_44_private_data_of_the_plan_travels_to_apply() {
    let notes = Notes::default();
    let seen = notes.clone();
    // Each plan adds to what it is given: the token that the first one chose must come to apply.
    let script = script()
        .on_plan(|request, good| {
            let mut response = good();
            let given = text(&request.prior_private);
            let verb = if request.proposed_new_state.is_null() { "delete" } else { "keep" };
            response.planned_private =
                if given.is_empty() { Arc::from(&b"token"[..]) } else { format!("{given}+{verb}").into_bytes().into() };
            response
        })
        .on_apply(move |request, good| {
            seen.note(text(&request.planned_private));
            let mut response = good();
            response.private = Arc::from(&b"object"[..]);
            response
        });
    let mut project = project(&sized(1), script);
    let planned = project.plan();
    assert_eq!(text(&planned.plan.as_ref().unwrap().changes[0].planned_private), "token");
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(notes.take(), ["token+keep"], "the same creation may be asked for again with it");
    project.rewrite(&sized(2));
    project.apply();
    assert_eq!(notes.take(), ["object+keep"]);
    project.rewrite("");
    project.apply();
    assert_eq!(notes.take(), ["object+delete"]);
}

/// What a provider is asked to plan while two of its objects are made, the second of which is named after the first.
fn plans_while_making(capabilities: ServerCapabilities) -> Vec<String> {
    let notes = Notes::default();
    let seen = notes.clone();
    let script = script().on_plan(move |request, good| {
        seen.note(show(&request.config, "name"));
        good()
    });
    let main = "resource \"test_object\" \"a\" {\n name = \"a\"\n}\n\
        resource \"test_object\" \"b\" {\n name = \"${test_object.a.id}!\"\n}\n";
    let provider = Scripted::new("test").resource("test_object", script).capabilities(capabilities);
    let mut project = Project::with_test(main, provider);
    let planned = project.plan();
    notes.take();
    assert!(!project.apply_plan(planned).has_errors());
    notes.take()
}

#[test]
fn lc_06_pure_provider_plans_again_only_if_values_were_unknown() {
    assert_eq!(plans_while_making(ServerCapabilities::default()).len(), 2);
    if crate::support::is_over_the_protocol() {
        // It has no word for such providers.
        return;
    }
    let pure = ServerCapabilities { is_pure: true, ..Default::default() };
    let asked = plans_while_making(pure);
    let [second] = &asked[..] else { panic!("{asked:?}") };
    assert!(second.ends_with('!'), "{asked:?}");
}

#[test]
fn pl_46_a_provider_may_warn_about_a_deletion_or_refuse_to_plan_it() {
    let said = |severe: bool| {
        script().on_plan(move |request, good| {
            let mut response = good();
            if request.proposed_new_state.is_null() {
                let diagnostic = if severe { ProviderDiagnostic::error } else { ProviderDiagnostic::warning };
                response.diagnostics = diagnostic("It is in use", "Think again.").into();
            }
            response
        })
    };
    for (severe, mode) in [(false, Mode::Destroy), (true, Mode::Destroy), (false, Mode::Normal), (true, Mode::Normal)] {
        let mut project = project(&named("a"), said(severe));
        project.apply();
        if mode == Mode::Normal {
            project.rewrite("");
        }
        project.options.mode = mode;
        let planned = project.plan();
        let summaries: Vec<&str> = planned.diagnostics.iter().map(|problem| &*problem.summary).collect();
        assert_eq!(summaries, ["It is in use"], "{mode:?}");
        assert_eq!(planned.diagnostics.has_errors(), severe);
        if !severe {
            assert!(!project.apply_plan(planned).has_errors());
            assert!(project.provider().world().is_empty());
        }
    }
}
