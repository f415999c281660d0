//! Renders strings: in quotes, as a heredoc compared by line, or as the JSON document that they contain.

use groma_value::{Number, Value};

use super::align::align_lines;
use super::compare::compare_values;
use super::tree::{Change, Content, Difference};
use super::writer::{RenderOptions, Writer};
use crate::terminal::printable;

/// Representation of a string.
enum Reading {
    Null,
    Short(String),
    Lines(String),
    Document(Value),
}

fn read(value: Option<&Value>) -> Reading {
    let Some(text) = value.and_then(Value::as_str) else { return Reading::Null };
    if let Some(document) = parse_document(text) {
        Reading::Document(document)
    } else if text.contains('\n') {
        // As in Terraform, a heredoc omits leading and trailing white space.
        Reading::Lines(text.trim().to_owned())
    } else {
        Reading::Short(text.to_owned())
    }
}

impl Writer<'_> {
    /// Writes the difference between two strings, either of which may be absent or null.
    pub(super) fn text(
        &mut self,
        difference: &Difference,
        [before, after]: [Option<&Value>; 2],
        indent: usize,
        options: RenderOptions,
    ) {
        match difference.change {
            Change::Create | Change::None => one_sided(self, difference, read(after), indent, options),
            Change::Delete => one_sided(self, difference, read(before), indent, options),
            Change::Update => two_sided(self, difference, [before, after], indent, options),
        }
    }
}

fn one_sided(
    writer: &mut Writer<'_>,
    difference: &Difference,
    reading: Reading,
    indent: usize,
    options: RenderOptions,
) {
    match reading {
        Reading::Null => {
            writer.null();
            writer.replacement_remark(options.around(difference));
        }
        Reading::Short(text) => {
            writer.quoted(&text);
            writer.null_suffix(difference.change, options);
            writer.replacement_remark(options.around(difference));
        }
        Reading::Lines(text) => {
            let lines = text.split('\n').map(|line| (Change::None, line));
            heredoc(writer, difference, lines, indent, options);
        }
        Reading::Document(document) => {
            let (before, after) = match difference.change {
                Change::Create => (None, Some(&document)),
                Change::Delete => (Some(&document), None),
                Change::None | Change::Update => (Some(&document), Some(&document)),
            };
            documents(writer, difference, before, after, indent, options);
        }
    }
}

fn two_sided(
    writer: &mut Writer<'_>,
    difference: &Difference,
    sides: [Option<&Value>; 2],
    indent: usize,
    options: RenderOptions,
) {
    match (read(sides[0]), read(sides[1])) {
        (Reading::Document(before), Reading::Document(after)) => {
            documents(writer, difference, Some(&before), Some(&after), indent, options);
        }
        (Reading::Document(_), _) | (_, Reading::Document(_)) => kind_change(writer, sides, indent, options),
        (Reading::Lines(before), Reading::Lines(after) | Reading::Short(after))
        | (Reading::Short(before), Reading::Lines(after)) => {
            let (before, after): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
            let lines = align_lines(&before, &after).into_iter().filter_map(|pair| match pair {
                (Some(line), Some(_)) => Some((Change::None, before[line])),
                (Some(line), None) => Some((Change::Delete, before[line])),
                (None, Some(line)) => Some((Change::Create, after[line])),
                (None, None) => None,
            });
            heredoc(writer, difference, lines, indent, options);
        }
        (Reading::Lines(lines), Reading::Null) => {
            let lines = lines.split('\n').map(|line| (Change::Delete, line)).chain([(Change::Create, "null")]);
            heredoc(writer, difference, lines, indent, options);
        }
        (Reading::Null, Reading::Lines(lines)) => {
            let lines =
                [(Change::Delete, "null")].into_iter().chain(lines.split('\n').map(|line| (Change::Create, line)));
            heredoc(writer, difference, lines, indent, options);
        }
        (before, after) => {
            simple(writer, &before);
            writer.arrow();
            simple(writer, &after);
            writer.replacement_remark(options.around(difference));
        }
    }
}

