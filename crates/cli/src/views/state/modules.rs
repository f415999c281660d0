//! The module tree in JSON documents of states and plans.

use std::collections::BTreeMap;

use groma_address::ModuleInstance;
use serde_json::Value as Json;

use crate::views::json::Streamed;

/// Returns the tree of modules with their resources, which must be sorted by module. `to_json` converts one resource.
pub(crate) fn modules_json<'o, T: 'o>(
    resources: impl Iterator<Item = (&'o ModuleInstance, &'o T)>,
    to_json: fn(&T) -> Json,
) -> Streamed<'o> {
    let mut root = ModuleTree::default();
    for (module, resource) in resources {
        let mut tree = &mut root;
        // Documents also contain the modules between the root and a module with resources.
        for depth in 1..=module.steps().len() {
            tree = tree.children.entry(prefix(module, depth)).or_default();
        }
        tree.resources.push(resource);
    }
    root.json(None, to_json)
}

fn prefix(module: &ModuleInstance, depth: usize) -> String {
    let mut prefix = ModuleInstance::root();
    for step in module.steps().iter().take(depth) {
        prefix = prefix.child(step.name.clone(), step.key.clone());
    }
    prefix.to_string()
}

struct ModuleTree<'o, T> {
    resources: Vec<&'o T>,
    /// Child modules by address string, so that index 10 precedes 2 as in Terraform.
    children: BTreeMap<String, ModuleTree<'o, T>>,
}

impl<T> Default for ModuleTree<'_, T> {
    fn default() -> Self {
        Self { resources: Vec::new(), children: BTreeMap::new() }
    }
}

impl<'o, T> ModuleTree<'o, T> {
    fn json(self, address: Option<String>, to_json: fn(&T) -> Json) -> Streamed<'o> {
        let mut json = Vec::new();
        if !self.resources.is_empty() {
            json.push(("resources".to_owned(), Streamed::list(self.resources, to_json)));
        }
        if let Some(address) = address {
            json.push(("address".to_owned(), Json::from(address).into()));
        }
        if !self.children.is_empty() {
            let children = self.children.into_iter().map(|(address, child)| child.json(Some(address), to_json));
            json.push(("child_modules".to_owned(), Streamed::Array(children.collect())));
        }
        Streamed::Object(json)
    }
}
