//! Scripts for the types of a scripted provider.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use groma_provider::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, InvokeActionRequest, ListRequest, MoveRequest,
    MoveResponse, PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, ProviderDiagnostics,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, Schema, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse, ValidateRequest,
};
use groma_value::Value;

use crate::{Fault, Operation};

/// Computes the default response, with its side effects.
pub type Good<'a, Response> = &'a dyn Fn() -> Response;

/// A scripted response, which may call the default behavior.
pub(crate) type Handler<Request, Response> = Arc<dyn Fn(&Request, Good<'_, Response>) -> Response + Send + Sync>;

/// A resource type and its scripted behavior.
#[derive(Clone)]
#[must_use]
pub struct ResourceScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) replace_on: BTreeSet<String>,
    pub(crate) legacy: bool,
    pub(crate) faults: Vec<(Operation, Option<String>, Fault)>,
    pub(crate) delays: Vec<(Operation, Duration)>,
    pub(crate) validate: Option<Handler<ValidateRequest, ProviderDiagnostics>>,
    pub(crate) upgrade: Option<Handler<UpgradeRequest, UpgradeResponse>>,
    pub(crate) read: Option<Handler<ReadRequest, ReadResponse>>,
    pub(crate) plan: Option<Handler<PlanRequest, PlanResponse>>,
    pub(crate) apply: Option<Handler<ApplyRequest, ApplyResponse>>,
    pub(crate) import: Option<Handler<ImportRequest, ImportResponse>>,
    pub(crate) move_state: Option<Handler<MoveRequest, MoveResponse>>,
    pub(crate) upgrade_identity: Option<Arc<UpgradeIdentity>>,
}

/// A scripted upgrade of identities.
pub(crate) type UpgradeIdentity = dyn Fn(&UpgradeIdentityRequest) -> UpgradeIdentityResponse + Send + Sync;

impl ResourceScript {
    /// Creates a type with default behavior. An attribute `id`, if present, is generated on create.
    pub fn new(schema: Schema) -> Self {
        Self {
            schema: Arc::new(schema),
            replace_on: BTreeSet::new(),
            legacy: false,
            faults: Vec::new(),
            delays: Vec::new(),
            validate: None,
            upgrade: None,
            read: None,
            plan: None,
            apply: None,
            import: None,
            move_state: None,
            upgrade_identity: None,
        }
    }

    /// Makes changes of `attribute` force a replacement.
    pub fn replace_on(mut self, attribute: impl Into<String>) -> Self {
        self.replace_on.insert(attribute.into());
        self
    }

    /// Declares the legacy type system in responses (LC-17).
    pub fn legacy(mut self) -> Self {
        self.legacy = true;
        self
    }

    /// Makes `operation` fail for every object.
    pub fn fault(mut self, operation: Operation, fault: Fault) -> Self {
        self.faults.push((operation, None, fault));
        self
    }

    /// Makes `operation` fail for the object named `object`: by its `name`, or else its `id`.
    pub fn fault_for(mut self, operation: Operation, object: impl Into<String>, fault: Fault) -> Self {
        self.faults.push((operation, Some(object.into()), fault));
        self
    }

    /// Delays the responses of `operation`.
    pub fn delay(mut self, operation: Operation, duration: Duration) -> Self {
        self.delays.push((operation, duration));
        self
    }

