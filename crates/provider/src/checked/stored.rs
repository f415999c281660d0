//! Upgrades of stored objects and identities to the current schema (LC-19, LC-20; plugin-protocol 4.3).

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::Value;

use super::contract_errors::summary;
use super::response::no_violations;
use super::response::restore;
use super::{Checked, Subject};
use crate::Answer;
use crate::contract::{Secrets, check_object, check_shape, check_unknowns};
use crate::protocol::{RawState, UpgradeIdentityRequest, UpgradeRequest};

/// A stored object with its schema version.
#[derive(Clone, Debug)]
pub struct StoredState {
    /// The schema version of the provider that stored the object.
    pub version: u64,
    /// The object in its stored form, JSON or the legacy flatmap.
    pub object: RawState,
}

/// A stored identity with its schema version.
#[derive(Clone, Debug)]
pub struct StoredIdentity {
    /// The version of the identity schema that it was stored with.
    pub version: u64,
    /// The identity as JSON.
    pub json: Arc<str>,
}

impl Checked {
    /// Upgrades a stored object to the current schema. Must precede every other use of the object, even if the schema
    /// versions are equal: providers also normalize objects here (LC-19).
    pub fn upgrade<'a>(
        &'a self,
        subject: &Subject<'a>,
        stored: StoredState,
    ) -> Answer<'a, (Option<Value>, Diagnostics)> {
        let subject = *subject;
        // A provider cannot downgrade objects: it would fail, or silently drop the attributes it does not know.
        if stored.version > subject.schema.version {
            return Answer::ready((None, self.newer(&subject, stored.version).into()));
        }
        let request =
            UpgradeRequest { type_name: subject.type_name(), version: stored.version, raw_state: stored.object };
        self.provider.upgrade_resource(request).map(move |response| {
            subject.checked(response.diagnostics, || {
                let block = &subject.schema.block;
                let state = response.upgraded_state;
                let found = check_object(block, &state);
                let did = "produced an invalid upgrade of the stored object";
                let secrets = Secrets::new(block, &[]);
                no_violations(self.contract_errors(&subject, summary::INVALID_UPGRADE, did, &found, secrets))?;
                Ok(restore(block, state, &Vec::new()))
            })
        })
    }

    /// Upgrades a stored identity to the current identity schema (LC-31).
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
        // No call for the current version: providers on HashiCorp's plugin framework answer it with an error unless they implement an
        // upgrade from that version.
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
            subject.checked(response.diagnostics, || {
                let identity = response.upgraded_identity;
                let mut found = check_shape(&ty, &identity);
                if found.is_empty() {
                    found = check_unknowns(&identity);
                }
                let did = "produced an invalid upgrade of the stored identity";
                let summary = summary::INVALID_IDENTITY_UPGRADE;
                no_violations(self.contract_errors(&subject, summary, did, &found, Secrets::NONE))?;
                Ok(identity)
            })
        })
    }

    fn newer(&self, subject: &Subject<'_>, version: u64) -> Diagnostic {
        let detail = format!(
            "The state of {} was written by a newer version of provider {} (schema version {}; the selected version supports \
            up to {}). Upgrade the provider to that version or a later one. The state is unchanged.",
            subject.address, self.address, version, subject.schema.version
        );
        Diagnostic::error(summary::NEWER_PROVIDER, detail).at(subject.span).about(subject.address)
    }
}
