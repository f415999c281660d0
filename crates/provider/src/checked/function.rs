//! Functions of providers (plugin-protocol 1.3).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use groma_value::Value;

use super::Checked;
use crate::contract::{Secrets, check_shape, check_unknowns};
use crate::protocol::{CallFunctionRequest, FunctionError, FunctionSignature};
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

impl Checked {
    /// The signature of a function; `None` when the provider does not have it.
    pub fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.provider.function(name)
    }

    /// Calls a function with arguments that have been converted to the types of its parameters, without marks.
    ///
    /// The result is of the type that the signature promises. Where the arguments are known it is known too, and the same whenever they are;
    /// otherwise it may be open as a whole or in parts.
    pub fn call_function(&self, name: &Name, arguments: Vec<Value>) -> Answer<'_, Result<Value, FunctionError>> {
        let Some(signature) = self.provider.function(name) else {
            let text = format!("provider {} has no function named {name:?}", self.address);
            return Answer::ready(Err(FunctionError { text, argument: None }));
        };
        let is_known = arguments.iter().all(Value::is_wholly_known);
        let call = is_known.then(|| self.results.hasher.hash_one((name, &arguments)));
        let request = CallFunctionRequest { name: name.clone(), arguments };
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
                    Err(FunctionError { text, argument: None })
                }
            }
        })
    }
}
