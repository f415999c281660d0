//! The trait of managed resources, with its requests and responses.

use std::sync::Arc;

use groma_provider::{Answer, ClientCapabilities, Deferred, ImportTarget, ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Path, Type, Value, json};

use crate::model::{Field, Maybe, Model, ModelError};
use crate::{PrivateData, ResourceSchema};

/// The request to validate a configuration.
#[derive(Clone, Debug)]
pub struct ValidateRequest {
    /// The configuration; may hold unknown values.
    pub config: Value,
}

/// The request to modify a plan (FW-12).
#[derive(Clone, Debug)]
pub struct ModifyPlanRequest {
    /// The configuration; null when the object is to be deleted.
    pub config: Value,
    /// The plan after defaults and attribute modifiers; null when the object is to be deleted (FW-13).
    pub plan: Value,
    /// The prior state; null when the object is to be created (FW-13).
    pub state: Value,
    /// The private data of the object.
    pub private: PrivateData,
    /// The attributes whose modifiers require a replacement.
    pub requires_replace: Vec<Path>,
}

impl ModifyPlanRequest {
    /// Returns the planned value of the attribute `name`. Unlike a struct, it can be unknown although it is required.
    ///
    /// # Errors
    ///
    /// Fails if the attribute has another type.
    pub fn planned<T: Field>(&self, name: &str) -> Result<Maybe<T>, ModelError> {
        attribute(&self.plan, name)
    }

    /// Returns the prior value of the attribute `name`.
    ///
    /// # Errors
    ///
    /// Fails if the attribute has another type.
    pub fn current<T: Field>(&self, name: &str) -> Result<Maybe<T>, ModelError> {
        attribute(&self.state, name)
    }

    /// Returns the response that leaves the plan unchanged.
    pub fn unchanged(self) -> ModifyPlanResponse {
        ModifyPlanResponse {
            plan: self.plan,
            private: self.private,
            requires_replace: self.requires_replace,
            deferral: None,
            diagnostics: ProviderDiagnostics::new(),
        }
    }
}

/// The result of adjusting a plan.
#[derive(Clone, Debug)]
pub struct ModifyPlanResponse {
    /// The plan; null if and only if the object is to be deleted.
    pub plan: Value,
    /// The private data for create, update or delete. An idempotency token belongs here, so that a request can be
    /// repeated after a crash.
    pub private: PrivateData,
    /// The attributes that require a replacement.
    pub requires_replace: Vec<Path>,
    /// The reason why the change cannot be planned yet; the plan is then an estimate.
    pub deferral: Option<Deferral>,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl ModifyPlanResponse {
    /// Plans `value` for the attribute `name`, unless the object is to be deleted. Configured values must not change.
    pub fn set(&mut self, name: &str, value: &impl Field) {
        // The plan of a deletion is null and must stay null (FW-13).
        let Some(plan) = self.plan.as_object() else { return };
        let one = |(own, planned): (&crate::Name, &Value)| {
            (own.clone(), if **own == *name { value.to_value() } else { planned.clone() })
        };
        self.plan = Value::object(plan.iter().map(one).collect::<Vec<_>>());
    }

    /// Requires a replacement because of the attribute `name`.
    pub fn replace_for(&mut self, name: &str) {
        self.requires_replace.push(Path::root().attribute(name));
    }

    /// Adds a warning for the user.
    pub fn warn(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::warning(summary, detail));
    }

    /// Defers the change to a later run if the host supports that, and fails with `problem` otherwise. The plan is then
    /// an estimate.
    pub fn defer(&mut self, reason: Deferred, problem: impl Into<ProviderDiagnostic>) {
        self.deferral = Some(Deferral::new(reason, problem));
    }

    /// Adds an error, which prevents the plan.
    pub fn refuse(&mut self, problem: impl Into<ProviderDiagnostic>) {
        self.diagnostics.push(problem.into());
    }
}

fn attribute<T: Field>(object: &Value, name: &str) -> Result<Maybe<T>, ModelError> {
    let value = object.attribute(name).unwrap_or_else(|| Value::null(T::ty()));
    Maybe::from_value(&value, &mut Path::root().attribute(name))
}

/// The request to create an object.
#[derive(Clone, Debug)]
pub struct CreateRequest {
    /// The configuration, wholly known; the only place of write-only values.
    pub config: Value,
    /// The planned object with all values known.
    pub plan: Value,
    /// The private data of the plan.
    pub private: PrivateData,
}

/// The request to update an object.
#[derive(Clone, Debug)]
pub struct UpdateRequest {
    /// The configuration, wholly known; the only place of write-only values.
    pub config: Value,
    /// The planned object with all values known.
    pub plan: Value,
    /// The prior object; its differences from the plan are the changes.
    pub state: Value,
    /// The private data of the plan.
    pub private: PrivateData,
    /// The identity of the object in the plan.
    pub identity: Option<Value>,
}

