//! Values of boolean and enumerated flags.

use std::any::TypeId;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::{Arg, Command};

/// A flag that may be given bare or with a truth value: `-refresh`, `-refresh=false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// The flag is given as true.
    On,
    /// The flag is given as false.
    Off,
}

impl Flag {
    /// Whether it is set.
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

impl FromStr for Flag {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Self::On),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Self::Off),
            _ => Err("neither true nor false"),
        }
    }
}

/// The deprecation warnings to show: of which modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deprecations {
    /// Warnings of all modules.
    #[default]
    All,
    /// Not those inside modules that come from elsewhere.
    Local,
    /// No deprecation warnings at all.
    Untold,
}

impl FromStr for Deprecations {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "module:all" => Ok(Self::All),
            "module:local" => Ok(Self::Local),
            "module:none" => Ok(Self::Untold),
            _ => Err("neither module:all nor module:local nor module:none"),
        }
    }
}

/// A length of time as `10s`, `1m30s`, `1.5h`, `250ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duration(pub std::time::Duration);

impl FromStr for Duration {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const PROBLEM: &str = "not a length of time such as 30s or 1m30s";
        if text == "0" {
            return Ok(Self::default());
        }
        let mut rest = text;
        let mut seconds = 0.0_f64;
        while !rest.is_empty() {
            let unit_at = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or(PROBLEM)?;
            let (number, after) = rest.split_at(unit_at);
            let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
            let (unit, next) = after.split_at(unit_end);
            let length = match unit {
                "ns" => 1e-9,
                "us" | "µs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return Err(PROBLEM),
            };
            seconds += number.parse::<f64>().map_err(|_| PROBLEM)? * length;
            rest = next;
        }
        if text.is_empty() {
            return Err(PROBLEM);
        }
        std::time::Duration::try_from_secs_f64(seconds).map(Self).map_err(|_| PROBLEM)
    }
}

/// A path that may be empty, as scripts write it (`validate "$FOLDER"`): the folder in which we are.
#[derive(Clone, Copy)]
pub(super) struct PathOrNone;

impl TypedValueParser for PathOrNone {
    type Value = PathBuf;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<PathBuf, clap::Error> {
        Ok(PathBuf::from(value))
    }
}

/// Lets each [`Flag`] of `command` and of its commands stand without a value, which means on: `-json` is `-json=true`.
pub(super) fn with_bare_flags(command: Command) -> Command {
    command.mut_args(bare_if_flag).mut_subcommands(with_bare_flags)
}

fn bare_if_flag(argument: Arg) -> Arg {
    if argument.get_value_parser().type_id() != TypeId::of::<Flag>() {
        return argument;
    }
    argument.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("BOOL")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_units() {
        let parse = |text: &str| text.parse::<Duration>().map(|duration| duration.0.as_millis());
        assert_eq!(parse("1m30s"), Ok(90_000));
        assert_eq!(parse("0"), Ok(0));
        assert_eq!(parse("1.5s"), Ok(1_500));
        assert!(parse("5").is_err());
        assert!(parse("").is_err());
        assert!(parse("-5s").is_err());
    }
}
