//! Collects the values of the root module's variables, from all sources.

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

/// Treatment of a required variable without a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Prompt for the value, if prompts are allowed.
    Ask,
    /// Leave the variable without a value.
    Leave,
}

/// Returns the values of the variables of `root`, with warnings about them.
///
/// # Errors
///
/// A value is invalid, or a required variable is not set.
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
    // Variables with a default need no value.
    let absent = without_value(root, |name| values.contains_key(name));
    if missing == Missing::Ask && !absent.is_empty() {
        // Prompts would be pointless before the errors are fixed, but missing variables are reported with them.
        let answers = if diagnostics.has_errors() { Vec::new() } else { ask(context, root, &absent)? };
        if !answers.is_empty() {
            // A command that plans again does not ask again.
            context.answers.extend(answers.iter().cloned());
            given.options.extend(answers);
            // The answers are collected like options, so they are parsed and checked alike.
            (values, diagnostics) = collect(&root.variables, &given, &context.sources, &disk);
        }
        for name in absent.iter().filter(|name| !values.contains_key(*name)) {
            if let Some(variable) = root.variables.get(name) {
                // Wrappers match the text up to "not set" to add hints.
                let detail = format!(
                    "The root module input variable \"{name}\" is not set, and has no default value. Set it with -var or \
                     -var-file, or with the environment variable TF_VAR_{name}."
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

/// Checks the values of the variables of `root`, for commands that do not use them; returns the warnings.
///
/// # Errors
///
/// A value is invalid, or its variable is not declared.
pub(super) fn check_given(context: &Context, root: &Module) -> Result<Diagnostics, Diagnostics> {
    let given = VariableSources { environment: context.settings.variables.clone(), options: context.given.clone() };
    let (_, diagnostics) = collect(&root.variables, &given, &context.sources, &DiskFiles::new("."));
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(diagnostics) }
}

/// Checks the variable flags of commands that read a state, as OpenTofu does: only flags are checked, and variables need not be
/// declared.
///
/// # Errors
///
/// A file cannot be read, or a value is invalid.
pub(super) fn check_options_given(context: &Context) -> Result<(), Diagnostics> {
    let problems = check_options(&context.given, &context.sources, &DiskFiles::new("."));
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

/// Returns the required variables without a value.
fn without_value(root: &Module, is_given: impl Fn(&Name) -> bool) -> Vec<Name> {
    // An explicit null default counts as a default.
    let absent = root.variables.iter().filter(|(name, variable)| variable.default.is_none() && !is_given(name));
    absent.map(|(name, _)| name.clone()).collect()
}

/// Prompts for variables if the state encryption depends on missing ones, and stores the answers in `context`. Returns whether there
/// are answers.
///
/// # Errors
///
/// The prompt was interrupted.
pub(super) fn ask_for_encryption(context: &mut Context, root: &Module) -> Result<bool, Diagnostics> {
    // Methods that can be set up need no answers.
    if root.encryption.as_ref().is_none_or(|encryption| encryption.methods.is_ok()) {
        return Ok(false);
    }
    let given = VariableSources { environment: context.settings.variables.clone(), options: context.given.clone() };
    let (values, problems) = collect(&root.variables, &given, &context.sources, &DiskFiles::new("."));
    let absent = without_value(root, |name| values.contains_key(name));
    // Errors in given values are reported before prompting for others.
    if absent.is_empty() || problems.has_errors() {
        return Ok(false);
    }
    // Kept in the context, so that planning does not ask again.
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
    // Prompts would corrupt a JSON stream.
    if context.settings.questions == Questions::Forbidden || context.messages().is_some() {
        return Ok(Vec::new());
    }
    let prompter = context.prompter()?;
    let mut sorted: Vec<&Name> = absent.iter().collect();
    // Terraform prompts in alphabetical order.
    sorted.sort();
    let mut answers = Vec::new();
    for name in sorted {
        let variable = root.variables.get(name);
        let description = variable.and_then(|variable| variable.description.clone()).unwrap_or_default();
        let suffix = if variable.is_some_and(|variable| variable.ephemeral) { " (ephemeral)" } else { "" };
        match prompter.ask(&format!("var.{name}{suffix}"), &description) {
            Answer::Line(text) => answers.push(VariableOption::Assignment(format!("{name}={text}"))),
            Answer::NotUtf8 => {
                let detail = format!("The value for var.{name} is not valid UTF-8. Nothing was changed.");
                return Err(fail("Invalid value for input variable", detail));
            }
            // Missing variables are reported together.
            Answer::End => break,
            Answer::Interrupted => {
                return Err(fail(
                    "Interrupted",
                    "The prompt for an input variable was interrupted. Nothing was changed.",
                ));
            }
        }
    }
    Ok(answers)
}
