//! Parts of a model: readable properties, changed properties, and properties that are stored but not readable.

use serde_json::Value as Json;

use crate::schema::{Pointer, PointerSet, Step, TypeSchema};

/// Takes the write-only properties out, and objects in which nothing else is.
pub fn strip(set: &PointerSet, value: &mut Json) {
    match value {
        Json::Object(members) => members.retain(|name, member| match below(set, name) {
            Some(rest) if rest.contains_here() => false,
            Some(rest) => {
                let was_empty = is_empty_object(member);
                strip(rest, member);
                was_empty || !is_empty_object(member)
            }
            None => true,
        }),
        Json::Array(elements) => {
            if let Some(rest) = set.element() {
                elements.iter_mut().for_each(|element| strip(rest, element));
            }
        }
        _ => {}
    }
}

fn below<'a>(set: &'a PointerSet, name: &str) -> Option<&'a PointerSet> {
    set.property(name).or_else(|| set.entry())
}

fn is_empty_object(value: &Json) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Puts the properties of `set` that `stored` has into `model` where it has none: the service keeps what a request does not
/// mention. Elements of arrays belong together by
/// position, as long as their number did not change.
pub fn keep(set: &PointerSet, stored: &Json, model: &mut Json) {
    match (stored, model) {
        (Json::Object(stored), Json::Object(model)) => {
            for (name, value) in stored {
                let Some(rest) = below(set, name) else { continue };
                match model.get_mut(name) {
                    Some(present) => keep(rest, value, present),
                    None if rest.contains_here() => {
                        model.insert(name.clone(), value.clone());
                    }
                    None => {
                        let mut hidden = Json::Object(serde_json::Map::new());
                        keep(rest, value, &mut hidden);
                        if !is_empty_object(&hidden) && is_hidden(rest, value) {
                            model.insert(name.clone(), hidden);
                        }
                    }
                }
            }
        }
        (Json::Array(stored), Json::Array(model)) if stored.len() == model.len() => {
            if let Some(rest) = set.element() {
                for (stored, model) in stored.iter().zip(model) {
                    keep(rest, stored, model);
                }
            }
        }
        _ => {}
    }
}

/// Whether nothing can be read of an object.
fn is_hidden(set: &PointerSet, value: &Json) -> bool {
    let mut readable = value.clone();
    strip(set, &mut readable);
    is_empty_object(&readable)
}

/// The pointers of a list whose values differ between two models.
pub fn changed<'a>(pointers: &'a [Pointer], before: &Json, after: &Json) -> Vec<&'a Pointer> {
    pointers.iter().filter(|pointer| differs(pointer.steps(), Some(before), Some(after))).collect()
}

/// The pointers of read-only properties whose values differ between two models; they may go with an object around them.
pub fn changed_results<'a>(pointers: &'a [Pointer], before: &Json, after: &Json) -> Vec<&'a Pointer> {
    let parent_is_there = |pointer: &Pointer| {
        let above = pointer.steps().split_last().map_or(&[][..], |(_, above)| above);
        let found = above.iter().try_fold(after, |value, step| match step {
            Step::Property(name) => value.get(&**name),
            // Elements are compared one by one.
            Step::Every => Some(value),
        });
        found.is_some() || above.contains(&Step::Every)
    };
    changed(pointers, before, after).into_iter().filter(|pointer| parent_is_there(pointer)).collect()
}

fn differs(steps: &[Step], before: Option<&Json>, after: Option<&Json>) -> bool {
    let Some((step, rest)) = steps.split_first() else { return !same(before, after) };
    match step {
        Step::Property(name) => {
            let member = |value: Option<&Json>| value.and_then(|value| value.get(&**name)).cloned();
            let (left, right) = (member(before), member(after));
            differs(rest, left.as_ref(), right.as_ref())
        }
        // Whole elements may come and go; only a changed part of one that stays is a change of the part.
        Step::Every => match (before, after) {
            (Some(Json::Array(before)), Some(Json::Array(after))) if before.len() == after.len() => {
                before.iter().zip(after).any(|(before, after)| differs(rest, Some(before), Some(after)))
            }
            (Some(Json::Object(before)), Some(Json::Object(after))) => before
                .iter()
                .any(|(name, before)| after.get(name).is_some_and(|after| differs(rest, Some(before), Some(after)))),
            _ => false,
        },
    }
}

fn same(before: Option<&Json>, after: Option<&Json>) -> bool {
    before.unwrap_or(&Json::Null) == after.unwrap_or(&Json::Null)
}

/// The properties that identify an object, and nothing else: what a list shows of it.
pub fn identifying(schema: &TypeSchema, model: &Json) -> Json {
    let mut shown = serde_json::Map::new();
    for pointer in &schema.primary_identifier {
        if let (Some(name), Some(value)) = (pointer.top_level(), pointer.find(model)) {
            shown.insert(name.to_string(), value.clone());
        }
    }
    Json::Object(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(pointers: &[&str]) -> (Vec<Pointer>, PointerSet) {
        let list: Vec<Pointer> = pointers.iter().filter_map(|text| Pointer::parse(text)).collect();
        let set = PointerSet::new(&list);
        (list, set)
    }

    #[test]
    fn cc_33_write_only_properties_are_hidden_and_kept() {
        let (_, set) = set(&["/properties/Password", "/properties/Rules/*/Secret"]);
        let stored = json!({"Name": "a", "Password": "p", "Rules": [{"Id": 1, "Secret": "s"}]});
        let mut view = stored.clone();
        strip(&set, &mut view);
        assert_eq!(view, json!({"Name": "a", "Rules": [{"Id": 1}]}));
        keep(&set, &stored, &mut view);
        assert_eq!(view, stored);
    }

    #[test]
    fn changes_at_pointers() {
        let (list, _) = set(&["/properties/A", "/properties/R/*/B"]);
        let before = json!({"A": 1, "R": [{"B": 1, "C": 1}]});
        assert!(changed(&list, &before, &json!({"A": 1, "R": [{"B": 1, "C": 2}]})).is_empty());
        assert_eq!(changed(&list, &before, &json!({"R": [{"B": 2, "C": 1}]})).len(), 2);
        assert!(changed(&list, &before, &json!({"A": 1, "R": []})).is_empty());
    }
}
