//! Provider requirements and configurations along the module tree.

use std::collections::HashSet;

use groma_address::{Name, ProviderAddress};
use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};

use super::describe::describe;
use super::misspelt::unless_alias_misspelt;
use super::own_providers::{Above, is_empty, is_repeated_alone};
use crate::model::{LocalProvider, LocalProviderRef, Module, ModuleCall, PassedProvider, ProviderBlock};
use crate::providers::resolve;

/// Checks what callers pass against what modules expect.
pub(super) fn check(root: &Module, diagnostics: &mut Diagnostics) {
    check_duplicates(root, diagnostics);
    descend(root, Above::default(), diagnostics);
}

fn descend(module: &Module, above: Above, diagnostics: &mut Diagnostics) {
    for (name, child) in &module.children {
        let Some(call) = module.calls.get(name) else { continue };
        let above = above.with(call);
        check_duplicates(child, diagnostics);
        Pair { parent: module, call, child }.check(above, diagnostics);
        descend(child, above, diagnostics);
    }
}

/// Warns of one provider under two names.
fn check_duplicates(module: &Module, diagnostics: &mut Diagnostics) {
    let mut seen: Vec<(&ProviderAddress, &str)> = Vec::new();
    for required in module.required_providers.values() {
        if let Some((_, first)) = seen.iter().find(|(address, _)| **address == required.address) {
            diagnostics.push(
                Diagnostic::warning(
                    "Duplicate required provider",
                    format!(
                        "{} is required as {first:?} already. One provider needs one entry; remove this one.",
                        required.address.display_short()
                    ),
                )
                .at(required.span),
            );
        }
        seen.push((&required.address, &required.name));
    }
    check_implied(module, diagnostics);
}

/// Warns of resources that imply a provider which is required under another name.
fn check_implied(module: &Module, diagnostics: &mut Diagnostics) {
    if module.required_providers.is_empty() {
        return;
    }
    let mut seen: HashSet<Name> = HashSet::new();
    let implying = module.resources.values().filter(|resource| resource.provider.is_none());
    for resource in implying {
        let name = resource.local_provider().name;
        if module.required_providers.contains_key(&name) || !seen.insert(name.clone()) {
            continue;
        }
        let implied = module.provider_address(&name);
        let Some(other) = module.required_providers.values().find(|required| required.address == implied) else {
            continue;
        };
        diagnostics.push(
            Diagnostic::warning(
                "Duplicate required provider",
                format!(
                    "{} implies the provider {name:?}, which is required as {:?}. Require it under the name {name:?}, or write \
                     provider = {} in the block.",
                    resource.address, other.name, other.name
                ),
            )
            .at(resource.header_span),
        );
    }
}

/// A child module with the call that leads to it.
struct Pair<'a> {
    parent: &'a Module,
    call: &'a ModuleCall,
    child: &'a Module,
}

