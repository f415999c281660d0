//! Provider, resource and action blocks prepared for evaluation: schema and decoder, once for each block.

use std::fmt;
use std::sync::Arc;

use groma_address::{Name, ProviderConfig};
use groma_diagnostics::{Diagnostic, DiagnosticAddress, Diagnostics};
use groma_hcl::Expression;
use groma_provider::{BodyDecoder, Schema};
use groma_value::{Path, Type, Value, convert};
use thiserror::Error;

use crate::config_graph::{ModuleIndex, narrow};
use crate::module_functions::ModuleFunctions;

/// Whether the body of a block matches its schema, as far as that is decided without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    Valid,
    /// The body has errors that are reported already; the provider would report them again.
    Invalid,
}

impl Validity {
    /// Returns the verdict for a body with these problems.
    pub fn of(problems: &Diagnostics) -> Self {
        if problems.has_errors() { Self::Invalid } else { Self::Valid }
    }
}

/// A resource or action block bound to its schema, ready for evaluation.
pub struct Template {
    /// The schema of its type.
    pub schema: Arc<Schema>,
    /// Its body.
    pub body: Arc<BodyDecoder>,
    /// Whether the body matches the schema.
    pub validity: Validity,
    /// The provider configuration of its objects.
    pub provider: Arc<ProviderConfig>,
    /// The selection of an instance, if the provider block has `for_each`.
    pub key: Option<Box<TemplateKey>>,
    /// The module's `provider_meta` value for the provider; null without such a block.
    pub meta: Value,
}

impl Template {
    /// Returns the template for instances that one provider configuration manages.
    pub fn managed_by(&self, provider: Arc<ProviderConfig>) -> Self {
        let (schema, body, meta) = (Arc::clone(&self.schema), Arc::clone(&self.body), self.meta.clone());
        Self { schema, body, validity: self.validity, provider, key: None, meta }
    }

    /// Returns an error if `value` has an ephemeral part outside of a write-only argument, which would be stored (LC-29).
    pub fn ephemeral_misuse(&self, value: &Value, address: impl Into<DiagnosticAddress>) -> Option<Diagnostic> {
        if !value.has_marks() {
            return None;
        }
        let (_, marks) = value.unmark_deep();
        let is_stored =
            |path: &Path| !self.schema.block.attribute_at(path).is_some_and(|attribute| attribute.is_write_only());
        let (path, _) = marks.iter().find(|(path, marks)| marks.is_ephemeral() && is_stored(path))?;
        let detail = "An ephemeral value cannot be used here, because the argument is not write-only and its value would be \
             stored.";
        Some(Diagnostic::error("Invalid use of ephemeral value", detail).at(self.body.span_of(path)).about(address))
    }
}

/// The expression that selects an instance of a provider block.
#[derive(Clone)]
pub enum TemplateKey {
    /// The `provider` argument of the block that uses it.
    Own(Expression),
    /// The `providers` argument of an enclosing module call.
    Passed {
        /// The module that is called.
        module: ModuleIndex,
        /// The key, as the calling module sees it.
        key: Expression,
    },
}

impl TemplateKey {
    /// Returns the key's expression.
    pub fn expression(&self) -> &Expression {
        match self {
            Self::Own(key) | Self::Passed { key, .. } => key,
        }
    }
}

/// The reason why a value is not the key of a provider instance.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum KeyError {
    #[error(
        "The key of a provider instance is stored in the state and always visible, so it cannot be derived from {0} \
         value."
    )]
    Secret(&'static str),
    #[error("The key of a provider instance cannot be null. Use one of the keys of the provider's for_each.")]
    Null,
    #[error("The key of a provider instance must be a string, not a value of type {0}.")]
    Type(String),
}

