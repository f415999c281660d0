//! Objects as they are stored, brought to the shape of today's schema (LC-19, LC-20; plugin-protocol 4.3).

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::Value;

use super::blame::summary;
use super::marks::restore;
use super::settle::unbroken;
use super::{Checked, Subject};
use crate::Answer;
use crate::contract::{Secrets, check_object, check_shape, check_unknowns};
use crate::protocol::{RawState, UpgradeIdentityRequest, UpgradeRequest};

/// An object as it is stored.
#[derive(Clone, Debug)]
pub struct StoredState {
    /// The schema version it was stored with.
    pub version: u64,
    /// The object.
    pub object: RawState,
}

/// An identity as it is stored.
#[derive(Clone, Debug)]
pub struct StoredIdentity {
    /// The version of the identity schema it was stored with.
    pub version: u64,
    /// The JSON text.
    pub json: Arc<str>,
}

impl Checked {
    /// Brings a stored object to the shape of the current schema. Called before anything else reads the object, also when
    /// the versions are equal (LC-19).
    pub fn upgrade<'a>(
        &'a self,
        subject: &Subject<'a>,
        stored: StoredState,
    ) -> Answer<'a, (Option<Value>, Diagnostics)> {
        let subject = *subject;
        if stored.version > subject.schema.version {
            return Answer::ready((None, self.newer(&subject, stored.version).into()));
        }
        let request =
            UpgradeRequest { type_name: subject.type_name(), version: stored.version, raw_state: stored.object };
        self.provider.upgrade_resource(request).map(move |response| {
            subject.settled(response.diagnostics, || {
                let block = &subject.schema.block;
                let state = response.upgraded_state;
                let found = check_object(block, &state);
                let did = "upgraded the stored object to something invalid:";
                let secrets = Secrets::new(block, &[]);
                unbroken(self.violations(&subject, summary::INVALID_UPGRADE, did, &found, secrets))?;
                Ok(restore(block, state, &Vec::new()))
            })
        })
    }

    /// Brings a stored identity to the shape of the current identity schema (LC-31).
    pub fn upgrade_identity<'a>(
        &'a self,
        subject: &Subject<'a>,
        stored: StoredIdentity,
    ) -> Answer<'a, (Option<Value>, Diagnostics)> {
        let subject = *subject;
        let Some(schema) = &subject.schema.identity else {
            return Answer::ready((None, Diagnostics::new()));
        };
        if stored.version > schema.version {
            return Answer::ready((None, self.newer(&subject, stored.version).into()));
        }
        let ty = schema.implied_type();
        // Providers take it for a mistake to be asked about an identity that has the current shape.
        if stored.version == schema.version
            && let Ok(identity) = groma_value::json::from_json(stored.json.as_bytes(), &ty)
        {
            return Answer::ready((Some(identity), Diagnostics::new()));
        }
        let request = UpgradeIdentityRequest {
            type_name: subject.type_name(),
            version: stored.version,
            raw_identity: stored.json,
        };
        self.provider.upgrade_identity(request).map(move |response| {
            subject.settled(response.diagnostics, || {
                let identity = response.upgraded_identity;
                let mut found = check_shape(&ty, &identity);
                if found.is_empty() {
                    found = check_unknowns(&identity);
                }
                let did = "upgraded the stored identity to something invalid:";
                let summary = summary::INVALID_IDENTITY_UPGRADE;
                unbroken(self.violations(&subject, summary, did, &found, Secrets::NONE))?;
                Ok(identity)
            })
        })
    }

    fn newer(&self, subject: &Subject<'_>, version: u64) -> Diagnostic {
        let detail = format!(
            "The state of {} was written by a newer version of provider {} (schema version {}; the version in use knows up \
             to {}). Use that version of the provider, or a newer one. The state is left as it is.",
            subject.address, self.address, version, subject.schema.version
        );
        Diagnostic::error(summary::NEWER_PROVIDER, detail).at(subject.span).about(subject.address.to_string())
    }
}
