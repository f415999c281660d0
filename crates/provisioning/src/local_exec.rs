//! `local-exec`: a command on the machine that runs the apply.

use std::process::{Command, ExitStatus};
use std::sync::{Arc, LazyLock};

use groma_diagnostics::io_reason;
use groma_provider::{Attribute, Block, NestedBlock};
use groma_value::Type;

use super::Failure;
use super::arguments::Arguments;
use super::runner::Runner;

/// The arguments of the block.
pub(super) fn schema() -> &'static Arc<Block> {
    static SCHEMA: LazyLock<Arc<Block>> = LazyLock::new(|| {
        let attributes = [
            ("command", Attribute::required(Type::String)),
            ("interpreter", Attribute::optional(Type::list(Type::String))),
            ("working_dir", Attribute::optional(Type::String)),
            ("environment", Attribute::optional(Type::map(Type::String))),
            ("quiet", Attribute::optional(Type::Bool)),
        ];
        Arc::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
    });
    &SCHEMA
}

/// A command with everything that it needs.
pub(super) struct LocalExec {
    command: String,
    interpreter: Vec<String>,
    working_directory: Option<String>,
    environment: Vec<(String, String)>,
    shows_command: bool,
    /// The reason why output is suppressed, if it is.
    secret: Option<&'static str>,
}

/// So much of what a failing command printed is repeated in the error.
const KEPT_OUTPUT: usize = 8 * 1024;

impl LocalExec {
    /// The command that evaluated arguments ask for.
    pub(super) fn new(arguments: &Arguments) -> Self {
        Self {
            command: arguments.text("command").unwrap_or_default(),
            interpreter: arguments.texts("interpreter"),
            working_directory: arguments.filled("working_dir"),
            environment: arguments.pairs("environment"),
            shows_command: arguments.truth("quiet") != Some(true),
            secret: arguments.secret,
        }
    }

    fn words(&self) -> Vec<String> {
        let mut words = match (self.interpreter.is_empty(), cfg!(windows)) {
            (false, _) => self.interpreter.clone(),
            (true, true) => vec!["cmd".to_owned(), "/C".to_owned()],
            (true, false) => vec!["/bin/sh".to_owned(), "-c".to_owned()],
        };
        words.push(self.command.clone());
        words
    }

    /// Runs the command; `tell` is called with every line that it prints.
    pub(super) fn run(&self, runner: &Runner, tell: &dyn Fn(&str)) -> Result<(), Failure> {
        if self.command.is_empty() {
            let detail = "The argument \"command\" is empty. Set it to the command to run.";
            return Err(Failure::new("Invalid local-exec provisioner command", detail));
        }
        // Each line of a command with secret arguments is replaced, since it may repeat them.
        let show = |line: &str| tell(self.secret.unwrap_or(line));
        let words = self.words();
        if self.shows_command {
            let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            show(&format!("Executing: [{}]", quoted.join(" ")));
        } else {
            // The command itself is hidden, its output is not.
            tell("local-exec: Executing: Suppressed by quiet=true");
        }
        let mut output = String::new();
        let status = self.spawn(&words, runner, &mut |line| {
            show(line);
            output.push_str(line);
            output.push('\n');
            // A command that prints without end must not fill the memory.
            if output.len() > 2 * KEPT_OUTPUT {
                output = tail(&output).to_owned();
            }
        });
        let problem = match status {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => ending(status),
            Err(problem) => io_reason(&problem),
        };
        Err(match self.secret {
            // The output may contain the secret, so the error must not repeat it.
            Some(why) => failed(format!("The command failed: {problem}. {why}")),
            None => failed(format!("Error running command '{}': {problem}. Output: {}", self.command, tail(&output))),
        })
    }

    fn spawn(&self, words: &[String], runner: &Runner, tell: &mut dyn FnMut(&str)) -> std::io::Result<ExitStatus> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.working_directory {
            command.current_dir(directory);
        }
        runner.lines(command, tell)
    }
}

fn failed(detail: String) -> Failure {
    Failure::new("local-exec provisioner error", detail)
}

fn ending(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "it was killed by a signal".to_owned(),
    }
}

/// The end of what was printed.
fn tail(output: &str) -> &str {
    let from = output.len().saturating_sub(KEPT_OUTPUT);
    // A character that was cut in half would make the text invalid.
    let from = (from..output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(from);
    output.get(from..).unwrap_or_default()
}
