//! `cargo xtask conform`: our plugins under the Terraforms that `GROMA_TERRAFORM` and `GROMA_TERRAFORM_1_11` name, and our
//! client against a provider on the official libraries. The tests do the work and print a line for each ability.

use std::path::Path;
use std::process::Command;

/// What each part runs.
const PARTS: &[(&str, &[&str])] = &[("providers", &["terraform::", "peer::"])];

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
            println!("conform {name}: {}", test.trim_end_matches(':'));
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let mut command = Command::new(cargo);
            command.current_dir(root).args([
                "test",
                "--quiet",
                "-p",
                "groma-plugin",
                "--test",
                "processes",
                "--",
                test,
            ]);
            let status = command.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
            if !status.success() {
                return Err(format!("conform {name} failed"));
            }
        }
    }
    Ok(())
}
