//! The functions `format` and `formatlist`: patterns with verbs such as `%-8s` and `%05.2f`.

use groma_diagnostics::{grapheme_count, graphemes};
use groma_value::{Kind, Type, Value, convert};
use thiserror::Error;

use super::digits::{self, Layout};
use super::encoding::json_text;
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    let arguments = || Parameter::any("args").accepting(Accepts::ANY_UNMARKED);
    vec![
        Function::fixed("format", Type::String, format).takes(Parameter::text("format")).takes_more(arguments()),
        Function::fixed("formatlist", Type::list(Type::String), formatlist)
            .takes(Parameter::text("format"))
            .takes_more(arguments()),
    ]
}

/// The greatest width and precision; greater ones would only fill memory.
const MOST: usize = 10_000;

/// A verb of a pattern, taken apart.
#[derive(Default)]
struct Verb<'a> {
    raw: &'a str,
    offset: usize,
    /// The argument number, from 1.
    argument: usize,
    layout: Layout,
    mode: char,
}

fn format(arguments: &Arguments<'_>) -> Outcome {
    let pattern = arguments.text(0);
    let values = arguments.values.get(1..).unwrap_or_default();
    if values.iter().any(|value| !value.is_wholly_known()) {
        // While an argument is unknown, only the text before the first percent sign is certain.
        let known = pattern.split('%').next().unwrap_or_default();
        return Ok(if known.len() < pattern.len() {
            crate::ranges::with_prefix(known)
        } else {
            Value::unknown(Type::String)
        });
    }
    render(pattern, values).map(Value::string)
}

/// One argument of `formatlist`: a different value for each result, or always the same.
enum Source<'a> {
    Each(&'a [Value]),
    Same(&'a Value),
}

/// The number of elements of an argument of `formatlist`.
enum Count {
    /// The argument is not a list.
    None,
    Known(usize),
    Unknown,
}

fn formatlist(arguments: &Arguments<'_>) -> Outcome {
    let pattern = arguments.text(0);
    let values = arguments.values.get(1..).unwrap_or_default();
    let Some((sources, turns)) = sources(values)? else { return Ok(Value::unknown(arguments.result.clone())) };
    let mut results = Vec::new();
    for turn in 0..turns {
        let row: Vec<Value> = sources
            .iter()
            .map(|source| match source {
                Source::Each(elements) => elements.get(turn).cloned().unwrap_or(Value::DYNAMIC),
                Source::Same(value) => (*value).clone(),
            })
            .collect();
        if row.iter().all(Value::is_wholly_known) {
            let text = render(pattern, &row).map_err(|problem| FunctionError {
                message: format!("error on format iteration {turn}: {}", problem.message).into(),
                argument: None,
            })?;
            results.push(Value::string(text));
        } else {
            results.push(Value::unknown(Type::String).not_null());
        }
    }
    Ok(Value::list(Type::String, results))
}

/// Returns the source of each argument of `formatlist`, and the number of results; `None` if that is unknown.
fn sources(values: &[Value]) -> Result<Option<(Vec<Source<'_>>, usize)>, FunctionError> {
    let mut first: Option<(usize, usize)> = None;
    let mut sources = Vec::new();
    let mut unknown = false;
    for (index, value) in values.iter().enumerate() {
        let length = match count(value) {
            Count::None => None,
            Count::Known(length) => Some(length),
            Count::Unknown => {
                unknown = true;
                None
            }
        };
        match (length, first) {
            (Some(length), Some((first, other))) if length != other => {
                let problem = format!(
                    "argument {} has {length} elements, but argument {} has {other}; lists must be of the same \
                     length",
                    index + 1,
                    first + 1
                );
                // Argument 0 is the format string.
                return Err(FunctionError::argument(index + 1, problem));
            }
            (Some(length), None) => first = Some((index, length)),
            _ => {}
        }
        // The type of an unknown tuple says how many elements it has, but not which.
        unknown |= length.is_some() && !value.is_known();
        sources.push(match (length, value.as_slice()) {
            (Some(_), Some(elements)) => Source::Each(elements),
            _ => Source::Same(value),
        });
    }
    Ok((!unknown).then_some((sources, first.map_or(1, |(_, length)| length))))
}

fn count(value: &Value) -> Count {
    match value.ty() {
        Type::Tuple(elements) if !value.is_null() => Count::Known(elements.len()),
        Type::List(_) | Type::Set(_) if !value.is_null() => {
            super::mapping::count(value).map_or(Count::Unknown, Count::Known)
        }
        Type::Dynamic if !value.is_known() => Count::Unknown,
        _ => Count::None,
    }
}

fn render(pattern: &str, values: &[Value]) -> Result<String, FunctionError> {
    let mut out = String::new();
    let mut rest = pattern;
    let mut next = 1;
    let mut highest = 0;
    while let Some(at) = rest.find('%') {
        let (literal, from) = rest.split_at(at);
        out.push_str(literal);
        if let Some(after) = from.strip_prefix("%%") {
            out.push('%');
            rest = after;
            continue;
        }
        let offset = pattern.len() - from.len();
        let verb = read_verb(from, offset, next).map_err(FunctionError::of)?;
        highest = highest.max(verb.argument);
        next = verb.argument + 1;
        rest = from.get(verb.raw.len()..).unwrap_or_default();
        let Some(value) = verb.argument.checked_sub(1).and_then(|index| values.get(index)) else {
            return Err(FunctionError::new(format!(
                "{:?} at {offset} refers to argument {}, but only {} are given",
                verb.raw,
                verb.argument,
                values.len()
            )));
        };
        append(&verb, value, &mut out).map_err(FunctionError::of)?;
    }
    out.push_str(rest);
    // As in Terraform, surplus arguments are an error.
    if highest < values.len() {
        let problem = match highest {
            0 => "there are more arguments than the format uses: it has no verb".to_owned(),
            _ => format!("there are more arguments than the format uses: only {highest}"),
        };
        return Err(FunctionError::argument(highest + 1, problem));
    }
    Ok(out)
}

/// The reason why a format string cannot be used for its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum FormatError {
    #[error("the number {0} in the format string is too great")]
    NumberTooGreat(String),
    #[error("unrecognized format character {character:?} at offset {offset}")]
    UnknownCharacter { character: char, offset: usize },
    #[error("the format ends within a verb, at offset {0}")]
    Incomplete(usize),
    #[error("unsupported value for {verb:?} at {offset}: {reason}")]
    Unsupported { verb: String, offset: usize, reason: String },
    #[error("there is no verb {letter:?}, as in {verb:?} at offset {offset}")]
    UnknownVerb { letter: char, verb: String, offset: usize },
}

