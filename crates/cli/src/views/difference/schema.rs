//! Compares objects with a schema: attributes and nested blocks.

use std::sync::Arc;

use groma_provider as provider;
use groma_provider::{AttributeType, Item, NestedBlock, Nesting, ObjectNesting, ObjectSchema};
use groma_value::{Name, Type, Value};

use super::compare::{compare_part, entries, gather, sensitive_or, set_parts, unknown_or};
use super::pair::{Pair, Paths, Relevance, Texts};
use super::tree::{Block, Change, Content, Difference, Group, Sensitivity, Style};

/// Compares two objects with the schema `block`.
pub fn compare_objects<'a>(
    block: &provider::Block,
    before: &'a Value,
    after: &'a Value,
    replace: Paths<'a>,
    relevance: Relevance<'a>,
) -> Difference {
    compare_block(&Pair { before: Some(before), after: Some(after), replace, relevance, texts: texts_of(block) }, block)
}

/// Returns the treatment of empty strings in a block, which each schema block determines for itself.
fn texts_of(block: &provider::Block) -> Texts {
    // One feature that the legacy SDK lacks is enough.
    let is_new = block.slots().iter().any(|slot| match &slot.item {
        Item::Attribute(attribute) => match attribute.kind() {
            AttributeType::Nested(_) => true,
            AttributeType::Type(ty) => !could_be_of_old(ty),
        },
        Item::Block(nested) => has_new_nesting(nested),
    });
    if is_new { Texts::AsWritten } else { Texts::EmptyIsNull }
}

/// Whether the nesting proves that the provider does not use the legacy SDK, which only supports list, set and single blocks.
fn has_new_nesting(nested: &NestedBlock) -> bool {
    matches!(nested.nesting(), Nesting::Group | Nesting::Map)
}

/// Whether the legacy SDK supports attributes of this type.
fn could_be_of_old(ty: &Type) -> bool {
    let element = |ty: &Type| match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => Some(Arc::clone(element)),
        _ => None,
    };
    match element(ty) {
        // The legacy SDK supports collections of collections of primitive values, but no deeper nesting.
        Some(inner) => !ty.has_dynamic() && element(&inner).is_none_or(|inmost| is_primitive(&inmost)),
        None => is_primitive(ty),
    }
}

fn is_primitive(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Number | Type::String)
}

fn compare_block(pair: &Pair<'_>, block: &provider::Block) -> Difference {
    sensitive_or(pair, Content::SensitiveBlock, |pair| {
        unknown_with_attributes_or(pair, block, |pair| {
            let mut change = pair.change_of_whole();
            let attributes = attributes(pair, block, &mut change);
            let groups = groups(pair, block, &mut change);
            let content = Content::Block(Block { attributes, groups });
            Difference { change, forces_replacement: pair.replace.end_here(), content }
        })
    })
}