impl Pair<'_> {
    fn check(&self, above: Above, diagnostics: &mut Diagnostics) {
        let configured: Vec<&ProviderBlock> = self.child.providers.values().filter(|block| !is_empty(block)).collect();
        let refused = configured.iter().find_map(|block| Some((block, above.forbids(block)?)));
        diagnostics.extend(refused.map(|(block, span)| incompatible(self.child, block, span)));
        for passed in &self.call.providers {
            if configured.iter().any(|block| block.provider == passed.child) {
                diagnostics.push(self.cannot_override(passed));
            }
            self.check_name(passed, diagnostics);
            self.check_type(passed, diagnostics);
        }
        self.check_aliases(diagnostics);
        // Blocks with aliases are reported with the first one of their provider.
        let mut told: HashSet<&Name> = HashSet::new();
        for block in self.child.providers.values().filter(|block| is_empty(block) || is_repeated_alone(block)) {
            if told.insert(&block.provider.name) {
                diagnostics.push(redundant(self.child, block));
            }
        }
    }

    fn cannot_override(&self, passed: &PassedProvider) -> Diagnostic {
        let (child, parent) = (describe(self.child), describe(self.parent));
        Diagnostic::error(
            "Cannot override provider configuration",
            format!(
                "The module ({child}) configures {} itself, so that it cannot take a configuration from {parent}. Remove the entry, or the \
                 module's own provider block.",
                passed.child
            ),
        )
        .at(passed.child_span)
    }

    /// A name that a module never mentions is taken for the default provider of that name, with a warning.
    fn check_name(&self, passed: &PassedProvider, diagnostics: &mut Diagnostics) {
        let parent = &passed.parent.provider;
        let is_known = parent.alias.is_some()
            || self.parent.required_providers.contains_key(&parent.name)
            || self.parent.providers.get(parent).is_some_and(|block| !is_empty(block));
        if !is_known {
            diagnostics.push(undefined(self.parent, &parent.name).at(passed.parent.span));
        }
        let name = &passed.child.name;
        let required = self.child.required_providers.get(name);
        let is_expected =
            required.is_some_and(|required| passed.child.alias.is_none() || required.aliases.contains(&passed.child));
        if is_expected || self.child.providers.contains_key(&passed.child) {
            return;
        }
        let is_default = required.is_none_or(|required| &*required.address.namespace == "hashicorp");
        let diagnostic = if is_default {
            undefined(self.child, name)
        } else {
            Diagnostic::error(
                "Reference to undefined provider",
                format!(
                    "The module ({}) expects no provider configuration {}. If it should, list it in configuration_aliases of its \
                     required_providers entry {name:?}; otherwise remove it here.",
                    describe(self.child),
                    passed.child
                ),
            )
        };
        diagnostics.push(diagnostic.at(passed.child_span));
    }

    fn check_type(&self, passed: &PassedProvider, diagnostics: &mut Diagnostics) {
        let wanted = self.child.provider_address(&passed.child.name);
        let given = self.parent.provider_address(&passed.parent.provider.name);
        if wanted == given {
            return;
        }
        let (child, parent) = (describe(self.child), describe(self.parent));
        diagnostics.push(
            Diagnostic::error(
                "Provider type mismatch",
                format!(
                    "{} means {} in {child}, and {} means {} in {parent}. Pass a configuration of the same provider, or make both \
                     modules require the same source under that name.",
                    passed.child,
                    wanted.display_short(),
                    passed.parent.provider,
                    given.display_short(),
                ),
            )
            .at(passed.parent.span),
        );
    }

    /// Checks that the caller passes every configuration in `configuration_aliases`.
    fn check_aliases(&self, diagnostics: &mut Diagnostics) {
        for required in self.child.required_providers.values() {
            for alias in &required.aliases {
                let given = self.child.providers.get(alias).is_some_and(|block| !is_empty(block))
                    || self.call.providers.iter().any(|passed| passed.child == *alias);
                if !given {
                    diagnostics.push(
                        Diagnostic::error(
                            "Missing required provider configuration",
                            format!(
                                "The module needs a configuration of {} under the name {alias}. Add {alias} = … to \"providers\" of \
                                 this call.",
                                required.address.display_short()
                            ),
                        )
                        .at(self.call.span),
                    );
                }
            }
        }
    }
}

fn undefined(module: &Module, name: &str) -> Diagnostic {
    let (place, address) = (describe(module), module.provider_address(name));
    let short = address.display_short().to_string();
    Diagnostic::warning(
        "Reference to undefined provider",
        format!(
            "No provider {name:?} is declared in {place}, so it is taken for {short}. Add an entry {name:?} with the source {short:?} to \
             required_providers there."
        ),
    )
}

fn incompatible(child: &Module, block: &ProviderBlock, span: Span) -> Diagnostic {
    Diagnostic::error(
        "Module is incompatible with count, for_each, and depends_on",
        format!(
            "The module ({}) configures the provider {} itself, and a call of such a module can have neither count, for_each nor depends_on. \
             Let the module take the configuration from its caller, through \"providers\".",
            describe(child),
            block.provider
        ),
    )
    .at(span)
}

