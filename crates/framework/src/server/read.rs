//! Reading, upgrading, importing and moving objects; reading data sources.

use std::sync::Arc;

use groma_provider::contract::without_write_only;
use groma_provider::{
    Answer, ClientCapabilities, ImportRequest, ImportResponse, ImportedResource, MoveRequest, MoveResponse, Private,
    ProviderDiagnostic, ProviderDiagnostics, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse,
    UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use groma_value::Value;

use super::plan::with_defaults;
use super::{Server, panic};
use crate::resource::{self, ObjectResponse, decode_stored};
use crate::rewrite::keep_prior_form;
use crate::{PrivateData, Resource, definition};

impl Server {
    pub(super) fn read(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let resource = match self.types.known_resource(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(problems) => return Answer::ready(unread(request, problems)),
        };
        let own = own_request(&request);
        let failed = |problems| ObjectResponse { diagnostics: problems, ..ObjectResponse::gone() };
        panic::guard("read", || resource.read(own), failed).map(move |response| was_read(resource, request, response))
    }

    /// Reads of one type go to the resource together.
    pub(super) fn read_batch(&self, requests: Vec<ReadRequest>) -> Answer<'_, Vec<ReadResponse>> {
        let uniform = match requests.split_first() {
            Some((first, rest)) if rest.iter().all(|other| other.type_name == first.type_name) => {
                self.types.known_resource(&*self.definition, &first.type_name).ok()
            }
            _ => None,
        };
        // Mixed types or an unknown one: each request is answered, or refused, alone.
        let Some(resource) = uniform else {
            return Answer::sequence(requests, |request| self.read(request));
        };
        let own = requests.iter().map(own_request).collect();
        let count = requests.len();
        let failed = move |problems: ProviderDiagnostics| {
            // A panic fails every object of the batch, because it is unknown which ones were read.
            let one = || ObjectResponse { diagnostics: problems.clone(), ..ObjectResponse::gone() };
            std::iter::repeat_with(one).take(count).collect()
        };
        panic::guard("read_many", || resource.read_many(own), failed).map(move |responses| {
            let mut responses = responses.into_iter();
            let each = requests.into_iter().map(|request| match responses.next() {
                Some(response) => was_read(resource, request, response),
                None => {
                    let problem = ProviderDiagnostic::error(
                        "Missing response from provider code",
                        "The read_many of the resource returned fewer responses than there were requests.",
                    );
                    unread(request, problem.into())
                }
            });
            each.collect()
        })
    }

    pub(super) fn upgrade(&self, request: &UpgradeRequest) -> UpgradeResponse {
        let failed = |diagnostics| UpgradeResponse { upgraded_state: Value::NULL, diagnostics };
        let resource = match self.types.known_resource(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(problems) => return failed(problems),
        };
        let raw_state = match request.raw_state.json() {
            Ok(json) => Arc::clone(json),
            Err(problem) => return failed(problem.into()),
        };
        let own = resource::UpgradeRequest { version: request.version, raw_state };
        match panic::catch("upgrade", || resource.upgrade(own)) {
            Ok(Ok(upgraded_state)) => UpgradeResponse { upgraded_state, diagnostics: ProviderDiagnostics::new() },
            Ok(Err(problem)) => failed(problem.into()),
            Err(problems) => failed(problems),
        }
    }

    pub(super) fn upgrade_identity_data(&self, request: &UpgradeIdentityRequest) -> UpgradeIdentityResponse {
        let failed = |diagnostics| UpgradeIdentityResponse { upgraded_identity: Value::NULL, diagnostics };
        let resource = match self.types.known_resource(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(problems) => return failed(problems),
        };
        let Some(identity) = &resource.schema().schema().identity else {
            return failed(
                ProviderDiagnostic::error("No identity", format!("{} has no identity.", request.type_name)).into(),
            );
        };
        match decode_stored(&request.raw_identity, &identity.implied_type()) {
            Ok(upgraded_identity) => {
                UpgradeIdentityResponse { upgraded_identity, diagnostics: ProviderDiagnostics::new() }
            }
            Err(problem) => failed(problem.into()),
        }
    }

    pub(super) fn import(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let resource = match self.types.known_resource(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(diagnostics) => return Answer::ready(ImportResponse { diagnostics, ..ImportResponse::default() }),
        };
        let own = resource::ImportRequest { target: request.target, config: request.config };
        let host = request.client_capabilities;
        let failed = |problems| ObjectResponse { diagnostics: problems, ..ObjectResponse::gone() };
        panic::guard("import", || resource.import(own), failed).map(move |response| {
            let mut diagnostics = response.diagnostics;
            let deferred = response.deferral.and_then(|deferral| deferral.report(host, &mut diagnostics));
            // A deferred import has no object, whatever the provider returns with it.
            let imported = response.state.filter(|_| deferred.is_none()).map(|state| ImportedResource {
                type_name: request.type_name,
                state: without_write_only(resource.schema().block(), &state),
                private: response.private.encode(),
                identity: response.identity,
            });
            ImportResponse { imported: imported.into_iter().collect(), deferred, diagnostics }
        })
    }

    pub(super) fn move_object(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        let failed = |diagnostics| MoveResponse {
            target_state: Value::NULL,
            target_private: Private::default(),
            target_identity: None,
            diagnostics,
        };
        let resource = match self.types.known_resource(&*self.definition, &request.target_type_name) {
            Ok(resource) => resource,
            Err(problems) => return Answer::ready(failed(problems)),
        };
        let refusal = ProviderDiagnostic::error(
            "Unsupported move",
            format!(
                "An object of {} ({}) cannot become one of {}.",
                request.source_type_name, request.source_provider_address, request.target_type_name
            ),
        );
        let panicked = |problems| ObjectResponse { diagnostics: problems, ..ObjectResponse::gone() };
        let raw_state = match request.source_state.json() {
            Ok(json) => Arc::clone(json),
            Err(problem) => return Answer::ready(failed(problem.into())),
        };
        let request = resource::MoveRequest {
            source_provider: request.source_provider_address,
            source_type: request.source_type_name,
            version: request.source_schema_version,
            raw_state,
            private: PrivateData::decode(&request.source_private),
            identity: request.source_identity,
        };
        // `None` means that the type does not support the source, which is an error of the `moved` block.
        let own = || resource.move_from(request).unwrap_or_else(|| Answer::ready(ObjectResponse::failed(refusal)));
        panic::guard("move_from", own, panicked).map(|response| {
            let mut diagnostics = response.diagnostics;
            if let Some(deferral) = response.deferral {
                // The response to a move cannot express a deferral.
                deferral.report(ClientCapabilities::default(), &mut diagnostics);
            }
            MoveResponse {
                target_state: response.state.unwrap_or(Value::NULL),
                target_private: response.private.encode(),
                target_identity: response.identity,
                diagnostics,
            }
        })
    }

    pub(super) fn read_data_source(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let source = self.types.known_data_source(&*self.definition, &request.type_name);
        let ready = source.and_then(|source| Ok((source, with_defaults(source.schema(), request.config.clone())?)));
        let (source, config) = match ready {
            Ok(ready) => ready,
            Err(diagnostics) => {
                return Answer::ready(ReadDataResponse { state: request.config, deferred: None, diagnostics });
            }
        };
        let own = definition::ReadDataRequest { config };
        let found = definition::ReadDataResponse::found;
        let failed = move |diagnostics| definition::ReadDataResponse { diagnostics, ..found(Value::NULL) };
        panic::guard("read", || source.read(own), failed).map(move |response| {
            let mut diagnostics = response.diagnostics;
            let host = request.client_capabilities;
            let deferred = response.deferral.and_then(|deferral| deferral.report(host, &mut diagnostics));
            // Until it can be read, only its configuration is known.
            let state = if deferred.is_some() { request.config } else { response.state };
            ReadDataResponse { state, deferred, diagnostics }
        })
    }
}

