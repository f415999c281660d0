//! YAML documents as values, and values as YAML documents.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use groma_value::{Kind, Name, Value, json};
use saphyr_parser::{Event as ParserEvent, Parser, ScalarStyle, Span, Tag};

use super::yaml_input::Document;
use super::yaml_scalar::{Style, resolve};

/// How many nodes a document may stand for once its aliases are replaced by what they name.
const MOST_NODES: usize = 10_000_000;
/// How deep a document may be nested.
const DEEPEST: usize = 200;

/// A finished node and how many nodes it holds, itself included.
#[derive(Clone)]
struct Node {
    value: Value,
    size: usize,
}

struct Reader<'a> {
    /// What follows after the last line break of the document, without its indentation, and where it begins.
    last_line: (&'a str, usize),
    parser: Parser<'a, Document<'a>>,
    anchors: HashMap<usize, Option<Node>>,
    depth: usize,
    nodes: usize,
}

type Event<'a> = (ParserEvent<'a>, Span);

fn problem(span: Span, message: impl std::fmt::Display) -> String {
    format!("on line {}, column {}: {message}", span.start.line(), span.start.col() + 1)
}

/// Reads the one document of a text.
pub(super) fn decode(text: &str) -> Result<Value, String> {
    if let Some(character) = text.chars().find(|character| !may_be_read(*character)) {
        return Err(format!("U+{:04X} may not be in a document", u32::from(character)));
    }
    // What ended lines before YAML 1.2.
    let text = &*if text.contains('\u{85}') { Cow::Owned(text.replace('\u{85}', "\n")) } else { Cow::Borrowed(text) };
    let last_line = text.rsplit(['\n', '\r']).next().unwrap_or_default().trim_start();
    let last_line = (last_line, text.chars().count() - last_line.chars().count());
    let parser = Parser::new(Document::new(text));
    let mut reader = Reader { parser, last_line, anchors: HashMap::new(), depth: 0, nodes: 0 };
    let mut value = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            ParserEvent::StreamEnd => {
                return value.ok_or_else(|| problem(span, "expecting value but found end of stream"));
            }
            ParserEvent::DocumentStart(_) if value.is_some() => {
                return Err(problem(span, "only a single document is allowed"));
            }
            ParserEvent::DocumentStart(_) => {
                let first = reader.next()?;
                value = Some(reader.node(first)?.value);
            }
            _ => {}
        }
    }
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, String> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(failure)) => {
                let at = failure.marker();
                Err(format!("on line {}, column {}: {}", at.line(), at.col() + 1, failure.info()))
            }
            None => Err("the document ends before it is complete".to_owned()),
        }
    }

    fn node(&mut self, (event, span): Event<'a>) -> Result<Node, String> {
        let (anchor, node) = match event {
            ParserEvent::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                let tag = tag.map(|tag| tag_text(&tag));
                let text = if matches!(style, Style::Block) { self.without_made_up_break(&text, span) } else { &text };
                let value = resolve(tag.as_deref(), text, style).map_err(|message| problem(span, message))?;
                (anchor, Node { value, size: 1 })
            }
            ParserEvent::Alias(anchor) => {
                let named = match self.anchors.get(&anchor) {
                    Some(Some(node)) => node.clone(),
                    Some(None) => {
                        return Err(problem(span, "cannot refer to an anchor from inside its own definition"));
                    }
                    None => return Err(problem(span, "reference to undefined anchor")),
                };
                (0, named)
            }
            ParserEvent::SequenceStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "!!seq", "sequence", span)?;
                self.begin(anchor);
                (anchor, self.nested(span, Self::sequence)?)
            }
            ParserEvent::MappingStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "!!map", "mapping", span)?;
                self.begin(anchor);
                (anchor, self.nested(span, Self::mapping)?)
            }
            _ => return Err(problem(span, "expecting value but found the end")),
        };
        self.nodes = self.nodes.saturating_add(node.size);
        if self.nodes > MOST_NODES {
            return Err(problem(span, format!("the document stands for more than {MOST_NODES} values")));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, Some(node.clone()));
        }
        Ok(node)
    }

    /// A block whose last line is that of the document ends with a line break only if there is one.
    fn without_made_up_break<'t>(&self, text: &'t str, span: Span) -> &'t str {
        let (line, start) = self.last_line;
        match text.strip_suffix('\n') {
            Some(rest) if !line.is_empty() && span.end.index() > start && rest.ends_with(line) => rest,
            _ => text,
        }
    }

    fn check_tag(&self, tag: Option<&Tag>, wanted: &str, what: &str, span: Span) -> Result<(), String> {
        match tag.map(tag_text) {
            Some(tag) if tag != wanted => Err(problem(span, format!("can't interpret {what} as {tag}"))),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
    }

    fn nested(&mut self, span: Span, read: fn(&mut Self) -> Result<Node, String>) -> Result<Node, String> {
        if self.depth >= DEEPEST {
            return Err(problem(span, format!("the document is nested more than {DEEPEST} levels deep")));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn sequence(&mut self) -> Result<Node, String> {
        let mut values = Vec::new();
        let mut size = 1_usize;
        loop {
            let event = self.next()?;
            if let ParserEvent::SequenceEnd = event.0 {
                return Ok(Node { value: Value::tuple(values), size });
            }
            let node = self.node(event)?;
            size = size.saturating_add(node.size);
            values.push(node.value);
        }
    }

    fn mapping(&mut self) -> Result<Node, String> {
        let mut entries: BTreeMap<Name, Value> = BTreeMap::new();
        let mut size = 1_usize;
        loop {
            let (event, span) = self.next()?;
            let (text, style, tag) = match event {
                ParserEvent::MappingEnd => return Ok(Node { value: Value::object(entries), size }),
                ParserEvent::Scalar(text, style, _, tag) => (text, style, tag),
                _ => return Err(problem(span, "the keys of a mapping must be strings")),
            };
            let tag = tag.map(|tag| tag_text(&tag));
            let plain = matches!(style, ScalarStyle::Plain);
            let merges = tag.is_none() && text == "<<";
            let value_event = self.next()?;
            let node = self.node(value_event)?;
            size = size.saturating_add(node.size);
            if merges {
                merge(&mut entries, &node.value).map_err(|message| problem(span, message))?;
                continue;
            }
            let style = if plain { Style::Plain } else { Style::Quoted };
            let key = resolve(tag.as_deref(), &text, style).map_err(|message| problem(span, message))?;
            let name = match key.kind() {
                Kind::String(text) => text.clone(),
                Kind::Number(number) => Name::from(number.to_string()),
                Kind::Bool(truth) => Name::from(if truth { "true" } else { "false" }),
                Kind::Null => return Err(problem(span, "mapping key cannot be null")),
                _ => return Err(problem(span, "the keys of a mapping must be strings")),
            };
            entries.insert(name, node.value);
        }
    }
}

/// `<<` takes the entries of another mapping, or of several, of which the first that has a key counts.
fn merge(entries: &mut BTreeMap<Name, Value>, from: &Value) -> Result<(), String> {
    let mut add = |value: &Value, note: &str| match value.as_object() {
        Some(object) => {
            entries.extend(object.iter().map(|(name, value)| (name.clone(), value.clone())));
            Ok(())
        }
        None => Err(format!("cannot merge {}{note} into mapping", value.ty().friendly_name())),
    };
    match from.kind() {
        Kind::Tuple(elements) => elements.iter().rev().try_for_each(|element| add(element, " (from sequence)")),
        _ => add(from, ""),
    }
}

fn tag_text(tag: &Tag) -> String {
    match tag.suffix.strip_prefix("tag:yaml.org,2002:") {
        // `!<tag:yaml.org,2002:str>` is `!!str`.
        Some(name) if tag.handle.is_empty() => format!("!!{name}"),
        _ if tag.is_yaml_core_schema() => format!("!!{}", tag.suffix),
        _ => format!("{}{}", tag.handle, tag.suffix),
    }
}

/// Writes a wholly known value without marks as a document.
pub(super) fn encode(value: &Value) -> String {
    let mut writer = Writer { out: String::new(), column: 0, open_ended: false };
    writer.root(value);
    writer.out
}

/// The column from which a space in a quoted string becomes a line break.
const WIDTH: usize = 80;
/// The longest key that stands before a colon; longer ones need a question mark.
const LONGEST_KEY: usize = 128;

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

/// What ends a line in YAML 1.1.
const ENDS_OF_LINES: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// Those of them that a text may have without an escape.
const BREAKS: [char; 3] = ['\n', '\u{2028}', '\u{2029}'];

/// Whether a document may have the character as it is, without an escape.
fn may_be_read(character: char) -> bool {
    is_printable(character) || matches!(character, '\t' | '\r' | '\u{85}' | '\u{feff}' | '\u{10000}'..)
}

fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

fn escape(character: char) -> Option<String> {
    let short = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        printable if is_printable(printable) => return None,
        other => return Some(numbered(other)),
    };
    Some(format!("\\{short}"))
}

/// The escape of a character by its number.
fn numbered(character: char) -> String {
    let code = u32::from(character);
    match code {
        0..=0xFF => format!("\\x{code:02X}"),
        0x100..=0xFFFF => format!("\\u{code:04X}"),
        _ => format!("\\U{code:08X}"),
    }
}
