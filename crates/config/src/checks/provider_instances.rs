//! Checks of provider blocks with `for_each`, and of the keys that select their instances.

use std::collections::HashSet;

use groma_address::Mode;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::Expression;
use groma_lang::{Reference, for_each_call, for_each_traversal, parse_reference};

use crate::model::{LocalProviderRef, Module, ProviderBlock};

/// Checks `root` and all of its descendants.
pub(super) fn check(root: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    visit(&mut vec![root], sources, diagnostics);
}

fn visit(chain: &mut Vec<&Module>, sources: &Sources, diagnostics: &mut Diagnostics) {
    let Some(module) = chain.last().copied() else { return };
    check_references(module, diagnostics);
    for block in module.providers.values() {
        diagnostics.append(late_for_each(chain, block));
    }
    diagnostics.append(shared_for_each(module, sources));
    for child in module.children.values() {
        chain.push(child);
        visit(chain, sources, diagnostics);
        chain.pop();
    }
}

fn check_references(module: &Module, diagnostics: &mut Diagnostics) {
    let resources = module.resources.values().filter_map(|resource| resource.provider.as_ref());
    let actions = module.actions.values().filter_map(|action| action.provider.as_ref());
    let imports = module.imports.iter().filter_map(|import| import.provider.as_ref());
    for written in resources.chain(actions).chain(imports) {
        diagnostics.append(wrong_key(module, written, "Invalid resource provider configuration"));
    }
    for passed in module.calls.values().flat_map(|call| &call.providers) {
        diagnostics.append(wrong_key(module, &passed.parent, "Invalid module provider configuration"));
    }
}

/// Reports a missing key of a provider block with `for_each`, or a key of one without.
fn wrong_key(module: &Module, written: &LocalProviderRef, summary: &str) -> Option<Diagnostic> {
    let provider = &written.provider;
    let block = module.providers.get(provider);
    let detail = match (block, &written.key) {
        (Some(ProviderBlock { for_each: Some(_), .. }), None) => format!(
            "The provider block {provider} has \"for_each\" set, so it has several instances, which cannot be used or passed together. \
             Select one by its key, for example {provider}[each.key]."
        ),
        (Some(ProviderBlock { for_each: None, .. }), Some(_)) => format!(
            "The provider block {provider} has no \"for_each\", so it has only one configuration. Remove the key in brackets."
        ),
        (None, Some(_)) => format!(
            "A key selects an instance of a provider block with \"for_each\", but this module has no provider block {provider}. A caller \
             passes a single configuration: remove the key in brackets, and select the instance in the caller."
        ),
        _ => return None,
    };
    Some(Diagnostic::error(summary, detail).at(written.span))
}

/// Reports `for_each` of a provider block if it depends on values that are unknown before planning.
fn late_for_each(chain: &[&Module], block: &ProviderBlock) -> Option<Diagnostic> {
    let for_each = block.for_each.as_ref()?;
    let found = Search { seen: HashSet::new() }.expression(chain, for_each)?;
    let explanation = match &*found.path {
        [] => String::new(),
        path => format!(" It is referenced through {}.", path.join(" -> ")),
    };
    let detail = format!(
        "The instances of a provider block must be known before planning, but {} is known only later.{explanation} Use only variables, \
         local values and functions of them in for_each.",
        found.what
    );
    // An indirect reference may be in another module, where it is no mistake.
    let span = if found.path.is_empty() { found.span } else { for_each.span };
    Some(Diagnostic::error(found.summary, detail).at(span))
}

/// A reference to a value that is unknown before planning.
struct Late {
    summary: &'static str,
    what: String,
    span: Span,
    /// Variables and local values from the expression to the value, outermost first.
    path: Vec<String>,
}

/// A search through variables and local values, each visited once.
struct Search {
    seen: HashSet<(usize, Reference)>,
}

