//! The emulator on a port, for the time of a test.

use std::io::{BufRead, BufReader};
use std::process::Child;

use super::Folder;

/// A server that ends with the test, whatever its outcome.
pub struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves the objects of a folder on a free port. Returns the server and its host and port.
pub fn serve_emulator(folder: &Folder, arguments: &[&str]) -> (Serving, String) {
    let arguments = [&["emulator", "serve", "-listen=127.0.0.1:0"], arguments].concat();
    let mut child = folder.command(&arguments).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let serving = Serving(child);
    let address = said.split("http://").nth(1).unwrap().split(". ").next().unwrap().to_owned();
    (serving, address)
}
