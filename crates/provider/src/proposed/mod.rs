//! The proposed new state: the configuration merged over the prior state (LC-04, LC-05; plugin-protocol 4.6).

use groma_value::{Kind, Marks, PathMarks, Value};

use crate::Name;
use crate::correlate::{Candidates, Mask};
use crate::schema::{Attribute, Block, Item, Nesting, Use};

/// Merges `config` over `prior` into the proposed new state that a provider plans from (LC-04, LC-05).
///
/// A non-null configured value wins; else a computed attribute keeps its prior value; else the attribute is null.
/// Nested objects are matched by index, by key, or, in sets, by their configured attributes. The result is null for a
/// null `config`, a deletion. Without a prior object, computed attributes are null, and the provider plans which of
/// them become unknown.
///
/// Both values have the implied type of `block`; `prior` is wholly known.
pub fn proposed_new_state(block: &Block, prior: &Value, config: &Value) -> Value {
    merge(block, Prior::of(prior), config)
}

/// Predicts an object that is read or opened only during apply: `config` with unknown for computed attributes that it
/// does not set, and with sensitive marks from the schema.
pub fn planned_unknown(block: &Block, config: &Value) -> Value {
    let planned = merge(block, Prior::Unknown, config);
    // Most schemas have no sensitive attributes, so the walk through the object is usually skipped.
    if planned.is_null() || !block.contains_sensitive() {
        return planned;
    }
    let hidden: PathMarks = block.sensitive_paths(&planned).into_iter().map(|path| (path, Marks::SENSITIVE)).collect();
    planned.mark_paths(&hidden)
}

/// The prior value that a configuration is merged over.
#[derive(Clone, Copy)]
enum Prior<'a> {
    Absent,
    /// It will exist, with unknown attributes.
    Unknown,
    Is(&'a Value),
}

impl<'a> Prior<'a> {
    fn of(value: &'a Value) -> Self {
        match value.kind() {
            Kind::Null => Self::Absent,
            Kind::Unknown(_) => Self::Unknown,
            _ => Self::Is(value),
        }
    }

    /// A null within an object counts as a value: for an attribute of dynamic type it has a type to keep.
    fn of_part(value: &'a Value) -> Self {
        if value.is_known() { Self::Is(value) } else { Self::Unknown }
    }

    /// Returns the attribute or element at `position` of an object, list or tuple.
    fn part(self, position: usize) -> Self {
        match self {
            Self::Is(value) => match value.kind() {
                Kind::Object(object) => object.values().get(position).map_or(Self::Absent, Self::of_part),
                Kind::List(elements) | Kind::Tuple(elements) => {
                    elements.get(position).map_or(Self::Absent, Self::of_part)
                }
                _ => Self::Absent,
            },
            other => other,
        }
    }

    /// Returns the element with the key `key` of a map, or of an object that represents a map.
    fn element(self, key: &str) -> Self {
        match self {
            Self::Is(value) => match value.kind() {
                Kind::Map(map) => map.get(key).map_or(Self::Absent, Self::of_part),
                // A map block with dynamic attributes is represented as an object.
                Kind::Object(object) => object.get(key).map_or(Self::Absent, Self::of_part),
                _ => Self::Absent,
            },
            other => other,
        }
    }

    /// Returns the prior value of an attribute that the configuration leaves to the provider.
    fn kept(self, attribute: &Attribute) -> Value {
        match self {
            // An absent object has no value to keep, so the provider decides which attributes become unknown.
            Self::Absent => attribute.empty_value().clone(),
            Self::Unknown => Value::unknown(attribute.ty()),
            Self::Is(value) => value.clone(),
        }
    }
}

/// Merges one object, each attribute and nested block by its own rule.
fn merge(block: &Block, prior: Prior<'_>, config: &Value) -> Value {
    // A null (an absent block, a deletion) or unknown (a dynamic block) is not merged.
    let Kind::Object(configured) = config.kind() else { return config.clone() };
    let parts = block.slots().iter().zip(configured.values()).enumerate().map(|(position, (slot, config))| {
        let prior = prior.part(position);
        match &slot.item {
            Item::Attribute(attribute) => merge_attribute(attribute, prior, config),
            Item::Block(nested) => merge_nested(nested.nesting(), nested.block(), prior, config),
        }
    });
    let merged = block.object(parts.collect());
    // Rebuilding an aggregate drops its own marks.
    if config.marks().is_empty() { merged } else { merged.with_marks(config.marks()) }
}