fn redundant(child: &Module, block: &ProviderBlock) -> Diagnostic {
    let name = &block.provider.name;
    let address = child.provider_address(name);
    let advice = match &block.provider.alias {
        None => format!("an entry {name} = {{ source = {:?} }}", address.display_short().to_string()),
        Some(_) => format!("configuration_aliases = [ {} ] in the entry {name:?}", block.provider),
    };
    let reason = match block.for_each {
        None => "An empty provider block is a form of old for a configuration that comes from the caller.",
        Some(_) => {
            "The instances of a provider block without arguments are all alike, and a call of a module with such a block can have neither \
             count nor for_each. The configuration could come from the caller."
        }
    };
    Diagnostic::warning(
        "Redundant empty provider block",
        format!("{reason} Write {advice} in required_providers instead."),
    )
    .at(block.span)
}

/// Reports resources and actions whose provider configuration is nowhere.
pub(super) fn check_resources(root: &Module, diagnostics: &mut Diagnostics) {
    visit(&mut vec![root], diagnostics);
}

fn visit(chain: &mut Vec<&Module>, diagnostics: &mut Diagnostics) {
    let Some(module) = chain.last().copied() else { return };
    let mut seen: HashSet<LocalProvider> = HashSet::new();
    // Only an alias can be missing, and it is missing for all blocks that name it.
    let mut check = |reference: &LocalProviderRef, user: &dyn Fn() -> String| {
        let provider = &reference.provider;
        if provider.alias.is_none() || comes_from_caller(chain, module, provider) || !seen.insert(provider.clone()) {
            return;
        }
        if let Err(missing) = resolve(chain, provider) {
            let aliases = module.providers.keys().filter(|other| other.name == provider.name);
            let known = aliases.filter_map(|other| other.alias.as_deref());
            let meant = did_you_mean(provider.alias.as_deref().unwrap_or_default(), known);
            let detail = format!(
                "{} uses the provider configuration {}, which is not there.{meant} Write a provider {:?} block with that alias, or pass \
                 one to the module.",
                user(),
                missing.wanted,
                provider.name
            );
            let problem = Diagnostic::error("Provider configuration not present", detail).at(reference.span);
            diagnostics.push(unless_alias_misspelt(problem, module, &provider.name));
        }
    };
    for resource in module.resources.values() {
        if let Some(reference) = &resource.provider {
            check(reference, &|| resource.address.in_module(module.path.clone()).to_string());
        }
    }
    for action in module.actions.values() {
        if let Some(reference) = &action.provider {
            check(reference, &|| format!("action.{}.{}", action.type_name, action.name));
        }
    }
    check_passed(chain, module, diagnostics);
    for child in module.children.values() {
        chain.push(child);
        visit(chain, diagnostics);
        chain.pop();
    }
}

/// Whether the caller has to give it: that it does not is reported at the call. Nobody calls the root module.
fn comes_from_caller(chain: &[&Module], module: &Module, provider: &LocalProvider) -> bool {
    let expected = module.required_providers.get(&provider.name);
    chain.len() > 1 && expected.is_some_and(|required| required.aliases.contains(provider))
}

/// Reports configurations with alias that are passed on and nowhere.
fn check_passed(chain: &[&Module], module: &Module, diagnostics: &mut Diagnostics) {
    for passed in module.calls.values().flat_map(|call| &call.providers) {
        let provider = &passed.parent.provider;
        if comes_from_caller(chain, module, provider) {
            continue;
        }
        if let Err(missing) = resolve(chain, provider) {
            let detail = format!(
                "The provider configuration {} is passed on here, and is not there. Write a provider {:?} block with that alias.",
                missing.wanted, provider.name
            );
            let problem = Diagnostic::error("Provider configuration not present", detail).at(passed.parent.span);
            diagnostics.push(unless_alias_misspelt(problem, module, &provider.name));
        }
    }
}
