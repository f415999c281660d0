//! Regular expressions, and replacing in strings.

use groma_value::{Type, Value};
use regex_automata::meta::{Config, Regex};
use regex_automata::util::captures::Captures;
use thiserror::Error;

use super::pattern_syntax::{Parsed, parse};
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

/// Memory limit for a pattern's automaton: enough for everything that RE2 accepts.
const ROOM: usize = 128 << 20;

/// A pattern that can be searched for.
struct Pattern {
    expression: Regex,
    /// The names of its groups. Two may have the same, and one that is repeated never is no part of the expression.
    groups: Vec<Option<String>>,
}

/// The reason why a pattern is not a regular expression in RE2's syntax.
#[derive(Clone, Debug, Error)]
#[error("invalid regexp pattern: {reason} in {pattern}")]
struct PatternError {
    reason: String,
    pattern: String,
}

/// Compiles a pattern in RE2's syntax.
fn compile(pattern: &str) -> Result<Pattern, PatternError> {
    let wrong = |reason: &str| PatternError { reason: reason.to_owned(), pattern: pattern.to_owned() };
    let Parsed { expression, groups } = parse(pattern).map_err(wrong)?;
    let settings = Config::new().nfa_size_limit(Some(ROOM)).onepass_size_limit(Some(1 << 20));
    let built = Regex::builder().configure(settings).build_from_hir(&expression);
    let expression = built.map_err(|_| wrong("expression too large"))?;
    Ok(Pattern { expression, groups })
}

/// Returns the result type of a match: a string, a tuple of the groups, or an object of the named groups.
fn match_type(pattern: &Pattern) -> Result<Type, FunctionError> {
    let named: Vec<&str> = pattern.groups.iter().flatten().map(String::as_str).collect();
    match (pattern.groups.len(), named.len()) {
        (0, _) => Ok(Type::String),
        (groups, 0) => Ok(Type::tuple(vec![Type::String; groups])),
        (groups, named_groups) if groups == named_groups => {
            Ok(Type::object(named.into_iter().map(|name| (name, Type::String))))
        }
        _ => Err(FunctionError::argument(0, "the capture groups of a pattern must all be named, or all be unnamed")),
    }
}

fn pattern_of(arguments: &[Value]) -> Result<Option<Pattern>, FunctionError> {
    // An unknown pattern says nothing about the groups.
    let Some(pattern) = arguments.first().and_then(Value::as_str) else { return Ok(None) };
    compile(pattern).map(Some).map_err(|problem| FunctionError::argument(0, problem.to_string()))
}

fn regex_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    pattern_of(arguments)?.map_or(Ok(Type::Dynamic), |pattern| match_type(&pattern))
}

fn regexall_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    regex_type(arguments).map(Type::list)
}

fn matched(pattern: &Pattern, text: &str, captures: &Captures) -> Value {
    let group = |index: usize| match captures.get_group(index).and_then(|found| text.get(found.range())) {
        Some(found) => Value::string(found),
        // A group that took no part in the match is null.
        None => Value::null(Type::String),
    };
    let groups = pattern.groups.iter().zip(1..);
    match pattern.groups.first() {
        None => group(0),
        Some(None) => Value::tuple(groups.map(|(_, index)| group(index)).collect()),
        Some(Some(_)) => Value::object(groups.map(|(name, index)| (name.as_deref().unwrap_or_default(), group(index)))),
    }
}

fn regex(arguments: &Arguments<'_>) -> Outcome {
    let Some(pattern) = pattern_of(arguments.values)? else { return Ok(Value::DYNAMIC) };
    let text = arguments.text(1);
    let mut captures = pattern.expression.create_captures();
    pattern.expression.captures(text, &mut captures);
    if captures.is_match() {
        Ok(matched(&pattern, text, &captures))
    } else {
        Err(FunctionError::new("the pattern is found nowhere in the string"))
    }
}

fn regexall(arguments: &Arguments<'_>) -> Outcome {
    let Some(pattern) = pattern_of(arguments.values)? else { return Ok(Value::DYNAMIC) };
    let text = arguments.text(1);
    let found = pattern.expression.captures_iter(text).map(|captures| matched(&pattern, text, &captures)).collect();
    Ok(match arguments.result {
        Type::List(element) => Value::list_of(element.clone(), found),
        _ => Value::tuple(found),
    })
}

fn replace(arguments: &Arguments<'_>) -> Outcome {
    let (text, wanted, replacement) = (arguments.text(0), arguments.text(1), arguments.text(2));
    // Terraform treats a search string between slashes as a regular expression.
    let pattern = wanted.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    Ok(Value::string(match pattern {
        Some(pattern) => replaced(&compile(pattern).map_err(FunctionError::of)?, text, replacement),
        None => text.replace(wanted, replacement),
    }))
}

/// Returns the text with each match replaced.
fn replaced(pattern: &Pattern, text: &str, replacement: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for captures in pattern.expression.captures_iter(text) {
        let Some(found) = captures.get_match() else { continue };
        out.push_str(text.get(end..found.start()).unwrap_or_default());
        expand(&mut out, replacement, |group| {
            let index = match group {
                Named::Number(number) => Some(number),
                Named::Name(name) => {
                    // Of several groups with one name, the one that took part in the match counts.
                    let mut indexes = pattern.groups.iter().zip(1..);
                    let of_name = |(group, index): &(&Option<String>, usize)| {
                        group.as_deref() == Some(name) && captures.get_group(*index).is_some()
                    };
                    indexes.find(of_name).map(|(_, index)| index)
                }
            };
            let range = index.and_then(|index| captures.get_group(index))?.range();
            text.get(range)
        });
        end = found.end();
    }
    out.push_str(text.get(end..).unwrap_or_default());
    out
}

/// A group reference after a dollar sign in a replacement.
enum Named<'a> {
    Number(usize),
    Name(&'a str),
}

/// Writes a replacement: `$1`, `$name` and `${name}` are groups, as long as letters, digits and underscores go on; `$$` is a dollar
/// sign, and so is any other.
fn expand<'t>(out: &mut String, replacement: &str, group: impl Fn(Named<'_>) -> Option<&'t str>) {
    let mut rest = replacement;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let inner = rest.strip_prefix('{').unwrap_or(rest);
        let length = inner.find(|character: char| !character.is_alphanumeric() && character != '_');
        let (name, after) = inner.split_at(length.unwrap_or(inner.len()));
        let after = if rest.starts_with('{') { after.strip_prefix('}') } else { Some(after) };
        let Some(after) = after.filter(|_| !name.is_empty()) else {
            out.push('$');
            continue;
        };
        rest = after;
        // A number with leading zeros is a name, as in Go.
        let number = name.parse().ok().filter(|_| !name.starts_with('0') || name == "0");
        out.push_str(group(number.map_or(Named::Name(name), Named::Number)).unwrap_or_default());
    }
    out.push_str(rest);
}
