//! `import` blocks: existing objects are imported (PL-26), with generated configuration where the block is missing.

use std::sync::Arc;

use groma_address::{InstanceKey, ModuleInstance, Name, ProviderConfig, ResourceInstance};
use groma_config::{Import, ImportIdentity};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::{Expression, ExpressionKind, Step, with_stack};
use groma_lang::{instance_key, instance_key_of, observing};
use groma_plan::Mode;
use groma_provider::{IdentitySchema, ImportTarget, PlanPurpose, Schema};
use groma_value::{Type, Value, convert};
use thiserror::Error;

use super::event::ManagedSubject;
use super::ignore::Ignore;
use super::imports::{Conflict, is_missing, provider};
use super::inputs::Inputs;
use super::managed::run_plan_call;
use super::plan_call::{Disposal, Generating, Lifecycle, PlanCall, Prevention, Purpose};
use super::planner::Planner;
use crate::call_target::CallTarget;
use crate::call_target::no_meta;
use crate::evaluation::Evaluation;
use crate::import_identity::{read_identity, unusable};
use crate::options::{Deferral, MissingResources};
use crate::provider_instances::Choice;
use crate::providers::Providers;
use crate::repetition::{Elements, import_elements, secret_key};
use crate::templates::TemplateKey;
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, Repetition, World};

/// Evaluates an import block: its target instances, and the identification of each object.
pub(super) fn import(planner: &mut Planner<'_>, module: ModuleId, at: u32) -> Outcome {
    let config = Arc::clone(&planner.world.static_module(module).config);
    let Some(import) = config.imports.get(at as usize) else { return Outcome::Failed };
    let functions = Arc::clone(&planner.evaluation.functions);
    let scope = InstanceScope::new(&planner.world, module, &functions);
    let elements = match &import.for_each {
        Some(for_each) => import_elements(for_each, &scope, &mut planner.evaluation.diagnostics),
        None => Some(Elements::Known(vec![Repetition::None])),
    };
    let elements = match elements {
        Some(Elements::Known(elements)) => elements,
        // Which instances are meant is unknown, so every instance of the resource waits.
        Some(Elements::Unknown(_)) if planner.inputs.deferral() == Deferral::Allowed => {
            planner.imports.defer_resource(import.to.clone());
            return Outcome::Done;
        }
        Some(Elements::Unknown(problem)) => {
            planner.evaluation.diagnostics.push(*problem);
            return Outcome::Failed;
        }
        None => return Outcome::Failed,
    };
    let mut outcome = Outcome::Done;
    // All elements are evaluated even after an error, so that every problem is reported.
    for repetition in elements {
        if import_one(planner, module, (at, import), &repetition).is_none() {
            outcome = Outcome::Failed;
        }
    }
    outcome
}

fn import_one(
    planner: &mut Planner<'_>,
    module: ModuleId,
    (at, import): (u32, &Import),
    repetition: &Repetition,
) -> Option<()> {
    let address = import_address(&planner.world, &mut planner.evaluation, module, &import.to_expression, repetition)?;
    let (ImportIdentity::Id(expression) | ImportIdentity::Identity(expression)) = &import.identity;
    // The instance is known but the object is not: only this instance waits.
    if is_deferred(&planner.inputs, &planner.world, &planner.evaluation, module, expression, repetition) {
        planner.imports.defer_instance(address);
        return Some(());
    }
    let target = match &import.identity {
        ImportIdentity::Id(id) => {
            ImportTarget::Id(import_id(&planner.world, &mut planner.evaluation, module, id, repetition)?)
        }
        ImportIdentity::Identity(identity) => {
            ImportTarget::Identity(import_identity(planner, module, import, identity, repetition)?)
        }
    };
    let span = import.to_expression.span;
    // Two blocks for one instance are harmless if they mean the same object.
    if let Err(Conflict) = planner.imports.add(address.clone(), target, at, span) {
        let detail = format!(
            "{address} is imported twice, as two different objects. An instance can hold only one object, so remove one of the two blocks."
        );
        let summary = format!("Duplicate import configuration for \"{address}\"");
        planner.evaluation.diagnostics.push(Diagnostic::error(summary, detail).at(span));
        return None;
    }
    Some(())
}

