//! Regular expressions, and replacing in strings.

use groma_value::{Type, Value};
use regex::{Captures, Regex};

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
    Regex::new(&ascii_classes(pattern)).map_err(|problem| {
        let text = problem.to_string();
        let reason = text.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or(&text);
        format!("invalid regexp pattern: {reason} in {pattern}")
    })
}

/// Rewrites `\d`, `\w`, `\s`, `\b` and their opposites to their ASCII meaning, in and outside of brackets.
fn ascii_classes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    let mut in_class = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('d') => out.push_str("[0-9]"),
                Some('D') => out.push_str("[^0-9]"),
                Some('w') => out.push_str("[0-9A-Za-z_]"),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('s') => out.push_str("[\\t\\n\\x0C\\r ]"),
                Some('S') => out.push_str("[^\\t\\n\\x0C\\r ]"),
                Some('b') if !in_class => out.push_str("(?-u:\\b)"),
                Some('z') if !in_class => out.push_str("\\z"),
                Some('Q') => quote_literally(&mut characters, &mut out),
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
                None => out.push('\\'),
            },
            '[' => {
                if in_class && !characters.as_str().starts_with(':') {
                    // Within a class a bracket is a character; only our syntax nests classes.
                    out.push('\\');
                }
                out.push('[');
                if in_class && characters.as_str().starts_with(':') {
                    copy_named_class(&mut characters, &mut out);
                } else if !in_class {
                    in_class = true;
                    open_class(&mut characters, &mut out);
                }
            }
            ']' => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' | '-' if in_class && characters.as_str().starts_with(character) => {
                // `&&`, `~~` and `--` are operators of our syntax alone.
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

/// The `^` and the `]` that may follow an opening bracket are copied without ending the class.
fn open_class(characters: &mut std::str::Chars<'_>, out: &mut String) {
    for (wanted, written) in [('^', "^"), (']', "\\]")] {
        if let Some(rest) = characters.as_str().strip_prefix(wanted) {
            out.push_str(written);
            *characters = rest.chars();
        }
    }
}

fn copy_named_class(characters: &mut std::str::Chars<'_>, out: &mut String) {
    let rest = characters.as_str();
    let end = rest.find(":]").map_or(0, |end| end + 2);
    let (name, after) = rest.split_at(end);
    out.push_str(name);
    *characters = after.chars();
}

/// `\Q...\E` holds text without special characters.
fn quote_literally(characters: &mut std::str::Chars<'_>, out: &mut String) {
    let rest = characters.as_str();
    let (literal, after) = rest.split_once("\\E").unwrap_or((rest, ""));
    out.push_str(&regex::escape(literal));
    *characters = after.chars();
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
        _ => {
            Err(FunctionError::argument(0, "invalid regexp pattern: cannot mix both named and unnamed capture groups"))
        }
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
        None => Err(FunctionError::new("pattern did not match any part of the given string")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_re2_keep_their_meaning() {
        for (pattern, text, wanted) in [
            (r"\d+", "x٣7", true),
            (r"^\d$", "٣", false),
            (r"^[\w-]+$", "a-b_9", true),
            (r"^[]a]+$", "]a", true),
            (r"^[^]a]+$", "bc", true),
            (r"^[[:alpha:]]+$", "ab", true),
            (r"^[[]$", "[", true),
            (r"^[a&&b]+$", "a&b", true),
            (r"\Qa.b\E$", "a.b", true),
            (r"\Qa.b\E$", "axb", false),
            (r"(?i)ABC", "abc", true),
            (r"^\p{Greek}$", "λ", true),
            (r"\bfoo\b", "a foo b", true),
        ] {
            assert_eq!(compile(pattern).map(|found| found.is_match(text)), Ok(wanted), "{pattern} on {text}");
        }
        assert!(compile("(").is_err());
        assert!(compile("(?=x)").is_err());
    }
}
