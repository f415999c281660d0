//! Ephemeral resources, and the places where their values may go (LC-29).

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groma_address::ResourceInstance;
use groma_engine::Mode;
use groma_engine::hooks::{EphemeralPhase, Hooks};
use groma_provider::{Attribute, Block, NestedBlock, Schema, ServerCapabilities};
use groma_scripted::{EphemeralScript, Operation, ResourceScript, Scripted};
use groma_state::{LocalStore, Locking, StatePaths};
use groma_value::Type;

use crate::support::Project;

const HEAD: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Schema {
    Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
}

fn provider(secret: EphemeralScript, object: ResourceScript) -> Scripted {
    Scripted::new("test").ephemeral("test_secret", secret).resource("test_object", object)
}

fn secret() -> EphemeralScript {
    EphemeralScript::new(block([
        ("name", Attribute::optional(Type::String)),
        ("token", Attribute::computed(Type::String).sensitive()),
    ]))
}

fn object() -> ResourceScript {
    ResourceScript::new(block([
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::optional(Type::String)),
        ("password", Attribute::optional(Type::String).write_only()),
    ]))
}

const MAIN: &str = "ephemeral \"test_secret\" \"s\" {\n  name = \"s\"\n}\nlocals { again = ephemeral.test_secret.s.token }\nresource \
                    \"test_object\" \"a\" {\n  name = \"a\"\n  password = local.again\n}\n";

fn project(main: &str, provider: Scripted) -> Project {
    Project::new(&format!("{HEAD}{main}")).scripted(provider)
}

fn count(project: &Project, word: &str) -> usize {
    project.provider().call_texts().iter().filter(|call| call.starts_with(word)).count()
}

#[test]
fn lc_29_an_ephemeral_value_reaches_a_write_only_argument_and_is_kept_nowhere() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&seen);
    let object = object().on_apply(move |request, good| {
        recorded.lock().unwrap().push(request.config.attribute("password").unwrap().as_str().map(str::to_owned));
        good()
    });
    let mut project = project(MAIN, provider(secret(), object));
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    // Opened for the plan and closed at its end: the plan file must not keep the value.
    assert_eq!((count(&project, "open"), count(&project, "close")), (1, 1), "opened and closed while planning");
    project.provider().forget_calls();
    let diagnostics = project.apply_plan(planned);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_eq!((count(&project, "open"), count(&project, "close")), (1, 1), "and again while applying");
    assert_eq!(*seen.lock().unwrap(), [Some("computed-token".to_owned())]);
    // The state file is the last place where the value could have leaked.
    let state = String::from_utf8(groma_state::file::write(&project.state)).unwrap();
    assert!(!state.contains("computed-token"), "{state}");
    assert!(project.plan().actions().is_empty());
}

/// The files of a folder that contain one of the texts.
fn files_with(folder: &Path, texts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        found.extend(
            texts.iter().filter(|text| content.contains(**text)).map(|text| format!("{}: {text}", path.display())),
        );
    }
    found
}