/// Like [`unknown_or`], but renders the old attributes as becoming unknown instead of deleted.
fn unknown_with_attributes_or(
    pair: &Pair<'_>,
    block: &provider::Block,
    compare: impl Fn(&Pair<'_>) -> Difference,
) -> Difference {
    if pair.after.is_none_or(Value::is_known) || pair.before.is_none_or(Value::is_null) {
        return unknown_or(pair, compare);
    }
    // Each attribute becomes unknown with the whole object.
    let unknown = Value::object(block.attributes().map(|(name, _)| (name.clone(), Value::DYNAMIC)));
    let before = compare(&Pair { after: Some(&unknown), ..pair.clone() });
    let content = Content::Unknown(Some(Box::new(before)));
    Difference { change: Change::Update, forces_replacement: pair.replace.end_here(), content }
}

/// Compares the attributes that have a value. Write-only ones are compared last, because their change depends on the others.
fn attributes(pair: &Pair<'_>, block: &provider::Block, change: &mut Change) -> Vec<(Name, Difference)> {
    let mut parts = Vec::with_capacity(block.slots().len());
    let (stored, write_only): (Vec<_>, Vec<_>) =
        block.attributes().partition(|(_, attribute)| !attribute.is_write_only());
    let has_write_only = !write_only.is_empty();
    for (name, attribute) in stored.into_iter().chain(write_only) {
        let part = pair.named(name).relevant().implicit();
        let difference = compare_attribute(&part, attribute, *change);
        // An attribute without a value on both sides is omitted.
        if difference.change == Change::None && part.is_nothing() && !attribute.is_write_only() {
            continue;
        }
        *change = change.with_part(difference.change);
        parts.push((name.clone(), difference));
    }
    if has_write_only {
        // Restores the alphabetical order after write-only attributes were compared last.
        parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    parts
}

fn compare_attribute(pair: &Pair<'_>, attribute: &provider::Attribute, whole: Change) -> Difference {
    if attribute.is_write_only() {
        let forces_replacement = pair.replace.end_here();
        // Write-only values are not stored, so a change cannot be detected.
        let change = match whole {
            Change::Create | Change::Delete => whole,
            _ if forces_replacement => Change::Update,
            _ => Change::None,
        };
        return Difference { change, forces_replacement, content: Content::WriteOnly };
    }
    match attribute.kind() {
        AttributeType::Type(ty) => compare_part(pair, ty),
        AttributeType::Nested(schema) => compare_nested(pair, schema),
    }
}

fn compare_nested(pair: &Pair<'_>, schema: &ObjectSchema) -> Difference {
    let object = schema.object();
    let single = |pair: &Pair<'_>| compare_nested_object(pair, object);
    // A single nested object is handled like the elements of the others.
    if schema.nesting() == ObjectNesting::Single {
        return single(pair);
    }
    sensitive_or(pair, Content::Sensitive, |pair| {
        unknown_or(pair, |pair| {
            let (change, content) = match schema.nesting() {
                // Single objects were handled above.
                ObjectNesting::Single | ObjectNesting::List => {
                    let (change, parts) = by_position(pair, &single);
                    (change, Content::List(parts, Style::Nested))
                }
                ObjectNesting::Set => {
                    let (change, parts) = set_parts(pair, single);
                    (change, Content::Set(parts, Style::Nested))
                }
                ObjectNesting::Map => {
                    let (change, parts) = entries(pair, single);
                    (change, Content::Map(parts, Style::Nested))
                }
            };
            Difference { change, forces_replacement: pair.replace.end_here(), content }
        })
    })
}

fn compare_nested_object(pair: &Pair<'_>, object: &provider::Block) -> Difference {
    sensitive_or(pair, Content::Sensitive, |pair| {
        unknown_with_attributes_or(pair, object, |pair| {
            let mut change = pair.change_of_whole();
            let parts = attributes(pair, object, &mut change);
            let content = Content::Object(parts, Style::Nested);
            Difference { change, forces_replacement: pair.replace.end_here(), content }
        })
    })
}

fn by_position(pair: &Pair<'_>, compare: &dyn Fn(&Pair<'_>) -> Difference) -> (Change, Vec<Difference>) {
    let (before, after) = (pair.elements_before().len(), pair.elements_after().len());
    // Nested blocks in a list have no identity, so they are compared by position.
    let parts = (0..before.max(after)).map(|position| {
        let part = pair.at((position < before).then_some(position), (position < after).then_some(position));
        compare(&part.relevant())
    });
    gather(pair.change_of_whole(), parts)
}

fn groups(pair: &Pair<'_>, block: &provider::Block, change: &mut Change) -> Vec<(Name, Group)> {
    let mut groups = Vec::new();
    for slot in block.slots() {
        let Item::Block(nested) = &slot.item else { continue };
        let part = pair.named(&slot.name).relevant();
        let (part_change, blocks) = nested_blocks(&part, nested);
        // Block types without any block are omitted.
        if part_change == Change::None && part.is_nothing() {
            continue;
        }
        *change = change.with_part(part_change);
        let (before, after) = (part.is_before_sensitive(), part.is_after_sensitive());
        let group = Group {
            blocks,
            forces_replacement: part.replace.end_here(),
            sensitivity: (before || after).then_some(Sensitivity { before, after, inner: part_change }),
            is_set: nested.nesting() == Nesting::Set,
        };
        groups.push((slot.name.clone(), group));
    }
    groups
}

fn nested_blocks(pair: &Pair<'_>, nested: &NestedBlock) -> (Change, Vec<(Option<Name>, Difference)>) {
    let block = nested.block();
    // A single nested block inherits the proof from its parent block.
    let is_part = nested.nesting() == Nesting::Single && pair.texts == Texts::AsWritten;
    let texts = if is_part || has_new_nesting(nested) { Texts::AsWritten } else { texts_of(block) };
    let compare = |pair: &Pair<'_>| compare_block(&Pair { texts, ..pair.clone() }, block);
    let without_keys = |parts: Vec<Difference>| parts.into_iter().map(|part| (None, part)).collect();
    // Unknown blocks have no elements to compare one by one.
    if pair.after.is_some_and(|value| !value.is_known()) {
        let difference = unknown_with_attributes_or(pair, block, compare);
        return (difference.change, vec![(None, difference)]);
    }
    match nested.nesting() {
        Nesting::Single | Nesting::Group => {
            let difference = compare(pair);
            (difference.change, vec![(None, difference)])
        }
        Nesting::List => {
            let (change, parts) = by_position(pair, &compare);
            (change, without_keys(parts))
        }
        Nesting::Set => {
            let (change, parts) = set_parts(pair, compare);
            (change, without_keys(parts))
        }
        Nesting::Map => {
            let (change, parts) = entries(pair, compare);
            (change, parts.into_iter().map(|(key, part)| (Some(key), part)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Palette;
    use crate::views::difference::{RenderOptions, Writer};
    use groma_provider::{Attribute, Use};

    /// Renders an object of `block`.
    fn shown(block: &provider::Block, object: &Value) -> String {
        let difference = compare_objects(block, object, object, Paths::default(), Relevance::All);
        let options =
            RenderOptions { hides_null: true, shows_unchanged: true, hides_symbols: true, ..RenderOptions::default() };
        let mut out = String::new();
        Writer::new(Palette::Plain, &mut out).difference(&difference, 0, options);
        out
    }

    fn block_of(
        attributes: Vec<(&'static str, Attribute)>,
        blocks: Vec<(&'static str, NestedBlock)>,
    ) -> provider::Block {
        provider::Block::new(attributes, blocks)
    }

    #[test]
    fn unchanged_unknown_value_is_shown_as_unknown() {
        let block = block_of(vec![("stdin", Attribute::optional(Type::String))], Vec::new());
        let text = shown(&block, &Value::object([("stdin", Value::unknown(Type::String))]));
        assert!(text.contains("stdin = (known after apply)"), "{text}");
    }

    #[test]
    fn null_string_in_collection_has_no_null_suffix() {
        let block = block_of(vec![("m", Attribute::optional(Type::Map(Arc::new(Type::String))))], Vec::new());
        let map = |entries: Vec<(&str, Value)>| Value::object([("m", Value::map(Type::String, entries))]);
        let (before, after) = (map(vec![("e", Value::null(Type::String)), ("f", Value::string("f"))]), map(Vec::new()));
        let difference = compare_objects(&block, &before, &after, Paths::default(), Relevance::All);
        let mut out = String::new();
        Writer::new(Palette::Plain, &mut out).difference(&difference, 0, RenderOptions::default());
        // The null of the map is gone with its entry, so only a value gets the suffix.
        assert!(out.contains("\"e\" = null\n") && out.contains("\"f\" = \"f\" -> null\n"), "{out}");
    }

    #[test]
    fn single_block_keeps_empty_string_if_provider_distinguishes_null() {
        let text = || Attribute::optional(Type::String);
        let single = || ("one", NestedBlock::new(Nesting::Single, block_of(vec![("text", text())], Vec::new())));
        let object = Value::object([("one", Value::object([("text", Value::string(""))]))]);
        // The schema has only what the legacy SDK supports.
        let of_old = block_of(Vec::new(), vec![single()]);
        assert!(!shown(&of_old, &object).contains("text = \"\""), "{}", shown(&of_old, &object));
        // A nested attribute proves a modern provider.
        let nested = Attribute::nested(ObjectSchema::new(ObjectNesting::Single, [("x", text())]), Use::Optional);
        let new = block_of(vec![("nested", nested)], vec![single()]);
        let object =
            Value::object([("nested", Value::NULL), ("one", object.as_object().unwrap().get("one").unwrap().clone())]);
        assert!(shown(&new, &object).contains("text = \"\""), "{}", shown(&new, &object));
    }
}
