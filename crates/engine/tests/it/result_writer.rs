//! What a pure provider does is taken down and told beside the walk: in order, and before anything that others see.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_diagnostics::Diagnostic;
use groma_engine::Recorder;
use groma_engine::hooks::{Hooks, Operation, Subject};
use groma_provider::Attribute;
use groma_scripted::{ResourceScript, Scripted};
use groma_state::{Begin, DeposedKey, ObjectRecord, Outcome};
use groma_value::{Type, Value};

use crate::support::{Project, errors, object_with};

/// Enough for a thread.
const MANY: usize = 1500;

/// Everything that happens, in its order; with room for so many results.
struct Happened {
    events: Mutex<Vec<String>>,
    room: Mutex<usize>,
}

impl Happened {
    fn with_room(room: usize) -> Arc<Self> {
        Arc::new(Self { events: Mutex::default(), room: Mutex::new(room) })
    }

    fn note(&self, what: &str, whose: impl std::fmt::Display) {
        self.events.lock().unwrap().push(format!("{what} {whose}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.events.lock().unwrap())
    }
}

/// The events of which this is the first word.
fn count(events: &[String], what: &str) -> usize {
    events.iter().filter(|event| event.split(' ').next() == Some(what)).count()
}

impl Recorder for Happened {
    fn begin(&self, begin: &Begin) -> Result<(), Diagnostic> {
        self.note("begin", &begin.address);
        Ok(())
    }

    fn finished(
        &self,
        address: &ResourceInstance,
        _: Option<&DeposedKey>,
        _: &ProviderConfig,
        _: Option<&ObjectRecord>,
        _: Outcome,
    ) -> Result<(), Diagnostic> {
        let mut room = self.room.lock().unwrap();
        *room = room.checked_sub(1).ok_or_else(|| Diagnostic::error("Disk full", "There is no room."))?;
        self.note("finished", address);
        Ok(())
    }

    fn resolved(&self, _: &ResourceInstance, _: Option<&DeposedKey>) -> Result<(), Diagnostic> {
        Ok(())
    }
}

impl Hooks for Happened {
    fn apply_start(&self, subject: &Subject, _: Operation) {
        self.note("start", &subject.address);
    }

    fn apply_complete(&self, subject: &Subject, _: Operation, _: &Value, _: Duration) {
        self.note("complete", &subject.address);
    }

    fn apply_errored(&self, subject: &Subject, _: Operation, _: &groma_diagnostics::Diagnostics, _: Duration) {
        self.note("errored", &subject.address);
    }
}

fn many_and_one() -> String {
    format!(
        r#"
        resource "terraform_data" "many" {{
          count = {MANY}
          input = count.index
        }}
        resource "test_object" "one" {{
          name = "${{length(terraform_data.many)}} of ${{terraform_data.many[0].id}}"
        }}
        "#
    )
}

fn project(main: &str, happened: &Arc<Happened>) -> Project {
    let provider = Scripted::new("test")
        .resource("test_object", ResourceScript::new(object_with("note", Attribute::optional(Type::String))));
    let mut project = Project::with_test(main, provider);
    project.hooks = Arc::clone(happened) as Arc<dyn Hooks>;
    project
}

fn applied(project: &mut Project, happened: &Arc<Happened>) -> Vec<String> {
    let planned = project.plan();
    let problems = project.apply_recorded(planned, Arc::clone(happened) as Arc<dyn Recorder>);
    let mut events = happened.take();
    events.extend(errors(&problems).iter().map(|problem| format!("error {problem}")));
    events
}

#[test]
fn pending_results_are_recorded_and_reported_before_external_effects() {
    let happened = Happened::with_room(usize::MAX);
    let mut project = project(&many_and_one(), &happened);
    let events = applied(&mut project, &happened);
    let (before, one) = events.split_at(3 * MANY);
    assert_eq!(one, ["start", "begin", "finished", "complete"].map(|what| format!("{what} test_object.one")));
    for (number, events) in before.chunks(3).enumerate() {
        let expected = ["start", "finished", "complete"].map(|what| format!("{what} terraform_data.many[{number}]"));
        assert_eq!(events, expected);
    }
    assert_eq!(project.state.len(), MANY + 1);
    assert!(!project.plan().plan.unwrap().is_applyable());
}

#[test]
fn external_effects_do_not_begin_if_earlier_results_cannot_be_recorded() {
    let happened = Happened::with_room(MANY - 1);
    let mut project = project(&many_and_one(), &happened);
    let events = applied(&mut project, &happened);
    assert_eq!(events[3 * MANY - 1..], ["error Disk full"]);
    assert_eq!(
        ["start", "finished", "complete", "errored"].map(|what| count(&events, what)),
        [MANY, MANY - 1, MANY - 1, 1]
    );
    assert!(project.provider().world().is_empty());
    // What is not in the journal is in the state all the same, where that can be saved.
    assert_eq!(project.state.len(), MANY);
}

#[test]
fn changes_and_replacements_of_many_leave_what_was_planned() {
    let sized = |text: &str| format!("resource \"terraform_data\" \"many\" {{\n count = {MANY}\n {text}\n}}\n");
    let steps = [
        ("input = 1", [MANY, 0, 0]),
        ("input = 2", [0, MANY, 0]),
        ("triggers_replace = 1", [MANY, 0, MANY]),
        ("triggers_replace = 2\n lifecycle { create_before_destroy = true }", [MANY, 0, MANY]),
        ("triggers_replace = 3\n lifecycle { create_before_destroy = true }", [MANY, 0, MANY]),
    ];
    let happened = Happened::with_room(usize::MAX);
    let mut project = project("", &happened);
    for (text, [added, changed, destroyed]) in steps {
        project.rewrite(&sized(text));
        let events = applied(&mut project, &happened);
        assert_eq!(count(&events, "complete"), added + changed + destroyed, "{text}");
        assert_eq!(count(&events, "error"), 0, "{events:?}");
        assert_eq!(project.state.len(), MANY, "{text}");
        assert!(project.state.iter().all(|view| view.record.deposed.is_empty()), "{text}");
        assert!(!project.plan().plan.unwrap().is_applyable(), "{text}");
    }
    project.rewrite("");
    assert_eq!(count(&applied(&mut project, &happened), "complete"), MANY);
    assert!(project.state.is_empty());
}
