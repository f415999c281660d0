//! The cost of a process.
//!
//! The kernel reports the usage of *all* terminated children of a process together. So an intermediate process, this
//! program with the task `measured`, runs a single child and reports its usage, which is exact for CPU time and peak
//! memory.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

/// The hidden task that runs one command and prints its cost.
pub const TASK: &str = "measured";

const MARK: &str = "cost:";

/// The cost of one run of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Wall time in seconds.
    pub wall: f64,
    /// CPU time in seconds, in user and kernel mode.
    pub cpu: f64,
    /// Peak resident memory in bytes.
    pub peak: f64,
}

impl Cost {
    /// Returns the minimum per measurement: noise only ever adds to the cost.
    pub fn min(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu), peak: self.peak.min(other.peak) }
    }
}

/// Runs a program and returns its cost. The output is discarded unless the program fails.
///
/// # Errors
///
/// The program cannot be started or fails.
pub fn measure(program: &Path, arguments: &[&str], folder: &Path) -> Result<Cost, String> {
    measure_in(program, arguments, folder, &[])
}

/// Runs a program with additional environment variables and returns its cost.
///
/// # Errors
///
/// The program cannot be started or fails.
pub fn measure_in(
    program: &Path,
    arguments: &[&str],
    folder: &Path,
    environment: &[(&str, &OsStr)],
) -> Result<Cost, String> {
    let command = || format!("{} {}", program.display(), arguments.join(" "));
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
        .map_err(|error| format!("cannot run {}: {error}", command()))?;
    let report = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr);
        let problem: Vec<&str> = problem.lines().take(20).collect();
        return Err(format!("{} failed:\n{}", command(), problem.join("\n")));
    }
    parse(&report).ok_or_else(|| format!("no cost was reported for {}", command()))
}

fn parse(report: &str) -> Option<Cost> {
    let line = report.lines().find_map(|line| line.strip_prefix(MARK))?;
    let numbers: Vec<f64> = line.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [wall, cpu, peak] = numbers[..] else { return None };
    Some(Cost { wall, cpu, peak })
}

/// Runs the command in `arguments` and prints its cost on one line.
pub fn task(arguments: &[String]) -> ExitCode {
    let Some((program, arguments)) = arguments.split_first() else { return ExitCode::FAILURE };
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status();
    let wall = start.elapsed().as_secs_f64();
    let (Ok(status), Ok(usage)) = (status, getrusage(UsageWho::RUSAGE_CHILDREN)) else { return ExitCode::FAILURE };
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let cpu = seconds(usage.user_time()) + seconds(usage.system_time());
    // The unit is KiB everywhere except on Apple's systems.
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
    fn reports_round_trip() {
        let cost = parse("cost: 1.5 0.25 1048576\n").unwrap();
        assert_eq!(cost, Cost { wall: 1.5, cpu: 0.25, peak: 1_048_576.0 });
        assert_eq!(parse("cost: 1.5"), None);
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn minimum_is_taken_per_measurement() {
        let one = Cost { wall: 1.0, cpu: 5.0, peak: 3.0 };
        let other = Cost { wall: 2.0, cpu: 4.0, peak: 3.5 };
        assert_eq!(one.min(other), Cost { wall: 1.0, cpu: 4.0, peak: 3.0 });
    }
}
