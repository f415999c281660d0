//! Command lines inside environment variables.

/// Splits `text` into words as a shell does: blanks separate, quotes and backslashes protect.
///
/// # Errors
///
/// A quote is not closed, or the text ends with a backslash.
pub fn split_words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => quoted(&mut characters, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut characters, '"', word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(characters.next().ok_or("it ends with a backslash")?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(characters: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), &'static str> {
    loop {
        match characters.next().ok_or("a quote is not closed")? {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => match characters.next().ok_or("a quote is not closed")? {
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
    fn quotes_hold_words_together() {
        assert_eq!(split_words("-var 'a=b c' -x=\"d \\\" e\"  f\\ g").unwrap(), ["-var", "a=b c", "-x=d \" e", "f g"]);
        assert_eq!(split_words("  ").unwrap(), Vec::<String>::new());
        assert_eq!(split_words("''").unwrap(), [""]);
        assert!(split_words("'a").is_err());
    }
}
