//! `get`: installs modules.

use groma_install::modules::Freshness;

use super::configuration::test_folder;
use super::context::Context;
use super::installation::{EmptyList, Lines, install};
use super::outcome::Outcome;
use super::variables::check_given;
use crate::arguments::{Flag, Get};

pub(super) fn run(context: &mut Context, arguments: &Get) -> Outcome {
    context.configure_view(&arguments.common.view);
    context.configure_json(&arguments.json)?;
    let tests = test_folder(arguments.test_directory.as_deref());
    let freshness = if arguments.update.is_some_and(Flag::is_on) { Freshness::Upgrade } else { Freshness::Keep };
    let mut print = |line: &str| context.report(&format!("{line}\n"));
    let installed = install(context, freshness, EmptyList::Written, tests, &mut Lines(&mut print))?;
    let (configuration, warnings) = installed.sound()?;
    check_given(context, &configuration.root)?;
    context.show(&warnings);
    Ok(0)
}
