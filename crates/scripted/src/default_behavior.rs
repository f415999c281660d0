//! The default behavior of the scripted provider, which obeys the contract.

use std::sync::Arc;

use groma_provider::{
    ApplyRequest, ApplyResponse, Attribute, Block, ImportRequest, ImportResponse, ImportTarget, ImportedResource, Item,
    PlanRequest, PlanResponse, ProviderDiagnostic, ProviderDiagnostics, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, UpgradeRequest, UpgradeResponse, Use,
};
use groma_value::{Path, Type, Value};

use crate::script::ResourceScript;
use crate::world::World;

/// Rejects configured values for computed attributes.
pub(crate) fn validate(block: &Block, config: &Value) -> ProviderDiagnostics {
    let Some(object) = config.as_object() else { return ProviderDiagnostics::new() };
    let set = block.attributes().filter(|(name, attribute)| {
        attribute.usage() == Use::Computed && object.get(name).is_some_and(|value| !value.is_null())
    });
    set.map(|(name, _)| {
        ProviderDiagnostic::error("Read-only attribute", format!("The value of {name} is chosen by the provider."))
            .at(Path::root().attribute(name.clone()))
    })
    .collect()
}

/// Decodes the stored object without changes.
pub(crate) fn upgrade(script: &ResourceScript, request: &UpgradeRequest) -> UpgradeResponse {
    match request.raw_state.decode(script.schema.block.implied_type()) {
        Ok(upgraded_state) => UpgradeResponse { upgraded_state, diagnostics: ProviderDiagnostics::new() },
        Err(problem) => UpgradeResponse {
            upgraded_state: Value::NULL,
            diagnostics: ProviderDiagnostic::error("Unreadable stored object", problem.to_string()).into(),
        },
    }
}

/// Looks the object up in the world.
pub(crate) fn read(script: &ResourceScript, world: &World, request: &ReadRequest) -> ReadResponse {
    let new_state = match id_of(&request.current_state) {
        Some(id) => world.get(&request.type_name, &id).unwrap_or_else(|| script.schema.block.null_value()),
        // An object without an ID cannot be looked up.
        None => request.current_state.clone(),
    };
    ReadResponse { new_state, ..ReadResponse::unchanged(request.clone()) }
}

/// Plans the proposed object; on create, computed attributes are unknown.
pub(crate) fn plan(script: &ResourceScript, request: &PlanRequest) -> PlanResponse {
    let block = &script.schema.block;
    let creates = request.prior_state.is_null() && !request.proposed_new_state.is_null();
    let planned = each_attribute(block, &request.proposed_new_state, |_, attribute, value| {
        if attribute.is_write_only() {
            attribute.empty_value().clone()
        } else if creates && attribute.is_computed() && value.is_null() {
            Value::unknown(attribute.ty())
        } else {
            value.clone()
        }
    });
    let changed = |name: &String| {
        let attribute = |value: &Value| value.as_object().and_then(|object| object.get(name).cloned());
        !request.prior_state.is_null() && !planned.is_null() && attribute(&request.prior_state) != attribute(&planned)
    };
    let replace: Vec<Path> = script
        .replace_on
        .iter()
        .filter(|name| changed(name))
        .map(|name| Path::root().attribute(name.as_str()))
        .collect();
    let response = PlanResponse::new(planned, request.prior_private.clone());
    PlanResponse {
        requires_replace: replace,
        legacy_type_system: script.legacy,
        planned_identity: request.prior_identity.clone(),
        ..response
    }
}

/// Applies the plan with generated values for unknown ones.
pub(crate) fn apply(script: &ResourceScript, world: &World, request: &ApplyRequest) -> ApplyResponse {
    let type_name = &*request.type_name;
    if request.planned_state.is_null() {
        if let Some(id) = id_of(&request.prior_state) {
            world.remove(type_name, &id);
        }
        return ApplyResponse::new(request.planned_state.clone(), Arc::default());
    }
    let id = id_of(&request.planned_state)
        // An update keeps the ID even if the plan made it unknown.
        .or_else(|| id_of(&request.prior_state))
        .unwrap_or_else(|| world.new_id(type_name));
    let object = each_attribute(&script.schema.block, &request.planned_state, |name, attribute, value| {
        match value.is_wholly_known() {
            true => value.clone(),
            false if name == "id" => Value::string(&id),
            false => generated_value(name, attribute, value),
        }
    });
    world.put(type_name, &id, object.clone());
    let response = ApplyResponse::new(object, request.planned_private.clone());
    ApplyResponse { legacy_type_system: script.legacy, new_identity: request.planned_identity.clone(), ..response }
}

