//! The functions that the providers of each module offer; a provider is started when one of its functions is called first.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use groma_address::{Name, ProviderAddress};
use groma_diagnostics::Diagnostic;
use groma_lang::{FunctionError, NoSignature, ProviderFunctions, ProviderSignature};
use groma_provider::LocalFunctions;
use groma_value::Value;

use crate::config_graph::{ConfigGraph, ModuleIndex};
use crate::providers::Started;

/// The functions of every module's providers.
#[derive(Clone, Default)]
pub struct ModuleFunctions(Arc<[Option<Arc<dyn ProviderFunctions>>]>);

impl fmt::Debug for ModuleFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModuleFunctions").field(&self.0.len()).finish()
    }
}

impl ModuleFunctions {
    /// Those of all modules; no provider is started for it.
    pub fn new(graph: &ConfigGraph, started: &Arc<Started>) -> Self {
        let of_module = graph.modules().map(|(_, module)| {
            let required = &module.config.required_providers;
            let locals = required.values().map(|entry| (entry.name.clone(), entry.address.clone()));
            let functions = OnDemand { locals: locals.collect(), started: Arc::clone(started) };
            (!required.is_empty()).then(|| Arc::new(functions) as Arc<dyn ProviderFunctions>)
        });
        Self(of_module.collect())
    }

    /// Those of one module, if it requires any provider.
    pub fn of(&self, module: ModuleIndex) -> Option<&Arc<dyn ProviderFunctions>> {
        self.0.get(module.at())?.as_ref()
    }
}

/// The providers of one module by their local names.
struct OnDemand {
    locals: BTreeMap<Name, ProviderAddress>,
    started: Arc<Started>,
}

impl OnDemand {
    /// The functions of one provider, started for it.
    fn of(&self, provider: &str) -> Result<LocalFunctions, NoSignature> {
        let Some((name, address)) = self.locals.get_key_value(provider) else {
            let known: Vec<&str> = self.locals.keys().map(|name| &**name).collect();
            return Err(NoSignature::Unknown(format!(
                "The module has no provider with the local name \"{provider}\". It has {}; add it to required_providers.",
                known.join(", ")
            )));
        };
        match self.started.get(address) {
            Ok(checked) => match checked.schema() {
                Ok(_) => Ok(LocalFunctions::new([(name.clone(), checked)])),
                // That it has no functions would lead astray.
                Err(problems) => Err(NoSignature::Failed(problems)),
            },
            Err(problem) => Err(NoSignature::Unknown(told(&problem))),
        }
    }
}

fn told(problem: &Diagnostic) -> String {
    format!("{}: {}", problem.summary, problem.detail)
}

impl ProviderFunctions for OnDemand {
    fn signature(&self, provider: &str, function: &str) -> Result<ProviderSignature, NoSignature> {
        self.of(provider)?.signature(provider, function)
    }

    fn call(&self, provider: &str, function: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        let functions = self.of(provider).map_err(|none| match none {
            NoSignature::Unknown(text) => FunctionError::new(text),
            NoSignature::Failed(problems) => {
                FunctionError::new(problems.iter().map(told).collect::<Vec<_>>().join("\n\n"))
            }
        })?;
        functions.call(provider, function, arguments)
    }
}
