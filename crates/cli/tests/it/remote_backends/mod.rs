//! Remote backends through the command line, against servers on loopback, and together with Terraform and OpenTofu on the same states.

mod bad_states;
mod blob_servers;
mod cloud;
mod consul;
mod consul_acl;
mod consul_server;
mod http;
mod http_server;
mod kubernetes;
mod large_states;
mod lost_machines;
mod migration;
mod mixed_teams;
mod postgres;
mod postgres_privileges;
mod s3;
mod s3_permissions;
mod sharing;
mod tokens;
mod web;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tempfile::TempDir;

/// Waits until something holds.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it takes too long until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A working directory of one program.
#[derive(Clone)]
pub struct Project {
    directory: Arc<TempDir>,
    program: PathBuf,
    variables: Vec<(String, String)>,
}

/// A program that shares states with Groma.
#[derive(Clone, Copy, Debug)]
pub enum Peer {
    Terraform,
    OpenTofu,
}

impl Peer {
    pub const ALL: [Self; 2] = [Self::Terraform, Self::OpenTofu];

    /// Creates a directory for the peer, if its environment variable names the program.
    pub fn project(self, configuration: &str) -> Option<Project> {
        let variable = match self {
            Self::Terraform => "GROMA_TERRAFORM",
            Self::OpenTofu => "GROMA_TOFU",
        };
        let Some(program) = std::env::var_os(variable).filter(|path| !path.is_empty()) else {
            eprintln!("skipped: {variable} does not name {self:?} to share states with");
            return None;
        };
        Some(Project::of(Path::new(&program), configuration))
    }
}

/// The result of a command.
pub struct Ran {
    pub code: i32,
    pub text: String,
}

impl Project {
    /// Creates a directory for Groma.
    pub fn new(configuration: &str) -> Self {
        Self::of(Path::new(env!("CARGO_BIN_EXE_groma")), configuration)
    }

    /// Creates a directory for Terraform, if `GROMA_TERRAFORM` names it.
    pub fn of_terraform(configuration: &str) -> Option<Self> {
        Peer::Terraform.project(configuration)
    }

    fn of(program: &Path, configuration: &str) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let project = Self { directory, program: program.to_owned(), variables: Vec::new() };
        project.write("main.tf", configuration);
        project
    }

    /// Sets an environment variable for all commands.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.directory.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.directory.path()).env("CHECKPOINT_DISABLE", "1").env("USER", "tester");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Self::ran(self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs a command that reads `input`.
    pub fn answer(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Self::ran(child.wait_with_output().unwrap())
    }

    /// Starts a command in the background.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub fn ran(output: Output) -> Ran {
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Ran { code: output.status.code().unwrap_or(-1), text }
    }

    /// Runs a command that succeeds.
    #[track_caller]
    pub fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.text);
        ran.text
    }

    /// Runs a command that fails with exit code 1; returns its output on one line.
    #[track_caller]
    pub fn fails(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.text);
        one_line(&ran.text)
    }

    /// Whether a plan finds nothing to do.
    #[track_caller]
    pub fn has_no_changes(&self) -> bool {
        let ran = self.run(&["plan", "-detailed-exitcode", "-input=false"]);
        assert_ne!(ran.code, 1, "{}", ran.text);
        ran.code == 0
    }

    /// Returns the state as JSON.
    #[track_caller]
    pub fn state(&self) -> Json {
        serde_json::from_str(&self.ok(&["state", "pull"])).unwrap()
    }
}

/// Returns text without line breaks and frames, so that wrapped sentences can be found.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// A configuration with a backend block and one object.
pub fn configuration(backend: &str) -> String {
    format!(
        "terraform {{\n{backend}\n}}\nvariable \"input\" {{\n  default = \"one\"\n}}\nresource \"terraform_data\" \"a\" {{\n  \
         input = var.input\n}}\noutput \"value\" {{\n  value = terraform_data.a.output\n}}\n"
    )
}

/// The file that the provisioner of a slow run creates when it begins.
pub const STARTED: &str = "started";

/// A configuration whose run takes a while.
pub fn slow(backend: &str, seconds: u32) -> String {
    format!(
        "terraform {{\n{backend}\n}}\nresource \"terraform_data\" \"first\" {{}}\nresource \"terraform_data\" \"slow\" {{\n  \
         depends_on = [terraform_data.first]\n  provisioner \"local-exec\" {{\n    command = \"touch {STARTED} && sleep {seconds}\"\n  }}\n}}\n"
    )
}
