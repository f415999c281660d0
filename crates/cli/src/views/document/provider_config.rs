//! The `provider_config` of a document: provider configurations by the key that resources refer to.
//!
//! A key consists of the module path and a colon, except in the root module, and the local name of the provider. A provider
//! configuration that a module is passed or inherits has the key of the module that defines it.

use std::collections::{BTreeMap, HashMap};

use groma_address::{ModulePath, ProviderAddress};
use groma_config::version::Constraints;
use groma_config::{LocalProvider, Module, ModuleCall, module_requirements};
use groma_install::providers::constraints_text;
use serde_json::{Map, Value as Json};

use super::body::Schemas;

/// Provider configurations of all modules.
pub(super) struct ProviderConfigs {
    own: BTreeMap<String, Json>,
    known: HashMap<String, Known>,
}

/// Provider configuration under one key.
struct Known {
    provider: ProviderAddress,
    /// Key of the definition, if the configuration is passed or inherited.
    source: Option<String>,
}

impl ProviderConfigs {
    /// Collects the provider configurations of `root` and all called modules.
    pub(super) fn of(root: &Module, schemas: &Schemas) -> Self {
        let mut all = Self { own: BTreeMap::new(), known: HashMap::new() };
        all.add_module(root, schemas);
        all
    }

    /// Returns the key of the provider that `module` calls `local`.
    pub(super) fn key(&self, module: &Module, local: &LocalProvider) -> String {
        let key = raw_key(&module.path, &local.to_string());
        match self.known.get(&key).and_then(|known| known.source.clone()) {
            Some(source) => source,
            None => key,
        }
    }

    /// Returns the `provider_config` object.
    pub(super) fn into_json(self) -> Map<String, Json> {
        self.own.into_iter().collect()
    }

    fn add_module(&mut self, module: &Module, schemas: &Schemas) {
        let requirements = module_requirements(module);
        let constraints = |address: &ProviderAddress| requirements.get(address).map(|found| &found.constraints);
        for (local, block) in &module.providers {
            let address = module.provider_address(&local.name);
            let mut json = entry(module, &local.name, &address, local.alias.as_deref(), constraints(&address));
            let expressions = schemas.provider_expressions(&address, &block.body);
            if !expressions.is_empty() {
                json.insert("expressions".into(), Json::Object(expressions));
            }
            let key = raw_key(&module.path, &local.to_string());
            self.known.insert(key.clone(), Known { provider: address, source: None });
            self.own.insert(key, Json::Object(json));
        }
        for required in module.required_providers.values() {
            for alias in &required.aliases {
                let json = entry(module, &required.name, &required.address, None, constraints(&required.address));
                self.add_implied(raw_key(&module.path, &alias.to_string()), &required.address, None, json);
            }
            let json = entry(module, &required.name, &required.address, None, constraints(&required.address));
            self.add_inherited(module, &required.name, &required.address, json);
        }
        // An implied local name has no version constraint; the constraint belongs to the declared name.
        for address in requirements.keys() {
            let json = entry(module, &address.type_name, address, None, None);
            self.add_inherited(module, &address.type_name, address, json);
        }
        for call in module.calls.values() {
            if let Some(child) = module.children.get(&call.name) {
                self.add_passed(module, call, child);
                self.add_module(child, schemas);
            }
        }
    }

    /// Adds the provider configurations that `call` passes to its child.
    fn add_passed(&mut self, module: &Module, call: &ModuleCall, child: &Module) {
        for passed in &call.providers {
            let provider = child.provider_address(&passed.child.name);
            let source = self.source(raw_key(&module.path, &passed.parent.provider.to_string()), &provider);
            let json = entry(child, &passed.child.to_string(), &provider, None, None);
            self.add_implied(raw_key(&child.path, &passed.child.to_string()), &provider, source, json);
        }
    }

    /// Adds a default configuration without a block, which a module inherits from the caller's configuration of the same name.
    fn add_inherited(&mut self, module: &Module, name: &str, provider: &ProviderAddress, json: Map<String, Json>) {
        let source = module.path.parent().and_then(|parent| self.source(raw_key(&parent, name), provider));
        self.add_implied(raw_key(&module.path, name), provider, source, json);
    }

    fn add_implied(
        &mut self,
        key: String,
        provider: &ProviderAddress,
        source: Option<String>,
        json: Map<String, Json>,
    ) {
        // The first entry wins: blocks are added before implied configurations.
        if self.known.contains_key(&key) {
            return;
        }
        if source.is_none() {
            self.own.insert(key.clone(), Json::Object(json));
        }
        self.known.insert(key, Known { provider: provider.clone(), source });
    }

