//! `cargo xtask conform`: comparison with real programs. The tests do the work and print a line per feature; this task
//! groups them, summarizes their results, and fails if a comparison is impossible.
//!
//! - `language`: expressions, formatting and diagnostics compared with the Terraform that `GROMA_TERRAFORM` names.
//!   `GROMA_CONFORM` is the number of generated expressions, `GROMA_PLACES` the number of expressions planned at some position,
//!   `GROMA_SLIPS` the number of configurations with a single mistake, all generated from `GROMA_SEED`.
//! - `lives`: lifecycles of `GROMA_LIVES` generated configurations compared with that Terraform, from `GROMA_SEED`.
//! - `order`: `GROMA_HISTORIES` generated histories on a mock cloud that refuses to delete objects in use.
//! - `providers`: our plugins under that Terraform and, if set, under the one of `GROMA_TERRAFORM_1_11` and the OpenTofu of
//!   `GROMA_TOFU`; and our client with a provider on the official libraries, which requires Go.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A selection of tests in a test binary.
struct Tests {
    package: &'static str,
    binary: &'static str,
    filter: &'static str,
}

const fn tests(package: &'static str, binary: &'static str, filter: &'static str) -> Tests {
    Tests { package, binary, filter }
}

/// The tests of each part.
const PARTS: &[(&str, &[Tests])] = &[
    (
        "language",
        &[
            tests("groma-value", "numbers_like_terraform", ""),
            tests("groma-lang", "language", "terraform"),
            tests("groma-lang", "conform", "terraform"),
            tests("groma-hcl", "suite", "terraform"),
            tests("groma-config", "conform", "terraform"),
            tests("groma-cli", "it", "validate_like_terraform::"),
            tests("groma-cli", "it", "places::"),
            tests("groma-cli", "it", "slips::"),
        ],
    ),
    ("lives", &[tests("groma-cli", "it", "made_up::lives_are_led_as_terraform")]),
    ("order", &[tests("groma-cli", "it", "destruction_order::histories::histories_keep")]),
    ("providers", &[tests("groma-plugin", "processes", "terraform::"), tests("groma-plugin", "processes", "peer::")]),
];

/// The prefix of a line with the result of a comparison: the numbers of cases, equal ones and different ones.
const COMPARED: &str = "compared: ";

/// The prefix of a line with the progress of a test.
const PROGRESS: &str = "progress: ";

/// The interval of progress lines where lines cannot be overwritten.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(15);

/// Runs the named part, or all parts; each runs to its end, and a summary follows.
///
/// # Errors
///
/// The part is unknown, Terraform is missing, or a test fails.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let wanted = arguments.first();
    let parts: Vec<_> = PARTS.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == name)).collect();
    if parts.is_empty() {
        let known: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        return Err(format!("unknown part {arguments:?}; the parts are {}", known.join(", ")));
    }
    require_terraform()?;
    let began = Instant::now();
    let mut summary = Vec::new();
    let mut failed = Vec::new();
    for (name, tests) in parts {
        for test in *tests {
            let title = format!("{name}: {} {} {}", test.package, test.binary, test.filter);
            println!("conform {title}");
            let began = Instant::now();
            let (compared, outcome) = run_tests(root, test);
            let verdict = if outcome.is_ok() { "passed" } else { "FAILED" };
            summary.push(format!("{title}: {verdict} in {:.0} s", began.elapsed().as_secs_f64()));
            summary.extend(compared.into_iter().map(|line| format!("  {line}")));
            failed.extend(outcome.err());
        }
    }
    println!("\nin {:.0} s:\n{}", began.elapsed().as_secs_f64(), summary.join("\n"));
    if failed.is_empty() { Ok(()) } else { Err(format!("conform: {}", failed.join("; "))) }
}

/// Fails without Terraform, because the tests would skip their comparisons and pass.
fn require_terraform() -> Result<(), String> {
    const VARIABLE: &str = "GROMA_TERRAFORM";
    match std::env::var_os(VARIABLE).map(PathBuf::from) {
        Some(path) if path.is_file() => Ok(()),
        Some(path) if path != Path::new("") => {
            Err(format!("{VARIABLE} is set to {}, which is not a file", path.display()))
        }
        _ => Err(format!("Terraform is missing: set {VARIABLE} to the path of its executable")),
    }
}

/// Runs tests; returns the comparisons that they report, and whether they passed.
fn run_tests(root: &Path, test: &Tests) -> (Vec<String>, Result<(), String>) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["test", "--quiet", "-p", test.package, "--test", test.binary, "--", test.filter]);
    // The tests report comparisons and skips on standard output.
    command.arg("--nocapture").stdout(Stdio::piped());
    let mut running = match command.spawn() {
        Ok(running) => running,
        Err(error) => return (Vec::new(), Err(format!("cannot run cargo: {error}"))),
    };
    let mut output = OutputFilter::new();
    for line in running.stdout.take().into_iter().flat_map(|out| BufReader::new(out).split(b'\n')).map_while(Result::ok)
    {
        output.take(&String::from_utf8_lossy(&line));
    }
    output.clear();
    let outcome = match running.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{} {} failed", test.package, test.binary)),
        Err(error) => Err(format!("{} {}: {error}", test.package, test.binary)),
    };
    (output.compared, outcome)
}

/// Filter for the output of tests: progress goes to a line that is overwritten, or is printed now and then; the rest
/// passes.
struct OutputFilter {
    compared: Vec<String>,
    terminal: bool,
    began: Instant,
    last: Option<Instant>,
}

impl OutputFilter {
    fn new() -> Self {
        Self { compared: Vec::new(), terminal: std::io::stdout().is_terminal(), began: Instant::now(), last: None }
    }

    fn take(&mut self, line: &str) {
        // The test harness prints a dot or a test name without a line end before the output of the test.
        if let Some((_, progress)) = line.split_once(PROGRESS) {
            self.progress(progress);
            return;
        }
        self.clear();
        if let Some((_, compared)) = line.split_once(COMPARED) {
            self.compared.push(compared.to_owned());
        }
        if !line.trim().is_empty() {
            println!("{line}");
        }
    }

    fn progress(&mut self, text: &str) {
        let text = format!("  {text}, {:.0} s", self.began.elapsed().as_secs_f64());
        if self.terminal {
            print!("\r{text}\x1b[K");
            // Progress that cannot be displayed must not fail the task.
            let _ = std::io::stdout().flush();
        } else if self.last.is_none_or(|last| last.elapsed() >= PROGRESS_INTERVAL) {
            println!("{text}");
            self.last = Some(Instant::now());
        }
    }

    /// Clears the progress line.
    fn clear(&self) {
        if self.terminal {
            print!("\r\x1b[K");
        }
    }
}
