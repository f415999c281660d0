//! Values of YAML scalars.

use groma_value::convert::convert;
use groma_value::{Number, Type, Value};

use super::input::YamlProblem;
use crate::functions::encoding::decoded;
use crate::functions::timestamp::Timestamp;

/// The notation of a scalar, as far as it affects its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Without quotes: its text decides.
    Plain,
    /// In quotes: always text.
    Quoted,
    /// As a block of lines: its text decides, and that of more than one line is text.
    Block,
}

const TRUE: [&str; 11] = ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"];
const FALSE: [&str; 11] = ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"];
const INFINITY: [&str; 3] = [".inf", ".Inf", ".INF"];
const NAN: [&str; 3] = [".nan", ".NaN", ".NAN"];
const NULL: [&str; 5] = ["", "~", "null", "Null", "NULL"];

/// Returns the value of a scalar with its optional tag `!!...`.
///
/// What a tag promises of a text in quotes is held against it, and then it is a string all the same, as in Terraform.
pub(super) fn resolve(tag: Option<&str>, text: &str, style: Style) -> Result<Value, YamlProblem> {
    let value = read(tag, text, style)?;
    match style {
        Style::Quoted if !value.is_null() || NULL.contains(&text) => Ok(Value::string(text)),
        // A block scalar of one line becomes a string again.
        Style::Block if tag.is_none() => convert(&value, &Type::String).map_err(Into::into),
        _ => Ok(value),
    }
}

fn read(tag: Option<&str>, text: &str, style: Style) -> Result<Value, YamlProblem> {
    let cannot = |tag: &'static str| Err(YamlProblem::Untagged { text: text.to_owned(), tag });
    match tag {
        Some("!!str") => Ok(Value::string(text)),
        Some("!!binary") => match decoded(text) {
            Some(_) => Ok(Value::string(text)),
            None => Err(YamlProblem::NotBase64(text.to_owned())),
        },
        Some("!!bool") => truth(text).map_or_else(|| cannot("!!bool"), |truth| Ok(Value::bool(truth))),
        Some("!!null") => Ok(Value::NULL),
        Some("!!int" | "!!float") if style == Style::Quoted && NAN.contains(&text) => Ok(Value::string(text)),
        Some(tag @ ("!!int" | "!!float")) => {
            let tag = if tag == "!!int" { "!!int" } else { "!!float" };
            infinity(text).or_else(|| number(text)).map_or_else(|| cannot(tag), |number| Ok(Value::number(number)))
        }
        Some("!!timestamp") => moment(text).map_or_else(|| cannot("!!timestamp"), |moment| Ok(Value::string(moment))),
        Some(other) => Err(YamlProblem::UnsupportedTag(other.to_owned())),
        None if style == Style::Quoted => Ok(Value::string(text)),
        None => plain(text),
    }
}

fn plain(text: &str) -> Result<Value, YamlProblem> {
    if let Some(truth) = truth(text) {
        return Ok(Value::bool(truth));
    }
    if NULL.contains(&text) {
        return Ok(Value::NULL);
    }
    if let Some(infinity) = infinity(text) {
        return Ok(Value::number(infinity));
    }
    if NAN.contains(&text) {
        return Err(YamlProblem::NotANumber);
    }
    if let Some(moment) = moment(text) {
        return Ok(Value::string(moment));
    }
    if looks_like_a_number(text)
        && let Some(number) = number(text)
    {
        return Ok(Value::number(number));
    }
    Ok(Value::string(text))
}

fn truth(text: &str) -> Option<bool> {
    if TRUE.contains(&text) {
        Some(true)
    } else if FALSE.contains(&text) {
        Some(false)
    } else {
        None
    }
}

