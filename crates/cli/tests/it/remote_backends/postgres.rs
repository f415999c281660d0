//! The backend `pg`, with a PostgreSQL server of the machine.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::{Project, STARTED, configuration, one_line, slow};

/// A server for one test.
pub struct Server {
    directory: TempDir,
    process: Child,
    port: u16,
}

impl Server {
    /// Starts a server, if PostgreSQL is installed.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!("skipped: initdb and postgres are not installed");
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        std::fs::create_dir(&data).unwrap();
        give_away(directory.path());
        give_away(&data);
        let status = unprivileged(&programs.join("initdb"))
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "initdb fails");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = unprivileged(&programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-k", "", "-F"])
            .stderr(std::fs::File::create(directory.path().join("log")).unwrap())
            .spawn();
        let server = Self { directory, process: process.unwrap(), port };
        let begin = Instant::now();
        while !server.is_ready() {
            assert!(begin.elapsed() < Duration::from_secs(60), "PostgreSQL does not start");
            thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    fn is_ready(&self) -> bool {
        let log = std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
        log.contains("ready to accept connections") && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    /// Runs statements; `None` if `psql` is not installed.
    pub fn execute(&self, statements: &str) -> Option<()> {
        self.execute_in("postgres", statements)
    }

    pub fn execute_in(&self, database: &str, statements: &str) -> Option<()> {
        let url = self.url("postgres", database);
        let psql = Command::new("psql").args(["-q", "-v", "ON_ERROR_STOP=1", "-c", statements, &url]).status();
        let Ok(status) = psql else {
            eprintln!("skipped: psql is not installed");
            return None;
        };
        assert!(status.success(), "{statements}");
        Some(())
    }

    fn url(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    pub fn backend(&self, schema: &str) -> String {
        self.backend_of("postgres", "postgres", schema)
    }

    pub fn backend_of(&self, role: &str, database: &str, schema: &str) -> String {
        let url = self.url(role, database);
        format!("  backend \"pg\" {{\n    conn_str = \"{url}\"\n    schema_name = \"{schema}\"\n  }}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The immediate end: nothing of it is needed any more.
        let _ = Command::new("kill").args(["-QUIT", &self.process.id().to_string()]).status();
        let _ = self.process.wait();
    }
}

/// Returns the directory with the programs of PostgreSQL.
fn programs() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = installed.map(|entry| entry.path().join("bin")).collect();
    folders.push(PathBuf::from("/usr/local/bin"));
    folders.into_iter().find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// PostgreSQL refuses to run as root.
fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program).current_dir("/");
    command
}

fn give_away(path: &Path) {
    if is_root() {
        assert!(Command::new("chown").arg("nobody:nogroup").arg(path).status().unwrap().success());
    }
}

/// Starts a run, and waits until its provisioner has begun: the lock is held, and the first object is made.
fn running(project: &Project) -> Child {
    let mut child = project.start(&["apply", "-auto-approve", "-lock-timeout=60s"]);
    let begin = Instant::now();
    while !project.path(STARTED).exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the provisioner never begins");
        assert!(child.try_wait().unwrap().is_none(), "the run has ended");
        thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn lifecycle_uses_only_the_database() {
    let Some(server) = Server::start() else { return };
    let project = Project::new(&configuration(&server.backend("states of \"us\"").replace("of \"us\"", "of us")));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    assert!(project.has_no_changes());
    project.ok(&["apply", "-auto-approve", "-var=input=two"]);
    assert_eq!(project.state()["serial"], 2);
    project.ok(&["workspace", "new", "blue"]);
    assert_eq!(project.ok(&["workspace", "list"]), "  default\n* blue\n\n");
    assert_eq!(project.state()["serial"], 1, "a new workspace has an empty state");
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["workspace", "select", "default"]);
    assert!(project.fails(&["workspace", "delete", "blue"]).contains("Workspace is not empty"));
    project.ok(&["workspace", "delete", "-force", "blue"]);
    assert_eq!(project.ok(&["workspace", "list"]), "* default\n\n");
    assert_eq!(project.ok(&["output", "-raw", "value"]), "two");
    project.ok(&["destroy", "-auto-approve"]);
    assert_eq!(project.state()["resources"], json!([]));
    assert!(!project.path("terraform.tfstate").exists());
}

#[test]
fn lock_names_its_session_and_is_released_by_ending_that() {
    let Some(server) = Server::start() else { return };
    let project = Project::new(&slow(&server.backend("locked"), 12));
    project.ok(&["init"]);
    let child = running(&project);
    let reported = project.fails(&["plan"]);
    assert!(
        reported.contains("Error acquiring the state lock") && reported.contains("OperationTypeApply"),
        "{reported}"
    );
    let id = reported.split("ID: ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert!(id.parse::<u32>().is_ok(), "{reported}");
    assert!(project.fails(&["force-unlock", "-force", "1"]).contains("does not match the existing lock"));
    project.ok(&["force-unlock", "-force", &id]);
    // The journal of the directory is still in use, so that only other directories can go on.
    assert!(project.fails(&["plan"]).contains("writes its journal"));
    let other = Project::new(&slow(&server.backend("locked"), 0));
    other.ok(&["init"]);
    other.ok(&["apply", "-auto-approve"]);
    assert!(project.fails(&["force-unlock", "-force", &id]).contains("is not locked"));
    // The run that lost its lock writes nothing.
    let ran = Project::ran(child.wait_with_output().unwrap());
    assert!(ran.code == 1 && one_line(&ran.text).contains("The state lock was lost"), "{}", ran.text);
    assert!(other.has_no_changes());
}

#[test]
fn killed_run_releases_its_lock_and_its_journal_is_merged() {
    let Some(server) = Server::start() else { return };
    let project = Project::new(&slow(&server.backend("killed"), 60));
    project.ok(&["init"]);
    let mut child = running(&project);
    child.kill().unwrap();
    child.wait().unwrap();
    project.write("main.tf", &slow(&server.backend("killed"), 0));
    let said = project.ok(&["apply", "-auto-approve", "-lock-timeout=10s"]);
    assert!(
        said.contains("1 added, 0 changed, 1 destroyed") || said.contains("1 added, 0 changed, 0 destroyed"),
        "{said}"
    );
    assert!(project.has_no_changes());
    assert_eq!(project.state()["resources"].as_array().unwrap().len(), 2);
}

#[test]
fn schemas_are_created_concurrently() {
    let Some(server) = Server::start() else { return };
    let projects: Vec<Project> =
        (0..8).map(|index| Project::new(&configuration(&server.backend(&format!("s{}", index % 2))))).collect();
    projects.iter().for_each(|project| drop(project.ok(&["init"])));
    let children: Vec<Child> = projects.iter().map(|project| project.start(&["plan", "-lock-timeout=60s"])).collect();
    for child in children {
        let ran = Project::ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.text);
    }
}

#[test]
fn refusals_name_what_is_missing() {
    let Some(server) = Server::start() else { return };
    let with = |change: &dyn Fn(String) -> String| {
        let project = Project::new(&configuration(&change(server.backend("s"))));
        let reported = project.fails(&["init"]);
        assert!(
            !project.path(".terraform/terraform.tfstate").exists(),
            "a backend that cannot be used is not recorded"
        );
        reported
    };
    let absent = with(&|block| block.replace("/postgres?", "/nowhere?"));
    assert!(absent.contains("State storage not found") && absent.contains("CREATE DATABASE"), "{absent}");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let unreachable = with(&|block| block.replace(&server.port.to_string(), &port.to_string()));
    assert!(unreachable.contains("State storage unreachable"), "{unreachable}");
    let plain = with(&|block| block.replace("sslmode=disable", "sslmode=require"));
    assert!(plain.contains("State storage unreachable") && plain.contains("TLS"), "{plain}");
    let project =
        Project::new(&configuration(&server.backend("s").replace("  }", "    skip_schema_creation = true\n  }")));
    project.ok(&["init"]);
    let skipped = project.fails(&["plan"]);
    assert!(skipped.contains("State storage not found"), "{skipped}");
}

#[test]
fn reading_remote_state_creates_nothing() {
    let Some(server) = Server::start() else { return };
    let reader = Project::new(&format!(
        "data \"terraform_remote_state\" \"it\" {{\n  backend = \"pg\"\n  workspace = \"blue\"\n  config = {{\n    conn_str = \
         \"{}\"\n  }}\n}}\noutput \"read\" {{\n  value = data.terraform_remote_state.it.outputs.value\n}}\n",
        server.url("postgres", "postgres")
    ));
    reader.ok(&["init"]);
    assert!(reader.fails(&["plan"]).contains("Unable to find remote state"));
    let writer = Project::new(&configuration(&server.backend("terraform_remote_state")));
    writer.ok(&["init"]);
    assert_eq!(writer.ok(&["workspace", "list"]), "* default\n\n", "reading has created nothing");
    writer.ok(&["workspace", "new", "blue"]);
    writer.ok(&["apply", "-auto-approve"]);
    reader.ok(&["apply", "-auto-approve"]);
    assert_eq!(reader.ok(&["output", "-raw", "read"]), "one");
}

#[test]
fn terraform_and_groma_share_states_workspaces_and_locks() {
    let Some(server) = Server::start() else { return };
    let block = server.backend("shared");
    let Some(theirs) = Project::of_terraform(&configuration(&block)) else { return };
    let ours = Project::new(&configuration(&block));
    ours.ok(&["init"]);
    ours.ok(&["apply", "-auto-approve"]);
    theirs.ok(&["init"]);
    assert!(theirs.has_no_changes(), "Terraform reads what Groma wrote");
    let record = |project: &Project| -> serde_json::Value {
        serde_json::from_str(&project.read(".terraform/terraform.tfstate")).unwrap()
    };
    assert_eq!(record(&ours)["backend"], record(&theirs)["backend"]);
    theirs.ok(&["apply", "-auto-approve", "-var=input=two"]);
    assert_eq!(ours.ok(&["output", "-raw", "value"]), "two");
    theirs.ok(&["workspace", "new", "green"]);
    ours.ok(&["workspace", "new", "blue"]);
    for project in [&ours, &theirs] {
        let list = project.ok(&["workspace", "list"]);
        assert!(list.contains("blue") && list.contains("green"), "{list}");
    }
    ours.ok(&["workspace", "select", "green"]);
    ours.ok(&["apply", "-auto-approve"]);
    assert!(theirs.has_no_changes());
    for project in [&ours, &theirs] {
        project.ok(&["workspace", "select", "default"]);
    }

    for (holder, other) in [(&ours, &theirs), (&theirs, &ours)] {
        holder.write("main.tf", &slow(&block, 8));
        let mut child = holder.start(&["apply", "-auto-approve", "-lock-timeout=60s"]);
        let begin = Instant::now();
        let reported = loop {
            let ran = other.run(&["plan", "-input=false"]);
            if ran.code == 1 {
                break one_line(&ran.text);
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "the lock is never seen");
            assert!(child.try_wait().unwrap().is_none(), "the run has ended");
        };
        assert!(reported.contains("Error acquiring the state lock"), "{reported}");
        let ran = Project::ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.text);
        holder.write("main.tf", &configuration(&block));
        holder.ok(&["apply", "-auto-approve"]);
    }
}

#[test]
fn first_apply_locks_before_the_row_exists() {
    let Some(server) = Server::start() else { return };
    let block = server.backend("creation");
    let Some(theirs) = Project::of_terraform(&configuration(&block)) else { return };
    let ours = Project::new(&slow(&block, 8));
    ours.ok(&["init"]);
    let child = running(&ours);
    theirs.ok(&["init"]);
    let reported = theirs.fails(&["plan", "-input=false"]);
    assert!(reported.contains("lready locked for workspace creation"), "{reported}");
    let ran = Project::ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.text);
}
