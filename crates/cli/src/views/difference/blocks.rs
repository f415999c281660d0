//! Differences of blocks as lines.

use groma_value::Name;

use super::tree::{Block, Change, Difference, Group, Secrecy};
use super::write::attribute_key;
use super::writer::{Manner, Writer};

impl Writer<'_> {
    pub(super) fn block(&mut self, difference: &Difference, block: &Block, indent: usize, manner: Manner) {
        if block.attributes.is_empty() && block.groups.is_empty() {
            self.out.push_str("{}");
            self.replacement_remark(manner.around(difference));
            return;
        }
        self.out.push('{');
        self.replacement_remark(manner.around(difference));
        self.out.push('\n');
        self.attributes(&block.attributes, indent, manner, manner.of_parts());
        let mut hidden = 0;
        for (name, group) in &block.groups {
            hidden += self.group(block, (name, group), indent, manner);
        }
        if hidden > 0 {
            self.out.push('\n');
            self.hidden("block", hidden, indent + 1, manner);
        }
        self.line_start(Change::None, indent, manner);
        self.out.push('}');
    }

    /// Writes the blocks of one kind that are in `block`; returns how many were not worth showing.
    fn group(&mut self, block: &Block, (name, group): (&Name, &Group), indent: usize, manner: Manner) -> usize {
        let is_after_attributes = !block.attributes.is_empty();
        let key = attribute_key(name);
        let inner = Manner { forces_replacement: group.forces_replacement, ..manner };
        let mut hidden = 0;
        let mut is_first = true;
        for (label, block) in &group.blocks {
            let secrecy = group.secrecy.filter(|secrecy| match block.change {
                Change::Create => secrecy.after,
                Change::Delete => secrecy.before,
                Change::Update | Change::None => true,
            });
            let change = match (block.change, secrecy) {
                (Change::None, Some(secrecy)) if secrecy.before != secrecy.after => Change::Update,
                (change, _) => change,
            };
            if change == Change::None && !manner.shows_unchanged {
                hidden += 1;
                continue;
            }
            if is_first && is_after_attributes {
                self.out.push('\n');
                is_first = false;
            }
            match secrecy {
                Some(secrecy) => self.secrecy_warning("block", Secrecy { inner: block.change, ..secrecy }, indent + 1),
                None => self.warning(block, indent + 1),
            }
            self.line_start(change, indent + 1, inner);
            self.out.push_str(&key);
            if let Some(label) = label {
                self.out.push(' ');
                self.quoted(label);
            }
            self.out.push(' ');
            match secrecy {
                Some(_) => self.sensitive_block(indent + 1, inner.around(block)),
                None => self.difference(block, indent + 1, inner),
            }
            self.out.push('\n');
        }
        hidden
    }

    pub(super) fn sensitive_block(&mut self, indent: usize, manner: Manner) {
        self.out.push('{');
        self.replacement_remark(manner);
        self.out.push('\n');
        for line in [
            "  # At least one attribute in this block is (or was) sensitive,",
            "  # so its contents will not be displayed.",
        ] {
            self.line_start(Change::None, indent, manner);
            self.out.push_str(line);
            self.out.push('\n');
        }
        self.line_start(Change::None, indent, manner);
        self.out.push('}');
    }
}
