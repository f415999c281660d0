//! What a test says about the types of a scripted provider.

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

/// What a good provider would do; calling it does it.
pub type Good<'a, Response> = &'a dyn Fn() -> Response;

/// The response to a request, given what a good provider would answer.
pub(crate) type Handler<Request, Response> = Arc<dyn Fn(&Request, Good<'_, Response>) -> Response + Send + Sync>;

/// A resource type and how it behaves.
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
    pub(crate) take_over: Option<Handler<MoveRequest, MoveResponse>>,
    pub(crate) upgrade_identity: Option<Arc<UpgradingIdentity>>,
}

/// What becomes of an identity of old.
pub(crate) type UpgradingIdentity = dyn Fn(&UpgradeIdentityRequest) -> UpgradeIdentityResponse + Send + Sync;

impl ResourceScript {
    /// A type of the given schema that behaves well. An attribute `id`, if there is one, is chosen on create.
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
            take_over: None,
            upgrade_identity: None,
        }
    }

    /// The same, where a change of `attribute` needs a new object.
    pub fn replace_on(mut self, attribute: impl Into<String>) -> Self {
        self.replace_on.insert(attribute.into());
        self
    }

    /// The same, with the older type system declared in its responses (LC-17).
    pub fn legacy(mut self) -> Self {
        self.legacy = true;
        self
    }

    /// The same, where `operation` goes wrong for every object.
    pub fn fault(mut self, operation: Operation, fault: Fault) -> Self {
        self.faults.push((operation, None, fault));
        self
    }

    /// The same, where `operation` goes wrong for the object called `object`: its `name`, or else its `id`.
    pub fn fault_for(mut self, operation: Operation, object: impl Into<String>, fault: Fault) -> Self {
        self.faults.push((operation, Some(object.into()), fault));
        self
    }

    /// The same, where `operation` takes a while.
    pub fn delay(mut self, operation: Operation, duration: Duration) -> Self {
        self.delays.push((operation, duration));
        self
    }

    /// The same, with another answer to validation.
    pub fn on_validate(
        mut self,
        answer: impl Fn(&ValidateRequest, Good<'_, ProviderDiagnostics>) -> ProviderDiagnostics + Send + Sync + 'static,
    ) -> Self {
        self.validate = Some(Arc::new(answer));
        self
    }

    /// The same, with another answer to upgrades.
    pub fn on_upgrade(
        mut self,
        answer: impl Fn(&UpgradeRequest, Good<'_, UpgradeResponse>) -> UpgradeResponse + Send + Sync + 'static,
    ) -> Self {
        self.upgrade = Some(Arc::new(answer));
        self
    }

    /// The same, with another answer to reads.
    pub fn on_read(
        mut self,
        answer: impl Fn(&ReadRequest, Good<'_, ReadResponse>) -> ReadResponse + Send + Sync + 'static,
    ) -> Self {
        self.read = Some(Arc::new(answer));
        self
    }

    /// The same, with another answer to plans.
    pub fn on_plan(
        mut self,
        answer: impl Fn(&PlanRequest, Good<'_, PlanResponse>) -> PlanResponse + Send + Sync + 'static,
    ) -> Self {
        self.plan = Some(Arc::new(answer));
        self
    }

    /// The same, with another answer to applies.
    pub fn on_apply(
        mut self,
        answer: impl Fn(&ApplyRequest, Good<'_, ApplyResponse>) -> ApplyResponse + Send + Sync + 'static,
    ) -> Self {
        self.apply = Some(Arc::new(answer));
        self
    }

    /// The same, with another answer to imports.
    pub fn on_import(
        mut self,
        answer: impl Fn(&ImportRequest, Good<'_, ImportResponse>) -> ImportResponse + Send + Sync + 'static,
    ) -> Self {
        self.import = Some(Arc::new(answer));
        self
    }

    /// The same, with another answer to moves from other types.
    pub fn on_move(
        mut self,
        answer: impl Fn(&MoveRequest, Good<'_, MoveResponse>) -> MoveResponse + Send + Sync + 'static,
    ) -> Self {
        self.take_over = Some(Arc::new(answer));
        self
    }

    /// The same, with an answer to upgrades of identities, which there is none to otherwise.
    pub fn on_upgrade_identity(
        mut self,
        answer: impl Fn(&UpgradeIdentityRequest) -> UpgradeIdentityResponse + Send + Sync + 'static,
    ) -> Self {
        self.upgrade_identity = Some(Arc::new(answer));
        self
    }

    /// How `operation` goes wrong for the object called `object`.
    pub(crate) fn fault_of(&self, operation: Operation, object: &str) -> Option<&Fault> {
        let meant = |(own, name, _): &&(Operation, Option<String>, Fault)| {
            *own == operation && name.as_deref().is_none_or(|name| name == object)
        };
        self.faults.iter().find(meant).map(|(_, _, fault)| fault)
    }

    pub(crate) fn delay_of(&self, operation: Operation) -> Option<Duration> {
        self.delays.iter().find(|(own, _)| *own == operation).map(|(_, duration)| *duration)
    }
}

/// A data source and how it behaves.
#[derive(Clone)]
#[must_use]
pub struct DataScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) delay: Option<Duration>,
    pub(crate) read: Option<Handler<ReadDataRequest, ReadDataResponse>>,
}

impl DataScript {
    /// A data source of the given schema that makes its results up.
    pub fn new(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), delay: None, read: None }
    }

    /// The same, where reading takes a while.
    pub fn delay(mut self, duration: Duration) -> Self {
        self.delay = Some(duration);
        self
    }

    /// The same, with another answer to reads.
    pub fn on_read(
        mut self,
        answer: impl Fn(&ReadDataRequest, Good<'_, ReadDataResponse>) -> ReadDataResponse + Send + Sync + 'static,
    ) -> Self {
        self.read = Some(Arc::new(answer));
        self
    }

    /// The same, where every read gives `attributes` the values that `results` makes of the configuration.
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

/// What invoking an action comes to.
pub(crate) type Invoking = dyn Fn(&InvokeActionRequest) -> ProviderDiagnostics + Send + Sync;

/// What is said of the configuration of an action.
pub(crate) type ValidatingAction = dyn Fn(&ValidateRequest) -> ProviderDiagnostics + Send + Sync;

/// What is said of an action before it is invoked.
pub(crate) type PlanningAction = dyn Fn(&PlanActionRequest) -> PlanActionResponse + Send + Sync;

/// An action type and how it behaves.
#[derive(Clone)]
#[must_use]
pub struct ActionScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) validate: Arc<ValidatingAction>,
    pub(crate) plan: Arc<PlanningAction>,
    pub(crate) invoke: Arc<Invoking>,
}

impl ActionScript {
    /// A type of the given schema whose actions end well and say nothing.
    pub fn new(schema: Schema) -> Self {
        Self {
            schema: Arc::new(schema),
            validate: Arc::new(|_| ProviderDiagnostics::new()),
            plan: Arc::new(|_| PlanActionResponse::default()),
            invoke: Arc::new(|_| ProviderDiagnostics::new()),
        }
    }

    /// The same, where `validate` is what is said of a configuration that fits the schema.
    pub fn on_validate(
        mut self,
        validate: impl Fn(&ValidateRequest) -> ProviderDiagnostics + Send + Sync + 'static,
    ) -> Self {
        self.validate = Arc::new(validate);
        self
    }

    /// The same, where `plan` is what is said of an action before it is invoked.
    pub fn on_plan(mut self, plan: impl Fn(&PlanActionRequest) -> PlanActionResponse + Send + Sync + 'static) -> Self {
        self.plan = Arc::new(plan);
        self
    }

    /// The same, where `invoke` is what an invocation comes to.
    pub fn on_invoke(
        mut self,
        invoke: impl Fn(&InvokeActionRequest) -> ProviderDiagnostics + Send + Sync + 'static,
    ) -> Self {
        self.invoke = Arc::new(invoke);
        self
    }
}

/// What a search comes to; what it finds goes to the request's `found`.
pub(crate) type Searching = dyn Fn(&ListRequest) -> ProviderDiagnostics + Send + Sync;

/// What the objects of a resource type are searched by, and how.
#[derive(Clone)]
#[must_use]
pub struct ListScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) search: Arc<Searching>,
}

