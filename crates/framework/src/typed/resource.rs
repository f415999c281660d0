//! Resource types on models.

use std::future::Future;

use groma_provider::{Answer, ImportTarget, ProviderDiagnostic, ProviderDiagnostics, SchemaProblem};
use groma_value::Value;

use super::Call;
use crate::model::Model;
use crate::resource::{
    CreateRequest, DeleteRequest, ImportRequest, ModifyPlanRequest, ModifyPlanResponse, MoveRequest, ObjectResponse,
    ReadRequest, Resource, UpdateRequest, UpgradeRequest, ValidateRequest, decode_stored,
};
use crate::stopping::StopSignals;
use crate::{ResourceSchema, SchemaBuilder};

/// A resource type whose objects are structs. All but create, read and delete have defaults.
///
/// The methods can be written as `async fn`. An error is a [`ProviderDiagnostic`]; an object that exists nevertheless
/// is recorded with [`Call::made`].
pub trait ModelResource: Send + Sync + 'static {
    /// The model of the object.
    type Model: Model + Send;

    /// Returns the schema: by default that of the model.
    fn schema(&self) -> SchemaBuilder {
        Self::Model::schema()
    }

    /// Creates the planned object, and returns it with all values known. Known planned values must not change.
    fn create(
        &self,
        plan: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<Self::Model, ProviderDiagnostic>> + Send;

    /// Reads the object; `None` if it no longer exists.
    fn read(
        &self,
        state: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<Option<Self::Model>, ProviderDiagnostic>> + Send;

    /// Updates the object from `state` to the plan. Not called for types whose every change requires a replacement.
    fn update(
        &self,
        plan: Self::Model,
        state: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<Self::Model, ProviderDiagnostic>> + Send {
        let _ = (plan, call);
        async move { not_updated(state) }
    }

    /// Deletes the object. An object that no longer exists is not an error.
    fn delete(
        &self,
        state: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<(), ProviderDiagnostic>> + Send;

    /// Finds an existing object; `None` if it does not exist.
    fn import(
        &self,
        target: ImportTarget,
        call: &mut Call,
    ) -> impl Future<Output = Result<Option<Self::Model>, ProviderDiagnostic>> + Send {
        let _ = (target, call);
        async { Err(no_import()) }
    }

    /// Checks a configuration as a whole, after the validators of the attributes. It may hold unknown values.
    fn validate(&self, config: Value) -> impl Future<Output = ProviderDiagnostics> + Send {
        let _ = config;
        async { ProviderDiagnostics::new() }
    }

    /// Adjusts a plan as a whole, after the modifiers of the attributes (FW-12). Also called for deletions (FW-13). An
    /// error prevents the plan.
    fn modify_plan(
        &self,
        request: ModifyPlanRequest,
    ) -> impl Future<Output = Result<ModifyPlanResponse, ProviderDiagnostic>> + Send {
        async { Ok(request.unchanged()) }
    }

    /// Upgrades a stored object to the current schema. By default attributes that the schema lacks are dropped, and
    /// missing ones are null.
    ///
    /// # Errors
    ///
    /// Fails if the stored object cannot be used.
    fn upgrade(&self, request: UpgradeRequest) -> Result<Value, ProviderDiagnostic> {
        decode_stored(&request.raw_state, &<Self::Model as crate::model::Field>::ty())
    }

    /// Converts an object of another type to this type (`moved` blocks); `None` for unsupported types. `call` receives
    /// the new identity and private data.
    fn move_from(&self, request: MoveRequest, call: &mut Call) -> Option<Result<Self::Model, ProviderDiagnostic>> {
        let _ = (request, call);
        None
    }
}

fn not_updated<M>(_: M) -> Result<M, ProviderDiagnostic> {
    Err(ProviderDiagnostic::error(
        "Update not supported",
        "Objects of this type cannot be changed. The provider should have asked for a new object: this is a bug in the \
         provider.",
    ))
}

fn no_import() -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Resource import not supported",
        "Objects of this type cannot be imported. Have a new one created, or ask the provider's developers.",
    )
}

/// A [`ModelResource`] as a [`Resource`].
pub struct ResourceAdapter<R> {
    resource: R,
    schema: ResourceSchema,
    stops: StopSignals,
}

impl<R: ModelResource> ResourceAdapter<R> {
    /// Wraps `resource` after a check of its schema. `stops` signals its calls to end soon.
    ///
    /// # Errors
    ///
    /// Returns the problems of the schema, and its differences from the model (FW-18, FW-20).
    pub fn new(resource: R, stops: StopSignals) -> Result<Self, Vec<SchemaProblem>> {
        let schema = resource.schema().build()?;
        let problems = R::Model::mismatches(&schema);
        if problems.is_empty() { Ok(Self { resource, schema, stops }) } else { Err(problems) }
    }
}

impl<R: ModelResource> Resource for ResourceAdapter<R> {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn validate(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(self.resource.validate(request.config))
    }

    fn modify_plan(&self, request: ModifyPlanRequest) -> Answer<'_, ModifyPlanResponse> {
        Answer::pending(async move {
            let unchanged = request.clone();
            self.resource.modify_plan(request).await.unwrap_or_else(|problem| {
                // The response needs some plan; the error makes the host ignore it.
                let mut refused = unchanged.unchanged();
                refused.refuse(problem);
                refused
            })
        })
    }

    fn create(&self, request: CreateRequest) -> Answer<'_, ObjectResponse> {
        Answer::pending(async move {
            let mut call = Call::new(request.config, request.private, None, self.stops.for_call());
            let result = match R::Model::of(&request.plan) {
                Ok(plan) => self.resource.create(plan, &mut call).await.map(Some),
                Err(problem) => Err(problem.into()),
            };
            call.ended(result)
        })
    }

    fn read(&self, request: ReadRequest) -> Answer<'_, ObjectResponse> {
        Answer::pending(async move {
            let mut call = Call::new(Value::NULL, request.private, request.identity, self.stops.for_call());
            let result = match R::Model::of(&request.state) {
                Ok(state) => self.resource.read(state, &mut call).await,
                Err(problem) => Err(problem.into()),
            };
            call.ended(result)
        })
    }

    fn update(&self, request: UpdateRequest) -> Answer<'_, ObjectResponse> {
        Answer::pending(async move {
            let mut call = Call::new(request.config, request.private, request.identity, self.stops.for_call());
            let both = R::Model::of(&request.plan).and_then(|plan| Ok((plan, R::Model::of(&request.state)?)));
            let result = match both {
                Ok((plan, state)) => self.resource.update(plan, state, &mut call).await.map(Some),
                Err(problem) => Err(problem.into()),
            };
            let response = call.ended(result);
            // LC-16: a failed update that reports no object has left it unchanged.
            ObjectResponse { state: response.state.or(Some(request.state)), ..response }
        })
    }

    fn delete(&self, request: DeleteRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            let mut call = Call::new(Value::NULL, request.private, None, self.stops.for_call());
            let result = match R::Model::of(&request.state) {
                Ok(state) => self.resource.delete(state, &mut call).await,
                Err(problem) => Err(problem.into()),
            };
            call.over(result)
        })
    }

    fn import(&self, request: ImportRequest) -> Answer<'_, ObjectResponse> {
        Answer::pending(async move {
            let mut call = Call::new(Value::NULL, crate::PrivateData::new(), None, self.stops.for_call());
            let result = self.resource.import(request.target, &mut call).await;
            call.ended(result)
        })
    }

    fn upgrade(&self, request: UpgradeRequest) -> Result<Value, ProviderDiagnostic> {
        self.resource.upgrade(request)
    }

    fn move_from(&self, request: MoveRequest) -> Option<Answer<'_, ObjectResponse>> {
        let mut call = Call::new(Value::NULL, crate::PrivateData::new(), None, self.stops.for_call());
        let result = self.resource.move_from(request, &mut call)?;
        Some(Answer::ready(call.ended(result.map(Some))))
    }
}
