//! From paths to attributes, and from objects to the paths of attributes of a kind.

use groma_value::{Kind, Path, PathStep, Value};

use super::{Attribute, Block, Item, Nesting};
use crate::trail::Trail;

impl Block {
    /// The attribute that `path` ends at; `None` for blocks, elements, parts of a plain value, and what is not there.
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

    /// Whether `path` ends at, or within, an attribute that the schema hides.
    pub fn is_sensitive_at(&self, path: &Path) -> bool {
        self.passes(path, Attribute::is_sensitive)
    }

    /// Whether `path` ends at, or within, a write-only attribute.
    pub fn is_write_only_at(&self, path: &Path) -> bool {
        self.contains_write_only() && self.passes(path, Attribute::is_write_only)
    }

    /// Whether one of the attributes on the way along `path` is `wanted`.
    fn passes(&self, path: &Path, wanted: fn(&Attribute) -> bool) -> bool {
        let mut block = self;
        for step in path.steps() {
            let PathStep::Attribute(name) = step else { continue };
            match block.item(name) {
                None => return false,
                Some(Item::Attribute(attribute)) => match attribute.nested_type() {
                    _ if wanted(attribute) => return true,
                    Some(nested) => block = nested.object(),
                    None => return false,
                },
                Some(Item::Block(nested)) => block = nested.block(),
            }
        }
        false
    }

    /// The paths in `value` that the schema hides. Within a set the path is that of the set, since its elements have
    /// no place of their own.
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
        found.dedup();
        found
    }

    /// The paths of write-only attributes that have a value in `value` (LC-29): there must be none in anything kept.
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

/// What a walk does with each attribute.
type Visit<'v> = dyn FnMut(&Trail<'_>, &Attribute, &Value) + 'v;

/// Calls `visit` for every attribute of `value`, and of the objects nested in it that `wanted` accepts.
fn walk(block: &Block, value: &Value, trail: &Trail<'_>, wanted: fn(&Block) -> bool, visit: &mut Visit<'_>) {
    let Kind::Object(object) = value.kind() else { return };
    for (slot, value) in block.slots().iter().zip(object.values()) {
        let trail = trail.attribute(&slot.name);
        if let Item::Attribute(attribute) = &slot.item {
            visit(&trail, attribute, value);
        }
        if let Some((nesting, block)) = slot.item.nested().filter(|(_, block)| wanted(block)) {
            walk_nested(nesting, value, &trail, &mut |value, trail| walk(block, value, trail, wanted, visit));
        }
    }
}

/// Calls `visit` for every object of a nested attribute or kind of nested block.
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
        (Nesting::Set, Kind::Set(elements)) => elements.iter().for_each(|element| visit(element, trail)),
        _ => {}
    }
}
