//! Comparing objects of a schema: attributes and blocks.

use std::sync::Arc;

use groma_provider as provider;
use groma_provider::{AttributeType, Item, NestedBlock, Nesting, ObjectNesting, ObjectSchema};
use groma_value::{Name, Type, Value};

use super::compare::{compare_part, entries, gather, secret_or, set_parts, unknown_or};
use super::pair::{Pair, Paths, Relevance, Texts};
use super::tree::{Block, Change, Content, Difference, Group, Secrecy, Style};

/// Compares two objects of a resource type or data source.
pub fn compare_objects<'a>(
    block: &provider::Block,
    before: &'a Value,
    after: &'a Value,
    replace: Paths<'a>,
    relevance: Relevance<'a>,
) -> Difference {
    compare_block(&Pair { before: Some(before), after: Some(after), replace, relevance, texts: texts_of(block) }, block)
}

/// Returns the treatment of empty strings in a block; each block of a schema decides separately.
fn texts_of(block: &provider::Block) -> Texts {
    let is_new = block.slots().iter().any(|slot| match &slot.item {
        Item::Attribute(attribute) => match attribute.kind() {
            AttributeType::Nested(_) => true,
            AttributeType::Type(ty) => !could_be_of_old(ty),
        },
        Item::Block(nested) => has_new_nesting(nested),
    });
    if is_new { Texts::AsWritten } else { Texts::EmptyIsNull }
}

/// Providers of old had lists and sets of blocks, and single ones.
fn has_new_nesting(nested: &NestedBlock) -> bool {
    matches!(nested.nesting(), Nesting::Group | Nesting::Map)
}

/// Whether providers of old could have attributes of this type.
fn could_be_of_old(ty: &Type) -> bool {
    let element = |ty: &Type| match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => Some(Arc::clone(element)),
        _ => None,
    };
    match element(ty) {
        Some(inner) => !ty.has_dynamic() && element(&inner).is_none_or(|inmost| is_primitive(&inmost)),
        None => is_primitive(ty),
    }
}

fn is_primitive(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Number | Type::String)
}

fn compare_block(pair: &Pair<'_>, block: &provider::Block) -> Difference {
    secret_or(pair, Content::SensitiveBlock, |pair| {
        unknown_with_attributes_or(pair, block, |pair| {
            let mut change = pair.change_of_whole();
            let attributes = attributes(pair, block, &mut change);
            let groups = groups(pair, block, &mut change);
            let content = Content::Block(Block { attributes, groups });
            Difference { change, forces_replacement: pair.replace.end_here(), content }
        })
    })
}

