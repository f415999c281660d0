//! From the words on the command line to words that the parser understands.
//!
//! Flags have one dash and long names (`-out=plan`, `-var a=b`), the options before the command are few, and words from
//! `TF_CLI_ARGS` and `TF_CLI_ARGS_<command>` stand right after the command.

use std::any::TypeId;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::iter::Peekable;
use std::path::PathBuf;
use std::vec::IntoIter;

use clap::{ArgAction, Command};
use groma_diagnostics::did_you_mean;

use super::usage::UsageError;
use super::words::split_words;

/// Environment variables, handed in.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// The command line to parse, with the directory of the program's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// `-chdir`.
    pub directory: Option<PathBuf>,
    /// Words for the parser, the name of the program first.
    pub words: Vec<OsString>,
}

/// Commands that people know from Terraform and that do not exist here yet.
const ABSENT: [&str; 4] = ["stacks", "test", "rpcapi", "cloud"];

/// The flag that the parser knows.
const HELP: &str = "--help";

/// Flags that ask for the version whatever the command is, as the parser would see them.
const VERSION: [&str; 3] = ["--version", "--v", "-v"];

/// Prepares `arguments` (without the name of the program) for the parser of `command`.
///
/// # Errors
///
/// An option before the command is wrong, there is no such command, or a variable cannot be split into words.
pub fn invocation(
    arguments: Vec<OsString>,
    command: &Command,
    environment: Environment<'_>,
) -> Result<Invocation, UsageError> {
    let mut rest = arguments.into_iter().peekable();
    let before = before_the_command(&mut rest)?;
    let mut rest = before.version.into_iter().chain(rest).peekable();
    let mut words = vec![OsString::from(command.get_name())];
    let mut current = Cow::Borrowed(command);
    let mut names = Vec::new();
    while let Some(name) = rest.next_if(|word| find(&current, word).is_some() || (names.is_empty() && !is_flag(word))) {
        let Some(found) = find(&current, &name).map(whole) else { return Err(unknown_command(&name, command)) };
        words.push(found.get_name().into());
        names.push(found.get_name().to_owned());
        current = Cow::Owned(found);
    }
    let mut flags = of_variables(&names, environment)?;
    flags.extend(rest);
    let flags = with_two_dashes(flags, &current);
    let given = || flags.iter().take_while(|word| *word != "--");
    let help = given().find(|word| *word == HELP).cloned().or(before.help);
    let asks_version = !names.is_empty() && given().any(|word| VERSION.iter().any(|flag| word == flag));
    match help {
        // A request for help is answered even if the rest is wrong.
        Some(help) => words.push(help),
        None if asks_version => words.splice(1.., [OsString::from("version")]).for_each(drop),
        None => words.extend(flags),
    }
    Ok(Invocation { directory: before.directory, words })
}

/// The options before the command name.
#[derive(Default)]
struct Before {
    directory: Option<PathBuf>,
    /// The name of the command that `-version` is short for.
    version: Option<OsString>,
    /// The flag of the command that `-help` is short for.
    help: Option<OsString>,
}

fn before_the_command(rest: &mut Peekable<IntoIter<OsString>>) -> Result<Before, UsageError> {
    let mut before = Before::default();
    while before.version.is_none()
        && let Some(option) = rest.next_if(|word| is_flag(word))
    {
        let text = option.to_string_lossy();
        let bare = text.trim_start_matches('-');
        match bare.split_once('=') {
            // Terraform has it with one dash only.
            _ if text.starts_with("--chdir") => return Err(no_option(&text, rest.find(|word| !is_flag(word)))),
            Some(("chdir", _)) if before.directory.is_some() => {
                let problem = "-chdir is given twice, but a command runs in one directory. Leave one of them out.";
                return Err(UsageError::bare(problem));
            }
            Some(("chdir", path)) if !path.is_empty() => before.directory = Some(PathBuf::from(after_equals(&option))),
            Some(("chdir", _)) | None if bare.starts_with("chdir") => {
                return Err(UsageError::bare(
                    "Invalid -chdir option: put an equals sign and the directory right after it, as in \
                     -chdir=example",
                ));
            }
            None if matches!(bare, "version" | "v") => before.version = Some("version".into()),
            None if matches!(bare, "help" | "h") => before.help = Some(HELP.into()),
            _ => return Err(no_option(&text, rest.find(|word| !is_flag(word)))),
        }
    }
    Ok(before)
}

/// The value of an option: what follows its equals sign, byte for byte.
#[cfg(unix)]
fn after_equals(option: &OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let value = option.as_bytes().iter().skip_while(|byte| **byte != b'=').skip(1);
    OsString::from_vec(value.copied().collect())
}

