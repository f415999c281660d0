//! Checks variable values that are set again when a saved plan is applied.

use std::borrow::Cow;

use groma_config::variables::Origin;
use groma_config::{Module, Variable};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::{Input, plan::PlannedVariable};
use groma_lang::console;
use groma_value::{Redacted, Value};

use crate::commands::planfile::Given;

/// Maximum length, in characters, of a value that a message repeats.
const LONGEST_SHOWN: usize = 80;

/// Reports variables that are set to a different value than the plan was created with: as errors for command-line flags, as
/// warnings for environment variables. Automatically loaded files may differ, because flags of the plan command override them.
///
/// Ephemeral variables are skipped, because plans do not store their values.
pub(super) fn overridden(root: &Module, planned: &[PlannedVariable], given: &Given) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for PlannedVariable { name, value } in planned {
        let (Some(variable), Some(input)) = (root.variables.get(name), given.get(name)) else { continue };
        if variable.ephemeral || is_same(variable, value, &input.value) {
            continue;
        }
        problems.append(problem(variable, value, input));
    }
    problems
}

/// Whether both values are equal after conversion to the type of the variable.
fn is_same(variable: &Variable, planned: &Value, given: &Value) -> bool {
    let accepted = |value: &Value| variable.accept(&value.unmark_deep().0).ok();
    planned == given || accepted(given).is_some_and(|given| accepted(planned) == Some(given))
}

fn problem(variable: &Variable, planned: &Value, input: &Input) -> Option<Diagnostic> {
    let name = &variable.name;
    let (planned, given) = (shown(variable, planned), shown(variable, &input.value));
    let what =
        |source: &str| format!("The plan was created with var.{name} = {planned}, but {source} sets it to {given}.");
    let advice = "A saved plan always uses the values that it was created with.";
    let refused = |source: &str, option: &str| {
        let detail = format!(
            "{} {advice} Remove {option}, or create a new plan. To set a value at apply time instead, declare the variable with \
             ephemeral = true.",
            what(source)
        );
        let problem = Diagnostic::error("Can't change variable when applying a saved plan", detail);
        if variable.sensitive { problem } else { problem.at(input.span) }
    };
    match input.origin.as_ref()? {
        Origin::CommandLine => Some(refused("-var", "-var")),
        Origin::NamedFile(path) => Some(refused(&format!("-var-file={path}"), "-var-file")),
        Origin::Environment => {
            let detail = format!(
                "{} {advice} The value of the environment variable is ignored.",
                what(&format!("the environment variable TF_VAR_{name}"))
            );
            Some(Diagnostic::warning("Ignoring variable when applying a saved plan", detail))
        }
        Origin::AutoFile(_) => None,
    }
}

/// Formats a value for a message; sensitive and long values are replaced by a placeholder.
fn shown(variable: &Variable, value: &Value) -> Cow<'static, str> {
    // The variable may be sensitive although its value in the plan has lost the mark.
    if variable.sensitive || value.has_marks() {
        return Redacted::Sensitive.to_string().into();
    }
    let text = console::format(value);
    match text.contains('\n') || text.chars().count() > LONGEST_SHOWN {
        true => "another value".into(),
        false => text.into(),
    }
}
