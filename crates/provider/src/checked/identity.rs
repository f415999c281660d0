//! Checks of resource identities that providers return (LC-31).

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::contract_errors::summary;
use super::{Checked, Subject};
use crate::contract::{Secrets, check_shape};

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
