//! Shorthands for schemas and objects in the tests of this crate.

use groma_value::{Type, Value};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::Strategy;

use crate::Name;
use crate::schema::{Attribute, Block, Item, NestedBlock, Nesting, ObjectNesting, ObjectSchema, Use};

/// Creates a block schema that has only attributes.
pub(crate) fn attributes<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    Block::new(attributes, Vec::<(Name, NestedBlock)>::new())
}

/// Creates a string attribute.
pub(crate) fn string(usage: Use) -> Attribute {
    Attribute::new(crate::AttributeType::Type(Type::String), usage)
}

/// Returns the attributes that most tests need: `id` computed, `name` optional, `size` optional and computed.
pub(crate) fn usual() -> [(&'static str, Attribute); 3] {
    [("id", string(Use::Computed)), ("name", string(Use::Optional)), ("size", string(Use::OptionalComputed))]
}

/// Creates a schema with all nesting modes over the usual attributes: nested blocks `list`, `set`, `map`, `single` and
/// `group`, and optional nested attributes with the prefix `n_` (except for a group).
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

/// Creates an object of `block` with `values`; other members have their empty values.
pub(crate) fn object<const N: usize>(block: &Block, values: [(&str, Value); N]) -> Value {
    let given = |name: &str| values.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
    let slots = block.slots().iter();
    let all = slots.map(|slot| given(&slot.name).unwrap_or_else(|| slot.item.empty_value().clone()));
    block.object(all.collect())
}

/// Returns the schema of the objects nested in `name`.
pub(crate) fn inner<'a>(block: &'a Block, name: &str) -> &'a Block {
    block.item(name).and_then(Item::nested).map(|(_, inner)| &**inner).unwrap()
}

/// Creates one of the usual objects; empty strings become null.
pub(crate) fn usual_object(id: &str, name: &str, size: &str) -> Value {
    let text = |text: &str| if text.is_empty() { Value::null(Type::String) } else { Value::string(text) };
    object(&attributes(usual()), [("id", text(id)), ("name", text(name)), ("size", text(size))])
}

/// Returns the type of the usual objects.
pub(crate) fn usual_type() -> Type {
    attributes(usual()).implied_type().clone()
}

/// Creates a string value.
pub(crate) fn s(text: &str) -> Value {
    Value::string(text)
}

/// Generates a string or null.
fn text() -> impl Strategy<Value = Value> {
    option::of("[a-e]{1,2}").prop_map(|text| text.map_or(Value::null(Type::String), Value::string))
}

/// Generates a usual object; `computed` decides whether the computed attribute has a value.
fn usual_objects(computed: bool) -> impl Strategy<Value = Value> {
    (text(), text(), text()).prop_map(move |(id, name, size)| {
        let id = if computed { id } else { Value::null(Type::String) };
        object(&attributes(usual()), [("id", id), ("name", name), ("size", size)])
    })
}

/// Generates an object of the schema [`everything`].
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
