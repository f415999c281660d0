//! Validation of schemas themselves (plugin-protocol 4.3, "schema load"; FW-18).

use std::fmt;

use groma_value::Type;

use super::{Attribute, AttributeType, Block, Item, NestedBlock, Nesting, ObjectNesting, Schema};

/// An error in a schema, which is a bug in the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// The attribute or block as names joined by dots.
    pub path: String,
    /// A clause that describes the problem.
    pub message: String,
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl Schema {
    /// Finds all errors in the schema.
    pub fn problems(&self) -> Vec<SchemaProblem> {
        let mut found = Vec::new();
        check_block(&self.block, "", &mut found);
        for (name, attribute) in self.identity.iter().flat_map(|identity| &identity.attributes) {
            let sound = match &attribute.ty {
                Type::Bool | Type::Number | Type::String => true,
                Type::List(element) => element.is_primitive(),
                _ => false,
            };
            if !sound {
                let message = format!(
                    "an identity attribute must have a primitive type or be a list of one, not {}",
                    attribute.ty
                );
                found.push(SchemaProblem { path: format!("identity.{name}"), message });
            }
        }
        found
    }
}

fn check_block(block: &Block, prefix: &str, found: &mut Vec<SchemaProblem>) {
    for name in block.clashes() {
        found.push(problem(prefix, name, "the name is declared more than once"));
    }
    for slot in block.slots() {
        match &slot.item {
            Item::Attribute(attribute) => check_attribute(attribute, prefix, &slot.name, found),
            Item::Block(nested) => {
                check_nested(nested, prefix, &slot.name, found);
                check_block(nested.block(), &format!("{prefix}{}.", slot.name), found);
            }
        }
    }
}

fn check_attribute(attribute: &Attribute, prefix: &str, name: &str, found: &mut Vec<SchemaProblem>) {
    if let AttributeType::Nested(nested) = attribute.kind() {
        if nested.nesting() == ObjectNesting::Set {
            check_set(nested.object(), prefix, name, found);
        }
        check_block(nested.object(), &format!("{prefix}{name}."), found);
    }
}

fn check_nested(nested: &NestedBlock, prefix: &str, name: &str, found: &mut Vec<SchemaProblem>) {
    if name.is_empty() || !name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')) {
        found.push(problem(prefix, name, "the name of a nested block may contain only a-z, 0-9 and _"));
    }
    let (min, max) = (nested.min(), nested.max());
    match nested.nesting() {
        Nesting::Single => {
            if min > 1 || max.is_some_and(|max| max > 1 || max < min) {
                found.push(problem(
                    prefix,
                    name,
                    "a single block must have limits of 0 or 1, with the minimum not above the maximum",
                ));
            }
        }
        Nesting::Group | Nesting::Map => {
            if min != 0 || max.is_some() {
                found.push(problem(prefix, name, "a group or map of blocks must not have limits"));
            }
        }
        Nesting::List | Nesting::Set => {
            if max.is_some_and(|max| min > max) {
                found.push(problem(prefix, name, "the minimum number of blocks exceeds the maximum"));
            }
        }
    }
    if nested.nesting() == Nesting::Set {
        check_set(nested.block(), prefix, name, found);
    }
}

/// Checks the objects of a set. Set elements are identified by their values, which must thus have one type and be
/// stored.
fn check_set(object: &Block, prefix: &str, name: &str, found: &mut Vec<SchemaProblem>) {
    if object.implied_type().has_dynamic() {
        found.push(problem(prefix, name, "a set cannot hold attributes of dynamic type"));
    }
    if object.contains_write_only() {
        found.push(problem(prefix, name, "a set cannot hold write-only attributes"));
    }
}

fn problem(prefix: &str, name: &str, message: &str) -> SchemaProblem {
    SchemaProblem { path: format!("{prefix}{name}"), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Name;
    use crate::schema::{ObjectSchema, Use};

    fn problems(block: Block) -> Vec<String> {
        Schema::new(block).problems().iter().map(ToString::to_string).collect()
    }

    fn no_attributes() -> Vec<(Name, Attribute)> {
        Vec::new()
    }

    fn no_blocks() -> Vec<(Name, NestedBlock)> {
        Vec::new()
    }

    #[test]
    fn valid_schema_has_no_problems() {
        let nested = NestedBlock::new(Nesting::List, Block::default()).at_least(1).at_most(2);
        assert!(problems(Block::new([("id", Attribute::computed(Type::String))], [("rule", nested)])).is_empty());
    }

    #[test]
    fn lc_32_schema_load_finds_every_inconsistency() {
        let set = ObjectSchema::new(ObjectNesting::Set, [("any", Attribute::optional(Type::Dynamic))]);
        let found = problems(Block::new(
            [("twice", Attribute::optional(Type::String)), ("set", Attribute::nested(set, Use::Optional))],
            [
                ("twice", NestedBlock::new(Nesting::List, Block::default())),
                ("Bad-Name", NestedBlock::new(Nesting::List, Block::default())),
                ("single", NestedBlock::new(Nesting::Single, Block::default()).at_most(2)),
                ("group", NestedBlock::new(Nesting::Group, Block::default()).at_least(1)),
                ("list", NestedBlock::new(Nesting::List, Block::default()).at_least(3).at_most(2)),
                (
                    "blocks",
                    NestedBlock::new(
                        Nesting::Set,
                        Block::new([("w", Attribute::optional(Type::String).write_only())], no_blocks()),
                    ),
                ),
            ],
        ));
        for name in ["twice:", "set:", "Bad-Name:", "single:", "group:", "list:", "blocks:"] {
            assert_eq!(found.iter().filter(|text| text.starts_with(name)).count(), 1, "{name} in {found:#?}");
        }
    }

    #[test]
    fn nested_problems_are_named_by_path() {
        let inner = Block::new(no_attributes(), [("map", NestedBlock::new(Nesting::Map, Block::default()).at_most(1))]);
        let found = problems(Block::new(no_attributes(), [("outer", NestedBlock::new(Nesting::List, inner))]));
        assert_eq!(found, ["outer.map: a group or map of blocks must not have limits"]);
    }
}