/// As `unknown_or`, but the attributes of what was before read as becoming unknown too, not as deleted.
fn unknown_with_attributes_or(
    pair: &Pair<'_>,
    block: &provider::Block,
    compare: impl Fn(&Pair<'_>) -> Difference,
) -> Difference {
    if pair.after.is_none_or(Value::is_known) || pair.before.is_none_or(Value::is_null) {
        return unknown_or(pair, compare);
    }
    let unknown = Value::object(block.attributes().map(|(name, _)| (name.clone(), Value::DYNAMIC)));
    let before = compare(&Pair { after: Some(&unknown), ..pair.clone() });
    let content = Content::Unknown(Some(Box::new(before)));
    Difference { change: Change::Update, forces_replacement: pair.replace.end_here(), content }
}

/// The attributes that have a value, write-only ones last, because they follow what happens to the others.
fn attributes(pair: &Pair<'_>, block: &provider::Block, change: &mut Change) -> Vec<(Name, Difference)> {
    let mut parts = Vec::with_capacity(block.slots().len());
    let (stored, write_only): (Vec<_>, Vec<_>) =
        block.attributes().partition(|(_, attribute)| !attribute.is_write_only());
    let has_write_only = !write_only.is_empty();
    for (name, attribute) in stored.into_iter().chain(write_only) {
        let part = pair.named(name).relevant().implicit();
        let difference = compare_attribute(&part, attribute, *change);
        if difference.change == Change::None && part.is_nothing() && !attribute.is_write_only() {
            continue;
        }
        *change = change.with_part(difference.change);
        parts.push((name.clone(), difference));
    }
    if has_write_only {
        parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    parts
}

fn compare_attribute(pair: &Pair<'_>, attribute: &provider::Attribute, whole: Change) -> Difference {
    if attribute.is_write_only() {
        let forces_replacement = pair.replace.end_here();
        // Nobody knows whether it is another one than before.
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
    if schema.nesting() == ObjectNesting::Single {
        return single(pair);
    }
    secret_or(pair, Content::Sensitive, |pair| {
        unknown_or(pair, |pair| {
            let (change, content) = match schema.nesting() {
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
    secret_or(pair, Content::Sensitive, |pair| {
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
        if part_change == Change::None && part.is_nothing() {
            continue;
        }
        *change = change.with_part(part_change);
        let (before, after) = (part.is_before_sensitive(), part.is_after_sensitive());
        let group = Group {
            blocks,
            forces_replacement: part.replace.end_here(),
            secrecy: (before || after).then_some(Secrecy { before, after, inner: part_change }),
            is_set: nested.nesting() == Nesting::Set,
        };
        groups.push((slot.name.clone(), group));
    }
    groups
}

fn nested_blocks(pair: &Pair<'_>, nested: &NestedBlock) -> (Change, Vec<(Option<Name>, Difference)>) {
    let block = nested.block();
    // What is proven of a block holds for a single one in it, too.
    let is_part = nested.nesting() == Nesting::Single && pair.texts == Texts::AsWritten;
    let texts = if is_part || has_new_nesting(nested) { Texts::AsWritten } else { texts_of(block) };
    let compare = |pair: &Pair<'_>| compare_block(&Pair { texts, ..pair.clone() }, block);
    let without_keys = |parts: Vec<Difference>| parts.into_iter().map(|part| (None, part)).collect();
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
    use crate::views::difference::{Manner, Writer};
    use groma_provider::{Attribute, Use};

    /// Renders an object of `block` alone.
    fn shown(block: &provider::Block, object: &Value) -> String {
        let difference = compare_objects(block, object, object, Paths::default(), Relevance::All);
        let manner = Manner { hides_null: true, shows_unchanged: true, hides_symbols: true, ..Manner::default() };
        let mut out = String::new();
        Writer::new(Palette::Plain, &mut out).difference(&difference, 0, manner);
        out
    }

    fn block_of(
        attributes: Vec<(&'static str, Attribute)>,
        blocks: Vec<(&'static str, NestedBlock)>,
    ) -> provider::Block {
        provider::Block::new(attributes, blocks)
    }

    #[test]
    fn what_is_not_known_yet_and_was_nothing_else_before_reads_so() {
        let block = block_of(vec![("stdin", Attribute::optional(Type::String))], Vec::new());
        let text = shown(&block, &Value::object([("stdin", Value::unknown(Type::String))]));
        assert!(text.contains("stdin = (known after apply)"), "{text}");
    }

    #[test]
    fn a_null_among_texts_goes_without_saying_that_it_becomes_null() {
        let block = block_of(vec![("m", Attribute::optional(Type::Map(Arc::new(Type::String))))], Vec::new());
        let map = |entries: Vec<(&str, Value)>| Value::object([("m", Value::map(Type::String, entries))]);
        let (before, after) = (map(vec![("e", Value::null(Type::String)), ("f", Value::string("f"))]), map(Vec::new()));
        let difference = compare_objects(&block, &before, &after, Paths::default(), Relevance::All);
        let mut out = String::new();
        Writer::new(Palette::Plain, &mut out).difference(&difference, 0, Manner::default());
        assert!(out.contains("\"e\" = null\n") && out.contains("\"f\" = \"f\" -> null\n"), "{out}");
    }

    #[test]
    fn an_empty_text_in_a_single_block_is_one_where_the_provider_tells_it_from_null() {
        let text = || Attribute::optional(Type::String);
        let single = || ("one", NestedBlock::new(Nesting::Single, block_of(vec![("text", text())], Vec::new())));
        let object = Value::object([("one", Value::object([("text", Value::string(""))]))]);
        let of_old = block_of(Vec::new(), vec![single()]);
        assert!(!shown(&of_old, &object).contains("text = \"\""), "{}", shown(&of_old, &object));
        let nested = Attribute::nested(ObjectSchema::new(ObjectNesting::Single, [("x", text())]), Use::Optional);
        let new = block_of(vec![("nested", nested)], vec![single()]);
        let object =
            Value::object([("nested", Value::NULL), ("one", object.as_object().unwrap().get("one").unwrap().clone())]);
        assert!(shown(&new, &object).contains("text = \"\""), "{}", shown(&new, &object));
    }
}
