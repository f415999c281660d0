//! Processes for the time of a test, and the emulator on a port.

use std::io::{BufRead, BufReader};
use std::process::Child;

use super::Folder;

/// A process that is killed when this is dropped, so that it ends with its test, whatever the outcome.
pub struct KillOnDrop(pub Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves the objects of a folder on a free port. Returns the server and its host and port.
pub fn serve_emulator(folder: &Folder, arguments: &[&str]) -> (KillOnDrop, String) {
    let arguments = [&["emulator", "serve", "-listen=127.0.0.1:0"], arguments].concat();
    let mut child = folder.command(&arguments).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let serving = KillOnDrop(child);
    let address = said.split("http://").nth(1).unwrap().split(". ").next().unwrap().to_owned();
    (serving, address)
}
