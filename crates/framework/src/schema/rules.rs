//! The framework's rules for each slot of a schema, in slot order.

use std::collections::HashMap;

use groma_provider::{self as provider, Block, Item, ObjectSchema, SchemaProblem, Use};

use super::attribute::{Attribute, AttributeKind, NestedBlock, Rules};
use crate::Name;

/// The rules of a block, aligned with its slots.
#[derive(Default)]
pub(crate) struct RuleSet {
    pub(crate) slots: Box<[SlotRules]>,
    /// The kinds of rules here and in everything nested.
    pub(crate) kinds: RuleKinds,
}

/// The rules of one attribute or kind of nested block.
#[derive(Default)]
pub(crate) struct SlotRules {
    pub(crate) own: Rules,
    /// The rules of nested attributes and blocks; `None` if they have none.
    pub(crate) nested: Option<RuleSet>,
}

impl SlotRules {
    pub(crate) const NONE: Self = Self { own: Rules::NONE, nested: None };
}

/// The kinds of rules that occur: without any, no walk is needed.
#[derive(Clone, Copy, Default)]
pub(crate) struct RuleKinds {
    pub(crate) modifiers: bool,
    pub(crate) defaults: bool,
    pub(crate) validators: bool,
    pub(crate) equality: bool,
}

impl RuleKinds {
    fn of(rules: &SlotRules) -> Self {
        let own = &rules.own;
        // Includes everything nested, so that the root alone decides whether a walk is needed.
        let nested = rules.nested.as_ref().map(|nested| nested.kinds).unwrap_or_default();
        Self {
            modifiers: !own.modifiers.is_empty() || nested.modifiers,
            defaults: own.default.is_some() || nested.defaults,
            validators: !own.validators.is_empty() || nested.validators,
            equality: own.equality.is_some() || nested.equality,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            modifiers: self.modifiers || other.modifiers,
            defaults: self.defaults || other.defaults,
            validators: self.validators || other.validators,
            equality: self.equality || other.equality,
        }
    }
}

/// Splits a declaration into the engine's schema and the framework's rules.
pub(super) fn split(
    attributes: &[(Name, Attribute)],
    blocks: &[(Name, NestedBlock)],
    prefix: &str,
    problems: &mut Vec<SchemaProblem>,
) -> (Block, RuleSet) {
    let mut rules: HashMap<Name, SlotRules> = HashMap::new();
    let mut plain_attributes = Vec::new();
    for (name, attribute) in attributes {
        check_rules(attribute, &format!("{prefix}{name}"), problems);
        let (plain, slot) = split_attribute(attribute, &format!("{prefix}{name}."), problems);
        plain_attributes.push((name.clone(), plain));
        // The first declaration counts here; the duplicate itself is reported by the schema's own checks.
        rules.entry(name.clone()).or_insert(slot);
    }
    let mut plain_blocks = Vec::new();
    for (name, block) in blocks {
        let (inner, nested) = split(&block.attributes, &block.blocks, &format!("{prefix}{name}."), problems);
        plain_blocks.push((name.clone(), plain_block(block, inner)));
        rules.entry(name.clone()).or_insert(SlotRules { own: block.rules.clone(), nested: Some(nested) });
    }
    let block = Block::new(plain_attributes, plain_blocks);
    let slots: Box<[SlotRules]> =
        // In the order of the slots, so that a walk pairs both by position.
        block.slots().iter().map(|slot| rules.remove(&slot.name).unwrap_or_default()).collect();
    let kinds = slots.iter().map(RuleKinds::of).fold(RuleKinds::default(), RuleKinds::or);
    (block, RuleSet { slots, kinds })
}

fn split_attribute(
    attribute: &Attribute,
    prefix: &str,
    problems: &mut Vec<SchemaProblem>,
) -> (provider::Attribute, SlotRules) {
    let (mut plain, nested) = match &attribute.kind {
        AttributeKind::Plain(ty) => {
            (provider::Attribute::new(provider::AttributeType::Type(ty.clone()), attribute.usage), None)
        }
        AttributeKind::Shared(schema) => {
            (provider::Attribute::new(provider::AttributeType::Nested(schema.clone()), attribute.usage), None)
        }
        AttributeKind::Nested(nesting, attributes) => {
            let (object, nested) = split(attributes, &[], prefix, problems);
            // A block drops the duplicates of a name silently.
            if object.slots().len() != attributes.len() {
                let path = prefix.trim_end_matches('.').to_owned();
                problems.push(SchemaProblem { path, message: "a name is declared more than once".into() });
            }
            let plain = object.slots().iter().filter_map(|slot| match &slot.item {
                Item::Attribute(attribute) => Some((slot.name.clone(), attribute.clone())),
                Item::Block(_) => None,
            });
            (provider::Attribute::nested(ObjectSchema::new(*nesting, plain), attribute.usage), Some(nested))
        }
    };
    if attribute.sensitive {
        plain = plain.sensitive();
    }
    if attribute.write_only {
        plain = plain.write_only();
    }
    if let Some(deprecation) = &attribute.deprecated {
        plain = plain.deprecated(deprecation.clone());
    }
    (plain.described(attribute.description.clone()), SlotRules { own: attribute.rules.clone(), nested })
}

fn plain_block(block: &NestedBlock, mut inner: Block) -> provider::NestedBlock {
    if let Some(deprecation) = &block.deprecated {
        inner = inner.deprecated(deprecation.clone());
    }
    let mut plain = provider::NestedBlock::new(block.nesting, inner.described(block.description.clone()));
    plain = plain.at_least(block.min);
    match block.max {
        Some(max) => plain.at_most(max),
        None => plain,
    }
}

/// FW-16, FW-18: a default fills in what the configuration leaves out, which only makes sense where both may give the
/// value; what is never kept cannot be chosen by the provider.
fn check_rules(attribute: &Attribute, path: &str, problems: &mut Vec<SchemaProblem>) {
    if attribute.write_only && attribute.usage.is_computed() {
        let message = "a write-only attribute cannot be computed: its value is never kept".to_owned();
        problems.push(SchemaProblem { path: path.to_owned(), message });
    }
    let Some(default) = &attribute.rules.default else { return };
    if attribute.usage != Use::OptionalComputed {
        let message = "an attribute with a default must be optional and computed".to_owned();
        problems.push(SchemaProblem { path: path.to_owned(), message });
    }
    if attribute.write_only {
        let message = "a write-only attribute cannot have a default: its value is never kept".to_owned();
        problems.push(SchemaProblem { path: path.to_owned(), message });
    }
    // Found here, a wrong default fails the provider's own tests instead of a user's plan.
    if let (Some(value), AttributeKind::Plain(ty)) = (default.fixed(), &attribute.kind) {
        let wrong = groma_provider::contract::check_shape(&ty.without_optional_attributes(), value);
        if !wrong.is_empty() {
            let message = format!("the default is not {}", ty.friendly_name());
            problems.push(SchemaProblem { path: path.to_owned(), message });
        }
    }
}
