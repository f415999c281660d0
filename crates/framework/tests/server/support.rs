//! A provider with one resource whose parts a test sets.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use groma_framework::{
    Answer, Call, CreateRequest, Definition, DeleteRequest, ImportRequest, Model, ModelResource, ModifyPlanRequest,
    ModifyPlanResponse, ObjectResponse, ProviderDiagnostic, ProviderDiagnostics, ReadRequest, Resource, ResourceSchema,
    SchemaBuilder, Server, TypeNames, UpdateRequest,
};
use groma_provider::{ApplyRequest, ApplyResponse, PlanRequest, PlanResponse, Private, Provider, proposed_new_state};
use groma_value::{Kind, Path, Type, Value};

/// Objects that are and stay what is planned of them.
pub struct AsPlanned<M>(PhantomData<fn() -> M>);

impl<M> AsPlanned<M> {
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<M: Model + Send> ModelResource for AsPlanned<M> {
    type Model = M;

    async fn create(&self, plan: M, _: &mut Call) -> Result<M, ProviderDiagnostic> {
        Ok(plan)
    }

    async fn read(&self, state: M, _: &mut Call) -> Result<Option<M>, ProviderDiagnostic> {
        Ok(Some(state))
    }

    async fn delete(&self, _: M, _: &mut Call) -> Result<(), ProviderDiagnostic> {
        Ok(())
    }
}

type Modify = dyn Fn(ModifyPlanRequest) -> ModifyPlanResponse + Send + Sync;
type Change = dyn Fn(&str, &Value, &Value) -> ObjectResponse + Send + Sync;

/// A resource of the given schema. Creating and updating fills in what is unknown with `made`.
pub struct TestResource {
    pub schema: ResourceSchema,
    pub modify: Box<Modify>,
    pub change: Box<Change>,
    pub read: Box<dyn Fn(ReadRequest) -> ObjectResponse + Send + Sync>,
    pub seen: Mutex<Vec<String>>,
}

impl TestResource {
    pub fn new(schema: SchemaBuilder) -> Self {
        let schema = schema.build().unwrap_or_else(|problems| panic!("{problems:?}"));
        Self {
            schema,
            modify: Box::new(ModifyPlanRequest::unchanged),
            change: Box::new(|_, plan, _| ObjectResponse::found(made(plan), groma_framework::PrivateData::new())),
            read: Box::new(|request| ObjectResponse::found(request.state, request.private)),
            seen: Mutex::default(),
        }
    }

    pub fn modifying(
        mut self,
        modify: impl Fn(ModifyPlanRequest) -> ModifyPlanResponse + Send + Sync + 'static,
    ) -> Self {
        self.modify = Box::new(modify);
        self
    }

    pub fn changing(mut self, change: impl Fn(&str, &Value, &Value) -> ObjectResponse + Send + Sync + 'static) -> Self {
        self.change = Box::new(change);
        self
    }

    pub fn reading(mut self, read: impl Fn(ReadRequest) -> ObjectResponse + Send + Sync + 'static) -> Self {
        self.read = Box::new(read);
        self
    }

    fn note(&self, what: &str, private: &groma_framework::PrivateData) {
        self.seen.lock().unwrap().push(format!("{what} {}", private.get("token").unwrap_or("-")));
    }

    pub fn serve(self) -> Served {
        let resource = Arc::new(self);
        let server =
            Server::new(Arc::new(One { resource: resource.clone(), schema: SchemaBuilder::new().build().unwrap() }));
        Served { resource, server }
    }
}

impl Resource for TestResource {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn modify_plan(&self, request: ModifyPlanRequest) -> Answer<'_, ModifyPlanResponse> {
        Answer::ready((self.modify)(request))
    }

