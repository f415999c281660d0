//! Translates Terraform's command-line syntax into the syntax that clap parses.
//!
//! Terraform's flags have one dash and long names (`-out=plan`, `-var a=b`), only three options may precede the command, and the
//! words of `TF_CLI_ARGS` and `TF_CLI_ARGS_<command>` are inserted right after the command.

use std::any::TypeId;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::iter::Peekable;
use std::path::PathBuf;
use std::vec::IntoIter;

use clap::{ArgAction, Command};
use groma_diagnostics::did_you_mean;

use super::parse::UsageError;

/// Looks up an environment variable.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Command line prepared for the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// `-chdir`.
    pub directory: Option<PathBuf>,
    /// Arguments for the parser, starting with the program name.
    pub words: Vec<OsString>,
}

/// Terraform's commands that are not implemented yet.
const ABSENT: [&str; 4] = ["stacks", "test", "rpcapi", "cloud"];

/// Help flag as clap knows it.
const HELP: &str = "--help";

/// Flags that print the version after any command, in the parser's syntax.
const VERSION: [&str; 3] = ["--version", "--v", "-v"];

/// Prepares `arguments`, which do not include the program name, for the parser of `command`.
///
/// # Errors
///
/// An option before the command is invalid, the command is unknown, or `TF_CLI_ARGS` cannot be split into words.
pub fn invocation(
    arguments: Vec<OsString>,
    command: &Command,
    environment: Environment<'_>,
) -> Result<Invocation, UsageError> {
    let mut rest = arguments.into_iter().peekable();
    let before = before_the_command(&mut rest)?;
    // -version before the command runs `version` with all following arguments.
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
    // The variables are named after the command, so they are read only once the whole command path is known.
    let mut flags = of_variables(&names, environment)?;
    flags.extend(rest);
    let flags = with_two_dashes(flags, &current);
    // Words after `--` are operands, even if they look like -help or -version.
    let given = || flags.iter().take_while(|word| *word != "--");
    let help = given().find(|word| *word == HELP).cloned().or(before.help);
    // Without a command, `-version` was handled above as an option before the command.
    let asks_version = !names.is_empty() && given().any(|word| VERSION.iter().any(|flag| word == flag));
    match help {
        // Other flags are dropped: errors in them must not get in the way of the help.
        Some(help) => words.push(help),
        None if asks_version => words.splice(1.., [OsString::from("version")]).for_each(drop),
        None => words.extend(flags),
    }
    Ok(Invocation { directory: before.directory, words })
}

/// Options before the command.
#[derive(Default)]
struct Before {
    directory: Option<PathBuf>,
    /// `version`, the command that `-version` runs.
    version: Option<OsString>,
    /// Help flag to pass on to the command.
    help: Option<OsString>,
}

