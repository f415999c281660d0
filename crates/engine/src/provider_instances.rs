//! Provider blocks with `for_each`: which instance of one manages an object.

use std::fmt;
use std::sync::Arc;

use groma_address::{InstanceKey, Name, ProviderConfig};
use groma_diagnostics::{Diagnostic, Span, quoted};
use groma_hcl::Expression;
use groma_lang::observing;
use groma_value::{Type, Value, convert};

use crate::config_graph::ModuleIndex;
use crate::evaluation::Evaluation;
use crate::providers::Providers;
use crate::templates::Template;
use crate::world::{InstanceScope, ModuleId, Repetition, World};

/// What chooses among the instances of a provider block.
#[derive(Clone)]
pub enum TemplateKey {
    /// The block that uses it.
    Own(Expression),
    /// The call of a module around the block, which hands one instance in.
    Passed {
        /// The module that is called.
        module: ModuleIndex,
        /// The key, as the calling module sees it.
        key: Expression,
    },
}

impl TemplateKey {
    fn expression(&self) -> &Expression {
        match self {
            Self::Own(key) | Self::Passed { key, .. } => key,
        }
    }

    /// Where it is written.
    pub fn span(&self) -> Span {
        self.expression().span
    }

    /// The module instance that sees it, and what `each` and `count` mean in it.
    fn place(&self, world: &World, module: ModuleId, own: &Repetition) -> Option<(ModuleId, Repetition)> {
        let Self::Passed { module: called, .. } = self else { return Some((module, own.clone())) };
        let mut inside = module;
        while world.module(inside).of != *called {
            inside = world.module(inside).caller?;
        }
        let data = world.module(inside);
        Some((data.caller?, data.repetition.clone()))
    }
}

/// Who manages an object.
pub(crate) enum Manager {
    /// This configuration.
    Known(Arc<ProviderConfig>),
    /// The key depends on what is not known yet.
    Later(Diagnostic),
}

/// Something that wants a provider configuration.
pub(crate) struct Wanted<'a> {
    /// The provider block.
    pub(crate) block: &'a Arc<ProviderConfig>,
    /// What chooses the instance.
    pub(crate) key: Option<&'a TemplateKey>,
    /// The module instance with what wants it.
    pub(crate) module: ModuleId,
    /// What `each` and `count` mean for it.
    pub(crate) repetition: &'a Repetition,
    /// What it is called.
    pub(crate) address: &'a dyn fmt::Display,
}

impl<'a> Wanted<'a> {
    /// What an instance of the block of a template wants.
    pub(crate) fn of(
        template: &'a Template,
        module: ModuleId,
        repetition: &'a Repetition,
        address: &'a dyn fmt::Display,
    ) -> Self {
        Self { block: &template.provider, key: template.key.as_deref(), module, repetition, address }
    }

    /// The configuration that manages it; none after an error, which is noted.
    pub(crate) fn manager(&self, world: &World, evaluation: &mut Evaluation, providers: &Providers) -> Option<Manager> {
        let block = self.block;
        let Some(key) = self.key else { return Some(Manager::Known(Arc::clone(block))) };
        let (module, repetition) = key.place(world, self.module, self.repetition)?;
        let functions = Arc::clone(&evaluation.functions);
        let scope = InstanceScope::new(world, module, &functions).repeated(&repetition);
        let expression = key.expression();
        let value = evaluation.value(expression, &scope)?;
        let wrong = |detail: String| {
            let problem = Diagnostic::error("Invalid provider instance key", detail).at(expression.span);
            observing(problem, expression, &scope).about(self.address.to_string())
        };
        let name = match read_key(&value) {
            Ok(Some(name)) => name,
            Ok(None) => {
                let detail = format!(
                    "Which provider configuration manages {} depends on a value that is known only after apply, so no plan can be made for it. \
                     Use a key that is known now.",
                    self.address
                );
                return Some(Manager::Later(wrong(detail)));
            }
            Err(detail) => {
                evaluation.diagnostics.push(wrong(detail));
                return None;
            }
        };
        if let Some(instance) = providers.instance(block, &name) {
            return Some(Manager::Known(instance));
        }
        let wanted = block.instance(InstanceKey::String(name));
        let keys = told(&providers.keys(block).unwrap_or_default());
        let detail = format!(
            "{} is to be managed by the provider configuration {wanted}, but for_each of its block has no such key: there is {keys}. Add the \
             element, or choose another key. An element can be taken away once all that its provider manages is destroyed, not before.",
            self.address
        );
        let problem = Diagnostic::error(NOT_PRESENT, detail).at(key.span()).about(self.address.to_string());
        evaluation.diagnostics.push(problem);
        None
    }
}

/// The key that a value gives, unless it is not known yet.
///
/// # Errors
/// What is wrong with it.
fn read_key(value: &Value) -> Result<Option<Name>, String> {
    let marks = value.deep_marks();
    let (value, _) = value.unmark_deep();
    if marks.is_sensitive() || marks.is_ephemeral() {
        let how = if marks.is_sensitive() { "a sensitive" } else { "an ephemeral" };
        return Err(format!(
            "The key of a provider instance is kept in the state, where everybody sees it, so that it cannot be made of {how} value."
        ));
    }
    if value.is_null() {
        return Err(
            "The key of a provider instance cannot be null. Give it one of the keys of the provider's for_each."
                .to_owned(),
        );
    }
    let text = convert::convert(&value, &Type::String).map_err(|_| {
        let ty = value.ty();
        format!("The key of a provider instance is a text, but this is a value of type {}.", ty.friendly_name())
    })?;
    Ok(text.as_name().cloned())
}

/// That a provider configuration is not there which `address` needs.
pub(crate) fn absent(
    providers: &Providers,
    wanted: &ProviderConfig,
    address: &dyn fmt::Display,
    span: Span,
) -> Diagnostic {
    let block = wanted.block();
    let keys = providers.keys(&block);
    let detail = match (&wanted.key, keys) {
        (InstanceKey::None, Some(keys)) => format!(
            "{address} was made with the provider configuration {wanted} before that had for_each. Now there are several, with {}, and none of \
             them is the one that it needs. Take for_each away until the object is destroyed, or let its block choose one of them.",
            told(&keys)
        ),
        (_, Some(keys)) => format!(
            "{address} needs the provider configuration {wanted}, but for_each of its block has no such key: there is {}. A provider configuration \
             has to stay until all that it manages is destroyed. Put the element back, apply so that its objects go, and take it away then.",
            told(&keys)
        ),
        (_, None) => format!(
            "{address} needs the provider configuration {wanted}, but its block has no for_each any more. Put it back until the object is \
             destroyed, or let the object's block choose another configuration."
        ),
    };
    Diagnostic::error(NOT_PRESENT, detail).at(span).about(address.to_string())
}

const NOT_PRESENT: &str = "Provider instance not present";

/// Keys as a sentence has them.
fn told(keys: &[Name]) -> String {
    const MOST: usize = 10;
    let names: Vec<String> = keys.iter().take(MOST).map(|key| quoted(key)).collect();
    match (keys.len(), keys.len().saturating_sub(MOST)) {
        (0, _) => "none at all".to_owned(),
        (1, _) => format!("only {}", names.concat()),
        (_, 0) => names.join(", "),
        (_, more) => format!("{} and {more} more", names.join(", ")),
    }
}
