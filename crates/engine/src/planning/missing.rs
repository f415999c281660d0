//! Imports into resources that have no block yet: one is written from the object that is found.

use std::sync::Arc;

use groma_address::{InstanceKey, ProviderConfig, ResourceInstance};
use groma_config::Import;
use groma_diagnostics::Diagnostic;
use groma_plan::Mode;
use groma_provider::{PlanPurpose, Schema};

use super::conversation::{Conversation, Generating, Parting, Prevention, Purpose};
use super::event::ManagedSubject;
use super::ignore::Ignore;
use super::imports::{is_missing, provider};
use super::inputs::Inputs;
use super::managed::hold;
use super::planner::Planner;
use crate::client::no_meta;
use crate::evaluation::Evaluation;
use crate::options::MissingResources;
use crate::provider_instances::Choice;
use crate::providers::Providers;
use crate::templates::TemplateKey;
use crate::walk::Outcome;
use crate::world::{ModuleId, Repetition};

/// The schema of a resource that has no block, where one is to be written.
pub(super) fn missing_schema(
    inputs: &Inputs<'_>,
    providers: &mut Providers,
    evaluation: &mut Evaluation,
    import: &Import,
) -> Option<Arc<Schema>> {
    if inputs.options().missing == MissingResources::Refused {
        return None;
    }
    let provider = provider(inputs.session(), import)?;
    match providers.schema(&provider.provider, &import.to.resource, import.to_expression.span) {
        Ok(schema) => Some(schema),
        Err(problems) => {
            evaluation.diagnostics.append(problems);
            None
        }
    }
}

/// Starts on the imports that the walk did not come by.
pub(super) async fn generate_missing(planner: &mut Planner<'_>) {
    if planner.inputs.options().missing == MissingResources::Refused || planner.inputs.mode() != Mode::Normal {
        return;
    }
    let root = Arc::clone(&planner.inputs.session().configuration);
    for (block, address) in planner.imports.unmet_blocks() {
        let Some(import) = root.root.imports.get(block as usize).filter(|import| is_missing(&root.root, import)) else {
            continue;
        };
        generate(planner, import, address).await;
    }
}

/// The provider of an import that has no block; none after an error, which is noted.
fn import_provider(planner: &mut Planner<'_>, import: &Import) -> Option<ProviderConfig> {
    let block = provider(planner.inputs.session(), import)?;
    let Some(key) = import.provider.as_ref().and_then(|reference| reference.key.as_ref()) else {
        return Some(block);
    };
    let repetition = Repetition::None;
    let (block, key) = (Arc::new(block), TemplateKey::Own(key.clone()));
    let choice =
        Choice { block: &block, key: Some(&key), module: ModuleId::ROOT, repetition: &repetition, address: &import.to };
    choice.manager(&planner.world, &mut planner.evaluation, planner.providers).map(Arc::unwrap_or_clone)
}

async fn generate(planner: &mut Planner<'_>, import: &Import, address: ResourceInstance) {
    if import.for_each.is_some() || address.key != InstanceKey::None {
        planner.imports.settle(&address);
        let detail = "A block can only be written for an import of one resource without count and for_each. Write the block of \
                      this one, or an import block for each object.";
        let problem = Diagnostic::error("Configuration for import target does not exist", detail);
        planner.evaluation.diagnostics.push(problem.at(import.to_expression.span));
        return;
    }
    let Some(importing) = planner.imports.take(&address, &planner.state) else { return };
    let (Some(config), Some(schema)) = (
        import_provider(planner, import),
        missing_schema(&planner.inputs, planner.providers, &mut planner.evaluation, import),
    ) else {
        return;
    };
    let Some(provider) = planner.providers.configured(&config) else { return };
    planner.imports.note_generated(address.clone());
    let written = import.provider.as_ref().map(|reference| format!("{}{}", reference.provider, config.key));
    let subject = ManagedSubject {
        instance: None,
        address: address.clone(),
        deposed: None,
        provider: Arc::new(config),
        schema: Arc::clone(&schema),
        create_before_destroy: false,
        is_kept: false,
        undecided: false,
        outcome: Outcome::Done,
        importing: Some(importing.clone()),
    };
    let talk = Conversation {
        address,
        deposed: None,
        provider,
        config: schema.block.null_value(),
        meta: no_meta(),
        schema,
        body: None,
        span: import.to_expression.span,
        purpose: Purpose::Change,
        record: None,
        refresh: planner.inputs.options().refresh,
        ignore: Ignore::Nothing,
        forced: None,
        create_before_destroy: false,
        prevention: Prevention::None,
        parting: Parting::Destroyed,
        generating: Some(Generating { provider: written }),
        importing: Some(importing),
        deferral: planner.inputs.deferral(),
        left: None,
        creates: PlanPurpose::Change,
        hooks: Arc::clone(&planner.inputs.session().hooks),
    };
    planner.talk(hold(subject, talk)).await;
}
