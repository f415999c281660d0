//! Parses the command line, and words errors as Terraform words its own.

use std::any::TypeId;
use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, FromArgMatches};
use groma_diagnostics::Diagnostic;

use super::argv::{Environment, invocation};
use super::task::{Arguments, command};

/// Result of parsing a command line.
#[derive(Debug)]
pub enum Parsed {
    /// Run a command.
    Run {
        /// `-chdir`.
        directory: Option<PathBuf>,
        arguments: Box<Arguments>,
    },
    /// Print the requested help.
    Help(String),
    /// Print help because no command was given; exits with 127.
    Usage(String),
    /// Print the help of a command group that was named without one of its commands; exits with 1.
    Group(String),
}

/// Parses `arguments`, which do not include the program name. Help and errors call the program `program`.
///
/// # Errors
///
/// Invalid arguments, as [`UsageError`] describes them.
pub fn parse(program: &str, arguments: Vec<OsString>, environment: Environment<'_>) -> Result<Parsed, UsageError> {
    let mut parser = command(program);
    let is_bare = arguments.is_empty();
    let invocation = invocation(arguments, &parser, environment)?;
    // `-chdir` alone still counts as a command line without a command.
    let nothing_asked = is_bare || invocation.words.len() == 1;
    match parser.try_get_matches_from_mut(invocation.words.iter()) {
        Ok(matches) => {
            let arguments =
                Arguments::from_arg_matches(&matches).map_err(|problem| UsageError::bare(problem.to_string()))?;
            Ok(Parsed::Run { directory: invocation.directory, arguments: Box::new(arguments) })
        }
        Err(problem) => match problem.kind() {
            // `groma state` lacks a subcommand: its help is printed, and the command fails as in Terraform.
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !nothing_asked => {
                Ok(Parsed::Group(with_one_dash(&problem.render().to_string())))
            }
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let text = with_one_dash(&problem.render().to_string());
                Ok(if nothing_asked { Parsed::Usage(text) } else { Parsed::Help(text) })
            }
            _ => Err(explain(&problem, program, &invocation.words, &parser)),
        },
    }
}

/// Rewrites clap's help text to flags with one dash. Removed text is replaced by spaces to keep the columns aligned.
fn with_one_dash(help: &str) -> String {
    // The alignment of the help columns depends on the length of the text, so it is not shortened.
    let bare = help.replace("[=<BOOL>]", "         ").replace("-h, --help", "    --help");
    bare.replace("\n      --", "\n  -").replace(" --", " -")
}

fn explain(problem: &clap::Error, program: &str, words: &[OsString], parser: &Command) -> UsageError {
    let text = |kind| match problem.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg).unwrap_or_default();
    // clap names a flag with its value placeholder, such as --target <ADDRESS>.
    let name = flag.split([' ', '=', '[']).next().unwrap_or_default().trim_start_matches('-').to_owned();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let (summary, what) = match problem.kind() {
        ErrorKind::UnknownArgument if flag.starts_with('-') => {
            let flags = command_path(words, parser).last().copied().unwrap_or(parser).get_arguments();
            // Names of two letters are within edit distance of every short word.
            let flags = flags.filter(|flag| !flag.is_hide_set()).filter_map(|flag| flag.get_long());
            let meant = groma_diagnostics::suggest(&name, flags.filter(|flag| flag.len() > 2));
            let meant = meant.map(|meant| format!(". Did you mean -{meant}?")).unwrap_or_default();
            (FLAGS, format!("flag provided but not defined: -{name}{meant}"))
        }
        ErrorKind::UnknownArgument => ("Too many command line arguments", format!("Unexpected argument {flag:?}.")),
        ErrorKind::InvalidValue if value.is_empty() => (FLAGS, format!("flag needs an argument: -{name}")),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(problem).map(|reason| format!(": {reason}")).unwrap_or_default();
            (FLAGS, format!("invalid value {value:?} for flag -{name}{reason}"))
        }
        ErrorKind::NoEquals => (FLAGS, format!("flag needs an argument: -{name}")),
        ErrorKind::TooManyValues | ErrorKind::ArgumentConflict => {
            (FLAGS, format!("the flag -{name} was given more than once"))
        }
        ErrorKind::MissingRequiredArgument => {
            ("Missing command line argument", format!("The argument {flag} is missing."))
        }
        ErrorKind::InvalidSubcommand => {
            let name = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let known = text(ContextKind::SuggestedSubcommand).map(|known| format!(" Did you mean {known:?}?"));
            ("Unknown command", format!("Unknown command {name:?}.{}", known.unwrap_or_default()))
        }
        ErrorKind::InvalidUtf8 => (FLAGS, not_utf_8(words, parser)),
        _ => (FLAGS, problem.to_string()),
    };
    // The path ends at the command, so that its help is suggested instead of that of the program.
    let names = command_path(words, parser).into_iter().map(Command::get_name);
    let path = std::iter::once(program).chain(names).collect::<Vec<_>>().join(" ");
    let detail = format!("{what}\n\nFor the options of this command, run:\n  {path} -help");
    UsageError::Diagnostic(Box::new(Diagnostic::error(summary, detail)))
}

