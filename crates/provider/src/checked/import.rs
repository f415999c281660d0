//! Import of existing objects, and moves between resource types (LC-23, LC-25; plugin-protocol 4.3).

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::{Path, PathMarks, Value};

use super::contract_errors::summary;
use super::response::no_violations;
use super::response::restore;
use super::response::{Unknowns, Unmarked};
use super::{Checked, Subject};
use crate::contract::{Secrets, check_object, check_shape, check_unknowns, check_write_only};
use crate::protocol::{
    ClientCapabilities, Deferred, ImportRequest, ImportResponse, ImportTarget, MoveRequest, MoveResponse, Private,
};
use crate::{Answer, Block, Schema};

/// The arguments of an import call.
#[derive(Clone, Debug)]
pub struct ImportInput {
    /// The id or the identity to import.
    pub target: ImportTarget,
    /// The configuration of the resource, with marks; a null without one that can be evaluated.
    pub config: Value,
    /// The optional protocol features that the engine supports.
    pub capabilities: ClientCapabilities,
}

/// The stub of an imported object, which must be read before any other use (LC-23).
#[derive(Clone, Debug)]
pub struct Imported {
    /// The attributes that the provider needs to read the object, with marks.
    pub state: Value,
    /// The private data to record.
    pub private: Private,
    /// The identity to record.
    pub identity: Option<Value>,
    /// The reason of the deferral, if the provider deferred the import.
    pub deferred: Option<Deferred>,
}

/// The arguments of a move between resource types.
#[derive(Clone, Debug)]
pub struct MoveInput {
    /// The request. Its target type is overwritten with the type of the subject.
    pub request: MoveRequest,
}

/// An object converted to the target resource type.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The converted object, with marks.
    pub state: Value,
    /// The private data to record.
    pub private: Private,
    /// The identity to record.
    pub identity: Option<Value>,
}

impl Imported {
    /// Creates the result of a deferred import: a null object and the reason.
    fn deferred(schema: &Schema, reason: Deferred) -> Self {
        Self { state: schema.block.null_value(), private: Private::default(), identity: None, deferred: Some(reason) }
    }

    /// Marks the values that the provider has taken from the configuration as they are marked there.
    fn with_marks_of(self, block: &Block, config: &PathMarks) -> Self {
        let is_taken = |path: &Path| self.state.path_get(path).is_ok_and(|value| !value.is_null());
        let marks = config.iter().filter(|(path, _)| is_taken(path)).cloned().collect();
        Self { state: restore(block, self.state, &marks), ..self }
    }
}

