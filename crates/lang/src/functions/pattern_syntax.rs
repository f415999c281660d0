//! RE2's syntax of patterns in that of our library: most is the same, but not the meaning of all classes, nor what counts
//! as an operator.

/// The pattern in our library's syntax.
pub(super) fn translated(pattern: &str) -> Result<String, &'static str> {
    let mut translation =
        Translation { out: String::with_capacity(pattern.len()), rest: pattern, repeated: Repeated::No };
    while let Some(character) = translation.take() {
        translation.outside(character)?;
    }
    Ok(translation.out)
}

/// Whether what stands before the current place is a repetition, which must not be repeated again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeated {
    No,
    /// `a*`; a question mark would make it lazy.
    Greedy,
    /// `a*?`
    Lazy,
}

struct Translation<'a> {
    out: String,
    rest: &'a str,
    repeated: Repeated,
}

impl Translation<'_> {
    fn take(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let first = characters.next();
        self.rest = characters.as_str();
        first
    }

    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    /// A character that is not within brackets.
    fn outside(&mut self, character: char) -> Result<(), &'static str> {
        let mut repeated = Repeated::No;
        match character {
            '*' | '+' | '?' => {
                repeated = self.repetition(character)?;
                self.out.push(character);
            }
            '{' => match bounds(self.rest) {
                Some(length) => {
                    repeated = self.repetition(character)?;
                    self.out.push('{');
                    self.copy(length);
                }
                // Without numbers braces are text.
                None => self.out.push_str("\\{"),
            },
            '}' => self.out.push_str("\\}"),
            '[' => self.class()?,
            '(' => {
                self.out.push('(');
                if self.rest.starts_with('?') {
                    // The question mark of a group's flags or name is no repetition.
                    self.copy(1);
                }
            }
            '\\' => match self.take() {
                Some('b') => self.out.push_str("(?-u:\\b)"),
                Some('Q') => self.literal(),
                Some(other) => self.escape(other),
                None => self.out.push('\\'),
            },
            other => self.out.push(other),
        }
        self.repeated = repeated;
        Ok(())
    }

    fn repetition(&self, operator: char) -> Result<Repeated, &'static str> {
        match (self.repeated, operator) {
            (Repeated::No, _) => Ok(Repeated::Greedy),
            (Repeated::Greedy, '?') => Ok(Repeated::Lazy),
            _ => Err("invalid nested repetition operator"),
        }
    }

    /// `\Q...\E` holds text without special characters.
    fn literal(&mut self) {
        let (literal, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
        self.out.push_str(&regex::escape(literal));
        self.rest = rest;
    }

    fn escape(&mut self, character: char) {
        match character {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str("[0-9A-Za-z_]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            's' => self.out.push_str("[\\t\\n\\x0C\\r ]"),
            'S' => self.out.push_str("[^\\t\\n\\x0C\\r ]"),
            'x' | 'p' | 'P' if self.rest.starts_with('{') => {
                let length = self.rest.find('}').map_or(self.rest.len(), |end| end + 1);
                self.out.push('\\');
                self.out.push(character);
                self.copy(length);
            }
            other => {
                self.out.push('\\');
                self.out.push(other);
            }
        }
    }

    /// What stands between brackets.
    fn class(&mut self) -> Result<(), &'static str> {
        self.out.push('[');
        if self.rest.starts_with('^') {
            self.copy(1);
        }
        let mut first = true;
        while let Some(character) = self.take() {
            match character {
                ']' if first => self.out.push_str("\\]"),
                ']' => {
                    self.out.push(']');
                    return Ok(());
                }
                '[' if self.rest.starts_with(':') => {
                    self.out.push('[');
                    let length = self.rest.find(":]").map_or(0, |end| end + 2);
                    self.copy(length);
                }
                // Only our library's syntax nests classes, and has operators in them.
                '[' => self.out.push_str("\\["),
                '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(character);
                }
                '-' if self.rest.starts_with('-') => self.out.push_str("\\-"),
                '\\' => match self.take() {
                    Some(other) => self.escape(other),
                    None => self.out.push('\\'),
                },
                other => self.out.push(other),
            }
            first = false;
        }
        Err("missing closing ]")
    }
}

/// The length of the bounds of a repetition with their closing brace, if that is what follows.
fn bounds(text: &str) -> Option<usize> {
    let end = text.find('}')?;
    let (least, most) = text.get(..end)?.split_once(',').unwrap_or((text.get(..end)?, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!least.is_empty() && digits(least) && digits(most)).then_some(end + 1)
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
            (r"^(?P<n>a)(?:b)?$", "ab", true),
            (r"^\p{Greek}$", "λ", true),
            (r"^\x{3bb}$", "λ", true),
            (r"\bfoo\b", "a foo b", true),
            (r"^\${.*}$", "${x}", true),
            (r"^{{.+}}$", "{{x}}", true),
            (r"^a{2}$", "aa", true),
            (r"^a{2,}?$", "aaa", true),
            (r"^a{,2}$", "a{,2}", true),
            (r"^a*?$", "aa", true),
            (r"^[a{]+$", "a{", true),
            (r"^[*+?]+$", "*+?", true),
        ] {
            let found = translated(pattern).map(|pattern| regex::Regex::new(&pattern).unwrap().is_match(text));
            assert_eq!(found, Ok(wanted), "{pattern} on {text}");
        }
        for wrong in ["a**", "a+*", "a??*", "a{2}{3}", "[a", "a*??"] {
            assert!(translated(wrong).is_err(), "{wrong}");
        }
    }
}
