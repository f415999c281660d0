//! Taking over objects: import, and moves between resource types (LC-23, LC-25; plugin-protocol 4.3).

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::Value;

use super::blame::summary;
use super::identity::Openness;
use super::marks::restore;
use super::settle::unbroken;
use super::{Checked, Subject};
use crate::contract::{Secrets, check_object, check_shape, check_unknowns, check_write_only};
use crate::protocol::{
    ClientCapabilities, Deferred, ImportRequest, ImportResponse, ImportTarget, MoveRequest, MoveResponse, Private,
};
use crate::{Answer, Schema};

/// An object to be taken over.
#[derive(Clone, Debug)]
pub struct ImportInput {
    /// Which object.
    pub target: ImportTarget,
    /// What the engine can handle.
    pub capabilities: ClientCapabilities,
}

/// The stub of an imported object: it must be read before anything else is done with it (LC-23).
#[derive(Clone, Debug)]
pub struct Imported {
    /// As much of the object as a read needs, with marks.
    pub state: Value,
    /// What the provider keeps with it.
    pub private: Private,
    /// Its identity.
    pub identity: Option<Value>,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
}

/// An object of another resource type.
#[derive(Clone, Debug)]
pub struct MoveInput {
    /// The request, but for the wanted type.
    pub request: MoveRequest,
}

/// The object as one of the wanted type.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The object, with marks.
    pub state: Value,
    /// What the provider keeps with it.
    pub private: Private,
    /// Its identity.
    pub identity: Option<Value>,
}

impl Imported {
    /// Nothing yet: the provider cannot say which object it is.
    fn later(schema: &Schema, reason: Deferred) -> Self {
        Self { state: schema.block.null_value(), private: Private::default(), identity: None, deferred: Some(reason) }
    }
}