impl Checked {
    /// Finds the existing object that `subject` is to manage.
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
        let config = Unmarked::of(input.config);
        let request = ImportRequest {
            type_name: subject.type_name(),
            target: input.target,
            config: Some(config.value).filter(|config| !config.is_null()),
            client_capabilities: input.capabilities,
        };
        self.provider.import_resource(request).map(move |response| {
            let (imported, problems) = self.imported(&subject, &shown, capabilities, response);
            (imported.map(|object| object.with_marks_of(&subject.schema.block, &config.marks)), problems)
        })
    }

    fn imported(
        &self,
        subject: &Subject<'_>,
        target: &str,
        capabilities: ClientCapabilities,
        response: ImportResponse,
    ) -> (Option<Imported>, Diagnostics) {
        subject.checked(response.diagnostics, || {
            let error = |summary: &str, detail: String| {
                let problem = Diagnostic::error(summary, detail).at(subject.span);
                Err(problem.about(subject.address).into())
            };
            if response.deferred.is_some() && !capabilities.deferral_allowed {
                let detail = format!(
                    "Provider {} deferred the import of {target}, so {} cannot be imported in this run.",
                    self.address, subject.address
                );
                return error("Cannot import deferred remote object", detail);
            }
            // A deferred import has no object yet, so the number of objects is not checked.
            if let Some(reason) = response.deferred {
                return Ok(Imported::deferred(subject.schema, reason));
            }
            let mut objects = response.imported;
            // Only one object can be bound to the address of the import.
            if objects.len() > 1 {
                let detail = format!(
                    "Provider {} returned {} objects for {target}, but an import needs exactly one. Use an ID of a single object.",
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
            // A null object would pass the other checks, and the import would seem to have succeeded.
            if object.state.is_null() {
                let detail = format!("Provider {} returned a null object for {target}.", self.address);
                return error("Import returned null resource", detail);
            }
            no_violations(self.check_imported(subject, &object.type_name, &object.state, object.identity.as_ref()))?;
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
        // The type comes first: an object of another type would fail the shape check with a misleading message.
        if *type_name != *subject.address.resource.type_name {
            let what = format!("imported an object of the type {type_name} as");
            return self.contract_error(subject, summary::INVALID_OBJECT, &what).into();
        }
        let mut found = check_shape(block.implied_type(), state);
        if found.is_empty() {
            found = check_unknowns(state);
        }
        // An imported object has no configuration yet whose marks could name secrets.
        let secrets = Secrets::new(block, &[]);
        if !found.is_empty() {
            let did = "returned an invalid value when importing";
            return self.contract_errors(subject, summary::INVALID_OBJECT, did, &found, secrets);
        }
        let kept = check_write_only(block, state);
        if !kept.is_empty() {
            let summary = "Import returned a non-null value for a write-only attribute";
            return self.contract_errors(
                subject,
                summary,
                "returned a value that must not be stored for",
                &kept,
                secrets,
            );
        }
        match identity.filter(|identity| !identity.is_null()) {
            Some(identity) => self.check_identity(subject, identity, Unknowns::Forbidden),
            None => Diagnostics::new(),
        }
    }

    /// Creates the error for an imported object that the subsequent read did not find.
    pub fn import_not_found(&self, subject: &Subject<'_>, target: &ImportTarget) -> Diagnostic {
        let shown = match target {
            ImportTarget::Id(id) => format!("the id {id:?}"),
            ImportTarget::Identity(_) => "the given identity".to_owned(),
        };
        let detail = format!(
            "Cannot find an object with {shown} to import as {}. Only existing objects can be imported. Check the ID, and the \
            account and region of provider {}, or remove the import to create a new object.",
            subject.address, self.address
        );
        Diagnostic::error("Cannot import non-existent remote object", detail).at(subject.span).about(subject.address)
    }

    /// Converts an object of another resource type to the type of `subject`.
    pub fn move_state<'a>(
        &'a self,
        subject: &Subject<'a>,
        input: MoveInput,
    ) -> Answer<'a, (Option<Moved>, Diagnostics)> {
        let subject = *subject;
        // A provider without the capability may not implement the call at all, and would fail with a less helpful
        // error.
        if !self.capabilities().move_resource_state {
            let detail = format!(
                "Provider {} does not support moving an object of type {} to {}. Keep the resource type, or replace the \
                \"moved\" block with a \"removed\" block and an \"import\" block.",
                self.address, input.request.source_type_name, subject.address
            );
            let error = Diagnostic::error("Unsupported `moved` across resource types", detail)
                .at(subject.span)
                .about(subject.address);
            return Answer::ready((None, error.into()));
        }
        // The target is the resource of the call, whatever the input says.
        let request = MoveRequest { target_type_name: subject.type_name(), ..input.request };
        self.provider.move_resource(request).map(move |response| self.moved(&subject, response))
    }

    fn moved(&self, subject: &Subject<'_>, response: MoveResponse) -> (Option<Moved>, Diagnostics) {
        subject.checked(response.diagnostics, || {
            let block = &subject.schema.block;
            let state = response.target_state;
            if state.is_null() {
                let what = "returned no object when moving one to";
                return Err(self.contract_error(subject, summary::INVALID_VALUE, what).into());
            }
            let found = check_object(block, &state);
            let did = "returned an invalid value when moving an object to";
            let mut broken =
                self.contract_errors(subject, summary::INVALID_VALUE, did, &found, Secrets::new(block, &[]));
            if let Some(identity) = response.target_identity.as_ref().filter(|identity| !identity.is_null()) {
                broken.append(self.check_identity(subject, identity, Unknowns::Forbidden));
            }
            no_violations(broken)?;
            let state = restore(block, state, &Vec::new());
            Ok(Moved { state, private: response.target_private, identity: response.target_identity })
        })
    }
}
