//! Tasks of the workspace: `cargo xtask <task>`.

mod bench;
mod conform;
mod descriptions;
mod hints;
mod map;
mod placeholders;
mod protocol;
mod schemas;
mod structure;
mod subschemas;
mod summaries;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const TASKS: &str = "\
tasks:
  bench [OPTIONS]   measure the release build; see below
  conform [PART]    compare with Terraform; the parts are: language, lives, order, providers
  hints WHEEL FOLDER
                    record which constraints of a cfn-lint wheel the schemas of the AWS registry
                    in FOLDER do not have
  protocol          generate the messages of the plugin protocol from its definitions, after a
                    change of a .proto file in crates/plugin/src/proto
  schemas [WHEEL]   rebuild schemas.bin and descriptions.bin in crates/cloudcontrol/data from the
                    pinned cfn-lint wheel (downloaded with pip when no path is given)
  structure         check that the modules of each crate have an order, and that no code
                    decides on the summary of a diagnostic";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    let outcome = match arguments.first().map(String::as_str) {
        Some("bench") => bench::run(&workspace_root(), rest),
        Some(bench::MEASURED) => return bench::measured_task(rest),
        Some("conform") => conform::run(&workspace_root(), rest),
        Some("hints") => match rest {
            [wheel, folder] => hints::run(Path::new(wheel), Path::new(folder)),
            _ => Err(format!("hints needs a wheel and a folder\n{TASKS}")),
        },
        Some("protocol") => protocol::run(&workspace_root()),
        Some("schemas") => schemas::run(arguments.get(1).map(String::as_str)),
        Some("structure") => structure::run(&workspace_root()),
        Some(other) => Err(format!("unknown task {other:?}\n{TASKS}\n{}", bench::HELP)),
        None => Err(format!("{TASKS}\n{}", bench::HELP)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