fn own_request(request: &ReadRequest) -> resource::ReadRequest {
    resource::ReadRequest {
        state: request.current_state.clone(),
        private: PrivateData::decode(&request.private),
        identity: request.current_identity.clone(),
    }
}

/// Creates the response for an object that could not be read.
fn unread(request: ReadRequest, diagnostics: ProviderDiagnostics) -> ReadResponse {
    ReadResponse { diagnostics, ..ReadResponse::unchanged(request) }
}

fn was_read(resource: &dyn Resource, request: ReadRequest, response: ObjectResponse) -> ReadResponse {
    let mut diagnostics = response.diagnostics;
    let host = request.client_capabilities;
    let deferred = response.deferral.and_then(|deferral| deferral.report(host, &mut diagnostics));
    // After an error the object stays in the state as it was.
    if deferred.is_some() || diagnostics.has_errors() {
        return ReadResponse { deferred, ..unread(request, diagnostics) };
    }
    let schema = resource.schema();
    let new_state = match &response.state {
        Some(state) => {
            let state = keep_prior_form(schema, state, &request.current_state);
            without_write_only(schema.block(), &state)
        }
        None => schema.block().null_value(),
    };
    ReadResponse {
        new_state,
        private: response.private.encode(),
        deferred: None,
        // Providers need not repeat an identity that they got.
        new_identity: response.identity.or(request.current_identity),
        diagnostics,
    }
}