/// Whether the identification is unknown, so that the import is deferred to a later run.
fn is_deferred(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &Evaluation,
    module: ModuleId,
    expression: &Expression,
    repetition: &Repetition,
) -> bool {
    let scope = InstanceScope::new(world, module, &evaluation.functions).repeated(repetition);
    // Problems are reported where the value is used.
    let mut problems = Diagnostics::new();
    inputs.deferral() == Deferral::Allowed
        && !groma_lang::evaluate(expression, &scope, &mut problems).is_wholly_known()
        && !problems.has_errors()
}

fn import_id(
    world: &World,
    evaluation: &mut Evaluation,
    module: ModuleId,
    expression: &Expression,
    repetition: &Repetition,
) -> Option<String> {
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, module, &functions).repeated(repetition);
    let value = evaluation.value(expression, &scope)?;
    let problem = match read_id(&value) {
        Ok(id) => return Some(id),
        Err(problem) => problem,
    };
    let problem = Diagnostic::error("Invalid import id argument", problem.to_string()).at(expression.span);
    let problem = observing(problem, expression, &scope);
    evaluation.diagnostics.push(problem);
    None
}

fn import_identity(
    planner: &mut Planner<'_>,
    module: ModuleId,
    import: &Import,
    expression: &Expression,
    repetition: &Repetition,
) -> Option<Value> {
    let functions = Arc::clone(&planner.evaluation.functions);
    let scope = InstanceScope::new(&planner.world, module, &functions).repeated(repetition);
    let value = planner.evaluation.value(expression, &scope)?;
    let found = planner
        .inputs
        .graph()
        .find_resource(&import.to)
        .map(|(index, node)| (index, planner.inputs.graph().module(index).kind(node)));
    // The identity is checked against the schema of the resource type; a resource without a block has no binding.
    let template = match found {
        Some((index, crate::config_graph::NodeKind::Resource(at))) => {
            planner.inputs.templates().resource(index, at).cloned()
        }
        _ => None,
    };
    let schema = match &template {
        Some(template) => Some(Arc::clone(&template.schema)),
        None => missing_schema(&planner.inputs, planner.providers, &mut planner.evaluation, import),
    };
    let Some(schema) = schema else {
        // The missing block is the problem. It is reported for all such imports at the end of the walk.
        return (planner.inputs.options().missing == MissingResources::Refused).then_some(value);
    };
    let found = match schema.identity.as_ref() {
        Some(schema) => known_identity(&value, schema),
        None => Err(unusable(format!("{} cannot be imported by identity. Use the argument \"id\".", import.to))),
    };
    let problem = match found {
        Ok(identity) => return Some(identity),
        Err(problem) => problem.at(expression.span),
    };
    let scope = InstanceScope::new(&planner.world, module, &functions).repeated(repetition);
    planner.evaluation.diagnostics.push(observing(problem, expression, &scope));
    None
}

/// Evaluates the instance keys in the `to` argument, and returns the address.
fn import_address(
    world: &World,
    evaluation: &mut Evaluation,
    module: ModuleId,
    expression: &Expression,
    repetition: &Repetition,
) -> Option<ResourceInstance> {
    let mut parts = Vec::new();
    address_parts(world, evaluation, module, expression, repetition, &mut parts)?;
    assemble(&parts).or_else(|| no_import_address(evaluation, expression))
}

fn no_import_address<T>(evaluation: &mut Evaluation, expression: &Expression) -> Option<T> {
    let detail = "This is not a resource instance address. Use the form TYPE.NAME, with module steps and an \
     instance key if necessary.";
    evaluation.diagnostics.push(Diagnostic::error("Invalid import 'to' expression", detail).at(expression.span));
    None
}

