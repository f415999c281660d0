//! Validation of configurations: first the validators of attributes, then the author's own.

use groma_provider::{Answer, Item, ProviderDiagnostic, ProviderDiagnostics, Slot, Use, ValidateRequest};
use groma_value::{Path, Value};

use super::{Server, panic};
use crate::rewrite::{Next, ObjectStates, rewrite};
use crate::schema::ValidatorRequest;
use crate::{ResourceSchema, resource};

impl Server {
    pub(super) fn validate_provider(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let own = panic::catch("validators", || check(self.definition.schema(), &config));
        let further = panic::guard("validate", || self.definition.validate(config), |problems| problems);
        joined(own, further)
    }

    pub(super) fn validate_resource_config(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let resource = match self.types.known_resource(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(problems) => return Answer::ready(problems),
        };
        let own = panic::catch("validators", || check(resource.schema(), &request.config));
        let whole = resource::ValidateRequest { config: request.config };
        joined(own, panic::guard("validate", || resource.validate(whole), |problems| problems))
    }

    pub(super) fn validate_ephemeral_config(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let resource = match self.types.known_ephemeral(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(problems) => return Answer::ready(problems),
        };
        let own = panic::catch("validators", || check(resource.schema(), &request.config));
        joined(own, panic::guard("validate", || resource.validate(request.config), |problems| problems))
    }

    pub(super) fn validate_list_config(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let list = match self.types.known_list(&*self.definition, &request.type_name) {
            Ok(list) => list,
            Err(problems) => return Answer::ready(problems),
        };
        let own = panic::catch("validators", || check(list.schema(), &request.config));
        joined(own, panic::guard("validate", || list.validate(request.config), |problems| problems))
    }

    pub(super) fn validate_action_config(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let action = match self.types.known_action(&*self.definition, &request.type_name) {
            Ok(action) => action,
            Err(problems) => return Answer::ready(problems),
        };
        let own = panic::catch("validators", || check(action.schema(), &request.config));
        joined(own, panic::guard("validate", || action.validate(request.config), |problems| problems))
    }

    pub(super) fn validate_store_config(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let store = match self.types.known_state_store(&*self.definition, &request.type_name) {
            Ok(store) => store,
            Err(problems) => return Answer::ready(problems),
        };
        let own = panic::catch("validators", || check(store.schema(), &request.config));
        joined(own, panic::guard("validate", || store.validate(request.config), |problems| problems))
    }

    pub(super) fn validate_data_config(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let source = match self.types.known_data_source(&*self.definition, &request.type_name) {
            Ok(source) => source,
            Err(problems) => return Answer::ready(problems),
        };
        let own = panic::catch("validators", || check(source.schema(), &request.config));
        joined(own, panic::guard("validate", || source.validate(request.config), |problems| problems))
    }
}

fn joined<'a>(
    own: Result<ProviderDiagnostics, ProviderDiagnostics>,
    further: Answer<'a, ProviderDiagnostics>,
) -> Answer<'a, ProviderDiagnostics> {
    let mut all = own.unwrap_or_else(|problems| problems);
    further.map(move |further| {
        // The author's own checks run even if validators failed, so that a user sees all problems at once.
        all.extend(further);
        all
    })
}

/// Checks the rules of the schema only: attributes that the provider sets, and the validators.
fn check(schema: &ResourceSchema, config: &Value) -> ProviderDiagnostics {
    let mut found = ProviderDiagnostics::new();
    let triple = ObjectStates { config, plan: config, state: config };
    rewrite(schema.block(), schema.rules(), triple, &mut |visit| {
        let value = visit.plan.clone();
        // Validators and deprecations concern configured values only.
        if is_absent(&value, &visit.slot.item) {
            return Next::Past(value);
        }
        if let Item::Attribute(attribute) = &visit.slot.item
            && attribute.usage() == Use::Computed
        {
            let detail = format!(
                "The value of \"{}\" is chosen by the provider, so it cannot be set. Remove it from the configuration.",
                visit.slot.name
            );
            found.push(
                ProviderDiagnostic::error("Invalid Configuration for Read-Only Attribute", detail)
                    .at(visit.path.clone()),
            );
            return Next::Past(value);
        }
        found.extend(deprecation(visit.slot, visit.path));
        if value.is_known() {
            let request = ValidatorRequest { path: visit.path, value: &value, config };
            visit.rules.own.validators.iter().for_each(|validator| found.extend(validator.validate(&request)));
        }
        Next::Into(value)
    });
    found
}

/// Creates the warning about a deprecated argument or block.
fn deprecation(slot: &Slot, path: &Path) -> Option<ProviderDiagnostic> {
    let (summary, deprecation) = match &slot.item {
        Item::Attribute(attribute) => ("Attribute Deprecated", attribute.deprecation()?),
        Item::Block(nested) => ("Block Deprecated", nested.block().deprecation()?),
    };
    Some(ProviderDiagnostic::warning(summary, deprecation.message.clone()).at(path.clone()))
}

/// Whether the configuration has no value here. Blocks that are absent are an empty collection, not null.
fn is_absent(value: &Value, item: &Item) -> bool {
    value.is_null() || (matches!(item, Item::Block(_)) && value == item.empty_value())
}
