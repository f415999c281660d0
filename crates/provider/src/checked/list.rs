//! Unmanaged objects: list queries, and configurations that providers generate for existing objects.

use std::sync::{Arc, Mutex, PoisonError};

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::contract_errors::summary;
use super::response::Unknowns;
use super::response::no_violations;
use super::response::restore;
use super::{Checked, Subject, TypeKind};
use crate::contract::{Secrets, check_object};
use crate::protocol::{GenerateConfigRequest, GenerateConfigResponse, ListControl, ListDetail, ListRequest, Listed};
use crate::{Answer, ProviderDiagnostics, Schema};

/// The arguments of a list query.
#[derive(Clone, Debug)]
pub struct ListInput {
    /// The wholly known configuration of the list block.
    pub config: Value,
    /// Whether full objects or only identities are requested.
    pub detail: ListDetail,
    /// The maximum number of objects.
    pub limit: u64,
}

/// One result of a list query.
#[derive(Clone, Debug)]
pub struct Found {
    /// The resource identity, which an import can use.
    pub identity: Value,
    /// The name of the object for people.
    pub display_name: String,
    /// The object with marks, if [`ListDetail::Objects`] was requested.
    pub object: Option<Value>,
}

/// The results so far; the provider delivers them from any thread.
#[derive(Default)]
struct Listing {
    listed: Vec<Listed>,
    objects: u64,
}

impl Checked {
    /// Returns the schema of the list block of a resource type, or `None` if the type cannot be listed.
    ///
    /// # Errors
    ///
    /// The provider did not answer, or the schema is invalid.
    pub fn list_schema(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Diagnostics> {
        self.type_schema(TypeKind::List, type_name, |provider| provider.list_schema(type_name))
    }

    /// Runs a list query; an error discards all results. `subject` has the schema of the resource type and the body of
    /// the list block. ResultHashes over the limit are dropped.
    pub fn list<'a>(
        &'a self,
        subject: &Subject<'a>,
        input: ListInput,
    ) -> Answer<'a, (Option<Vec<Found>>, Diagnostics)> {
        let subject = *subject;
        // The provider calls the sink from its own threads, possibly after this function has returned its answer.
        let listing = Arc::new(Mutex::new(Listing::default()));
        let into = Arc::clone(&listing);
        let limit = input.limit;
        let request = ListRequest {
            type_name: subject.type_name(),
            config: input.config.unmark_deep().0,
            detail: input.detail,
            limit,
            found: Arc::new(move |listed| take(&into, limit, listed)),
        };
        let detail = input.detail;
        self.provider.list_resource(request).map(move |problems| {
            let listed = std::mem::take(&mut listing.lock().unwrap_or_else(PoisonError::into_inner).listed);
            self.listed(&subject, detail, listed, problems)
        })
    }

    fn listed(
        &self,
        subject: &Subject<'_>,
        detail: ListDetail,
        listed: Vec<Listed>,
        problems: ProviderDiagnostics,
    ) -> (Option<Vec<Found>>, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut found = Vec::with_capacity(listed.len());
        for one in listed {
            let silent = one.diagnostics.is_empty();
            let failed = one.diagnostics.has_errors();
            diagnostics.append(subject.locate(one.diagnostics));
            if failed {
                break;
            }
            match one.identity.filter(|identity| !identity.is_null()) {
                Some(identity) => {
                    let object = one.object.filter(|object| !object.is_null());
                    // The provider reported why it cannot read this object, so the remaining results are still useful.
                    let detail = if object.is_none() && !silent { ListDetail::Identities } else { detail };
                    diagnostics.append(self.check_listed(subject, detail, &identity, object.as_ref()));
                    let object = object.filter(|_| detail == ListDetail::Objects);
                    let object = object.map(|object| restore(&subject.schema.block, object, &Vec::new()));
                    found.push(Found { identity, display_name: one.display_name, object });
                }
                // A message without an object, for example a warning.
                None if !silent => {}
                None => {
                    diagnostics.push(self.contract_error(
                        subject,
                        summary::INVALID_IDENTITY,
                        "returned an object without an identity for",
                    ));
                }
            }
        }
        diagnostics.append(subject.locate(problems));
        let found = (!diagnostics.has_errors()).then_some(found);
        (found, diagnostics)
    }

    fn check_listed(
        &self,
        subject: &Subject<'_>,
        detail: ListDetail,
        identity: &Value,
        object: Option<&Value>,
    ) -> Diagnostics {
        let mut broken = self.check_identity(subject, identity, Unknowns::Forbidden);
        match (detail, object) {
            (ListDetail::Identities, _) => {}
            (ListDetail::Objects, Some(object)) => {
                broken.append(self.check_found(subject, object, "returned an invalid object for"));
            }
            (ListDetail::Objects, None) => {
                broken.push(self.contract_error(
                    subject,
                    summary::NULL_OBJECT,
                    "omitted the requested resource object for",
                ));
            }
        }
        broken
    }

    fn check_found(&self, subject: &Subject<'_>, object: &Value, did: &str) -> Diagnostics {
        let block = &subject.schema.block;
        let found = check_object(block, object);
        // Paths within a resource object mean nothing in the body of the list block, so errors point to the header.
        let subject = Subject { body: None, ..*subject };
        self.contract_errors(&subject, summary::INVALID_OBJECT, did, &found, Secrets::new(block, &[]))
    }

    /// Asks the provider to generate the configuration of an object; `None` if the provider leaves that to the engine.
    pub fn generate_config<'a>(
        &'a self,
        subject: &Subject<'a>,
        object: &Value,
    ) -> Option<Answer<'a, (Option<Value>, Diagnostics)>> {
        if !self.capabilities().generate_resource_config {
            return None;
        }
        let subject = *subject;
        let request = GenerateConfigRequest { type_name: subject.type_name(), state: object.unmark_deep().0 };
        Some(self.provider.generate_config(request).map(move |response| self.generated(&subject, response)))
    }

    fn generated(&self, subject: &Subject<'_>, response: GenerateConfigResponse) -> (Option<Value>, Diagnostics) {
        subject.checked(response.diagnostics, || {
            // A provider that announces the call without implementing it answers with null. Terraform generates a block
            // without arguments for it, so that the plan shows the attributes that the object would lose.
            let config = match response.config.is_null() {
                true => subject.schema.block.empty_value().clone(),
                false => response.config,
            };
            no_violations(self.check_found(subject, &config, "generated an invalid configuration for"))?;
            Ok(config)
        })
    }
}

/// Records a result unless the limit is reached.
fn take(listing: &Mutex<Listing>, limit: u64, listed: Listed) -> ListControl {
    let mut listing = listing.lock().unwrap_or_else(PoisonError::into_inner);
    let is_object = listed.identity.is_some();
    if is_object && listing.objects >= limit {
        return ListControl::Stop;
    }
    listing.objects += u64::from(is_object);
    // A provider may ignore the limit of the request, so it is enforced here as well.
    let ends = listed.diagnostics.has_errors() || listing.objects >= limit;
    listing.listed.push(listed);
    if ends { ListControl::Stop } else { ListControl::Continue }
}