/// Returns the instance key that a value stands for; `None` if it is unknown.
///
/// # Errors
///
/// The value is sensitive, ephemeral, null, or not convertible to a string.
pub(crate) fn read_key(value: &Value) -> Result<Option<Name>, KeyError> {
    let marks = value.deep_marks();
    let (value, _) = value.unmark_deep();
    if marks.is_sensitive() || marks.is_ephemeral() {
        return Err(KeyError::Secret(if marks.is_sensitive() { "a sensitive" } else { "an ephemeral" }));
    }
    if value.is_null() {
        return Err(KeyError::Null);
    }
    let text = convert::convert(&value, &Type::String).map_err(|_| KeyError::Type(value.ty().friendly_name()))?;
    Ok(text.as_name().cloned())
}

/// A provider block bound to its schema, ready for evaluation.
pub struct ProviderTemplate {
    /// Its body.
    pub body: Arc<BodyDecoder>,
    /// Whether the body matches the schema.
    pub validity: Validity,
    /// The address of the provider configuration.
    pub config: ProviderConfig,
    /// The block's `for_each` argument.
    pub for_each: Option<Expression>,
    /// Errors in a block that no other block uses. They matter once an object of the state needs it.
    pub withheld: Diagnostics,
}

/// The prepared blocks of all modules; what could not be prepared was reported and is missing.
#[derive(Default)]
pub struct Templates {
    resources: Vec<Vec<Option<Arc<Template>>>>,
    actions: Vec<Vec<Option<Arc<Template>>>>,
    providers: Vec<Vec<Option<Arc<ProviderTemplate>>>>,
    functions: ModuleFunctions,
}

/// The prepared blocks of one module, in its order.
pub(crate) struct Blocks {
    pub(crate) resources: Vec<Option<Arc<Template>>>,
    pub(crate) actions: Vec<Option<Arc<Template>>>,
    pub(crate) providers: Vec<Option<Arc<ProviderTemplate>>>,
}

impl fmt::Debug for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Templates").field("modules", &self.resources.len()).finish_non_exhaustive()
    }
}

impl Templates {
    /// Creates an empty collection, with the provider functions that blocks may call.
    pub(crate) fn with(functions: ModuleFunctions) -> Self {
        Self { functions, ..Self::default() }
    }

    /// Adds the blocks of the next module.
    pub(crate) fn add(&mut self, blocks: Blocks) {
        self.resources.push(blocks.resources);
        self.actions.push(blocks.actions);
        self.providers.push(blocks.providers);
    }

    /// The functions of the providers of all modules.
    pub fn functions(&self) -> &ModuleFunctions {
        &self.functions
    }

    /// Returns the template of a resource block.
    pub fn resource(&self, module: ModuleIndex, at: u32) -> Option<&Arc<Template>> {
        self.resources.get(module.at())?.get(at as usize)?.as_ref()
    }

    /// Returns the template of an action block.
    pub fn action(&self, module: ModuleIndex, at: u32) -> Option<&Arc<Template>> {
        self.actions.get(module.at())?.get(at as usize)?.as_ref()
    }

    /// The action blocks of all modules.
    pub fn action_blocks(&self) -> impl Iterator<Item = &Arc<Template>> {
        self.actions.iter().flatten().flatten()
    }

    /// Returns the template of a provider block.
    pub fn provider(&self, module: ModuleIndex, at: u32) -> Option<&Arc<ProviderTemplate>> {
        self.providers.get(module.at())?.get(at as usize)?.as_ref()
    }

    /// The provider blocks of all modules.
    pub fn provider_blocks(&self) -> impl Iterator<Item = (ModuleIndex, u32, &Arc<ProviderTemplate>)> {
        self.providers.iter().enumerate().flat_map(|(module, blocks)| {
            let known = blocks.iter().enumerate();
            known.filter_map(move |(at, block)| Some((ModuleIndex(narrow(module)), narrow(at), block.as_ref()?)))
        })
    }

    /// The resource blocks of all modules.
    pub fn resource_blocks(&self) -> impl Iterator<Item = &Arc<Template>> {
        self.resources.iter().flatten().flatten()
    }
}
