//! The functions that the providers of each module offer; a provider is started when one of its functions is called first.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_address::{InstanceKey, Name, ProviderAddress, ProviderConfig};
use groma_config::{LocalProvider, ProviderUse};
use groma_diagnostics::{Diagnostic, suggest};
use groma_lang::{
    NoFunction, ProviderFunction, ProviderFunctionName, ProviderFunctions, ProviderParameter, ProviderSignature,
};
use groma_provider::LocalFunctions;
use groma_value::{Type, Value};

use crate::config_graph::{ConfigGraph, ModuleIndex};
use crate::providers::{ConfigKnowledge, Started};

/// The functions of every module's providers.
#[derive(Default)]
pub struct ModuleFunctions(Vec<Option<Arc<OnDemand>>>);

impl ModuleFunctions {
    /// Creates the functions of all modules, without starting any provider.
    pub fn new(graph: &Arc<ConfigGraph>, started: &Arc<Started>) -> Self {
        let mut of_module: Vec<Option<Arc<OnDemand>>> = Vec::with_capacity(graph.len());
        let mut handed = Vec::with_capacity(graph.len());
        for (module, found) in graph.modules() {
            // Callers come before what they call.
            handed.push(found.caller.is_some_and(|caller| {
                let call = graph.module(caller.module).config.calls.get_index(caller.call as usize);
                handed[caller.module.at()]
                    || call.is_some_and(|(_, call)| call.providers.iter().any(|passed| passed.parent.key.is_some()))
            }));
            let required = &found.config.required_providers;
            let locals = required.values().map(|entry| (entry.name.clone(), entry.address.clone()));
            of_module.push((!required.is_empty()).then(|| {
                let handed = if handed[module.at()] { Handed::OneOfSeveral } else { Handed::Whole };
                let chosen = BTreeMap::new();
                let (graph, started) = (Arc::clone(graph), Arc::clone(started));
                Arc::new(OnDemand { graph, module, handed, locals: locals.collect(), started, chosen })
            }));
        }
        Self(of_module)
    }

    /// Returns the functions of one module, if it requires any provider.
    pub fn of(&self, module: ModuleIndex) -> Option<&Arc<OnDemand>> {
        self.0.get(module.at())?.as_ref()
    }
}

/// The provider configurations that the calls around a module pass to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// Whole provider blocks, with all their instances.
    Whole,
    /// For some provider one instance of a block with `for_each`: the instances of the module may have others.
    OneOfSeveral,
}

/// The functions of the providers of one module, by their local names.
#[derive(Clone)]
pub struct OnDemand {
    graph: Arc<ConfigGraph>,
    module: ModuleIndex,
    handed: Handed,
    locals: BTreeMap<Name, ProviderAddress>,
    started: Arc<Started>,
    /// The instances of provider blocks with `for_each` that are passed to this module instance.
    chosen: BTreeMap<LocalProvider, Name>,
}

/// The provider of a function.
enum Offer {
    /// Providers whose functions are known now.
    Now(LocalFunctions),
    /// It may come with the configuration, which the provider does not have yet.
    Later,
}

impl OnDemand {
    /// Returns the provider configurations that the calls around the module pass to it.
    pub fn handed(&self) -> Handed {
        self.handed
    }

    /// Returns the functions for a module instance that gets these instances of provider blocks with `for_each`.
    #[must_use]
    pub fn having(&self, chosen: BTreeMap<LocalProvider, Name>) -> Self {
        Self { chosen, ..self.clone() }
    }

    /// Returns the provider of a function: without its configuration, or with it.
    fn offer(&self, name: &ProviderFunctionName<'_>) -> Result<Offer, NoFunction> {
        let Some((local, address)) = self.locals.get_key_value(name.provider) else {
            let known: Vec<&str> = self.locals.keys().map(|name| &**name).collect();
            return Err(NoFunction::Unknown(format!(
                "The module has no provider with the local name \"{}\", only {}. Add it to required_providers.",
                name.provider,
                known.join(", ")
            )));
        };
        let started = self.started.get(address).map_err(|problem| NoFunction::Unknown(described(&problem)))?;
        // That it has no functions would lead astray.
        started.schema().map_err(NoFunction::Failed)?;
        let of = |provider| Offer::Now(LocalFunctions::new([(local.clone(), provider)]));
        if started.declares_function(name.function) {
            return Ok(of(started));
        }
        let Some(block) = self.graph.function_block(self.module, name) else { return Ok(of(started)) };
        if let Some((configured, knowledge)) =
            self.started.config_knowledge(&self.configuration(local, name, &block.used))
        {
            let functions = configured.configured_functions().map_err(NoFunction::Failed)?;
            let is_there = knowledge == ConfigKnowledge::Whole || functions.contains_key(name.function);
            return Ok(if is_there { of(configured) } else { Offer::Later });
        }
        let names = started.type_names().functions;
        match suggest(name.function, names.iter().map(|name| &**name)) {
            Some(_) => Ok(of(started)),
            None => Ok(Offer::Later),
        }
    }

    fn configuration(&self, local: &Name, name: &ProviderFunctionName<'_>, used: &ProviderUse<'_>) -> ProviderConfig {
        let local = LocalProvider { name: local.clone(), alias: name.alias.map(Into::into) };
        match self.chosen.get(&local) {
            Some(key) => used.config.instance(InstanceKey::String(key.clone())),
            None => used.config.clone(),
        }
    }
}

fn described(problem: &Diagnostic) -> String {
    format!("{}: {}", problem.summary, problem.detail)
}

impl ProviderFunctions for OnDemand {
    fn find(&self, name: &ProviderFunctionName<'_>) -> Result<ProviderFunction, NoFunction> {
        match self.offer(name)? {
            Offer::Now(functions) => functions.find(name),
            Offer::Later => Ok(ProviderFunction::new(any_arguments(), |_| Ok(Value::DYNAMIC))),
        }
    }
}

/// Of a function that is not known yet, every call may be right.
fn any_arguments() -> ProviderSignature {
    let argument =
        ProviderParameter { name: "argument".to_owned(), ty: Type::Dynamic, nullable: true, allows_unknown: true };
    ProviderSignature { parameters: Vec::new(), variadic: Some(argument), result: Type::Dynamic }
}
