//! String functions of the language.

use groma_diagnostics::{cluster_count, clusters};
use groma_value::{Bound, Kind, Refinement, Type, Value};

use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    let text = Parameter::text;
    let of_one = |name, body| Function::fixed(name, Type::String, body).takes(Parameter::text("str"));
    vec![
        of_one("upper", |call| Ok(Value::string(map_case(call.text(0), char::to_uppercase)))),
        of_one("lower", |call| Ok(Value::string(map_case(call.text(0), char::to_lowercase)))),
        of_one("strrev", |call| Ok(Value::string(reversed(call.text(0))))),
        of_one("title", |call| Ok(Value::string(title(call.text(0))))),
        of_one("chomp", |call| Ok(Value::string(call.text(0).trim_end_matches(['\n', '\r'])))),
        of_one("trimspace", |call| Ok(Value::string(call.text(0).trim()))),
        of_one("trim", |call| {
            let cut: Vec<char> = call.text(1).chars().collect();
            Ok(Value::string(call.text(0).trim_matches(cut.as_slice())))
        })
        .takes(text("cutset")),
        of_one("trimprefix", |call| {
            let (given, prefix) = (call.text(0), call.text(1));
            Ok(Value::string(given.strip_prefix(prefix).unwrap_or(given)))
        })
        .takes(text("prefix")),
        of_one("trimsuffix", |call| {
            let (given, suffix) = (call.text(0), call.text(1));
            Ok(Value::string(given.strip_suffix(suffix).unwrap_or(given)))
        })
        .takes(text("suffix")),
        of_one("substr", substr).takes(Parameter::number("offset")).takes(Parameter::number("length")),
        Function::fixed("startswith", Type::Bool, startswith)
            .takes(text("str").accepting(Accepts::UNKNOWN))
            .takes(text("prefix")),
        Function::fixed("endswith", Type::Bool, |call| Ok(Value::bool(call.text(0).ends_with(call.text(1)))))
            .takes(text("str"))
            .takes(text("suffix")),
        Function::fixed("strcontains", Type::Bool, |call| Ok(Value::bool(call.text(0).contains(call.text(1)))))
            .takes(text("str"))
            .takes(text("substr"))
            .nullable(),
        Function::fixed("join", Type::String, join)
            .takes(text("separator"))
            .takes_more(Parameter::new("lists", Type::list(Type::String))),
        Function::fixed("split", Type::list(Type::String), split).takes(text("separator")).takes(text("str")),
        Function::fixed("indent", Type::String, indent).takes(Parameter::number("spaces")).takes(text("str")),
    ]
}

/// The length of a string in grapheme clusters; of an unknown one as far as its beginning tells.
pub(super) fn length_of(value: &Value) -> Value {
    let length = match value.kind() {
        Kind::String(text) => Value::number(cluster_count(text)),
        Kind::Unknown(known) => {
            let least = cluster_count(known.known_prefix());
            Value::refined(Type::Number, Refinement::NOT_NULL.lower_bound(Bound::inclusive(least)))
        }
        _ => Value::unknown(Type::Number),
    };
    length.with_marks(value.marks())
}

/// Maps each character to one other, without regard to its neighbours; characters that would become several stay as they
/// are, unless there is a single one for them too.
fn map_case<I: Iterator<Item = char> + ExactSizeIterator>(text: &str, map: fn(char) -> I) -> String {
    text.chars()
        .map(|character| {
            let mut mapped = map(character);
            match mapped.len() {
                1 => mapped.next().unwrap_or(character),
                _ => single_case(character),
            }
        })
        .collect()
}

/// The one character for those whose other case is usually written with several.
fn single_case(character: char) -> char {
    let code = u32::from(character);
    let mapped = match code {
        // The dotted capital i.
        0x130 => 0x69,
        // Greek letters with iota subscript, whose capitals have the iota adscript.
        0x1F80..=0x1F87 | 0x1F90..=0x1F97 | 0x1FA0..=0x1FA7 => code + 8,
        0x1FB3 | 0x1FC3 | 0x1FF3 => code + 9,
        _ => code,
    };
    char::from_u32(mapped).unwrap_or(character)
}

