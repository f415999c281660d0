//! Redaction: placeholders for values that must not be shown.
//!
//! Every renderer of values asks [`Redacted::of`] before it writes anything of a value, and writes the placeholder
//! instead if there is one. No other code spells a placeholder; `cargo xtask structure` checks that.

use std::fmt;

use crate::marks::Marks;

/// The reason why nothing of a value may be shown. Its `Display` form is the placeholder that replaces the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redacted {
    /// The value is sensitive.
    Sensitive,
    /// The value exists only during a run, so a text that outlives the run must not contain it.
    Ephemeral,
    /// The value is both sensitive and ephemeral.
    SensitiveAndEphemeral,
    /// The attribute is write-only: it is sent to the provider and never read again.
    WriteOnly,
    /// The output is sensitive, in the list of all outputs.
    SensitiveOutput,
}

impl Redacted {
    /// Returns why nothing of a value with these `marks` may be shown, or `None` if it may.
    ///
    /// Renderers pass the marks of the value itself. One that descends into an aggregate asks again for each element,
    /// so that the other elements stay readable. Of a value with both marks the sensitive one is named.
    pub fn of(marks: &Marks) -> Option<Self> {
        match (marks.is_sensitive(), marks.is_ephemeral()) {
            (true, _) => Some(Self::Sensitive),
            (false, true) => Some(Self::Ephemeral),
            (false, false) => None,
        }
    }

    /// Returns why nothing of a value with `marks` may appear in a message, or `None` if it may.
    ///
    /// A message shows a value as a whole or not at all, so the caller passes the deep marks of an aggregate.
    pub fn in_message(marks: &Marks) -> Option<Self> {
        match (marks.is_sensitive(), marks.is_ephemeral()) {
            (true, true) => Some(Self::SensitiveAndEphemeral),
            (true, false) => Some(Self::Sensitive),
            (false, true) => Some(Self::Ephemeral),
            (false, false) => None,
        }
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Scripts match these texts, so they are Terraform's to the letter.
        f.write_str(match self {
            Self::Sensitive => "(sensitive value)",
            Self::Ephemeral => "(ephemeral value)",
            Self::SensitiveAndEphemeral => "(ephemeral sensitive value)",
            Self::WriteOnly => "(write-only attribute)",
            Self::SensitiveOutput => "<sensitive>",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Path, PathStep, Value};

    fn secret() -> Value {
        Value::string("hunter2").with_marks(&Marks::SENSITIVE)
    }

    #[test]
    fn marks_decide_on_the_placeholder() {
        let ephemeral = Value::string("hunter2").with_marks(&Marks::EPHEMERAL);
        let both = secret().with_marks(&Marks::EPHEMERAL);
        assert_eq!(Redacted::of(&Marks::NONE), None);
        assert_eq!(Redacted::of(secret().marks()), Some(Redacted::Sensitive));
        assert_eq!(Redacted::of(ephemeral.marks()), Some(Redacted::Ephemeral));
        assert_eq!(Redacted::of(both.marks()), Some(Redacted::Sensitive));
        assert_eq!(Redacted::in_message(&both.deep_marks()).unwrap().to_string(), "(ephemeral sensitive value)");
        assert_eq!(Redacted::in_message(&Marks::NONE), None);
    }

    #[test]
    fn an_aggregate_is_shown_and_its_sensitive_element_is_not() {
        let list = Value::tuple(vec![Value::string("plain"), secret()]);
        assert_eq!(Redacted::of(list.marks()), None);
        assert_eq!(Redacted::in_message(&list.deep_marks()), Some(Redacted::Sensitive));
    }

    #[test]
    fn debug_output_redacts_sensitive_values() {
        let text = format!("{:?}", Value::tuple(vec![Value::string("plain"), secret()]));
        assert!(text.contains("plain") && text.contains("(sensitive value)") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn paths_redact_sensitive_keys() {
        let path: Path = [PathStep::Attribute("tags".into()), PathStep::Index(secret())].into_iter().collect();
        assert_eq!(path.to_string(), ".tags[(sensitive value)]");
    }
}
