//! Calls that a provider does not answer: what the journal keeps of them, and what the next run makes of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use groma_address::{ProviderConfig, ResourceInstance};
use groma_diagnostics::Diagnostic;
use groma_engine::{Recorder, Recovery};
use groma_provider::{
    ApplyResponse, Attribute, CallFate, ProviderDiagnostic, ProviderDiagnostics, Schema, ServerCapabilities,
};
use groma_scripted::{ResourceScript, Scripted};
use groma_state::{Begin, DeposedKey, ObjectRecord, Outcome};
use groma_value::Type;

use crate::support::{Project, is_over_the_protocol, object_with};

/// The calls that a journal would have open.
#[derive(Default)]
struct Open(Mutex<Vec<Begin>>);

impl Open {
    fn settle(&self, address: &ResourceInstance, deposed: Option<&DeposedKey>) {
        self.0.lock().unwrap().retain(|begin| begin.address != *address || begin.deposed.as_ref() != deposed);
    }

    fn take(&self) -> Vec<Begin> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Recorder for Open {
    fn begin(&self, begin: &Begin) -> Result<(), Diagnostic> {
        self.settle(&begin.address, begin.deposed.as_ref());
        self.0.lock().unwrap().push(begin.clone());
        Ok(())
    }

    fn finished(
        &self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        _: &ProviderConfig,
        _: Option<&ObjectRecord>,
        _: Outcome,
    ) -> Result<(), Diagnostic> {
        self.settle(address, deposed);
        Ok(())
    }

    fn resolved(&self, address: &ResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostic> {
        self.settle(address, deposed);
        Ok(())
    }
}

/// A provider that does not answer its first creations, so many of them, and can be asked again.
fn silent(creations: usize) -> Scripted {
    silent_with(creations, Attribute::optional(Type::String))
}

fn silent_with(creations: usize, note: Attribute) -> Scripted {
    let asked = Arc::new(AtomicUsize::new(0));
    let schema: Schema = object_with("note", note);
    let script = ResourceScript::new(schema).on_apply(move |request, good| {
        let is_creation = request.prior_state.is_null();
        if !is_creation || asked.fetch_add(1, Ordering::Relaxed) >= creations {
            return good();
        }
        let problem = ProviderDiagnostic::error("No answer", "The connection broke.").unanswered(CallFate::NoResponse);
        ApplyResponse { new_state: Some(request.prior_state.clone()), diagnostics: problem.into(), ..good() }
    });
    let capabilities = ServerCapabilities { repeatable_create: true, ..Default::default() };
    Scripted::new("test").capabilities(capabilities).resource("test_object", script)
}

const OBJECT: &str = "resource \"test_object\" \"a\" {\n  name = \"a\"\n}\n";

#[test]
fn creation_without_an_answer_is_requested_again_until_it_is_answered() {
    // The protocol tells neither that an answer is missing nor that a creation may be requested again.
    if is_over_the_protocol() {
        return;
    }
    let mut project = Project::with_test(OBJECT, silent(2));
    let journal = Arc::new(Open::default());
    let planned = project.plan();
    let problems = project.apply_recorded(planned, Arc::clone(&journal) as Arc<dyn Recorder>);
    let detail = &problems.iter().next().unwrap().detail;
    assert!(detail.contains("It is unknown whether test_object.a was created"), "{detail}");
    assert!(detail.contains("The next apply repeats it first"), "{detail}");
    assert_eq!(project.recorded(), [""; 0]);
    let in_flight = journal.take();
    assert_eq!(in_flight.len(), 1, "the journal keeps the call");

    // Without an answer the second time nothing is settled.
    journal.begin(&in_flight[0]).unwrap();
    let recovery =
        |in_flight| Some(Arc::new(Recovery { in_flight, recorder: Arc::clone(&journal) as Arc<dyn Recorder> }));
    project.options.recovery = recovery(in_flight.clone());
    project.plan();
    assert_eq!(journal.0.lock().unwrap().len(), 1);

    // The third time the object is there, and nothing is left to create.
    project.options.recovery = recovery(journal.take());
    let planned = project.plan();
    let said: Vec<_> = planned.diagnostics.iter().map(|one| one.summary.clone()).collect();
    assert_eq!(said, ["Object of an interrupted run was recovered"]);
    assert_eq!(planned.actions(), [""; 0]);
}

#[test]
fn creation_with_write_only_values_is_not_promised_to_be_requested_again() {
    if is_over_the_protocol() {
        return;
    }
    let object = "resource \"test_object\" \"a\" {\n  name = \"a\"\n  note = \"secret\"\n}\n";
    let mut project = Project::with_test(object, silent_with(1, Attribute::optional(Type::String).write_only()));
    let journal = Arc::new(Open::default());
    let planned = project.plan();
    let problems = project.apply_recorded(planned, Arc::clone(&journal) as Arc<dyn Recorder>);
    let detail = &problems.iter().next().unwrap().detail;
    assert!(detail.contains("the provider cannot find it without a record"), "{detail}");
    let in_flight = journal.take();
    assert!(matches!(&in_flight[..], [begin] if begin.request.is_none()), "{in_flight:?}");
}

#[test]
fn creation_that_was_never_requested_is_not_kept_in_the_journal() {
    if is_over_the_protocol() {
        return;
    }
    let schema: Schema = object_with("note", Attribute::optional(Type::String));
    let script = ResourceScript::new(schema).on_apply(|request, good| {
        let gone = ProviderDiagnostic::error("Provider ended", "It is gone.").unanswered(CallFate::Unsent);
        let diagnostics: ProviderDiagnostics = gone.into();
        ApplyResponse { new_state: Some(request.prior_state.clone()), diagnostics, ..good() }
    });
    let objects = "resource \"test_object\" \"a\" {\n  count = 3\n  name  = \"a\"\n}\n";
    let mut project = Project::with_test(objects, Scripted::new("test").resource("test_object", script));
    let journal = Arc::new(Open::default());
    let planned = project.plan();
    let problems = project.apply_recorded(planned, Arc::clone(&journal) as Arc<dyn Recorder>);
    let details: Vec<_> = problems.iter().map(|one| one.detail.as_str()).collect();
    assert!(
        matches!(details[..], [one] if one.starts_with("It is gone.\n\n3 operations were not started")),
        "{details:?}"
    );
    assert!(details[0].contains("\n  - test_object.a[2] (create)"), "{details:?}");
    assert!(journal.take().is_empty());
}
