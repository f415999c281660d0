//! What a process costs.
//!
//! The system tells what *all* ended children of a process have used together. So a process in between runs just one
//! child and reports: this program once more, with the task `measured`. Its numbers are the kernel's own, exact for
//! processor time and for the peak of memory.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

/// The hidden task that runs one command and prints what it cost.
pub const TASK: &str = "measured";

const MARK: &str = "cost:";

/// What one run of a process cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds of processor time, of the process and of the system for it.
    pub cpu: f64,
    /// Most bytes that were in memory at once.
    pub peak: f64,
}

impl Cost {
    /// The lesser of two costs, in each respect: noise only ever adds.
    pub fn least(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu), peak: self.peak.min(other.peak) }
    }
}

/// Runs a program and measures it. What it prints is thrown away unless it fails.
///
/// # Errors
///
/// The program could not be started, or did not end well.
pub fn measure(program: &Path, arguments: &[&str], folder: &Path) -> Result<Cost, String> {
    measure_in(program, arguments, folder, &[])
}

/// As [`measure`], with `environment` added.
///
/// # Errors
///
/// The program could not be started, or did not end well.
pub fn measure_in(
    program: &Path,
    arguments: &[&str],
    folder: &Path,
    environment: &[(&str, &OsStr)],
) -> Result<Cost, String> {
    let told = || format!("{} {}", program.display(), arguments.join(" "));
    let own = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let output = Command::new(own)
        .arg(TASK)
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_IN_AUTOMATION", "1")
        .envs(environment.iter().copied())
        .output()
        .map_err(|error| format!("cannot run {}: {error}", told()))?;
    let report = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr);
        let problem: Vec<&str> = problem.lines().take(20).collect();
        return Err(format!("{} failed:\n{}", told(), problem.join("\n")));
    }
    parse(&report).ok_or_else(|| format!("no cost was told of {}", told()))
}

fn parse(report: &str) -> Option<Cost> {
    let line = report.lines().find_map(|line| line.strip_prefix(MARK))?;
    let numbers: Vec<f64> = line.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [wall, cpu, peak] = numbers[..] else { return None };
    Some(Cost { wall, cpu, peak })
}

/// The hidden task: runs the command in `arguments` and prints its cost on one line.
pub fn task(arguments: &[String]) -> ExitCode {
    let Some((program, arguments)) = arguments.split_first() else { return ExitCode::FAILURE };
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status();
    let wall = start.elapsed().as_secs_f64();
    let (Ok(status), Ok(usage)) = (status, getrusage(UsageWho::RUSAGE_CHILDREN)) else { return ExitCode::FAILURE };
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let cpu = seconds(usage.user_time()) + seconds(usage.system_time());
    // Kibibytes everywhere but at Apple's.
    let unit = if cfg!(target_vendor = "apple") { 1.0 } else { 1024.0 };
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let peak = usage.max_rss() as f64 * unit;
    println!("{MARK} {wall} {cpu} {peak}");
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_back() {
        let cost = parse("cost: 1.5 0.25 1048576\n").unwrap();
        assert_eq!(cost, Cost { wall: 1.5, cpu: 0.25, peak: 1_048_576.0 });
        assert_eq!(parse("cost: 1.5"), None);
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn the_least_is_taken_in_each_respect() {
        let one = Cost { wall: 1.0, cpu: 5.0, peak: 3.0 };
        let other = Cost { wall: 2.0, cpu: 4.0, peak: 3.5 };
        assert_eq!(one.least(other), Cost { wall: 1.0, cpu: 4.0, peak: 3.0 });
    }
}
