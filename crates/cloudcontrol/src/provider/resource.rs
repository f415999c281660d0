//! The one resource there is: plan, create, read, update, delete and import of any type (CC-40 to CC-47).

use std::sync::Arc;

use groma_framework::{
    Answer, CreateRequest, Deferred, DeleteRequest, ImportRequest, ModifyPlanRequest, ModifyPlanResponse,
    ObjectResponse, ProviderDiagnostic, ProviderDiagnostics, ReadRequest, Resource, ResourceSchema, UpdateRequest,
    UpgradeRequest, ValidateRequest,
};
use groma_value::{Path, PathStep, Value};

use super::access::Access;
use super::changing::{create, delete, update};
use super::check::{check, shown};
use super::connection::Connection;
use super::fields::Fields;
use super::imported::{imported_stub, read_imported};
use super::interpreted::Interpreted;
use super::plan::{Plan, Sources, plan};
use super::present::{identifier_of, read};
use super::private_state::{Configured, Import, PrivateState, new_client_token};
use super::region::REGION;
use super::stored;
use super::tags::TagSettings;
use crate::Name;

/// A resource of any type.
pub struct CloudResource {
    type_name: Name,
    interpreted: Arc<Interpreted>,
    access: Access,
}

impl CloudResource {
    /// The resource `type_name`, reached through `access`.
    pub fn new(type_name: Name, interpreted: Arc<Interpreted>, access: Access) -> Self {
        Self { type_name, interpreted, access }
    }

    /// Returns the connection to the region of an object.
    fn reach(&self, object: &Value) -> Result<Arc<Connection>, ProviderDiagnostic> {
        self.access.in_region(self.interpreted.region(object).as_deref())
    }

    /// Returns the response of a read or import that cannot reach the service. It is deferred while the provider block has unknown values.
    fn unreachable(&self, problem: ProviderDiagnostic) -> ObjectResponse {
        match self.access.is_waiting() {
            true => ObjectResponse::deferred(Deferred::ProviderConfigUnknown, problem),
            false => ObjectResponse::failed(problem),
        }
    }

    /// Adds the identity of the object to a response.
    fn identified(&self, connection: &Connection, response: ObjectResponse) -> ObjectResponse {
        let identifier = response.state.as_ref().and_then(identifier_of);
        match identifier.and_then(|identifier| self.interpreted.identity.value(&identifier, connection)) {
            Some(identity) => response.identified(identity),
            None => response,
        }
    }
}

impl Resource for CloudResource {
    fn schema(&self) -> &ResourceSchema {
        &self.interpreted.resource
    }

    fn validate(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(check(&self.interpreted.schema, &self.interpreted.fields, &request.config))
    }

    fn modify_plan(&self, request: ModifyPlanRequest) -> Answer<'_, ModifyPlanResponse> {
        Answer::ready(match self.access.connection() {
            Ok(connection) => plan_change(&self.interpreted, &connection.tags, Some(&connection.region), request),
            Err(_) => plan_change(&self.interpreted, &TagSettings::default(), None, request),
        })
    }

    fn create(&self, request: CreateRequest) -> Answer<'_, ObjectResponse> {
        Answer::pending(async move {
            match self.reach(&request.plan) {
                Ok(connection) => {
                    let response = create(&connection, &self.interpreted, request).await;
                    self.identified(&connection, response)
                }
                Err(problem) => ObjectResponse::failed(problem),
            }
        })
    }

    fn read(&self, request: ReadRequest) -> Answer<'_, ObjectResponse> {
        Answer::pending(async move {
            match self.reach(&request.state) {
                Ok(connection) => {
                    let response = match PrivateState::decode(&request.private).import {
                        Some(Import::Stub) => read_imported(&connection, &self.interpreted, request).await,
                        _ => read(&connection, &self.interpreted, request).await,
                    };
                    self.identified(&connection, response)
                }
                Err(problem) => self.unreachable(problem),
            }
        })
    }

    fn update(&self, request: UpdateRequest) -> Answer<'_, ObjectResponse> {
        Answer::pending(async move {
            match self.reach(&request.state) {
                Ok(connection) => {
                    let response = update(&connection, &self.interpreted, request).await;
                    self.identified(&connection, response)
                }
                Err(problem) => ObjectResponse::failed(problem),
            }
        })
    }

    fn delete(&self, request: DeleteRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            let deleted = match self.reach(&request.state) {
                Ok(connection) => delete(&connection, &self.interpreted, &request.state).await,
                Err(problem) => Err(problem),
            };
            deleted.map_or_else(ProviderDiagnostics::from, |()| ProviderDiagnostics::new())
        })
    }

    fn import(&self, request: ImportRequest) -> Answer<'_, ObjectResponse> {
        let connection = match self.access.connection() {
            Ok(connection) => connection,
            Err(problem) => return Answer::ready(self.unreachable(problem)),
        };
        let response = imported_stub(&self.interpreted, &self.type_name, &connection, &request);
        let connection = response.state.as_ref().and_then(|state| self.reach(state).ok());
        Answer::ready(match connection {
            Some(connection) => self.identified(&connection, response),
            None => response,
        })
    }

    fn upgrade(&self, request: UpgradeRequest) -> Result<Value, ProviderDiagnostic> {
        stored::decode(&self.interpreted.fields, &request.raw_state).map_err(|error| {
            ProviderDiagnostic::error(
                "Stored Object Unreadable",
                format!("The stored object of {} is no JSON: {error}.", self.type_name),
            )
        })
    }
}

