//! Checks of a single reference against the declarations of its module.

use groma_address::{InstanceKey, Mode, Name, Resource as ResourceAddress};
use groma_diagnostics::{Diagnostic, suggest};
use groma_hcl::{Step, Traversal};
use groma_lang::{Binding, ErrorHandling, Reference, Referenced, is_reserved};

use super::expression_context::ExpressionContext;
use super::providers::describe;
use super::typo::attribute_to_typo_in_resource;
use crate::model::{Module, ModuleCall, Resource};

/// Maximum number of names considered for a suggestion, to bound the cost for very large configurations.
const CANDIDATES: usize = 1000;

/// Whether a reference is valid by the cheapest check: its target is declared, not repeated and not scoped. Most
/// references are.
pub(super) fn is_simple(module: &Module, context: &ExpressionContext<'_>, traversal: &Traversal) -> bool {
    let Some(binding) = module.binding(traversal) else { return false };
    match binding {
        Binding::Variable(_) | Binding::Local(_) => true,
        Binding::Resource(at) | Binding::PrefixedResource(at) => {
            let declared = module.resources.get_index(at as usize);
            binding.index(traversal).is_none()
                && declared.is_some_and(|(address, declared)| {
                    !declared.is_repeated() && declared.check.is_none() && !context.is_itself(address)
                })
        }
        // The key and the output of a module call require the full check.
        Binding::Module(_) => false,
    }
}

/// Checks `reference`, the parsed start of `written`, in its `context`.
pub(super) fn problem(
    module: &Module,
    context: &ExpressionContext<'_>,
    written: &Traversal,
    reference: &Referenced,
) -> Option<Diagnostic> {
    let problem = match &reference.target {
        Reference::Variable(name) => variable(module, name),
        Reference::Local(name) => local(module, name),
        Reference::Module(name) => called(module, context, name, reference),
        Reference::Resource(address) => resource(module, context, address, reference),
        Reference::Count(attribute) => count(context, attribute)
            .and_then(|problem| attribute_to_typo_in_resource(problem.at(reference.span), module, "count")),
        Reference::Each(attribute) => each(context, attribute)
            .and_then(|problem| attribute_to_typo_in_resource(problem.at(reference.span), module, "for_each")),
        Reference::SelfObject => self_object(context),
        Reference::Path(attribute) => path(attribute),
        Reference::Terraform(attribute) | Reference::OpenTofu(attribute) => terraform(&written.root.name, attribute),
    };
    problem.map(|problem| match problem.subject {
        Some(_) => problem,
        None => problem.at(reference.span),
    })
}

/// Adds a suggestion to `problem`, the error of a single word that is not a valid reference.
pub(super) fn with_hint(
    problem: Diagnostic,
    module: &Module,
    context: &ExpressionContext<'_>,
    written: &Traversal,
) -> Diagnostic {
    let word = &written.root.name;
    if !written.steps().is_empty() || is_reserved(word) {
        return problem;
    }
    let declared =
        [("var", module.variables.contains_key(word)), ("local", module.locals.contains_key(word))].into_iter();
    let declared = declared.filter(|(_, is_declared)| *is_declared).map(|(root, _)| format!("{root}.{word}"));
    let bound = suggest(word, context.bound.iter().map(|name| &**name)).map(str::to_owned);
    let meant = declared.chain(bound).next();
    let hint = meant.map_or_else(String::new, |meant| format!(" Did you mean {meant}?"));
    Diagnostic { detail: problem.detail + &hint, ..problem }
}

/// Reports an undeclared variable or local value in an argument that is evaluated before planning. Other references
/// are invalid there, and reported separately.
pub(crate) fn undeclared_value(module: &Module, reference: &Referenced) -> Option<Diagnostic> {
    let problem = match &reference.target {
        Reference::Variable(name) => variable(module, name),
        Reference::Local(name) => local(module, name),
        _ => None,
    };
    problem.map(|problem| problem.at(reference.span))
}

fn undeclared<'a>(
    what: &str,
    name: &str,
    module: &Module,
    known: impl Iterator<Item = &'a Name>,
    advice: String,
) -> Diagnostic {
    let similar = suggest(name, known.take(CANDIDATES).map(|name| &**name));
    let advice = similar.map_or(advice, |similar| format!("Did you mean {similar:?}?"));
    let module = describe(module);
    Diagnostic::error(
        format!("Reference to undeclared {what}"),
        format!("No {what} {name:?} is declared in {module}. {advice}"),
    )
}

