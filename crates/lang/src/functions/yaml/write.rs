//! Values as YAML documents.

use groma_value::{Kind, Name, Value, json};

use super::input::{BREAKS, ENDS_OF_LINES, escape, is_printable, numbered};

/// The column from which a space in a quoted string becomes a line break.
const WIDTH: usize = 80;
/// Maximal length of a simple key; longer ones need a question mark.
const LONGEST_KEY: usize = 128;

/// Writes a wholly known value without marks as a document.
pub(in crate::functions) fn encode(value: &Value) -> String {
    let mut writer = Writer { out: String::new(), column: 0, open_ended: false };
    writer.root(value);
    writer.out
}

struct Writer {
    out: String,
    column: usize,
    /// Whether a reader could take more text for a part of the last scalar.
    open_ended: bool,
}

impl Writer {
    fn root(&mut self, value: &Value) {
        match value.kind() {
            Kind::List(elements) | Kind::Set(elements) | Kind::Tuple(elements) if !elements.is_empty() => {
                self.items(elements, 0);
            }
            Kind::Map(map) if !map.is_empty() => self.entries(map.iter(), 0),
            Kind::Object(object) if !object.is_empty() => self.entries(object.iter(), 0),
            Kind::String(text) => self.string(text, 2),
            _ => {
                self.simple(value);
                self.open_ended = !matches!(
                    value.kind(),
                    Kind::List(_) | Kind::Set(_) | Kind::Tuple(_) | Kind::Map(_) | Kind::Object(_)
                );
            }
        }
        if self.column > 0 {
            self.new_line(0);
        }
        if self.open_ended {
            self.write("...");
            self.new_line(0);
        }
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
        self.open_ended = false;
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Begins a line at `indent`; the first of a block goes on in the current one, which leads up to there.
    fn line(&mut self, index: usize, indent: usize) {
        if self.column > indent || index > 0 && self.column > 0 {
            self.new_line(indent);
        } else {
            self.out.extend(std::iter::repeat_n(' ', indent - self.column));
            self.column = indent;
        }
    }

    fn items(&mut self, elements: &[Value], indent: usize) {
        for (index, element) in elements.iter().enumerate() {
            self.line(index, indent);
            self.write("-");
            self.item(element, indent);
        }
    }

    fn item(&mut self, element: &Value, indent: usize) {
        self.write(" ");
        match element.kind() {
            Kind::List(inner) | Kind::Set(inner) | Kind::Tuple(inner) if !inner.is_empty() => {
                self.items(inner, indent + 2)
            }
            Kind::Map(map) if !map.is_empty() => self.entries(map.iter(), indent + 2),
            Kind::Object(object) if !object.is_empty() => self.entries(object.iter(), indent + 2),
            Kind::String(text) => self.string(text, indent + 2),
            _ => self.simple(element),
        }
    }

    fn entries<'v>(&mut self, entries: impl Iterator<Item = (&'v Name, &'v Value)>, indent: usize) {
        for (index, (key, value)) in entries.enumerate() {
            self.line(index, indent);
            if key.contains(ENDS_OF_LINES) || key.len() > LONGEST_KEY {
                self.write("? ");
                self.string(key, indent + 2);
                self.line(1, indent);
                self.write(":");
                self.item(value, indent);
            } else {
                self.double_quoted(key, None);
                self.write(":");
                self.entry(value, indent);
            }
        }
    }

    fn entry(&mut self, value: &Value, indent: usize) {
        match value.kind() {
            Kind::List(elements) | Kind::Set(elements) | Kind::Tuple(elements) if !elements.is_empty() => {
                self.new_line(indent);
                self.items(elements, indent);
            }
            Kind::Map(map) if !map.is_empty() => {
                self.new_line(indent + 2);
                self.entries(map.iter(), indent + 2);
            }
            Kind::Object(object) if !object.is_empty() => {
                self.new_line(indent + 2);
                self.entries(object.iter(), indent + 2);
            }
            Kind::String(text) => {
                self.write(" ");
                self.string(text, indent + 2);
            }
            _ => {
                self.write(" ");
                self.simple(value);
            }
        }
    }

    fn simple(&mut self, value: &Value) {
        let text = match value.kind() {
            Kind::Bool(true) => "true".to_owned(),
            Kind::Bool(false) => "false".to_owned(),
            Kind::Number(number) => number.to_string(),
            Kind::List(_) | Kind::Set(_) | Kind::Tuple(_) => "[]".to_owned(),
            Kind::Map(_) | Kind::Object(_) => "{}".to_owned(),
            Kind::String(_) => json::encode(value).unwrap_or_default(),
            Kind::Null | Kind::Unknown(_) => "null".to_owned(),
        };
        self.write(&text);
    }

    fn string(&mut self, text: &str, indent: usize) {
        let spaces_end =
            text.match_indices(' ').any(|(at, _)| at + 1 == text.len() || text[at + 1..].starts_with(BREAKS));
        let spoilt = spaces_end || text.chars().any(|character| !is_printable(character));
        if text.contains('\n') && !spoilt { self.literal(text, indent) } else { self.double_quoted(text, Some(indent)) }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.write("|");
        if text.starts_with(' ') || text.starts_with(BREAKS) {
            self.write("2");
        }
        match text.strip_suffix(BREAKS) {
            Some(rest) if rest.is_empty() || rest.ends_with(BREAKS) => self.write("+"),
            Some(_) => {}
            None => self.write("-"),
        }
        self.out.push('\n');
        self.column = 0;
        for line in text.split_inclusive(BREAKS) {
            let ended = line.strip_suffix(BREAKS);
            if ended.is_none_or(|text| !text.is_empty()) {
                self.out.extend(std::iter::repeat_n(' ', indent));
            }
            self.out.push_str(line);
            self.column = if ended.is_some() { 0 } else { indent + line.chars().count() };
        }
    }

    /// Lines are broken at spaces after the usual width, to be continued at the given column.
    fn double_quoted(&mut self, text: &str, breaks: Option<usize>) {
        self.write("\"");
        // The library of Terraform takes each character behind a byte order mark for the mark.
        let begins_with_mark = text.starts_with('\u{feff}');
        let mut after_space = false;
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if character == ' ' && !begins_with_mark {
                let inside = at > 0 && at + 1 < text.len();
                match breaks {
                    Some(indent) if !after_space && self.column > WIDTH && inside => {
                        self.new_line(indent);
                        if characters.peek().is_some_and(|(_, next)| *next == ' ') {
                            self.write("\\");
                        }
                    }
                    _ => self.write(" "),
                }
                after_space = true;
                continue;
            }
            after_space = false;
            match escape(character) {
                None if begins_with_mark => self.write(&numbered(character)),
                Some(escaped) => self.write(&escaped),
                None => self.write(character.encode_utf8(&mut [0; 4])),
            }
        }
        self.write("\"");
    }
}