/// Names the first argument that must be valid UTF-8 but is not. Its value is not repeated: it may be a secret.
fn not_utf_8(words: &[OsString], parser: &Command) -> String {
    let flags: Vec<&Arg> = command_path(words, parser).last().copied().unwrap_or(parser).get_arguments().collect();
    let is_text = |argument: &Arg| {
        let kind = argument.get_value_parser().type_id();
        kind != TypeId::of::<PathBuf>() && kind != TypeId::of::<OsString>()
        // Flags whose value is a path accept any bytes, so clap has reported another argument.
    };
    let takes_text =
        |name: &str| flags.iter().find(|flag| flag.get_long() == Some(name)).is_none_or(|flag| is_text(flag));
    for word in words.iter().filter(|word| word.to_str().is_none()) {
        let text = word.to_string_lossy();
        let Some((name, value)) = text.strip_prefix("--").map(|flag| flag.split_once('=').unwrap_or((flag, ""))) else {
            return format!("the argument {text:?} is not valid UTF-8");
        };
        if !takes_text(name) {
            continue;
        }
        return match (name, value.split_once('=')) {
            ("var", Some((variable, _))) => {
                format!("the value of -var for the variable {variable:?} is not valid UTF-8")
            }
            _ => format!("the value of the flag -{name} is not valid UTF-8"),
        };
    }
    "an argument is not valid UTF-8".to_owned()
}

const FLAGS: &str = "Failed to parse command-line flags";

/// Returns the command that was typed, preceded by the groups that contain it.
fn command_path<'p>(words: &[OsString], parser: &'p Command) -> Vec<&'p Command> {
    let mut path = Vec::new();
    let mut current = parser;
    for word in words.iter().skip(1) {
        let Some(next) = current.get_subcommands().find(|sub| sub.get_name() == word) else { break };
        path.push(next);
        current = next;
    }
    path
}

/// A mistake on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageError {
    /// A message printed without the frame of a diagnostic, as Terraform prints problems that precede any command.
    Bare(String),
    /// A bare message for a command line without a command, which exits with 127 as Terraform does.
    NoCommand(String),
    /// A problem with the arguments of a command, shown as a diagnostic.
    Diagnostic(Box<Diagnostic>),
}

impl UsageError {
    /// Creates a [`UsageError::Bare`].
    pub fn bare(text: impl Into<String>) -> Self {
        Self::Bare(text.into())
    }
}

