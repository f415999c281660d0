//! The provider of the cloud.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, Attribute, Block, ConfigureRequest, ImportRequest, ImportResponse,
    ImportTarget, ImportedResource, InvokeActionRequest, Name, NestedBlock, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanRequest, PlanResponse, Provider, ProviderDiagnostic, ProviderDiagnostics,
    ProviderSchema, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, Schema, SchemaLookup,
    ServerCapabilities, TypeNames, UpgradeRequest, UpgradeResponse,
};
use groma_value::{Path, Type, Value};

use super::object::{Object, text};
use super::store::{Done, Operation, Store, StoreError};

/// Attributes whose change needs a new object.
const REPLACING: [&str; 2] = ["parent", "replace"];

/// A provider with the resource type `<prefix>_object`, the data source `<prefix>_lookup`, the ephemeral resource type
/// `<prefix>_session` and the action type `<prefix>_action`.
///
/// Its configuration has two optional arguments: `store`, the directory of the [`Store`], and `endpoint`, the
/// identifier of an object through which it reaches the others.
#[derive(Debug)]
pub struct Cloud {
    prefix: &'static str,
    store: Mutex<Store>,
    endpoint: Mutex<Option<String>>,
}

impl Cloud {
    /// Makes a provider of types that begin with `prefix`; it uses `store` unless its configuration names another.
    pub fn new(prefix: &'static str, store: Store) -> Self {
        Self { prefix, store: Mutex::new(store), endpoint: Mutex::default() }
    }

    fn type_name(&self, kind: &str) -> String {
        format!("{}_{kind}", self.prefix)
    }