#[test]
fn lc_29_no_file_has_a_write_only_value_while_the_provider_is_called() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let object = {
        let (folder, seen) = (Arc::clone(&folder), Arc::clone(&seen));
        object().on_apply(move |_, good| {
            // What a run that is killed now leaves behind.
            let journal = fs::read(folder.path().join(".terraform.tfstate.journal")).unwrap();
            assert!(String::from_utf8_lossy(&journal).contains("test_object"), "the call is in the journal");
            seen.lock().unwrap().push(files_with(folder.path(), &["computed-token", "literal-secret"]));
            good()
        })
    };
    // A repeatable creation stores its request in the journal, which is the critical case.
    let capabilities = ServerCapabilities { plan_destroy: true, repeatable_create: true, ..Default::default() };
    let with = |name: &str, literal: &str| {
        format!(
            "{HEAD}{}resource \"test_object\" \"b\" {{\n  name = {name:?}\n  password = {literal:?}\n}}\n",
            MAIN.replace("name = \"a\"", &format!("name = {name:?}"))
        )
    };
    let mut project =
        Project::new(&with("a", "literal-secret")).scripted(provider(secret(), object).capabilities(capabilities));
    // A creation, a replacement and a deletion: each writes other records.
    for (main, calls) in [(with("a", "literal-secret"), 2), (with("b", "literal-secret"), 4), (HEAD.to_owned(), 6)] {
        project.rewrite(&main);
        let planned = project.plan();
        let paths = StatePaths::of_workspace(folder.path(), "default");
        let (mut store, _) = LocalStore::open(paths, "1.15.5", &Locking::Off, &|| true).unwrap();
        let journal = store.begin_run(&mut project.state).unwrap();
        let diagnostics = project.apply_recorded(planned, journal);
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        store.save(&mut project.state).unwrap();
        drop(store);
        assert_eq!(seen.lock().unwrap().len(), calls);
        assert_eq!(files_with(folder.path(), &["computed-token", "literal-secret"]), Vec::<String>::new());
    }
    assert_eq!(*seen.lock().unwrap(), vec![Vec::<String>::new(); 6]);
}

#[test]
fn lc_29_opened_resource_is_closed_after_an_error() {
    let object = object().fault(Operation::Apply, groma_scripted::Fault::Error("no"));
    let mut project = project(MAIN, provider(secret(), object));
    let planned = project.plan();
    project.provider().forget_calls();
    // The failed apply must not skip the closing.
    assert!(project.apply_plan(planned).has_errors());
    assert_eq!((count(&project, "open"), count(&project, "close")), (1, 1));
}

/// What is told to have begun.
#[derive(Default)]
struct Phases(Mutex<Vec<EphemeralPhase>>);

impl Hooks for Phases {
    fn ephemeral_start(&self, _: &ResourceInstance, phase: EphemeralPhase) {
        self.0.lock().unwrap().push(phase);
    }
}

#[test]
fn lc_29_an_open_resource_is_renewed_while_others_take_their_time() {
    let secret = secret().renew_after(Duration::from_millis(20));
    // Much longer than two renewals need, even through a process on a busy machine.
    let object = object().delay(Operation::Apply, Duration::from_millis(1500));
    let mut project = project(MAIN, provider(secret, object));
    let phases = Arc::new(Phases::default());
    project.hooks = Arc::clone(&phases) as Arc<dyn Hooks>;
    let planned = project.plan();
    project.provider().forget_calls();
    phases.0.lock().unwrap().clear();
    assert!(!project.apply_plan(planned).has_errors());
    let calls = project.provider().call_texts();
    assert!(count(&project, "renew") >= 2, "{calls:?}");
    let recorded = phases.0.lock().unwrap();
    assert!(
        recorded.starts_with(&[EphemeralPhase::Open, EphemeralPhase::Renew, EphemeralPhase::Renew]),
        "{recorded:?}"
    );
    assert_eq!(recorded.last(), Some(&EphemeralPhase::Close));
    assert!(calls.last().unwrap().starts_with("close"), "{calls:?}");
}

#[test]
fn lc_29_running_renewal_finishes_before_close() {
    // The renewal takes longer than the apply, so that closing has to wait for it.
    let secret = secret().renew_after(Duration::from_millis(20)).renewal_takes(Duration::from_millis(2500));
    let object = object().delay(Operation::Apply, Duration::from_millis(1000));
    let mut project = project(MAIN, provider(secret, object));
    let planned = project.plan();
    project.provider().forget_calls();
    assert!(!project.apply_plan(planned).has_errors());
    let calls = project.provider().call_texts();
    assert_eq!(count(&project, "renew"), 1, "{calls:?}");
    assert_eq!(calls.last().unwrap(), "close test_secret s'");
}

