//! The function name of a failed call, for messages.

use groma_diagnostics::{Diagnostic, FunctionCall, FunctionParameter};
use groma_hcl::{Call, Expression};

use crate::functions;
use crate::provider_functions::{ProviderParameter, ProviderSignature};

/// A call of an existing function.
#[derive(Clone, Copy)]
pub(super) struct Called<'a> {
    pub(super) call: &'a Call,
    pub(super) whole: &'a Expression,
    function: Callee<'a>,
}

#[derive(Clone, Copy)]
enum Callee<'a> {
    BuiltIn,
    Provided(&'a ProviderSignature),
}

impl<'a> Called<'a> {
    /// A call of a function of the language.
    pub(super) const fn built_in(call: &'a Call, whole: &'a Expression) -> Self {
        Self { call, whole, function: Callee::BuiltIn }
    }

    /// A call of a provider's function.
    pub(super) const fn provided(call: &'a Call, whole: &'a Expression, signature: &'a ProviderSignature) -> Self {
        Self { call, whole, function: Callee::Provided(signature) }
    }

    /// The problem with what was called, and with the whole call around its place.
    pub(super) fn explain(&self, problem: Diagnostic) -> Diagnostic {
        let name = &self.call.name.name;
        let problem = problem.within(self.whole.span);
        match self.function {
            Callee::Provided(signature) => problem.calling(described(name, signature)),
            Callee::BuiltIn => match functions::signature(bare(name)) {
                Some(signature) => problem.calling(described(name, &signature)),
                None => problem,
            },
        }
    }
}

/// The name of a built-in function without its namespace.
pub(super) fn bare(name: &str) -> &str {
    name.strip_prefix("core::").unwrap_or(name)
}

fn described(called_as: &str, signature: &ProviderSignature) -> FunctionCall {
    let parameter = |one: &ProviderParameter| FunctionParameter { name: one.name.clone(), ty: one.ty.to_json() };
    FunctionCall {
        called_as: called_as.to_owned(),
        parameters: signature.parameters.iter().map(parameter).collect(),
        variadic: signature.variadic.as_ref().map(parameter),
        result: signature.result.to_json(),
    }
}

/// Returns the summary for an unknown function: a namespace means a provider-defined one.
pub(super) fn unknown(call: &Call) -> &'static str {
    if call.name.name.contains("::") { "Unknown provider function" } else { "Call to unknown function" }
}
