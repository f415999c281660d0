//! Collection of variable values from all sources, in order of precedence.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, Sources, Span};
use groma_value::Value;
use indexmap::IndexMap;

use super::read;
use super::read::{Given, InputValue, Origin};
use crate::model::Variable;
use crate::options::{VariableOption, VariableSources};
use crate::source::Files;

/// Collected values by variable name.
type Values = IndexMap<Name, Given>;

/// Maximum number of undeclared variables with a warning each; the others share one, as in Terraform.
const NAMED_UNDECLARED: usize = 2;

/// Collects the values of `variables`, the root module's variables, from the environment, variables files and options.
/// Values of undeclared variables are reported and dropped.
pub fn collect(
    variables: &IndexMap<Name, Variable>,
    given: &VariableSources,
    sources: &Sources,
    files: &dyn Files,
) -> (IndexMap<Name, InputValue>, Diagnostics) {
    let mut collector = Collector { variables, sources, files, values: Values::new(), diagnostics: Diagnostics::new() };
    // The order is Terraform's precedence: a later source replaces the value of an earlier one.
    collector.environment(&given.environment);
    for name in automatic_files(files) {
        collector.automatic_file(&name);
    }
    collector.options(&given.options);
    collector.finish()
}

/// Checks the options independently of the declared variables: unreadable files and malformed assignments.
pub fn check_options(options: &[VariableOption], sources: &Sources, files: &dyn Files) -> Diagnostics {
    let variables = IndexMap::new();
    let mut collector =
        Collector { variables: &variables, sources, files, values: Values::new(), diagnostics: Diagnostics::new() };
    collector.options(options);
    collector.diagnostics
}

/// Reads the arguments of an `init -backend-config` file; the last argument of a name wins.
pub fn settings_file(path: &Path, sources: &Sources, files: &dyn Files) -> (IndexMap<Name, InputValue>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let settings = read::file(path, files.read(path), "file", Origin::NamedFile, sources, &mut diagnostics);
    let mut values = IndexMap::new();
    for (name, Given { value, problems }) in settings {
        diagnostics.append(problems);
        values.insert(name, value);
    }
    (values, diagnostics)
}

/// Returns the names of the automatically loaded variables files in increasing precedence.
fn automatic_files(files: &dyn Files) -> Vec<OsString> {
    // A missing directory has no variables files; the loader reports it.
    let entries = files.list(Path::new("")).unwrap_or_default();
    let mut names: Vec<OsString> =
        entries.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.name).collect();
    let has_suffix = |name: &OsStr, suffix: &str| name.as_encoded_bytes().ends_with(suffix.as_bytes());
    names.retain(|name| has_suffix(name, ".auto.tfvars") || has_suffix(name, ".auto.tfvars.json") || is_default(name));
    let rank = |name: &OsStr| DEFAULT_FILES.iter().position(|file| *file == name).unwrap_or(DEFAULT_FILES.len());
    // The fixed names come first, then the others in lexical order, so that the last file wins.
    names.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    names
}

/// Variables files with a fixed name, in increasing precedence.
const DEFAULT_FILES: [&str; 2] = ["terraform.tfvars", "terraform.tfvars.json"];

fn is_default(name: &OsStr) -> bool {
    DEFAULT_FILES.iter().any(|file| *file == name)
}

struct Collector<'a> {
    variables: &'a IndexMap<Name, Variable>,
    sources: &'a Sources,
    files: &'a dyn Files,
    values: Values,
    diagnostics: Diagnostics,
}