impl UpdateRequest {
    /// Returns the names of the top-level attributes that differ between plan and state.
    pub fn changed(&self) -> Vec<&str> {
        // Both are objects in an update; anything else has no attributes to compare.
        let (Some(plan), Some(state)) = (self.plan.as_object(), self.state.as_object()) else { return Vec::new() };
        let differs = |name: &str, value: &Value| state.get(name) != Some(value);
        plan.iter().filter(|(name, value)| differs(name, value)).map(|(name, _)| &**name).collect()
    }
}

/// The request to delete an object.
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// The object of the state, which is to be deleted.
    pub state: Value,
    /// The private data of the plan.
    pub private: PrivateData,
}

/// The request to read an object.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// The object of the state.
    pub state: Value,
    /// The private data of the object.
    pub private: PrivateData,
    /// The identity of the state.
    pub identity: Option<Value>,
}

/// The object after a create, an update, a read or an import.
#[derive(Clone, Debug)]
pub struct ObjectResponse {
    /// The object, or `None` if it does not exist. After an error the host records the object nevertheless, because an
    /// existing object must not be forgotten (LC-16).
    pub state: Option<Value>,
    /// The private data of the object.
    pub private: PrivateData,
    /// The identity of the object.
    pub identity: Option<Value>,
    /// The reason why a read or an import has no result yet.
    pub deferral: Option<Deferral>,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl ObjectResponse {
    /// Creates the response for an existing object.
    pub fn found(state: Value, private: PrivateData) -> Self {
        Self { state: Some(state), private, ..Self::gone() }
    }

    /// Creates the response for an object that does not exist (any more).
    pub fn gone() -> Self {
        Self {
            state: None,
            private: PrivateData::new(),
            identity: None,
            deferral: None,
            diagnostics: ProviderDiagnostics::new(),
        }
    }

    /// Creates the response of a call whose result is not known yet: see [`Deferral`].
    pub fn deferred(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        Self { deferral: Some(Deferral::new(reason, problem)), ..Self::gone() }
    }

    /// Creates the response of a call that failed without any effect.
    pub fn failed(diagnostic: ProviderDiagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), ..Self::gone() }
    }

    /// Creates the response of a call that failed after it created or changed the object.
    pub fn failed_with(state: Value, private: PrivateData, diagnostic: ProviderDiagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), ..Self::found(state, private) }
    }

    /// Sets the identity of the object.
    #[must_use]
    pub fn identified(mut self, identity: Value) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Adds a diagnostic to the response.
    #[must_use]
    pub fn with(mut self, diagnostic: ProviderDiagnostic) -> Self {
        self.diagnostics.push(diagnostic);
        self
    }
}

/// The request to import an object.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// The import identifier or identity.
    pub target: ImportTarget,
    /// The configuration of the resource, for values that the service never returns; parts of it may be unknown. `None` if the host does
    /// not send it: the plugin protocol has no field for it.
    pub config: Option<Value>,
}

/// The request to upgrade a stored object.
#[derive(Clone, Debug)]
pub struct UpgradeRequest {
    /// The schema version it was stored with.
    pub version: u64,
    /// The stored object as JSON.
    pub raw_state: Arc<str>,
}

impl UpgradeRequest {
    /// Returns the stored object as a struct with the attributes of its version. Attributes that the struct lacks are
    /// dropped, and missing ones are null.
    ///
    /// # Errors
    ///
    /// Fails if the struct cannot hold it.
    pub fn stored<M: Model>(&self) -> Result<M, ProviderDiagnostic> {
        Ok(M::of(&decode_stored(&self.raw_state, &M::ty())?)?)
    }
}

/// A request to convert an object of another type to this type, because of a `moved` block.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// The provider that the object belongs to, as an address: `registry.terraform.io/hashicorp/null`.
    pub source_provider: String,
    /// The resource type that the object has in the source provider.
    pub source_type: crate::Name,
    /// The schema version it was stored with.
    pub version: u64,
    /// The stored object as JSON.
    pub raw_state: Arc<str>,
    /// The private data of the object, if this framework wrote it.
    pub private: PrivateData,
    /// Its stored identity as JSON.
    pub identity: Option<Arc<str>>,
}

impl MoveRequest {
    /// Returns the stored object as a struct with the attributes of its previous type. Attributes that the struct lacks
    /// are dropped, and missing ones are null.
    ///
    /// # Errors
    ///
    /// Fails if the struct cannot hold it.
    pub fn stored<M: Model>(&self) -> Result<M, ProviderDiagnostic> {
        Ok(M::of(&decode_stored(&self.raw_state, &M::ty())?)?)
    }
}