/// The value of an option: what follows its equals sign.
#[cfg(not(unix))]
fn after_equals(option: &OsStr) -> OsString {
    option.to_string_lossy().split_once('=').map(|(_, value)| value.into()).unwrap_or_default()
}

/// Returns the error for an unknown option before the command name.
fn no_option(option: &str, command: Option<OsString>) -> UsageError {
    let known = "Before the command there are only -chdir=DIRECTORY, -help and -version.";
    let problem = format!("There is no option {option:?} before the command. {known}");
    match command {
        Some(command) => {
            let command = command.to_string_lossy();
            UsageError::bare(format!("{problem} If it is one of {command:?}, put it after that word."))
        }
        None => UsageError::NoCommand(problem),
    }
}

/// The words of `TF_CLI_ARGS_<command>` and `TF_CLI_ARGS`, for the command that is called by `names`.
fn of_variables(names: &[String], environment: Environment<'_>) -> Result<Vec<OsString>, UsageError> {
    let mut flags = Vec::new();
    if names.is_empty() {
        return Ok(flags);
    }
    for variable in [format!("TF_CLI_ARGS_{}", names.join("_").replace('-', "_")), "TF_CLI_ARGS".to_owned()] {
        let text = environment(&variable).unwrap_or_default();
        let words = split_words(&text)
            .map_err(|problem| UsageError::bare(format!("Error parsing extra CLI args from {variable}: {problem}.")))?;
        flags.extend(words.into_iter().map(OsString::from));
    }
    Ok(flags)
}

/// The command with its flags and further commands, which come into being when they are needed.
fn whole(command: &Command) -> Command {
    let mut whole = command.clone().disable_help_subcommand(true);
    whole.build();
    whole
}

fn find<'c>(command: &'c Command, name: &OsStr) -> Option<&'c Command> {
    command.get_subcommands().find(|sub| sub.get_name() == name)
}

fn unknown_command(name: &OsStr, command: &Command) -> UsageError {
    let name = name.to_string_lossy();
    if ABSENT.contains(&&*name) {
        return UsageError::bare(format!(
            "This version of {} does not have the command {name:?} yet.",
            command.get_name()
        ));
    }
    let known: Vec<&str> = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name).collect();
    let hint = did_you_mean(&name, known.iter().copied());
    UsageError::bare(format!(
        "There is no command {name:?}.{hint}\n\nThe commands are shown by:\n  {} -help",
        command.get_name()
    ))
}

fn is_flag(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes.first() == Some(&b'-')
}

/// Whether the arguments of `command` may look like flags: then there are no flags after the first of them, as nowhere in Terraform.
fn takes_any_text(command: &Command) -> bool {
    command.get_positionals().any(clap::Arg::is_trailing_var_arg_set)
}

/// Gives flags their second dash; values of flags stay as they are.
fn with_two_dashes(arguments: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let mut out = Vec::with_capacity(arguments.len());
    let mut words = arguments.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            out.push(word);
            out.extend(words);
            break;
        }
        if !is_flag(&word) {
            if takes_any_text(command) {
                // An id may begin with a dash, as a password does that is imported; only this is a flag wherever it stands.
                let (colourless, rest): (Vec<_>, Vec<_>) = words.partition(|word| word == "-no-color");
                out.extend(colourless.first().map(|_| OsString::from("--no-color")));
                out.extend([OsString::from("--"), word]);
                out.extend(rest);
                break;
            }
            out.push(word);
            continue;
        }
        let bytes = word.as_encoded_bytes();
        let is_short_help = word == "-h" || word == "-help" || word == "--help";
        let flag = if is_short_help {
            OsString::from(HELP)
        } else if bytes.starts_with(b"--") {
            word
        } else {
            let mut longer = OsString::from("-");
            longer.push(&word);
            longer
        };
        let name = flag.to_string_lossy().trim_start_matches('-').to_owned();
        if name.strip_suffix('=').is_some_and(|name| names_file(command, name)) {
            // No file is the same as no flag.
            continue;
        }
        let takes_next = takes_value(command, &name);
        if takes_next {
            // The next word is the value whatever it looks like.
            match words.next() {
                Some(value) if value.is_empty() && names_file(command, &name) => {}
                Some(value) => {
                    let mut joined = flag;
                    joined.push("=");
                    joined.push(value);
                    out.push(joined);
                }
                None => out.push(flag),
            }
        } else {
            out.push(flag);
        }
    }
    out
}

