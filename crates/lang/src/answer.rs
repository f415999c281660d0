//! Console output for an expression.

use groma_diagnostics::Diagnostics;
use groma_hcl::{Expression, ExpressionKind};

use crate::console::{format, type_text};
use crate::evaluate::{argument_of_type, evaluate};
use crate::scope::Scope;

/// Returns the console output for an expression: its value, or the type of the argument for a call of the function `type`, which only the
/// console
/// has.
///
/// Nothing if there is an error among the diagnostics.
pub fn answer(expression: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<String> {
    let mut found = Diagnostics::new();
    let text = match &expression.without_parentheses().kind {
        ExpressionKind::Call(call) if matches!(&*call.name.name, "type" | "core::type") => {
            argument_of_type(call, expression, scope, &mut found).map(|value| type_text(&value.ty()))
        }
        _ => Some(format(&evaluate(expression, scope, &mut found))),
    };
    let failed = found.has_errors();
    diagnostics.append(found);
    text.filter(|_| !failed)
}