impl Checked {
    /// Finds an existing object that is to be managed as `subject` from now on.
    pub fn import<'a>(
        &'a self,
        subject: &Subject<'a>,
        input: ImportInput,
    ) -> Answer<'a, (Option<Imported>, Diagnostics)> {
        let subject = *subject;
        let capabilities = input.capabilities;
        let shown = match &input.target {
            ImportTarget::Id(id) => format!("the id {id:?}"),
            ImportTarget::Identity(_) => "the given identity".to_owned(),
        };
        let request = ImportRequest {
            type_name: subject.type_name(),
            target: input.target,
            client_capabilities: input.capabilities,
        };
        self.provider
            .import_resource(request)
            .map(move |response| self.imported(&subject, &shown, capabilities, response))
    }

    fn imported(
        &self,
        subject: &Subject<'_>,
        target: &str,
        capabilities: ClientCapabilities,
        response: ImportResponse,
    ) -> (Option<Imported>, Diagnostics) {
        subject.settled(response.diagnostics, || {
            let error = |summary: &str, detail: String| {
                let problem = Diagnostic::error(summary, detail).at(subject.span);
                Err(problem.about(subject.address.to_string()).into())
            };
            if response.deferred.is_some() && !capabilities.deferral_allowed {
                let detail = format!(
                    "Provider {} cannot say yet what {target} is, so it cannot be imported as {} in this run.",
                    self.address, subject.address
                );
                return error("Cannot import deferred remote object", detail);
            }
            if let Some(reason) = response.deferred {
                return Ok(Imported::later(subject.schema, reason));
            }
            let mut objects = response.imported;
            if objects.len() > 1 {
                let detail = format!(
                    "Provider {} found {} objects for {target}; an import takes over one. Give an id of a single object.",
                    self.address,
                    objects.len()
                );
                return error("Multiple import states not supported", detail);
            }
            let Some(object) = objects.pop() else {
                let detail =
                    format!("Provider {} found no object for {target} to import as {}.", self.address, subject.address);
                return error("Import returned no resources", detail);
            };
            if object.state.is_null() {
                let detail = format!("Provider {} returned nothing for {target}.", self.address);
                return error("Import returned null resource", detail);
            }
            unbroken(self.check_imported(subject, &object.type_name, &object.state, object.identity.as_ref()))?;
            Ok(Imported {
                state: restore(&subject.schema.block, object.state, &Vec::new()),
                private: object.private,
                identity: object.identity,
                deferred: None,
            })
        })
    }

    fn check_imported(
        &self,
        subject: &Subject<'_>,
        type_name: &str,
        state: &Value,
        identity: Option<&Value>,
    ) -> Diagnostics {
        let block = &subject.schema.block;
        if *type_name != *subject.address.resource.type_name {
            let what = format!("imported an object of the type {type_name} as");
            return self.blame(subject, summary::INVALID_OBJECT, &what).into();
        }
        let mut found = check_shape(block.implied_type(), state);
        if found.is_empty() {
            found = check_unknowns(state);
        }
        let secrets = Secrets::new(block, &[]);
        if !found.is_empty() {
            let did = "returned an invalid value when importing";
            return self.violations(subject, summary::INVALID_OBJECT, did, &found, secrets);
        }
        let kept = check_write_only(block, state);
        if !kept.is_empty() {
            let summary = "Import returned a non-null value for a write-only attribute";
            return self.violations(subject, summary, "returned a value that must not be kept for", &kept, secrets);
        }
        match identity.filter(|identity| !identity.is_null()) {
            Some(identity) => self.check_identity(subject, identity, Openness::Over),
            None => Diagnostics::new(),
        }
    }

    /// The error that an imported object turned out not to exist when it was read.
    pub fn import_not_found(&self, subject: &Subject<'_>, target: &ImportTarget) -> Diagnostic {
        let shown = match target {
            ImportTarget::Id(id) => format!("the id {id:?}"),
            ImportTarget::Identity(_) => "the given identity".to_owned(),
        };
        let detail = format!(
            "There is no object with {shown} to import as {}. Only objects that exist can be imported: check the id, the \
             account and the region of provider {}, or leave the import out to have the object created.",
            subject.address, self.address
        );
        Diagnostic::error("Cannot import non-existent remote object", detail)
            .at(subject.span)
            .about(subject.address.to_string())
    }

    /// Makes an object of another resource type one of the type of `subject`.
    pub fn move_state<'a>(
        &'a self,
        subject: &Subject<'a>,
        input: MoveInput,
    ) -> Answer<'a, (Option<Moved>, Diagnostics)> {
        let subject = *subject;
        if !self.capabilities().move_resource_state {
            let detail = format!(
                "Provider {} cannot turn an object of the type {} into {}. Keep the type, or replace the moved block by a \
                 removed block and an import block.",
                self.address, input.request.source_type_name, subject.address
            );
            let error = Diagnostic::error("Unsupported `moved` across resource types", detail)
                .at(subject.span)
                .about(subject.address.to_string());
            return Answer::ready((None, error.into()));
        }
        let request = MoveRequest { target_type_name: subject.type_name(), ..input.request };
        self.provider.move_resource(request).map(move |response| self.moved(&subject, response))
    }

    fn moved(&self, subject: &Subject<'_>, response: MoveResponse) -> (Option<Moved>, Diagnostics) {
        subject.settled(response.diagnostics, || {
            let block = &subject.schema.block;
            let state = response.target_state;
            if state.is_null() {
                let what = "returned nothing when moving an object to";
                return Err(self.blame(subject, summary::INVALID_VALUE, what).into());
            }
            let found = check_object(block, &state);
            let did = "returned an invalid value when moving an object to";
            let mut broken = self.violations(subject, summary::INVALID_VALUE, did, &found, Secrets::new(block, &[]));
            if let Some(identity) = response.target_identity.as_ref().filter(|identity| !identity.is_null()) {
                broken.append(self.check_identity(subject, identity, Openness::Over));
            }
            unbroken(broken)?;
            let state = restore(block, state, &Vec::new());
            Ok(Moved { state, private: response.target_private, identity: response.target_identity })
        })
    }
}
