//! Navigation between attribute paths, schemas and objects.

use groma_value::{Kind, Path, PathStep, Value};

use super::{Attribute, Block, Item, Nesting};
use crate::trail::Trail;

impl Block {
    /// Returns the attribute at `path`; `None` for blocks, elements, parts of attributes without nested objects, and
    /// unknown names.
    pub fn attribute_at(&self, path: &Path) -> Option<&Attribute> {
        let mut names = path.steps().iter().filter_map(|step| match step {
            PathStep::Attribute(name) => Some(name),
            PathStep::Index(_) => None,
        });
        if !matches!(path.steps().last(), Some(PathStep::Attribute(_))) {
            return None;
        }
        let mut block = self;
        loop {
            let item = block.item(names.next()?)?;
            let rest = names.clone().next().is_some();
            match item {
                Item::Attribute(attribute) if !rest => return Some(attribute),
                Item::Attribute(attribute) => block = attribute.nested_type()?.object(),
                Item::Block(nested) => block = nested.block(),
            }
        }
    }

    /// Whether `path` is at or within a sensitive attribute.
    pub fn is_sensitive_at(&self, path: &Path) -> bool {
        self.passes(path, Attribute::is_sensitive)
    }

    /// Whether `path` is at or within a write-only attribute.
    pub fn is_write_only_at(&self, path: &Path) -> bool {
        self.contains_write_only() && self.passes(path, Attribute::is_write_only)
    }

    /// Whether `path` passes an attribute that satisfies `predicate`.
    fn passes(&self, path: &Path, predicate: fn(&Attribute) -> bool) -> bool {
        let mut block = self;
        for step in path.steps() {
            let PathStep::Attribute(name) = step else { continue };
            match block.item(name) {
                None => return false,
                Some(Item::Attribute(attribute)) => match attribute.nested_type() {
                    _ if predicate(attribute) => return true,
                    Some(nested) => block = nested.object(),
                    None => return false,
                },
                Some(Item::Block(nested)) => block = nested.block(),
            }
        }
        false
    }

    /// Returns the paths of sensitive attributes in `value`. Within a set it is the path of the whole set, since set
    /// elements have no usable paths.
    pub fn sensitive_paths(&self, value: &Value) -> Vec<Path> {
        let mut found = Vec::new();
        if self.contains_sensitive() {
            let mut visit = |trail: &Trail<'_>, attribute: &Attribute, _: &Value| {
                if attribute.is_sensitive() {
                    found.push(trail.path());
                }
            };
            walk(self, value, &Trail::ROOT, Block::contains_sensitive, &mut visit);
        }
        // Several elements of a set yield the same path.
        found.dedup();
        found
    }

    /// Returns the paths of write-only attributes with non-null values in `value` (LC-29). Stored objects must have
    /// none.
    pub fn write_only_values(&self, value: &Value) -> Vec<Path> {
        let mut found = Vec::new();
        if self.contains_write_only() {
            let mut visit = |trail: &Trail<'_>, attribute: &Attribute, value: &Value| {
                if attribute.is_write_only() && !value.is_null() {
                    found.push(trail.path());
                }
            };
            walk(self, value, &Trail::ROOT, Block::contains_write_only, &mut visit);
        }
        found
    }
}

/// The callback of a walk over attributes.
type Visit<'v> = dyn FnMut(&Trail<'_>, &Attribute, &Value) + 'v;

/// Calls `visit` for each attribute of `value`, and for those of nested objects whose schema satisfies `descend`.
fn walk(block: &Block, value: &Value, trail: &Trail<'_>, descend: fn(&Block) -> bool, visit: &mut Visit<'_>) {
    let Kind::Object(object) = value.kind() else { return };
    for (slot, value) in block.slots().iter().zip(object.values()) {
        let trail = trail.attribute(&slot.name);
        if let Item::Attribute(attribute) = &slot.item {
            visit(&trail, attribute, value);
        }
        if let Some((nesting, block)) = slot.item.nested().filter(|(_, block)| descend(block)) {
            walk_nested(nesting, value, &trail, &mut |value, trail| walk(block, value, trail, descend, visit));
        }
    }
}

/// Calls `visit` for each object of a nested attribute or nested block type.
pub(super) fn walk_nested(
    nesting: Nesting,
    value: &Value,
    trail: &Trail<'_>,
    visit: &mut dyn FnMut(&Value, &Trail<'_>),
) {
    match (nesting, value.kind()) {
        (Nesting::Single | Nesting::Group, Kind::Object(_)) => visit(value, trail),
        (Nesting::List, Kind::List(elements) | Kind::Tuple(elements)) => {
            for (position, element) in elements.iter().enumerate() {
                visit(element, &trail.position(position));
            }
        }
        (Nesting::Map, Kind::Map(elements)) => {
            elements.iter().for_each(|(key, element)| visit(element, &trail.key(key)));
        }
        (Nesting::Map, Kind::Object(elements)) => {
            elements.iter().for_each(|(key, element)| visit(element, &trail.key(key)));
        }
        // The trail stays at the set: an index by element value could not be applied to a changed value.
        (Nesting::Set, Kind::Set(elements)) => elements.iter().for_each(|element| visit(element, trail)),
        _ => {}
    }
}
