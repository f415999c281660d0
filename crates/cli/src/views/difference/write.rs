//! Rendering of differences as lines.

use std::fmt::Write as _;

use groma_diagnostics::quoted;
use groma_hcl::is_identifier;
use groma_value::{Kind, Name, Type, Value};

use super::tree::{Change, Content, Difference, Style};
use super::writer::{Inside, Manner, Writer};

/// Attributes that are shown even if they do not change, because people know objects by them.
const IDENTIFYING: [&str; 3] = ["id", "name", "tags"];

impl Writer<'_> {
    /// Writes `difference`; all lines but the first are indented by `indent` levels.
    pub fn difference(&mut self, difference: &Difference, indent: usize, manner: Manner) {
        match &difference.content {
            Content::Scalar { before, after } => {
                self.scalar(difference, [before.as_ref(), after.as_ref()], indent, manner)
            }
            Content::Object(parts, style) => self.object(difference, parts, *style, indent, manner),
            Content::Map(parts, style) => self.map(difference, parts, *style, indent, manner),
            Content::List(parts, style) => self.list(difference, parts, *style, indent, manner),
            Content::Set(parts, style) => self.set(difference, parts, *style, indent, manner),
            Content::Block(block) => self.block(difference, block, indent, manner),
            Content::Unknown(before) => self.unknown(difference, before.as_deref(), indent, manner),
            Content::Sensitive(_) => {
                self.out.push_str("(sensitive value)");
                self.null_suffix(difference.change, manner);
                self.replacement_remark(manner.around(difference));
            }
            Content::SensitiveBlock(_) => self.sensitive_block(indent, manner.around(difference)),
            Content::KindChange(before, after) => {
                let manner = Manner { hides_null: true, ..manner };
                self.difference(before, indent, manner);
                self.arrow();
                self.difference(after, indent, manner);
            }
            Content::WriteOnly => {
                self.out.push_str("(write-only attribute)");
                self.replacement_remark(manner.around(difference));
                self.null_suffix(difference.change, manner);
            }
        }
    }

    fn scalar(&mut self, difference: &Difference, sides: [Option<&Value>; 2], indent: usize, manner: Manner) {
        // A null that would be a text reads as a text: it does not say `-> null`.
        let is_text = |value: &&Value| value.as_str().is_some() || value.is_null() && value.ty() == Type::String;
        if sides.iter().flatten().any(is_text) {
            self.text(difference, sides, indent, manner);
            return;
        }
        let [before, after] = sides;
        match difference.change {
            Change::Create => self.bare(after, manner),
            Change::Delete => {
                self.bare(before, manner);
                self.null_suffix(Change::Delete, manner);
            }
            Change::None => self.bare(before, manner),
            Change::Update => {
                self.bare(before, manner);
                self.arrow();
                self.bare(after, manner);
            }
        }
        self.replacement_remark(manner.around(difference));
    }

    fn bare(&mut self, value: Option<&Value>, manner: Manner) {
        match value.map(Value::kind) {
            Some(Kind::Bool(value)) => self.out.push_str(if value { "true" } else { "false" }),
            Some(Kind::Number(number)) if number.is_zero() && !manner.signs_zero => self.out.push('0'),
            Some(Kind::Number(number)) => {
                let _ = write!(self.out, "{number}");
            }
            Some(Kind::String(text)) => self.quoted(text),
            _ => self.null(),
        }
    }

    fn object(
        &mut self,
        difference: &Difference,
        parts: &[(Name, Difference)],
        style: Style,
        indent: usize,
        manner: Manner,
    ) {
        if self.begin("{}", parts, difference.change, manner.around(difference)) == Inside::Nothing {
            return;
        }
        let inner = Manner { hides_null: style == Style::Plain, ..manner.of_parts() };
        self.attributes(parts, indent, manner, inner);
        self.end('}', difference.change, indent, manner);
    }

    /// Writes attributes one a line, and how many are not shown.
    pub(super) fn attributes(&mut self, parts: &[(Name, Difference)], indent: usize, outer: Manner, inner: Manner) {
        let keys: Vec<String> = parts.iter().map(|(name, _)| attribute_key(name)).collect();
        let width = keys.iter().map(String::len).max().unwrap_or_default();
        let mut hidden = 0;
        for ((name, part), key) in parts.iter().zip(&keys) {
            let manner = if IDENTIFYING.contains(&&**name) {
                inner.showing_unchanged()
            } else if part.change == Change::None && !outer.shows_unchanged {
                hidden += 1;
                continue;
            } else {
                inner
            };
            self.warning(part, indent + 1);
            self.line_start(part.change, indent + 1, manner);
            let _ = write!(self.out, "{key:<width$} = ");
            self.difference(part, indent + 1, manner);
            self.out.push('\n');
        }
        self.hidden("attribute", hidden, indent + 1, outer);
    }

    fn map(
        &mut self,
        difference: &Difference,
        parts: &[(Name, Difference)],
        style: Style,
        indent: usize,
        manner: Manner,
    ) {
        // Of nested objects the parts say that they force a replacement.
        let at_parts = difference.forces_replacement && style == Style::Nested;
        let around = if at_parts { manner } else { manner.around(difference) };
        if self.begin("{}", parts, difference.change, around) == Inside::Nothing {
            return;
        }
        let keys: Vec<String> = parts.iter().map(|(key, _)| quoted(key)).collect();
        let width = match style {
            Style::Plain => keys.iter().map(String::len).max().unwrap_or_default(),
            Style::Nested => 0,
        };
        let hides_null = difference.change == Change::Delete || style == Style::Nested;
        let inner = Manner { hides_null, forces_replacement: at_parts, ..manner };
        let mut hidden = 0;
        for ((_, part), key) in parts.iter().zip(&keys) {
            if part.change == Change::None && !manner.shows_unchanged {
                hidden += 1;
                continue;
            }
            self.warning(part, indent + 1);
            self.line_start(part.change, indent + 1, inner);
            let _ = write!(self.out, "{key:<width$} = ");
            self.difference(part, indent + 1, inner);
            self.out.push_str(if matches!(part.content, Content::Object(..)) { ",\n" } else { "\n" });
        }
        self.hidden("element", hidden, indent + 1, manner);
        self.end('}', difference.change, indent, manner);
    }

    fn set(&mut self, difference: &Difference, parts: &[Difference], style: Style, indent: usize, manner: Manner) {
        let at_parts = difference.forces_replacement && style == Style::Nested;
        let around = if at_parts { manner } else { manner.around(difference) };
        if self.begin("[]", parts, difference.change, around) == Inside::Nothing {
            return;
        }
        let inner = Manner { hides_null: true, forces_replacement: at_parts, ..manner };
        let mut hidden = 0;
        for part in parts {
            if part.change == Change::None && !manner.shows_unchanged {
                hidden += 1;
            } else {
                self.element(part, indent, inner);
            }
        }
        self.hidden("element", hidden, indent + 1, manner);
        self.end(']', difference.change, indent, manner);
    }

    /// A list shows, for orientation, the unchanged element before and after each change.
    fn list(&mut self, difference: &Difference, parts: &[Difference], style: Style, indent: usize, manner: Manner) {
        if self.begin("[]", parts, difference.change, manner.around(difference)) == Inside::Nothing {
            return;
        }
        let inner = Manner { hides_null: true, ..manner.of_parts() };
        let unchanged = manner.showing_unchanged();
        let mut skipped: Vec<&Difference> = Vec::new();
        let mut shows_next = false;
        for part in parts {
            let is_unchanged = part.change == Change::None;
            if is_unchanged && !shows_next && !manner.shows_unchanged {
                skipped.push(part);
                continue;
            }
            shows_next = false;
            if style == Style::Nested {
                self.element(part, indent, inner);
                continue;
            }
            if let Some((last, others)) = skipped.split_last() {
                self.hidden("element", others.len(), indent + 1, inner);
                self.element(last, indent, unchanged);
            }
            skipped.clear();
            self.element(part, indent, if is_unchanged { unchanged } else { inner });
            shows_next = !is_unchanged;
        }
        self.hidden("element", skipped.len(), indent + 1, manner);
        self.end(']', difference.change, indent, manner);
    }

    fn element(&mut self, part: &Difference, indent: usize, manner: Manner) {
        self.warning(part, indent + 1);
        self.line_start(part.change, indent + 1, manner);
        self.difference(part, indent + 1, manner);
        self.out.push_str(",\n");
    }

    fn unknown(&mut self, difference: &Difference, before: Option<&Difference>, indent: usize, manner: Manner) {
        if let Some(before) = before
            && difference.change != Change::Create
        {
            let manner = Manner { hides_null: true, forces_replacement: false, ..manner };
            self.difference(before, indent, manner);
            self.out.push_str(" -> ");
        }
        self.out.push_str("(known after apply)");
        self.replacement_remark(manner.around(difference));
    }
}

/// Returns a name as it is written before `=`: quoted unless it is an identifier.
pub fn attribute_key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}
