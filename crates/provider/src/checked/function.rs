//! Functions of providers (plugin-protocol 1.3).

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::Checked;
use crate::contract::{Secrets, check_shape, check_unknowns};
use crate::protocol::{CallFunctionRequest, FunctionError, FunctionSignature, Functions};
use crate::{Answer, Name};

/// What functions have returned so far, as hashes: the same call must have the same result, while planning and applying
/// alike.
#[derive(Default)]
pub(super) struct Results {
    seen: Mutex<HashMap<u64, u64>>,
    hasher: RandomState,
}

impl Results {
    /// Whether the call is new, or has this result again.
    fn agree(&self, call: u64, result: &Value) -> bool {
        let result = self.hasher.hash_one(result);
        match self.seen.lock().unwrap_or_else(PoisonError::into_inner).entry(call) {
            Entry::Vacant(entry) => *entry.insert(result) == result,
            Entry::Occupied(entry) => *entry.get() == result,
        }
    }
}

/// What a provider has beside the functions of its schema.
#[derive(Default)]
pub(super) struct Late {
    /// None before it is asked.
    known: Option<Arc<Functions>>,
    /// How often it was configured.
    configurations: u64,
}

impl Checked {
    /// The signature of a function of the provider's schema, or of one that came with its configuration and has been asked for by
    /// [`Checked::configured_functions`]; `None` when the provider does not have it.
    pub fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.provider.function(name).or_else(|| self.late_functions().known.as_ref()?.get(name).cloned())
    }

    /// Whether the provider has a function whatever its configuration.
    pub fn declares_function(&self, name: &str) -> bool {
        self.provider.function(name).is_some()
    }

    /// The functions that the provider has with the configuration that it was given. It is asked once for each.
    ///
    /// # Errors
    ///
    /// The provider could not answer.
    pub fn configured_functions(&self) -> Result<Arc<Functions>, Diagnostics> {
        if let Some(known) = &self.late_functions().known {
            return Ok(Arc::clone(known));
        }
        // As for calls: what evaluates waits, and nothing else does.
        let functions = self.provider.configured_functions().wait().map_err(|problems| self.plain(problems))?;
        Ok(Arc::clone(self.late_functions().known.insert(Arc::new(functions))))
    }

    /// Another configuration may bring other functions, and other results of them.
    pub(super) fn forget_functions(&self) {
        let mut late = self.late_functions();
        *late = Late { known: None, configurations: late.configurations + 1 };
    }

    fn late_functions(&self) -> MutexGuard<'_, Late> {
        self.late_functions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of all functions that are known of.
    pub(crate) fn function_names(&self) -> BTreeSet<Name> {
        let configured = self.late_functions().known.clone().unwrap_or_default();
        self.type_names().functions.iter().chain(configured.keys()).cloned().collect()
    }

    /// Calls a function with arguments that have been converted to the types of its parameters, without marks.
    ///
    /// The result is of the type that the signature promises. Where the arguments are known it is known too, and the same whenever they are;
    /// otherwise it may be open as a whole or in parts.
    pub fn call_function(&self, name: &Name, arguments: Vec<Value>) -> Answer<'_, Result<Value, FunctionError>> {
        let Some(signature) = self.function(name) else {
            let text = format!("provider {} has no function named {name:?}", self.address);
            return Answer::ready(Err(FunctionError::new(text)));
        };
        let is_known = arguments.iter().all(Value::is_wholly_known);
        let configuration = if self.declares_function(name) { 0 } else { self.late_functions().configurations };
        let call = is_known.then(|| self.results.hasher.hash_one((configuration, name, &arguments)));
        let request = CallFunctionRequest { name: name.clone(), signature: Arc::clone(&signature), arguments };
        self.provider.call_function(request).map(move |result| {
            let result = result?;
            let found = check_shape(&signature.return_type, &result);
            let found = if found.is_empty() && is_known { check_unknowns(&result) } else { found };
            let problem = match found.first() {
                Some(violation) => Some(format!(
                    "function returned an invalid result{}: {}",
                    violation.place(),
                    violation.message(Secrets::NONE)
                )),
                None if call.is_some_and(|call| !self.results.agree(call, &result)) => Some(
                    "function returned an inconsistent result: called again with the same arguments it gave another one"
                        .to_owned(),
                ),
                None => None,
            };
            match problem {
                None => Ok(result),
                Some(problem) => {
                    let text = format!("{problem}. This is a bug in provider {}", self.address);
                    Err(FunctionError::new(text))
                }
            }
        })
    }
}
