//! Renders differences as lines.

use std::fmt::Write as _;

use groma_diagnostics::quoted;
use groma_hcl::is_identifier;
use groma_value::{Kind, Name, Redacted, Type, Value};

use super::tree::{Block, Change, Content, Difference, Group, Sensitivity, Style};
use super::writer::{Inside, RenderOptions, Writer};

/// Attributes that are shown even if unchanged, because they identify the object.
const IDENTIFYING: [&str; 3] = ["id", "name", "tags"];

impl Writer<'_> {
    /// Writes `difference`. All lines but the first are indented by `indent` levels.
    pub fn difference(&mut self, difference: &Difference, indent: usize, options: RenderOptions) {
        match &difference.content {
            Content::Scalar { before, after } => {
                self.scalar(difference, [before.as_ref(), after.as_ref()], indent, options)
            }
            Content::Object(parts, style) => self.object(difference, parts, *style, indent, options),
            Content::Map(parts, style) => self.map(difference, parts, *style, indent, options),
            Content::List(parts, style) => self.list(difference, parts, *style, indent, options),
            Content::Set(parts, style) => self.set(difference, parts, *style, indent, options),
            Content::Block(block) => self.block(difference, block, indent, options),
            Content::Unknown(before) => self.unknown(difference, before.as_deref(), indent, options),
            Content::Sensitive(_) => {
                self.out.push_str(&Redacted::Sensitive.to_string());
                self.null_suffix(difference.change, options);
                self.replacement_remark(options.around(difference));
            }
            Content::SensitiveBlock(_) => self.sensitive_block(indent, options.around(difference)),
            Content::KindChange(before, after) => {
                let options = RenderOptions { hides_null: true, ..options };
                self.difference(before, indent, options);
                self.arrow();
                self.difference(after, indent, options);
            }
            Content::WriteOnly => {
                self.out.push_str(&Redacted::WriteOnly.to_string());
                self.replacement_remark(options.around(difference));
                self.null_suffix(difference.change, options);
            }
        }
    }

    fn scalar(&mut self, difference: &Difference, sides: [Option<&Value>; 2], indent: usize, options: RenderOptions) {
        // A null string is rendered as a string, which does not get the suffix `-> null`.
        let is_text = |value: &&Value| value.as_str().is_some() || value.is_null() && value.ty() == Type::String;
        if sides.iter().flatten().any(is_text) {
            self.text(difference, sides, indent, options);
            return;
        }
        let [before, after] = sides;
        match difference.change {
            Change::Create => self.bare(after, options),
            Change::Delete => {
                self.bare(before, options);
                self.null_suffix(Change::Delete, options);
            }
            Change::None => self.bare(before, options),
            Change::Update => {
                self.bare(before, options);
                self.arrow();
                self.bare(after, options);
            }
        }
        self.replacement_remark(options.around(difference));
    }

    fn bare(&mut self, value: Option<&Value>, options: RenderOptions) {
        match value.map(Value::kind) {
            Some(Kind::Bool(value)) => self.out.push_str(if value { "true" } else { "false" }),
            Some(Kind::Number(number)) if number.is_zero() && !options.signs_zero => self.out.push('0'),
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
        options: RenderOptions,
    ) {
        if self.begin("{}", parts, difference.change, options.around(difference)) == Inside::Nothing {
            return;
        }
        let inner = RenderOptions { hides_null: style == Style::Plain, ..options.of_parts() };
        self.attributes(parts, indent, options, inner);
        self.end('}', difference.change, indent, options);
    }

    /// Writes attributes, one per line, and the number of hidden ones.
    pub(super) fn attributes(
        &mut self,
        parts: &[(Name, Difference)],
        indent: usize,
        outer: RenderOptions,
        inner: RenderOptions,
    ) {
        // The names of hidden attributes also determine the alignment, as in Terraform.
        let keys: Vec<String> = parts.iter().map(|(name, _)| attribute_key(name)).collect();
        let width = keys.iter().map(String::len).max().unwrap_or_default();
        let mut hidden = 0;
        for ((name, part), key) in parts.iter().zip(&keys) {
            let options = if IDENTIFYING.contains(&&**name) {
                inner.showing_unchanged()
            } else if part.change == Change::None && !outer.shows_unchanged {
                hidden += 1;
                continue;
            } else {
                inner
            };
            self.warning(part, indent + 1);
            self.line_start(part.change, indent + 1, options);
            let _ = write!(self.out, "{key:<width$} = ");
            self.difference(part, indent + 1, options);
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
        options: RenderOptions,
    ) {
        // For nested objects, the remark about forced replacement appears on the parts.
        let at_parts = difference.forces_replacement && style == Style::Nested;
        let around = if at_parts { options } else { options.around(difference) };
        if self.begin("{}", parts, difference.change, around) == Inside::Nothing {
            return;
        }
        let keys: Vec<String> = parts.iter().map(|(key, _)| quoted(key)).collect();
        let width = match style {
            Style::Plain => keys.iter().map(String::len).max().unwrap_or_default(),
            Style::Nested => 0,
        };
        let hides_null = difference.change == Change::Delete || style == Style::Nested;
        let inner = RenderOptions { hides_null, forces_replacement: at_parts, ..options };
        let mut hidden = 0;
        for ((_, part), key) in parts.iter().zip(&keys) {
            if part.change == Change::None && !options.shows_unchanged {
                hidden += 1;
                continue;
            }
            self.warning(part, indent + 1);
            self.line_start(part.change, indent + 1, inner);
            let _ = write!(self.out, "{key:<width$} = ");
            self.difference(part, indent + 1, inner);
            // Terraform writes a comma after map elements that are objects.
            self.out.push_str(if matches!(part.content, Content::Object(..)) { ",\n" } else { "\n" });
        }
        self.hidden("element", hidden, indent + 1, options);
        self.end('}', difference.change, indent, options);
    }

    fn set(
        &mut self,
        difference: &Difference,
        parts: &[Difference],
        style: Style,
        indent: usize,
        options: RenderOptions,
    ) {
        let at_parts = difference.forces_replacement && style == Style::Nested;
        let around = if at_parts { options } else { options.around(difference) };
        if self.begin("[]", parts, difference.change, around) == Inside::Nothing {
            return;
        }
        let inner = RenderOptions { hides_null: true, forces_replacement: at_parts, ..options };
        let mut hidden = 0;
        for part in parts {
            if part.change == Change::None && !options.shows_unchanged {
                hidden += 1;
            } else {
                self.element(part, indent, inner);
            }
        }
        self.hidden("element", hidden, indent + 1, options);
        self.end(']', difference.change, indent, options);
    }

    /// Writes a list, with the unchanged element before and after each change as context.
    fn list(
        &mut self,
        difference: &Difference,
        parts: &[Difference],
        style: Style,
        indent: usize,
        options: RenderOptions,
    ) {
        if self.begin("[]", parts, difference.change, options.around(difference)) == Inside::Nothing {
            return;
        }
        let inner = RenderOptions { hides_null: true, ..options.of_parts() };
        let unchanged = options.showing_unchanged();
        // Unchanged elements are held back until it is known whether one of them precedes a change.
        let mut skipped: Vec<&Difference> = Vec::new();
        let mut shows_next = false;
        for part in parts {
            let is_unchanged = part.change == Change::None;
            if is_unchanged && !shows_next && !options.shows_unchanged {
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
        self.hidden("element", skipped.len(), indent + 1, options);
        self.end(']', difference.change, indent, options);
    }

    fn element(&mut self, part: &Difference, indent: usize, options: RenderOptions) {
        self.warning(part, indent + 1);
        self.line_start(part.change, indent + 1, options);
        self.difference(part, indent + 1, options);
        self.out.push_str(",\n");
    }

    fn unknown(&mut self, difference: &Difference, before: Option<&Difference>, indent: usize, options: RenderOptions) {
        if let Some(before) = before
            && difference.change != Change::Create
        {
            let options = RenderOptions { hides_null: true, forces_replacement: false, ..options };
            self.difference(before, indent, options);
            self.out.push_str(" -> ");
        }
        self.out.push_str("(known after apply)");
        self.replacement_remark(options.around(difference));
    }
}

/// Returns the name of an attribute as it appears before `=`: quoted unless it is an identifier.
pub fn attribute_key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

impl Writer<'_> {
    pub(super) fn block(&mut self, difference: &Difference, block: &Block, indent: usize, options: RenderOptions) {
        if block.attributes.is_empty() && block.groups.is_empty() {
            self.out.push_str("{}");
            self.replacement_remark(options.around(difference));
            return;
        }
        self.out.push('{');
        self.replacement_remark(options.around(difference));
        self.out.push('\n');
        self.attributes(&block.attributes, indent, options, options.of_parts());
        let mut hidden = 0;
        for (name, group) in &block.groups {
            hidden += self.group(block, (name, group), indent, options);
        }
        if hidden > 0 {
            self.out.push('\n');
            self.hidden("block", hidden, indent + 1, options);
        }
        self.line_start(Change::None, indent, options);
        self.out.push('}');
    }

    /// Writes the nested blocks of one type; returns the number of hidden ones.
    fn group(&mut self, block: &Block, (name, group): (&Name, &Group), indent: usize, options: RenderOptions) -> usize {
        let is_after_attributes = !block.attributes.is_empty();
        let key = attribute_key(name);
        let inner = RenderOptions { forces_replacement: group.forces_replacement, ..options };
        let mut hidden = 0;
        let mut is_first = true;
        for (label, block) in &group.blocks {
            let sensitivity = group.sensitivity.filter(|sensitivity| match block.change {
                Change::Create => sensitivity.after,
                Change::Delete => sensitivity.before,
                Change::Update | Change::None => true,
            });
            // A change of sensitivity alone must be shown with its warning.
            let change = match (block.change, sensitivity) {
                (Change::None, Some(sensitivity)) if sensitivity.before != sensitivity.after => Change::Update,
                (change, _) => change,
            };
            if change == Change::None && !options.shows_unchanged {
                hidden += 1;
                continue;
            }
            if is_first && is_after_attributes {
                self.out.push('\n');
                is_first = false;
            }
            match sensitivity {
                Some(sensitivity) => {
                    self.sensitivity_warning("block", Sensitivity { inner: block.change, ..sensitivity }, indent + 1)
                }
                None => self.warning(block, indent + 1),
            }
            self.line_start(change, indent + 1, inner);
            self.out.push_str(&key);
            if let Some(label) = label {
                self.out.push(' ');
                self.quoted(label);
            }
            self.out.push(' ');
            match sensitivity {
                Some(_) => self.sensitive_block(indent + 1, inner.around(block)),
                None => self.difference(block, indent + 1, inner),
            }
            self.out.push('\n');
        }
        hidden
    }

    pub(super) fn sensitive_block(&mut self, indent: usize, options: RenderOptions) {
        self.out.push('{');
        self.replacement_remark(options);
        self.out.push('\n');
        for line in [
            "  # At least one attribute in this block is (or was) sensitive,",
            "  # so its contents will not be displayed.",
        ] {
            self.line_start(Change::None, indent, options);
            self.out.push_str(line);
            self.out.push('\n');
        }
        self.line_start(Change::None, indent, options);
        self.out.push('}');
    }
}
