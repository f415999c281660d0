//! Measurement of the Cloud Control provider: its schemas, and runs against the emulator on a port.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::measure::{Cost, measure};
use super::table::seconds;

/// The number of objects.
const OBJECTS: u32 = 1_000;
/// The time until the emulator answers a call, in seconds.
const LATENCY: f64 = 0.1;
/// The number of calls that the emulator accepts in a second.
const RATE: f64 = 20.0;
/// The calls that a creation needs at least: create, status, read.
const CALLS_PER_CREATION: u32 = 3;
const PARALLELISM: f64 = 10.0;

/// Measures schemas and runs, and returns a line for each.
///
/// # Errors
///
/// A command fails, or a file cannot be written.
pub fn lines(groma: &Path) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let folder = folder.path();
    // Schemas need no requests, so nothing has to listen at this address.
    configure(folder, "127.0.0.1:1", 0)?;
    let schemas = measure(groma, &["providers", "schema", "-json"], folder)?;

    let server = Emulator::start(groma, folder, &[&format!("-rate={RATE}")])?;
    configure(folder, &server.address, OBJECTS)?;
    let created = measure(groma, &["apply", "-auto-approve"], folder)?;
    drop(server);

    let server = Emulator::start(groma, folder, &[&format!("-latency={}ms", LATENCY * 1e3)])?;
    configure(folder, &server.address, OBJECTS)?;
    let planned = measure(groma, &["plan"], folder)?;
    Ok(vec![schemas_line(schemas), creations_line(created), plan_line(planned)])
}

fn schemas_line(cost: Cost) -> String {
    let (wall, cpu, peak) = (seconds(cost.wall), seconds(cost.cpu), cost.peak / 1e6);
    format!("schemas of all awscc types: {wall} s, CPU {cpu} s, peak {peak:.0} MB (aim: 1 s, 200 MB)")
}

fn creations_line(cost: Cost) -> String {
    let share = f64::from(OBJECTS * CALLS_PER_CREATION) / RATE / cost.wall * 100.0;
    let (wall, cpu) = (seconds(cost.wall), seconds(cost.cpu));
    format!("{OBJECTS} creations at {RATE} calls/s: {wall} s, CPU {cpu} s, {share:.0}% of the rate (aim: 90%)")
}

fn plan_line(cost: Cost) -> String {
    let least = f64::from(OBJECTS) * LATENCY / PARALLELISM;
    let (wall, cpu, ratio) = (seconds(cost.wall), seconds(cost.cpu), cost.wall / least);
    format!(
        "plan of {OBJECTS} objects with answers after {LATENCY} s: {wall} s, CPU {cpu} s, {ratio:.2} times calls x latency / parallelism \
         (aim: 1.1)"
    )
}

fn configure(folder: &Path, address: &str, objects: u32) -> Result<(), String> {
    let text = format!(
        "provider \"awscc\" {{\n  region     = \"eu-central-1\"\n  access_key = \"x\"\n  secret_key = \"x\"\n\n  endpoints = {{\n    \
         cloudcontrolapi = \"http://{address}\"\n  }}\n}}\n\nresource \"awscc_sqs_queue\" \"it\" {{\n  count      = {objects}\n  \
         queue_name = \"queue-${{count.index}}\"\n}}\n"
    );
    std::fs::write(folder.join("main.tf"), text).map_err(|error| format!("cannot write main.tf: {error}"))
}

/// The emulator on a free port, until the value is dropped.
struct Emulator {
    process: Child,
    address: String,
}

impl Emulator {
    fn start(groma: &Path, folder: &Path, flags: &[&str]) -> Result<Self, String> {
        let mut process = Command::new(groma)
            .args(["emulator", "serve", "-listen=127.0.0.1:0"])
            .args(flags)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start the emulator: {error}"))?;
        let mut line = String::new();
        if let Some(out) = process.stdout.take() {
            BufReader::new(out)
                .read_line(&mut line)
                .map_err(|error| format!("cannot read from the emulator: {error}"))?;
        }
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(". ").next()).map(str::to_owned);
        match address {
            Some(address) => Ok(Self { process, address }),
            None => Err(format!("the emulator does not print its address: {line:?}")),
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // A process that has ended already needs neither.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
