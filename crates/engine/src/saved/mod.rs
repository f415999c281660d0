//! A plan as bytes, and back (PL-65).
//!
//! The format is our own: only the version that wrote it may apply it. The state, the configuration and the lock file
//! that belong to it lie beside it in the plan file, each in its usual form.

mod changes;
mod form;
mod tables;
mod value;

use groma_address::ModuleInstance;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_provider::ImportTarget;
use groma_state::{DeposedKey, State};

use crate::invocation::{ActionEvent, ActionInstance, Cause, Invocation};
use crate::plan::{
    Action, ActionReason, Importing, Mode, OutputChange, Plan, PlannedVariable, RelevantAttribute, ResourceChange,
};
use crate::providers::Providers;
use changes::Changes;
use form::{Change, Form, Import, Invoked, Output, Relevant, Variable};
use tables::{Known, Numbered};
use value::{Bytes, StoredPath, StoredValue};

/// Grows with every change of the form.
const VERSION: u32 = 4;

/// A bug of ours: a value that does not fit its type.
type Unwritable = Box<dyn std::error::Error>;

/// The bytes of a plan, without its state.
///
/// # Errors
///
/// A value cannot be written: a bug of ours, since values of a plan conform to their schemas.
pub fn encode(plan: &Plan) -> Result<Vec<u8>, Diagnostic> {
    let unwritable = |problem: String| {
        let detail =
            format!("A value of the plan cannot be written: {problem}. This is a bug in Groma; please report it.");
        Diagnostic::error("Failed to write plan file", detail)
    };
    let form = to_form(plan).map_err(|problem| unwritable(problem.to_string()))?;
    let version = postcard::to_allocvec(&VERSION).map_err(|problem| unwritable(problem.to_string()))?;
    postcard::to_extend(&form, version).map_err(|problem| unwritable(problem.to_string()))
}

/// The plan of `bytes`, with the state that lies beside it. Schemas come from the providers.
///
/// # Errors
///
/// The bytes are no plan, or one of another version, or a provider no longer has a type of it.
pub fn decode(bytes: &[u8], prior_state: State, providers: &mut Providers) -> Result<Plan, Diagnostics> {
    let (version, bytes) = postcard::take_from_bytes::<u32>(bytes).map_err(|_| not_a_plan("it cannot be read"))?;
    if version != VERSION {
        let detail = format!(
            "The plan file was written by another version of Groma (format {}, this one knows format {VERSION}). Make a new plan.",
            version
        );
        return Err(Diagnostic::error("Failed to read plan file", detail).into());
    }
    let form: Form<'_> = postcard::from_bytes(bytes).map_err(|_| not_a_plan("it is damaged"))?;
    from_form(form, prior_state, providers)
}

fn not_a_plan(why: &str) -> Diagnostics {
    let detail = format!("The plan in the file cannot be used: {why}. Make a new plan.");
    Diagnostic::error("Failed to read plan file", detail).into()
}

fn to_form(plan: &Plan) -> Result<Form<'_>, Unwritable> {
    let mut numbered = Numbered::default();
    let changes = Changes::of(&plan.changes, &mut numbered)?;
    let drift = Changes::of(&plan.drift, &mut numbered)?;
    let outputs = plan.outputs.iter().map(|output| {
        Ok::<_, groma_value::CodecError>(Output {
            name: output.name.to_string(),
            action: action_name(output.action).to_owned(),
            before: StoredValue::dynamic(&output.before)?,
            after: StoredValue::dynamic(&output.after)?,
            sensitive: output.sensitive,
        })
    });
    let variables = plan.variables.iter().map(|variable| {
        Ok::<_, groma_value::CodecError>(Variable {
            name: variable.name.to_string(),
            value: StoredValue::dynamic(&variable.value)?,
        })
    });
    let relevant = plan.relevant_attributes.iter().map(|relevant| {
        Ok::<_, groma_value::CodecError>(Relevant {
            resource: relevant.resource.to_string(),
            path: StoredPath::of(&relevant.path)?,
        })
    });
    let invocations = plan
        .invocations
        .iter()
        .map(|one| invocation_to_form(one, &mut numbered))
        .collect::<Result<_, groma_value::CodecError>>()?;
    Ok(Form {
        invocations,
        mode: mode_name(plan.mode).to_owned(),
        timestamp: plan.timestamp.clone(),
        errored: plan.errored,
        resources: numbered.resources.iter().map(ToString::to_string).collect(),
        providers: numbered.providers.iter().map(ToString::to_string).collect(),
        kinds: numbered.kinds,
        changes,
        drift,
        outputs: outputs.collect::<Result<_, groma_value::CodecError>>()?,
        variables: variables.collect::<Result<_, groma_value::CodecError>>()?,
        relevant: relevant.collect::<Result<_, groma_value::CodecError>>()?,
        targets: plan.targets.iter().map(ToString::to_string).collect(),
        replace: plan.replace.iter().map(ToString::to_string).collect(),
        checks: plan.checks.iter().map(form::Check::of).collect(),
        expansions: plan.expansions.clone(),
        execution: plan.execution.clone(),
    })
}

