//! References, scopes, evaluation of expressions and the built-in functions.
//!
//! An [`Expression`](groma_hcl::Expression) becomes a [`Value`](groma_value::Value) in a [`Scope`], which says what the
//! names in it mean. This crate knows what expressions can name ([`Reference`]), but nothing of modules, state or
//! providers: the caller provides the values.
//!
//! - [`mod@reference`]: the object that a name refers to; [`references()`]: all dependencies of an expression;
//! - [`evaluate()`]: the value of an expression;
//! - [`type_constraint()`]: types of variables, with their defaults;
//! - [`functions`]: the built-in functions;
//! - [`console`]: values as a person reads them; [`answer()`]: what the console says to an expression.

mod binding;
pub mod console;
mod context;
mod defaults;
mod evaluate;
pub mod functions;
mod provider_functions;
mod ranges;
pub mod reference;
mod references;
mod scope;
mod type_constraint;

pub use crate::console::answer;
pub use crate::context::TemplateCache;
pub use crate::provider_functions::FunctionError;
pub use crate::scope::span_within;
pub use binding::{Binding, is_reserved};
pub use context::{Availability, Clock, FunctionContext, Purity};
pub use defaults::Defaults;
pub use evaluate::{evaluate, evaluate_constant, follow, observing, statement, traversal_text};
pub use provider_functions::{
    NoFunction, ProviderFunction, ProviderFunctionName, ProviderFunctions, ProviderParameter, ProviderSignature,
};
pub use reference::{Reference, Referenced, instance_key, instance_key_of, parse_reference};
pub use references::{
    Enclosing, ErrorHandling, Mention, for_each_call, for_each_mention, for_each_traversal,
    for_each_traversal_with_context, references,
};
pub use scope::{ChildScope, ConstantScope, EmptyScope, Resolved, Scope};
pub use type_constraint::{TypeConstraint, type_constraint};
