//! Provider blocks with `for_each`: which instance of one manages an object.

use std::fmt;
use std::sync::Arc;

use groma_address::{InstanceKey, Name, ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, DiagnosticAddress, Span, quoted};
use groma_lang::observing;

use crate::evaluation::Evaluation;
use crate::options::Deferral;
use crate::providers::Providers;
use crate::templates::{Template, TemplateKey, read_key};
use crate::world::{InstanceScope, ModuleId, Repetition, World};

/// The provider configuration that manages an instance.
pub(crate) enum Manager {
    /// A provider configuration that is known now.
    Known(Arc<ProviderConfig>),
    /// That is left to a later run.
    Later,
}

/// The choice of the provider configuration that manages something.
pub(crate) struct Choice<'a> {
    /// The provider block with `for_each`.
    pub(crate) block: &'a Arc<ProviderConfig>,
    /// The expression that selects an instance of the block.
    pub(crate) key: Option<&'a TemplateKey>,
    /// The module instance with what is managed.
    pub(crate) module: ModuleId,
    /// The values of `each` and `count` for the managed instance.
    pub(crate) repetition: &'a Repetition,
    /// The address of the managed instance, for messages.
    pub(crate) address: &'a dyn Addressed,
}

impl<'a> Choice<'a> {
    /// For an instance of the block of a template.
    pub(crate) fn of(
        template: &'a Template,
        module: ModuleId,
        repetition: &'a Repetition,
        address: &'a dyn Addressed,
    ) -> Self {
        Self { block: &template.provider, key: template.key.as_deref(), module, repetition, address }
    }

    /// The configuration that manages it; none after an error, which is noted.
    pub(crate) fn manager(
        &self,
        world: &World,
        evaluation: &mut Evaluation,
        providers: &Providers,
    ) -> Option<Arc<ProviderConfig>> {
        match self.manager_or_defer(Deferral::Refused, world, evaluation, providers)? {
            Manager::Known(config) => Some(config),
            Manager::Later => None,
        }
    }

    /// Returns the provider configuration of an instance, unless the selection may be deferred.
    pub(crate) fn manager_or_defer(
        &self,
        deferral: Deferral,
        world: &World,
        evaluation: &mut Evaluation,
        providers: &Providers,
    ) -> Option<Manager> {
        let Some(key) = self.key else { return Some(Manager::Known(Arc::clone(self.block))) };
        let (module, repetition) = self.repetition_of(key, world)?;
        let functions = Arc::clone(&evaluation.functions);
        let scope = InstanceScope::new(world, module, &functions).repeated(&repetition);
        let value = evaluation.value(key.expression(), &scope)?;
        let problem = match read_key(&value) {
            Ok(Some(name)) => match providers.instance(self.block, &name) {
                Some(instance) => return Some(Manager::Known(instance)),
                None => self.no_such_element(key, name, providers),
            },
            Ok(None) if deferral == Deferral::Allowed => return Some(Manager::Later),
            Ok(None) => self.wrong(key, &scope, self.known_too_late()),
            Err(error) => self.wrong(key, &scope, error.to_string()),
        };
        evaluation.diagnostics.push(problem);
        None
    }

    /// The module instance that sees the key, and what `each` and `count` mean in it.
    fn repetition_of(&self, key: &TemplateKey, world: &World) -> Option<(ModuleId, Repetition)> {
        let TemplateKey::Passed { module: called, .. } = key else {
            return Some((self.module, self.repetition.clone()));
        };
        let mut inside = self.module;
        while world.module(inside).of != *called {
            inside = world.module(inside).caller?;
        }
        let data = world.module(inside);
        Some((data.caller?, data.repetition.clone()))
    }

    fn wrong(&self, key: &TemplateKey, scope: &InstanceScope<'_>, detail: String) -> Diagnostic {
        let problem = Diagnostic::error("Invalid provider instance key", detail).at(key.expression().span);
        observing(problem, key.expression(), scope).about(self.address.diagnostic_address())
    }

    fn known_too_late(&self) -> String {
        format!(
            "The provider configuration of {} depends on a value that is known only after apply, so it cannot be \
             planned. Use a key that is known during planning.",
            self.address
        )
    }

    fn no_such_element(&self, key: &TemplateKey, name: Name, providers: &Providers) -> Diagnostic {
        let keys = listed(&providers.keys(self.block).unwrap_or_default());
        let wanted = self.block.instance(InstanceKey::String(name));
        let detail = format!(
            "{} uses the provider configuration {wanted}, but for_each of that provider block has {keys}. Add \
             the element, or choose another key. Remove an element only after all objects of its provider \
             configuration are destroyed.",
            self.address
        );
        Diagnostic::error(NOT_PRESENT, detail).at(key.expression().span).about(self.address.diagnostic_address())
    }
}

/// An object whose address diagnostics can carry.
pub(crate) trait Addressed: fmt::Display {
    /// Returns the address for diagnostics.
    fn diagnostic_address(&self) -> DiagnosticAddress;
}

impl<T: fmt::Display> Addressed for T
where
    for<'a> &'a T: Into<DiagnosticAddress>,
{
    fn diagnostic_address(&self) -> DiagnosticAddress {
        self.into()
    }
}

/// Returns the error about a missing provider configuration that `address` requires.
pub(crate) fn absent(
    providers: &Providers,
    wanted: &ProviderConfig,
    address: &ResourceInstance,
    span: Span,
) -> Diagnostic {
    let block = wanted.block();
    let keys = providers.keys(&block);
    let detail = match (&wanted.key, keys) {
        (InstanceKey::None, Some(keys)) => format!(
            "{address} was created with the provider configuration {wanted} before that block had for_each. Now it \
             has {}, and none of them is the original configuration. Remove for_each until the object is destroyed, \
             or select one of the instances in the object's block.",
            listed(&keys)
        ),
        (_, Some(keys)) => format!(
            "{address} requires the provider configuration {wanted}, but for_each of that provider block has {}. \
             A provider configuration must exist until all of its objects are destroyed. Restore the element, \
             apply to destroy its objects, and then remove it.",
            listed(&keys)
        ),
        (_, None) => format!(
            "{address} requires the provider configuration {wanted}, but that provider block no longer has \
             for_each. Restore for_each until the object is destroyed, or select another configuration in the \
             object's block."
        ),
    };
    Diagnostic::error(NOT_PRESENT, detail).at(span).about(address)
}

const NOT_PRESENT: &str = "Provider instance not present";

/// Describes the keys of a for_each in a sentence.
fn listed(keys: &[Name]) -> String {
    // A few keys show the mistake; a long list would hide the advice.
    const MOST: usize = 10;
    let names: Vec<String> = keys.iter().take(MOST).map(|key| quoted(key)).collect();
    match (keys.len(), keys.len().saturating_sub(MOST)) {
        (0, _) => "no elements".to_owned(),
        (1, _) => format!("only the key {}", names.concat()),
        (_, 0) => format!("only the keys {}", names.join(", ")),
        (_, more) => format!("only the keys {} and {more} more", names.join(", ")),
    }
}
