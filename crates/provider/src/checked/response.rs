//! Conversion of a provider's response into the result of a checked call: identities (LC-31) and marks (LC-30).

use groma_diagnostics::Diagnostics;
use groma_value::{Marks, Path, PathMarks, Value};

use super::contract_errors::summary;
use super::{Checked, Subject};
use crate::contract::{Secrets, check_shape};
use crate::{Block, ProviderDiagnostics};

impl Subject<'_> {
    /// Returns the result of `check` along with the provider's diagnostics. A response with errors is not checked.
    pub(super) fn checked<T>(
        &self,
        problems: ProviderDiagnostics,
        check: impl FnOnce() -> Result<T, Diagnostics>,
    ) -> (Option<T>, Diagnostics) {
        let failed = problems.has_errors();
        let mut diagnostics = self.locate(problems);
        if failed {
            return (None, diagnostics);
        }
        match check() {
            Ok(value) => (Some(value), diagnostics),
            Err(broken) => {
                diagnostics.append(broken);
                (None, diagnostics)
            }
        }
    }
}

/// Returns an error if `broken` contains any diagnostic.
pub(super) fn no_violations(broken: Diagnostics) -> Result<(), Diagnostics> {
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

/// Whether an identity may contain unknown values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknowns {
    /// The object does not exist yet; its identity may be known only after apply.
    Allowed,
    /// The object exists, so its identity must be wholly known.
    Forbidden,
}

impl Checked {
    /// Checks that an identity conforms to the identity schema, and that it is wholly known if the object exists.
    pub(super) fn check_identity(&self, subject: &Subject<'_>, identity: &Value, unknowns: Unknowns) -> Diagnostics {
        let Some(schema) = &subject.schema.identity else {
            let what = "returned an identity, although the resource type has no identity schema, for";
            return self.contract_error(subject, summary::IDENTITY_MISMATCH, what).into();
        };
        let shape = check_shape(&schema.implied_type(), identity);
        if !shape.is_empty() {
            let did = "returned an identity that does not match its schema for";
            return self.contract_errors(subject, summary::IDENTITY_MISMATCH, did, &shape, Secrets::NONE);
        }
        if unknowns == Unknowns::Forbidden && !identity.is_wholly_known() {
            return self
                .contract_error(subject, summary::INVALID_IDENTITY, "returned an identity with unknown values for")
                .into();
        }
        Diagnostics::new()
    }
}

/// An unmarked value together with the marks that were removed from it.
pub(super) struct Unmarked {
    pub(super) value: Value,
    pub(super) marks: PathMarks,
}

impl Unmarked {
    /// Removes the marks of `value`, without a copy if it has none.
    pub(super) fn of(value: Value) -> Self {
        // Most values have no marks, and then neither is copied nor walked.
        if value.has_marks() {
            let (value, marks) = value.unmark_deep();
            Self { value, marks }
        } else {
            Self { value, marks: PathMarks::default() }
        }
    }
}

/// Reapplies `marks` to `value`, and marks the attributes that the schema declares sensitive.
///
/// Marks of write-only attributes are dropped along with their values: the stored null needs no mark (LC-29).
pub(super) fn restore(block: &Block, value: Value, marks: &PathMarks) -> Value {
    if value.is_null() {
        return value;
    }
    let mut all: PathMarks = marks.iter().filter(|(path, _)| !block.is_write_only_at(path)).cloned().collect();
    if block.contains_sensitive() {
        all.extend(block.sensitive_paths(&value).into_iter().map(|path| (path, Marks::SENSITIVE)));
    }
    if all.is_empty() { value } else { value.mark_paths(&all) }
}

/// Returns the paths with sensitive marks, whose values messages must not show.
pub(super) fn secret_paths<'a>(marks: impl IntoIterator<Item = &'a PathMarks>) -> Vec<Path> {
    let sensitive = marks.into_iter().flatten().filter(|(_, marks)| marks.is_sensitive());
    sensitive.map(|(path, _)| path.clone()).collect()
}