/// Whether a flag names one file or folder, or one more where none is as good as the others: without the files of `-target-file` everything
/// would be meant.
fn names_file(command: &Command, name: &str) -> bool {
    let argument = command.get_arguments().find(|argument| argument.get_long() == Some(name));
    argument.is_some_and(|argument| {
        (matches!(argument.get_action(), ArgAction::Set) || name == "plugin-dir")
            && argument.get_value_parser().type_id() == TypeId::of::<PathBuf>()
    })
}

fn takes_value(command: &Command, name: &str) -> bool {
    let argument = command.get_arguments().find(|argument| argument.get_long() == Some(name));
    argument.is_some_and(|argument| {
        matches!(argument.get_action(), ArgAction::Set | ArgAction::Append) && !argument.is_require_equals_set()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::command;

    fn rewritten(arguments: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
        let environment =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let arguments = arguments.iter().map(OsString::from).collect();
        let invocation = invocation(arguments, &command("groma"), &environment).unwrap();
        invocation.words.into_iter().skip(1).map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn one_dash_becomes_two_and_values_stay() {
        assert_eq!(
            rewritten(&["plan", "-var", "-x=1", "-refresh=false", "-out=a", "--json"], &[]),
            ["plan", "--var=-x=1", "--refresh=false", "--out=a", "--json"]
        );
    }

    #[test]
    fn an_empty_name_of_a_file_is_as_good_as_none() {
        assert_eq!(
            rewritten(&["apply", "-state=", "-backup", "", "-state-out=a", "-target="], &[]),
            ["apply", "--state-out=a", "--target="]
        );
    }

    #[test]
    fn an_id_may_begin_with_a_dash_and_no_color_may_stand_behind_it() {
        assert_eq!(
            rewritten(&["import", "-lock=false", "a.b", "-x", "-no-color"], &[]),
            ["import", "--lock=false", "--no-color", "--", "a.b", "-x"]
        );
    }

    #[test]
    fn words_from_variables_come_first() {
        let variables = [("TF_CLI_ARGS", "-no-color"), ("TF_CLI_ARGS_state_list", "-state 'a b'")];
        assert_eq!(rewritten(&["state", "list", "x"], &variables), ["state", "list", "--state=a b", "--no-color", "x"]);
    }

    #[test]
    fn help_may_be_asked_for_anywhere() {
        for words in [&["plan", "-nosuch", "-help"][..], &["-help", "plan"], &["plan", "-h", "-refresh=maybe"]] {
            assert_eq!(rewritten(words, &[]), ["plan", "--help"]);
        }
        assert_eq!(rewritten(&["-help"], &[]), ["--help"]);
        assert_eq!(rewritten(&["plan", "-var", "-help", "--", "-help"], &[]), ["plan", "--var=-help", "--", "-help"]);
        assert_eq!(rewritten(&["-version", "-json"], &[]), ["version", "--json"]);
    }

    #[test]
    fn the_version_may_be_asked_for_anywhere() {
        for words in [&["plan", "-version"][..], &["state", "list", "x", "--version"], &["fmt", "-v", "-json"]] {
            assert_eq!(rewritten(words, &[]), ["version"]);
        }
        assert_eq!(rewritten(&["plan", "-var", "-version"], &[]), ["plan", "--var=-version"]);
    }

    #[test]
    fn a_typing_mistake_gets_a_suggestion() {
        let problem = invocation(vec!["aply".into()], &command("groma"), &|_| None).unwrap_err();
        assert!(problem.to_string().contains("Did you mean \"apply\"?"), "{problem}");
    }

    #[cfg(unix)]
    #[test]
    fn chdir_takes_any_bytes() {
        use std::os::unix::ffi::OsStringExt;
        let arguments = vec![OsString::from_vec(b"-chdir=a\xff=".to_vec()), "plan".into()];
        let invocation = invocation(arguments, &command("groma"), &|_| None).unwrap();
        assert_eq!(invocation.directory, Some(PathBuf::from(OsString::from_vec(b"a\xff=".to_vec()))));
    }

    #[test]
    fn chdir_needs_its_directory() {
        assert!(invocation(vec!["-chdir".into(), "plan".into()], &command("groma"), &|_| None).is_err());
        let good = invocation(vec!["-chdir=a/b".into(), "plan".into()], &command("groma"), &|_| None).unwrap();
        assert_eq!(good.directory, Some(PathBuf::from("a/b")));
        assert!(invocation(vec!["--chdir=a/b".into(), "plan".into()], &command("groma"), &|_| None).is_err());
        let twice = vec!["-chdir=a".into(), "-chdir=b".into(), "plan".into()];
        assert!(invocation(twice, &command("groma"), &|_| None).is_err());
    }
}
