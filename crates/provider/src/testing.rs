//! Short ways to write schemas and objects, for the tests of this crate.

use groma_value::{Type, Value};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::Strategy;

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

/// A text, or null.
fn text() -> impl Strategy<Value = Value> {
    option::of("[a-e]{1,2}").prop_map(|text| text.map_or(Value::null(Type::String), Value::string))
}

/// A usual object; `computed` are values for what a configuration cannot set.
fn usual_objects(computed: bool) -> impl Strategy<Value = Value> {
    (text(), text(), text()).prop_map(move |(id, name, size)| {
        let id = if computed { id } else { Value::null(Type::String) };
        object(&attributes(usual()), [("id", id), ("name", name), ("size", size)])
    })
}

/// An object of the schema with everything.
pub(crate) fn objects(computed: bool) -> impl Strategy<Value = Value> {
    let some = || vec(usual_objects(computed), 0..4);
    let keyed = || vec(("[k-n]", usual_objects(computed)), 0..4);
    let maybe = || option::of(usual_objects(computed));
    let plain = usual_objects(computed);
    (plain, (some(), some(), keyed(), maybe()), (some(), some(), keyed(), maybe(), usual_objects(computed))).prop_map(
        |(plain, nested, blocks)| {
            let block = everything();
            let get = |name: &str| plain.attribute(name).unwrap();
            let or_null = |value: Option<Value>| value.unwrap_or(Value::null(usual_type()));
            object(
                &block,
                [
                    ("id", get("id")),
                    ("name", get("name")),
                    ("size", get("size")),
                    ("n_list", Value::list(usual_type(), nested.0)),
                    ("n_set", Value::set(usual_type(), nested.1)),
                    ("n_map", Value::map(usual_type(), nested.2)),
                    ("n_single", or_null(nested.3)),
                    ("list", Value::list(usual_type(), blocks.0)),
                    ("set", Value::set(usual_type(), blocks.1)),
                    ("map", Value::map(usual_type(), blocks.2)),
                    ("single", or_null(blocks.3)),
                    ("group", blocks.4),
                ],
            )
        },
    )
}
