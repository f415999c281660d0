//! Short ways to write schemas and objects, for the tests of this crate.

use groma_value::{Type, Value};

use crate::Name;
use crate::schema::{Attribute, Block, Item, NestedBlock, Nesting, ObjectNesting, ObjectSchema, Use};

/// A block of attributes alone.
pub(crate) fn attributes<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    Block::new(attributes, Vec::<(Name, NestedBlock)>::new())
}

/// A string attribute.
pub(crate) fn string(usage: Use) -> Attribute {
    Attribute::new(crate::AttributeType::Type(Type::String), usage)
}

/// The attributes that most tests need: `id` computed, `name` optional, `size` optional and computed.
pub(crate) fn usual() -> [(&'static str, Attribute); 3] {
    [("id", string(Use::Computed)), ("name", string(Use::Optional)), ("size", string(Use::OptionalComputed))]
}

/// A schema with every nesting mode of blocks and of nested attributes over the usual attributes: `list`, `set`, `map`,
/// `single`, `group`, and the same with `n_` as optional nested attributes (but for a group).
pub(crate) fn everything() -> Block {
    let nested = |nesting| Attribute::nested(ObjectSchema::new(nesting, usual()), Use::Optional);
    let block = |nesting| NestedBlock::new(nesting, attributes(usual()));
    let mut all: Vec<(&str, Attribute)> = usual().into();
    all.extend([
        ("n_list", nested(ObjectNesting::List)),
        ("n_set", nested(ObjectNesting::Set)),
        ("n_map", nested(ObjectNesting::Map)),
        ("n_single", nested(ObjectNesting::Single)),
    ]);
    Block::new(
        all,
        [
            ("list", block(Nesting::List)),
            ("set", block(Nesting::Set)),
            ("map", block(Nesting::Map)),
            ("single", block(Nesting::Single)),
            ("group", block(Nesting::Group)),
        ],
    )
}

/// An object of `block`: these attributes, and what an empty block has for the others.
pub(crate) fn object<const N: usize>(block: &Block, values: [(&str, Value); N]) -> Value {
    let given = |name: &str| values.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
    let slots = block.slots().iter();
    let all = slots.map(|slot| given(&slot.name).unwrap_or_else(|| slot.item.empty_value().clone()));
    block.object(all.collect())
}

/// The schema of the objects nested in `name`.
pub(crate) fn inner<'a>(block: &'a Block, name: &str) -> &'a Block {
    block.item(name).and_then(Item::nested).map(|(_, inner)| &**inner).unwrap()
}

/// One of the usual objects nested in `name`: id, name and size, null where empty.
pub(crate) fn usual_object(id: &str, name: &str, size: &str) -> Value {
    let text = |text: &str| if text.is_empty() { Value::null(Type::String) } else { Value::string(text) };
    object(&attributes(usual()), [("id", text(id)), ("name", text(name)), ("size", text(size))])
}

/// The type of the usual objects.
pub(crate) fn usual_type() -> Type {
    attributes(usual()).implied_type().clone()
}

/// A string value.
pub(crate) fn s(text: &str) -> Value {
    Value::string(text)
}