fn looks_like_a_number(text: &str) -> bool {
    let digits = |text: &str, radix: u32| !text.is_empty() && text.chars().all(|digit| digit.is_digit(radix));
    if let Some(rest) = text.strip_prefix("0x") {
        return digits(rest, 16);
    }
    if let Some(rest) = text.strip_prefix("0o") {
        return digits(rest, 8);
    }
    let magnitude = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (magnitude, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !(whole.is_empty() && fraction.is_empty())
        && all(whole)
        && all(fraction)
        && exponent.is_none_or(|text| digits(text, 10))
}

fn infinity(text: &str) -> Option<Number> {
    if let Some(magnitude) = text.strip_prefix('-') {
        return INFINITY.contains(&magnitude).then(Number::negative_infinity);
    }
    INFINITY.contains(&text.strip_prefix('+').unwrap_or(text)).then(Number::infinity)
}

fn number(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    let (negative, magnitude) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let radix = |prefix: &str, base: u32| {
        magnitude.strip_prefix(prefix).and_then(|digits| u64::from_str_radix(digits, base).ok())
    };
    let number = match radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| radix("0b", 2)) {
        Some(number) => Number::from(number),
        // YAML allows a decimal point at either end.
        None => Number::parse(&format!("0{}", magnitude.trim_end_matches('.').replace(".e", "e").replace(".E", "E")))
            .ok()?,
    };
    Some(if negative { number.negate() } else { number })
}

/// Dates and moments in the notations of YAML, as RFC 3339.
fn moment(text: &str) -> Option<String> {
    if !text.is_ascii()
        || text.bytes().take_while(u8::is_ascii_digit).count() != 4
        || text.as_bytes().get(4) != Some(&b'-')
    {
        return None;
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at)?, text.get(at..)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let two = |part: Option<&str>| {
        let part = part.filter(|part| matches!(part.len(), 1 | 2) && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(format!("{part:0>2}"))
    };
    let (year, month, day) = (parts.next()?, two(parts.next())?, two(parts.next())?);
    if parts.next().is_some() {
        return None;
    }
    let clock = match time {
        None => "00:00:00Z".to_owned(),
        Some(time) => {
            let spaced = time.starts_with(' ');
            let time = time.get(1..)?;
            let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
            let (clock, zone) = time.split_at(end);
            if spaced != zone.is_empty() {
                return None;
            }
            let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
            let mut fields = clock.split(':');
            let (hour, minute, second) = (two(fields.next())?, two(fields.next())?, two(fields.next())?);
            if fields.next().is_some() {
                return None;
            }
            let point = if fraction.is_empty() { "" } else { "." };
            let zone = if zone.is_empty() { "Z" } else { zone };
            format!("{hour}:{minute}:{second}{point}{fraction}{zone}")
        }
    };
    Timestamp::parse(&format!("{year}-{month}-{day}T{clock}")).ok().map(Timestamp::rfc3339)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_are_what_they_look_like() {
        for (text, wanted) in [
            ("1", "1"),
            ("-0x1F", "\"-0x1F\""),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("1e3", "1000"),
            (".5", "0.5"),
            ("1.", "1"),
            ("1_000", "\"1_000\""),
            ("yes", "true"),
            ("Off", "false"),
            ("~", "null"),
            ("", "null"),
            ("tru", "\"tru\""),
            ("2001-1-2", "\"2001-01-02T00:00:00Z\""),
            ("2001-12-14 21:59:43.10", "\"2001-12-14T21:59:43Z\""),
            ("2001-12-14t21:59:43.10-05:00", "\"2001-12-14T21:59:43-05:00\""),
            ("2001-13-01", "\"2001-13-01\""),
            ("-", "\"-\""),
            ("007", "7"),
            ("1.2.3", "\"1.2.3\""),
        ] {
            assert_eq!(crate::console::format(&resolve(None, text, Style::Plain).unwrap()), wanted, "{text}");
        }
        assert!(resolve(None, ".nan", Style::Plain).is_err());
        assert!(resolve(Some("!!int"), "x", Style::Plain).is_err());
        assert_eq!(resolve(None, "1", Style::Quoted).unwrap(), Value::string("1"));
    }
}
