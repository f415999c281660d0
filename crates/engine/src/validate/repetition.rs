//! Validation of `count` and `for_each` arguments.

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::Expression;
use groma_lang::{Scope, evaluate};

use crate::options::Deferral;
use crate::repetition::{Arguments, expand_or_defer};

/// Whether `count` and `for_each` can ever be right: those that are known are, and others have a type that may be.
pub(super) fn suitable(
    count: Option<&Expression>,
    for_each: Option<&Expression>,
    scope: &dyn Scope,
    diagnostics: &mut Diagnostics,
) -> bool {
    let mut quiet = Diagnostics::new();
    if let Some(expression) = count.or(for_each) {
        evaluate(expression, scope, &mut quiet);
    }
    // Errors and warnings of the expression were reported by its first evaluation.
    if quiet.has_errors() {
        return true;
    }
    let mut found = Diagnostics::new();
    let arguments = Arguments { count, for_each, enabled: None };
    let expansion = expand_or_defer(arguments, Deferral::Allowed, scope, &mut found);
    diagnostics.append(found.into_iter().filter(Diagnostic::is_error));
    expansion.is_some()
}
