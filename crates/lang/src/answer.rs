//! What the console prints for an expression.

use groma_diagnostics::Diagnostics;
use groma_hcl::{Expression, ExpressionKind};

use crate::console::{format, type_text};
use crate::evaluate::evaluate;
use crate::scope::Scope;

/// What the console prints for an expression: its value, or for a call of the function `type`, which only the console
/// has, the type of the argument.
///
/// Nothing if there is an error among the diagnostics.
pub fn answer(expression: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<String> {
    let mut found = Diagnostics::new();
    let text = match &expression.without_parentheses().kind {
        ExpressionKind::Call(call)
            if matches!(&*call.name.name, "type" | "core::type") && call.arguments.len() == 1 =>
        {
            let argument = call.arguments.first()?;
            type_text(&evaluate(argument, scope, &mut found).ty())
        }
        _ => format(&evaluate(expression, scope, &mut found)),
    };
    let failed = found.has_errors();
    diagnostics.append(found);
    (!failed).then_some(text)
}
