//! Provider blocks with `for_each`, and the keys that choose among their instances.

use std::collections::HashSet;

use groma_address::Mode;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::Expression;
use groma_lang::{Reference, for_each_call, for_each_traversal, parse_reference};

use crate::model::{LocalProviderRef, Module, ProviderBlock};

/// Checks all modules below and with `root`.
pub(super) fn check(root: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    visit(&mut vec![root], sources, diagnostics);
}

fn visit(chain: &mut Vec<&Module>, sources: &Sources, diagnostics: &mut Diagnostics) {
    let Some(module) = chain.last().copied() else { return };
    check_references(module, diagnostics);
    for block in module.providers.values() {
        diagnostics.append(known_too_late(chain, block));
    }
    diagnostics.append(same_elements(module, sources));
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

/// A key is there where the block has instances, and nowhere else.
fn wrong_key(module: &Module, written: &LocalProviderRef, summary: &str) -> Option<Diagnostic> {
    let provider = &written.provider;
    let block = module.providers.get(provider);
    let detail = match (block, &written.key) {
        (Some(ProviderBlock { for_each: Some(_), .. }), None) => format!(
            "The provider block {provider} has \"for_each\", so that there are several configurations; all of them together cannot be used \
             or passed on. Choose one by its key: {provider}[each.key], for example."
        ),
        (Some(ProviderBlock { for_each: None, .. }), Some(_)) => format!(
            "The provider block {provider} has no \"for_each\", so that there is only one configuration. Remove the key in brackets."
        ),
        (None, Some(_)) => format!(
            "A key chooses among the configurations of a provider block with \"for_each\", and this module has no provider block {provider}. \
             What a caller passes is one configuration: remove the key in brackets, and let the caller choose."
        ),
        _ => return None,
    };
    Some(Diagnostic::error(summary, detail).at(written.span))
}

/// Checks that `for_each` of a provider block depends only on values that are known before planning.
fn known_too_late(chain: &[&Module], block: &ProviderBlock) -> Option<Diagnostic> {
    let for_each = block.for_each.as_ref()?;
    let found = Search { seen: HashSet::new() }.expression(chain, for_each)?;
    let by_way = match &*found.way {
        [] => String::new(),
        way => format!(" {} leads to it.", way.join(", which is made of ")),
    };
    let detail = format!(
        "Which configurations a provider block has is settled before anything is planned, but {} is known only from a later step.{by_way} Make \
         for_each of variables, local values and functions of them.",
        found.what
    );
    // What leads there may be in another module.
    let span = if found.way.is_empty() { found.span } else { for_each.span };
    Some(Diagnostic::error(found.summary, detail).at(span))
}

/// A reference to a value that is known too late.
struct Late {
    summary: &'static str,
    what: String,
    span: Span,
    /// The names that lead to it.
    way: Vec<String>,
}

/// A search through variables and local values, each of them once.
struct Search {
    seen: HashSet<(usize, Reference)>,
}

impl Search {
    /// The first mention in `expression`, in the last module of `chain`, of an object or of the time of the plan, or what leads there.
    fn expression(&mut self, chain: &[&Module], expression: &Expression) -> Option<Late> {
        let mut found = None;
        for_each_traversal(expression, &mut |traversal| {
            if found.is_some() {
                return;
            }
            // What is wrong with a reference is reported by others.
            let Ok(referenced) = parse_reference(traversal) else { return };
            found = match &referenced.target {
                Reference::Resource(_) | Reference::Module(_) => {
                    let what = referenced.target.to_string();
                    Some(Late {
                        summary: "Dynamic value in static context",
                        what,
                        span: traversal.span,
                        way: Vec::new(),
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
                found = Some(Late { summary: "Invalid for_each argument", what, span, way: Vec::new() });
            }
        });
        found
    }

    fn value(&mut self, chain: &[&Module], reference: &Reference) -> Option<Late> {
        let (module, above) = chain.split_last()?;
        if !self.seen.insert((chain.len(), reference.clone())) {
            return None;
        }
        let mut found = match reference {
            Reference::Local(name) => self.expression(chain, &module.locals.get(name)?.expression),
            Reference::Variable(name) => {
                let call = above.last()?.calls.get(module.path.steps().last()?)?;
                let (arguments, _) = call.body.attributes();
                let argument = arguments.into_iter().find(|argument| argument.name.name == *name)?;
                self.expression(above, &argument.expression)
            }
            _ => None,
        }?;
        found.way.insert(0, reference.to_string());
        Some(found)
    }
}

/// Objects whose provider goes with them can never be destroyed.
fn same_elements(module: &Module, sources: &Sources) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let elements = |local| module.providers.get(local).and_then(|block| block.for_each.as_ref());
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

/// Whether two expressions have the same source text, and depend on something that can change.
fn is_same(one: &Expression, other: &Expression, sources: &Sources) -> bool {
    let mut refers = false;
    for_each_traversal(one, &mut |_| refers = true);
    let text = |expression: &Expression| -> Option<String> {
        let text = sources.text(expression.without_parentheses().span)?;
        Some(text.split_whitespace().collect())
    };
    refers && text(one).is_some_and(|one| text(other) == Some(one))
}

fn outlives(what: &str, address: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        format!("Provider configuration for_each matches {what}"),
        format!(
            "The provider block has the same for_each expression as this {what}. An element that is taken out of it takes the provider \
             configuration away that is needed to destroy the objects of {address}, and planning will fail. Let the provider keep an element \
             until its objects are destroyed, for example with a set of its own; or destroy them first, with -destroy and -target."
        ),
    )
    .at(span)
}
