//! Checks of provider requirements and configurations along the module tree.

use std::collections::HashSet;

use groma_address::{Name, ProviderAddress};
use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};

use super::own_providers::{Above, is_empty, is_repeated_alone};
use super::typo::attribute_to_alias_typo;
use crate::model::{LocalProvider, LocalProviderRef, Module, ModuleCall, PassedProvider, ProviderBlock};
use crate::providers::resolve;

/// Checks that callers pass the provider configurations that modules expect.
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

/// Warns about a provider that is required under two local names.
fn check_duplicates(module: &Module, diagnostics: &mut Diagnostics) {
    let mut seen: Vec<(&ProviderAddress, &str)> = Vec::new();
    for required in module.required_providers.values() {
        if let Some((_, first)) = seen.iter().find(|(address, _)| **address == required.address) {
            diagnostics.push(
                Diagnostic::warning(
                    "Duplicate required provider",
                    format!(
                        "{} is already required as {first:?}. Remove this entry; one entry for each provider is enough.",
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

/// Warns about resources that imply a provider which is required under another name.
fn check_implied(module: &Module, diagnostics: &mut Diagnostics) {
    // Without an entry, no provider can have a second name.
    if module.required_providers.is_empty() {
        return;
    }
    let mut seen: HashSet<Name> = HashSet::new();
    let implying = module.resources.values().filter(|resource| resource.provider.is_none());
    for resource in implying {
        let name = resource.local_provider().name;
        // One warning for each implied name is enough.
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
                    "{} implies the provider {name:?}, which is required as {:?}. Rename the entry to {name:?}, or set \
                     provider = {} in the block.",
                    resource.address, other.name, other.name
                ),
            )
            .at(resource.header_span),
        );
    }
}

/// A module call with its caller and the called module.
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
        // One warning for each provider, even if several blocks have aliases.
        let mut reported: HashSet<&Name> = HashSet::new();
        for block in self.child.providers.values().filter(|block| is_empty(block) || is_repeated_alone(block)) {
            if reported.insert(&block.provider.name) {
                diagnostics.push(redundant(self.child, block));
            }
        }
    }

    fn cannot_override(&self, passed: &PassedProvider) -> Diagnostic {
        let (child, parent) = (describe(self.child), describe(self.parent));
        Diagnostic::error(
            "Cannot override provider configuration",
            format!(
                "The module ({child}) configures {} itself, so it cannot receive a configuration from {parent}. Remove this entry or the \
                 module's own provider block.",
                passed.child
            ),
        )
        .at(passed.child_span)
    }

    /// Warns about a local name that a module does not declare: it means the default provider of that name, as in
    /// Terraform.
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
        // Without a source, the name means the provider in the hashicorp namespace, so a warning is enough.
        let is_default = required.is_none_or(|required| &*required.address.namespace == "hashicorp");
        let diagnostic = if is_default {
            undefined(self.child, name)
        } else {
            Diagnostic::error(
                "Reference to undefined provider",
                format!(
                    "The module ({}) does not accept a provider configuration {}. To pass it, add it to configuration_aliases of the \
                     module's required_providers entry {name:?}; otherwise remove it here.",
                    describe(self.child),
                    passed.child
                ),
            )
        };
        diagnostics.push(diagnostic.at(passed.child_span));
    }

    fn check_type(&self, passed: &PassedProvider, diagnostics: &mut Diagnostics) {
        let expected = self.child.provider_address(&passed.child.name);
        let given = self.parent.provider_address(&passed.parent.provider.name);
        if expected == given {
            return;
        }
        let (child, parent) = (describe(self.child), describe(self.parent));
        diagnostics.push(
            Diagnostic::error(
                "Provider type mismatch",
                format!(
                    "{} is {} in {child}, but {} is {} in {parent}. Pass a configuration of the same provider, or require the same \
                     source under both names.",
                    passed.child,
                    expected.display_short(),
                    passed.parent.provider,
                    given.display_short(),
                ),
            )
            .at(passed.parent.span),
        );
    }

    /// Reports configurations in `configuration_aliases` of the child that the call does not pass.
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
                                "The module requires a configuration of {} named {alias}. Add {alias} = … to the \"providers\" argument of \
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
    let (module_name, address) = (describe(module), module.provider_address(name));
    let short = address.display_short().to_string();
    Diagnostic::warning(
        "Reference to undefined provider",
        format!(
            "The provider {name:?} is not declared in {module_name}, so it is assumed to be {short}. Add an entry {name:?} with the source \
             {short:?} to its required_providers block."
        ),
    )
}

fn incompatible(child: &Module, block: &ProviderBlock, span: Span) -> Diagnostic {
    Diagnostic::error(
        "Module is incompatible with count, for_each, and depends_on",
        format!(
            "The module ({}) contains its own configuration of the provider {}, so calls of it cannot use count, for_each or depends_on. \
             Pass the configuration from the caller with the \"providers\" argument instead.",
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
        None => "An empty provider block is a deprecated declaration of a configuration that the caller passes.",
        Some(_) => {
            "All instances of a provider block without arguments are identical, and calls of a module with such a block cannot use count \
             or for_each."
        }
    };
    Diagnostic::warning(
        "Redundant empty provider block",
        format!("{reason} Use {advice} in required_providers instead."),
    )
    .at(block.span)
}

/// Reports resources and actions whose provider configuration is not declared.
pub(super) fn check_resources(root: &Module, diagnostics: &mut Diagnostics) {
    visit(&mut vec![root], diagnostics);
}

fn visit(chain: &mut Vec<&Module>, diagnostics: &mut Diagnostics) {
    let Some(module) = chain.last().copied() else { return };
    let mut seen: HashSet<LocalProvider> = HashSet::new();
    // Only an aliased configuration can be missing, and one report for all blocks that use it is enough.
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
                "{} uses the provider configuration {}, which is not declared.{meant} Add a provider {:?} block with that alias, or pass \
                 the configuration to the module.",
                user(),
                missing.expected,
                provider.name
            );
            let problem = Diagnostic::error("Provider configuration not present", detail).at(reference.span);
            diagnostics.push(attribute_to_alias_typo(problem, module, &provider.name));
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

/// Whether the caller must pass the configuration, so that the call reports it if missing. The root module has no
/// caller.
fn comes_from_caller(chain: &[&Module], module: &Module, provider: &LocalProvider) -> bool {
    let expected = module.required_providers.get(&provider.name);
    chain.len() > 1 && expected.is_some_and(|required| required.aliases.contains(provider))
}

/// Reports aliased configurations that are passed to a module but not declared.
fn check_passed(chain: &[&Module], module: &Module, diagnostics: &mut Diagnostics) {
    for passed in module.calls.values().flat_map(|call| &call.providers) {
        let provider = &passed.parent.provider;
        if comes_from_caller(chain, module, provider) {
            continue;
        }
        if let Err(missing) = resolve(chain, provider) {
            let detail = format!(
                "The provider configuration {} is passed to the module but not declared. Add a provider {:?} block with that alias.",
                missing.expected, provider.name
            );
            let problem = Diagnostic::error("Provider configuration not present", detail).at(passed.parent.span);
            diagnostics.push(attribute_to_alias_typo(problem, module, &provider.name));
        }
    }
}

/// Names a module in the middle of a sentence.
pub(super) fn describe(module: &Module) -> String {
    if module.path.is_root() { "the root module".to_owned() } else { module.path.to_string() }
}
