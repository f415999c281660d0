//! Error recovery of the JSON parser.

use groma_diagnostics::{Diagnostics, Span};

use super::{Bracket, Failed, JsonParser};

impl JsonParser<'_> {
    /// Recovers from an unexpected token where a comma or closing bracket belongs. Any closing bracket, or one that was
    /// probably meant to close, ends the object or array.
    pub(super) fn wrong_separator(&mut self, bracket: Bracket, open: usize) -> Result<bool, Failed> {
        let span = self.here();
        match (self.peek(), bracket) {
            (None, _) => {
                // An unclosed inner bracket was already reported; the outer ones are unclosed for the same reason.
                if !self.diagnostics.has_errors() {
                    let open = self.span(open, open + 1);
                    self.error("Unclosed object", "This bracket is never closed.", open);
                }
                Err(Failed)
            }
            (Some(b']'), Bracket::Object) => {
                self.at += 1;
                self.error("Mismatched braces", "An object must be closed with a brace, not a bracket.", span);
                Ok(false)
            }
            (Some(b'}'), Bracket::Array) => {
                self.at += 1;
                self.error("Mismatched brackets", "An array must be closed with a bracket, not a brace.", span);
                Ok(false)
            }
            (Some(b':'), Bracket::Array) => {
                let detail = "Array elements have no names. To use names, write an object in braces.";
                self.error("Invalid array value", detail, span);
                self.skip_element();
                self.separator(bracket, open)
            }
            // A closing bracket typed as a parenthesis is missing from the balance.
            (Some(b')'), _) if self.closers_too_many() < 0 => {
                self.at += 1;
                let (summary, detail) = match bracket {
                    Bracket::Object => {
                        ("Mismatched braces", "An object must be closed with a brace, not a parenthesis.")
                    }
                    Bracket::Array => {
                        ("Mismatched brackets", "An array must be closed with a bracket, not a parenthesis.")
                    }
                };
                self.error(summary, detail, span);
                Ok(false)
            }
            // A bracket typed in the wrong direction changes the balance by two.
            (Some(b'['), Bracket::Array) | (Some(b'{'), Bracket::Object) if self.closers_too_many() < -1 => {
                self.at += 1;
                let (summary, detail) = match bracket {
                    Bracket::Object => {
                        ("Mismatched braces", "An object must be closed with }. This brace opens another object.")
                    }
                    Bracket::Array => {
                        ("Mismatched brackets", "An array must be closed with ]. This bracket opens another array.")
                    }
                };
                self.error(summary, detail, span);
                Ok(false)
            }
            (Some(_), _) => {
                self.error("Missing attribute seperator comma", "Expected a comma before the next element.", span);
                self.skip_element();
                self.misplaced_comma(bracket, open)
            }
        }
    }

    /// Reads the separator after an element without a comma before it. A comma after that element was probably meant to
    /// be before it, so a trailing one is not reported.
    fn misplaced_comma(&mut self, bracket: Bracket, open: usize) -> Result<bool, Failed> {
        if self.peek() != Some(b',') {
            return self.separator(bracket, open);
        }
        self.at += 1;
        let closer = match bracket {
            Bracket::Object => b'}',
            Bracket::Array => b']',
        };
        let is_last = self.peek() == Some(closer);
        self.at += usize::from(is_last);
        Ok(!is_last)
    }

    /// The span of the next word, number or string, or of a single character.
    pub(super) fn next_token(&self) -> Span {
        let bytes = &self.text.as_bytes()[self.at..];
        let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.');
        match bytes.iter().take_while(|byte| of_word(byte)).count() {
            0 if bytes.first() == Some(&b'"') => self.span(self.at, self.end_of_string()),
            0 => self.here(),
            length => self.span(self.at, self.at + length),
        }
    }

    /// The number of closing brackets in the rest of the document minus the open ones. It tells whether a parenthesis
    /// was meant as a closing bracket. Returns 0 after the first problems, because it scans the whole rest.
    pub(super) fn closers_too_many(&self) -> i64 {
        if self.diagnostics.len() > 1 {
            return 0;
        }
        // A copy of the parser skips strings, in which brackets do not count.
        let mut rest = Self { diagnostics: Diagnostics::new(), ..*self };
        let mut closers = -i64::from(self.nesting);
        while let Some(byte) = rest.text.as_bytes().get(rest.at) {
            match byte {
                b'{' | b'[' => closers -= 1,
                b'}' | b']' => closers += 1,
                _ => {}
            }
            rest.skip_byte();
        }
        closers
    }

    /// Whether opening and closing brackets of each kind are equally many in the whole document.
    pub(super) fn is_balanced(&self) -> bool {
        let mut whole = Self { at: 0, diagnostics: Diagnostics::new(), ..*self };
        let (mut braces, mut brackets) = (0i64, 0i64);
        while let Some(byte) = whole.text.as_bytes().get(whole.at) {
            match byte {
                b'{' => braces += 1,
                b'}' => braces -= 1,
                b'[' => brackets += 1,
                b']' => brackets -= 1,
                _ => {}
            }
            whole.skip_byte();
        }
        braces == 0 && brackets == 0
    }

    /// Skips a word together with a quote right after it if a colon follows: the opening quote of the name is missing
    /// then.
    pub(super) fn skip_word(&mut self) {
        let rest = &self.text[self.at..];
        let of_word = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        let word = rest.len() - rest.trim_start_matches(of_word).len();
        let behind = rest[word..].strip_prefix('"').filter(|behind| behind.trim_start().starts_with(':'));
        self.at += if word > 0 && behind.is_some() { word + 1 } else { 0 };
    }

    /// Skips to the comma or bracket that ends the current element.
    pub(super) fn skip_element(&mut self) {
        let mut open = 0usize;
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' | b',' if open == 0 => return,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.skip_byte();
        }
    }

    /// Skips one byte, or the whole string that begins here.
    fn skip_byte(&mut self) {
        let is_string = self.text.as_bytes().get(self.at) == Some(&b'"');
        self.at = if is_string { self.end_of_string() } else { self.at + 1 };
    }
}