fn merge_attribute(attribute: &Attribute, prior: Prior<'_>, config: &Value) -> Value {
    if attribute.is_computed() && config.is_null() {
        // Non-computed values in the prior object show that the attribute was configured before and was then removed:
        // all of it goes.
        return if was_configured(attribute, prior) { config.clone() } else { prior.kept(attribute) };
    }
    match attribute.nested_type() {
        Some(nested) => merge_nested(nested.nesting().into(), nested.object(), prior, config),
        None => config.clone(),
    }
}

fn merge_nested(nesting: Nesting, block: &Block, prior: Prior<'_>, config: &Value) -> Value {
    let merged = match (nesting, config.kind()) {
        // A single block corresponds to the prior one, whatever its content.
        (Nesting::Single | Nesting::Group, _) => return merge(block, prior, config),
        (Nesting::List, Kind::List(elements) | Kind::Tuple(elements)) => {
            let merged =
                elements.iter().enumerate().map(|(position, config)| merge(block, prior.part(position), config));
            collection_like(config, block, merged.collect())
        }
        (Nesting::Map, Kind::Map(elements)) => {
            let merged = elements.iter().map(|(key, config)| merge(block, prior.element(key), config));
            collection_like(config, block, merged.collect())
        }
        (Nesting::Map, Kind::Object(elements)) => {
            let merged = elements.iter().map(|(key, config)| merge(block, prior.element(key), config));
            collection_like(config, block, merged.collect())
        }
        (Nesting::Set, Kind::Set(elements)) => merge_set(block, prior, elements),
        // Nulls, unknowns, and values of other types, which the shape checks have already reported.
        _ => return config.clone(),
    };
    if config.marks().is_empty() { merged } else { merged.with_marks(config.marks()) }
}

/// Creates a collection of the same type as `like` from other elements that conform to `block`: as many as `like` has,
/// except for sets.
pub fn collection_like(like: &Value, block: &Block, elements: Vec<Value>) -> Value {
    let keys = |names: &[Name]| names.to_vec();
    // Values of dynamic attributes give the element objects different types, for which only tuples and objects work.
    let element_type = match elements.first() {
        Some(first) if block.implied_type().has_dynamic() => {
            let ty = first.ty();
            elements.iter().all(|element| element.has_type(&ty)).then_some(ty)
        }
        _ => Some(block.implied_type().clone()),
    };
    match (like.kind(), element_type) {
        (Kind::List(_), Some(ty)) => Value::list(ty, elements),
        (Kind::Set(_), Some(ty)) => Value::set(ty, elements),
        (Kind::Map(map), Some(ty)) => Value::map(ty, keys(map.keys()).into_iter().zip(elements)),
        (Kind::Map(map), None) => Value::object(keys(map.keys()).into_iter().zip(elements)),
        (Kind::Object(object), _) => Value::object_shaped(object.shape(), elements),
        _ => Value::tuple(elements),
    }
}

/// Finds, for each of the `configured` set elements, the corresponding element of `others`: the first unused one that
/// agrees in all configured attributes (LC-05, FW-14). Runs in linear time.
pub fn match_set_elements(block: &Block, configured: &[Value], others: &[Value]) -> Vec<Option<usize>> {
    let mut candidates = Candidates::new(others);
    let mut used = vec![false; others.len()];
    let mut take = |config: &Value| take_first(&mut candidates, &mut used, config, mask_of_computed(block, config));
    configured.iter().map(&mut take).collect()
}