fn change_to_form<'a>(
    change: &'a ResourceChange,
    numbered: &mut Numbered<'a>,
) -> Result<Change<'a>, groma_value::CodecError> {
    let ty = change.schema.block.implied_type();
    let before = StoredValue::of(&change.before, ty)?;
    // Most changes of a big plan are none: their value is written once.
    let after = if change.action == Action::NoOp { None } else { Some(StoredValue::of(&change.after, ty)?) };
    let resource = numbered.resource(&change.address);
    Ok(Change {
        resource,
        key: tables::key_to_form(&change.address.key),
        previous: change.previous_address.as_ref().map(ToString::to_string),
        deposed: change.deposed.as_ref().map(ToString::to_string),
        kind: numbered.kind(&change.address, resource, &change.provider),
        action: action_name(change.action).into(),
        reason: change.reason.map(|reason| reason.name().into()),
        before,
        after,
        replace: change.replace_paths.iter().map(StoredPath::of).collect::<Result<_, groma_value::CodecError>>()?,
        private: Bytes(change.planned_private.as_ref().into()),
        create_before_destroy: change.create_before_destroy,
        importing: change.importing.as_deref().map(import_to_form).transpose()?,
    })
}

fn invocation_to_form<'a>(
    invocation: &'a Invocation,
    numbered: &mut Numbered<'a>,
) -> Result<Invoked<'a>, groma_value::CodecError> {
    let trigger = match &invocation.cause {
        Cause::Request => None,
        Cause::Trigger { resource, event, block, entry } => {
            Some((resource.to_string(), event.name().to_owned(), *block, *entry))
        }
    };
    Ok(Invoked {
        module: invocation.action.module.to_string(),
        type_name: invocation.action.type_name.to_string(),
        name: invocation.action.name.to_string(),
        key: tables::key_to_form(&invocation.action.key),
        provider: numbered.provider(&invocation.provider),
        config: StoredValue::of(&invocation.config, invocation.schema.block.implied_type())?,
        trigger,
    })
}

fn invocation_from_form(
    invoked: Invoked<'_>,
    known: &Known,
    providers: &mut Providers,
) -> Result<Invocation, Diagnostics> {
    let damaged = || not_a_plan("it is damaged");
    let provider = (**known.provider(invoked.provider).ok_or_else(damaged)?).clone();
    let schema = providers.action_schema(&provider.provider, &invoked.type_name, groma_diagnostics::Span::NONE)?;
    let cause = match invoked.trigger {
        None => Cause::Request,
        Some((resource, event, block, entry)) => Cause::Trigger {
            resource: resource.parse().map_err(|_| damaged())?,
            event: ActionEvent::from_name(&event).ok_or_else(damaged)?,
            block,
            entry,
        },
    };
    let module = match &*invoked.module {
        "" => ModuleInstance::root(),
        text => text.parse().map_err(|_| damaged())?,
    };
    let action = ActionInstance {
        module,
        type_name: invoked.type_name.into(),
        name: invoked.name.into(),
        key: tables::key_from_form(invoked.key),
    };
    let config = invoked.config.value(schema.block.implied_type()).ok_or_else(damaged)?;
    Ok(Invocation { action, cause, provider, schema, config })
}

fn import_to_form(importing: &Importing) -> Result<Import<'_>, groma_value::CodecError> {
    let (id, identity) = match &importing.target {
        ImportTarget::Id(id) => (Some(id.clone()), None),
        ImportTarget::Identity(identity) => (None, Some(StoredValue::dynamic(identity)?)),
    };
    Ok(Import { id, identity, generated: importing.generated.clone() })
}

fn import_from_form(import: Import<'_>) -> Option<Importing> {
    let target = match (import.id, import.identity) {
        (Some(id), None) => ImportTarget::Id(id),
        (None, Some(identity)) => ImportTarget::Identity(identity.dynamic_value()?),
        _ => return None,
    };
    Some(Importing { target, generated: import.generated })
}

