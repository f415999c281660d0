//! Shared states: runs that change different objects of one state work at the same time.

use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::blob_servers::{self, Served};
use super::consul_server::ConsulServer;
use super::postgres::Server;
use super::s3::Moto;
use super::{Peer, Project, one_line};

/// Two objects without a relation, and a third that depends on the second. The provisioner of each of the first two runs the command in
/// its variable, which finds the identifier of its object in `ID`.
fn configuration(backend: &str) -> String {
    let object = |name: &str| {
        format!(
            "variable \"{name}\" {{ default = 1 }}\nvariable \"{name}_command\" {{ default = \"true\" }}\n\
             resource \"terraform_data\" \"{name}\" {{\n  triggers_replace = var.{name}\n  provisioner \"local-exec\" {{\n    \
             command = var.{name}_command\n    environment = {{ ID = self.id }}\n  }}\n}}\n"
        )
    };
    format!(
        "terraform {{\n{backend}\n}}\n{}{}resource \"terraform_data\" \"c\" {{\n  input = terraform_data.b.id\n}}\n",
        object("a"),
        object("b")
    )
}

/// A backend with one state that two directories use.
struct Shared {
    backend: String,
    variables: Vec<(&'static str, String)>,
    one: Project,
    other: Project,
    folder: TempDir,
}

impl Shared {
    fn new(backend: &str) -> Self {
        Self::with(backend, &[])
    }

