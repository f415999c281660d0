//! Splits the command lines in environment variables as a shell does.

/// Splits `text` into words at white space that is neither quoted nor escaped with a backslash.
///
/// # Errors
///
/// `text` has an unclosed quote, or ends with a backslash.
pub fn split_words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => quoted(&mut characters, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut characters, '"', word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(characters.next().ok_or("the value ends with a backslash")?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(characters: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), &'static str> {
    loop {
        match characters.next().ok_or("unclosed quote")? {
            c if c == quote => return Ok(()),
            // Inside double quotes a shell keeps the backslash unless it escapes something special.
            '\\' if quote == '"' => match characters.next().ok_or("unclosed quote")? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_quoted_and_escaped_words() {
        assert_eq!(split_words("-var 'a=b c' -x=\"d \\\" e\"  f\\ g").unwrap(), ["-var", "a=b c", "-x=d \" e", "f g"]);
        assert_eq!(split_words("  ").unwrap(), Vec::<String>::new());
        assert_eq!(split_words("''").unwrap(), [""]);
        assert!(split_words("'a").is_err());
    }
}