fn variable(module: &Module, name: &Name) -> Option<Diagnostic> {
    if module.variables.contains_key(name) {
        return None;
    }
    let advice = format!("Declare it with a variable {name:?} {{}} block.");
    Some(undeclared("input variable", name, module, module.variables.keys(), advice))
}

fn local(module: &Module, name: &Name) -> Option<Diagnostic> {
    if module.locals.contains_key(name) {
        return None;
    }
    let advice = "Declare it in a locals block.".to_owned();
    Some(undeclared("local value", name, module, module.locals.keys(), advice))
}

fn called(module: &Module, context: &ExpressionContext<'_>, name: &Name, reference: &Referenced) -> Option<Diagnostic> {
    if let Some(call) = module.calls.get(name) {
        // A module call is an object value, so `try` and `can` may test for its attributes.
        let is_tried = context.error_handling == ErrorHandling::Some;
        let problem = || call_key(call, reference).or_else(|| output_of_one(module, name, reference));
        return if is_tried { None } else { problem() };
    }
    let advice = format!("Declare it with a module {name:?} {{ … }} block.");
    Some(undeclared("module", name, module, module.calls.keys(), advice))
}

fn resource(
    module: &Module,
    context: &ExpressionContext<'_>,
    address: &ResourceAddress,
    reference: &Referenced,
) -> Option<Diagnostic> {
    let Some(declared) = module.resources.get(address) else {
        return Some(undeclared_resource(module, context, address, &reference.rest));
    };
    if let Some(check) = &declared.check
        && context.check != Some(check)
    {
        return Some(Diagnostic::error(
            "Reference to scoped resource",
            format!(
                "{address} is declared in the check block {check:?} and can be referenced only in it. Move it out of the check block to \
                 use it elsewhere."
            ),
        ));
    }
    if context.is_itself(address) {
        return Some(Diagnostic::error(
            "Self-referential block",
            format!("{address} cannot refer to itself, because its arguments must be known before the object is."),
        ));
    }
    instance_key(declared, reference)
}

/// Reports an undeclared output of an indexed module call. This needs no evaluation: all instances have the same
/// outputs.
fn output_of_one(module: &Module, name: &Name, reference: &Referenced) -> Option<Diagnostic> {
    let outputs = &module.children.get(name)?.outputs;
    let (Some(_), Some(Step::Attribute { name: output, span })) = (&reference.key, reference.rest.first()) else {
        return None;
    };
    if outputs.contains_key(output) {
        return None;
    }
    let advice = suggest(output, outputs.keys().map(|name| &**name)).map_or_else(
        || "Declare it there, or use another output.".to_owned(),
        |similar| format!("Did you mean {similar:?}?"),
    );
    let detail = format!("module.{name} has no output {output:?}. {advice}");
    Some(Diagnostic::error("Unsupported attribute", detail).at(*span).within(reference.span.to(*span)))
}

/// Reports a missing or invalid index of a call with `count`. With `for_each` an attribute may be a key, so evaluation
/// decides.
fn call_key(call: &ModuleCall, reference: &Referenced) -> Option<Diagnostic> {
    call.count.as_ref()?;
    let advice = format!(
        "module.{0} has \"count\" set, so it has several instances. Refer to one of them, for example module.{0}[count.index].",
        call.name
    );
    match (&reference.key, reference.rest.first()) {
        (None, Some(Step::Attribute { span, .. })) => {
            let problem = Diagnostic::error("Unsupported attribute", advice);
            Some(problem.at(*span).within(reference.span.to(*span)))
        }
        // A string of digits is converted to a number, which is a valid index.
        (Some(InstanceKey::String(key)), _) if key.parse::<u64>().is_err() => {
            Some(Diagnostic::error("Invalid index", advice))
        }
        _ => None,
    }
}