impl Collector<'_> {
    /// Reads `TF_VAR_` variables. Undeclared ones are ignored: the environment may be shared between configurations.
    fn environment(&mut self, environment: &[(String, OsString)]) {
        for (name, value) in environment {
            // The type of the variable decides how its text is read, so it is looked up first.
            let Some(variable) = self.variables.get(name.as_str()) else { continue };
            match value.to_str() {
                Some(text) => self.text(Some(variable), name, text, Origin::Environment),
                None => self.unreadable(variable),
            }
        }
    }

    /// Records an environment variable that is not valid UTF-8. The value is not quoted, because it may be a secret.
    fn unreadable(&mut self, variable: &Variable) {
        let name = &variable.name;
        let detail = format!(
            "The value of the environment variable TF_VAR_{name} is not valid UTF-8. Correct it, or unset TF_VAR_{name}."
        );
        let problem = Diagnostic::error("Invalid value for input variable", detail).at(variable.span);
        let value = InputValue { value: Value::DYNAMIC, origin: Origin::Environment, span: Span::NONE };
        self.values.insert(name.clone(), Given { value, problems: problem.into() });
    }

    fn options(&mut self, options: &[VariableOption]) {
        for option in options {
            match option {
                VariableOption::Assignment(text) => self.assignment(text),
                VariableOption::File(path) => self.content(path, self.files.read(path), Origin::NamedFile),
            }
        }
    }

    fn automatic_file(&mut self, name: &OsStr) {
        let path = Path::new(name);
        let content = self.files.read(path);
        // Terraform tests only whether `terraform.tfvars` exists, so a dangling link counts as missing; a dangling
        // `*.auto.tfvars` is an error.
        if is_default(name) && content.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return;
        }
        self.content(path, content, Origin::AutoFile);
    }

    fn content(&mut self, path: &Path, content: io::Result<Vec<u8>>, origin: fn(String) -> Origin) {
        let mut problems = Diagnostics::new();
        let values = read::file(path, content, "variables file", origin, self.sources, &mut problems);
        self.diagnostics.append(problems.into_iter().map(|problem| reworded(problem, self.sources)));
        self.values.extend(values);
    }

    fn text(&mut self, variable: Option<&Variable>, name: &str, text: &str, origin: Origin) {
        let (value, problems) = read::text(variable, name, text, self.sources);
        let value = InputValue { value, origin, span: Span::NONE };
        self.values.insert(name.into(), Given { value, problems });
    }

    fn assignment(&mut self, option: &str) {
        let Some((name, text)) = option.split_once('=') else {
            // Not quoted: without an equals sign the whole option may be a secret.
            self.diagnostics.push(Diagnostic::error(
                "Invalid -var option",
                "A -var option must be a variable name and a value, separated by an equals sign: -var=\"name=value\".",
            ));
            return;
        };
        // Only a space before the equals sign is an error; one after it belongs to the value, as in Terraform.
        if name.ends_with(' ') {
            self.diagnostics.push(Diagnostic::error(
                "Invalid -var option",
                format!(
                    "The -var option for {:?} has a space before the equals sign. Remove it: -var=\"name=value\".",
                    name.trim()
                ),
            ));
            return;
        }
        self.text(self.variables.get(name), name, text, Origin::CommandLine);
    }

    /// Returns the effective values and reports their problems; problems of overridden and undeclared values are
    /// dropped.
    fn finish(mut self) -> (IndexMap<Name, InputValue>, Diagnostics) {
        let mut values = IndexMap::new();
        let mut undeclared = Vec::new();
        for (name, Given { value, problems }) in self.values {
            if self.variables.contains_key(&name) {
                self.diagnostics.append(problems);
                values.insert(name, value);
            } else {
                undeclared.push((name, value.origin));
            }
        }
        report_undeclared(undeclared, &mut self.diagnostics);
        (values, self.diagnostics)
    }
}

/// Reports values of undeclared variables: an error for `-var`, which is likely a typo, but a warning for files, which
/// may serve several configurations.
fn report_undeclared(undeclared: Vec<(Name, Origin)>, diagnostics: &mut Diagnostics) {
    let (options, files): (Vec<_>, Vec<_>) =
        undeclared.into_iter().partition(|(_, origin)| matches!(origin, Origin::CommandLine));
    for (name, origin) in files.iter().take(NAMED_UNDECLARED) {
        diagnostics.push(Diagnostic::warning(
            "Value for undeclared variable",
            format!(
                "The root module does not declare a variable {name:?}, but {} sets a value for it. Declare the variable to use the \
                 value. To share values between configurations without this warning, use TF_VAR_ environment variables.",
                origin.describe(name)
            ),
        ));
    }
    let more = files.len().saturating_sub(NAMED_UNDECLARED);
    if more > 0 {
        diagnostics.push(Diagnostic::warning(
            "Values for undeclared variables",
            format!("Number of further undeclared variables with a value: {more}."),
        ));
    }
    for (name, _) in options {
        diagnostics.push(Diagnostic::error(
            "Value for undeclared variable",
            format!(
                "The command line sets a value for {name:?}, but the root module does not declare this variable. Check the name, or \
                 add a variable block."
            ),
        ));
    }
}

/// Rewords the error about a `variable` block in a variables file, a common confusion of declaring a variable with
/// setting it.
fn reworded(problem: Diagnostic, sources: &Sources) -> Diagnostic {
    let is_declaration = problem.kind == DiagnosticKind::UnexpectedBlock
        && problem.subject.and_then(|span| sources.text(span)).is_some_and(|text| text == "variable");
    if !is_declaration {
        return problem;
    }
    let detail = "A variables file sets the values of variables, with lines such as name = \"value\". To declare a variable, move \
                  the block to a .tf file.";
    Diagnostic { summary: "Variable declaration in .tfvars file".into(), detail: detail.into(), ..problem }
}