/// Returns a stub with only the ID; the subsequent read shows whether the object exists.
pub(crate) fn import(script: &ResourceScript, request: &ImportRequest) -> ImportResponse {
    let id = match &request.target {
        ImportTarget::Id(id) => Value::string(id),
        ImportTarget::Identity(identity) => identity.attribute("id").unwrap_or(Value::NULL),
    };
    let empty = script.schema.block.empty_value();
    let state = each_attribute(
        &script.schema.block,
        empty,
        |name, _, value| {
            if name == "id" { id.clone() } else { value.clone() }
        },
    );
    let identity = match &request.target {
        ImportTarget::Identity(identity) => Some(identity.clone()),
        ImportTarget::Id(_) => None,
    };
    let imported = ImportedResource { type_name: request.type_name.clone(), state, private: Arc::default(), identity };
    ImportResponse { imported: vec![imported], ..ImportResponse::default() }
}

/// Completes the configuration with generated results.
pub(crate) fn read_data(block: &Block, request: &ReadDataRequest) -> ReadDataResponse {
    ReadDataResponse {
        state: with_results(block, &request.config),
        deferred: None,
        diagnostics: ProviderDiagnostics::new(),
    }
}

/// Completes the configuration with generated values for computed attributes.
pub(crate) fn with_results(block: &Block, config: &Value) -> Value {
    each_attribute(block, config, |name, attribute, value| {
        let open = attribute.is_computed() && value.is_null();
        if open { generated_value(name, attribute, value) } else { value.clone() }
    })
}

fn generated_value(name: &str, attribute: &Attribute, value: &Value) -> Value {
    match attribute.ty() {
        Type::String => Value::string(format!("computed-{name}")),
        Type::Number => Value::number(1),
        Type::Bool => Value::bool(true),
        Type::Dynamic => Value::string(format!("computed-{name}")),
        // An unknown within a configured value is a caller's mistake, which a null makes visible.
        _ if value.is_known() => value.unknown_as_null(),
        ty => Value::null(ty),
    }
}

/// Returns the ID of an object, if it has one.
pub(crate) fn id_of(value: &Value) -> Option<String> {
    value.as_object().and_then(|object| object.get("id")?.as_str().map(str::to_owned))
}

/// Changes every attribute of `object`, including those of nested blocks, with `change`.
fn each_attribute(block: &Block, object: &Value, mut change: impl FnMut(&str, &Attribute, &Value) -> Value) -> Value {
    let Some(view) = object.as_object() else { return object.clone() };
    let values = block.slots().iter().zip(view.values()).map(|(slot, value)| match &slot.item {
        Item::Attribute(attribute) => change(&slot.name, attribute, value),
        Item::Block(nested) => nested_blocks(nested.block(), value, &mut change),
    });
    let values = values.collect();
    block.object(values)
}

/// Changes every attribute of the blocks of one type.
fn nested_blocks(block: &Block, value: &Value, change: &mut impl FnMut(&str, &Attribute, &Value) -> Value) -> Value {
    let mut element = |value: &Value| each_attribute_dyn(block, value, change);
    if value.has_type(block.implied_type()) && !value.is_null() && value.is_known() {
        return element(value);
    }
    let elements: Vec<Value> = match (value.as_slice(), value.as_map()) {
        (Some(elements), _) => elements.iter().map(&mut element).collect(),
        (None, Some(map)) => map.values().iter().map(&mut element).collect(),
        (None, None) => return value.clone(),
    };
    groma_provider::collection_like(value, block, elements)
}

fn each_attribute_dyn(
    block: &Block,
    object: &Value,
    change: &mut impl FnMut(&str, &Attribute, &Value) -> Value,
) -> Value {
    let change: &mut dyn FnMut(&str, &Attribute, &Value) -> Value = change;
    each_attribute(block, object, change)
}