/// The form of a letter at the start of a word: its capital, or for letters made of two, that of the first alone.
fn at_start(character: char) -> String {
    let double = match u32::from(character) {
        0x1C4..=0x1C6 => 'ǅ',
        0x1C7..=0x1C9 => 'ǈ',
        0x1CA..=0x1CC => 'ǋ',
        0x1F1..=0x1F3 => 'ǲ',
        // Georgian has capitals for whole texts only.
        0x10D0..=0x10FA | 0x10FD..=0x10FF => character,
        _ => return map_case(character.encode_utf8(&mut [0; 4]), char::to_uppercase),
    };
    double.to_string()
}

/// The first letter of every word in upper case. White space separates words, and so does whatever ASCII has besides letters, digits and
/// underscores.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_word = false;
    for character in text.chars() {
        if in_word {
            out.push(character);
        } else {
            out.push_str(&at_start(character));
        }
        in_word = match character {
            '_' => true,
            ascii if ascii.is_ascii() => ascii.is_ascii_alphanumeric(),
            letter if letter.is_alphanumeric() => true,
            other => !other.is_whitespace(),
        };
    }
    out
}

fn reversed(text: &str) -> String {
    let all: Vec<&str> = clusters(text).collect();
    all.into_iter().rev().collect()
}

fn substr(arguments: &Arguments<'_>) -> Outcome {
    let text = arguments.text(0);
    let (offset, length) = (arguments.integer(1)?, arguments.integer(2)?);
    let start = if offset < 0 {
        let total = i64::try_from(cluster_count(text)).unwrap_or(i64::MAX);
        usize::try_from(offset.saturating_add(total)).unwrap_or(0)
    } else {
        usize::try_from(offset).unwrap_or(usize::MAX)
    };
    let rest = clusters(text).skip(start);
    let part: String = match usize::try_from(length) {
        // No length means no text, except when counting from the end.
        Ok(0) if offset < 0 => rest.collect(),
        Ok(length) => rest.take(length).collect(),
        Err(_) => rest.collect(),
    };
    Ok(Value::string(part))
}

fn startswith(arguments: &Arguments<'_>) -> Outcome {
    let (text, prefix) = (arguments.value(0), arguments.text(1));
    let known = match text.kind() {
        Kind::Unknown(known) => known.known_prefix(),
        _ => return Ok(Value::bool(arguments.text(0).starts_with(prefix))),
    };
    if known.starts_with(prefix) {
        Ok(Value::bool(true))
    } else if known.len() >= prefix.len() {
        Ok(Value::bool(false))
    } else {
        Ok(Value::unknown(Type::Bool))
    }
}

fn join(arguments: &Arguments<'_>) -> Outcome {
    let lists = arguments.values.get(1..).unwrap_or_default();
    if lists.is_empty() {
        return Err(FunctionError::new("at least one list is required"));
    }
    if lists.iter().any(|list| !list.is_wholly_known()) {
        return Ok(Value::unknown(Type::String));
    }
    let separator = arguments.text(0);
    let mut out = String::new();
    let mut first = true;
    for (list_index, list) in lists.iter().enumerate() {
        for (index, element) in list.as_slice().unwrap_or_default().iter().enumerate() {
            let Some(text) = element.as_str() else {
                let which = if lists.len() > 1 { format!(" of list {}", list_index + 1) } else { String::new() };
                let problem = format!("element {index}{which} is null; cannot concatenate null values");
                return Err(FunctionError::argument(list_index + 1, problem));
            };
            if !first {
                out.push_str(separator);
            }
            first = false;
            out.push_str(text);
        }
    }
    Ok(Value::string(out))
}

fn split(arguments: &Arguments<'_>) -> Outcome {
    let (separator, text) = (arguments.text(0), arguments.text(1));
    let parts: Vec<Value> = if separator.is_empty() {
        text.chars().map(|character| Value::string(character.encode_utf8(&mut [0; 4]))).collect()
    } else {
        text.split(separator).map(Value::string).collect()
    };
    Ok(Value::list(Type::String, parts))
}

fn indent(arguments: &Arguments<'_>) -> Outcome {
    const MOST: usize = 1 << 16;
    let text = arguments.text(1);
    let spaces = usize::try_from(arguments.integer(0)?)
        .ok()
        // One line has nothing to be indented.
        .filter(|spaces| *spaces <= MOST || !text.contains('\n'))
        .ok_or_else(|| FunctionError::new(format!("the number of spaces must be between 0 and {MOST}")))?;
    let line = format!("\n{}", " ".repeat(spaces.min(MOST)));
    Ok(Value::string(text.replace('\n', &line)))
}
