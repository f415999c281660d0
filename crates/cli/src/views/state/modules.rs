//! The tree of modules in the documents of states and plans.

use std::collections::BTreeMap;

use groma_address::ModuleInstance;
use serde_json::{Map, Value as Json};

/// Resources in the tree of their modules; they come sorted by module.
pub(crate) fn modules_json<'o>(resources: impl Iterator<Item = (&'o ModuleInstance, Json)>) -> Json {
    let mut root = ModuleTree::default();
    for (module, json) in resources {
        let mut place = &mut root;
        for depth in 1..=module.steps().len() {
            place = place.children.entry(prefix(module, depth)).or_default();
        }
        place.resources.push(json);
    }
    root.json(None)
}

fn prefix(module: &ModuleInstance, depth: usize) -> String {
    let mut prefix = ModuleInstance::root();
    for step in module.steps().iter().take(depth) {
        prefix = prefix.child(step.name.clone(), step.key.clone());
    }
    prefix.to_string()
}

#[derive(Default)]
struct ModuleTree {
    resources: Vec<Json>,
    /// By their addresses as texts: 10 comes before 2.
    children: BTreeMap<String, ModuleTree>,
}

impl ModuleTree {
    fn json(self, address: Option<String>) -> Json {
        let mut json = Map::new();
        if !self.resources.is_empty() {
            json.insert("resources".into(), Json::Array(self.resources));
        }
        if let Some(address) = address {
            json.insert("address".into(), address.into());
        }
        if !self.children.is_empty() {
            let children = self.children.into_iter().map(|(address, child)| child.json(Some(address)));
            json.insert("child_modules".into(), children.collect());
        }
        Json::Object(json)
    }
}
