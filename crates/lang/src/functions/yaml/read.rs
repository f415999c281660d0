//! YAML documents as values.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use groma_value::{Kind, Name, Value};
use saphyr_parser::{Event as ParserEvent, Parser, ScalarStyle, Span, Tag};

use super::input::Document;
use super::input::may_be_read;
use super::input::{YamlError, YamlProblem};
use super::scalar::{Style, resolve};

/// Maximal number of nodes of a document after its aliases are expanded.
pub(super) const MOST_NODES: usize = 10_000_000;
/// Maximal nesting depth of a document.
pub(super) const DEEPEST: usize = 200;

/// A finished node and how many nodes it holds, itself included.
#[derive(Clone)]
struct Node {
    value: Value,
    size: usize,
}

struct Reader<'a> {
    /// The text after the last line break of the document, without its indentation, and its position.
    last_line: (&'a str, usize),
    parser: Parser<'a, Document<'a>>,
    anchors: HashMap<usize, Option<Node>>,
    depth: usize,
    nodes: usize,
}

type Event<'a> = (ParserEvent<'a>, Span);

fn at(span: Span, problem: impl Into<YamlProblem>) -> YamlError {
    YamlError::At { line: span.start.line(), column: span.start.col() + 1, problem: problem.into() }
}

/// Reads the one document of a text.
pub(in crate::functions) fn decode(text: &str) -> Result<Value, YamlError> {
    if let Some(character) = text.chars().find(|character| !may_be_read(*character)) {
        return Err(YamlError::Character(character));
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
                return value.ok_or_else(|| at(span, YamlProblem::NoValue));
            }
            ParserEvent::DocumentStart(_) if value.is_some() => {
                return Err(at(span, YamlProblem::SecondDocument));
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
    fn next(&mut self) -> Result<Event<'a>, YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(failure)) => {
                let (marker, problem) = (failure.marker(), YamlProblem::Syntax(failure.info().to_owned()));
                Err(YamlError::At { line: marker.line(), column: marker.col() + 1, problem })
            }
            None => Err(YamlError::Incomplete),
        }
    }

    fn node(&mut self, (event, span): Event<'a>) -> Result<Node, YamlError> {
        let (anchor, node) = match event {
            ParserEvent::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                let tag = tag.map(|tag| tag_text(&tag));
                let text = if matches!(style, Style::Block) { self.without_added_break(&text, span) } else { &text };
                let value = resolve(tag.as_deref(), text, style).map_err(|problem| at(span, problem))?;
                (anchor, Node { value, size: 1 })
            }
            ParserEvent::Alias(anchor) => {
                let named = match self.anchors.get(&anchor) {
                    Some(Some(node)) => node.clone(),
                    Some(None) => {
                        return Err(at(span, YamlProblem::RecursiveAnchor));
                    }
                    None => return Err(at(span, YamlProblem::UndefinedAnchor)),
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
            _ => return Err(at(span, YamlProblem::NoNode)),
        };
        self.nodes = self.nodes.saturating_add(node.size);
        if self.nodes > MOST_NODES {
            return Err(at(span, YamlProblem::TooManyNodes));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, Some(node.clone()));
        }
        Ok(node)
    }

    /// A block whose last line is that of the document ends with a line break only if there is one.
    fn without_added_break<'t>(&self, text: &'t str, span: Span) -> &'t str {
        let (line, start) = self.last_line;
        match text.strip_suffix('\n') {
            Some(rest) if !line.is_empty() && span.end.index() > start && rest.ends_with(line) => rest,
            _ => text,
        }
    }

    fn check_tag(&self, tag: Option<&Tag>, wanted: &str, what: &'static str, span: Span) -> Result<(), YamlError> {
        match tag.map(tag_text) {
            Some(tag) if tag != wanted => Err(at(span, YamlProblem::WrongTag { what, tag })),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
    }

    fn nested(&mut self, span: Span, read: fn(&mut Self) -> Result<Node, YamlError>) -> Result<Node, YamlError> {
        if self.depth >= DEEPEST {
            return Err(at(span, YamlProblem::TooDeep));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn sequence(&mut self) -> Result<Node, YamlError> {
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

    fn mapping(&mut self) -> Result<Node, YamlError> {
        let mut entries: BTreeMap<Name, Value> = BTreeMap::new();
        let mut size = 1_usize;
        loop {
            let (event, span) = self.next()?;
            let (text, style, tag) = match event {
                ParserEvent::MappingEnd => return Ok(Node { value: Value::object(entries), size }),
                ParserEvent::Scalar(text, style, _, tag) => (text, style, tag),
                _ => return Err(at(span, YamlProblem::ComplexKey)),
            };
            let tag = tag.map(|tag| tag_text(&tag));
            let plain = matches!(style, ScalarStyle::Plain);
            let merges = tag.is_none() && text == "<<";
            let value_event = self.next()?;
            let node = self.node(value_event)?;
            size = size.saturating_add(node.size);
            if merges {
                merge(&mut entries, &node.value).map_err(|problem| at(span, problem))?;
                continue;
            }
            let style = if plain { Style::Plain } else { Style::Quoted };
            let key = resolve(tag.as_deref(), &text, style).map_err(|problem| at(span, problem))?;
            let name = match key.kind() {
                Kind::String(text) => text.clone(),
                Kind::Number(number) => Name::from(number.to_string()),
                Kind::Bool(truth) => Name::from(if truth { "true" } else { "false" }),
                Kind::Null => return Err(at(span, YamlProblem::NullKey)),
                _ => return Err(at(span, YamlProblem::ComplexKey)),
            };
            entries.insert(name, node.value);
        }
    }
}

/// `<<` takes the entries of another mapping, or of several, of which the first that has a key counts.
fn merge(entries: &mut BTreeMap<Name, Value>, from: &Value) -> Result<(), YamlProblem> {
    let mut add = |value: &Value, note| match value.as_object() {
        Some(object) => {
            entries.extend(object.iter().map(|(name, value)| (name.clone(), value.clone())));
            Ok(())
        }
        None => Err(YamlProblem::NotMergeable { what: value.ty().friendly_name(), note }),
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