fn simple(writer: &mut Writer<'_>, reading: &Reading) {
    match reading {
        Reading::Short(text) | Reading::Lines(text) => writer.quoted(text),
        Reading::Null | Reading::Document(_) => writer.null(),
    }
}

fn kind_change(writer: &mut Writer<'_>, [before, after]: [Option<&Value>; 2], indent: usize, options: RenderOptions) {
    let part = |change, before: Option<&Value>, after: Option<&Value>| Difference {
        change,
        forces_replacement: false,
        content: Content::Scalar { before: before.cloned(), after: after.cloned() },
    };
    let options = RenderOptions { hides_null: true, ..options };
    writer.difference(&part(Change::Delete, before, None), indent, options);
    writer.arrow();
    writer.difference(&part(Change::Create, None, after), indent, options);
}

fn heredoc<'t>(
    writer: &mut Writer<'_>,
    difference: &Difference,
    lines: impl Iterator<Item = (Change, &'t str)>,
    indent: usize,
    options: RenderOptions,
) {
    writer.push("<<-EOT");
    writer.replacement_remark(options.around(difference));
    writer.push("\n");
    for (change, line) in lines {
        writer.line_start(change, indent + 1, options);
        // CRLF line endings are preserved instead of showing the carriage return as a control picture.
        let (line, end) = line.strip_suffix('\r').map_or((line, "\n"), |line| (line, "\r\n"));
        writer.push(&printable(line));
        writer.push(end);
    }
    writer.line_start(Change::None, indent, options);
    writer.push("EOT");
    writer.null_suffix(difference.change, options);
}

fn documents(
    writer: &mut Writer<'_>,
    difference: &Difference,
    before: Option<&Value>,
    after: Option<&Value>,
    indent: usize,
    options: RenderOptions,
) {
    let inner = compare_values(before, after);
    let only_spacing = inner.change == Change::None && difference.change == Change::Update;
    // Inside jsonencode(), the document repeats the symbol of an update.
    let symbol = if only_spacing || difference.change != Change::Update { Change::None } else { Change::Update };
    let is_empty = match &inner.content {
        Content::Object(parts, _) => parts.is_empty(),
        Content::List(parts, _) => parts.is_empty(),
        _ => false,
    };
    let remark = match (only_spacing, difference.forces_replacement) {
        (true, true) => " # whitespace changes force replacement",
        (true, false) => " # whitespace changes",
        (false, _) => "",
    };
    let options_of_parts = RenderOptions {
        hides_null: true,
        forces_replacement: false,
        shows_unchanged: options.shows_unchanged || only_spacing,
        signs_zero: true,
        ..options
    };
    writer.push("jsonencode(");
    if is_empty {
        writer.difference(&inner, indent + 1, options_of_parts);
        writer.push(")");
        writer.push(remark);
        if !only_spacing {
            writer.replacement_remark(options.around(difference));
        }
        return;
    }
    writer.push(remark);
    writer.push("\n");
    writer.line_start(symbol, indent + 1, options);
    writer.difference(&inner, indent + 1, options_of_parts);
    if !only_spacing {
        writer.replacement_remark(options.around(difference));
    }
    writer.push("\n");
    writer.line_start(Change::None, indent, options);
    writer.push(")");
    writer.null_suffix(difference.change, options);
}

/// Parses `text` if it is a JSON object or array.
pub(super) fn parse_document(text: &str) -> Option<Value> {
    // Scalars are valid JSON, but are better shown as plain strings.
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let document: serde_json::Value = serde_json::from_str(text).ok()?;
    convert(document)
}

fn convert(document: serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    Some(match document {
        Json::Null => Value::NULL,
        Json::Bool(value) => Value::bool(value),
        Json::Number(number) => Value::number(number.to_string().parse::<Number>().ok()?),
        Json::String(text) => Value::string(text),
        Json::Array(elements) => Value::tuple(elements.into_iter().map(convert).collect::<Option<_>>()?),
        Json::Object(entries) => {
            let attributes = entries.into_iter().map(|(key, value)| Some((key, convert(value)?)));
            Value::object(attributes.collect::<Option<Vec<_>>>()?)
        }
    })
}