    /// Returns the key of the definition behind `key`, if it configures `provider`.
    fn source(&self, key: String, provider: &ProviderAddress) -> Option<String> {
        let known = self.known.get(&key).filter(|known| known.provider == *provider)?;
        Some(known.source.clone().unwrap_or(key))
    }
}

fn raw_key(module: &ModulePath, local: &str) -> String {
    if module.is_root() { local.to_owned() } else { format!("{module}:{local}") }
}

fn entry(
    module: &Module,
    name: &str,
    provider: &ProviderAddress,
    alias: Option<&str>,
    constraints: Option<&Constraints>,
) -> Map<String, Json> {
    let mut json = Map::new();
    json.insert("name".into(), name.into());
    json.insert("full_name".into(), provider.to_string().into());
    if let Some(alias) = alias {
        json.insert("alias".into(), alias.into());
    }
    let constraints = constraints.map(constraints_text).unwrap_or_default();
    if !constraints.is_empty() {
        json.insert("version_constraint".into(), constraints.into());
    }
    if !module.path.is_root() {
        json.insert("module_address".into(), module.path.to_string().into());
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use groma_config::{LoadOptions, MemoryFiles, load};
    use groma_diagnostics::Sources;
    use groma_provider::{Attribute, Block, NestedBlock, Nesting, Schema};
    use groma_value::Type;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn version_constraint_belongs_to_declared_name() {
        let text = "terraform {\n  required_providers {\n    own = {\n      source  = \"example/acme\"\n      version = \"~> 1.0\"\n    }\n  }\n}\n\
                    provider \"own\" {\n  alias = \"b\"\n}\n";
        let files = MemoryFiles::new().with("main.tf", text);
        let (configuration, problems) = load(&LoadOptions::default(), &Sources::default(), &files);
        let root = &configuration.unwrap_or_else(|| panic!("{problems:?}")).root;
        let name = "registry.terraform.io/example/acme";
        let expected = json!({
            "acme": { "name": "acme", "full_name": name },
            "own": { "name": "own", "full_name": name, "version_constraint": "~> 1.0" },
            "own.b": { "name": "own", "full_name": name, "alias": "b", "version_constraint": "~> 1.0" },
        });
        assert_eq!(Json::Object(ProviderConfigs::of(root, &Schemas::new()).into_json()), expected);
    }

    #[test]
    fn dynamic_block_in_override_file_replaces_blocks() {
        let text = "provider \"acme\" {\n  name = \"n\"\n  proxy {\n    url = \"u\"\n  }\n}\n";
        let over = "provider \"acme\" {\n  dynamic \"proxy\" {\n    for_each = []\n    content {}\n  }\n}\n";
        let files = MemoryFiles::new().with("main.tf", text).with("main_override.tf", over);
        let (configuration, problems) = load(&LoadOptions::default(), &Sources::default(), &files);
        let root = &configuration.unwrap_or_else(|| panic!("{problems:?}")).root;
        let document = ProviderConfigs::of(root, &with_proxies(root)).into_json();
        assert_eq!(document["acme"]["expressions"], json!({ "name": { "constant_value": "n" } }));
    }

    #[test]
    fn provider_blocks_are_described_with_schema() {
        let text = "variable \"to\" {}\nprovider \"acme\" {\n  name = \"n\"\n  proxy {\n    url = var.to\n  }\n}\n";
        let files = MemoryFiles::new().with("main.tf", text);
        let (configuration, problems) = load(&LoadOptions::default(), &Sources::default(), &files);
        let root = &configuration.unwrap_or_else(|| panic!("{problems:?}")).root;
        let expressions =
            |schemas: &Schemas| ProviderConfigs::of(root, schemas).into_json()["acme"]["expressions"].clone();
        assert_eq!(expressions(&Schemas::new()), json!({ "name": { "constant_value": "n" } }));
        let expected = json!({ "name": { "constant_value": "n" }, "proxy": [{ "url": { "references": ["var.to"] } }] });
        assert_eq!(expressions(&with_proxies(root)), expected);
    }

    fn with_proxies(root: &Module) -> Schemas {
        let attribute = || Attribute::optional(Type::String);
        let proxy = NestedBlock::new(Nesting::List, Block::new([("url", attribute())], [] as [(&str, NestedBlock); 0]));
        let schema = Schema::new(Block::new([("name", attribute())], [("proxy", proxy)]));
        let mut schemas = Schemas::new();
        schemas.provider(root.provider_address("acme")).or_insert(Arc::new(schema));
        schemas
    }
}
