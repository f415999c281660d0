//! Provider-defined functions: lookup, calls, and the consistency of their results (plugin-protocol 1.3).

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

/// Hashes of function calls and their results: a repeated call must return the same result, in the plan phase and in
/// the apply phase.
#[derive(Default)]
pub(super) struct ResultHashes {
    // Hashes, because the arguments and results themselves may be large or sensitive.
    seen: Mutex<HashMap<u64, u64>>,
    hasher: RandomState,
}

impl ResultHashes {
    /// Records the result of a call; returns whether it agrees with the recorded result of an earlier call.
    fn agree(&self, call: u64, result: &Value) -> bool {
        let result = self.hasher.hash_one(result);
        match self.seen.lock().unwrap_or_else(PoisonError::into_inner).entry(call) {
            Entry::Vacant(entry) => *entry.insert(result) == result,
            Entry::Occupied(entry) => *entry.get() == result,
        }
    }
}

/// Functions that a provider offers only after its configuration (OpenTofu calls these too).
#[derive(Default)]
pub(super) struct ConfiguredFunctions {
    /// The functions, once the provider was asked.
    known: Option<Arc<Functions>>,
    /// The number of `configure` calls. It is part of the key of recorded results.
    configurations: u64,
}

impl Checked {
    /// Returns the signature of a function that the schema declares, or that [`Checked::configured_functions`] has
    /// fetched; `None` if neither has it.
    pub fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.provider.function(name).or_else(|| self.configured().known.as_ref()?.get(name).cloned())
    }

    /// Whether the schema declares the function, so that it exists with every configuration of the provider.
    pub fn declares_function(&self, name: &str) -> bool {
        self.provider.function(name).is_some()
    }

    /// Returns the functions of the configured provider, and asks for them at most once per configuration.
    ///
    /// # Errors
    ///
    /// The provider did not answer.
    pub fn configured_functions(&self) -> Result<Arc<Functions>, Diagnostics> {
        if let Some(known) = &self.configured().known {
            return Ok(Arc::clone(known));
        }
        // Functions are called during expression evaluation, which is synchronous, so this blocks as the calls do.
        let functions =
            self.provider.configured_functions().wait().map_err(|problems| self.without_location(problems))?;
        Ok(Arc::clone(self.configured().known.insert(Arc::new(functions))))
    }

    /// Drops the fetched functions: another configuration may offer other functions with other results.
    pub(super) fn forget_functions(&self) {
        let mut late = self.configured();
        *late = ConfiguredFunctions { known: None, configurations: late.configurations + 1 };
    }

    fn configured(&self) -> MutexGuard<'_, ConfiguredFunctions> {
        self.configured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names of the declared functions and of the fetched ones.
    pub(crate) fn function_names(&self) -> BTreeSet<Name> {
        let configured = self.configured().known.clone().unwrap_or_default();
        self.type_names().functions.iter().chain(configured.keys()).cloned().collect()
    }

    /// Calls a function with unmarked arguments that are already converted to the types of its parameters.
    ///
    /// The result conforms to the return type of the signature. With wholly known arguments the result is wholly known,
    /// and equal for equal arguments; otherwise it may be unknown in whole or in part.
    pub fn call_function(&self, name: &Name, arguments: Vec<Value>) -> Answer<'_, Result<Value, FunctionError>> {
        let Some(signature) = self.function(name) else {
            let text = format!("provider {} has no function named {name:?}", self.address);
            return Answer::ready(Err(FunctionError::new(text)));
        };
        let is_known = arguments.iter().all(Value::is_wholly_known);
        // A declared function returns the same result under every configuration, so its calls share one key.
        let configuration = if self.declares_function(name) { 0 } else { self.configured().configurations };
        // Calls with unknown arguments may legitimately have different results later.
        let call = is_known.then(|| self.results.hasher.hash_one((configuration, name, &arguments)));
        let request = CallFunctionRequest { name: name.clone(), signature: Arc::clone(&signature), arguments };
        self.provider.call_function(request).map(move |result| {
            let result = result?;
            let found = check_shape(&signature.return_type, &result);
            let found = if found.is_empty() && is_known { check_unknowns(&result) } else { found };
            let problem = match found.first() {
                Some(violation) => Some(format!(
                    "function returned an invalid result{}: {}",
                    violation.location(),
                    violation.message(Secrets::NONE)
                )),
                None if call.is_some_and(|call| !self.results.agree(call, &result)) => Some(
                    "function returned an inconsistent result: a second call with the same arguments returned another value"
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
