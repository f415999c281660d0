//! Conditions: validation rules, preconditions, postconditions, check blocks (PL-27), and their results.

use std::borrow::Cow;
use std::collections::HashSet;

use groma_config::Condition;
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics};
use groma_hcl::{Expression, ExpressionKind};
use groma_lang::{Scope, evaluate};
use groma_state::{CheckResult, CheckStatus, CheckedObject};
use groma_value::{Kind, Type, Value, convert};
use indexmap::IndexMap;

use crate::deprecation::report_own_deprecation;

/// The kinds of objects that can have conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Checkable {
    /// An instance of a resource, with preconditions and postconditions.
    Resource,
    /// An output value with preconditions.
    Output,
    /// A check block with its assertions.
    Check,
    /// An input variable with validation rules.
    Variable,
}

impl Checkable {
    /// The word that state files use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Output => "output",
            Self::Check => "check",
            Self::Variable => "var",
        }
    }
}

/// Warns that an assertion of a check block cannot be evaluated before apply.
pub(crate) fn unknown_assertion() -> Diagnostic {
    let detail = "The assertion depends on values that are known only after apply, which will check it.";
    Diagnostic::warning("Check block assertion known after apply", detail).of_kind(DiagnosticKind::UnknownAssertion)
}

/// The placeholder for messages with sensitive values; results do not keep it.
const HIDDEN_SENSITIVE: &str =
    "The condition is false. Its error message is hidden, because it contains a sensitive value.";
const HIDDEN_EPHEMERAL: &str =
    "The condition is false. Its error message is hidden, because it contains an ephemeral value.";

/// The placeholder for messages that could not be evaluated.
const UNKNOWN_MESSAGE: &str = "The condition is false. Its error message cannot be shown, because it is not known yet.";
const NO_MESSAGE: &str = "The condition is false. Its error message cannot be shown, because it is not a string.";

/// The result of one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The condition is true.
    Pass,
    /// It does not; what its author says about that.
    Fail(String),
    /// It could not be evaluated; the reason was reported.
    Error,
    /// The condition depends on values that are not known yet.
    Unknown,
}

/// Evaluates a condition of an `owner`, and its message. Problems with these expressions are reported; that the condition does
/// not hold is not. Neither is shown what its message must not tell, and that is a warning, whether it holds or not.
pub fn judge(owner: Checkable, rule: &Condition, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Verdict {
    let truth = truth(owner, rule, scope, diagnostics);
    let message = evaluated(&rule.error_message, scope, diagnostics);
    let (Some(truth), Some(message)) = (truth, message) else { return Verdict::Error };
    let verdict = |message: &dyn Fn() -> String| match truth.kind() {
        Kind::Bool(true) => Verdict::Pass,
        Kind::Bool(false) => Verdict::Fail(message()),
        _ => Verdict::Unknown,
    };
    report_own_deprecation(&message, &rule.error_message, diagnostics);
    diagnostics.extend(unshowable(rule, &message));
    match convert::convert(&message, &Type::String) {
        Ok(text) if !text.unmark().0.is_null() => verdict(&|| shown(&text)),
        // The message of a sensitive rule must not reach the person who sets the variable.
        _ if owner == Checkable::Variable && truth.as_bool() != Some(false) => verdict(&String::new),
        _ => {
            let detail = format!("The message must be a string, not {}.", described(&message));
            diagnostics.push(Diagnostic::error("Invalid error message", detail).at(rule.error_message.span));
            if owner == Checkable::Variable { verdict(&|| NO_MESSAGE.to_owned()) } else { Verdict::Error }
        }
    }
}

/// A validation rule as it is judged. In the JSON syntax its message was a plain text once: where it cannot be evaluated as a template it
/// still is, with a warning, as in Terraform.
pub fn with_readable_message<'r>(
    rule: &'r Condition,
    scope: &dyn Scope,
    diagnostics: &mut Diagnostics,
) -> Cow<'r, Condition> {
    let ExpressionKind::JsonString(written) = &rule.error_message.kind else { return Cow::Borrowed(rule) };
    let mut problems = Diagnostics::new();
    evaluate(&rule.error_message, scope, &mut problems);
    let Some(problem) = problems.iter().find(|problem| problem.is_error()) else { return Cow::Borrowed(rule) };
    let span = rule.error_message.span;
    let detail = format!(
        "The message is not a valid template ({}), so it is used literally. A future version will report an error. \
         To include \"${{\" or \"%{{\" in a string, write \"$${{\" or \"%%{{\".",
        problem.summary
    );
    diagnostics.push(Diagnostic::warning("Validation error message expression is invalid", detail).at(span));
    let error_message = Expression::new(ExpressionKind::String(written.text.clone()), span);
    Cow::Owned(Condition { error_message, ..rule.clone() })
}

