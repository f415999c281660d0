//! The offered resource types, found by a scan of each schema that is much faster than parsing it (CC-01, CC-04).

use std::collections::{BTreeMap, HashSet};

use groma_provider::TypeNames;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Name;
use crate::names::{self, META_ARGUMENTS};
use crate::schema::{Catalogue, parse_list_inputs};

/// The part of a schema document that decides.
#[derive(Deserialize)]
struct Outline {
    #[serde(default)]
    properties: BTreeMap<String, IgnoredAny>,
    #[serde(default)]
    handlers: Handlers,
}

#[derive(Default, Deserialize)]
struct Handlers {
    list: Option<serde_json::Value>,
}

/// The names of all resources and data sources, sorted.
pub fn type_names(catalogue: &Catalogue) -> TypeNames {
    let mut offered = TypeNames::default();
    // Of a damaged catalogue the readable part is offered; a damaged type is reported when it is used.
    let _ = catalogue.documents(|cloud_name, document| {
        if let Some((resource, outline)) = outline(cloud_name, document) {
            let has_list = outline.handlers.list.is_some();
            if outline.handlers.list.is_some_and(|list| parse_list_inputs(&list).is_empty()) {
                offered.data_sources.push(names::plural(&resource).into());
            }
            let resource: Name = resource.into();
            if has_list {
                offered.lists.push(resource.clone());
            }
            offered.data_sources.push(resource.clone());
            offered.resources.push(resource);
        }
    });
    offered.resources.sort_unstable();
    offered.lists.sort_unstable();
    offered.data_sources.sort_unstable();
    offered.data_sources.dedup();
    offered
}

/// The name and outline of a type that can be offered.
fn outline(cloud_name: &str, document: &str) -> Option<(String, Outline)> {
    let resource = names::resource_type(cloud_name)?;
    let part = names::resource_part(cloud_name)?;
    let outline: Outline = serde_json::from_str(document).ok()?;
    let mut attributes = HashSet::new();
    let usable = outline.properties.keys().all(|property| {
        let attribute = names::top_level_attribute(property, &part);
        !META_ARGUMENTS.contains(&attribute.as_str()) && attributes.insert(attribute)
    });
    usable.then_some((resource, outline))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::interpreted::{Entry, Types};

    #[test]
    fn cc_01_exactly_the_types_that_can_be_interpreted_are_offered() {
        let catalogue = Catalogue::shipped();
        let types = Types::new(catalogue.clone());
        let offered = type_names(catalogue);
        assert_eq!(offered.resources.len() + types.unsupported().len(), catalogue.type_names().len());
        for name in &offered.data_sources {
            let found = types.find(name).unwrap();
            let one = offered.resources.binary_search(name).is_ok();
            assert!(matches!((one, found), (true, Some(Entry::One(_))) | (false, Some(Entry::Many(_)))), "{name}");
        }
    }
}
