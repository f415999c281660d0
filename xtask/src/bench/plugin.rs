//! Measurement of a plugin: the Go provider of the `groma-plugin` tests under Groma, under Terraform, and alone, where
//! the example `replay` of `groma-plugin` makes the same calls and nothing else.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::commands::Step;
use super::measure::{Cost, measure_in};
use super::table::seconds;

/// The number of instances in the configuration.
const INSTANCES: u32 = 1_000;
/// The directory of the provider's sources.
const SOURCES: &str = "crates/plugin/tests/peer";

const CONFIGURATION: &str = r#"terraform {
  required_providers {
    peer = { source = "example/peer" }
  }
}
"#;

/// Measures all steps and returns a line for each, or a single line without a Go toolchain.
///
/// # Errors
///
/// The provider cannot be built, a command of Groma fails, or a file cannot be written.
pub fn lines(groma: &Path, peer: Option<&PathBuf>, workspace: &Path, runs: usize) -> Result<Vec<String>, String> {
    let bench = tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    if !build_provider(&workspace.join(SOURCES), bench.path())? {
        return Ok(vec![String::from("plugin: not measured, go is not installed")]);
    }
    let overrides = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example/peer\" = {:?}\n  }}\n  direct {{}}\n}}\n",
        bench.path()
    );
    std::fs::write(bench.path().join("cli.tfrc"), overrides).map_err(|error| format!("cannot write: {error}"))?;
    let replay = build_replay(workspace)?;
    let mut own: Option<[Cost; 3]> = None;
    let mut alone = [f64::INFINITY; 3];
    // Alternating runs, so that other load on the machine affects both alike.
    for _ in 0..runs {
        let costs = run_steps(groma, bench.path())?;
        own = Some(own.map_or(costs, |least| [0, 1, 2].map(|at| least[at].min(costs[at]))));
        let taken = replay_walls(&replay, bench.path())?;
        alone = [0, 1, 2].map(|at| taken[at].min(alone[at]));
    }
    // Some versions of Terraform occasionally fail with this provider's identities; our own numbers are still useful.
    let peer = peer.map(|program| run_steps(program, bench.path()));
    let costs = peer.as_ref().and_then(|peer| peer.as_ref().ok());
    let row = |at: usize| {
        let step = Step::ALL[at];
        Some(line(step, own?[at], alone[at], costs.map(|costs| costs[at])))
    };
    let mut lines: Vec<String> = (0..Step::ALL.len()).filter_map(row).collect();
    if let Some(Err(problem)) = &peer {
        lines.push(format!("plugin under Terraform: not measured: {problem}"));
    }
    Ok(lines)
}

/// Returns the number of provider calls per instance.
const fn calls(step: Step) -> u32 {
    match step {
        // Validate and plan.
        Step::Plan => 2,
        // Validate, plan, and apply.
        Step::Apply => 3,
        // Upgrade of object and identity, read, validate, and plan.
        Step::NoOp => 5,
    }
}

fn line(step: Step, own: Cost, alone: f64, peer: Option<Cost>) -> String {
    let calls = f64::from(INSTANCES * calls(step));
    let mut text = format!(
        "plugin in Go, {INSTANCES} instances, {}: {} s, CPU with the provider's {} s, {:.0} calls/s; the provider alone {} s: {:.2} times \
         that (aim: 1.1)",
        step.name(),
        seconds(own.wall),
        seconds(own.cpu),
        calls / own.wall,
        seconds(alone),
        own.wall / alone,
    );
    if let Some(peer) = peer {
        let (wall, cpu) = (seconds(peer.wall), seconds(peer.cpu));
        let faster = peer.wall / own.wall.max(f64::EPSILON);
        text.push_str(&format!(
            "; Terraform {wall} s, CPU {cpu} s, {:.0} calls/s: {faster:.1} times faster (aim: 3)",
            calls / peer.wall
        ));
    }
    text
}

fn build_provider(sources: &Path, folder: &Path) -> Result<bool, String> {
    let program = folder.join("terraform-provider-peer");
    let built = Command::new("go").arg("build").arg("-o").arg(program).arg(".").current_dir(sources).output();
    match built {
        Err(_) => Ok(false),
        Ok(output) if output.status.success() => Ok(true),
        Ok(output) => Err(format!("go build: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Builds the example that makes the calls alone, and returns its path.
fn build_replay(workspace: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| String::from("cargo"));
    let built = Command::new(&cargo)
        .args(["build", "--quiet", "--release", "--package", "groma-plugin", "--example", "replay"])
        .current_dir(workspace)
        .status()
        .map_err(|error| format!("cannot run {cargo}: {error}"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let program = target.join("release/examples").join(format!("replay{}", std::env::consts::EXE_SUFFIX));
    if built.success() { Ok(program) } else { Err(String::from("cannot build the example replay")) }
}

/// Returns the wall time in seconds that the provider alone takes for each step.
fn replay_walls(replay: &Path, bench: &Path) -> Result<[f64; 3], String> {
    let output = Command::new(replay)
        .arg(bench.join("terraform-provider-peer"))
        .args(["peer_modern", &INSTANCES.to_string(), r#"{"name": "n#"}"#, "1"])
        .output()
        .map_err(|error| format!("cannot run {}: {error}", replay.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let walls: Vec<f64> = text.lines().filter_map(|line| line.split('\t').nth(1)?.parse().ok()).collect();
    let problem = || format!("replay: {}{text}", String::from_utf8_lossy(&output.stderr));
    walls.try_into().map_err(|_| problem())
}

/// Runs all steps in a new working directory and returns their costs.
fn run_steps(program: &Path, bench: &Path) -> Result<[Cost; 3], String> {
    let folder = tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let folder = folder.path();
    let resource =
        format!("resource \"peer_modern\" \"many\" {{\n  count = {INSTANCES}\n  name  = \"n${{count.index}}\"\n}}\n");
    std::fs::write(folder.join("main.tf"), format!("{CONFIGURATION}{resource}"))
        .map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
    let settings = bench.join("cli.tfrc");
    let measured =
        |arguments: &[&str]| measure_in(program, arguments, folder, &[("TF_CLI_CONFIG_FILE", settings.as_os_str())]);
    Ok([
        measured(&["plan", "-no-color", "-out=saved.plan"])?,
        measured(&["apply", "-no-color", "saved.plan"])?,
        measured(&["plan", "-no-color"])?,
    ])
}
