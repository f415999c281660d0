//! Renders differences of blocks.

use groma_value::Name;

use super::tree::{Block, Change, Difference, Group, Sensitivity};
use super::write::attribute_key;
use super::writer::{RenderOptions, Writer};

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
