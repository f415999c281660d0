//! `local-exec`: a command on the machine that runs the apply.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, LazyLock};

use groma_provider::{Attribute, Block, NestedBlock};
use groma_value::{Kind, Type, Value};

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
    /// Why what it prints is not shown, if it is not.
    secret: Option<&'static str>,
}

/// Why a command failed.
pub(super) struct Failure {
    pub(super) summary: &'static str,
    pub(super) detail: String,
}

/// So much of what a failing command printed is repeated in the error.
const KEPT_OUTPUT: usize = 8 * 1024;

impl LocalExec {
    /// The command that evaluated arguments ask for.
    pub(super) fn new(arguments: &Value) -> Self {
        let marks = arguments.deep_marks();
        let secret = match (marks.is_sensitive(), marks.is_ephemeral()) {
            (true, _) => Some("(output suppressed due to sensitive value in config)"),
            (false, true) => Some("(output suppressed due to ephemeral value in config)"),
            (false, false) => None,
        };
        let (plain, _) = arguments.unmark_deep();
        let attribute = |name: &str| plain.attribute(name).unwrap_or(Value::NULL);
        let text = |name: &str| attribute(name).as_str().map(str::to_owned);
        let interpreter = match attribute("interpreter").kind() {
            Kind::List(words) => words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
            _ => Vec::new(),
        };
        let environment = match attribute("environment").kind() {
            Kind::Map(map) => {
                map.iter().filter_map(|(name, value)| Some((name.to_string(), value.as_str()?.to_owned()))).collect()
            }
            _ => Vec::new(),
        };
        Self {
            command: text("command").unwrap_or_default(),
            interpreter,
            working_directory: text("working_dir").filter(|directory| !directory.is_empty()),
            environment,
            shows_command: attribute("quiet").as_bool() != Some(true),
            secret,
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

    /// Runs the command on a thread of its own; `tell` is called with every line that it prints.
    pub(super) async fn run(self, tell: impl Fn(&str) + Send + 'static) -> Result<(), Failure> {
        if self.command.is_empty() {
            let detail = "The argument \"command\" is empty. Give the command that is to run.".to_owned();
            return Err(Failure { summary: "Invalid local-exec provisioner command", detail });
        }
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(self.run_here(&tell)));
        let ended = "The command's thread ended without a result.";
        receiver.await.unwrap_or_else(|_| Err(failed(ended.to_owned())))
    }

    fn run_here(&self, tell: &dyn Fn(&str)) -> Result<(), Failure> {
        let show = |line: &str| tell(self.secret.unwrap_or(line));
        let words = self.words();
        if self.shows_command {
            let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            show(&format!("Executing: [{}]", quoted.join(" ")));
        } else {
            tell("local-exec: Executing: Suppressed by quiet=true");
        }
        let mut output = String::new();
        let status = self.spawn(&words, &mut |line| {
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
            Err(problem) => problem.to_string(),
        };
        Err(match self.secret {
            Some(why) => failed(format!("The command failed: {problem}. {why}")),
            None => failed(format!("Error running command '{}': {problem}. Output: {}", self.command, tail(&output))),
        })
    }

    fn spawn(&self, words: &[String], tell: &mut dyn FnMut(&str)) -> std::io::Result<ExitStatus> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let (reader, writer) = std::io::pipe()?;
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        if let Some(directory) = &self.working_directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn()?;
        // The command holds ends of the pipe, which would never be closed.
        drop(command);
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            tell(text.trim_end_matches(['\n', '\r']));
            line.clear();
        }
        child.wait()
    }
}

fn failed(detail: String) -> Failure {
    Failure { summary: "local-exec provisioner error", detail }
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
    let from = (from..output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(from);
    output.get(from..).unwrap_or_default()
}