fn undeclared_resource(
    module: &Module,
    context: &ExpressionContext<'_>,
    address: &ResourceAddress,
    rest: &[Step],
) -> Diagnostic {
    let kind = match address.mode {
        Mode::Managed => "managed resource",
        Mode::Data => "data resource",
        Mode::Ephemeral => "ephemeral resource",
        Mode::List => "list block",
    };
    let element = || {
        let bound = suggest(&address.type_name, context.bound.iter().map(|name| &**name))?;
        (address.mode == Mode::Managed).then(|| format!("{bound}.{}", address.name))
    };
    let of_type =
        module.resources.keys().filter(|other| other.mode == address.mode && other.type_name == address.type_name);
    // Likely corrections first: another name of the type, the same name of a similar type, then the other mode.
    let similar = suggest(&address.name, of_type.take(CANDIDATES).map(|other| &*other.name))
        .map(|name| ResourceAddress { name: name.into(), ..address.clone() });
    let other_type = || {
        let named_so = module.resources.keys().filter(|other| other.mode == address.mode && other.name == address.name);
        suggest(&address.type_name, named_so.take(CANDIDATES).map(|other| &*other.type_name))
            .map(|type_name| ResourceAddress { type_name: type_name.into(), ..address.clone() })
    };
    let other_mode = || {
        let managed = ResourceAddress { mode: Mode::Managed, ..address.clone() };
        let data = ResourceAddress { mode: Mode::Data, ..address.clone() };
        [managed, data].into_iter().find(|other| module.resources.contains_key(other))
    };
    let named = similar.or_else(other_type).or_else(other_mode).map(|similar| similar.to_string());
    let advice = element()
        .or(named)
        .or_else(|| similar_root(module, address, rest))
        .map_or_else(String::new, |meant| format!(" Did you mean {meant}?"));
    let module = describe(module);
    Diagnostic::error(
        "Reference to undeclared resource",
        format!("No {kind} {address} is declared in {module}.{advice}"),
    )
}

/// Reports a missing instance key of a repeated resource, or a key of one that is not repeated.
fn instance_key(declared: &Resource, reference: &Referenced) -> Option<Diagnostic> {
    let address = &declared.address;
    let argument = match (&declared.count, &declared.for_each) {
        (Some(count), _) => Some(("count", "count.index", count.span)),
        (None, Some(for_each)) => Some(("for_each", "each.key", for_each.span)),
        (None, None) => None,
    };
    match (argument, &reference.key) {
        // Without an attribute after it, the name refers to all instances.
        (Some((argument, key, premise)), None) if matches!(reference.rest.first(), Some(Step::Attribute { .. })) => {
            let detail = format!(
                "{address} has {argument:?} set, so it has several instances. Refer to one of them, for example {address}[{key}]."
            );
            Some(Diagnostic::error("Missing resource instance key", detail).depending_on(premise))
        }
        (None, Some(InstanceKey::Int(_) | InstanceKey::String(_))) => {
            let detail = format!(
                "{address} has neither \"count\" nor \"for_each\", so it has only one instance. Remove the index."
            );
            // An error in the block may be the cause: a misspelled `count` or `for_each`.
            Some(Diagnostic::error("Unexpected resource instance key", detail).depending_on(declared.span))
        }
        _ => None,
    }
}

fn count(context: &ExpressionContext<'_>, attribute: &Name) -> Option<Diagnostic> {
    if &**attribute != "index" {
        return Some(wrong_attribute("count", attribute, &["index"]));
    }
    if context.count {
        return None;
    }
    Some(Diagnostic::error(
        "Reference to \"count\" in non-counted context",
        "count.index is available only inside a block with a \"count\" argument, and not in that argument itself.",
    ))
}

fn each(context: &ExpressionContext<'_>, attribute: &Name) -> Option<Diagnostic> {
    if !matches!(&**attribute, "key" | "value") {
        return Some(wrong_attribute("each", attribute, &["key", "value"]));
    }
    if context.each {
        return None;
    }
    let summary = match &**attribute {
        "value" => "each.value cannot be used in this context",
        _ => "Reference to \"each\" in context without for_each",
    };
    Some(Diagnostic::error(
        summary,
        "each.key and each.value are available only inside a block with a \"for_each\" argument, and not in that argument itself.",
    ))
}

