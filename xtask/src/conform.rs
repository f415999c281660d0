//! `cargo xtask conform`: what real programs say and do, beside what ours do. The tests do the work and print a line for each ability;
//! here is only which of them belong together, and that a comparison that cannot be made is no success.
//!
//! `language`: expressions, layouts and diagnostics beside the Terraform that `GROMA_TERRAFORM` names; `GROMA_CONFORM` is how many
//! expressions are made up, from `GROMA_SEED`. `providers`: our plugins under that one and, if it is named, the one of
//! `GROMA_TERRAFORM_1_11`, and our client against a provider on the official libraries, which takes Go.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A test binary, and which of its tests.
struct Tests {
    package: &'static str,
    binary: &'static str,
    filter: &'static str,
}

const fn tests(package: &'static str, binary: &'static str, filter: &'static str) -> Tests {
    Tests { package, binary, filter }
}

/// What each part runs.
const PARTS: &[(&str, &[Tests])] = &[
    (
        "language",
        &[
            tests("groma-value", "numbers_like_terraform", ""),
            tests("groma-lang", "language", "terraform"),
            tests("groma-lang", "conform", "terraform"),
            tests("groma-hcl", "suite", "terraform"),
            tests("groma-config", "conform", "terraform"),
            tests("groma-cli", "validate_like_terraform", "terraform"),
        ],
    ),
    ("providers", &[tests("groma-plugin", "processes", "terraform::"), tests("groma-plugin", "processes", "peer::")]),
];

/// Runs the parts of that name, or all.
///
/// # Errors
///
/// There is no such part, nothing to compare with, or something in it failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let wanted = arguments.first();
    let parts: Vec<_> = PARTS.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == name)).collect();
    if parts.is_empty() {
        let known: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no part is called {arguments:?}; there are: {}", known.join(", ")));
    }
    there_is_terraform()?;
    for (name, tests) in parts {
        for test in *tests {
            println!("conform {name}: {} {} {}", test.package, test.binary, test.filter);
            run_tests(root, test).map_err(|problem| format!("conform {name}: {problem}"))?;
        }
    }
    Ok(())
}

/// Without one the tests skip what they compare, and pass.
fn there_is_terraform() -> Result<(), String> {
    const NAMED: &str = "GROMA_TERRAFORM";
    match std::env::var_os(NAMED).map(PathBuf::from) {
        Some(path) if path.is_file() => Ok(()),
        Some(path) if path != Path::new("") => Err(format!("{NAMED} names {}, which is no file", path.display())),
        _ => Err(format!("there is nothing to compare with: set {NAMED} to the path of Terraform")),
    }
}

fn run_tests(root: &Path, test: &Tests) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["test", "--quiet", "-p", test.package, "--test", test.binary, "--", test.filter]);
    // What was compared, and what was skipped, is on standard output.
    let status = command.arg("--nocapture").status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{} {} failed", test.package, test.binary)) }
}