fn described(message: &Value) -> String {
    let message = message.unmark().0;
    if message.is_null() { "null".to_owned() } else { format!("a value of type {}", message.ty().friendly_name()) }
}

fn unshowable(rule: &Condition, value: &Value) -> Option<Diagnostic> {
    let (marks, text) = (value.deep_marks(), value.unmark().0);
    let kind = match (marks.is_sensitive(), marks.is_ephemeral()) {
        _ if !text.is_known() || text.is_null() => return None,
        (true, _) => "sensitive",
        (false, true) => "ephemeral",
        (false, false) => return None,
    };
    let detail = format!(
        "The error message contains {kind} values, so it is not shown. Remove them from the \
     message."
    );
    Some(Diagnostic::warning(format!("Error message refers to {kind} values"), detail).at(rule.error_message.span))
}

/// Whether the condition holds, if that is known; none after an error.
fn truth(owner: Checkable, rule: &Condition, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Value> {
    let value = evaluated(&rule.condition, scope, diagnostics)?;
    report_own_deprecation(&value, &rule.condition, diagnostics);
    let problem = match convert::convert(&value, &Type::Bool) {
        Ok(truth) if !truth.unmark().0.is_null() => return Some(truth.unmark().0),
        Ok(_) => "The condition must be true or false, but it is null.".to_owned(),
        Err(problem) => format!("The condition must be true or false: {}.", problem.message),
    };
    // Terraform has a summary of its own for validation rules.
    let summary = match owner {
        Checkable::Variable => "Invalid variable validation result",
        _ => "Invalid condition result",
    };
    diagnostics.push(Diagnostic::error(summary, problem).at(rule.condition.span));
    None
}

/// The value of an expression; none after an error, which is noted.
fn evaluated(expression: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Value> {
    let mut problems = Diagnostics::new();
    let value = evaluate(expression, scope, &mut problems);
    let failed = problems.has_errors();
    diagnostics.append(problems);
    (!failed).then_some(value)
}

/// The message as people see it.
fn shown(text: &Value) -> String {
    let marks = text.deep_marks();
    if marks.is_sensitive() {
        return HIDDEN_SENSITIVE.to_owned();
    }
    if marks.is_ephemeral() {
        return HIDDEN_EPHEMERAL.to_owned();
    }
    text.as_str().map_or_else(|| UNKNOWN_MESSAGE.to_owned(), |text| text.trim().to_owned())
}

/// Results of conditions, gathered during a run.
#[derive(Debug, Default)]
pub struct Checks {
    results: IndexMap<(Checkable, String), IndexMap<String, CheckedObject>>,
    /// Objects whose results are those of an earlier stage.
    recorded: HashSet<(Checkable, String)>,
    /// Blocks whose instances are all known, including blocks without instances.
    counted: HashSet<(Checkable, String)>,
    /// Nothing more is noted.
    closed: bool,
}

impl Checks {
    /// Creates an empty collection of results.
    pub fn new() -> Self {
        Self::default()
    }

    /// The results of an earlier stage: they hold until they are evaluated again.
    pub fn of(results: &[CheckResult]) -> Self {
        let kinds = [Checkable::Resource, Checkable::Output, Checkable::Check, Checkable::Variable];
        let mut checks = Self::new();
        for result in results {
            let Some(kind) = kinds.into_iter().find(|kind| kind.word() == result.object_kind) else { continue };
            let objects = result.objects.iter().flatten().map(|object| (object.object_addr.clone(), object.clone()));
            checks.recorded.extend(result.objects.iter().flatten().map(|object| (kind, object.object_addr.clone())));
            checks.results.insert((kind, result.config_addr.clone()), objects.collect());
            // A known status shows that the instances of the block were known.
            if result.status != CheckStatus::Unknown {
                checks.counted.insert((kind, result.config_addr.clone()));
            }
        }
        checks
    }

    /// The results of an earlier stage, which stay whatever is evaluated.
    pub fn closed(results: &[CheckResult]) -> Self {
        Self { closed: true, ..Self::of(results) }
    }

    /// Notes that a block has conditions although no instance of it was met yet.
    pub fn declare(&mut self, kind: Checkable, config_address: String) {
        self.results.entry((kind, config_address)).or_default();
    }

    /// Marks all instances of a block as known. A block without instances then has nothing left to decide.
    pub fn count(&mut self, kind: Checkable, config_address: String) {
        self.counted.insert((kind, config_address));
    }

    /// Notes the outcome of one condition of an instance.
    pub fn report(&mut self, kind: Checkable, config_address: String, object: String, verdict: &Verdict) {
        if self.closed {
            return;
        }
        let objects = self.results.entry((kind, config_address)).or_default();
        // The first new result of an object replaces all of its earlier ones.
        if self.recorded.remove(&(kind, object.clone())) {
            objects.shift_remove(&object);
        }
        let fresh =
            CheckedObject { object_addr: object.clone(), status: CheckStatus::Pass, failure_messages: Vec::new() };
        let known = objects.entry(object).or_insert(fresh);
        let (status, text) = match verdict {
            Verdict::Pass => (CheckStatus::Pass, None),
            Verdict::Fail(text) => (CheckStatus::Fail, Some(text.clone())),
            Verdict::Error => (CheckStatus::Error, None),
            Verdict::Unknown => (CheckStatus::Unknown, None),
        };
        // An object may have several conditions, and one failure decides.
        known.status = worse(known.status, status);
        // The placeholders say nothing to the reader of a state, so only real messages are stored.
        known.failure_messages.extend(text.filter(|text| *text != HIDDEN_SENSITIVE && *text != HIDDEN_EPHEMERAL));
    }

    /// Removes the results of an instance, before its conditions are evaluated again.
    pub fn reset(&mut self, kind: Checkable, config_address: &str, object: &str) {
        if let Some(objects) = self.results.get_mut(&(kind, config_address.to_owned())) {
            objects.shift_remove(object);
        }
    }

    /// All results, by kind and address.
    pub fn results(&self) -> Vec<CheckResult> {
        let mut results: Vec<CheckResult> = self
            .results
            .iter()
            .map(|(block, objects)| {
                let objects: Vec<CheckedObject> = objects.values().cloned().collect();
                // A block without instances passes only once it is certain that it has none.
                let none = if self.counted.contains(block) { CheckStatus::Pass } else { CheckStatus::Unknown };
                let status = objects.iter().map(|object| object.status).reduce(worse).unwrap_or(none);
                CheckResult {
                    object_kind: block.0.word().to_owned(),
                    config_addr: block.1.clone(),
                    status,
                    objects: Some(objects),
                }
            })
            .collect();
        results
            .sort_by(|one, other| (&one.object_kind, &one.config_addr).cmp(&(&other.object_kind, &other.config_addr)));
        results
    }
}

/// The one of two results that counts for both together.
pub(crate) fn worse(one: CheckStatus, other: CheckStatus) -> CheckStatus {
    let rank = |status| match status {
        CheckStatus::Pass => 0,
        CheckStatus::Unknown => 1,
        CheckStatus::Fail => 2,
        CheckStatus::Error => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}