fn self_object(context: &ExpressionContext<'_>) -> Option<Diagnostic> {
    if context.self_object {
        return None;
    }
    Some(Diagnostic::error(
        "Invalid \"self\" reference",
        "self is available only in provisioner, connection and postcondition blocks, where it is the enclosing object.",
    ))
}

fn path(attribute: &Name) -> Option<Diagnostic> {
    let known = ["cwd", "module", "root"];
    (!known.contains(&&**attribute)).then(|| wrong_attribute("path", attribute, &known))
}

/// Checks an attribute of `terraform`, or of its OpenTofu alias `tofu`.
fn terraform(object: &str, attribute: &Name) -> Option<Diagnostic> {
    match &**attribute {
        "workspace" | "applying" => None,
        "env" => Some(Diagnostic::error(
            "Invalid \"terraform\" attribute",
            "terraform.env was removed in Terraform 0.12. Use terraform.workspace.",
        )),
        _ => Some(wrong_attribute(object, attribute, &["workspace", "applying"])),
    }
}

fn wrong_attribute(object: &str, attribute: &Name, known: &[&str]) -> Diagnostic {
    let advice = match suggest(attribute, known.iter().copied()) {
        Some(similar) => format!("Did you mean {object}.{similar}?"),
        None => {
            let all: Vec<String> = known.iter().map(|name| format!("{object}.{name}")).collect();
            format!("Use {}.", all.join(" or "))
        }
    };
    Diagnostic::error(
        format!("Invalid {object:?} attribute"),
        format!("{object} has no attribute {attribute:?}. {advice}"),
    )
}

/// Suggests a reference whose root is similar to the given word: to a declared object, or else to one of the
/// language's objects.
fn similar_root(module: &Module, address: &ResourceAddress, rest: &[Step]) -> Option<String> {
    let (given, name) = (&*address.type_name, &*address.name);
    let declared = [
        ("var", module.variables.contains_key(name)),
        ("local", module.locals.contains_key(name)),
        ("module", module.calls.contains_key(name)),
    ];
    let declared = declared.into_iter().filter_map(|(root, is_declared)| is_declared.then_some(root));
    if let Some(root) = root_of_keyword(given).or_else(|| suggest(given, declared)) {
        return Some(format!("{root}.{name}"));
    }
    let fits = |root: &&str| match *root {
        "count" => name == "index",
        "each" => matches!(name, "key" | "value"),
        "path" => matches!(name, "module" | "root" | "cwd"),
        "terraform" => matches!(name, "workspace" | "applying"),
        _ => true,
    };
    let roots = ["var", "local", "module", "data", "each", "count", "path", "terraform", "self", "ephemeral"];
    let root = roots.into_iter().filter(fits).find(|root| is_likely_typo(given, root))?;
    Some(match (root, rest.first()) {
        ("data" | "ephemeral", Some(Step::Attribute { name: own, .. })) => format!("{root}.{name}.{own}"),
        ("data" | "ephemeral", _) => format!("{root}.TYPE.{name}"),
        _ => format!("{root}.{name}"),
    })
}

/// Returns the reference root that belongs to a block keyword, a common confusion: `variable.x` for `var.x`.
fn root_of_keyword(given: &str) -> Option<&'static str> {
    match given {
        "vars" | "variable" | "variables" => Some("var"),
        "locals" => Some("local"),
        "modules" => Some("module"),
        _ => None,
    }
}

/// Whether `given` is probably a misspelled `word`: one character more, fewer or different, two in longer words, or
/// the same characters in another order. Short words need the same first character.
fn is_likely_typo(given: &str, word: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let begins_alike = given.bytes().next() == word.bytes().next();
    begins_alike && ((word.len() > 4 && suggest(given, [word]).is_some()) || differs_by_one_character(given, word))
        || sorted(given) == sorted(word)
}

/// Whether the two words differ by one inserted, deleted or replaced character.
fn differs_by_one_character(a: &str, b: &str) -> bool {
    let length = a.len().max(b.len());
    let alike = |one: &mut dyn Iterator<Item = (u8, u8)>| one.take_while(|(a, b)| a == b).count();
    let before = alike(&mut a.bytes().zip(b.bytes()));
    let after = alike(&mut a.bytes().rev().zip(b.bytes().rev()));
    a.len().abs_diff(b.len()) <= 1 && before + after + 1 >= length
}