fn before_the_command(rest: &mut Peekable<IntoIter<OsString>>) -> Result<Before, UsageError> {
    let mut before = Before::default();
    while before.version.is_none()
        && let Some(option) = rest.next_if(|word| is_flag(word))
    {
        let text = option.to_string_lossy();
        // Go's flag package, which Terraform uses, accepts one and two dashes alike.
        let bare = text.trim_start_matches('-');
        match bare.split_once('=') {
            // Terraform accepts this option with one dash only.
            _ if text.starts_with("--chdir") => return Err(no_option(&text, rest.find(|word| !is_flag(word)))),
            // Two directories mean that a wrapper and its caller disagree; to choose one could change the wrong
            // infrastructure.
            Some(("chdir", _)) if before.directory.is_some() => {
                let problem = "-chdir is set twice, but a command runs in one directory. Remove one of them.";
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

/// Returns the value of an option, which follows its equals sign, byte for byte.
#[cfg(unix)]
fn after_equals(option: &OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let value = option.as_bytes().iter().skip_while(|byte| **byte != b'=').skip(1);
    OsString::from_vec(value.copied().collect())
}

/// Returns the value of an option, which follows its equals sign.
#[cfg(not(unix))]
fn after_equals(option: &OsStr) -> OsString {
    option.to_string_lossy().split_once('=').map(|(_, value)| value.into()).unwrap_or_default()
}

/// Reports an unknown option before the command.
fn no_option(option: &str, command: Option<OsString>) -> UsageError {
    let known = "Only -chdir=DIRECTORY, -help and -version may precede the command.";
    let problem = format!("Unknown option {option:?} before the command. {known}");
    match command {
        Some(command) => {
            let command = command.to_string_lossy();
            UsageError::bare(format!("{problem} If it is an option of {command:?}, put it after the command."))
        }
        None => UsageError::NoCommand(problem),
    }
}

/// Returns the words of `TF_CLI_ARGS_<command>` and `TF_CLI_ARGS` for the command path `names`.
fn of_variables(names: &[String], environment: Environment<'_>) -> Result<Vec<OsString>, UsageError> {
    let mut flags = Vec::new();
    if names.is_empty() {
        return Ok(flags);
    }
    // Flags of the specific variable precede those of the general one, which therefore win, as in Terraform.
    for variable in [format!("TF_CLI_ARGS_{}", names.join("_").replace('-', "_")), "TF_CLI_ARGS".to_owned()] {
        let text = environment(&variable).unwrap_or_default();
        let words = split_words(&text)
            .map_err(|problem| UsageError::bare(format!("Error parsing extra CLI args from {variable}: {problem}.")))?;
        flags.extend(words.into_iter().map(OsString::from));
    }
    Ok(flags)
}

/// Builds the flags and subcommands of `command`, which [`Lazy`](super::Lazy) defers until the command is used.
fn whole(command: &Command) -> Command {
    // clap would otherwise add a `help` subcommand, which Terraform does not have.
    let mut whole = command.clone().disable_help_subcommand(true);
    whole.build();
    whole
}

fn find<'c>(command: &'c Command, name: &OsStr) -> Option<&'c Command> {
    command.get_subcommands().find(|sub| sub.get_name() == name)
}

fn unknown_command(name: &OsStr, command: &Command) -> UsageError {
    let name = name.to_string_lossy();
    // A known command must not get a suggestion of another one, as if it were misspelled.
    if ABSENT.contains(&&*name) {
        return UsageError::bare(format!(
            "The command {name:?} is not implemented in this version of {}.",
            command.get_name(),
        ));
    }
    let known: Vec<&str> = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name).collect();
    let hint = did_you_mean(&name, known.iter().copied());
    UsageError::bare(format!(
        "Unknown command {name:?}.{hint}\n\nFor a list of all commands, run:\n  {} -help",
        command.get_name()
    ))
}

fn is_flag(word: &OsStr) -> bool {
    // A lone dash is an operand: it means standard input, as in `fmt -`.
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes.first() == Some(&b'-')
}

/// Whether positional arguments of `command` may look like flags. Flags then end at the first positional argument, as they do for
/// every command of Terraform.
fn takes_any_text(command: &Command) -> bool {
    command.get_positionals().any(clap::Arg::is_trailing_var_arg_set)
}

/// Adds the second dash to flags, and joins flags with their values so that clap does not interpret a value as a flag.
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
                // An import ID may begin with a dash. -no-color is an exception because wrappers append it to every command.
                let (no_color, rest): (Vec<_>, Vec<_>) = words.partition(|word| word == "-no-color");
                out.extend(no_color.first().map(|_| OsString::from("--no-color")));
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
            // Scripts pass empty variables, as in -out="$PLAN": an empty file name counts as no flag.
            continue;
        }
        let takes_next = takes_value(command, &name);
        if takes_next {
            // The next word is the value whatever it looks like.
            match words.next() {
                // The flag and its empty value are both dropped, like -out= above.
                Some(value) if value.is_empty() && names_file(command, &name) => {}
                Some(value) => {
                    let mut joined = flag;
                    // clap would otherwise reject values that start with a dash, such as -var -x=1.
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

/// Whether an empty value of the flag `name` can be ignored: it names one file or directory, or adds one to `-plugin-dir`.
/// `-target-file` is excluded, because without its files the command would affect everything.
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

/// Splits `text` into words at white space that is neither quoted nor escaped with a backslash.
///
/// # Errors
///
/// `text` has an unclosed quote, or ends with a backslash.
pub fn split_words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            // White space separates words but adds none: several blanks in a row leave `word` empty.
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            // Quotes begin a word even if nothing is between them, so that '' is an empty argument.
            '\'' => quoted(&mut characters, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut characters, '"', word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(characters.next().ok_or("the value ends with a backslash")?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(characters: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), &'static str> {
    loop {
        match characters.next().ok_or("unclosed quote")? {
            c if c == quote => return Ok(()),
            // Inside double quotes a shell keeps the backslash unless it escapes something special.
            '\\' if quote == '"' => match characters.next().ok_or("unclosed quote")? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::task::command;

    fn rewritten(arguments: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
        let environment =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let arguments = arguments.iter().map(OsString::from).collect();
        let invocation = invocation(arguments, &command("groma"), &environment).unwrap();
        invocation.words.into_iter().skip(1).map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn adds_second_dash_and_keeps_values() {
        assert_eq!(
            rewritten(&["plan", "-var", "-x=1", "-refresh=false", "-out=a", "--json"], &[]),
            ["plan", "--var=-x=1", "--refresh=false", "--out=a", "--json"]
        );
    }

    #[test]
    fn ignores_flags_with_empty_file_names() {
        assert_eq!(
            rewritten(&["apply", "-state=", "-backup", "", "-state-out=a", "-target="], &[]),
            ["apply", "--state-out=a", "--target="]
        );
    }

    #[test]
    fn import_id_may_start_with_a_dash_before_no_color() {
        // The dash of the ID must survive, while -no-color still acts as a flag.
        assert_eq!(
            rewritten(&["import", "-lock=false", "a.b", "-x", "-no-color"], &[]),
            ["import", "--lock=false", "--no-color", "--", "a.b", "-x"]
        );
    }

    #[test]
    fn inserts_arguments_of_environment_variables_first() {
        // The variable of the command is named with its subcommand, and comes before the general one.
        let variables = [("TF_CLI_ARGS", "-no-color"), ("TF_CLI_ARGS_state_list", "-state 'a b'")];
        assert_eq!(rewritten(&["state", "list", "x"], &variables), ["state", "list", "--state=a b", "--no-color", "x"]);
    }

    #[test]
    fn accepts_help_flag_anywhere() {
        for words in [&["plan", "-nosuch", "-help"][..], &["-help", "plan"], &["plan", "-h", "-refresh=maybe"]] {
            assert_eq!(rewritten(words, &[]), ["plan", "--help"]);
        }
        assert_eq!(rewritten(&["-help"], &[]), ["--help"]);
        // The first -help is the value of -var, the second an operand.
        assert_eq!(rewritten(&["plan", "-var", "-help", "--", "-help"], &[]), ["plan", "--var=-help", "--", "-help"]);
        assert_eq!(rewritten(&["-version", "-json"], &[]), ["version", "--json"]);
    }

    #[test]
    fn accepts_version_flag_anywhere() {
        for words in [&["plan", "-version"][..], &["state", "list", "x", "--version"], &["fmt", "-v", "-json"]] {
            assert_eq!(rewritten(words, &[]), ["version"]);
        }
        // The value of -var is not a flag.
        assert_eq!(rewritten(&["plan", "-var", "-version"], &[]), ["plan", "--var=-version"]);
    }

    #[test]
    fn suggests_similar_command() {
        let problem = invocation(vec!["aply".into()], &command("groma"), &|_| None).unwrap_err();
        assert!(problem.to_string().contains("Did you mean \"apply\"?"), "{problem}");
    }

    #[cfg(unix)]
    #[test]
    fn chdir_accepts_non_utf8_paths() {
        use std::os::unix::ffi::OsStringExt;
        let arguments = vec![OsString::from_vec(b"-chdir=a\xff=".to_vec()), "plan".into()];
        let invocation = invocation(arguments, &command("groma"), &|_| None).unwrap();
        assert_eq!(invocation.directory, Some(PathBuf::from(OsString::from_vec(b"a\xff=".to_vec()))));
    }

    #[test]
    fn chdir_requires_a_directory() {
        assert!(invocation(vec!["-chdir".into(), "plan".into()], &command("groma"), &|_| None).is_err());
        let good = invocation(vec!["-chdir=a/b".into(), "plan".into()], &command("groma"), &|_| None).unwrap();
        assert_eq!(good.directory, Some(PathBuf::from("a/b")));
        assert!(invocation(vec!["--chdir=a/b".into(), "plan".into()], &command("groma"), &|_| None).is_err());
        let twice = vec!["-chdir=a".into(), "-chdir=b".into(), "plan".into()];
        assert!(invocation(twice, &command("groma"), &|_| None).is_err());
    }

    #[test]
    fn splits_quoted_and_escaped_words() {
        assert_eq!(split_words("-var 'a=b c' -x=\"d \\\" e\"  f\\ g").unwrap(), ["-var", "a=b c", "-x=d \" e", "f g"]);
        assert_eq!(split_words("  ").unwrap(), Vec::<String>::new());
        assert_eq!(split_words("''").unwrap(), [""]);
        assert!(split_words("'a").is_err());
    }
}