impl ListScript {
    /// A search by the given schema that finds nothing.
    pub fn new(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), search: Arc::new(|_| ProviderDiagnostics::new()) }
    }

    /// The same, where `search` is what a search comes to.
    pub fn on_list(mut self, search: impl Fn(&ListRequest) -> ProviderDiagnostics + Send + Sync + 'static) -> Self {
        self.search = Arc::new(search);
        self
    }
}

/// An ephemeral resource type and how it behaves.
#[derive(Clone)]
#[must_use]
pub struct EphemeralScript {
    pub(crate) schema: Arc<Schema>,
    pub(crate) opening_takes: Option<Duration>,
    pub(crate) renew_after: Option<Duration>,
    pub(crate) renewal_takes: Option<Duration>,
}

impl EphemeralScript {
    /// A type of the given schema that makes its results up.
    pub fn new(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), opening_takes: None, renew_after: None, renewal_takes: None }
    }

    /// The same, which takes its time to open.
    pub fn opening_takes(mut self, duration: Duration) -> Self {
        self.opening_takes = Some(duration);
        self
    }

    /// The same, which must be renewed again and again.
    pub fn renew_after(mut self, duration: Duration) -> Self {
        self.renew_after = Some(duration);
        self
    }

    /// The same, whose renewals take their time.
    pub fn renewal_takes(mut self, duration: Duration) -> Self {
        self.renewal_takes = Some(duration);
        self
    }
}
