//! A plan as bytes, and back (PL-65).
//!
//! The format is our own: only the version that wrote it may apply it. The state, the configuration and the lock file
//! that belong to it are separate members of the plan file, each in its usual form.

mod changes;
mod form;
mod tables;
mod value;

use groma_address::{ActionInstance, ModuleInstance};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_state::State;

use crate::change::OutputChange;
use crate::deferral::{DeferralReason, DeferredInvocation, Which};
use crate::invocation::{ActionEvent, Cause, Invocation};
use crate::plan::{Plan, PlannedVariable, RelevantAttribute};
use changes::Left;
use changes::{Changes, Opened};
use changes::{action_name, action_of, mode_name, mode_of};
use form::{Form, Head, Invoked, Output, Relevant, Variable};
use tables::Key;
pub use tables::Schemas;
use tables::{Addresses, Known, Numbered};
use tables::{Unwritable, damaged, not_a_plan};
use value::{StoredPath, StoredValue};

/// Grows with every change of the form.
const VERSION: u32 = 9;

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
    let head = to_head(plan).map_err(|problem| unwritable(problem.to_string()))?;
    let form = to_form(plan).map_err(|problem| unwritable(problem.to_string()))?;
    let version = postcard::to_allocvec(&VERSION).map_err(|problem| unwritable(problem.to_string()))?;
    let begun = postcard::to_extend(&head, version).map_err(|problem| unwritable(problem.to_string()))?;
    postcard::to_extend(&form, begun).map_err(|problem| unwritable(problem.to_string()))
}

/// The values of the root module's variables in the bytes of a plan, which its configuration is loaded with.
///
/// # Errors
///
/// The bytes are no plan, or one of another version.
pub fn planned_variables(bytes: &[u8]) -> Result<Vec<PlannedVariable>, Diagnostics> {
    Ok(read_head(bytes)?.0)
}

/// A plan as a file has it. What needs no schemas is read, so that this may be done while the configuration is loaded.
pub struct SavedPlan<'a> {
    variables: Vec<PlannedVariable>,
    form: Form<'a>,
    addresses: Addresses,
    changes: Opened<'a>,
    drift: Opened<'a>,
    relevant_attributes: Vec<RelevantAttribute>,
}

impl<'a> SavedPlan<'a> {
    /// The plan in these bytes.
    ///
    /// # Errors
    ///
    /// The bytes are no plan, or one of another version.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Diagnostics> {
        let (variables, bytes) = read_head(bytes)?;
        let mut form: Form<'_> = postcard::from_bytes(bytes).map_err(|_| damaged())?;
        let addresses = Addresses::read(&form.resources, &form.providers).ok_or_else(damaged)?;
        let relevant = std::mem::take(&mut form.relevant).into_iter().map(|relevant| {
            Some(RelevantAttribute { resource: relevant.resource.parse().ok()?, path: relevant.path.path()? })
        });
        let relevant_attributes = relevant.collect::<Option<_>>().ok_or_else(damaged)?;
        let changes = std::mem::take(&mut form.changes).open().ok_or_else(damaged)?;
        let drift = std::mem::take(&mut form.drift).open().ok_or_else(damaged)?;
        Ok(Self { variables, form, addresses, changes, drift, relevant_attributes })
    }

    /// Returns the number of planned changes.
    pub fn changes(&self) -> usize {
        self.changes.count()
    }

    /// Decodes the plan with the state of its plan file. Schemas come from the providers.
    ///
    /// # Errors
    ///
    /// A provider no longer has a type of the plan, or something is damaged.
    pub fn plan(self, prior_state: State, schemas: &mut dyn Schemas) -> Result<Plan, Diagnostics> {
        from_form(self, prior_state, schemas)
    }
}

/// The variables, and what comes after them.
fn read_head(bytes: &[u8]) -> Result<(Vec<PlannedVariable>, &[u8]), Diagnostics> {
    let (version, bytes) = postcard::take_from_bytes::<u32>(bytes).map_err(|_| not_a_plan("it cannot be read"))?;
    if version != VERSION {
        let detail = format!(
            "The plan file was written by another version of Groma (format {version}; this version supports format \
             {VERSION}). Create a new plan."
        );
        return Err(Diagnostic::error("Failed to read plan file", detail).into());
    }
    let (head, bytes) = postcard::take_from_bytes::<Head<'_>>(bytes).map_err(|_| damaged())?;
    let variables = head.variables.into_iter().map(|variable| {
        let value = variable.value.dynamic_value()?;
        Some(PlannedVariable { name: variable.name.into(), value })
    });
    Ok((variables.collect::<Option<_>>().ok_or_else(damaged)?, bytes))
}

fn to_head(plan: &Plan) -> Result<Head<'_>, Unwritable> {
    let variables = plan.variables.iter().map(|variable| {
        Ok::<_, groma_value::CodecError>(Variable {
            name: variable.name.to_string(),
            value: StoredValue::dynamic(&variable.value)?,
        })
    });
    Ok(Head { variables: variables.collect::<Result<_, groma_value::CodecError>>()? })
}