    /// Replaces the response to validation.
    pub fn on_validate(
        mut self,
        answer: impl Fn(&ValidateRequest, Good<'_, ProviderDiagnostics>) -> ProviderDiagnostics + Send + Sync + 'static,
    ) -> Self {
        self.validate = Some(Arc::new(answer));
        self
    }

    /// Replaces the response to upgrades.
    pub fn on_upgrade(
        mut self,
        answer: impl Fn(&UpgradeRequest, Good<'_, UpgradeResponse>) -> UpgradeResponse + Send + Sync + 'static,
    ) -> Self {
        self.upgrade = Some(Arc::new(answer));
        self
    }

    /// Replaces the response to reads.
    pub fn on_read(
        mut self,
        answer: impl Fn(&ReadRequest, Good<'_, ReadResponse>) -> ReadResponse + Send + Sync + 'static,
    ) -> Self {
        self.read = Some(Arc::new(answer));
        self
    }

    /// Replaces the response to plans.
    pub fn on_plan(
        mut self,
        answer: impl Fn(&PlanRequest, Good<'_, PlanResponse>) -> PlanResponse + Send + Sync + 'static,
    ) -> Self {
        self.plan = Some(Arc::new(answer));
        self
    }

    /// Replaces the response to applies.
    pub fn on_apply(
        mut self,
        answer: impl Fn(&ApplyRequest, Good<'_, ApplyResponse>) -> ApplyResponse + Send + Sync + 'static,
    ) -> Self {
        self.apply = Some(Arc::new(answer));
        self
    }

    /// Replaces the response to imports.
    pub fn on_import(
        mut self,
        answer: impl Fn(&ImportRequest, Good<'_, ImportResponse>) -> ImportResponse + Send + Sync + 'static,
    ) -> Self {
        self.import = Some(Arc::new(answer));
        self
    }

    /// Replaces the response to moves from other types, which fail by default.
    pub fn on_move(
        mut self,
        answer: impl Fn(&MoveRequest, Good<'_, MoveResponse>) -> MoveResponse + Send + Sync + 'static,
    ) -> Self {
        self.move_state = Some(Arc::new(answer));
        self
    }

    /// Replaces the response to identity upgrades, which fail by default.
    pub fn on_upgrade_identity(
        mut self,
        answer: impl Fn(&UpgradeIdentityRequest) -> UpgradeIdentityResponse + Send + Sync + 'static,
    ) -> Self {
        self.upgrade_identity = Some(Arc::new(answer));
        self
    }

    /// Returns the fault of `operation` for the object named `object`.
    pub(crate) fn fault_of(&self, operation: Operation, object: &str) -> Option<&Fault> {
        let meant = |(own, name, _): &&(Operation, Option<String>, Fault)| {
            // The first matching fault wins, so specific faults must be added before general ones.
            *own == operation && name.as_deref().is_none_or(|name| name == object)
        };
        self.faults.iter().find(meant).map(|(_, _, fault)| fault)
    }

    pub(crate) fn delay_of(&self, operation: Operation) -> Option<Duration> {
        self.delays.iter().find(|(own, _)| *own == operation).map(|(_, duration)| *duration)
    }
}

/// A data source and its scripted behavior.
#[derive(Clone)]
#[must_use]
pub struct DataScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) delay: Option<Duration>,
    pub(crate) read: Option<Handler<ReadDataRequest, ReadDataResponse>>,
}

impl DataScript {
    /// Creates a data source that generates its results.
    pub fn new(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), delay: None, read: None }
    }

    /// Delays the response to reads.
    pub fn delay(mut self, duration: Duration) -> Self {
        self.delay = Some(duration);
        self
    }

    /// Replaces the response to reads.
    pub fn on_read(
        mut self,
        answer: impl Fn(&ReadDataRequest, Good<'_, ReadDataResponse>) -> ReadDataResponse + Send + Sync + 'static,
    ) -> Self {
        self.read = Some(Arc::new(answer));
        self
    }

    /// Sets attributes of every response to the values that `results` computes from the configuration.
    pub fn returning(self, results: impl Fn(&Value) -> Vec<(&'static str, Value)> + Send + Sync + 'static) -> Self {
        self.on_read(move |request, good| {
            let mut response = good();
            for (name, value) in results(&request.config) {
                response.state = crate::fault::with(&response.state, name, |_| value.clone());
            }
            response
        })
    }
}

/// A scripted invocation of an action.
pub(crate) type InvokeAction = dyn Fn(&InvokeActionRequest) -> ProviderDiagnostics + Send + Sync;

/// A scripted validation of an action.
pub(crate) type ValidateAction = dyn Fn(&ValidateRequest) -> ProviderDiagnostics + Send + Sync;

/// A scripted plan of an action.
pub(crate) type PlanAction = dyn Fn(&PlanActionRequest) -> PlanActionResponse + Send + Sync;

/// An action type and its scripted behavior.
#[derive(Clone)]
#[must_use]
pub struct ActionScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) validate: Arc<ValidateAction>,
    pub(crate) plan: Arc<PlanAction>,
    pub(crate) invoke: Arc<InvokeAction>,
}

impl ActionScript {
    /// Creates a type whose actions succeed without messages.
    pub fn new(schema: Schema) -> Self {
        Self {
            schema: Arc::new(schema),
            validate: Arc::new(|_| ProviderDiagnostics::new()),
            plan: Arc::new(|_| PlanActionResponse::default()),
            invoke: Arc::new(|_| ProviderDiagnostics::new()),
        }
    }

    /// Sets the validation of configurations that conform to the schema.
    pub fn on_validate(
        mut self,
        validate: impl Fn(&ValidateRequest) -> ProviderDiagnostics + Send + Sync + 'static,
    ) -> Self {
        self.validate = Arc::new(validate);
        self
    }

    /// Sets the response to plans.
    pub fn on_plan(mut self, plan: impl Fn(&PlanActionRequest) -> PlanActionResponse + Send + Sync + 'static) -> Self {
        self.plan = Arc::new(plan);
        self
    }

    /// Sets the response to invocations.
    pub fn on_invoke(
        mut self,
        invoke: impl Fn(&InvokeActionRequest) -> ProviderDiagnostics + Send + Sync + 'static,
    ) -> Self {
        self.invoke = Arc::new(invoke);
        self
    }
}

/// A scripted list query, which passes its results to the request's `found`.
pub(crate) type ListObjects = dyn Fn(&ListRequest) -> ProviderDiagnostics + Send + Sync;

/// A list query and its scripted behavior.
#[derive(Clone)]
#[must_use]
pub struct ListScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) search: Arc<ListObjects>,
}

impl ListScript {
    /// Creates a list query without results.
    pub fn new(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), search: Arc::new(|_| ProviderDiagnostics::new()) }
    }

    /// Sets the list query.
    pub fn on_list(mut self, search: impl Fn(&ListRequest) -> ProviderDiagnostics + Send + Sync + 'static) -> Self {
        self.search = Arc::new(search);
        self
    }
}

/// An ephemeral resource type and its scripted behavior.
#[derive(Clone)]
#[must_use]
pub struct EphemeralScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) opening_takes: Option<Duration>,
    pub(crate) renew_after: Option<Duration>,
    pub(crate) renewal_takes: Option<Duration>,
}

impl EphemeralScript {
    /// Creates a type that generates its results.
    pub fn new(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), opening_takes: None, renew_after: None, renewal_takes: None }
    }

    /// Delays the response to opening.
    pub fn opening_takes(mut self, duration: Duration) -> Self {
        self.opening_takes = Some(duration);
        self
    }

    /// Requests a renewal after `duration`, and again after each renewal.
    pub fn renew_after(mut self, duration: Duration) -> Self {
        self.renew_after = Some(duration);
        self
    }

    /// Delays the response to renewals.
    pub fn renewal_takes(mut self, duration: Duration) -> Self {
        self.renewal_takes = Some(duration);
        self
    }
}
