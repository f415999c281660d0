//! Tasks of the workspace: `cargo xtask <task>`.

mod schemas;

use std::process::ExitCode;

const TASKS: &str = "\
tasks:
  schemas [WHEEL]   rebuild crates/cloudcontrol/data/schemas.bin from the pinned cfn-lint wheel
                    (downloaded with pip when no path is given)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("schemas") => schemas::run(arguments.get(1).map(String::as_str)),
        Some(other) => Err(format!("no task is called {other:?}\n{TASKS}")),
        None => Err(TASKS.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