fn to_form(plan: &Plan) -> Result<Form<'_>, Unwritable> {
    let mut numbered = Numbered::default();
    let changes = Changes::of(&plan.changes, &mut numbered)?;
    let drift = Changes::of(&plan.drift, &mut numbered)?;
    let deferred = plan.deferred.iter().map(|one| Left::of(one, &mut numbered)).collect::<Result<_, _>>()?;
    let disposal = plan.disposal.iter().map(|one| (numbered.resource(one), Key::of(&one.key))).collect();
    let outputs = plan.outputs.iter().map(|output| {
        Ok::<_, groma_value::CodecError>(Output {
            name: output.name.to_string(),
            action: action_name(output.action).to_owned(),
            before: StoredValue::dynamic(&output.before)?,
            after: StoredValue::dynamic(&output.after)?,
            sensitive: output.sensitive,
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
    let deferred_invocations = plan.deferred_invocations.iter().map(|one| {
        let reason = one.reason.name().to_owned();
        let is_known = one.which == Which::Known;
        Ok::<_, groma_value::CodecError>((reason, is_known, invocation_to_form(&one.invocation, &mut numbered)?))
    });
    let deferred_invocations = deferred_invocations.collect::<Result<_, _>>()?;
    Ok(Form {
        invocations,
        deferred_invocations,
        mode: mode_name(plan.mode).to_owned(),
        timestamp: plan.timestamp.clone(),
        errored: plan.errored,
        resources: numbered.resources.iter().map(ToString::to_string).collect(),
        providers: numbered.providers.iter().map(ToString::to_string).collect(),
        kinds: numbered.kinds,
        changes,
        drift,
        deferred,
        disposal,
        outputs: outputs.collect::<Result<_, groma_value::CodecError>>()?,
        relevant: relevant.collect::<Result<_, groma_value::CodecError>>()?,
        targets: plan.targets.iter().map(ToString::to_string).collect(),
        excludes: plan.excludes.iter().map(ToString::to_string).collect(),
        replace: plan.replace.iter().map(ToString::to_string).collect(),
        checks: plan.checks.iter().map(form::Check::of).collect(),
        expansions: plan.expansions.clone(),
        execution: plan.execution.clone(),
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
        key: Key::of(&invocation.action.key),
        provider: numbered.provider(&invocation.provider),
        config: StoredValue::of(&invocation.config, invocation.schema.block.implied_type())?,
        trigger,
    })
}

fn invocation_from_form(
    invoked: Invoked<'_>,
    known: &Known,
    schemas: &mut dyn Schemas,
) -> Result<Invocation, Diagnostics> {
    let provider = (**known.provider(invoked.provider).ok_or_else(damaged)?).clone();
    let schema = schemas.action(&provider.provider, &invoked.type_name.as_str().into())?;
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
        key: invoked.key.key(),
    };
    let config = invoked.config.value(schema.block.implied_type()).ok_or_else(damaged)?;
    Ok(Invocation { action, cause, provider, schema, config })
}

fn from_form(
    SavedPlan { variables, form, addresses, changes, drift, relevant_attributes }: SavedPlan<'_>,
    prior_state: State,
    schemas: &mut dyn Schemas,
) -> Result<Plan, Diagnostics> {
    let known = Known::new(addresses, &form.kinds, schemas)?;
    let changes = changes.read(&known).ok_or_else(damaged)?;
    let drift = drift.read(&known).ok_or_else(damaged)?;
    let deferred = form.deferred.into_iter().map(|one| one.read(&known));
    let deferred = deferred.collect::<Option<_>>().ok_or_else(damaged)?;
    let disposal = form.disposal.into_iter().map(|(resource, key)| known.instance(resource, key));
    let disposal = disposal.collect::<Option<_>>().ok_or_else(damaged)?;
    let mut invocations = Vec::with_capacity(form.invocations.len());
    for invoked in form.invocations {
        invocations.push(invocation_from_form(invoked, &known, schemas)?);
    }
    let mut deferred_invocations = Vec::with_capacity(form.deferred_invocations.len());
    for (reason, is_known, invoked) in form.deferred_invocations {
        let reason = DeferralReason::from_name(&reason).ok_or_else(damaged)?;
        let invocation = invocation_from_form(invoked, &known, schemas)?;
        let which = if is_known { Which::Known } else { Which::Unknown };
        deferred_invocations.push(DeferredInvocation { reason, invocation, which });
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
    if !form.execution.is_valid(changes.len(), invocations.len()) {
        return Err(damaged());
    }
    Ok(Plan {
        mode: mode_of(&form.mode).ok_or_else(damaged)?,
        changes,
        drift,
        deferred,
        invocations,
        deferred_invocations,
        generated: Vec::new(),
        disposal,
        outputs: outputs.collect::<Option<_>>().ok_or_else(damaged)?,
        prior_state,
        variables,
        targets: form.targets.iter().map(|text| text.parse().ok()).collect::<Option<_>>().ok_or_else(damaged)?,
        excludes: form.excludes.iter().map(|text| text.parse().ok()).collect::<Option<_>>().ok_or_else(damaged)?,
        replace: form.replace.iter().map(|text| text.parse().ok()).collect::<Option<_>>().ok_or_else(damaged)?,
        checks: form.checks.into_iter().map(form::Check::result).collect(),
        relevant_attributes,
        timestamp: form.timestamp,
        errored: form.errored,
        execution: form.execution,
        expansions: form.expansions,
    })
}
