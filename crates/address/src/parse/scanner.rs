//! Scanner for the parts of an address: names, instance keys, modules, resources.

use crate::{begins_name, continues_name};

use super::ParseError;
use crate::{InstanceKey, Mode, ModuleInstance, ModulePath, ModuleStep, Name, Resource};

/// Names that refer to something other than a resource in expressions. A resource type of such a name needs the prefix
/// `resource.`.
pub(super) const RESERVED: [&str; 10] =
    ["arg", "count", "each", "lazy", "local", "path", "self", "template", "terraform", "var"];

/// Whether `word` begins a reference to something other than a resource, so that a resource type of this name needs
/// the prefix `resource.`.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

fn reserved(word: &str) -> String {
    format!(
        "{word} is a reserved name and does not refer to a resource. For a resource type of this name, write resource.{word}."
    )
}

/// An address with the offset of the next character to read.
pub(super) struct Scanner<'a> {
    text: &'a str,
    pub(super) offset: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn error(&self, message: &str) -> ParseError {
        self.error_at(self.offset, message)
    }

    pub(super) fn error_at(&self, offset: usize, message: &str) -> ParseError {
        ParseError { message: message.to_owned(), offset }
    }

    pub(super) fn accept(&mut self, expected: char) -> bool {
        let found = self.rest().starts_with(expected);
        self.offset += if found { expected.len_utf8() } else { 0 };
        found
    }

    fn skip_spaces(&mut self) {
        self.offset += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    pub(super) fn identifier(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        if !rest.starts_with(begins_name) {
            return None;
        }
        let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        self.offset += length;
        rest.get(..length)
    }

    pub(super) fn name(&mut self, missing: &str) -> Result<Name, ParseError> {
        self.identifier().map(Into::into).ok_or_else(|| self.error(missing))
    }

    pub(super) fn finish(&self) -> Result<(), ParseError> {
        if self.at_end() { Ok(()) } else { Err(self.error("Unexpected text after the end of the address.")) }
    }

    /// Parses `module.NAME[KEY].` as often as it occurs and stops after the last dot.
    pub(super) fn module_prefix(&mut self) -> Result<ModuleInstance, ParseError> {
        let mut steps = Vec::new();
        loop {
            let start = self.offset;
            if self.identifier() != Some("module") {
                self.offset = start;
                break;
            }
            if !self.accept('.') {
                return Err(self.error("Expected a dot and the name of a module call after \"module\"."));
            }
            let name = self.name("Expected the name of a module call after \"module.\".")?;
            steps.push(ModuleStep { name, key: self.key()? });
            if self.at_end() {
                break;
            }
            if !self.accept('.') {
                return Err(self.error("Expected a dot or an instance key after the module name."));
            }
            if self.at_end() {
                return Err(self.error("Expected a module or a resource after the dot."));
            }
        }
        Ok(ModuleInstance::from_steps(steps))
    }

    /// Parses a module prefix without instance keys; a key is an error with the message `refusal`.
    pub(super) fn module_path_prefix(&mut self, refusal: &str) -> Result<ModulePath, ParseError> {
        let module = self.module_prefix()?;
        // The error points to the key, which is what the user has to remove.
        if module.steps().iter().any(|step| !step.key.is_none()) {
            return Err(self.error_at(self.text.find('[').unwrap_or(0), refusal));
        }
        Ok(module.path())
    }

    pub(super) fn resource(&mut self) -> Result<Resource, ParseError> {
        let start = self.offset;
        let word = self.identifier().unwrap_or_default();
        if is_reserved(word) {
            return Err(self.error_at(start, &reserved(word)));
        }
        let Some(mode) = Mode::from_block_keyword(word) else {
            self.offset = start;
            let missing = "Expected a resource type and name, such as aws_instance.web.";
            return self.type_and_name(Mode::Managed, missing);
        };
        let missing = match mode {
            Mode::Managed => "Expected a resource type and a name after \"resource\".",
            Mode::Data => "Expected a data source type and a name after \"data\".",
            Mode::Ephemeral => "Expected a resource type and a name after \"ephemeral\".",
            Mode::List => "Expected a resource type and a name after \"list\".",
        };
        if !self.accept('.') {
            return Err(self.error(missing));
        }
        self.type_and_name(mode, missing)
    }

    fn type_and_name(&mut self, mode: Mode, missing: &str) -> Result<Resource, ParseError> {
        let type_name = self.name(missing)?;
        if !self.accept('.') {
            return Err(self.error(missing));
        }
        Ok(Resource { mode, type_name, name: self.name(missing)? })
    }

    pub(super) fn refuse_key(&self, refusal: &str) -> Result<(), ParseError> {
        if self.rest().starts_with('[') { Err(self.error(refusal)) } else { Ok(()) }
    }

    pub(super) fn key(&mut self) -> Result<InstanceKey, ParseError> {
        if !self.accept('[') {
            return Ok(InstanceKey::None);
        }
        // Terraform accepts blanks inside of the brackets, although it never writes them.
        self.skip_spaces();
        let key = match self.rest().chars().next() {
            Some('"') => InstanceKey::String(self.quoted()?.into()),
            Some('0'..='9') => InstanceKey::Int(self.integer()?),
            _ => return Err(self.error("An instance key must be a whole number or a quoted string.")),
        };
        self.skip_spaces();
        if !self.accept(']') {
            return Err(self.error("Missing the closing bracket of the instance key."));
        }
        Ok(key)
    }

    fn integer(&mut self) -> Result<u64, ParseError> {
        let start = self.offset;
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest.get(..length).unwrap_or_default();
        self.offset += length;
        digits.parse().map_err(|_| self.error_at(start, "This number is too large for an instance key."))
    }

    fn quoted(&mut self) -> Result<String, ParseError> {
        let open = self.offset;
        self.offset += 1;
        let mut value = String::new();
        loop {
            let at = self.offset;
            let mut characters = self.rest().chars();
            let Some(c) = characters.next() else {
                return Err(self.error_at(
                    open,
                    "The string has no closing quote. The shell may have removed it: put the whole address in single quotes.",
                ));
            };
            self.offset += c.len_utf8();
            match c {
                '"' => return Ok(value),
                '\\' => value.push(self.escape(at)?),
                '$' | '%' if characters.as_str().starts_with('{') => {
                    return Err(self.error_at(at, "An instance key in an address cannot contain template sequences."));
                }
                // `$${` and `%%{` are the escaped forms of the template introducers.
                '$' | '%' if characters.as_str().strip_prefix(c).is_some_and(|rest| rest.starts_with('{')) => {
                    value.push(c);
                    value.push('{');
                    self.offset += 2;
                }
                '\n' | '\r' => {
                    return Err(self.error_at(at, "A string cannot contain a line break; write \\n instead."));
                }
                c => value.push(c),
            }
        }
    }

    /// Parses the escape sequence after the backslash at `at`.
    pub(super) fn escape(&mut self, at: usize) -> Result<char, ParseError> {
        let invalid = |scanner: &Self| {
            scanner.error_at(
                at,
                "Invalid escape sequence. Valid ones are \\n, \\r, \\t, \\\", \\\\, \\uNNNN and \\UNNNNNNNN.",
            )
        };
        let Some(c) = self.rest().chars().next() else { return Err(invalid(self)) };
        self.offset += c.len_utf8();
        let digits = match c {
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            '"' | '\\' => return Ok(c),
            'u' => 4,
            'U' => 8,
            _ => return Err(invalid(self)),
        };
        let code = self.rest().get(..digits).filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
        let found = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        self.offset += if found.is_some() { digits } else { 0 };
        found.ok_or_else(|| invalid(self))
    }
}