    /// Enables sharing with these environment variables.
    fn with(backend: &str, variables: &[(&'static str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = || {
            let project = Project::new(&configuration(backend));
            variables.iter().fold(project, |project, (name, value)| project.with(name, value))
        };
        let (one, other) = (project(), project());
        one.ok(&["init"]);
        other.ok(&["init"]);
        assert!(one.ok(&["state", "sharing", "show"]).contains("is not shared"));
        assert!(one.ok(&["state", "sharing", "enable"]).contains("is now shared"));
        assert!(one.ok(&["state", "sharing", "enable"]).contains("is already shared"));
        one.ok(&["apply", "-auto-approve"]);
        Self { backend: backend.to_owned(), variables: variables.to_vec(), one, other, folder }
    }

    /// A command that says that it has begun, and waits until another one has begun.
    fn meeting(&self, own: &str, other: &str) -> String {
        let [own, other] = [own, other].map(|name| self.folder.path().join(name).display().to_string());
        format!("touch {own}; for i in $(seq 300); do test -e {other} && exit 0; sleep 0.1; done; exit 1")
    }

    fn until_begun(&self, name: &str, run: &mut Child) {
        let begin = Instant::now();
        while !self.folder.path().join(name).exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the run does not begin");
            assert!(run.try_wait().unwrap().is_none(), "the run has ended");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts a run that replaces the first object, and waits with it for the file `go`.
    fn start_slow(&self) -> Child {
        let command = format!("-var=a_command={}", self.meeting("begun", "go"));
        let mut run = self.one.start(&["apply", "-auto-approve", "-var=a=20", "-target=terraform_data.a", &command]);
        self.until_begun("begun", &mut run);
        run
    }

    fn go(&self) {
        std::fs::write(self.folder.path().join("go"), "").unwrap();
    }

    fn serial(&self) -> u64 {
        self.one.state()["serial"].as_u64().unwrap()
    }
}

#[track_caller]
fn succeeds(run: Child) -> String {
    let ran = Project::ran(run.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.text);
    ran.text
}

/// Both runs wait for each other, so each ends only if both are at work at once.
fn different_objects(shared: &Shared) {
    let before = shared.serial();
    let run = |project: &Project, name: &str, other: &str| {
        let (value, target) = (format!("-var={name}=2"), format!("-target=terraform_data.{name}"));
        let command = format!("-var={name}_command={}", shared.meeting(name, other));
        project.start(&["apply", "-auto-approve", "-lock-timeout=60s", &value, &target, &command])
    };
    let (a, b) = (run(&shared.one, "a", "b"), run(&shared.other, "b", "a"));
    succeeds(a);
    succeeds(b);
    assert!(shared.serial() >= before + 2, "every commit has a serial of its own");
    shared.one.ok(&["apply", "-auto-approve", "-var=a=2", "-var=b=2"]);
    let ran = shared.other.run(&["plan", "-detailed-exitcode", "-var=a=2", "-var=b=2"]);
    assert_eq!(ran.code, 0, "nobody's work is lost: {}", ran.text);
}

fn same_object(shared: &Shared) {
    let run = shared.start_slow();
    let apply = ["apply", "-auto-approve", "-var=a=3", "-target=terraform_data.a"];
    let refused = shared.other.fails(&apply);
    assert!(refused.contains("Objects are being changed by another run"), "{refused}");
    let refused = one_line(&refused);
    let holder = refused.split_once("terraform_data.a is being changed by ").map(|(_, holder)| holder);
    assert!(holder.and_then(|holder| holder.split(' ').next()).is_some_and(|who| who.contains('@')), "{refused}");
    let shown = shared.other.ok(&["state", "sharing", "show"]);
    assert!(shown.contains("OperationTypeApply") && shown.contains("  - terraform_data.a\n"), "{shown}");
    // A plan waits for nobody.
    shared.other.ok(&["plan", "-var=a=3"]);
    let waiting = shared.other.start(&[&apply[..], &["-lock-timeout=60s"]].concat());
    thread::sleep(Duration::from_secs(1));
    shared.go();
    succeeds(run);
    let text = succeeds(waiting);
    assert!(text.contains("Planning again:") && text.contains("  - terraform_data.a by "), "{text}");
    let ran = shared.one.run(&["plan", "-detailed-exitcode", "-var=a=3", "-var=b=2"]);
    assert_eq!(ran.code, 0, "{}", ran.text);
}

fn saved_plans(shared: &Shared) {
    shared.one.ok(&["plan", "-var=b=5", "-target=terraform_data.c", "-out=saved"]);
    shared.other.ok(&["apply", "-auto-approve", "-var=a=5", "-target=terraform_data.a"]);
    let applied = shared.one.ok(&["apply", "saved"]);
    assert!(applied.contains("1 added, 1 changed, 1 destroyed"), "{applied}");
    shared.one.ok(&["plan", "-var=a=6", "-var=b=6", "-out=saved"]);
    shared.other.ok(&["apply", "-auto-approve", "-var=b=7", "-target=terraform_data.b", "-var=a=5"]);
    let stale = shared.one.fails(&["apply", "saved"]);
    assert!(stale.contains("Saved plan is stale") && stale.contains("- terraform_data.b by "), "{stale}");
    assert!(!stale.contains("- terraform_data.a by "), "{stale}");
    shared.one.ok(&["apply", "-auto-approve", "-var=a=5", "-var=b=7"]);
    assert!(shared.other.run(&["plan", "-detailed-exitcode", "-var=a=5", "-var=b=7"]).code == 0);
}

/// A killed run leaves its results and its claims to the next run. `end` lets its deadline pass.
fn killed(shared: &Shared, next: &Project, end: &dyn Fn()) {
    let created = shared.folder.path().join("created");
    let commands = [
        format!("-var=a_command=echo $ID > {}", created.display()),
        format!("-var=b_command={}", shared.meeting("killed", "never")),
    ];
    let arguments = ["apply", "-auto-approve", "-var=a=11", "-var=b=11", "-parallelism=1", &commands[0], &commands[1]];
    let mut run = shared.one.start(&arguments);
    shared.until_begun("killed", &mut run);
    // The copy of the journal, which runs on other machines read, follows within about a second.
    thread::sleep(Duration::from_secs(3));
    let made = shared.other.state();
    run.kill().unwrap();
    run.wait().unwrap();
    end();
    let warned = next.ok(&["plan", "-var=a=11", "-var=b=11"]);
    assert!(one_line(&warned).contains("Unfinished operations of an interrupted run"), "{warned}");
    next.ok(&["apply", "-auto-approve", "-var=a=11", "-var=b=11"]);
    assert!(next.run(&["plan", "-detailed-exitcode", "-var=a=11", "-var=b=11"]).code == 0);
    let objects = next.state()["resources"].as_array().unwrap().len();
    assert_eq!((objects, made["resources"].as_array().unwrap().len() <= objects), (3, true));
    let created = std::fs::read_to_string(created).unwrap();
    assert_eq!(next.state()["resources"][0]["name"], "a");
    assert_eq!(next.state()["resources"][0]["instances"][0]["attributes"]["id"], created.trim(), "it survives");
    let shown = next.ok(&["state", "sharing", "show"]);
    assert!(!shown.contains("unless it is renewed"), "{shown}");
}

/// Terraform and OpenTofu find a shared state locked, and shared runs wait for them.
fn excludes_peers(shared: &Shared) {
    for theirs in Peer::ALL.into_iter().filter_map(|peer| peer.project(&configuration(&shared.backend))) {
        excludes_peer(shared, theirs);
    }
}

fn excludes_peer(shared: &Shared, theirs: Project) {
    let theirs = shared.variables.iter().fold(theirs, |project, (name, value)| project.with(name, value));
    theirs.ok(&["init"]);
    for earlier in ["begun", "go", "theirs", "go-on"] {
        let _ = std::fs::remove_file(shared.folder.path().join(earlier));
    }
    let run = shared.start_slow();
    let locked = theirs.fails(&["plan", "-input=false"]);
    assert!(locked.contains("Error acquiring the state lock"), "{locked}");
    shared.go();
    succeeds(run);
    let ran = theirs.run(&["plan", "-input=false", "-detailed-exitcode", "-var=a=20"]);
    assert_ne!(ran.code, 1, "the lock is released, and the peer reads the state: {}", ran.text);
    let command = format!("-var=a_command={}", shared.meeting("theirs", "go-on"));
    let mut run = theirs.start(&["apply", "-auto-approve", "-input=false", "-var=a=9", &command]);
    shared.until_begun("theirs", &mut run);
    let apply = ["apply", "-auto-approve", "-var=b=9", "-target=terraform_data.b"];
    let refused = shared.one.fails(&apply);
    assert!(refused.contains("Error acquiring the state lock"), "{refused}");
    shared.one.ok(&["plan", "-var=a=1"]);
    let waiting = shared.one.start(&[&apply[..], &["-lock-timeout=60s"]].concat());
    std::fs::write(shared.folder.path().join("go-on"), "").unwrap();
    succeeds(run);
    succeeds(waiting);
    let state = shared.one.state();
    assert_eq!(state["resources"].as_array().unwrap().len(), 3);
}

fn all_but_killed(backend: &str) -> Shared {
    let shared = Shared::new(backend);
    live_runs(&shared);
    shared
}

fn live_runs(shared: &Shared) {
    different_objects(shared);
    same_object(shared);
    saved_plans(shared);
}

fn states_on_are_shared(served: &Served) {
    let shared = Shared::with(&served.block, &served.variables);
    live_runs(&shared);
    // The same machine takes the run over without waiting for its deadline.
    killed(&shared, &shared.one, &|| {});
    excludes_peers(&shared);
    shared.one.ok(&["state", "sharing", "disable"]);
    shared.other.ok(&["apply", "-auto-approve", "-var=a=12", "-var=b=12"]);
    assert!(shared.one.run(&["plan", "-detailed-exitcode", "-var=a=12", "-var=b=12"]).code == 0);
}

#[test]
fn local_states_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("terraform.tfstate");
    let backend = format!("  backend \"local\" {{\n    path = \"{}\"\n  }}", path.display());
    let shared = all_but_killed(&backend);
    // On the same machine nobody waits for a deadline.
    killed(&shared, &shared.other, &|| {});
    std::fs::write(folder.path().join(".terraform.tfstate.groma-sharing"), "{").unwrap();
    let refused = shared.one.fails(&["apply", "-auto-approve"]);
    assert!(refused.contains("Unreadable sharing document") && refused.contains("sharing enable"), "{refused}");
    assert!(shared.one.ok(&["state", "sharing", "enable"]).contains("is now shared"));
    let commands = ["state", "sharing", "disable"];
    assert!(shared.one.ok(&commands).contains("is no longer shared"));
    shared.one.ok(&["apply", "-auto-approve", "-var=a=12", "-var=b=12"]);
}

#[test]
fn peers_and_shared_runs_exclude_each_other_on_local_states() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("terraform.tfstate");
    let backend = format!("  backend \"local\" {{\n    path = \"{}\"\n  }}", path.display());
    excludes_peers(&Shared::new(&backend));
}

#[test]
fn pg_states_are_shared() {
    let Some(server) = Server::start() else { return };
    let shared = all_but_killed(&server.backend("sharing"));
    killed(&shared, &shared.one, &|| {});
    excludes_peers(&Shared::new(&server.backend("mixed")));
}

#[test]
fn s3_states_are_shared() {
    let Some(moto) = Moto::start() else { return };
    let shared = all_but_killed(&moto.backend("shared.tfstate", "use_lockfile = true"));
    // The next run is on another machine, which only knows the deadline.
    let end = || {
        let mut document = moto.get("shared.tfstate.groma-sharing").unwrap();
        for run in document["runs"].as_object_mut().unwrap().values_mut() {
            run["deadline"] = "2020-01-01T00:00:00Z".into();
        }
        moto.put("shared.tfstate.groma-sharing", &document);
    };
    killed(&shared, &shared.other, &end);
    excludes_peers(&Shared::new(&moto.backend("mixed.tfstate", "use_lockfile = true")));
}

#[test]
fn machines_that_know_the_state_unshared_notice_that_sharing_begins() {
    let Some(moto) = Moto::start() else { return };
    let backend = moto.backend("begins.tfstate", "use_lockfile = true");
    let (one, other) = (Project::new(&configuration(&backend)), Project::new(&configuration(&backend)));
    let is_asked = |requests: &[String]| requests.iter().any(|request| request.ends_with(".groma-sharing"));
    for project in [&one, &other] {
        project.ok(&["init"]);
        project.ok(&["apply", "-auto-approve"]);
        let planned = moto.requests_of(|| assert!(project.has_no_changes()));
        assert!(!is_asked(&planned), "the note says that runs do not share the state: {planned:#?}");
    }
    one.ok(&["state", "sharing", "enable"]);
    let planned = moto.requests_of(|| assert!(other.has_no_changes()));
    assert!(is_asked(&planned), "{planned:#?}");
    assert!(moto.get("begins.tfstate.tflock").is_none(), "the lock that it tried is released");
    let object = "terraform_data.a";
    other.ok(&["apply", "-auto-approve", "-replace=terraform_data.a"]);
    let shown = one.ok(&["state", "sharing", "show"]);
    assert!(shown.contains(object), "the run was a shared one: {shown}");
    let planned = moto.requests_of(|| assert!(other.has_no_changes()));
    assert!(!planned.iter().any(|request| request.contains(".tflock")), "no lock is tried any more: {planned:#?}");
    one.ok(&["state", "sharing", "disable"]);
    other.ok(&["apply", "-auto-approve", "-replace=terraform_data.b"]);
    assert!(one.ok(&["state", "sharing", "show"]).contains("is not shared"));
}

#[test]
fn gcs_states_are_shared() {
    let Some(served) = blob_servers::gcs() else { return };
    states_on_are_shared(&served);
}

#[test]
fn azurerm_states_are_shared() {
    let Some(served) = blob_servers::azurerm() else { return };
    states_on_are_shared(&served);
}

#[test]
fn consul_states_are_shared() {
    let Some(served) = blob_servers::consul() else { return };
    states_on_are_shared(&served);
}

#[test]
fn consul_states_are_shared_on_the_double() {
    let server = ConsulServer::start();
    let shared = all_but_killed(&server.backend("team/state", ""));
    killed(&shared, &shared.one, &|| {});
}

#[test]
fn kubernetes_states_are_shared() {
    states_on_are_shared(&blob_servers::kubernetes());
}

#[test]
fn kubernetes_states_are_shared_on_a_cluster() {
    let Some(served) = blob_servers::kubernetes_cluster("sharing") else { return };
    states_on_are_shared(&served);
}

#[test]
fn sharing_is_refused_where_it_cannot_work() {
    let Some(moto) = Moto::start() else { return };
    let project = Project::new(&configuration(&moto.backend("unlocked.tfstate", "")));
    project.ok(&["init"]);
    let refused = project.fails(&["state", "sharing", "enable"]);
    assert!(refused.contains("configured without locks"), "{refused}");
    assert!(moto.get("unlocked.tfstate.groma-sharing").is_none());
}
