//! Objects that nobody manages yet: searching for them, and configurations that providers write for them.

use std::sync::{Arc, Mutex, PoisonError};

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::blame::summary;
use super::identity::Openness;
use super::marks::restore;
use super::settle::unbroken;
use super::{Checked, Subject, TypeKind};
use crate::contract::{Secrets, check_object};
use crate::protocol::{GenerateConfigRequest, GenerateConfigResponse, ListDetail, ListRequest, ListWanted, Listed};
use crate::{Answer, ProviderDiagnostics, Schema};

/// What is searched for.
#[derive(Clone, Debug)]
pub struct ListInput {
    /// The configuration of the list block, wholly known.
    pub config: Value,
    /// How much of each object is wanted.
    pub detail: ListDetail,
    /// How many objects are wanted at most.
    pub limit: u64,
}

/// An object that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// What identifies it.
    pub identity: Value,
    /// What people call it.
    pub display_name: String,
    /// The object with marks, if it was wanted.
    pub object: Option<Value>,
}

/// What has come in so far, from whatever thread the provider has.
#[derive(Default)]
struct Catch {
    listed: Vec<Listed>,
    objects: u64,
}

impl Checked {
    /// The schema of what objects of a resource type are searched by; `None` when they cannot be listed.
    ///
    /// # Errors
    ///
    /// The provider could not answer, or the schema is unsound.
    pub fn list_schema(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Diagnostics> {
        self.type_schema(TypeKind::List, type_name, |provider| provider.list_schema(type_name))
    }

    /// Searches for objects; none come back after an error. The schema of `subject` is that of the resource type, its body that of the
    /// list block. What comes in over the limit is left out.
    pub fn list<'a>(
        &'a self,
        subject: &Subject<'a>,
        input: ListInput,
    ) -> Answer<'a, (Option<Vec<Found>>, Diagnostics)> {
        let subject = *subject;
        let catch = Arc::new(Mutex::new(Catch::default()));
        let into = Arc::clone(&catch);
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
            let listed = std::mem::take(&mut catch.lock().unwrap_or_else(PoisonError::into_inner).listed);
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
            diagnostics.append(subject.place(one.diagnostics));
            if failed {
                break;
            }
            match one.identity.filter(|identity| !identity.is_null()) {
                Some(identity) => {
                    let object = one.object.filter(|object| !object.is_null());
                    // What cannot be read is no reason to forget the rest, if the provider says so.
                    let detail = if object.is_none() && !silent { ListDetail::Identities } else { detail };
                    diagnostics.append(self.check_listed(subject, detail, &identity, object.as_ref()));
                    let object = object.filter(|_| detail == ListDetail::Objects);
                    let object = object.map(|object| restore(&subject.schema.block, object, &Vec::new()));
                    found.push(Found { identity, display_name: one.display_name, object });
                }
                // Only something to tell.
                None if !silent => {}
                None => {
                    diagnostics.push(self.blame(
                        subject,
                        summary::INVALID_IDENTITY,
                        "found an object without identity for",
                    ));
                }
            }
        }
        diagnostics.append(subject.place(problems));
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
        let mut broken = self.check_identity(subject, identity, Openness::Over);
        match (detail, object) {
            (ListDetail::Identities, _) => {}
            (ListDetail::Objects, Some(object)) => {
                broken.append(self.check_found(subject, object, "returned an invalid object for"));
            }
            (ListDetail::Objects, None) => {
                broken.push(self.blame(subject, summary::NULL_OBJECT, "left out the objects that were asked for in"));
            }
        }
        broken
    }

    fn check_found(&self, subject: &Subject<'_>, object: &Value, did: &str) -> Diagnostics {
        let block = &subject.schema.block;
        let found = check_object(block, object);
        // Where the object came from, the body of a list block has no places for.
        let subject = Subject { body: None, ..*subject };
        self.violations(&subject, summary::INVALID_OBJECT, did, &found, Secrets::new(block, &[]))
    }

    /// The configuration that the provider writes for an object, marks taken off; `None` where it leaves that to others.
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
        subject.settled(response.diagnostics, || {
            // A provider that promises the call and does not have it answers with null: a block that says nothing, as in
            // Terraform, which shows in the plan what the object would lose.
            let config = match response.config.is_null() {
                true => subject.schema.block.empty_value().clone(),
                false => response.config,
            };
            unbroken(self.check_found(subject, &config, "wrote an invalid configuration for"))?;
            Ok(config)
        })
    }
}

/// Keeps what is within the limit.
fn take(catch: &Mutex<Catch>, limit: u64, listed: Listed) -> ListWanted {
    let mut catch = catch.lock().unwrap_or_else(PoisonError::into_inner);
    let is_object = listed.identity.is_some();
    if is_object && catch.objects >= limit {
        return ListWanted::Enough;
    }
    catch.objects += u64::from(is_object);
    let ends = listed.diagnostics.has_errors() || catch.objects >= limit;
    catch.listed.push(listed);
    if ends { ListWanted::Enough } else { ListWanted::More }
}
