//! Types of flags and of their values.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

/// Boolean flag, given bare or with a value: `-refresh`, `-refresh=false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    On,
    Off,
}

impl Flag {
    /// Whether the flag is set, and not set to false.
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

impl FromStr for Flag {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            // The spellings that Go accepts for booleans.
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Self::On),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Self::Off),
            _ => Err("neither true nor false"),
        }
    }
}

/// Filter of warnings about deprecated variables and outputs of modules: `-deprecation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deprecations {
    #[default]
    All,
    /// Only warnings that can be fixed in this configuration, not those inside remote modules.
    Local,
    None,
}

impl FromStr for Deprecations {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "module:all" => Ok(Self::All),
            "module:local" => Ok(Self::Local),
            "module:none" => Ok(Self::None),
            _ => Err("neither module:all nor module:local nor module:none"),
        }
    }
}

/// Duration in Go's syntax: `10s`, `1m30s`, `1.5h`, `250ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duration(pub std::time::Duration);

impl FromStr for Duration {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        groma_duration::parse_unsigned(text).map(Self).ok_or("not a duration such as 30s or 1m30s")
    }
}

/// Parser of a path that may be empty, as in the script `validate "$DIR"`; clap's own parser rejects empty paths.
#[derive(Clone, Copy)]
pub(super) struct PathOrNone;

impl TypedValueParser for PathOrNone {
    type Value = PathBuf;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<PathBuf, clap::Error> {
        Ok(PathBuf::from(value))
    }
}

/// Makes the value of every [`Flag`] of `command` and its subcommands optional: `-json` means `-json=true`.
pub(super) fn with_bare_flags(command: Command) -> Command {
    command.mut_args(bare_if_flag).mut_subcommands(with_bare_flags)
}

fn bare_if_flag(argument: Arg) -> Arg {
    if argument.get_value_parser().type_id() != TypeId::of::<Flag>() {
        return argument;
    }
    // Without the equals sign, the next word would become the value, as in `-json plan.out`.
    argument.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("BOOL")
}

/// Values of input variables, in the order of the command line: a later value overrides an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(pub Vec<Assignment>);

/// One `-var` or `-var-file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// `name=value`.
    Value(String),
    /// A file with values.
    File(PathBuf),
}

const VALUE: &str = "var";
const FILE: &str = "var-file";

impl Args for Variables {
    fn augment_args(command: Command) -> Command {
        let value = Arg::new(VALUE)
            .long(VALUE)
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .help("Set an input variable of the root module; may be repeated");
        let file = Arg::new(FILE)
            .long(FILE)
            .value_name("FILE")
            .action(ArgAction::Append)
            // Paths need not be UTF-8.
            .value_parser(value_parser!(OsString))
            .help("Set input variables from a file; may be repeated");
        command.arg(value).arg(file)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Variables {
    // derive() would keep only the order within each flag; clap's indices give the order across both.
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let values = matches.get_many::<String>(VALUE).into_iter().flatten().cloned().map(Assignment::Value);
        let files = matches.get_many::<OsString>(FILE).into_iter().flatten();
        let files = files.map(|path| Assignment::File(path.into()));
        let value_indices = matches.indices_of(VALUE).into_iter().flatten();
        let file_indices = matches.indices_of(FILE).into_iter().flatten();
        let mut indexed: Vec<(usize, Assignment)> = value_indices.zip(values).chain(file_indices.zip(files)).collect();
        indexed.sort_by_key(|(index, _)| *index);
        Ok(Self(indexed.into_iter().map(|(_, assignment)| assignment).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations_with_units() {
        let parse = |text: &str| text.parse::<Duration>().map(|duration| duration.0.as_millis());
        assert_eq!(parse("1m30s"), Ok(90_000));
        assert_eq!(parse("0"), Ok(0));
        assert_eq!(parse("1.5s"), Ok(1_500));
        assert!(parse("5").is_err());
        assert!(parse("").is_err());
        assert!(parse("-5s").is_err());
    }
}
