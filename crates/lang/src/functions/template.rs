//! The functions `templatefile` and `templatestring`: templates whose names come from an argument.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Diagnostics, SourceFile, Span, suggest};
use groma_hcl::Traversal;
use groma_value::{Type, Value};

use super::filesystem::read_text;
use super::mapping::{entries, shown};
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};
use crate::context::FunctionContext;
use crate::references::for_each_traversal;
use crate::scope::{Resolved, Scope};

/// Number of expression levels that a nested template counts as.
const LEVELS_A_TEMPLATE: u32 = 48;

/// The functions handle these values themselves: every mark of a variable becomes one of the result, known or not.
const GIVEN: Accepts = Accepts::MARKED_UNKNOWN;

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::inferred("templatefile", |_| Ok(Type::Dynamic), templatefile)
            .takes(Parameter::text("path").accepting(GIVEN))
            .takes(Parameter::any("vars").accepting(GIVEN))
            .nullable(),
        Function::inferred("templatestring", |_| Ok(Type::Dynamic), templatestring)
            .takes(Parameter::text("template").accepting(GIVEN))
            .takes(Parameter::any("vars").accepting(GIVEN))
            .nullable(),
    ]
}

fn templatefile(arguments: &Arguments<'_>) -> Outcome {
    if let Some(unknown) = not_known(arguments, &Type::Dynamic) {
        return Ok(unknown);
    }
    let path = arguments.value(0);
    // A text of the language, in the normal form of all texts: so names in it are those of the variables.
    let text = Value::string(read_text(&path, arguments.context())?);
    let text = text.as_str().unwrap_or_default().to_owned();
    let name = if path.has_marks() { shown(&path) } else { arguments.text(0).to_owned() };
    Ok(render(arguments, &name, text)?.with_marks(path.marks()))
}

fn templatestring(arguments: &Arguments<'_>) -> Outcome {
    if let Some(unknown) = not_known(arguments, &Type::String) {
        return Ok(unknown);
    }
    let template = arguments.value(0);
    let text = arguments.text(0).to_owned();
    Ok(render(arguments, STRING, text)?.with_marks(template.marks()))
}

/// Returns the result for an unknown template or unknown variables: only its type and marks are known.
fn not_known(arguments: &Arguments<'_>, ty: &Type) -> Option<Value> {
    let unknown = arguments.values.iter().any(|argument| !argument.is_known());
    let marks = arguments.values.iter().map(Value::deep_marks);
    unknown.then(|| marks.fold(Value::unknown(ty.clone()).not_null(), |value, marks| value.with_marks(&marks)))
}

/// The file name for locations in the argument of `templatestring`.
const STRING: &str = "<templatestring argument>";

/// The names of a template.
struct TemplateScope<'a> {
    variables: HashMap<&'a str, &'a Value>,
    functions: &'a FunctionContext,
    depth: u32,
}

impl Scope for TemplateScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        match self.variables.get(&*traversal.root.name) {
            Some(value) => Ok(Resolved { value: (*value).clone(), consumed: 0 }),
            None => Err(Diagnostic::error(
                "Unknown variable",
                format!("There is no variable named \"{}\".", traversal.root.name),
            )
            .at(traversal.root.span)),
        }
    }

    fn functions(&self) -> &FunctionContext {
        self.functions
    }

    fn depth(&self) -> u32 {
        self.depth
    }
}

fn render(arguments: &Arguments<'_>, name: &str, text: String) -> Outcome {
    let context = arguments.context();
    let variables = arguments.value(1);
    let marks = variables.deep_marks();
    if !matches!(variables.ty(), Type::Map(_) | Type::Object(_)) {
        return Err(FunctionError::argument(1, "invalid vars value: must be a map"));
    }
    let outer = variables.marks().clone();
    let variables: Vec<_> =
        entries(&variables).into_iter().map(|(name, value)| (name, value.with_marks(&outer))).collect();
    if let Some((wrong, _)) = variables.iter().find(|(name, _)| !groma_address::is_identifier(name)) {
        return Err(FunctionError::argument(
            1,
            format!("{wrong:?} cannot be the name of a template variable: only an identifier can, such as user_name"),
        ));
    }
    let template = context
        .templates
        .parse(name, text, &context.sources)
        .ok_or_else(|| FunctionError::new("there is no room for the text of another template"))?;
    let (expression, problems) = &*template;
    failed(problems, context).map_err(|problem| {
        // The text that is an argument is at fault itself.
        if name == STRING {
            FunctionError::argument(0, format!("invalid template: {}", problem.message))
        } else {
            problem
        }
    })?;
    let scope = TemplateScope {
        variables: variables.iter().map(|(name, value)| (&**name, value)).collect(),
        functions: context,
        depth: arguments.site.depth + LEVELS_A_TEMPLATE,
    };
    let mut missing = None;
    for_each_traversal(expression, &mut |traversal| {
        if missing.is_none() && !scope.variables.contains_key(&*traversal.root.name) {
            missing = Some(traversal.root.clone());
        }
    });
    if let Some(missing) = missing {
        let position =
            position(missing.span, context).map_or_else(String::new, |position| format!(", referenced at {position}"));
        let name = &missing.name;
        let meant = suggest(name, scope.variables.keys().copied())
            .map_or_else(String::new, |meant| format!(" (did you mean \"{meant}\"?)"));
        return Err(FunctionError::argument(
            1,
            format!("the template uses \"{name}\", but no variable of that name is given to it{position}{meant}"),
        ));
    }
    let mut problems = Diagnostics::new();
    let value = (arguments.site.evaluate)(expression, &scope, &mut problems);
    failed(&problems, context)?;
    // Whether a variable is used or not is part of the template, and so its marks are always on the result.
    Ok(value.with_marks(&marks))
}

/// The errors of a template as the error of the call.
fn failed(problems: &Diagnostics, context: &FunctionContext) -> Result<(), FunctionError> {
    let mut errors = problems.iter().filter(|problem| problem.is_error());
    let Some(first) = errors.next() else { return Ok(()) };
    let position = first
        .subject
        .and_then(|span| position(span, context))
        .map_or_else(String::new, |position| format!("{position}: "));
    let detail = first.detail.trim_end_matches('.');
    let more = match errors.count() {
        0 => String::new(),
        count => format!(", and {count} other error(s)"),
    };
    Err(FunctionError::new(format!("{position}{}; {detail}{more}", first.summary)))
}

fn position(span: Span, context: &FunctionContext) -> Option<String> {
    let found = context.sources.locate(span)?;
    let (start, end) = (found.start, found.end);
    let name = SourceFile::name(&found.file);
    Some(if start.line == end.line {
        format!("{name}:{},{}-{}", start.line, start.column, end.column)
    } else {
        format!("{name}:{},{}-{},{}", start.line, start.column, end.line, end.column)
    })
}
