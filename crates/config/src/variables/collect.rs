//! Gathering values from all sources.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_value::Value;
use indexmap::IndexMap;

use super::input::{Given, InputValue, Origin};
use super::read;
use super::sources::{VariableOption, VariableSources};
use crate::model::Variable;
use crate::source::Files;

/// The given values, by variable name.
type Values = IndexMap<Name, Given>;

/// Maximal number of undeclared variables that are listed one by one.
const NAMED_UNDECLARED: usize = 2;

/// The values given for `variables` of the root module in the directory that `files` shows, with those for variables that
/// are not declared reported and left out.
pub fn collect(
    variables: &IndexMap<Name, Variable>,
    given: &VariableSources,
    sources: &Sources,
    files: &dyn Files,
) -> (IndexMap<Name, InputValue>, Diagnostics) {
    let mut collector = Collector { variables, sources, files, values: Values::new(), diagnostics: Diagnostics::new() };
    collector.environment(&given.environment);
    for name in automatic_files(files) {
        collector.automatic_file(&name);
    }
    collector.options(&given.options);
    collector.finish()
}

/// Checks options independently of declared variables: files that cannot be read, and malformed assignments.
pub fn check_options(options: &[VariableOption], sources: &Sources, files: &dyn Files) -> Diagnostics {
    let variables = IndexMap::new();
    let mut collector =
        Collector { variables: &variables, sources, files, values: Values::new(), diagnostics: Diagnostics::new() };
    collector.options(options);
    collector.diagnostics
}

/// The arguments in a file that `init -backend-config` names, the later of a name winning.
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

/// The names of the variables files that are read without being asked for, the strongest last.
fn automatic_files(files: &dyn Files) -> Vec<OsString> {
    let entries = files.list(Path::new("")).unwrap_or_default();
    let mut names: Vec<OsString> =
        entries.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.name).collect();
    let has_suffix = |name: &OsStr, suffix: &str| name.as_encoded_bytes().ends_with(suffix.as_bytes());
    names.retain(|name| has_suffix(name, ".auto.tfvars") || has_suffix(name, ".auto.tfvars.json") || is_usual(name));
    let rank = |name: &OsStr| USUAL.iter().position(|usual| *usual == name).unwrap_or(USUAL.len());
    names.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    names
}

/// The variables files that have one name everywhere.
const USUAL: [&str; 2] = ["terraform.tfvars", "terraform.tfvars.json"];

fn is_usual(name: &OsStr) -> bool {
    USUAL.iter().any(|usual| *usual == name)
}

struct Collector<'a> {
    variables: &'a IndexMap<Name, Variable>,
    sources: &'a Sources,
    files: &'a dyn Files,
    values: Values,
    diagnostics: Diagnostics,
}

impl Collector<'_> {
    /// The environment may speak of variables of other configurations.
    fn environment(&mut self, environment: &[(String, OsString)]) {
        for (name, value) in environment {
            let Some(variable) = self.variables.get(name.as_str()) else { continue };
            match value.to_str() {
                Some(text) => self.text(Some(variable), name, text, Origin::Environment),
                None => self.unreadable(variable),
            }
        }
    }

    /// A value that is not valid UTF-8. The value is not repeated: it may be a secret.
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
        // A link that leads nowhere is no file, where nobody asked for one; the others are there to be read.
        if is_usual(name) && content.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return;
        }
        self.content(path, content, Origin::AutoFile);
    }

    fn content(&mut self, path: &Path, content: io::Result<Vec<u8>>, origin: fn(String) -> Origin) {
        let mut problems = Diagnostics::new();
        let values = read::file(path, content, "variables file", origin, self.sources, &mut problems);
        self.diagnostics.append(problems.into_iter().map(declared));
        self.values.extend(values);
    }

    fn text(&mut self, variable: Option<&Variable>, name: &str, text: &str, origin: Origin) {
        let (value, problems) = read::text(variable, name, text, self.sources);
        let value = InputValue { value, origin, span: Span::NONE };
        self.values.insert(name.into(), Given { value, problems });
    }

    fn assignment(&mut self, option: &str) {
        let Some((name, text)) = option.split_once('=') else {
            // The text may be a secret on its own: it is not repeated.
            self.diagnostics.push(Diagnostic::error(
                "Invalid -var option",
                "A -var option is a variable's name, an equals sign and the value: -var=\"name=value\".",
            ));
            return;
        };
        if name.ends_with(' ') {
            self.diagnostics.push(Diagnostic::error(
                "Invalid -var option",
                format!(
                    "The option for {:?} has a space before its equals sign. Remove it: -var=\"name=value\".",
                    name.trim()
                ),
            ));
            return;
        }
        self.text(self.variables.get(name), name, text, Origin::CommandLine);
    }

    /// Returns the effective values, with the errors of these only.
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

/// On the command line it is a slip; files may serve several configurations.
fn report_undeclared(undeclared: Vec<(Name, Origin)>, diagnostics: &mut Diagnostics) {
    let (slips, shared): (Vec<_>, Vec<_>) =
        undeclared.into_iter().partition(|(_, origin)| matches!(origin, Origin::CommandLine));
    for (name, origin) in shared.iter().take(NAMED_UNDECLARED) {
        diagnostics.push(Diagnostic::warning(
            "Value for undeclared variable",
            format!(
                "There is a value for {name:?} in {}, and the root module declares no such variable. Add a variable block to use it. \
                 Values for many configurations are better given as TF_VAR_ environment variables, which never warn.",
                origin.describe(name)
            ),
        ));
    }
    let more = shared.len().saturating_sub(NAMED_UNDECLARED);
    if more > 0 {
        diagnostics.push(Diagnostic::warning(
            "Values for undeclared variables",
            format!("There are values for {more} more variables that are not declared."),
        ));
    }
    for (name, _) in slips {
        diagnostics.push(Diagnostic::error(
            "Value for undeclared variable",
            format!(
                "The command line gives a value for {name:?}, and the root module declares no such variable. Check the name, or add \
                 a variable block."
            ),
        ));
    }
}

/// The commonest slip: a variable is declared where it should get its value.
fn declared(problem: Diagnostic) -> Diagnostic {
    if problem.summary != "Unexpected \"variable\" block" {
        return problem;
    }
    let detail = "This file gives values to variables, in lines such as name = \"value\". The block that declares a variable \
                  belongs in a .tf file.";
    Diagnostic { summary: "Variable declaration in .tfvars file".into(), detail: detail.into(), ..problem }
}
