//! `cargo xtask bench`: time and memory of commands, and their growth with the number of instances.
//!
//! Results are reported, not judged: timings never fail the task.

mod cloud;
mod commands;
mod language;
mod measure;
mod options;
mod plugin;
mod remote_state;
mod shapes;
mod shared;
mod table;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use commands::{Measured, measure_shape};
pub use measure::{TASK as MEASURED, task as measured_task};
pub use options::HELP;
use options::{Extent, Options};

const LIBRARIES: [(&str, &str); 2] = [("groma-hcl", "measure"), ("groma-lang", "speed")];

/// Builds `groma` and measures it.
///
/// # Errors
///
/// Invalid options, or a failing command.
pub fn run(workspace: &Path, arguments: &[String]) -> Result<(), String> {
    let options = Options::parse(arguments)?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| String::from("cargo"));
    let groma = match &options.program {
        Some(program) => std::path::absolute(program).map_err(|error| format!("{}: {error}", program.display()))?,
        None => build(&cargo, workspace)?,
    };
    let peer = peer();
    match options.extent {
        Extent::Cloud => {
            cloud::lines(&groma)?.iter().for_each(|line| println!("{line}"));
            return Ok(());
        }
        Extent::States => {
            remote_state::lines(&groma, options.runs)?.iter().for_each(|line| println!("{line}"));
            shared::lines(&groma)?.iter().for_each(|line| println!("{line}"));
            return Ok(());
        }
        Extent::Quick | Extent::Usual | Extent::Deep => {}
    }
    println!("{}", commands::start(&groma)?);
    for line in commands::quick_start(&groma, workspace, options.runs)? {
        println!("{line}");
    }
    if options.extent != Extent::Quick {
        for line in language::lines(&groma, peer.as_ref(), options.runs)? {
            println!("{line}");
        }
        for line in remote_state::lines(&groma, options.runs)? {
            println!("{line}");
        }
    }
    for line in plugin::lines(&groma, peer.as_ref(), workspace, options.runs)? {
        println!("{line}");
    }
    if options.extent != Extent::Quick {
        shared::lines(&groma)?.iter().for_each(|line| println!("{line}"));
    }
    println!("\n{}", describe(&options, peer.as_deref()));
    println!("{}", table::render(&rows(&groma, peer.as_ref(), &options)?));
    if options.extent != Extent::Quick {
        for (package, example) in LIBRARIES {
            println!("{package}:\n{}", commands::library(&cargo, workspace, package, example)?);
        }
    }
    Ok(())
}

fn rows(groma: &Path, peer: Option<&PathBuf>, options: &Options) -> Result<Vec<Measured>, String> {
    let mut rows = Vec::new();
    for shape in &options.shapes {
        for size in &options.sizes {
            eprintln!("measuring {} at {size}", shape.name());
            rows.extend(measure_shape(groma, peer, options, *shape, *size)?);
        }
    }
    Ok(rows)
}

fn describe(options: &Options, peer: Option<&Path>) -> String {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let peer = match peer {
        Some(_) if !options.peer_sizes.is_empty() => format!("Terraform: one run at {:?}.", options.peer_sizes),
        Some(_) => String::from("Terraform: not requested."),
        None => String::from("Terraform: not found (GROMA_TERRAFORM, or terraform on PATH)."),
    };
    let left_out = match options.extent {
        Extent::Deep => "",
        Extent::Quick | Extent::Usual | Extent::States | Extent::Cloud => {
            " `blocks` above 10,000 and `chain` above 1,000 are not applied: state files list all dependencies, including \
             indirect ones, which takes gigabytes (--deep)."
        }
    };
    format!("{processors} processors; minimum of {} runs. {peer}{left_out}\n", options.runs)
}

/// Builds the program in release mode and returns its path.
fn build(cargo: &str, workspace: &Path) -> Result<PathBuf, String> {
    let status = Command::new(cargo)
        .args(["build", "--release", "--package", "groma-cli"])
        .current_dir(workspace)
        .status()
        .map_err(|error| format!("cannot run {cargo}: {error}"))?;
    if !status.success() {
        return Err(String::from("the release build failed"));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    Ok(target.join("release").join(format!("groma{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the Terraform executable to compare with, if there is one.
fn peer() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("GROMA_TERRAFORM").filter(|path| path != OsStr::new("")) {
        return Some(PathBuf::from(path));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("terraform")).find(|path| path.is_file())
}
