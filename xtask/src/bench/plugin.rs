//! A provider in another process: the one in Go that the tests of `groma-plugin` build, under us and under Terraform.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::commands::Step;
use super::measure::{Cost, measure_in};
use super::table::seconds;

/// Instances of the configuration.
const INSTANCES: u32 = 1_000;
/// Where the provider's sources are.
const SOURCES: &str = "crates/plugin/tests/peer";

const CONFIGURATION: &str = r#"terraform {
  required_providers {
    peer = { source = "example/peer" }
  }
}
"#;

/// Lines for plan, apply and plan again; one that says why where there is no Go.
///
/// # Errors
///
/// The provider cannot be built, a command of ours fails, or the disk does.
pub fn lines(groma: &Path, peer: Option<&PathBuf>, workspace: &Path, runs: usize) -> Result<Vec<String>, String> {
    let bench = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
    if !is_built(&workspace.join(SOURCES), bench.path())? {
        return Ok(vec![String::from("plugin: not measured, there is no Go")]);
    }
    let overrides = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example/peer\" = {:?}\n  }}\n  direct {{}}\n}}\n",
        bench.path()
    );
    std::fs::write(bench.path().join("cli.tfrc"), overrides).map_err(|error| format!("cannot write: {error}"))?;
    let mut own: Option<[Cost; 3]> = None;
    for _ in 0..runs {
        let costs = story(groma, bench.path())?;
        own = Some(own.map_or(costs, |least| [0, 1, 2].map(|at| least[at].least(costs[at]))));
    }
    // Some versions of Terraform fail now and then with the identities of this provider: our numbers are worth printing all the same.
    let peer = peer.map(|program| story(program, bench.path()));
    let costs = peer.as_ref().and_then(|peer| peer.as_ref().ok());
    let row = |at: usize| {
        let step = Step::ALL[at];
        Some(line(step, own?[at], costs.map(|costs| costs[at])))
    };
    let mut lines: Vec<String> = (0..Step::ALL.len()).filter_map(row).collect();
    if let Some(Err(problem)) = &peer {
        lines.push(format!("plugin under Terraform: not measured: {problem}"));
    }
    Ok(lines)
}

/// What the provider is asked for an instance.
const fn calls(step: Step) -> u32 {
    match step {
        // Its configuration is checked, and it is planned.
        Step::Plan => 2,
        // The same once more, and it is made.
        Step::Apply => 3,
        // It is upgraded and read before that.
        Step::NoOp => 4,
    }
}

fn line(step: Step, own: Cost, peer: Option<Cost>) -> String {
    let calls = f64::from(INSTANCES * calls(step));
    let mut text = format!(
        "plugin in Go, {INSTANCES} instances, {}: {} s, CPU with the provider's {} s, {:.0} calls/s",
        step.name(),
        seconds(own.wall),
        seconds(own.cpu),
        calls / own.wall,
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

fn is_built(sources: &Path, folder: &Path) -> Result<bool, String> {
    let program = folder.join("terraform-provider-peer");
    let built = Command::new("go").arg("build").arg("-o").arg(program).arg(".").current_dir(sources).output();
    match built {
        Err(_) => Ok(false),
        Ok(output) if output.status.success() => Ok(true),
        Ok(output) => Err(format!("go build: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// The costs of all steps in a folder of their own.
fn story(program: &Path, bench: &Path) -> Result<[Cost; 3], String> {
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
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
