//! The flags `-var` and `-var-file`, whose relative order clap's derive would lose.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

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
