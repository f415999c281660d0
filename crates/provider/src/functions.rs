//! Provider-defined functions for the expression evaluator: `provider::LOCAL_NAME::FUNCTION`.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_diagnostics::did_you_mean;
use groma_lang::{
    FunctionError, NoFunction, ProviderFunction, ProviderFunctionName, ProviderFunctions, ProviderParameter,
    ProviderSignature,
};
use groma_value::Value;

use crate::protocol::{FunctionSignature, Parameter};
use crate::{Checked, Name};

/// The providers of one module by local name, whose functions its expressions can call.
#[derive(Default)]
pub struct LocalFunctions {
    providers: BTreeMap<Name, Arc<Checked>>,
}

impl LocalFunctions {
    /// Creates the lookup from the local names in the module's `required_providers`.
    pub fn new(providers: impl IntoIterator<Item = (Name, Arc<Checked>)>) -> Self {
        Self { providers: providers.into_iter().collect() }
    }

    fn offer(&self, name: &ProviderFunctionName<'_>) -> Result<(&Arc<Checked>, Arc<FunctionSignature>), NoFunction> {
        let ProviderFunctionName { provider, function, .. } = *name;
        let Some(checked) = self.providers.get(provider) else {
            let known: Vec<&str> = self.providers.keys().map(|name| &**name).collect();
            let available =
                if known.is_empty() { "It requires none".to_owned() } else { format!("It has {}", known.join(", ")) };
            let meant = did_you_mean(provider, known.iter().copied());
            return Err(NoFunction::Unknown(format!(
                "The module has no provider with the local name \"{provider}\".{meant} {available}; add it to required_providers."
            )));
        };
        checked.function(function).map(|signature| (checked, signature)).ok_or_else(|| {
            let known = checked.function_names();
            let available = if known.is_empty() {
                "It has no functions".to_owned()
            } else {
                format!("It has {}", known.iter().map(|name| &**name).collect::<Vec<_>>().join(", "))
            };
            let meant = did_you_mean(function, known.iter().map(|name| &**name));
            NoFunction::Unknown(format!(
                "Provider {} has no function named \"{function}\".{meant} {available}.",
                checked.address()
            ))
        })
    }
}

impl ProviderFunctions for LocalFunctions {
    fn find(&self, name: &ProviderFunctionName<'_>) -> Result<ProviderFunction, NoFunction> {
        let (checked, found) = self.offer(name)?;
        let signature = ProviderSignature {
            parameters: found.parameters.iter().map(parameter).collect(),
            variadic: found.variadic.as_ref().map(parameter),
            result: found.return_type.clone(),
        };
        let (checked, function) = (Arc::clone(checked), Name::from(name.function));
        Ok(ProviderFunction::new(signature, move |arguments| call(&checked, &function, arguments)))
    }
}

fn call(provider: &Checked, function: &Name, arguments: &[Value]) -> Result<Value, FunctionError> {
    let answer = provider.call_function(function, arguments.to_vec());
    // Expression evaluation is synchronous, so a slow function blocks this thread.
    answer.wait().map_err(|error| match error.argument {
        Some(argument) => FunctionError { argument: Some(argument), message: error.text.into() },
        None => FunctionError::new(error.text),
    })
}

fn parameter(parameter: &Parameter) -> ProviderParameter {
    ProviderParameter {
        name: parameter.name.to_string(),
        ty: parameter.ty.clone(),
        nullable: parameter.allow_null,
        allows_unknown: parameter.allow_unknown,
    }
}