/// Reads the verb at the start of `text`: flags, width, precision, argument index, letter.
fn read_verb(text: &str, offset: usize, next: usize) -> Result<Verb<'_>, FormatError> {
    let mut verb = Verb { offset, argument: next, ..Verb::default() };
    let mut at = 1;
    let peek = |at: usize| text.as_bytes().get(at).copied();
    loop {
        match peek(at) {
            Some(b'0') => verb.layout.zero = true,
            Some(b'#') => verb.layout.sharp = true,
            Some(b'-') => verb.layout.minus = true,
            Some(b'+') => verb.layout.plus = true,
            Some(b' ') => verb.layout.space = true,
            _ => break,
        }
        at += 1;
    }
    let digits = |from: usize| text.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let number = |from: usize, length: usize| -> Result<usize, FormatError> {
        let digits = text.get(from..from + length).unwrap_or_default();
        let number = if digits.is_empty() { Some(0) } else { digits.parse().ok() };
        number.filter(|number| *number <= MOST).ok_or_else(|| FormatError::NumberTooGreat(digits.to_owned()))
    };
    let length = digits(at);
    if length > 0 {
        verb.layout.width = Some(number(at, length)?);
        at += length;
    }
    if peek(at) == Some(b'.') {
        let length = digits(at + 1);
        verb.layout.precision = Some(number(at + 1, length)?);
        at += 1 + length;
    }
    if peek(at) == Some(b'[') {
        let length = digits(at + 1);
        let index = number(at + 1, length)?;
        if length > 0 && index > 0 && peek(at + 1 + length) == Some(b']') {
            verb.argument = index;
            at += 2 + length;
        }
    }
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some(letter) if letter.is_ascii_alphabetic() => {
            verb.mode = letter;
            verb.raw = text.get(..=at).unwrap_or(text);
            Ok(verb)
        }
        Some(other) => Err(FormatError::UnknownCharacter { character: other, offset: offset + at }),
        None => Err(FormatError::Incomplete(offset + at)),
    }
}

fn append(verb: &Verb<'_>, value: &Value, out: &mut String) -> Result<(), FormatError> {
    let unsupported = |reason: &str| FormatError::Unsupported {
        verb: verb.raw.to_owned(),
        offset: verb.offset,
        reason: reason.to_owned(),
    };
    // %v shows null as JSON; the other verbs have no notation for it.
    if verb.mode != 'v' && value.is_null() {
        return Err(unsupported("null value cannot be formatted"));
    }
    let converted = |ty: &Type| convert::convert(value, ty).map_err(|problem| unsupported(&problem.to_string()));
    match verb.mode {
        'v' => {
            let text = match value.kind() {
                Kind::String(text) if !verb.layout.sharp => text.to_string(),
                Kind::Number(number) if !verb.layout.sharp => digits::general(number, None, 'e'),
                _ => json_text(value).map_err(|problem| unsupported(&problem.to_string()))?,
            };
            out.push_str(&padded(&verb.layout, text));
        }
        't' => out.push_str(if converted(&Type::Bool)?.as_bool() == Some(true) { "true" } else { "false" }),
        's' | 'q' => {
            let text = converted(&Type::String)?;
            let text = text.as_str().unwrap_or_default();
            let text = match verb.layout.precision {
                // As in cty, a precision of 0 does not truncate.
                Some(most) if most > 0 => graphemes(text).take(most).collect(),
                _ => text.to_owned(),
            };
            let text = if verb.mode == 'q' {
                json_text(&Value::string(text)).map_err(|problem| unsupported(&problem.to_string()))?
            } else {
                text
            };
            out.push_str(&padded(&verb.layout, text));
        }
        'b' | 'd' | 'o' | 'x' | 'X' => {
            let number = converted(&Type::Number)?;
            let number = number.as_number().filter(|number| number.is_integer());
            let number = number.ok_or_else(|| unsupported("an integer is required"))?;
            digits::integer(number, &verb.layout, verb.mode, out);
        }
        'e' | 'E' | 'f' | 'g' | 'G' => {
            let number = converted(&Type::Number)?;
            if let Some(number) = number.as_number() {
                digits::real(number, &verb.layout, verb.mode, out);
            }
        }
        other => {
            return Err(FormatError::UnknownVerb { letter: other, verb: verb.raw.to_owned(), offset: verb.offset });
        }
    }
    Ok(())
}

fn padded(layout: &Layout, text: String) -> String {
    let Some(width) = layout.width else { return text };
    // The width counts what readers see as characters, as in cty.
    let missing = width.saturating_sub(grapheme_count(&text));
    let padding = if layout.zero { "0" } else { " " }.repeat(missing);
    if layout.minus { text + &padding } else { padding + &text }
}
