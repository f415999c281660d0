//! Reading managed resources, data sources and ephemeral resources (plugin-protocol 4.3).

use std::time::SystemTime;

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::blame::summary;
use super::identity::Openness;
use super::marks::{Unmarked, restore, secret_paths};
use super::settle::unbroken;
use super::{Checked, Subject};
use crate::Answer;
use crate::contract::{Secrets, check_planned, check_shape, check_unknowns, check_write_only, normalize_legacy};
use crate::protocol::{
    ClientCapabilities, Deferred, EphemeralResponse, OpenEphemeralRequest, OpenEphemeralResponse, Private,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralRequest,
};

/// An object to be read.
#[derive(Clone, Debug, Default)]
pub struct ReadInput {
    /// The object as last known.
    pub current: Value,
    /// What the provider keeps with it.
    pub private: Private,
    /// Its identity as last known.
    pub identity: Option<Value>,
    /// The module's `provider_meta` values; null when there are none.
    pub meta: Value,
    /// What the engine can handle.
    pub capabilities: ClientCapabilities,
}

/// An object as it is now.
#[derive(Clone, Debug)]
pub struct Read {
    /// The object, with marks; null when it is gone.
    pub state: Value,
    /// What the provider keeps with it.
    pub private: Private,
    /// Its identity.
    pub identity: Option<Value>,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
}

/// A data source to be read, or an ephemeral resource to be opened.
#[derive(Clone, Debug)]
pub struct DataInput {
    /// The configuration, wholly known.
    pub config: Value,
    /// The module's `provider_meta` values; null when there are none, and for ephemeral resources.
    pub meta: Value,
    /// What the engine can handle.
    pub capabilities: ClientCapabilities,
}

/// What a data source found.
#[derive(Clone, Debug)]
pub struct ReadData {
    /// The configuration with the results filled in, with marks.
    pub state: Value,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
}

/// An open ephemeral resource.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The configuration with the results filled in, with marks (those of the schema and the configuration: that the
    /// whole is ephemeral is the engine's to mark).
    pub result: Value,
    /// When it must be renewed at the latest.
    pub renew_at: Option<SystemTime>,
    /// Bytes for renewing and closing it.
    pub private: Private,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
}

impl Checked {
    /// Finds out what an object is like now (LC-21).
    ///
    /// There is no result when the provider returned errors or broke the contract: the object stays as it was.
    pub fn read<'a>(&'a self, subject: &Subject<'a>, input: ReadInput) -> Answer<'a, (Option<Read>, Diagnostics)> {
        let subject = *subject;
        let capabilities = input.capabilities;
        let (request, current) = read_request(&subject, input);
        self.provider
            .read_resource(request)
            .map(move |response| self.was_read(&subject, &current, capabilities, response))
    }

    /// [`Checked::read`] of several objects of this provider in one call.
    ///
    /// The results are in the order of the inputs, one each.
    pub fn read_many<'a>(
        &'a self,
        inputs: Vec<(Subject<'a>, ReadInput)>,
    ) -> Answer<'a, Vec<(Option<Read>, Diagnostics)>> {
        let mut requests = Vec::with_capacity(inputs.len());
        let mut asked = Vec::with_capacity(inputs.len());
        for (subject, input) in inputs {
            let capabilities = input.capabilities;
            let (request, current) = read_request(&subject, input);
            requests.push(request);
            asked.push((subject, current, capabilities));
        }
        self.provider.read_resources(requests).map(move |responses| {
            let mut responses = responses.into_iter();
            let each = asked.into_iter().map(|(subject, current, capabilities)| match responses.next() {
                Some(response) => self.was_read(&subject, &current, capabilities, response),
                None => {
                    let what = "answered a batch of reads without an answer for";
                    (None, self.blame(&subject, summary::INVALID_OBJECT, what).into())
                }
            });
            each.collect()
        })
    }

    fn was_read(
        &self,
        subject: &Subject<'_>,
        current: &Unmarked,
        capabilities: ClientCapabilities,
        response: ReadResponse,
    ) -> (Option<Read>, Diagnostics) {
        subject.settled(response.diagnostics, || {
            self.check_deferral(subject, response.deferred, capabilities, "read")?;
            unbroken(self.check_read(subject, current, &response.new_state, response.deferred))?;
            if let Some(identity) = response.new_identity.as_ref().filter(|identity| !identity.is_null()) {
                unbroken(self.check_identity(subject, identity, Openness::Over))?;
            }
            let block = &subject.schema.block;
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
        if found.is_empty() {
            found = check_write_only(block, state);
        }
        if found.is_empty() && deferred.is_none() {
            found = check_unknowns(state);
        }
        let secret = secret_paths([&current.marks]);
        let did = "returned an invalid value when reading";
        self.violations(subject, summary::INVALID_OBJECT, did, &found, Secrets::new(block, &secret))
    }

    /// Reads a data source.
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
            .map(move |response| self.data_was_read(&subject, &config, capabilities, response))
    }

    fn data_was_read(
        &self,
        subject: &Subject<'_>,
        config: &Unmarked,
        capabilities: ClientCapabilities,
        response: ReadDataResponse,
    ) -> (Option<ReadData>, Diagnostics) {
        subject.settled(response.diagnostics, || {
            self.check_deferral(subject, response.deferred, capabilities, "read")?;
            if response.state.is_null() && response.deferred.is_none() {
                return Err(self.blame(subject, summary::NULL_OBJECT, "returned nothing when reading").into());
            }
            unbroken(self.check_read(subject, config, &response.state, response.deferred))?;
            let state = restore(&subject.schema.block, response.state, &config.marks);
            Ok(ReadData { state, deferred: response.deferred })
        })
    }

    /// Opens an ephemeral resource: what is configured must come back unchanged.
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
        subject.settled(response.diagnostics, || {
            self.check_deferral(subject, response.deferred, capabilities, "open")?;
            let block = &subject.schema.block;
            let mut found = check_shape(block.implied_type(), &response.result);
            if found.is_empty() && response.deferred.is_none() {
                found = check_planned(block, &block.null_value(), &config.value, &response.result);
                if found.is_empty() {
                    found = check_unknowns(&response.result);
                }
            }
            let secret = secret_paths([&config.marks]);
            let did = "returned an invalid value when opening";
            let secrets = Secrets::new(block, &secret);
            unbroken(self.violations(subject, summary::INVALID_EPHEMERAL, did, &found, secrets))?;
            Ok(Opened {
                result: restore(block, response.result, &config.marks),
                renew_at: response.renew_at,
                private: response.private,
                deferred: response.deferred,
            })
        })
    }

    /// Keeps an ephemeral resource open.
    pub fn renew_ephemeral<'a>(
        &'a self,
        subject: &Subject<'a>,
        private: Private,
    ) -> Answer<'a, (EphemeralResponse, Diagnostics)> {
        let subject = *subject;
        let request = RenewEphemeralRequest { type_name: subject.type_name(), private };
        self.provider.renew_ephemeral(request).map(move |mut response| {
            let diagnostics = subject.place(std::mem::take(&mut response.diagnostics));
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
