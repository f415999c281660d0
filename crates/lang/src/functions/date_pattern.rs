//! Moments by the patterns of `formatdate`: runs of letters, and text in quotes.

use std::fmt::Write as _;

use thiserror::Error;

use super::timestamp::{Civil, Timestamp};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The reason why a pattern of `formatdate` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum DatePatternError {
    #[error("invalid date format verb {0:?}")]
    UnknownVerb(String),
    #[error("invalid date format verb {verb:?}: {allowed}")]
    WrongLength { verb: String, allowed: &'static str },
    #[error("invalid date format verb {verb:?}: it is written \"{letter}{letter}\"")]
    HalfOfDay { verb: String, letter: char },
    #[error("unterminated literal '")]
    OpenQuote,
}

/// Renders a moment by a pattern of letter runs (`YYYY-MM-DD`) and quoted text.
pub(super) fn render(moment: Timestamp, pattern: &str) -> Result<String, DatePatternError> {
    let civil = moment.civil();
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = quoted(rest, &mut out)?;
            continue;
        }
        let is_alphabetic = first.is_ascii_alphabetic();
        let end = rest
            .find(|next: char| if is_alphabetic { next != first } else { next == '\'' || next.is_ascii_alphabetic() })
            .unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        if is_alphabetic {
            verb(moment, token, &civil, &mut out)?
        } else {
            out.push_str(token)
        }
        rest = after;
    }
    Ok(out)
}

fn verb(moment: Timestamp, token: &str, civil: &Civil, out: &mut String) -> Result<(), DatePatternError> {
    let invalid = |allowed| Err(DatePatternError::WrongLength { verb: token.to_owned(), allowed });
    let number = |number: i64, allowed: &'static str, out: &mut String| {
        match token.len() {
            1 => push(out, format_args!("{number}")),
            2 => push(out, format_args!("{number:02}")),
            _ => return invalid(allowed),
        }
        Ok(())
    };
    match token.as_bytes().first() {
        Some(b'Y') => match token.len() {
            2 => push(out, format_args!("{:02}", civil.year % 100)),
            4 => push(out, format_args!("{:04}", civil.year)),
            _ => return invalid("a year is either \"YY\" or \"YYYY\""),
        },
        Some(b'M') => match token.len() {
            3 | 4 => out.push_str(name(&MONTHS, civil.month - 1, token.len())),
            _ => number(civil.month, "a month is \"M\", \"MM\", \"MMM\", or \"MMMM\"", out)?,
        },
        Some(b'D') => number(civil.day, "a day of the month is either \"D\" or \"DD\"", out)?,
        Some(b'E') => match token.len() {
            3 | 4 => out.push_str(name(&WEEKDAYS, civil.weekday, token.len())),
            _ => return invalid("a day of the week is either \"EEE\" or \"EEEE\""),
        },
        Some(b'h') => number(civil.hour, "the 24-hour clock is either \"h\" or \"hh\"", out)?,
        Some(b'H') => number((civil.hour + 11) % 12 + 1, "the 12-hour clock is either \"H\" or \"HH\"", out)?,
        Some(half @ (b'A' | b'a')) => {
            if token.len() != 2 {
                let letter = char::from(*half);
                return Err(DatePatternError::HalfOfDay { verb: token.to_owned(), letter });
            }
            out.push_str(match (civil.hour < 12, half) {
                (true, b'A') => "AM",
                (true, _) => "am",
                (false, b'A') => "PM",
                (false, _) => "pm",
            });
        }
        Some(b'm') => number(civil.minute, "a minute is either \"m\" or \"mm\"", out)?,
        Some(b's') => number(civil.second, "a second is either \"s\" or \"ss\"", out)?,
        Some(b'Z') => match token.len() {
            1 => out.push_str(&moment.zone()),
            3 if moment.offset == 0 => out.push_str("UTC"),
            3 | 4 => out.push_str(&moment.offset_text("")),
            5 => out.push_str(&moment.offset_text(":")),
            _ => return invalid("a timezone is Z, ZZZ, ZZZZ, or ZZZZZ"),
        },
        _ => return Err(DatePatternError::UnknownVerb(token.to_owned())),
    }
    Ok(())
}

/// The name at `index`: whole, or the first three letters.
fn name(names: &[&'static str], index: i64, letters: usize) -> &'static str {
    let name = usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or_default();
    if letters == 3 { name.get(..3).unwrap_or(name) } else { name }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

/// Copies a quoted literal to `out` and returns the rest; a doubled quote represents one, and at the end of the pattern it ends
/// the literal.
fn quoted<'a>(text: &'a str, out: &mut String) -> Result<&'a str, DatePatternError> {
    if let Some(rest) = text.strip_prefix("''") {
        out.push('\'');
        return Ok(rest);
    }
    let mut rest = text.get(1..).unwrap_or_default();
    loop {
        let Some(end) = rest.find('\'') else { return Err(DatePatternError::OpenQuote) };
        let (literal, after) = rest.split_at(end);
        out.push_str(literal);
        match after.strip_prefix("''") {
            Some(more) => {
                out.push('\'');
                if more.is_empty() {
                    return Ok(more);
                }
                rest = more;
            }
            None => return Ok(after.get(1..).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_know_all_verbs() {
        let moment = Timestamp::parse("2018-01-02T15:04:05+01:00").unwrap();
        let shown = render(moment, "EEEE, DD-MMM-YY hh:mm:ss ZZZ 'o''clock' H aa AA D M MM MMMM YYYY EEE ZZZZ ZZZZZ Z")
            .unwrap();
        assert_eq!(
            shown,
            "Tuesday, 02-Jan-18 15:04:05 +0100 o'clock 3 pm PM 2 1 01 January 2018 Tue +0100 +01:00 +01:00"
        );
        assert!(render(moment, "YYY").is_err());
        assert!(render(moment, "'open").is_err());
        assert!(render(moment, "q").is_err());
    }
}
