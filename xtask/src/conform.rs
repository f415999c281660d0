//! `cargo xtask conform`: what real programs say and do, beside what ours do. The tests do the work and print a line for each ability;
//! here is only which of them belong together, and that a comparison that cannot be made is no success.
//!
//! `language`: expressions, layouts and diagnostics beside the Terraform that `GROMA_TERRAFORM` names. `providers`: our plugins under that
//! one and the one of `GROMA_TERRAFORM_1_11`, and our client against a provider on the official libraries.

use std::path::Path;
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
/// There is no such part, or something in it failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let wanted = arguments.first();
    let parts: Vec<_> = PARTS.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == name)).collect();
    if parts.is_empty() {
        let known: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no part is called {:?}; there are: {}", arguments, known.join(", ")));
    }
    for (name, tests) in parts {
        for test in *tests {
            println!("conform {name}: {} {} {}", test.package, test.binary, test.filter);
            run_tests(root, test).map_err(|problem| format!("conform {name}: {problem}"))?;
        }
    }
    Ok(())
}

fn run_tests(root: &Path, test: &Tests) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["test", "--quiet", "-p", test.package, "--test", test.binary, "--", test.filter]);
    // What was compared, and what was skipped, is on standard output.
    let status = command.arg("--nocapture").status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{} {} failed", test.package, test.binary)) }
}
