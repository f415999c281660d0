//! The arguments of list blocks other than the search criteria.

use groma_config::Search;
use groma_diagnostics::Diagnostic;
use groma_hcl::Expression;
use groma_lang::{Scope, observing};
use groma_provider::ListDetail;
use groma_value::{Type, Value, convert};

use super::Evaluation;

/// The limit of found objects for a search without `limit`.
const DEFAULT_LIMIT: u64 = 100;

/// The arguments of a list block that limit its results; `None` where they are unknown.
pub(crate) struct ListArguments {
    /// The requested detail of each object.
    pub(crate) detail: Option<ListDetail>,
    /// The maximal number of objects.
    pub(crate) limit: Option<u64>,
}

impl ListArguments {
    /// Evaluates them; none after an error, which is noted.
    pub(crate) fn evaluate(search: &Search, scope: &dyn Scope, evaluation: &mut Evaluation) -> Option<Self> {
        let detail = match &search.include_resource {
            Some(expression) => detail(expression, scope, evaluation)?,
            None => Some(ListDetail::Identities),
        };
        let limit = match &search.limit {
            Some(expression) => limit(expression, scope, evaluation)?,
            None => Some(DEFAULT_LIMIT),
        };
        Some(Self { detail, limit })
    }
}

/// Whether whole objects are wanted: none after an error, nothing inside where it is not known.
fn detail(expression: &Expression, scope: &dyn Scope, evaluation: &mut Evaluation) -> Option<Option<ListDetail>> {
    let value = converted(expression, &Type::Bool, scope, evaluation)?;
    if !value.is_known() {
        return Some(None);
    }
    match value.as_bool() {
        Some(true) => Some(Some(ListDetail::Objects)),
        Some(false) => Some(Some(ListDetail::Identities)),
        None => {
            let detail = "The value is null. Set it to true or false, or omit the argument.";
            let problem = Diagnostic::error("Invalid \"include_resource\" argument", detail).at(expression.span);
            evaluation.diagnostics.push(observing(problem, expression, scope));
            None
        }
    }
}

/// Evaluates the limit of a list block: `None` after an error, `Some(None)` if it is unknown.
fn limit(expression: &Expression, scope: &dyn Scope, evaluation: &mut Evaluation) -> Option<Option<u64>> {
    let value = converted(expression, &Type::Number, scope, evaluation)?;
    if !value.is_known() {
        return Some(None);
    }
    let (summary, detail) = match value.as_number() {
        Some(number) => match number.to_u64() {
            Some(limit) => return Some(Some(limit)),
            None if number.is_integer() => {
                ("Invalid limit argument", "The limit must be zero or greater, and must not be too large.")
            }
            None => {
                ("Invalid \"limit\" argument", "The limit has a fraction. It must be a whole number, zero or greater.")
            }
        },
        None => ("Invalid \"limit\" argument", "The limit is null. Set it to a number, or omit the argument."),
    };
    let problem = Diagnostic::error(summary, detail).at(expression.span);
    evaluation.diagnostics.push(observing(problem, expression, scope));
    None
}

fn converted(expression: &Expression, ty: &Type, scope: &dyn Scope, evaluation: &mut Evaluation) -> Option<Value> {
    let (value, _) = evaluation.value(expression, scope)?.unmark();
    convert::convert(&value, ty)
        .map_err(|problem| {
            let detail = format!("This argument must be a {}: {}.", ty.friendly_name(), problem.message);
            let problem = Diagnostic::error("Incorrect value type", detail).at(expression.span);
            evaluation.diagnostics.push(observing(problem, expression, scope));
        })
        .ok()
}

/// Returns the error about an argument of a list block that is unknown when the search begins.
pub(crate) fn unknown_list_argument(argument: &str, expression: Option<&Expression>, scope: &dyn Scope) -> Diagnostic {
    let detail = "The search needs this value before it begins, but the value is known only after apply.";
    let problem = Diagnostic::error(format!("Invalid \"{argument}\" argument"), detail);
    match expression {
        Some(expression) => observing(problem.at(expression.span), expression, scope),
        None => problem,
    }
}