fn address_parts(
    world: &World,
    evaluation: &mut Evaluation,
    module: ModuleId,
    expression: &Expression,
    repetition: &Repetition,
    parts: &mut Vec<Part>,
) -> Option<()> {
    match &expression.without_parentheses().kind {
        ExpressionKind::Traversal(traversal) => {
            parts.push(Part::Name(traversal.root.name.clone()));
            push_steps(traversal.steps(), parts).or_else(|| no_import_address(evaluation, expression))
        }
        ExpressionKind::Index(index) => {
            // The depth of an expression is bounded by the input only, so the stack is guarded.
            with_stack(|| address_parts(world, evaluation, module, &index.source, repetition, parts))?;
            let key = import_key(world, evaluation, module, &index.key, repetition)?;
            parts.push(Part::Key(key));
            Some(())
        }
        ExpressionKind::Relative(relative) => {
            address_parts(world, evaluation, module, &relative.source, repetition, parts)?;
            push_steps(&relative.steps, parts).or_else(|| no_import_address(evaluation, expression))
        }
        _ => no_import_address(evaluation, expression),
    }
}

fn import_key(
    world: &World,
    evaluation: &mut Evaluation,
    module: ModuleId,
    key: &Expression,
    repetition: &Repetition,
) -> Option<InstanceKey> {
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, module, &functions).repeated(repetition);
    let value = evaluation.value(key, &scope)?;
    let problem = match instance_key_of(&value) {
        // Addresses are shown everywhere, so a sensitive value must not become part of one.
        _ if value.marks().is_sensitive() => secret_key(),
        Some(found) => return Some(found),
        None => {
            let detail = "An instance key must be a whole number or a string, and known when planning.";
            Diagnostic::error("Invalid import 'to' expression", detail)
        }
    };
    evaluation.diagnostics.push(observing(problem.at(key.span), key, &scope));
    None
}

/// Reports imports to instances that the configuration does not declare. An instance with an object is not reported: it was imported
/// by an earlier run and is an orphan now.
pub(super) fn report_unmet_imports(planner: &mut Planner<'_>) {
    let unmet = planner.imports.unmet(&planner.state, planner.inputs.targets());
    let problems: Vec<Diagnostic> = unmet.into_iter().map(|(address, span)| not_configured(address, span)).collect();
    problems.into_iter().for_each(|problem| planner.evaluation.diagnostics.push(problem));
}

/// Returns the error for an import target that has no instance in the configuration.
fn not_configured(address: &ResourceInstance, span: Span) -> Diagnostic {
    let detail = format!(
        "The configuration does not declare {address}, so no object can be imported to it. First add a resource \
         block whose count or for_each includes this instance."
    );
    Diagnostic::error("Configuration for import target does not exist", detail).at(span)
}

/// A name or an evaluated instance key of an address.
enum Part {
    Name(Name),
    Key(InstanceKey),
}

fn push_steps(steps: &[Step], parts: &mut Vec<Part>) -> Option<()> {
    for step in steps {
        parts.push(match step {
            Step::Attribute { name, .. } => Part::Name(name.clone()),
            Step::Index { key, .. } => Part::Key(instance_key(key)?),
        });
    }
    Some(())
}

fn assemble(parts: &[Part]) -> Option<ResourceInstance> {
    let mut rest = parts;
    let mut module = ModuleInstance::root();
    while let [Part::Name(word), Part::Name(name), more @ ..] = rest {
        // Module steps come in pairs, each with an optional key, before the resource.
        if &**word != "module" {
            break;
        }
        let (key, more) = match more {
            [Part::Key(key), more @ ..] => (key.clone(), more),
            more => (InstanceKey::None, more),
        };
        module = module.child(name.clone(), key);
        rest = more;
    }
    if let [Part::Name(word), more @ ..] = rest
        // The keyword `resource` may be written before any managed resource type.
        && &**word == "resource"
    {
        rest = more;
    }
    let (type_name, name, key) = match rest {
        [Part::Name(type_name), Part::Name(name)] => (type_name, name, InstanceKey::None),
        [Part::Name(type_name), Part::Name(name), Part::Key(key)] => (type_name, name, key.clone()),
        _ => return None,
    };
    let resource = groma_address::Resource::managed(type_name.clone(), name.clone());
    Some(resource.absolute(module).instance(key))
}

