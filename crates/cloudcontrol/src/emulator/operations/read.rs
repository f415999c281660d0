//! `GetResource` and `ListResources`.

use serde_json::{Map, Value as Json};

use super::document::{document, fits, resolve};
use super::{Outcome, PAGE, pack_token, unpack_token, unsupported};
use crate::api::{ApiError, Fault, GetResource, ListResources, ResourceDescription, ResourceList};
use crate::emulator::store::{Store, kind, not_found, parse};
use crate::emulator::view;

impl Store {
    /// `GetResource`
    pub fn get_resource(&self, region: &str, request: &GetResource) -> Outcome<ResourceDescription> {
        self.damage_cases.refuse()?;
        let schema = self.schema(&request.type_name)?;
        if schema.handlers.read.is_none() {
            return Err(unsupported(&request.type_name, "READ"));
        }
        let kind = kind(region, &request.type_name);
        let (identifier, model) = self.work(|turn| {
            let identifier = resolve(&schema, turn, &kind, &request.identifier)?;
            let model =
                turn.index.object(&kind, &identifier).filter(|_| !turn.index.is_young(&kind, &identifier, turn.now));
            let model = model.cloned().ok_or_else(|| not_found(&request.type_name, &identifier))?;
            Ok((identifier, model))
        })?;
        if schema.write_only.is_empty() && !self.settings.faults.shuffle {
            return Ok(ResourceDescription { identifier, properties: model.to_string() });
        }
        let mut model = parse(&model)?;
        view::strip(&schema.write_only, &mut model);
        self.damage_cases.shuffle(&schema, &mut model);
        Ok(ResourceDescription { identifier, properties: model.to_string() })
    }

    /// `ListResources`
    pub fn list_resources(&self, region: &str, request: &ListResources) -> Outcome<ResourceList> {
        self.damage_cases.refuse()?;
        let schema = self.schema(&request.type_name)?;
        let Some(handler) = &schema.handlers.list else {
            return Err(unsupported(&request.type_name, "LIST"));
        };
        let filter = match &request.resource_model {
            Some(text) => document(text, "ResourceModel")?,
            None => Json::Object(Map::new()),
        };
        if let Some(missing) = handler.required_inputs.iter().find(|name| filter.get(&***name).is_none()) {
            let message = format!(
                "Missing or invalid ResourceModel property in {} list handler request input. Required property:  (#: required key [{missing}] not found)",
                request.type_name
            );
            return Err(ApiError::new(Fault::InvalidRequest, message));
        }
        let after = request.next_token.as_deref().map(unpack_token).transpose()?;
        let page = request.max_results.map_or(PAGE, |most| (most as usize).clamp(1, PAGE));
        let kind = kind(region, &request.type_name);
        self.work(|turn| {
            let mut descriptions = Vec::new();
            let mut next_token = None;
            for (identifier, model) in turn.index.objects_after(&kind, after.as_deref()) {
                if descriptions.len() == page {
                    next_token = descriptions.last().map(|last: &ResourceDescription| pack_token(&last.identifier));
                    break;
                }
                let model = parse(model)?;
                if fits(&filter, &model) {
                    let properties = view::identifying(&schema, &model).to_string();
                    descriptions.push(ResourceDescription { identifier: identifier.to_string(), properties });
                }
            }
            Ok(ResourceList { type_name: request.type_name.clone(), resource_descriptions: descriptions, next_token })
        })
    }
}