/// Plans a change: what the framework does not know of these objects. No call is made.
fn plan_change(
    interpreted: &Interpreted,
    tags: &TagSettings,
    region: Option<&str>,
    request: ModifyPlanRequest,
) -> ModifyPlanResponse {
    if request.plan.is_null() {
        return request.unchanged();
    }
    let private = PrivateState::decode(&request.private);
    let fields = &interpreted.fields;
    let sources = Sources {
        config: &request.config,
        prior: &request.state,
        framework: &request.plan,
        configured: private.configured.as_ref(),
        import: private.import,
    };
    let mut planned = plan(fields, sources);
    if let Some(place) = &interpreted.tags {
        planned.state = place.plan(tags, fields, &request.state, &planned.state);
    }
    let changes = planned.state != request.state;
    let Replacement { paths, unreturned } = replacement(interpreted, &private, &request, &mut planned);
    // Writing the region of the provider, or leaving it out, moves nothing.
    let location = |object: &Value| interpreted.region(object).or_else(|| region.map(str::to_owned));
    let current = location(&request.state);
    let stays = current.is_some() && current == location(&planned.state);
    let requires_replace: Vec<Path> = paths.into_iter().filter(|path| !stays || *path != region_path()).collect();
    let diagnostics = adoption_warning(&planned.adopted);
    let token = changes.then(new_client_token);
    let configured = Some(Configured::of(fields, &request.config));
    let private = if changes || private.configured != configured {
        let import = private.import.map(|_| Import::Configured);
        PrivateState { token, configured, unreturned: [private.unreturned, unreturned].concat(), import }.encode()
    } else {
        request.private
    };
    ModifyPlanResponse { plan: planned.state, private, requires_replace, deferral: None, diagnostics }
}

/// The replacement that a plan needs.
struct Replacement {
    /// The attributes that cannot change in place.
    paths: Vec<Path>,
    /// The adopted attributes whose absence from reads is no drift, because no update can ever set them.
    unreturned: Vec<String>,
}

fn replacement(
    interpreted: &Interpreted,
    private: &PrivateState,
    request: &ModifyPlanRequest,
    planned: &mut Plan,
) -> Replacement {
    let (prior, state) = (&request.state, &planned.state);
    if prior.is_null() || prior == state || interpreted.schema.handlers.update.is_some() {
        let is_change = |path: &Path| prior.path_get(path).ok() != state.path_get(path).ok();
        let by_framework = request.requires_replace.iter().filter(|path| is_change(path));
        let paths =
            by_framework.filter(|path| !planned.adopted.contains(path)).chain(&planned.replace).cloned().collect();
        return Replacement { paths, unreturned: Vec::new() };
    }
    // What cannot be updated is replaced, unless nothing is known of it.
    let is_open = |path: &Path| {
        private.import == Some(Import::Unconfigured) && prior.path_get(path).is_ok_and(|value| value.is_null())
    };
    let changed = changed_attributes(&interpreted.fields, prior, state);
    let (adopted, mut paths): (Vec<Path>, Vec<Path>) = changed.into_iter().partition(is_open);
    paths.extend(request.requires_replace.iter().filter(|path| **path == region_path()).cloned());
    let unreturned = adopted.iter().filter_map(attribute_of).collect();
    planned.adopted.extend(adopted);
    Replacement { paths, unreturned }
}

/// Returns the warning about configured values of an imported object that cannot be compared with the object.
fn adoption_warning(adopted: &[Path]) -> ProviderDiagnostics {
    let Some(first) = adopted.first() else { return ProviderDiagnostics::new() };
    let names: Vec<String> = adopted.iter().map(shown).collect();
    let detail = format!(
        "AWS does not return {}, which cannot change after creation. The imported object is assumed to have the configured value. Check \
         that it does; if it does not, change the configuration.",
        names.join(", ")
    );
    ProviderDiagnostic::warning("Imported Value Not Verified", detail).at(first.clone()).into()
}

/// Returns the name of the attribute that a path begins with.
fn attribute_of(path: &Path) -> Option<String> {
    match path.steps().first()? {
        PathStep::Attribute(name) => Some(name.to_string()),
        PathStep::Index(_) => None,
    }
}

fn region_path() -> Path {
    Path::root().attribute(REGION)
}

fn changed_attributes(fields: &Fields, prior: &Value, planned: &Value) -> Vec<Path> {
    let (Some(prior), Some(planned)) = (prior.as_object(), planned.as_object()) else { return Vec::new() };
    let pairs = fields.list.iter().zip(prior.values().iter().zip(planned.values()));
    pairs
        .filter(|(field, (prior, planned))| field.property.is_some() && !field.read_only() && prior != planned)
        .map(|(field, _)| Path::root().attribute(field.attribute.clone()))
        .collect()
}