fn from_form(form: Form<'_>, prior_state: State, providers: &mut Providers) -> Result<Plan, Diagnostics> {
    let damaged = || not_a_plan("it is damaged");
    let known = Known::read(&form, providers)?;
    let changes = form.changes.read(&known).ok_or_else(damaged)?;
    let drift = form.drift.read(&known).ok_or_else(damaged)?;
    let mut invocations = Vec::with_capacity(form.invocations.len());
    for invoked in form.invocations {
        invocations.push(invocation_from_form(invoked, &known, providers)?);
    }
    let outputs = form.outputs.into_iter().map(|output| {
        Some(OutputChange {
            name: output.name.into(),
            action: action_of(&output.action)?,
            before: output.before.dynamic_value()?,
            after: output.after.dynamic_value()?,
            sensitive: output.sensitive,
        })
    });
    let variables = form.variables.into_iter().map(|variable| {
        let value = variable.value.dynamic_value()?;
        Some(PlannedVariable { name: variable.name.into(), value })
    });
    let relevant = form.relevant.into_iter().map(|relevant| {
        Some(RelevantAttribute { resource: relevant.resource.parse().ok()?, path: relevant.path.path()? })
    });
    Ok(Plan {
        mode: mode_of(&form.mode).ok_or_else(damaged)?,
        changes,
        drift,
        invocations,
        generated: Vec::new(),
        outputs: outputs.collect::<Option<_>>().ok_or_else(damaged)?,
        prior_state,
        variables: variables.collect::<Option<_>>().ok_or_else(damaged)?,
        targets: form.targets.iter().map(|text| text.parse().ok()).collect::<Option<_>>().ok_or_else(damaged)?,
        replace: form.replace.iter().map(|text| text.parse().ok()).collect::<Option<_>>().ok_or_else(damaged)?,
        checks: form.checks.into_iter().map(form::Check::result).collect(),
        relevant_attributes: relevant.collect::<Option<_>>().ok_or_else(damaged)?,
        timestamp: form.timestamp,
        errored: form.errored,
        execution: form.execution,
        expansions: form.expansions,
    })
}

/// None where the form is damaged.
fn change_from_form(change: Change<'_>, known: &Known) -> Option<ResourceChange> {
    let address = known.instance(change.resource, change.key)?;
    let (provider, schema) = known.kind(change.kind)?.clone();
    let ty = schema.block.implied_type();
    let before = change.before.value(ty)?;
    let after = match change.after {
        Some(after) => after.value(ty)?,
        None => before.clone(),
    };
    Some(ResourceChange {
        previous_address: sound(change.previous.map(|text| text.parse().ok().map(Box::new)))?,
        deposed: sound(change.deposed.as_deref().map(DeposedKey::new))?,
        reason: change.reason.as_deref().and_then(ActionReason::from_name),
        replace_paths: change.replace.into_iter().map(StoredPath::path).collect::<Option<_>>()?,
        planned_private: change.private.0.as_ref().into(),
        create_before_destroy: change.create_before_destroy,
        importing: sound(change.importing.map(|import| import_from_form(import).map(Box::new)))?,
        action: action_of(&change.action)?,
        address,
        provider,
        schema,
        before,
        after,
    })
}

/// What may be missing, but not damaged.
fn sound<T>(found: Option<Option<T>>) -> Option<Option<T>> {
    found.map_or(Some(None), |found| found.map(Some))
}

const ACTIONS: [(Action, &str); 8] = [
    (Action::NoOp, "no-op"),
    (Action::Create, "create"),
    (Action::Read, "read"),
    (Action::Update, "update"),
    (Action::Delete, "delete"),
    (Action::DeleteThenCreate, "delete-then-create"),
    (Action::CreateThenDelete, "create-then-delete"),
    (Action::Forget, "forget"),
];

fn action_name(action: Action) -> &'static str {
    ACTIONS.iter().find(|(known, _)| *known == action).map_or("no-op", |(_, name)| name)
}

fn action_of(name: &str) -> Option<Action> {
    ACTIONS.iter().find(|(_, known)| *known == name).map(|(action, _)| *action)
}

const MODES: [(Mode, &str); 3] =
    [(Mode::Normal, "normal"), (Mode::Destroy, "destroy"), (Mode::RefreshOnly, "refresh-only")];

fn mode_name(mode: Mode) -> &'static str {
    MODES.iter().find(|(known, _)| *known == mode).map_or("normal", |(_, name)| name)
}

fn mode_of(name: &str) -> Option<Mode> {
    MODES.iter().find(|(_, known)| *known == name).map(|(mode, _)| *mode)
}
