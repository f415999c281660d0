//! A directory with a configuration, and the program run in it, in the foreground or in the background.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod cases;
pub mod normalization;
pub mod random;
pub mod scenario;
pub mod serving;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The result of a run of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A scratch folder.
pub struct Folder {
    directory: Arc<tempfile::TempDir>,
    program: PathBuf,
    environment: Vec<(String, String)>,
}

impl Folder {
    /// An empty folder, for the program under test.
    pub fn new() -> Self {
        Self::for_program(Path::new(env!("CARGO_BIN_EXE_groma")))
    }

    /// An empty folder, for another program.
    pub fn for_program(program: &Path) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        Self { directory, program: program.to_owned(), environment: Vec::new() }
    }

    /// The same folder, for another program.
    pub fn also_for(&self, program: &Path) -> Self {
        Self { directory: Arc::clone(&self.directory), program: program.to_owned(), environment: Vec::new() }
    }

    /// The same with an environment variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes the files of a folder that stands beside the crates, such as an example.
    pub fn copy(&self, from: &str) -> &Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(from);
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "tf" || end == "tfvars") {
                    self.write(&name, &std::fs::read_to_string(&path).unwrap());
                }
            }
        }
        self
    }

    /// The program, ready to run in the folder, in an environment without settings of the person who runs the tests. It has the
    /// persona of Terraform, because most expectations are compared with Terraform's output.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.directory.path());
        let foreign =
            |name: &str| ["TF_", "AWS_", "GROMA_"].iter().any(|prefix| name.starts_with(prefix)) || name == "NO_COLOR";
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(foreign) {
                command.env_remove(name);
            }
        }
        command.env("HOME", self.path("home")).env("CHECKPOINT_DISABLE", "1").env("GROMA_PERSONA", "terraform");
        command.envs(self.environment.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program and interrupts it, as Control-C does, once it has printed `until`.
    pub fn interrupted(&self, arguments: &[&str], until: &str) -> Ran {
        let mut child = self.command(arguments).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut seen = Vec::new();
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&seen).contains(until) {
            let count = stdout.read(&mut buffer).unwrap();
            assert!(count > 0, "{} ended early", self.program.display());
            seen.extend_from_slice(&buffer[..count]);
        }
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        // The input stays open: it is the interrupt that ends the question.
        let input = child.stdin.take();
        stdout.read_to_end(&mut seen).unwrap();
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        drop(input);
        Ran {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(seen).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs the program without input.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, "")
    }

    /// Runs the program with `input`.
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.command(arguments);
        let mut child = command.spawn().unwrap();
        // A program that asks nothing may be gone before it is answered.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        Ran {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs the program by way of a shell that sets a limit first.
    pub fn run_limited(&self, limit: &str, arguments: &[&str]) -> Ran {
        let program = self.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limit}; exec \"$@\""), "sh"]).arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.current_dir(self.path(""));
        let Output { status, stdout, stderr } = shell.stdin(Stdio::null()).output().unwrap();
        Ran {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs the program, which must succeed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}\n{}{}", ran.out, ran.err);
        ran.out
    }

    /// Runs the program, which must fail with code 1; what it said on standard error.
    pub fn fails(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}\n{}{}", ran.out, ran.err);
        ran.err
    }
}

/// Starts an apply that nobody is asked about.
pub fn start(folder: &Folder, arguments: &[&str]) -> Child {
    start_run(folder, &[&["apply", "-auto-approve"], arguments].concat())
}

/// Starts a run.
pub fn start_run(folder: &Folder, arguments: &[&str]) -> Child {
    let said = File::create(folder.path("said")).unwrap();
    let mut command = folder.command(arguments);
    command.stdin(Stdio::null()).stderr(said.try_clone().unwrap()).stdout(said);
    command.spawn().unwrap()
}

pub fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

pub fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// Waits until a run has said something so many times.
pub fn until_said(folder: &Folder, text: &str, times: usize) {
    let begin = Instant::now();
    while folder.read("said").matches(text).count() < times {
        assert!(begin.elapsed() < Duration::from_secs(20), "no {text:?} in\n{}", folder.read("said"));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The identifiers of the objects that the emulator has.
pub fn identifiers(folder: &Folder) -> std::collections::BTreeSet<String> {
    let listed = folder.ok(&["emulator", "list"]);
    listed.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
}