/// A resource type. All but the schema, create, read and delete have defaults.
///
/// Objects are dynamic values of the schema's implied type. Every method returns its result at once ([`Answer::ready`])
/// or later ([`Answer::pending`]). A panic becomes an error of that one call (FW-21).
pub trait Resource: Send + Sync {
    /// Returns the schema of the resource.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Adjusts a plan as a whole, after the modifiers of the attributes (FW-12). Also called for deletions (FW-13).
    fn modify_plan(&self, request: ModifyPlanRequest) -> Answer<'_, ModifyPlanResponse> {
        Answer::ready(request.unchanged())
    }

    /// Creates the planned object.
    fn create(&self, request: CreateRequest) -> Answer<'_, ObjectResponse>;

    /// Reads the current object from the service.
    fn read(&self, request: ReadRequest) -> Answer<'_, ObjectResponse>;

    /// Like [`read`](Resource::read) for several objects, with one response for each in the order of the requests.
    fn read_many(&self, requests: Vec<ReadRequest>) -> Answer<'_, Vec<ObjectResponse>> {
        Answer::sequence(requests, |request| self.read(request))
    }

    /// Returns the best number of objects for one call of [`read_many`](Resource::read_many).
    fn read_batch_size(&self) -> usize {
        1
    }

    /// Updates the object. Not called for types whose every change requires a replacement.
    fn update(&self, request: UpdateRequest) -> Answer<'_, ObjectResponse> {
        Answer::ready(ObjectResponse::failed_with(
            request.state,
            request.private,
            ProviderDiagnostic::error(
                "Update not supported",
                "Objects of this type cannot be changed. The provider should have asked for a new object: this is a bug \
                 in the provider.",
            ),
        ))
    }

    /// Deletes the object. Without errors it no longer exists.
    fn delete(&self, request: DeleteRequest) -> Answer<'_, ProviderDiagnostics>;

    /// Finds an existing object. The result needs only the attributes that [`read`](Resource::read) requires.
    fn import(&self, request: ImportRequest) -> Answer<'_, ObjectResponse> {
        let _ = request;
        Answer::ready(ObjectResponse::failed(ProviderDiagnostic::error(
            "Resource import not supported",
            "Objects of this type cannot be imported. Have a new one created, or ask the provider's developers.",
        )))
    }

    /// Upgrades a stored object to the current schema. By default attributes that the schema lacks are dropped, and
    /// missing ones are null.
    ///
    /// # Errors
    ///
    /// Fails if the stored object cannot be used.
    fn upgrade(&self, request: UpgradeRequest) -> Result<Value, ProviderDiagnostic> {
        decode_stored(&request.raw_state, self.schema().block().implied_type())
    }

    /// Converts an object of another type to this type; `None` for unsupported types.
    fn move_from(&self, request: MoveRequest) -> Option<Answer<'_, ObjectResponse>> {
        let _ = request;
        None
    }
}

/// A deferral: the reason why a call cannot be answered yet. For example, the object's cluster does not exist, or an essential
/// argument is unknown. A host that supports deferred changes receives the reason and repeats the call in a later run;
/// any other host receives the problem as an error. Providers need not distinguish the two.
///
/// Reads, plans, imports, data sources and ephemeral resources can be deferred. An apply must succeed or fail.
#[derive(Clone, Debug)]
pub struct Deferral {
    reason: Deferred,
    problem: ProviderDiagnostic,
}

impl Deferral {
    /// Creates a deferral for `reason`; `problem` describes it for hosts without deferred changes.
    pub fn new(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        Self { reason, problem: problem.into() }
    }

    /// Stores the deferral in `place` and returns its problem.
    pub(crate) fn stored_in(self, place: &mut Option<Self>) -> ProviderDiagnostic {
        place.insert(self).problem.clone()
    }

    /// Returns the reason to a host that can defer changes; otherwise adds the problem to `diagnostics`.
    pub(crate) fn report(self, host: ClientCapabilities, diagnostics: &mut ProviderDiagnostics) -> Option<Deferred> {
        // A host that did not allow deferral treats the reason as an error of the provider.
        if host.deferral_allowed {
            return Some(self.reason);
        }
        diagnostics.push(self.problem);
        None
    }
}

/// Decodes a stored object of the type `ty`. Attributes that the type lacks are dropped, and missing ones are null.
///
/// # Errors
///
/// Fails if the text is not JSON, or if an attribute has a value of another type.
pub fn decode_stored(raw: &str, ty: &Type) -> Result<Value, ProviderDiagnostic> {
    let unreadable = |problem: &dyn std::fmt::Display| {
        ProviderDiagnostic::error(
            "Unable to Read Previously Saved State",
            format!(
                "The stored object does not fit the schema of its type: {problem}. An upgrade of its shape is missing."
            ),
        )
    };
    // Lenient about attributes, because providers add and remove them without a new schema version.
    json::from_stored(raw.as_bytes(), ty).map_err(|problem| unreadable(&problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_attributes_are_dropped_and_new_ones_are_null() {
        let ty = Type::object([("a", Type::String), ("list", Type::list(Type::object([("x", Type::Number)])))]);
        let value = decode_stored(r#"{"gone": 1, "list": [{"x": 1, "y": 2}]}"#, &ty).unwrap();
        assert!(value.has_type(&ty));
        let object = value.as_object().unwrap();
        assert!(object.get("a").unwrap().is_null());
        assert_eq!(object.get("list").unwrap().as_slice().unwrap().len(), 1);
    }

    #[test]
    fn value_of_another_type_is_an_error() {
        let ty = Type::object([("a", Type::Number)]);
        let error = decode_stored(r#"{"a": []}"#, &ty).unwrap_err();
        assert_eq!(error.summary, "Unable to Read Previously Saved State");
        assert!(decode_stored("{", &ty).is_err());
    }
}
