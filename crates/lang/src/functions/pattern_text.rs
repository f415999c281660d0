//! The text of a pattern as it is read: its characters, numbers and escapes.

/// The reason why a text is not a pattern.
pub(super) type Problem = &'static str;

/// The text that is not parsed yet.
pub(super) struct Text<'a> {
    pub(super) rest: &'a str,
}

impl Text<'_> {
    pub(super) fn take(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let first = characters.next();
        self.rest = characters.as_str();
        first
    }

    /// Skips bytes that were already inspected.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A number without zeros before it; a larger one than any repetition may have is as good as another.
    pub(super) fn number(&mut self) -> Option<u32> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        self.rest = rest;
        Some(digits.parse().unwrap_or(u32::MAX))
    }
}

/// Parses the code point of an escape after its backslash.
pub(super) fn escaped(text: &mut Text<'_>) -> Result<u32, Problem> {
    const WRONG: Problem = "invalid escape sequence";
    let octal = |text: &Text<'_>| text.rest.chars().next().and_then(|character| character.to_digit(8));
    let character = text.take().ok_or("trailing backslash at end of expression")?;
    Ok(match character {
        'a' => 0x07,
        'f' => 0x0c,
        'n' => 0x0a,
        'r' => 0x0d,
        't' => 0x09,
        'v' => 0x0b,
        'x' => return hexadecimal(text).ok_or(WRONG),
        // A single digit refers to a group, which RE2 cannot do.
        '1'..='7' if octal(text).is_none() => return Err(WRONG),
        '0'..='7' => {
            let mut number = u32::from(character) - u32::from('0');
            for _ in 0..2 {
                let Some(digit) = octal(text) else { break };
                number = number * 8 + digit;
                text.skip(1);
            }
            number
        }
        other if other.is_ascii() && !other.is_ascii_alphanumeric() => other.into(),
        _ => return Err(WRONG),
    })
}

/// The number after `\x`: two digits, or any number of them in braces.
fn hexadecimal(text: &mut Text<'_>) -> Option<u32> {
    let digit = |text: &mut Text<'_>| text.take()?.to_digit(16);
    if !text.eat("{") {
        return Some(digit(text)? * 16 + digit(text)?);
    }
    let mut number = digit(text)?;
    while !text.eat("}") {
        number = number * 16 + digit(text)?;
        if number > u32::from(char::MAX) {
            return None;
        }
    }
    Some(number)
}
