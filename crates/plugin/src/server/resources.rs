//! Server side of calls for managed resources.

use std::sync::Arc;

use groma_provider::{
    ApplyRequest, ImportRequest, ImportTarget, ImportedResource, MoveRequest, PlanRequest, ProviderDiagnostics,
    ReadRequest, UpgradeIdentityRequest, UpgradeRequest,
};

use super::adapter::{
    Adapter, StepResult, decode_identity, decode_request, encode_identity, encode_response, stored, stored_json,
};
use crate::proto::v6;
use crate::wire;

impl Adapter {
    pub async fn upgrade_state(
        &self,
        message: v6::upgrade_resource_state::Request,
    ) -> StepResult<v6::upgrade_resource_state::Response> {
        let schema = self.resource(&message.type_name)?;
        let request = UpgradeRequest {
            type_name: message.type_name.into(),
            version: message.version.unsigned_abs(),
            raw_state: stored(message.raw_state.as_ref())?,
        };
        let mut response = self.provider().upgrade_resource(request).await;
        let upgraded_state =
            encode_response(&response.upgraded_state, schema.block.implied_type(), &mut response.diagnostics);
        let diagnostics = wire::diagnostics_message(&response.diagnostics);
        Ok(v6::upgrade_resource_state::Response { upgraded_state, diagnostics })
    }

    pub async fn upgrade_identity(
        &self,
        message: v6::upgrade_resource_identity::Request,
    ) -> StepResult<v6::upgrade_resource_identity::Response> {
        let schema = self.resource(&message.type_name)?;
        let request = UpgradeIdentityRequest {
            type_name: message.type_name.into(),
            version: message.version.unsigned_abs(),
            raw_identity: stored_json(message.raw_identity.as_ref(), "The identity")?,
        };
        let mut response = self.provider().upgrade_identity(request).await;
        let upgraded_identity = encode_identity(Some(&response.upgraded_identity), &schema, &mut response.diagnostics);
        let diagnostics = wire::diagnostics_message(&response.diagnostics);
        Ok(v6::upgrade_resource_identity::Response { upgraded_identity, diagnostics })
    }

    pub async fn read(&self, message: v6::read_resource::Request) -> StepResult<v6::read_resource::Response> {
        let schema = self.resource(&message.type_name)?;
        let ty = schema.block.implied_type();
        let request = ReadRequest {
            current_state: decode_request(message.current_state.as_ref(), ty, "the object")?,
            private: wire::private(&message.private),
            meta: self.meta(message.provider_meta.as_ref())?,
            client_capabilities: wire::client_capabilities(message.client_capabilities.as_ref()),
            current_identity: decode_identity(message.current_identity.as_ref(), &schema)?,
            type_name: message.type_name.into(),
        };
        let mut response = self.provider().read_resource(request).await;
        let problems = &mut response.diagnostics;
        Ok(v6::read_resource::Response {
            new_state: encode_response(&response.new_state, ty, problems),
            private: wire::private_bytes(&response.private),
            deferred: wire::deferred_message(response.deferred),
            new_identity: encode_identity(response.new_identity.as_ref(), &schema, problems),
            diagnostics: wire::diagnostics_message(problems),
        })
    }

    pub async fn plan(
        &self,
        message: v6::plan_resource_change::Request,
    ) -> StepResult<v6::plan_resource_change::Response> {
        let schema = self.resource(&message.type_name)?;
        let ty = schema.block.implied_type();
        let request = PlanRequest {
            prior_state: decode_request(message.prior_state.as_ref(), ty, "the prior state")?,
            proposed_new_state: decode_request(message.proposed_new_state.as_ref(), ty, "the proposed state")?,
            config: decode_request(message.config.as_ref(), ty, "the configuration")?,
            prior_private: wire::private(&message.prior_private),
            meta: self.meta(message.provider_meta.as_ref())?,
            client_capabilities: wire::client_capabilities(message.client_capabilities.as_ref()),
            prior_identity: decode_identity(message.prior_identity.as_ref(), &schema)?,
            type_name: message.type_name.into(),
        };
        let mut response = self.provider().plan_resource(request).await;
        let problems = &mut response.diagnostics;
        Ok(v6::plan_resource_change::Response {
            planned_state: encode_response(&response.planned_state, ty, problems),
            requires_replace: response.requires_replace.iter().map(wire::path_message).collect(),
            planned_private: wire::private_bytes(&response.planned_private),
            legacy_type_system: response.legacy_type_system,
            deferred: wire::deferred_message(response.deferred),
            planned_identity: encode_identity(response.planned_identity.as_ref(), &schema, problems),
            diagnostics: wire::diagnostics_message(problems),
        })
    }

