//! Values of the root module's variables, from everywhere they can come from.

use groma_address::Name;
use groma_config::variables::{InputValue, VariableOption, VariableSources, check_options, collect};
use groma_config::{DiskFiles, Module};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::Input;
use indexmap::IndexMap;

use super::context::Context;
use super::outcome::fail;
use crate::arguments::{Assignment, Variables};
use crate::settings::Questions;
use crate::terminal::Answer;

/// The treatment of a variable without a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// The user is asked, if that is allowed.
    Ask,
    /// The variable stays without value.
    Leave,
}

/// The values given for the variables of `root`, with warnings about them.
///
/// # Errors
///
/// A value cannot be read, or a required one was not given.
pub(super) fn values(
    context: &mut Context,
    root: &Module,
    arguments: &Variables,
    missing: Missing,
) -> Result<(IndexMap<Name, Input>, Diagnostics), Diagnostics> {
    let options = in_order(arguments).into_iter().chain(context.answers.iter().cloned()).collect();
    let mut given = VariableSources { environment: context.settings.variables.clone(), options };
    let disk = DiskFiles::new(".");
    let (mut values, mut diagnostics) = collect(&root.variables, &given, &context.sources, &disk);
    let absent = without_value(root, |name| values.contains_key(name));
    if missing == Missing::Ask && !absent.is_empty() {
        // Nobody is asked before the errors are corrected, but all errors are reported.
        let answers = if diagnostics.has_errors() { Vec::new() } else { ask(context, root, &absent)? };
        if !answers.is_empty() {
            given.options.extend(answers);
            (values, diagnostics) = collect(&root.variables, &given, &context.sources, &disk);
        }
        for name in absent.iter().filter(|name| !values.contains_key(*name)) {
            if let Some(variable) = root.variables.get(name) {
                // Wrappers look for the words up to "not set" to say more.
                let detail = format!(
                    "The root module input variable \"{name}\" is not set: it has no default, and no value was given. \
                     Give one with -var or -var-file, or in the environment variable TF_VAR_{name}."
                );
                diagnostics.push(Diagnostic::error("No value for required variable", detail).at(variable.span));
            }
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let input = |given: InputValue| Input { value: given.value, span: given.span, origin: Some(given.origin) };
    Ok((values.into_iter().map(|(name, value)| (name, input(value))).collect(), diagnostics))
}

/// Checks the values that are set for variables of `root`, for commands that need none of them: files that cannot be
/// read, and values of undeclared variables. Returns warnings about them.
///
/// # Errors
///
/// A value cannot be read, or its variable is not declared.
pub(super) fn check_given(context: &Context, root: &Module) -> Result<Diagnostics, Diagnostics> {
    let given = VariableSources { environment: context.settings.variables.clone(), options: context.given.clone() };
    let (_, diagnostics) = collect(&root.variables, &given, &context.sources, &DiskFiles::new("."));
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(diagnostics) }
}

/// Checks the values on the command line, for commands that only read a state and accept these flags as OpenTofu does.
/// whether a variable is declared does not matter.
///
/// # Errors
///
/// A file cannot be read, or a value cannot be parsed.
pub(super) fn check_options_given(context: &Context) -> Result<(), Diagnostics> {
    let problems = check_options(&context.given, &context.sources, &DiskFiles::new("."));
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

/// The required variables that nobody has given.
fn without_value(root: &Module, is_given: impl Fn(&Name) -> bool) -> Vec<Name> {
    let absent = root.variables.iter().filter(|(name, variable)| variable.default.is_none() && !is_given(name));
    absent.map(|(name, _)| name.clone()).collect()
}

/// Asks for the variables without which nobody knows how states are encrypted; the answers count from now on. Whether there
/// are any.
///
/// # Errors
///
/// The question was interrupted.
pub(super) fn ask_for_encryption(context: &mut Context, root: &Module) -> Result<bool, Diagnostics> {
    if root.encryption.as_ref().is_none_or(|encryption| encryption.methods.is_ok()) {
        return Ok(false);
    }
    let given = VariableSources { environment: context.settings.variables.clone(), options: context.given.clone() };
    let (values, problems) = collect(&root.variables, &given, &context.sources, &DiskFiles::new("."));
    let absent = without_value(root, |name| values.contains_key(name));
    // Errors in given values are reported before anybody is asked for further ones.
    if absent.is_empty() || problems.has_errors() {
        return Ok(false);
    }
    context.answers = ask(context, root, &absent)?;
    Ok(!context.answers.is_empty())
}

pub(super) fn in_order(arguments: &Variables) -> Vec<VariableOption> {
    let options = arguments.0.iter().cloned().map(|assignment| match assignment {
        Assignment::Value(text) => VariableOption::Assignment(text),
        Assignment::File(path) => VariableOption::File(path),
    });
    options.collect()
}

fn ask(context: &mut Context, root: &Module, absent: &[Name]) -> Result<Vec<VariableOption>, Diagnostics> {
    if context.settings.questions == Questions::Forbidden || context.messages().is_some() {
        return Ok(Vec::new());
    }
    let prompter = context.prompter()?;
    let mut sorted: Vec<&Name> = absent.iter().collect();
    sorted.sort();
    let mut answers = Vec::new();
    for name in sorted {
        let variable = root.variables.get(name);
        let description = variable.and_then(|variable| variable.description.clone()).unwrap_or_default();
        let manner = if variable.is_some_and(|variable| variable.ephemeral) { " (ephemeral)" } else { "" };
        match prompter.ask(&format!("var.{name}{manner}"), &description) {
            Answer::Line(text) => answers.push(VariableOption::Assignment(format!("{name}={text}"))),
            Answer::NotUtf8 => {
                let detail = format!("The value for var.{name} is not valid UTF-8. Nothing was changed.");
                return Err(fail("Invalid value for input variable", detail));
            }
            // What is missing is reported for all variables together.
            Answer::End => break,
            Answer::Interrupted => {
                return Err(fail(
                    "Interrupted",
                    "The question for an input variable was interrupted. Nothing was changed.",
                ));
            }
        }
    }
    Ok(answers)
}