    fn store(&self) -> Store {
        self.store.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn endpoint(&self) -> Option<String> {
        self.endpoint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn schema_of(&self, kind: &str, type_name: &str, schema: fn() -> Schema) -> SchemaLookup {
        Ok((self.type_name(kind) == type_name).then(|| Arc::new(schema())))
    }
}

fn problems(error: &StoreError) -> ProviderDiagnostics {
    ProviderDiagnostic::error(error.summary(), error.detail()).into()
}

/// Returns what an operation left, if it took place, and the problems to report.
fn outcome<T>(result: Result<Done<T>, StoreError>) -> (Option<T>, ProviderDiagnostics) {
    let (result, problem) = match result {
        Ok(done) => (Some(done.result), done.problem),
        Err(error) => (None, Some(error)),
    };
    (result, problem.map(|error| problems(&error)).unwrap_or_default())
}

impl Provider for Cloud {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        let capabilities = ServerCapabilities::default();
        Ok(ProviderSchema { config: Arc::new(config()), meta: None, capabilities })
    }

    fn type_names(&self) -> TypeNames {
        let one = |kind: &str| vec![Name::from(self.type_name(kind))];
        TypeNames {
            resources: one("object"),
            data_sources: one("lookup"),
            ephemeral_resources: one("session"),
            actions: one("action"),
            ..TypeNames::default()
        }
    }

    fn resource_schema(&self, type_name: &str) -> SchemaLookup {
        self.schema_of("object", type_name, object)
    }

    fn data_schema(&self, type_name: &str) -> SchemaLookup {
        self.schema_of("lookup", type_name, lookup)
    }

    fn ephemeral_schema(&self, type_name: &str) -> SchemaLookup {
        self.schema_of("session", type_name, session)
    }

    fn action_schema(&self, type_name: &str) -> SchemaLookup {
        self.schema_of("action", type_name, action)
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        if let Some(directory) = text(&request.config, "store") {
            *self.store.lock().unwrap_or_else(PoisonError::into_inner) = Store::at(directory);
        }
        *self.endpoint.lock().unwrap_or_else(PoisonError::into_inner) = text(&request.config, "endpoint");
        Answer::ready(ProviderDiagnostics::new())
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let schema = object();
        Answer::ready(match request.raw_state.decode(schema.block.implied_type()) {
            Ok(upgraded_state) => UpgradeResponse { upgraded_state, diagnostics: ProviderDiagnostics::new() },
            Err(problem) => UpgradeResponse {
                upgraded_state: Value::NULL,
                diagnostics: ProviderDiagnostic::error("Unreadable stored object", problem.to_string()).into(),
            },
        })
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let id = text(&request.current_state, "id").unwrap_or_default();
        Answer::ready(match self.store().objects() {
            Ok(objects) => {
                let like = &request.current_state;
                let found = objects.get(&id).map(|object| object.to_value(like));
                let new_state = found.unwrap_or_else(|| object().block.null_value());
                ReadResponse { new_state, ..ReadResponse::unchanged(request) }
            }
            Err(error) => ReadResponse { diagnostics: problems(&error), ..ReadResponse::unchanged(request) },
        })
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let (prior, proposed) = (&request.prior_state, &request.proposed_new_state);
        if proposed.is_null() {
            return Answer::ready(PlanResponse::new(proposed.clone(), request.prior_private));
        }
        let changed = |name: &&str| !prior.is_null() && prior.attribute(name) != proposed.attribute(name);
        let requires_replace = REPLACING.iter().filter(|name| changed(name)).map(|name| Path::root().attribute(*name));
        let requires_replace = requires_replace.collect();
        let planned = if prior.is_null() { with_unknown_id(proposed) } else { proposed.clone() };
        Answer::ready(PlanResponse { requires_replace, ..PlanResponse::new(planned, request.prior_private) })
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let (store, endpoint) = (self.store(), self.endpoint());
        on_own_thread(move || {
            let (prior, planned) = (&request.prior_state, &request.planned_state);
            let (changed, diagnostics) = if planned.is_null() {
                let id = text(prior, "id").unwrap_or_default();
                let (deleted, diagnostics) = outcome(store.delete(&id, endpoint));
                (deleted.map(|()| planned.clone()), diagnostics)
            } else {
                let object = Object::from_value(planned, endpoint);
                let done = if prior.is_null() { store.create(object) } else { store.update(object) };
                let (object, diagnostics) = outcome(done);
                (object.map(|object| object.to_value(planned)), diagnostics)
            };
            let new_state = changed.unwrap_or_else(|| prior.clone());
            ApplyResponse { diagnostics, ..ApplyResponse::new(new_state, request.planned_private.clone()) }
        })
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let ImportTarget::Id(id) = request.target else { return Answer::ready(ImportResponse::default()) };
        let state = Object { id, ..Object::default() }.to_value(&Value::NULL);
        let imported =
            ImportedResource { type_name: request.type_name, state, private: Arc::default(), identity: None };
        Answer::ready(ImportResponse { imported: vec![imported], ..ImportResponse::default() })
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let store = self.store();
        on_own_thread(move || {
            let (name, of) = (text(&request.config, "name").unwrap_or_default(), text(&request.config, "of"));
            let (ids, diagnostics) = outcome(store.find(&name, of.as_deref()));
            let ids = Value::list(Type::String, ids.unwrap_or_default().iter().map(Value::string).collect());
            let of = of.map_or(Value::null(Type::String), Value::string);
            let state = Value::object([("ids", ids), ("name", Value::string(name)), ("of", of)]);
            ReadDataResponse { state, deferred: None, diagnostics }
        })
    }

    fn open_ephemeral(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        let store = self.store();
        on_own_thread(move || {
            let target = text(&request.config, "target").unwrap_or_default();
            let (_, diagnostics) = outcome(store.touch(Operation::Open, &target, Some(&target)));
            let result = Value::object([("endpoint", Value::string(&target)), ("target", Value::string(&target))]);
            OpenEphemeralResponse { result, renew_at: None, private: Arc::default(), deferred: None, diagnostics }
        })
    }

    fn invoke_action(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        let store = self.store();
        on_own_thread(move || {
            let (name, target) = (text(&request.config, "name").unwrap_or_default(), text(&request.config, "ref"));
            outcome(store.touch(Operation::Invoke, &name, target.as_deref())).1
        })
    }
}

/// Returns the proposed object with an identifier that is known after the creation.
fn with_unknown_id(proposed: &Value) -> Value {
    let Some(view) = proposed.as_object() else { return proposed.clone() };
    let attributes = view.iter().map(|(name, value)| {
        (name.clone(), if &**name == "id" { Value::unknown(Type::String) } else { value.clone() })
    });
    Value::object(attributes.collect::<Vec<_>>())
}

struct Shared<T> {
    result: Option<T>,
    waker: Option<Waker>,
}

/// Runs `work` on a new thread once the answer is awaited.
pub(super) fn on_own_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<'static, T> {
    let shared = Arc::new(Mutex::new(Shared { result: None, waker: None }));
    let mut work = Some(work);
    Answer::pending(poll_fn(move |context| {
        let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = state.result.take() {
            return Poll::Ready(result);
        }
        state.waker = Some(context.waker().clone());
        if let Some(work) = work.take() {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || {
                let result = work();
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                state.result = Some(result);
                if let Some(waker) = state.waker.take() {
                    waker.wake();
                }
            });
        }
        Poll::Pending
    }))
}

fn schema<const N: usize>(attributes: [(&str, Attribute); N]) -> Schema {
    Schema::new(Block::new(attributes, [] as [(&str, NestedBlock); 0]))
}

fn optional() -> Attribute {
    Attribute::optional(Type::String)
}

pub(super) fn config() -> Schema {
    schema([("endpoint", optional()), ("store", optional())])
}

pub(super) fn object() -> Schema {
    schema([
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::required(Type::String)),
        ("parent", optional()),
        ("refs", Attribute::optional(Type::list(Type::String))),
        ("replace", optional()),
        ("value", optional()),
    ])
}

pub(super) fn lookup() -> Schema {
    schema([
        ("ids", Attribute::computed(Type::list(Type::String))),
        ("name", Attribute::required(Type::String)),
        ("of", optional()),
    ])
}

pub(super) fn session() -> Schema {
    schema([("endpoint", Attribute::computed(Type::String)), ("target", Attribute::required(Type::String))])
}

pub(super) fn action() -> Schema {
    schema([("name", Attribute::required(Type::String)), ("ref", optional())])
}
