//! Tables as text: fields between commas, in quotes where needed.

use thiserror::Error;

/// The reason why a string is not CSV, with the line of the mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum CsvError {
    #[error("CSV parse error on line {0}: bare \" in non-quoted-field")]
    BareQuote(usize),
    #[error("CSV parse error on line {0}: extraneous or missing \" in quoted-field")]
    UnpairedQuote(usize),
}

/// The rows of a table with the line that each begins on, from 1; empty lines are none.
///
/// Parses rows. Quotes must enclose a whole field; a doubled quote represents one.
pub(super) fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, CsvError> {
    // The end of the last line may be half of one.
    let text = text.strip_suffix('\r').unwrap_or(text).replace("\r\n", "\n");
    let mut rows = Vec::new();
    let mut rest = text.as_str();
    let mut line = 1;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('\n') {
            rest = after;
            line += 1;
            continue;
        }
        let begun = line;
        let mut row = Vec::new();
        loop {
            let (field, after) = field(rest, &mut line)?;
            row.push(field);
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None => {
                    rest = after.strip_prefix('\n').unwrap_or(after);
                    line += 1;
                    break;
                }
            }
        }
        rows.push((begun, row));
    }
    Ok(rows)
}

/// Reads a field up to the comma or line end after it.
fn field<'a>(text: &'a str, line: &mut usize) -> Result<(String, &'a str), CsvError> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let (field, after) = text.split_at(text.find([',', '\n']).unwrap_or(text.len()));
        if field.contains('"') {
            return Err(CsvError::BareQuote(*line));
        }
        return Ok((field.to_owned(), after));
    };
    let mut out = String::new();
    loop {
        let Some((part, after)) = rest.split_once('"') else {
            return Err(CsvError::UnpairedQuote(*line));
        };
        out.push_str(part);
        *line += part.matches('\n').count();
        if let Some(next) = after.strip_prefix('"') {
            out.push('"');
            rest = next;
        } else if after.is_empty() || after.starts_with([',', '\n']) {
            return Ok((out, after));
        } else {
            return Err(CsvError::UnpairedQuote(*line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_fields_in_quotes_and_lines() {
        let found = rows("a,\"b\nc\"\"\",\r\n\nd\n").unwrap();
        let row = |fields: &[&str]| fields.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(found, [(1, row(&["a", "b\nc\"", ""])), (4, row(&["d"]))]);
        assert_eq!(rows("").unwrap(), []);
        for wrong in ["a\"b", "\"a\"b", "\"a", "a\n\"b"] {
            assert!(rows(wrong).is_err(), "{wrong}");
        }
    }
}