    pub async fn apply(
        &self,
        message: v6::apply_resource_change::Request,
    ) -> StepResult<v6::apply_resource_change::Response> {
        let schema = self.resource(&message.type_name)?;
        let ty = schema.block.implied_type();
        let request = ApplyRequest {
            prior_state: decode_request(message.prior_state.as_ref(), ty, "the prior state")?,
            planned_state: decode_request(message.planned_state.as_ref(), ty, "the planned state")?,
            config: decode_request(message.config.as_ref(), ty, "the configuration")?,
            planned_private: wire::private(&message.planned_private),
            meta: self.meta(message.provider_meta.as_ref())?,
            planned_identity: decode_identity(message.planned_identity.as_ref(), &schema)?,
            type_name: message.type_name.into(),
        };
        let mut response = self.provider().apply_resource(request).await;
        let problems = &mut response.diagnostics;
        Ok(v6::apply_resource_change::Response {
            new_state: response.new_state.as_ref().and_then(|state| encode_response(state, ty, problems)),
            private: wire::private_bytes(&response.private),
            legacy_type_system: response.legacy_type_system,
            new_identity: encode_identity(response.new_identity.as_ref(), &schema, problems),
            diagnostics: wire::diagnostics_message(problems),
        })
    }

    pub async fn import(
        &self,
        message: v6::import_resource_state::Request,
    ) -> StepResult<v6::import_resource_state::Response> {
        let schema = self.resource(&message.type_name)?;
        let target = match decode_identity(message.identity.as_ref(), &schema)? {
            // Hosts send a null identity along with an import by ID.
            Some(identity) if !identity.is_null() => ImportTarget::Identity(identity),
            _ => ImportTarget::Id(message.id),
        };
        let request = ImportRequest {
            type_name: message.type_name.into(),
            target,
            // The protocol has no field for it.
            config: None,
            client_capabilities: wire::client_capabilities(message.client_capabilities.as_ref()),
        };
        let mut response = self.provider().import_resource(request).await;
        let mut imported_resources = Vec::with_capacity(response.imported.len());
        for imported in &response.imported {
            imported_resources.push(self.imported(imported, &mut response.diagnostics)?);
        }
        Ok(v6::import_resource_state::Response {
            imported_resources,
            deferred: wire::deferred_message(response.deferred),
            diagnostics: wire::diagnostics_message(&response.diagnostics),
        })
    }

    fn imported(
        &self,
        imported: &ImportedResource,
        problems: &mut ProviderDiagnostics,
    ) -> StepResult<v6::import_resource_state::ImportedResource> {
        let schema = self.resource(&imported.type_name)?;
        Ok(v6::import_resource_state::ImportedResource {
            type_name: imported.type_name.to_string(),
            state: encode_response(&imported.state, schema.block.implied_type(), problems),
            private: wire::private_bytes(&imported.private),
            identity: encode_identity(imported.identity.as_ref(), &schema, problems),
        })
    }

    pub async fn move_state(
        &self,
        message: v6::move_resource_state::Request,
    ) -> StepResult<v6::move_resource_state::Response> {
        let schema = self.resource(&message.target_type_name)?;
        let identity =
            message.source_identity.as_ref().map(|raw| stored_json(Some(raw), "The identity")).transpose()?;
        let request = MoveRequest {
            source_provider_address: message.source_provider_address,
            source_type_name: message.source_type_name.into(),
            source_schema_version: message.source_schema_version.unsigned_abs(),
            source_state: stored(message.source_state.as_ref())?,
            source_private: wire::private(&message.source_private),
            // An absent identity arrives as JSON null.
            source_identity: identity.filter(|json: &Arc<str>| &**json != "null"),
            target_type_name: message.target_type_name.into(),
        };
        let mut response = self.provider().move_resource(request).await;
        let problems = &mut response.diagnostics;
        Ok(v6::move_resource_state::Response {
            target_state: encode_response(&response.target_state, schema.block.implied_type(), problems),
            target_private: wire::private_bytes(&response.target_private),
            target_identity: encode_identity(response.target_identity.as_ref(), &schema, problems),
            diagnostics: wire::diagnostics_message(problems),
        })
    }
}
