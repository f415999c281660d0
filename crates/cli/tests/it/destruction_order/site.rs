//! A folder with a configuration and a cloud of its own, and the program that runs there.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use groma_plugin::Protocol;
use groma_plugin::server::{Served, serve_below};
use groma_scripted::cloud::{Cloud, EVERY, Event, Moment, Object, Operation, Outcome, Store, Times};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use super::generate::{Fault, Step};
use crate::common::{Folder, Ran};
use crate::common::{kill, start_run};

/// The identifiers of an instance's objects, for example `cloud_object.web: web#2, deposed web#1`.
pub type Recorded = BTreeMap<String, Instance>;

/// An instance as recorded in the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    pub current: Option<String>,
    pub is_tainted: bool,
    pub deposed: Vec<String>,
    pub creates_before_destroy: bool,
}

/// How long nothing happens in the cloud before a run counts as waiting.
const QUIET: Duration = Duration::from_millis(150);

/// A program, the folder that it works in, and the cloud that it works on.
pub struct Site {
    /// The program's name, for messages.
    pub name: &'static str,
    pub folder: Folder,
    pub store: Store,
    _served: [Served; 2],
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap())
}

impl Site {
    pub fn groma() -> Self {
        Self::new("Groma", Folder::new())
    }

    pub fn terraform(program: &Path) -> Self {
        Self::new("Terraform", Folder::for_program(program).with("TF_CLI_ARGS", "-no-color"))
    }

    fn new(name: &'static str, folder: Folder) -> Self {
        let store = Store::at(folder.path("store"));
        let (cloud, cloud_entry) = serve(&folder, "cloud", &store);
        let (kube, kube_entry) = serve(&folder, "kube", &store);
        let providers = json!({
            "registry.terraform.io/example/cloud": cloud_entry,
            "registry.terraform.io/example/kube": kube_entry,
        });
        let folder = folder.with("TF_REATTACH_PROVIDERS", &providers.to_string());
        Self { name, folder, store, _served: [cloud, kube] }
    }

