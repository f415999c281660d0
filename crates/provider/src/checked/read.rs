//! Reads of managed resources and data sources, and the lifecycle of ephemeral resources (plugin-protocol 4.3).

use std::time::SystemTime;

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::contract_errors::summary;
use super::response::Unknowns;
use super::response::no_violations;
use super::response::{Unmarked, restore, secret_paths};
use super::{Checked, Subject};
use crate::Answer;
use crate::contract::{Secrets, check_planned, check_shape, check_unknowns, check_write_only, normalize_legacy};
use crate::protocol::{
    ClientCapabilities, Deferred, EphemeralResponse, OpenEphemeralRequest, OpenEphemeralResponse, Private,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralRequest,
};

/// The arguments of a read call.
#[derive(Clone, Debug, Default)]
pub struct ReadInput {
    /// The object in the state.
    pub current: Value,
    /// The provider's private data stored with the object.
    pub private: Private,
    /// The identity stored with the object.
    pub identity: Option<Value>,
    /// The module's `provider_meta` values; null without a `provider_meta` block.
    pub meta: Value,
    /// The optional protocol features that the engine supports.
    pub capabilities: ClientCapabilities,
}

/// The current object as the provider read it.
#[derive(Clone, Debug)]
pub struct Read {
    /// The object, with marks; null if it no longer exists.
    pub state: Value,
    /// The private data to record.
    pub private: Private,
    /// The identity to record.
    pub identity: Option<Value>,
    /// The reason of the deferral, if the provider deferred the read.
    pub deferred: Option<Deferred>,
}

/// The arguments of a data source read, or of the opening of an ephemeral resource.
#[derive(Clone, Debug)]
pub struct DataInput {
    /// The wholly known configuration.
    pub config: Value,
    /// The module's `provider_meta` values; null without a `provider_meta` block and for ephemeral resources.
    pub meta: Value,
    /// The optional protocol features that the engine supports.
    pub capabilities: ClientCapabilities,
}

/// The result of a data source read.
#[derive(Clone, Debug)]
pub struct ReadData {
    /// The configuration completed with the results, with marks.
    pub state: Value,
    /// The reason of the deferral, if the provider deferred the read.
    pub deferred: Option<Deferred>,
}

/// The result of opening an ephemeral resource.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The configuration completed with the results, with the marks of the configuration and the schema. The engine
    /// adds the ephemeral mark.
    pub result: Value,
    /// The time by which the resource must be renewed.
    pub renew_at: Option<SystemTime>,
    /// Private data for renewing and closing.
    pub private: Private,
    /// The reason of the deferral, if the provider deferred the opening.
    pub deferred: Option<Deferred>,
}

impl Checked {
    /// Refreshes one object (LC-21).
    ///
    /// The result is `None` if the provider returned errors or violated the contract; the caller then keeps the stored
    /// object.
    pub fn read<'a>(&'a self, subject: &Subject<'a>, input: ReadInput) -> Answer<'a, (Option<Read>, Diagnostics)> {
        let subject = *subject;
        let capabilities = input.capabilities;
        let (request, current) = read_request(&subject, input);
        self.provider
            .read_resource(request)
            .map(move |response| self.read_response(&subject, &current, capabilities, response))
    }

