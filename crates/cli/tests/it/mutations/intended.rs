//! Slips that are reported in another way on purpose.

use std::collections::BTreeSet;

use crate::common::cases::assert_documented;

/// A part of what Terraform says or of what has slipped, or nothing where Terraform takes it; a part of what we say, or nothing where that
/// may be anything; and what the row of docs/differences.md begins with.
const MEANT: &[(&str, &str, &str)] = &[
    ("create_before_destroy", "", "`prevent_destroy`, `create_before_destroy`, `ignore_changes`"),
    ("Unsuitable value type", "Invalid reference", "`prevent_destroy`, `create_before_destroy`, `ignore_changes`"),
    ("", "Self-referential block", "references to unknown resource types, self-references"),
    ("", "in context without for_each", "`each` and `count` in the arguments of a module call that has neither"),
    ("", "each.value cannot be used", "`each` and `count` in the arguments of a module call that has neither"),
    ("", "Removed resource still exists", "a `moved` or `removed` block whose object is still declared"),
    ("", "Reference to undeclared resource", "a non-reference in `replace_triggered_by`"),
    ("each.value cannot be used", "Unsupported argument", "consequences of another mistake in the same argument"),
    ("each.value cannot be used", "Extraneous JSON object", "consequences of another mistake in the same argument"),
    ("in non-counted context", "Unsupported argument", "consequences of another mistake in the same argument"),
    ("in non-counted context", "Extraneous JSON object", "consequences of another mistake in the same argument"),
    (
        "Invalid variable validation",
        "Reference to undeclared",
        "mistakes in names, arguments and values next to a structural one",
    ),
    ("Root value must be object", "Mismatched", "mismatched brackets in a file of the JSON syntax"),
    (
        "Invalid index",
        "in context without for_each",
        "`each` and `count` in the arguments of a module call that has neither",
    ),
    (
        "Missing required provider",
        "Provider configuration not present",
        "`provider` with the alias of a provider that is not declared anywhere",
    ),
    ("Provider configuration not present", "Unsupported argument", "a misspelled `alias`"),
    (
        "Configuration for import target does not exist",
        "Reference to undeclared",
        "mistakes in names, arguments and values next to a structural one",
    ),
    (
        "Missing required provider",
        "Reference to undeclared",
        "mistakes of a configuration whose providers are not installed",
    ),
    (
        "Incorrect JSON value type",
        "in context without for_each",
        "mistakes in names, arguments and values next to a structural one",
    ),
    (
        "Invalid data source",
        "Reference to undeclared",
        "mistakes in names, arguments and values next to a structural one",
    ),
    (
        "Invalid resource type",
        "Reference to undeclared",
        "mistakes in names, arguments and values next to a structural one",
    ),
    ("\"<\" twice", "Argument or block definition required", "messages after a syntax error"),
    ("Cycle", "", "a validation rule that depends on values derived from its own variable"),
];

/// Whether it is intended that of this mutation something else is reported. The reason is on the page.
pub fn is_meant(mutation: &str, theirs: &BTreeSet<String>, ours: &BTreeSet<String>) -> bool {
    let holds = |said: &BTreeSet<String>, part: &str| said.iter().any(|line| line.contains(part));
    let has_cause = |cause: &str| match cause {
        "" => theirs.is_empty(),
        _ => holds(theirs, cause) || mutation.contains(cause),
    };
    MEANT.iter().any(|(cause, reported, matter)| {
        assert_documented(matter);
        has_cause(cause) && (reported.is_empty() || holds(ours, reported))
    })
}