#[test]
fn second_interrupt_stops_new_calls_while_ephemeral_resources_are_closed() {
    // Closing waits for the renewal, much longer than the plan before the change takes.
    let secret = secret().renew_after(Duration::from_millis(20)).renewal_takes(Duration::from_millis(2500));
    let object = object().delay(Operation::Plan, Duration::from_millis(800));
    let mut project = project(MAIN, provider(secret, object));
    let planned = project.plan();
    project.provider().forget_calls();
    let cancellation = project.cancellation.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        cancellation.request();
        cancellation.request();
    });
    assert!(project.apply_plan(planned).has_errors());
    assert_eq!((count(&project, "plan"), count(&project, "apply")), (1, 0), "{:?}", project.provider().call_texts());
}

#[test]
fn lc_29_ephemeral_value_is_refused_where_it_would_be_stored() {
    let main = MAIN.replace("password = local.again", "name = local.again").replace("  name = \"a\"\n", "");
    let mut project = project(&main, provider(secret(), object()));
    // An argument that is stored must refuse the value already while planning.
    assert_eq!(project.plan().errors(), ["Invalid use of ephemeral value"]);
}

#[test]
fn a_message_that_must_not_be_shown_matters_only_where_the_value_is_refused() {
    let main = |condition: &str| {
        format!(
            "variable \"v\" {{\n  sensitive = true\n  default = 1\n  validation {{\n    condition = {condition}\n    error_message = \"not \
             ${{var.v}}\"\n  }}\n}}\n"
        )
    };
    let said = |condition: &str| Project::new(&main(condition)).plan().errors();
    assert_eq!(said("var.v > 0"), Vec::<String>::new());
    assert_eq!(said("var.v > 1"), ["Error message refers to sensitive values", "Invalid value for variable"]);
}

#[test]
fn reference_to_one_ephemeral_instance_waits_until_it_is_opened() {
    let main = "resource \"test_object\" \"a\" {\n  name = \"a\"\n  password = ephemeral.test_secret.s[1].token\n}\n\
                ephemeral \"test_secret\" \"s\" {\n  count = 2\n  name = \"s\"\n}\n";
    // The delay shows whether the resource waits for its own instance or only for the first one.
    let secret = secret().opening_takes(Duration::from_millis(200));
    let mut project = project(main, provider(secret, object()));
    let planned = project.plan();
    project.provider().forget_calls();
    let diagnostics = project.apply_plan(planned);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let calls = project.provider().call_texts();
    let last = |word: &str| calls.iter().rposition(|call| call.starts_with(word));
    assert!(last("open") < last("apply") && last("apply") < last("close"), "{calls:?}");
}

#[test]
fn destroy_opens_provider_dependencies_and_others_only_for_a_complete_plan() {
    let main = format!("{MAIN}resource \"test_object\" \"b\" {{\n  name = \"b\"\n}}\n");
    let mut project = project(&main, provider(secret(), object()));
    project.apply();
    project.options.mode = Mode::Destroy;
    // A partial destroy does not evaluate blocks that no target needs.
    project.options.targets = vec!["test_object.b".parse().unwrap()];
    project.provider().forget_calls();
    project.apply();
    assert_eq!(count(&project, "open"), 0);
    // A complete plan opens the resource only to plan with it; apply deletes without it.
    project.options.targets.clear();
    let planned = project.plan();
    assert_eq!(count(&project, "open"), 1);
    project.provider().forget_calls();
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!((count(&project, "open"), count(&project, "apply")), (0, 1));
}

#[test]
fn destroy_opens_ephemeral_resources_of_a_provider_configuration() {
    let key = block([("key", Attribute::optional(Type::String))]);
    let main = "ephemeral \"test_secret\" \"s\" {\n  name = \"s\"\n}\n\
                provider \"test\" {\n  alias = \"keyed\"\n  key = ephemeral.test_secret.s.token\n}\n\
                resource \"test_object\" \"a\" {\n  provider = test.keyed\n  name = \"a\"\n}\n";
    let mut project = project(main, provider(secret(), object()).config(key));
    project.apply();
    project.options.mode = Mode::Destroy;
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    project.provider().forget_calls();
    assert!(!project.apply_plan(planned).has_errors());
    // The provider needs the value to delete, so apply opens the resource.
    assert_eq!((count(&project, "open"), count(&project, "apply")), (1, 1));
}
