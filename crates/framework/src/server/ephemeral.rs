//! Opening, renewing and closing ephemeral resources.

use groma_provider::{
    Answer, CloseEphemeralRequest, EphemeralResponse, OpenEphemeralRequest, OpenEphemeralResponse, ProviderDiagnostics,
    RenewEphemeralRequest,
};
use groma_value::Value;

use super::defaults::with_defaults;
use super::{Server, panic};
use crate::PrivateData;
use crate::ephemeral::{OpenResponse, RenewResponse};

impl Server {
    pub(super) fn open(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        let failed =
            |diagnostics| OpenResponse { diagnostics, ..OpenResponse::opened(Value::NULL, PrivateData::new()) };
        let (config, host) = (request.config, request.client_capabilities);
        let resource = self.types.known_ephemeral(&*self.definition, &request.type_name);
        let ready = resource.and_then(|resource| Ok((resource, with_defaults(resource.schema(), config.clone())?)));
        let answer = match ready {
            Ok((resource, config)) => panic::guard("open", || resource.open(config), failed),
            Err(problems) => Answer::ready(failed(problems)),
        };
        answer.map(move |response| {
            let mut diagnostics = response.diagnostics;
            let deferred = response.not_yet.and_then(|not_yet| not_yet.report(host, &mut diagnostics));
            OpenEphemeralResponse {
                result: if deferred.is_some() { config } else { response.result },
                renew_at: response.renew_at,
                private: response.private.encode(),
                deferred,
                diagnostics,
            }
        })
    }

    pub(super) fn renew(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        let private = PrivateData::decode(&request.private);
        let kept = private.clone();
        let failed = move |diagnostics| RenewResponse { renew_at: None, private: kept, diagnostics };
        let answer = match self.types.known_ephemeral(&*self.definition, &request.type_name) {
            Ok(resource) => panic::guard("renew", || resource.renew(private), failed),
            Err(problems) => Answer::ready(failed(problems)),
        };
        answer.map(|response| EphemeralResponse {
            renew_at: response.renew_at,
            private: response.private.encode(),
            diagnostics: response.diagnostics,
        })
    }

    pub(super) fn close(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        let private = PrivateData::decode(&request.private);
        match self.types.known_ephemeral(&*self.definition, &request.type_name) {
            Ok(resource) => panic::guard("close", || resource.close(private), |problems| problems),
            Err(problems) => Answer::ready(problems),
        }
    }
}