/// The reason why a value is not the ID of an object to import.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum ImportIdError {
    #[error("The import ID cannot be null. Use the ID of an existing object.")]
    Null,
    #[error("The import ID must be a string: {0}.")]
    Type(String),
    #[error(
        "The import ID depends on values that are known only after apply, so the object cannot be determined. Use \
         values that are known during planning."
    )]
    Unknown,
    #[error("The import ID is an empty string. Use the ID of an existing object.")]
    Empty,
}

/// Reads the import ID, even from a sensitive or ephemeral value: as in Terraform, the plan shows and stores it.
fn read_id(value: &Value) -> Result<String, ImportIdError> {
    let (value, _) = value.unmark_deep();
    if value.is_null() {
        return Err(ImportIdError::Null);
    }
    let text = convert::convert(&value, &Type::String).map_err(|problem| ImportIdError::Type(problem.message))?;
    if !text.is_known() {
        return Err(ImportIdError::Unknown);
    }
    match text.as_str() {
        Some("") | None => Err(ImportIdError::Empty),
        Some(text) => Ok(text.to_owned()),
    }
}

/// Reads the import identity.
///
/// # Errors
///
/// The value is ephemeral, does not match the schema, or is not wholly known.
fn known_identity(value: &Value, schema: &IdentitySchema) -> Result<Value, Diagnostic> {
    if value.deep_marks().is_ephemeral() {
        return Err(unusable("The import identity must not be ephemeral, because the plan stores it."));
    }
    let identity = read_identity(&value.unmark_deep().0, schema)?;
    if identity.is_wholly_known() {
        return Ok(identity);
    }
    Err(unusable(
        "The identity depends on values that are known only after apply, so the object cannot be determined. Use \
         values that are known during planning.",
    ))
}

/// Returns the schema of a resource without a block; `None` if no configuration is generated, or after an error.
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

/// Starts the imports to resources without a block, for which configuration is generated (`-generate-config-out`).
pub(super) async fn generate_missing(planner: &mut Planner<'_>) {
    // Generated blocks are written only by a plan that may import, and not by destroy or refresh-only plans.
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

/// Returns the provider configuration of an import to a resource without a block; `None` after a reported error.
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
        // Settled, so that the missing configuration is reported once and not again at the end of the walk.
        planner.imports.settle(&address);
        let detail = "Configuration can be generated only for an import of a single resource without count and \
         for_each. Write the resource block yourself, or use one import block per object.";
        let problem = Diagnostic::error("Configuration for import target does not exist", detail);
        planner.evaluation.diagnostics.push(problem.at(import.to_expression.span));
        return;
    }
    // Nothing is imported if the instance already has an object.
    let Some(importing) = planner.imports.take(&address, &planner.state) else { return };
    let (Some(config), Some(schema)) = (
        import_provider(planner, import),
        missing_schema(&planner.inputs, planner.providers, &mut planner.evaluation, import),
    ) else {
        return;
    };
    let Some(provider) = planner.providers.configured(&config) else { return };
    planner.imports.note_generated(address.clone());
    let provider_argument = import.provider.as_ref().map(|reference| format!("{}{}", reference.provider, config.key));
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
    let call = PlanCall {
        config: schema.block.null_value(),
        target: CallTarget {
            address,
            deposed: None,
            provider,
            meta: no_meta(),
            schema,
            body: None,
            span: import.to_expression.span,
        },
        lifecycle: Lifecycle {
            ignore: Ignore::Nothing,
            create_before_destroy: false,
            prevention: Prevention::None,
            disposal: Disposal::Destroyed,
        },
        purpose: Purpose::Change,
        record: None,
        refresh: planner.inputs.options().refresh,
        forced: None,
        generating: Some(Generating { provider: provider_argument }),
        importing: Some(importing),
        deferral: planner.inputs.deferral(),
        left: None,
        creates: PlanPurpose::Change,
        hooks: Arc::clone(&planner.inputs.session().hooks),
    };
    planner.start_call(run_plan_call(subject, call)).await;
}
