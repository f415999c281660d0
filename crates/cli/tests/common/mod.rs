//! A folder with a configuration, and the program run in it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run of a program gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A scratch folder.
pub struct Folder {
    directory: tempfile::TempDir,
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
        let directory = tempfile::tempdir().unwrap();
        Self { directory, program: program.to_owned(), environment: Vec::new() }
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

    /// Runs the program without input.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, "")
    }

    /// Runs the program with `input`.
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.directory.path());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TF_")) {
            command.env_remove(name);
        }
        command.envs(self.environment.iter().cloned()).env("CHECKPOINT_DISABLE", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
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
