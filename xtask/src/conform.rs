//! `cargo xtask conform`: what real programs say and do, beside what ours do. The tests do the work and print a line for each ability;
//! here is only which of them belong together, what they found in all, and that a comparison that cannot be made is no success.
//!
//! `language`: expressions, layouts and diagnostics beside the Terraform that `GROMA_TERRAFORM` names; `GROMA_CONFORM` is how many
//! expressions are made up, `GROMA_PLACES` how many are planned at some place, and `GROMA_SLIPS` how many configurations with one mistake
//! are looked at, from `GROMA_SEED`. `lives`: whole lives of made-up configurations beside that Terraform, `GROMA_LIVES` of them, from
//! `GROMA_SEED`. `order`: `GROMA_HISTORIES` generated histories on a cloud that refuses to delete what is in use. `providers`: our plugins under that one and, if they are named, the one of
//! `GROMA_TERRAFORM_1_11` and the OpenTofu of `GROMA_TOFU`, and our client against a provider on the official libraries, which takes Go.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
            tests("groma-value", "terraform_arithmetic", ""),
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

/// A line of a test that says what it has compared: how many cases, how many the same, how many different.
const COMPARED: &str = "compared: ";

/// A line of a test that says how far it is.
const PROGRESS: &str = "progress: ";

/// How often progress is told where lines stay.
const QUIET: Duration = Duration::from_secs(15);

/// Runs the parts of that name, or all, each to its end; then what was found is told once more, together.
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

/// Without one the tests skip what they compare, and pass.
fn there_is_terraform() -> Result<(), String> {
    const NAMED: &str = "GROMA_TERRAFORM";
    match std::env::var_os(NAMED).map(PathBuf::from) {
        Some(path) if path.is_file() => Ok(()),
        Some(path) if path != Path::new("") => Err(format!("{NAMED} names {}, which is no file", path.display())),
        _ => Err(format!("there is nothing to compare with: set {NAMED} to the path of Terraform")),
    }
}

/// What the tests say that they have compared, and whether they passed.
fn run_tests(root: &Path, test: &Tests) -> (Vec<String>, Result<(), String>) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["test", "--quiet", "-p", test.package, "--test", test.binary, "--", test.filter]);
    // What was compared, and what was skipped, is on standard output.
    command.arg("--nocapture").stdout(Stdio::piped());
    let mut running = match command.spawn() {
        Ok(running) => running,
        Err(error) => return (Vec::new(), Err(format!("cargo cannot be run: {error}"))),
    };
    let mut told = Told::new();
    for line in running.stdout.take().into_iter().flat_map(|out| BufReader::new(out).split(b'\n')).map_while(Result::ok)
    {
        told.take(&String::from_utf8_lossy(&line));
    }
    told.clear();
    let outcome = match running.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{} {} failed", test.package, test.binary)),
        Err(error) => Err(format!("{} {}: {error}", test.package, test.binary)),
    };
    (told.compared, outcome)
}

/// What tests tell while they run: progress in one line that is written over, or now and then where lines stay; all else as it comes.
struct Told {
    compared: Vec<String>,
    terminal: bool,
    began: Instant,
    last: Option<Instant>,
}

impl Told {
    fn new() -> Self {
        Self { compared: Vec::new(), terminal: std::io::stdout().is_terminal(), began: Instant::now(), last: None }
    }

    fn take(&mut self, line: &str) {
        // A test that begins or ends leaves its dot or its name in front.
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
            // A line that cannot be shown is no reason to stop.
            let _ = std::io::stdout().flush();
        } else if self.last.is_none_or(|last| last.elapsed() >= QUIET) {
            println!("{text}");
            self.last = Some(Instant::now());
        }
    }

    /// Takes away the line that is written over.
    fn clear(&self) {
        if self.terminal {
            print!("\r\x1b[K");
        }
    }
}