    fn create(&self, request: CreateRequest) -> Answer<'_, ObjectResponse> {
        self.note("create", &request.private);
        Answer::ready((self.change)("create", &request.plan, &Value::NULL))
    }

    fn read(&self, request: ReadRequest) -> Answer<'_, ObjectResponse> {
        Answer::ready((self.read)(request))
    }

    fn update(&self, request: UpdateRequest) -> Answer<'_, ObjectResponse> {
        self.note(&format!("update {}", request.changed().join(",")), &request.private);
        Answer::ready((self.change)("update", &request.plan, &request.state))
    }

    fn delete(&self, request: DeleteRequest) -> Answer<'_, ProviderDiagnostics> {
        self.note("delete", &request.private);
        Answer::ready((self.change)("delete", &Value::NULL, &request.state).diagnostics)
    }

    fn import(&self, request: ImportRequest) -> Answer<'_, ObjectResponse> {
        let _ = request;
        // For the test of panics (FW-21); no other test imports.
        panic!("the import of TestResource");
    }
}

struct One {
    resource: Arc<TestResource>,
    schema: ResourceSchema,
}

impl Definition for One {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn type_names(&self) -> TypeNames {
        TypeNames { resources: vec!["test_thing".into()], ..TypeNames::default() }
    }

    fn resource(&self, type_name: &str) -> Result<Option<Arc<dyn Resource>>, ProviderDiagnostics> {
        Ok((type_name == "test_thing").then(|| self.resource.clone() as Arc<dyn Resource>))
    }
}

pub struct Served {
    pub resource: Arc<TestResource>,
    pub server: Server,
}

impl Served {
    /// An object: these attributes, the others as in an empty block.
    pub fn object<const N: usize>(&self, values: [(&str, Value); N]) -> Value {
        let block = self.resource.schema.block();
        let given = |name: &str| values.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
        let slots = block.slots().iter();
        block.object(slots.map(|slot| given(&slot.name).unwrap_or_else(|| slot.item.empty_value().clone())).collect())
    }

    pub fn null(&self) -> Value {
        self.resource.schema.block().null_value()
    }

    pub fn plan(&self, state: Value, config: Value) -> PlanResponse {
        let request = PlanRequest {
            type_name: "test_thing".into(),
            proposed_new_state: proposed_new_state(self.resource.schema.block(), &state, &config),
            prior_state: state,
            config,
            ..PlanRequest::default()
        };
        // Answers that are ready need no runtime.
        self.server.plan_resource(request).now().unwrap()
    }

    /// As [`Served::plan`], which must succeed.
    pub fn planned(&self, state: Value, config: Value) -> (Value, Vec<String>) {
        let response = self.plan(state, config);
        assert!(response.diagnostics.is_empty(), "{:?}", response.diagnostics);
        (response.planned_state, response.requires_replace.iter().map(Path::to_string).collect())
    }

    pub fn apply(&self, state: Value, plan: Value, config: Value, private: Private) -> ApplyResponse {
        let request = ApplyRequest {
            type_name: "test_thing".into(),
            prior_state: state,
            planned_state: plan,
            config,
            planned_private: private,
            ..ApplyRequest::default()
        };
        self.server.apply_resource(request).now().unwrap()
    }
}

/// `value` with "made" for every unknown string, and 1 for every unknown number.
pub fn made(value: &Value) -> Value {
    value.transform(|_, value| match (value.kind(), value.ty()) {
        (Kind::Unknown(_), Type::String) => s("made"),
        (Kind::Unknown(_), Type::Number) => Value::number(1),
        (Kind::Unknown(_), ty) => Value::null(ty),
        _ => value,
    })
}

pub fn get(object: &Value, name: &str) -> Value {
    object.attribute(name).unwrap()
}

pub fn s(text: &str) -> Value {
    Value::string(text)
}

pub fn unknown() -> Value {
    Value::unknown(Type::String)
}

/// Summaries and paths.
pub fn texts(diagnostics: &ProviderDiagnostics) -> Vec<String> {
    diagnostics.iter().map(|found| format!("{} {}", found.summary, found.path)).collect()
}
