//! Regular expressions, and replacing in strings.

use groma_value::{Type, Value};
use regex::{Captures, Regex};

use super::pattern_syntax::translated;
use super::signature::{Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::inferred("regex", regex_type, regex)
            .takes(Parameter::text("pattern"))
            .takes(Parameter::text("string")),
        Function::inferred("regexall", regexall_type, regexall)
            .takes(Parameter::text("pattern"))
            .takes(Parameter::text("string")),
        Function::fixed("replace", Type::String, replace)
            .takes(Parameter::text("str"))
            .takes(Parameter::text("substr"))
            .takes(Parameter::text("replace")),
    ]
}

/// Compiles a pattern. The syntax is RE2's; classes of letters, digits and spaces mean ASCII, as there.
fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = translated(pattern).map_err(|reason| format!("invalid regexp pattern: {reason} in {pattern}"))?;
    Regex::new(&translated).map_err(|problem| {
        let text = problem.to_string();
        let reason = text.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or(&text);
        format!("invalid regexp pattern: {reason} in {pattern}")
    })
}

/// What a match becomes: the text, a tuple of the groups, or an object of the named groups.
fn match_type(expression: &Regex) -> Result<Type, FunctionError> {
    let names: Vec<Option<&str>> = expression.capture_names().skip(1).collect();
    let named: Vec<&str> = names.iter().copied().flatten().collect();
    match (names.len(), named.len()) {
        (0, _) => Ok(Type::String),
        (groups, 0) => Ok(Type::tuple(vec![Type::String; groups])),
        (groups, named_groups) if groups == named_groups => {
            Ok(Type::object(named.into_iter().map(|name| (name, Type::String))))
        }
        _ => Err(FunctionError::argument(0, "the capture groups of a pattern must all be named, or all be unnamed")),
    }
}

fn pattern_of(arguments: &[Value]) -> Result<Option<Regex>, FunctionError> {
    let Some(pattern) = arguments.first().and_then(Value::as_str) else { return Ok(None) };
    compile(pattern).map(Some).map_err(|problem| FunctionError::argument(0, problem))
}

fn regex_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    pattern_of(arguments)?.map_or(Ok(Type::Dynamic), |expression| match_type(&expression))
}

fn regexall_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    regex_type(arguments).map(Type::list)
}

fn matched(expression: &Regex, captures: &Captures<'_>) -> Value {
    let group =
        |index: usize| captures.get(index).map_or(Value::null(Type::String), |found| Value::string(found.as_str()));
    let mut names = expression.capture_names().enumerate().skip(1).peekable();
    match names.peek() {
        None => group(0),
        Some((_, None)) => Value::tuple(names.map(|(index, _)| group(index)).collect()),
        Some((_, Some(_))) => Value::object(names.map(|(index, name)| (name.unwrap_or_default(), group(index)))),
    }
}

fn regex(arguments: &Arguments<'_>) -> Outcome {
    let Some(expression) = pattern_of(arguments.values)? else { return Ok(Value::DYNAMIC) };
    match expression.captures(arguments.text(1)) {
        Some(captures) => Ok(matched(&expression, &captures)),
        None => Err(FunctionError::new("the pattern is found nowhere in the string")),
    }
}

fn regexall(arguments: &Arguments<'_>) -> Outcome {
    let Some(expression) = pattern_of(arguments.values)? else { return Ok(Value::DYNAMIC) };
    let found = expression.captures_iter(arguments.text(1)).map(|captures| matched(&expression, &captures)).collect();
    Ok(match arguments.result {
        Type::List(element) => Value::list_of(element.clone(), found),
        _ => Value::tuple(found),
    })
}

fn replace(arguments: &Arguments<'_>) -> Outcome {
    let (text, wanted, replacement) = (arguments.text(0), arguments.text(1), arguments.text(2));
    let pattern = wanted.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    Ok(Value::string(match pattern {
        Some(pattern) => {
            let expression = compile(pattern).map_err(FunctionError::new)?;
            expression.replace_all(text, replacement).into_owned()
        }
        None => text.replace(wanted, replacement),
    }))
}