    /// Runs the program without input.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.folder.run(arguments)
    }

    /// Starts a run and kills it once the cloud has begun an operation. Whether that came about.
    pub fn kill_at(&self, arguments: &[&str], operation: Operation, name: &str) -> bool {
        self.store.wait(operation, name).unwrap();
        let mut run = start_run(&self.folder, arguments);
        let begun = self.until_begun(&mut run, operation, name);
        if begun {
            self.until_quiet();
            kill(run);
        }
        begun
    }

    /// Waits until only the operation that is held back goes on. An operation that ended at the moment of the kill would be one whose
    /// result Groma has or has not, by chance.
    fn until_quiet(&self) {
        let start = Instant::now();
        let mut last = (0, Instant::now());
        while last.1.elapsed() < QUIET && start.elapsed() < Duration::from_secs(60) {
            let known = self.events().len();
            if known != last.0 || self.open_operations() > 1 {
                last = (known, Instant::now());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until an operation has begun, or the run has ended without it.
    fn until_begun(&self, run: &mut Child, operation: Operation, name: &str) -> bool {
        let start = Instant::now();
        loop {
            let is_over = run.try_wait().unwrap().is_some();
            if self.events().iter().any(|event| event.operation == operation && event.name() == name) {
                return true;
            }
            if is_over {
                return false;
            }
            assert!(
                start.elapsed() < Duration::from_secs(600),
                "{}: the run neither ends nor begins {name}",
                self.name
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends all waits and waits until every operation that has begun has ended.
    pub fn settle(&self) {
        self.store.resume().unwrap();
        let start = Instant::now();
        while self.open_operations() > 0 {
            assert!(start.elapsed() < Duration::from_secs(600), "{}: an operation does not end", self.name);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn open_operations(&self) -> usize {
        let events = self.events();
        let begun = events.iter().filter(|event| event.outcome == Outcome::Begun).count();
        begun * 2 - events.len()
    }

    /// Returns the events of the cloud since the log was last emptied.
    pub fn events(&self) -> Vec<Event> {
        self.store.events().unwrap()
    }

    /// Returns what the state records, by instance.
    pub fn recorded(&self) -> Recorded {
        match std::fs::read_to_string(self.folder.path("terraform.tfstate")) {
            Ok(text) => recorded(&serde_json::from_str(&text).unwrap()),
            Err(_) => Recorded::new(),
        }
    }
}

fn serve(folder: &Folder, name: &'static str, store: &Store) -> (Served, Json) {
    let provider = Arc::new(Cloud::new(name, store.clone()));
    let parent = folder.path("");
    let _entered = runtime().enter();
    let served = serve_below(&parent, provider, Protocol::V6).unwrap();
    let entry = json!({
        "Protocol": "grpc",
        "ProtocolVersion": 6,
        "Pid": std::process::id(),
        "Test": true,
        "Addr": { "Network": "unix", "String": served.path() },
    });
    (served, entry)
}

fn recorded(state: &Json) -> Recorded {
    let mut recorded = Recorded::new();
    for resource in state["resources"].as_array().into_iter().flatten() {
        if resource["mode"] != "managed" {
            continue;
        }
        for object in resource["instances"].as_array().into_iter().flatten() {
            let instance = recorded.entry(address(resource, object)).or_default();
            let id = object["attributes"]["id"].as_str().unwrap_or_default().to_owned();
            if object["deposed"].is_string() {
                instance.deposed.push(id);
                instance.deposed.sort_unstable();
                continue;
            }
            instance.current = Some(id);
            instance.is_tainted = object["status"] == "tainted";
            instance.creates_before_destroy = object["create_before_destroy"] == true;
        }
    }
    recorded
}

fn address(resource: &Json, object: &Json) -> String {
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    let module = resource["module"].as_str().map(|module| format!("{module}.")).unwrap_or_default();
    let key = match &object["index_key"] {
        Json::Null => String::new(),
        key => format!("[{key}]"),
    };
    format!("{module}{}.{}{key}", text(&resource["type"]), text(&resource["name"]))
}

/// Returns the record as text, for messages and comparisons: `cloud_object.web: web#2, deposed web#1`.
pub fn describe(recorded: &Recorded) -> Vec<String> {
    let line = |(address, instance): (&String, &Instance)| {
        let tainted = if instance.is_tainted { " (tainted)" } else { "" };
        let current = instance.current.iter().map(|id| format!("{id}{tainted}"));
        let objects: Vec<String> = current.chain(instance.deposed.iter().map(|id| format!("deposed {id}"))).collect();
        format!("{address}: {}", objects.join(", "))
    };
    recorded.iter().map(line).collect()
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Ended {
    pub code: i32,
    pub errors: Vec<String>,
    pub events: Vec<Event>,
    pub before: Recorded,
    pub after: Recorded,
    pub objects_before: BTreeMap<String, Object>,
    pub objects: BTreeMap<String, Object>,
}

impl Ended {
    /// Returns what the cloud refused on its own account.
    pub fn refusals(&self) -> Vec<String> {
        let refused = |event: &&Event| match &event.outcome {
            Outcome::Failed(reason) => !reason.starts_with("Injected failure"),
            _ => false,
        };
        self.events.iter().filter(refused).map(ToString::to_string).collect()
    }

    pub fn is_cycle(&self) -> bool {
        self.errors.iter().any(|error| error.starts_with("Error: Cycle"))
    }

    /// Returns the operations in their order, begins included.
    pub fn log(&self) -> String {
        self.events.iter().map(|event| format!("    {event}\n")).collect()
    }
}

/// Carries a history out; nothing for the steps in which only Groma is killed.
pub fn carry_out(steps: &[Step], site: &Site, seed: u64) -> Vec<Option<Ended>> {
    site.store.hold(seed).unwrap();
    steps.iter().map(|step| carry_out_step(step, site)).collect()
}

fn carry_out_step(step: &Step, site: &Site) -> Option<Ended> {
    write(step, site);
    site.store.forget_events().unwrap();
    let before = site.recorded();
    let objects_before = site.store.objects().unwrap();
    let options: Vec<&str> = step.options.iter().map(String::as_str).collect();
    let arguments = [&["apply", "-auto-approve", "-input=false"], &options[..]].concat();
    let ran = match &step.fault {
        Some(Fault::Killed { .. }) if site.name != "Groma" => return None,
        Some(Fault::Killed { operation, name, takes_place }) => {
            site.kill_at(&arguments, *operation, name);
            // Nobody hears of an object that is created after the kill, so the cloud would have one more than Terraform's.
            site.store.fail(Operation::Create, EVERY, Times::Always, Moment::Before).unwrap();
            if !takes_place {
                site.store.fail(*operation, name, Times::Once, Moment::Before).unwrap();
            }
            site.settle();
            Ran { code: -1, out: String::new(), err: String::new() }
        }
        Some(Fault::Fails { operation, name, moment }) => {
            site.store.fail(*operation, name, Times::Once, *moment).unwrap();
            site.run(&arguments)
        }
        None => site.run(&arguments),
    };
    site.store.heal().unwrap();
    let errors = ran.err.lines().map(|line| line.trim_start_matches(['│', ' ']));
    let errors = errors.filter(|line| line.starts_with("Error: ")).map(str::to_owned).collect();
    let (events, after) = (site.events(), site.recorded());
    Some(Ended {
        code: ran.code,
        errors,
        events,
        before,
        after,
        objects_before,
        objects: site.store.objects().unwrap(),
    })
}

fn write(step: &Step, site: &Site) {
    let files = step.program.files();
    for (name, text) in &files {
        site.folder.write(name, text);
    }
    let installed = std::fs::read_to_string(site.folder.path(".terraform/modules/modules.json")).unwrap_or_default();
    let is_installed = files.len() == 1 || installed.contains("\"m\"");
    if site.name != "Groma" && !is_installed {
        site.folder.ok(&["init", "-input=false"]);
    }
}
