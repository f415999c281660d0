//! Conversion of diagnostics and attribute paths.

use groma_diagnostics::Severity;
use groma_provider::{CallFate, ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Path, PathStep, Value};

use crate::proto::v6::attribute_path::{Step, step::Selector};
use crate::proto::v6::{self, AttributePath};

/// Summary and detail for a diagnostic without any text.
const NO_MESSAGE: (&str, &str) = (
    "Provider reported a problem without a message",
    "The provider gave no details. Run again with TF_LOG=debug to see its log, and report this in the provider's issue tracker.",
);

/// Decodes the diagnostics of a response.
pub fn diagnostics(messages: Vec<v6::Diagnostic>) -> ProviderDiagnostics {
    messages.into_iter().map(diagnostic).collect()
}

fn diagnostic(message: v6::Diagnostic) -> ProviderDiagnostic {
    let severity = match message.severity() {
        v6::diagnostic::Severity::Warning => Severity::Warning,
        // An unknown severity is treated as an error, to be safe.
        _ => Severity::Error,
    };
    let fate = call_fate(message.groma_call_fate());
    let path = message.attribute.as_ref().map(path).unwrap_or_default();
    let (summary, detail) = match (message.summary, message.detail) {
        (summary, detail) if summary.is_empty() && detail.is_empty() => {
            (NO_MESSAGE.0.to_owned(), NO_MESSAGE.1.to_owned())
        }
        // One of the two texts suffices, as in Terraform.
        message => message,
    };
    ProviderDiagnostic { severity, summary, detail, path, fate }
}

/// Encodes diagnostics, with their paths as steps.
pub fn diagnostics_message(problems: &ProviderDiagnostics) -> Vec<v6::Diagnostic> {
    let message = |problem: &ProviderDiagnostic| v6::Diagnostic {
        severity: match problem.severity {
            Severity::Error => v6::diagnostic::Severity::Error,
            Severity::Warning => v6::diagnostic::Severity::Warning,
        }
        .into(),
        summary: problem.summary.clone(),
        detail: problem.detail.clone(),
        attribute: (!problem.path.is_empty()).then(|| path_message(&problem.path)),
        groma_call_fate: call_fate_message(problem.fate).into(),
    };
    problems.iter().map(message).collect()
}

/// Decodes the fate of a call. Only providers of Groma's framework send one: they answer after a panic.
pub fn call_fate(message: v6::diagnostic::CallFate) -> CallFate {
    match message {
        v6::diagnostic::CallFate::Answered => CallFate::Answered,
        v6::diagnostic::CallFate::NoResponse => CallFate::NoResponse,
    }
}

/// Encodes the fate of a call. A request that has arrived here was sent.
pub fn call_fate_message(fate: CallFate) -> v6::diagnostic::CallFate {
    match fate {
        CallFate::Answered | CallFate::Unsent => v6::diagnostic::CallFate::Answered,
        CallFate::NoResponse => v6::diagnostic::CallFate::NoResponse,
    }
}

/// Decodes a path, up to the first empty step.
pub fn path(message: &AttributePath) -> Path {
    let mut path = Path::default();
    for step in &message.steps {
        path.push(match &step.selector {
            Some(Selector::AttributeName(name)) => PathStep::Attribute(name.as_str().into()),
            Some(Selector::ElementKeyString(key)) => PathStep::Index(Value::string(key)),
            Some(Selector::ElementKeyInt(position)) => PathStep::Index(Value::number(*position)),
            // An empty step cannot be resolved; the path so far is still a useful location.
            None => break,
        });
    }
    path
}

/// Encodes a path, up to the first set element: the protocol cannot express those.
pub fn path_message(path: &Path) -> AttributePath {
    let mut steps = Vec::with_capacity(path.len());
    for step in path.steps() {
        let selector = match step {
            PathStep::Attribute(name) => Selector::AttributeName(name.to_string()),
            PathStep::Index(key) => match (key.as_str(), key.as_number().and_then(|number| number.to_i64())) {
                (Some(key), _) => Selector::ElementKeyString(key.to_string()),
                (None, Some(position)) => Selector::ElementKeyInt(position),
                (None, None) => break,
            },
        };
        steps.push(Step { selector: Some(selector) });
    }
    AttributePath { steps }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lc_26_paths_end_at_the_elements_of_sets() {
        let whole = Path::default().attribute("a").index("k").index(Value::number(3)).attribute("b");
        assert_eq!(path(&path_message(&whole)), whole);
        let set = Path::default().attribute("a").index(Value::bool(true)).attribute("b");
        assert_eq!(path(&path_message(&set)), Path::default().attribute("a"));
    }

    #[test]
    fn a_call_without_response_stays_one() {
        let lost = ProviderDiagnostic::error("s", "d").unanswered(CallFate::NoResponse);
        let problems: ProviderDiagnostics = [lost, ProviderDiagnostic::error("s", "d")].into_iter().collect();
        assert_eq!(diagnostics(diagnostics_message(&problems)), problems);
    }

    #[test]
    fn unknown_severity_is_an_error() {
        let message = v6::Diagnostic { severity: 77, summary: "s".into(), ..Default::default() };
        assert!(diagnostics(vec![message]).has_errors());
    }

    #[test]
    fn diagnostic_without_text_gets_default_text() {
        let problem = |summary: &str, detail: &str| {
            let (summary, detail) = (summary.to_owned(), detail.to_owned());
            let severity = v6::diagnostic::Severity::Error.into();
            diagnostic(v6::Diagnostic { severity, summary, detail, ..Default::default() })
        };
        assert_eq!(problem("", "").summary, NO_MESSAGE.0);
        assert_eq!(problem("", "the disk is full").detail, "the disk is full");
        assert_eq!(problem("Broken", "").detail, "");
    }
}
