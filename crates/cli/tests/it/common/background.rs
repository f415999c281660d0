//! Runs that go on while the test looks on, and stops them. What they say goes to the file `said` of the folder.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Folder;

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
