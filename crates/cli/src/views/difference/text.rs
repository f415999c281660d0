//! Strings: in quotes, as a heredoc by line, or as the JSON document that they hold.

use groma_value::Value;

use super::align::align_lines;
use super::compare::compare_values;
use super::json_text::parse_document;
use super::tree::{Change, Content, Difference};
use super::writer::{Manner, Writer};
use crate::terminal::printable;

/// The rendering of a string.
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
        Reading::Lines(text.trim().to_owned())
    } else {
        Reading::Short(text.to_owned())
    }
}

impl Writer<'_> {
    /// Writes the difference between two strings, one of which may be missing or null.
    pub(super) fn text(
        &mut self,
        difference: &Difference,
        [before, after]: [Option<&Value>; 2],
        indent: usize,
        manner: Manner,
    ) {
        match difference.change {
            Change::Create | Change::None => one_sided(self, difference, read(after), indent, manner),
            Change::Delete => one_sided(self, difference, read(before), indent, manner),
            Change::Update => two_sided(self, difference, [before, after], indent, manner),
        }
    }
}

fn one_sided(writer: &mut Writer<'_>, difference: &Difference, reading: Reading, indent: usize, manner: Manner) {
    match reading {
        Reading::Null => {
            writer.null();
            writer.replacement_remark(manner.around(difference));
        }
        Reading::Short(text) => {
            writer.quoted(&text);
            writer.null_suffix(difference.change, manner);
            writer.replacement_remark(manner.around(difference));
        }
        Reading::Lines(text) => {
            let lines = text.split('\n').map(|line| (Change::None, line));
            heredoc(writer, difference, lines, indent, manner);
        }
        Reading::Document(document) => {
            let (before, after) = match difference.change {
                Change::Create => (None, Some(&document)),
                Change::Delete => (Some(&document), None),
                Change::None | Change::Update => (Some(&document), Some(&document)),
            };
            documents(writer, difference, before, after, indent, manner);
        }
    }
}

fn two_sided(
    writer: &mut Writer<'_>,
    difference: &Difference,
    sides: [Option<&Value>; 2],
    indent: usize,
    manner: Manner,
) {
    match (read(sides[0]), read(sides[1])) {
        (Reading::Document(before), Reading::Document(after)) => {
            documents(writer, difference, Some(&before), Some(&after), indent, manner);
        }
        (Reading::Document(_), _) | (_, Reading::Document(_)) => kind_change(writer, sides, indent, manner),
        (Reading::Lines(before), Reading::Lines(after) | Reading::Short(after))
        | (Reading::Short(before), Reading::Lines(after)) => {
            let (before, after): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
            let lines = align_lines(&before, &after).into_iter().filter_map(|pair| match pair {
                (Some(line), Some(_)) => Some((Change::None, before[line])),
                (Some(line), None) => Some((Change::Delete, before[line])),
                (None, Some(line)) => Some((Change::Create, after[line])),
                (None, None) => None,
            });
            heredoc(writer, difference, lines, indent, manner);
        }
        (Reading::Lines(lines), Reading::Null) => {
            let lines = lines.split('\n').map(|line| (Change::Delete, line)).chain([(Change::Create, "null")]);
            heredoc(writer, difference, lines, indent, manner);
        }
        (Reading::Null, Reading::Lines(lines)) => {
            let lines =
                [(Change::Delete, "null")].into_iter().chain(lines.split('\n').map(|line| (Change::Create, line)));
            heredoc(writer, difference, lines, indent, manner);
        }
        (before, after) => {
            simple(writer, &before);
            writer.arrow();
            simple(writer, &after);
            writer.replacement_remark(manner.around(difference));
        }
    }
}

fn simple(writer: &mut Writer<'_>, reading: &Reading) {
    match reading {
        Reading::Short(text) | Reading::Lines(text) => writer.quoted(text),
        Reading::Null | Reading::Document(_) => writer.null(),
    }
}

fn kind_change(writer: &mut Writer<'_>, [before, after]: [Option<&Value>; 2], indent: usize, manner: Manner) {
    let part = |change, before: Option<&Value>, after: Option<&Value>| Difference {
        change,
        forces_replacement: false,
        content: Content::Scalar { before: before.cloned(), after: after.cloned() },
    };
    let manner = Manner { hides_null: true, ..manner };
    writer.difference(&part(Change::Delete, before, None), indent, manner);
    writer.arrow();
    writer.difference(&part(Change::Create, None, after), indent, manner);
}

fn heredoc<'t>(
    writer: &mut Writer<'_>,
    difference: &Difference,
    lines: impl Iterator<Item = (Change, &'t str)>,
    indent: usize,
    manner: Manner,
) {
    writer.push("<<-EOT");
    writer.replacement_remark(manner.around(difference));
    writer.push("\n");
    for (change, line) in lines {
        writer.line_start(change, indent + 1, manner);
        // A line of a text from Windows keeps its end.
        let (line, end) = line.strip_suffix('\r').map_or((line, "\n"), |line| (line, "\r\n"));
        writer.push(&printable(line));
        writer.push(end);
    }
    writer.line_start(Change::None, indent, manner);
    writer.push("EOT");
    writer.null_suffix(difference.change, manner);
}

fn documents(
    writer: &mut Writer<'_>,
    difference: &Difference,
    before: Option<&Value>,
    after: Option<&Value>,
    indent: usize,
    manner: Manner,
) {
    let inner = compare_values(before, after);
    let only_spacing = inner.change == Change::None && difference.change == Change::Update;
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
    let manner_of_parts = Manner {
        hides_null: true,
        forces_replacement: false,
        shows_unchanged: manner.shows_unchanged || only_spacing,
        signs_zero: true,
        ..manner
    };
    writer.push("jsonencode(");
    if is_empty {
        writer.difference(&inner, indent + 1, manner_of_parts);
        writer.push(")");
        writer.push(remark);
        if !only_spacing {
            writer.replacement_remark(manner.around(difference));
        }
        return;
    }
    writer.push(remark);
    writer.push("\n");
    writer.line_start(symbol, indent + 1, manner);
    writer.difference(&inner, indent + 1, manner_of_parts);
    if !only_spacing {
        writer.replacement_remark(manner.around(difference));
    }
    writer.push("\n");
    writer.line_start(Change::None, indent, manner);
    writer.push(")");
    writer.null_suffix(difference.change, manner);
}