fn merge_set(block: &Block, prior: Prior<'_>, elements: &[Value]) -> Value {
    let known = match prior {
        Prior::Is(value) => match value.kind() {
            Kind::Set(elements) => elements,
            _ => &[],
        },
        Prior::Absent | Prior::Unknown => &[],
    };
    let matches = match_set_elements(block, elements, known);
    let merged = elements.iter().zip(matches).map(|(config, position)| {
        let counterpart = match prior {
            // Of an unknown prior set, every element's computed attributes are unknown.
            Prior::Unknown => Prior::Unknown,
            _ => position.and_then(|position| known.get(position)).map_or(Prior::Absent, Prior::Is),
        };
        merge(block, counterpart, config)
    });
    Value::set(block.implied_type().clone(), merged.collect())
}

/// Takes the first matching candidate that no other element has taken.
fn take_first(candidates: &mut Candidates<'_>, used: &mut [bool], config: &Value, mask: Mask) -> Option<usize> {
    let matching = candidates.matching(config, mask);
    let unused = matching.iter().position(|position| used.get(*position) == Some(&false));
    // Earlier candidates remain matched. Removing them avoids scanning many equal elements again and
    // again.
    let passed = unused.map_or(matching.len(), |at| at + 1);
    let position = matching.drain(..passed).next_back().filter(|_| unused.is_some())?;
    if let Some(flag) = used.get_mut(position) {
        *flag = true;
    }
    Some(position)
}

/// Ignores computed attributes that are not configured: any prior value may still belong to this element.
fn mask_of_computed(block: &Block, config: &Value) -> Mask {
    let Kind::Object(configured) = config.kind() else { return Mask::Keep };
    let parts = block.slots().iter().zip(configured.values()).map(|(slot, config)| match &slot.item {
        Item::Attribute(attribute) if attribute.is_computed() && config.is_null() => Mask::Wild,
        item => match item.nested() {
            Some((nesting, block)) => mask_of_nested(nesting, block, config),
            None => Mask::Keep,
        },
    });
    Mask::parts(parts.collect())
}

fn mask_of_nested(nesting: Nesting, block: &Block, config: &Value) -> Mask {
    let each =
        |elements: &[Value]| Mask::parts(elements.iter().map(|config| mask_of_computed(block, config)).collect());
    match (nesting, config.kind()) {
        (Nesting::Single | Nesting::Group, _) => mask_of_computed(block, config),
        (Nesting::List, Kind::List(elements) | Kind::Tuple(elements)) => each(elements),
        (Nesting::Map, Kind::Map(elements)) => each(elements.values()),
        (Nesting::Map, Kind::Object(elements)) => each(elements.values()),
        // Nested sets are compared as a whole.
        _ => Mask::Keep,
    }
}

/// Whether a prior value of a nested attribute contains values that only a configuration can have set.
fn was_configured(attribute: &Attribute, prior: Prior<'_>) -> bool {
    match (attribute.nested_type(), prior) {
        (Some(nested), Prior::Is(value)) if attribute.usage() == Use::OptionalComputed => {
            holds_configured(nested.nesting().into(), nested.object(), value)
        }
        _ => false,
    }
}

fn holds_configured(nesting: Nesting, block: &Block, value: &Value) -> bool {
    let any = |elements: &[Value]| elements.iter().any(|element| object_holds_configured(block, element));
    match (nesting, value.kind()) {
        (Nesting::Single | Nesting::Group, _) => object_holds_configured(block, value),
        (_, Kind::List(elements) | Kind::Tuple(elements) | Kind::Set(elements)) => any(elements),
        (_, Kind::Map(elements)) => any(elements.values()),
        (_, Kind::Object(elements)) => any(elements.values()),
        _ => false,
    }
}

fn object_holds_configured(block: &Block, value: &Value) -> bool {
    let Kind::Object(object) = value.kind() else { return false };
    block.slots().iter().zip(object.values()).any(|(slot, value)| {
        let Item::Attribute(attribute) = &slot.item else { return false };
        // A provider may set only computed attributes, so any other value must come from a configuration.
        let own = !attribute.is_computed() && !value.is_null();
        own || slot.item.nested().is_some_and(|(nesting, block)| holds_configured(nesting, block, value))
    })
}

#[cfg(test)]
mod tests;
