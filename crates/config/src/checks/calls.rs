//! Checks of module calls against the variables of the called modules.

use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, Sources, suggest};
use groma_hcl::{Attribute, BodySchema, ExpressionKind};

use super::discarded;
use crate::decode::Dialect;
use crate::model::{Module, ModuleCall};

/// Checks the input arguments of all calls in `module`.
pub(super) fn check(module: &Module, diagnostics: &mut Diagnostics) {
    for (name, call) in &module.calls {
        if let Some(child) = module.children.get(name) {
            check_call(call, child, diagnostics);
        }
    }
}

/// Warns about arguments of deprecated variables in all calls in `module`.
pub(super) fn check_deprecated(module: &Module, diagnostics: &mut Diagnostics) {
    for (name, call) in &module.calls {
        let Some(child) = module.children.get(name) else { continue };
        let (arguments, _) = call.body.attributes();
        // A null argument has the same effect as no argument.
        let given = arguments.iter().filter(|argument| !matches!(argument.expression.kind, ExpressionKind::Null));
        let warnings = given.filter_map(|argument| {
            let variable = child.variables.get(&argument.name.name)?;
            Some(deprecated(argument, variable.deprecated.as_ref()?))
        });
        diagnostics.extend(warnings);
    }
}

/// Warns about attributes of arguments that the variable's type ignores. Only in `.tofu` files: OpenTofu warns,
/// Terraform does not.
pub(super) fn check_discarded(module: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    let is_of_opentofu = |call: &ModuleCall| Dialect::at(call.span, sources) == Dialect::OpenTofu;
    for (name, call) in module.calls.iter().filter(|(_, call)| is_of_opentofu(call)) {
        let Some(child) = module.children.get(name) else { continue };
        let (arguments, _) = call.body.attributes();
        for argument in &arguments {
            if let Some(variable) = child.variables.get(&argument.name.name) {
                let whose = format!("variable {:?} of the module", variable.name);
                discarded::attributes(&argument.expression, &variable.constraint.ty, &whose, diagnostics);
            }
        }
    }
}

fn check_call(call: &ModuleCall, child: &Module, diagnostics: &mut Diagnostics) {
    let (arguments, problems) = call.body.attributes();
    // Blocks and other syntax errors in the body: decoding with a permissive schema reports just those.
    if !problems.is_empty() {
        let known = child.variables.keys().chain(arguments.iter().map(|argument| &argument.name.name));
        let schema = known.fold(BodySchema::new(), |schema, name| schema.optional(name.clone()));
        diagnostics.append(call.body.content(&schema).1);
    }
    for variable in child.variables.values().filter(|variable| variable.is_required()) {
        if !arguments.iter().any(|argument| argument.name.name == variable.name) {
            diagnostics.push(
                Diagnostic::error(
                    "Missing required argument",
                    format!(
                        "The module requires the argument {:?}, but this call does not set it. Add the argument.",
                        variable.name
                    ),
                )
                .at(call.body.missing_item_span())
                .within(call.span),
            );
        }
    }
    for argument in &arguments {
        let name = &argument.name.name;
        if child.variables.contains_key(name) {
            continue;
        }
        let variables = child.variables.keys().map(|name| &**name);
        let similar = suggest(name, variables.chain(ModuleCall::META_ARGUMENTS.iter().copied()));
        let advice = similar.map_or_else(
            || "Remove it, or declare a variable with that name in the module.".to_owned(),
            |similar| format!("Did you mean {similar:?}?"),
        );
        // Terraform's JSON decoder has its own summary for unknown properties.
        let summary = if call.body.is_json() { "Extraneous JSON object property" } else { "Unsupported argument" };
        diagnostics.push(
            Diagnostic::error(
                summary,
                format!("The module does not declare a variable {name:?}, so this argument is not expected. {advice}"),
            )
            .at(argument.name.span)
            .within(argument.span()),
        );
    }
}

/// Creates the warning about a value for the deprecated variable `name` of a `of` (module or configuration). The
/// authors' `message` may be empty.
pub fn deprecated_variable(of: &str, name: &str, message: &str) -> Diagnostic {
    let advice = format!("The {of}'s authors advise against setting {name:?}");
    let detail = if message.is_empty() { format!("{advice}.") } else { format!("{advice}: {message}") };
    Diagnostic::warning("Deprecated variable got a value", detail).of_kind(DiagnosticKind::DeprecatedVariable)
}

fn deprecated(argument: &Attribute, message: &str) -> Diagnostic {
    deprecated_variable("module", &argument.name.name, message).at(argument.expression.span).within(argument.span())
}
