//! The schemas of the cloud: the provider's configuration, objects, lookups, sessions and actions.

use groma_provider::{Attribute, Block, NestedBlock, Schema};
use groma_value::Type;

fn schema<const N: usize>(attributes: [(&str, Attribute); N]) -> Schema {
    Schema::new(Block::new(attributes, [] as [(&str, NestedBlock); 0]))
}

fn optional() -> Attribute {
    Attribute::optional(Type::String)
}

pub(super) fn config() -> Schema {
    schema([("endpoint", optional()), ("store", optional())])
}

pub(super) fn object() -> Schema {
    schema([
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::required(Type::String)),
        ("parent", optional()),
        ("refs", Attribute::optional(Type::list(Type::String))),
        ("replace", optional()),
        ("value", optional()),
    ])
}

pub(super) fn lookup() -> Schema {
    schema([
        ("ids", Attribute::computed(Type::list(Type::String))),
        ("name", Attribute::required(Type::String)),
        ("of", optional()),
    ])
}

pub(super) fn session() -> Schema {
    schema([("endpoint", Attribute::computed(Type::String)), ("target", Attribute::required(Type::String))])
}

pub(super) fn action() -> Schema {
    schema([("name", Attribute::required(Type::String)), ("ref", optional())])
}