impl Search {
    /// Finds the first reference to an object or call of `plantimestamp` in `expression`, which is in the last module
    /// of `chain`; follows variables and local values.
    fn expression(&mut self, chain: &[&Module], expression: &Expression) -> Option<Late> {
        let mut found = None;
        for_each_traversal(expression, &mut |traversal| {
            if found.is_some() {
                return;
            }
            // Invalid references are reported by the reference checks.
            let Ok(referenced) = parse_reference(traversal) else { return };
            found = match &referenced.target {
                Reference::Resource(_) | Reference::Module(_) => {
                    let what = referenced.target.to_string();
                    Some(Late {
                        summary: "Dynamic value in static context",
                        what,
                        span: traversal.span,
                        path: Vec::new(),
                    })
                }
                Reference::Variable(_) | Reference::Local(_) => self.value(chain, &referenced.target),
                _ => None,
            };
        });
        for_each_call(expression, &mut |call| {
            if found.is_none() && &*call.name.name == "plantimestamp" {
                let span = call.name.span.to(call.close);
                let what = "plantimestamp()".to_owned();
                found = Some(Late { summary: "Invalid for_each argument", what, span, path: Vec::new() });
            }
        });
        found
    }

    fn value(&mut self, chain: &[&Module], reference: &Reference) -> Option<Late> {
        let (module, above) = chain.split_last()?;
        // Local values may form a cycle, which the evaluator reports.
        if !self.seen.insert((chain.len(), reference.clone())) {
            return None;
        }
        let mut found = match reference {
            Reference::Local(name) => self.expression(chain, &module.locals.get(name)?.expression),
            Reference::Variable(name) => {
                // Without a caller, it is a variable of the root module, whose value is known.
                let call = above.last()?.calls.get(module.path.steps().last()?)?;
                let (arguments, _) = call.body.attributes();
                let argument = arguments.into_iter().find(|argument| argument.name.name == *name)?;
                self.expression(above, &argument.expression)
            }
            _ => None,
        }?;
        found.path.insert(0, reference.to_string());
        Some(found)
    }
}

/// Warns about resources and modules that share the `for_each` expression of their provider: with an element removed,
/// the configuration that destroys its objects is gone, too.
fn shared_for_each(module: &Module, sources: &Sources) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let elements = |local| module.providers.get(local).and_then(|block| block.for_each.as_ref());
    // Only the objects of managed resources are destroyed.
    let managed = module.resources.values().filter(|resource| resource.address.mode == Mode::Managed);
    for resource in managed {
        if let (Some(own), Some(written)) = (&resource.for_each, &resource.provider)
            && elements(&written.provider).is_some_and(|other| is_same(own, other, sources))
        {
            found.push(outlives("resource", &resource.address.to_string(), own.span));
        }
    }
    for call in module.calls.values() {
        let Some(own) = &call.for_each else { continue };
        let mut passed = call.providers.iter().filter_map(|passed| elements(&passed.parent.provider));
        if passed.any(|other| is_same(own, other, sources)) {
            found.push(outlives("module", &format!("module.{}", call.name), own.span));
        }
    }
    found
}

/// Whether two expressions have the same text and refer to something, so that their elements can change together.
fn is_same(one: &Expression, other: &Expression, sources: &Sources) -> bool {
    let mut refers = false;
    for_each_traversal(one, &mut |_| refers = true);
    let text = |expression: &Expression| -> Option<String> {
        let text = sources.text(expression.without_parentheses().span)?;
        // The layout of the text does not matter.
        Some(text.split_whitespace().collect())
    };
    refers && text(one).is_some_and(|one| text(other) == Some(one))
}

fn outlives(what: &str, address: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        format!("Provider configuration for_each matches {what}"),
        format!(
            "The provider block and this {what} use the same for_each expression. Removing an element also removes the provider \
             configuration that is needed to destroy the objects of {address}, so planning fails. Keep the element in the provider's \
             for_each until its objects are destroyed, for example with a separate set, or destroy the objects first with -destroy and -target."
        ),
    )
    .at(span)
}
