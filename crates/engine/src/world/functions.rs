//! The functions that a module instance can call.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_address::Name;
use groma_config::{LocalProvider, ProviderKey};
use groma_diagnostics::Diagnostics;
use groma_lang::{FunctionContext, ProviderFunctions};

use super::{InstanceScope, ModuleId, World};
use crate::config_graph::ModuleIndex;
use crate::module_functions::Handed;
use crate::provider_instances::read_key;

impl World {
    /// Returns the functions for expressions in a module: `common`, and the functions of the module's providers.
    pub(super) fn functions<'a>(&'a self, id: ModuleId, common: &'a FunctionContext) -> &'a FunctionContext {
        let module = self.module(id).of;
        let Some(functions) = self.surroundings.templates.functions().of(module) else { return common };
        let with = |functions: Arc<dyn ProviderFunctions>| FunctionContext {
            provider_functions: Some(functions),
            ..common.clone()
        };
        match (functions.handed(), self.functions.get(module.at())) {
            (Handed::Whole, Some(cell)) => cell.get_or_init(|| with(Arc::clone(functions) as _)),
            _ => self
                .module(id)
                .functions
                .get_or_init(|| Box::new(with(Arc::new(functions.having(self.chosen_providers(id, module, common)))))),
        }
    }

    /// Returns the instances of provider blocks with `for_each` that calls pass to a module instance; invalid keys are reported
    /// where the block is used.
    fn chosen_providers(
        &self,
        id: ModuleId,
        module: ModuleIndex,
        common: &FunctionContext,
    ) -> BTreeMap<LocalProvider, Name> {
        let mut chosen = BTreeMap::new();
        let config = &self.graph.module(module).config;
        let passed = self.graph.module(module).caller.and_then(|caller| {
            let (_, call) = self.graph.module(caller.module).config.calls.get_index(caller.call as usize)?;
            Some(call.providers.iter().map(|passed| passed.child.clone()))
        });
        let defaults = config.required_providers.keys().cloned().map(LocalProvider::default_of);
        for local in passed.into_iter().flatten().chain(defaults) {
            let Some(used) = self.graph.provider_use(module, &local) else { continue };
            let Some(ProviderKey::Passed { module: called, key }) = used.key else { continue };
            let mut inside = id;
            while self.static_module(inside).path() != called
                && let Some(caller) = self.module(inside).caller
            {
                inside = caller;
            }
            let data = self.module(inside);
            let Some(caller) = data.caller else { continue };
            let scope = InstanceScope::new(self, caller, common).repeated(&data.repetition);
            let value = groma_lang::evaluate(key, &scope, &mut Diagnostics::new());
            if let Ok(Some(key)) = read_key(&value) {
                chosen.insert(local, key);
            }
        }
        chosen
    }
}
