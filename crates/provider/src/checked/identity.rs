//! The identities that providers return (LC-31).

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::blame::summary;
use super::{Checked, Subject};
use crate::contract::{Secrets, check_shape};

/// Whether something may still be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Openness {
    /// The object is yet to be made.
    Allowed,
    /// The object is there.
    Over,
}

impl Checked {
    /// An identity is of the identity schema's type, and wholly known unless the object is yet to be made.
    pub(super) fn check_identity(&self, subject: &Subject<'_>, identity: &Value, openness: Openness) -> Diagnostics {
        let Some(schema) = &subject.schema.identity else {
            let what = "returned an identity, though its resource type has none, for";
            return self.blame(subject, summary::IDENTITY_MISMATCH, what).into();
        };
        let shape = check_shape(&schema.implied_type(), identity);
        if !shape.is_empty() {
            let did = "returned an identity of another type than its schema's for";
            return self.violations(subject, summary::IDENTITY_MISMATCH, did, &shape, Secrets::NONE);
        }
        if openness == Openness::Over && !identity.is_wholly_known() {
            return self
                .blame(subject, summary::INVALID_IDENTITY, "returned an identity with unknown values for")
                .into();
        }
        Diagnostics::new()
    }
}