    /// Refreshes several objects of this provider in one call.
    ///
    /// Returns one result per input, in the order of the inputs.
    pub fn read_many<'a>(
        &'a self,
        inputs: Vec<(Subject<'a>, ReadInput)>,
    ) -> Answer<'a, Vec<(Option<Read>, Diagnostics)>> {
        let mut requests = Vec::with_capacity(inputs.len());
        let mut expectation = Vec::with_capacity(inputs.len());
        for (subject, input) in inputs {
            let capabilities = input.capabilities;
            let (request, current) = read_request(&subject, input);
            requests.push(request);
            expectation.push((subject, current, capabilities));
        }
        self.provider.read_resources(requests).map(move |responses| {
            // Responses correspond to requests by their order alone.
            let mut responses = responses.into_iter();
            let each = expectation.into_iter().map(|(subject, current, capabilities)| match responses.next() {
                Some(response) => self.read_response(&subject, &current, capabilities, response),
                // A short answer must not shift the results of the other objects or lose one of them.
                None => {
                    let what = "answered a batch of reads without a result for";
                    (None, self.contract_error(&subject, summary::INVALID_OBJECT, what).into())
                }
            });
            each.collect()
        })
    }

    fn read_response(
        &self,
        subject: &Subject<'_>,
        current: &Unmarked,
        capabilities: ClientCapabilities,
        response: ReadResponse,
    ) -> (Option<Read>, Diagnostics) {
        subject.checked(response.diagnostics, || {
            self.check_deferral(subject, response.deferred, capabilities, "read")?;
            no_violations(self.check_read(subject, current, &response.new_state, response.deferred))?;
            if let Some(identity) = response.new_identity.as_ref().filter(|identity| !identity.is_null()) {
                no_violations(self.check_identity(subject, identity, Unknowns::Forbidden))?;
            }
            let block = &subject.schema.block;
            // Legacy providers return null for absent blocks, which would show up as drift against empty collections.
            let state = normalize_legacy(block, &response.new_state);
            Ok(Read {
                state: restore(block, state, &current.marks),
                private: response.private,
                identity: response.new_identity,
                deferred: response.deferred,
            })
        })
    }

    fn check_read(
        &self,
        subject: &Subject<'_>,
        current: &Unmarked,
        state: &Value,
        deferred: Option<Deferred>,
    ) -> Diagnostics {
        let block = &subject.schema.block;
        let mut found = check_shape(block.implied_type(), state);
        // Each check needs the guarantees of the one before: values are visited by the slots of their type.
        if found.is_empty() {
            found = check_write_only(block, state);
        }
        // The result of a deferred read may contain unknown values.
        if found.is_empty() && deferred.is_none() {
            found = check_unknowns(state);
        }
        let secret = secret_paths([&current.marks]);
        let did = "returned an invalid value when reading";
        self.contract_errors(subject, summary::INVALID_OBJECT, did, &found, Secrets::new(block, &secret))
    }

    /// Reads a data source. A null result is an error.
    pub fn read_data<'a>(
        &'a self,
        subject: &Subject<'a>,
        input: DataInput,
    ) -> Answer<'a, (Option<ReadData>, Diagnostics)> {
        let subject = *subject;
        let config = Unmarked::of(input.config);
        let request = ReadDataRequest {
            type_name: subject.type_name(),
            address: Some(subject.address.clone()),
            config: config.value.clone(),
            meta: input.meta,
            client_capabilities: input.capabilities,
        };
        let capabilities = input.capabilities;
        self.provider
            .read_data(request)
            .map(move |response| self.data_read_response(&subject, &config, capabilities, response))
    }

    fn data_read_response(
        &self,
        subject: &Subject<'_>,
        config: &Unmarked,
        capabilities: ClientCapabilities,
        response: ReadDataResponse,
    ) -> (Option<ReadData>, Diagnostics) {
        subject.checked(response.diagnostics, || {
            self.check_deferral(subject, response.deferred, capabilities, "read")?;
            // A data source that finds nothing must report an error instead of returning null.
            if response.state.is_null() && response.deferred.is_none() {
                return Err(self
                    .contract_error(subject, summary::NULL_OBJECT, "returned no object when reading")
                    .into());
            }
            no_violations(self.check_read(subject, config, &response.state, response.deferred))?;
            // Sensitive arguments come back in the result, so they get their marks again (LC-30).
            let state = restore(&subject.schema.block, response.state, &config.marks);
            Ok(ReadData { state, deferred: response.deferred })
        })
    }

    /// Opens an ephemeral resource. The configured arguments must come back unchanged.
    pub fn open_ephemeral<'a>(
        &'a self,
        subject: &Subject<'a>,
        input: DataInput,
    ) -> Answer<'a, (Option<Opened>, Diagnostics)> {
        let subject = *subject;
        let config = Unmarked::of(input.config);
        let request = OpenEphemeralRequest {
            type_name: subject.type_name(),
            config: config.value.clone(),
            client_capabilities: input.capabilities,
        };
        let capabilities = input.capabilities;
        self.provider
            .open_ephemeral(request)
            .map(move |response| self.opened(&subject, &config, capabilities, response))
    }

    fn opened(
        &self,
        subject: &Subject<'_>,
        config: &Unmarked,
        capabilities: ClientCapabilities,
        response: OpenEphemeralResponse,
    ) -> (Option<Opened>, Diagnostics) {
        subject.checked(response.diagnostics, || {
            self.check_deferral(subject, response.deferred, capabilities, "open")?;
            let block = &subject.schema.block;
            let mut found = check_shape(block.implied_type(), &response.result);
            // A deferred result is only an estimate, so it is checked for its type alone.
            if found.is_empty() && response.deferred.is_none() {
                // Opening is like planning a creation: configured values must stay, and computed ones are free.
                found = check_planned(block, &block.null_value(), &config.value, &response.result);
                if found.is_empty() {
                    found = check_unknowns(&response.result);
                }
            }
            let secret = secret_paths([&config.marks]);
            let did = "returned an invalid value when opening";
            let secrets = Secrets::new(block, &secret);
            no_violations(self.contract_errors(subject, summary::INVALID_EPHEMERAL, did, &found, secrets))?;
            Ok(Opened {
                result: restore(block, response.result, &config.marks),
                renew_at: response.renew_at,
                private: response.private,
                deferred: response.deferred,
            })
        })
    }

    /// Renews an ephemeral resource, which would expire otherwise.
    pub fn renew_ephemeral<'a>(
        &'a self,
        subject: &Subject<'a>,
        private: Private,
    ) -> Answer<'a, (EphemeralResponse, Diagnostics)> {
        let subject = *subject;
        let request = RenewEphemeralRequest { type_name: subject.type_name(), private };
        self.provider.renew_ephemeral(request).map(move |mut response| {
            let diagnostics = subject.locate(std::mem::take(&mut response.diagnostics));
            (response, diagnostics)
        })
    }
}

fn read_request(subject: &Subject<'_>, input: ReadInput) -> (ReadRequest, Unmarked) {
    let current = Unmarked::of(input.current);
    let request = ReadRequest {
        type_name: subject.type_name(),
        current_state: current.value.clone(),
        private: input.private,
        meta: input.meta,
        client_capabilities: input.capabilities,
        current_identity: input.identity,
    };
    (request, current)
}
