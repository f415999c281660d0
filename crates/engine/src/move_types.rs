//! Moves to another resource type: the provider of the new type converts the object with its `MoveResourceState` call (LC-25, PL-23).

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_provider::{MoveInput, MoveRequest, Subject};
use groma_state::State;

use crate::config_graph::NodeKind;
use crate::moves::Moves;
use crate::prepared::Prepared;
use crate::providers::Providers;
use crate::record::{self, Circumstances, Object};
use crate::templates::Template;

/// Converts every object whose move changed its resource type. An object that its provider cannot convert is an error.
pub(crate) async fn convert(
    prepared: &Prepared,
    providers: &mut Providers,
    moves: &mut Moves,
    state: &mut State,
) -> Diagnostics {
    let changes_type =
        |(to, from): &(&ResourceInstance, &ResourceInstance)| to.resource.type_name != from.resource.type_name;
    let found = moves.previous.iter().filter(changes_type);
    let mut found: Vec<(ResourceInstance, ResourceInstance)> =
        found.map(|(to, from)| (to.clone(), from.clone())).collect();
    found.sort();
    let mut diagnostics = Diagnostics::new();
    for (to, from) in found {
        match template_of(prepared, &to) {
            Some(template) => diagnostics.append(convert_one(providers, state, &to, &from, &template).await),
            // Without a block there is no provider to convert it, so the move is undone and the object is planned as an orphan.
            None => {
                state.rename(&to, &from);
                moves.previous.remove(&to);
            }
        }
    }
    diagnostics
}

fn template_of(prepared: &Prepared, address: &ResourceInstance) -> Option<Arc<Template>> {
    let (module, node) = prepared.graph.find_resource(&address.config_resource())?;
    match prepared.graph.module(module).kind(node) {
        NodeKind::Resource(at) => prepared.templates.resource(module, at).cloned(),
        _ => None,
    }
}

async fn convert_one(
    providers: &mut Providers,
    state: &mut State,
    to: &ResourceInstance,
    from: &ResourceInstance,
    template: &Template,
) -> Diagnostics {
    let (Some(stored), Some(owner)) = (state.object(to, None).cloned(), state.provider(to, None).cloned()) else {
        return Diagnostics::new();
    };
    let provider = match providers.started(&template.provider.provider) {
        Ok(provider) => provider,
        Err(problem) => return problem.into(),
    };
    let identity = stored.identity.as_ref().and_then(|identity| identity.json.as_ref());
    let request = MoveRequest {
        source_provider_address: owner.provider.to_string(),
        source_type_name: from.resource.type_name.clone(),
        source_schema_version: stored.schema_version,
        source_state: record::raw_state(&stored),
        source_private: Arc::clone(&stored.private),
        source_identity: identity.map(|json| json.as_str().into()),
        target_type_name: to.resource.type_name.clone(),
    };
    let span = groma_diagnostics::Span::NONE;
    let subject = Subject { address: to, schema: &template.schema, body: Some(&template.body), span };
    let (moved, mut diagnostics) = provider.move_state(&subject, MoveInput { request }).await;
    let Some(moved) = moved else { return diagnostics };
    let object = Object { value: moved.state, private: moved.private, identity: moved.identity };
    let circumstances = Circumstances {
        status: stored.status,
        dependencies: stored.dependencies.clone(),
        create_before_destroy: stored.create_before_destroy,
        is_kept: stored.is_kept(),
    };
    match record::encode(&template.schema, &object, circumstances) {
        Ok(converted) => {
            state.remove(to, None);
            // Planning determines the instance of its provider block.
            let manager = if owner.is_of_block(&template.provider) { &owner } else { &template.provider };
            state.insert(to, None, manager, Arc::new(converted));
        }
        Err(problem) => diagnostics.push(record::unrecordable(to, &problem)),
    }
    diagnostics
}