impl Display for UsageError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare(text) | Self::NoCommand(text) => f.write_str(text),
            Self::Diagnostic(diagnostic) => write!(f, "{}: {}", diagnostic.summary, diagnostic.detail),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Assignment, Flag, Task};

    fn parsed(words: &[&str]) -> Result<Parsed, UsageError> {
        parse("groma", words.iter().map(OsString::from).collect(), &|_| None)
    }

    fn plan(words: &[&str]) -> crate::arguments::Plan {
        match parsed(words) {
            Ok(Parsed::Run { arguments, .. }) => match arguments.task {
                Task::Plan(plan) => plan.0,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parses_single_dash_flags() {
        let plan = plan(&[
            "plan",
            "-refresh=false",
            "-target",
            "a.b",
            "-target=c.d",
            "-var",
            "x=1",
            "-var-file=f",
            "-var",
            "y=2",
            "-detailed-exitcode",
            "-lock-timeout=5s",
        ]);
        assert_eq!(plan.planning.refresh, Some(Flag::Off));
        assert_eq!(plan.planning.target, ["a.b", "c.d"]);
        assert_eq!(
            plan.planning.variables.0,
            // The relative order of -var and -var-file is kept, because the last value wins.
            [Assignment::Value("x=1".to_owned()), Assignment::File("f".into()), Assignment::Value("y=2".to_owned())]
        );
        assert_eq!(plan.detailed_exitcode, Some(Flag::On));
        assert_eq!(plan.planning.locking.lock_timeout.0.as_secs(), 5);
    }

    #[test]
    fn last_occurrence_of_a_repeated_flag_wins() {
        let plan = plan(&["plan", "-no-color", "-lock=false", "-target=a.b", "-no-color", "-lock=true", "-target=c.d"]);
        assert_eq!(plan.planning.locking.lock, Some(Flag::On));
        // Flags that collect values keep all of them.
        assert_eq!(plan.planning.target, ["a.b", "c.d"]);
        let validate = parsed(&["validate", "-json", "-json=false"]);
        let Ok(Parsed::Run { arguments, .. }) = validate else { panic!("{validate:?}") };
        assert!(matches!(arguments.task, Task::Validate(validate) if validate.json.json == Some(Flag::Off)));
    }

    #[test]
    fn errors_name_the_flag_and_suggest_spelling() {
        let message = |words: &[&str]| parsed(words).unwrap_err().to_string();
        assert!(message(&["plan", "-nosuch"]).contains("flag provided but not defined: -nosuch"));
        assert!(message(&["plan", "-nosuch"]).contains("groma plan -help"));
        // "-nope" resembles no flag closely enough.
        assert!(!message(&["plan", "-nope"]).contains("Did you mean"));
        assert!(!message(&["state", "list", "-x"]).contains("Did you mean"));
        assert!(message(&["plan", "-vra", "x=1"]).contains("Did you mean -var?"));
        assert!(message(&["plan", "-detailed-exitcod"]).contains("Did you mean -detailed-exitcode?"));
        assert!(message(&["plan", "-var"]).contains("flag needs an argument: -var"));
        let refresh = message(&["plan", "-refresh=maybe"]);
        assert!(refresh.contains("invalid value \"maybe\" for flag -refresh: neither true nor false"), "{refresh}");
        let timeout = message(&["plan", "-lock-timeout=5"]);
        assert!(timeout.contains("for flag -lock-timeout: not a duration such as 30s or 1m30s"), "{timeout}");
        assert!(message(&["state", "show", "-nosuch"]).contains("groma state show -help"));
        let unknown = message(&["state", "lst"]);
        assert!(unknown.contains("Unknown command \"lst\". Did you mean \"list\"?"), "{unknown}");
        assert!(unknown.contains("groma state -help"), "{unknown}");
    }

    #[cfg(unix)]
    #[test]
    fn errors_name_arguments_that_are_not_utf_8() {
        use std::os::unix::ffi::OsStringExt;
        let message = |words: &[&[u8]]| {
            let words = words.iter().map(|word| OsString::from_vec(word.to_vec())).collect();
            parse("groma", words, &|_| None).unwrap_err().to_string()
        };
        let message_text = message(&[b"plan", b"-out=\xff", b"-var", b"ok=1", b"-var", b"secret=\xff"]);
        assert!(
            message_text.contains("the value of -var for the variable \"secret\" is not valid UTF-8"),
            "{message_text}"
        );
        assert!(message(&[b"plan", b"-target=a.\xff"]).contains("the value of the flag -target is not valid UTF-8"));
        assert!(message(&[b"taint", b"a.b\xff"]).contains("the argument \"a.b\u{fffd}\" is not valid UTF-8"));
    }

    #[test]
    fn help_shows_flags_with_one_dash() {
        let Ok(Parsed::Help(text)) = parsed(&["plan", "-help"]) else { panic!() };
        assert!(text.contains(" -detailed-exitcode"), "{text}");
        // Terraform's users expect one dash; clap's help has two.
        assert!(!text.contains("--"), "{text}");
        assert!(matches!(parsed(&[]), Ok(Parsed::Usage(_))));
        assert!(matches!(parsed(&["-chdir=x"]), Ok(Parsed::Usage(_))));
        assert!(matches!(parsed(&["-chdir=x", "state"]), Ok(Parsed::Group(_))));
        assert!(matches!(parsed(&["-help"]), Ok(Parsed::Help(_))));
    }
}
