//! Module calls against the variables of the modules they call.

use groma_diagnostics::{Diagnostic, Diagnostics, Sources, suggest};
use groma_hcl::{Attribute, BodySchema, ExpressionKind};

use super::discarded;
use crate::decode::Dialect;
use crate::model::{Module, ModuleCall};

/// Checks the input arguments of every call in `module`.
pub(super) fn check(module: &Module, diagnostics: &mut Diagnostics) {
    for (name, call) in &module.calls {
        if let Some(child) = module.children.get(name) {
            check_call(call, child, diagnostics);
        }
    }
}

/// Warns of arguments for deprecated variables, in every call in `module`.
pub(super) fn check_deprecated(module: &Module, diagnostics: &mut Diagnostics) {
    for (name, call) in &module.calls {
        let Some(child) = module.children.get(name) else { continue };
        let (arguments, _) = call.body.attributes();
        // A null is as good as none.
        let given = arguments.iter().filter(|argument| !matches!(argument.expression.kind, ExpressionKind::Null));
        let warnings = given.filter_map(|argument| {
            let variable = child.variables.get(&argument.name.name)?;
            Some(deprecated(argument, variable.deprecated.as_ref()?))
        });
        diagnostics.extend(warnings);
    }
}

/// Warns of module arguments without effect, as OpenTofu does.
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
                        "The module needs the argument {:?}, and this call does not give it. Add it.",
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
        let similar = suggest(name, variables.chain(ModuleCall::WORDS.iter().copied()));
        let advice = similar.map_or_else(
            || "Remove it, or declare a variable of that name in the module.".to_owned(),
            |similar| format!("Did you mean {similar:?}?"),
        );
        let summary = if call.body.is_json() { "Extraneous JSON object property" } else { "Unsupported argument" };
        diagnostics.push(
            Diagnostic::error(
                summary,
                format!("The module has no variable {name:?}, so that it cannot be given as an argument. {advice}"),
            )
            .at(argument.name.span)
            .within(argument.span()),
        );
    }
}

/// The summary of the warning that a variable got a value which should not get one any more.
pub const DEPRECATED_VARIABLE: &str = "Deprecated variable got a value";

/// That warning about the variable `name` of a module or configuration, with what its authors have to say, which may be nothing.
pub fn deprecated_variable(of: &str, name: &str, message: &str) -> Diagnostic {
    let advice = format!("The {of}'s authors advise against giving {name:?}");
    let detail = if message.is_empty() { format!("{advice}.") } else { format!("{advice}: {message}") };
    Diagnostic::warning(DEPRECATED_VARIABLE, detail)
}

fn deprecated(argument: &Attribute, message: &str) -> Diagnostic {
    deprecated_variable("module", &argument.name.name, message).at(argument.expression.span).within(argument.span())
}
