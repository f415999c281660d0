//! `terraform_data`: a resource that stores values and takes part in the resource lifecycle. Its IDs are random UUIDs.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use groma_provider::{
    ApplyRequest, ApplyResponse, Attribute, Block, IdentityAttribute, IdentityImport, IdentitySchema, ImportRequest,
    ImportResponse, ImportTarget, ImportedResource, MoveRequest, MoveResponse, Name, NestedBlock, PlanRequest,
    PlanResponse, ProviderDiagnostic, ProviderDiagnostics, Schema, UpgradeIdentityRequest, UpgradeIdentityResponse,
    UpgradeRequest, UpgradeResponse,
};
use groma_value::{Kind, Path, Refinement, Type, Value, json};
use uuid::{Builder, Uuid};

pub(crate) const TYPE_NAME: &str = "terraform_data";

/// The attributes of a `terraform_data` object, in schema order.
struct Object {
    id: Value,
    input: Value,
    output: Value,
    triggers_replace: Value,
}

impl Object {
    /// Reads the attributes of `value`; `None` for null.
    fn of(value: &Value) -> Option<Self> {
        let Kind::Object(object) = value.kind() else { return None };
        // The common case of a value with the schema's own shape needs no lookups.
        let get = |name: &str| object.get(name).cloned().unwrap_or(Value::NULL);
        Some(match object.values() {
            [id, input, output, triggers_replace] => Self {
                id: id.clone(),
                input: input.clone(),
                output: output.clone(),
                triggers_replace: triggers_replace.clone(),
            },
            _ => Self {
                id: get("id"),
                input: get("input"),
                output: get("output"),
                triggers_replace: get("triggers_replace"),
            },
        })
    }

    fn into_value(self) -> Value {
        schema().block.object(vec![self.id, self.input, self.output, self.triggers_replace])
    }
}

/// Returns the schema, equal to that of Terraform 1.15.
pub(crate) fn schema() -> &'static Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        let block = Block::new(
            [
                ("id", Attribute::computed(Type::String)),
                ("input", Attribute::optional(Type::Dynamic)),
                ("output", Attribute::computed(Type::Dynamic)),
                ("triggers_replace", Attribute::optional(Type::Dynamic)),
            ],
            std::iter::empty::<(Name, NestedBlock)>(),
        );
        let id = IdentityAttribute {
            ty: Type::String,
            import: IdentityImport::Required,
            description: "The unique identifier for the data store.".into(),
        };
        let identity = IdentitySchema { version: 0, attributes: BTreeMap::from([("id".into(), id)]) };
        Arc::new(Schema::new(block).identified_by(identity))
    });
    &SCHEMA
}

/// Rejects configured values for computed attributes.
pub(crate) fn validate(config: &Value) -> ProviderDiagnostics {
    let Some(object) = Object::of(config) else { return ProviderDiagnostics::new() };
    let set = [("id", object.id), ("output", object.output)].into_iter().filter(|(_, value)| !value.is_null());
    set.map(|(name, _)| {
        ProviderDiagnostic::error(
            format!("\"{name}\" attribute is read-only"),
            "The provider sets this attribute when it creates the object. Remove it from the configuration.",
        )
        .at(Path::root().attribute(name))
    })
    .collect()
}

pub(crate) fn plan(request: PlanRequest) -> PlanResponse {
    // A null proposal is a deletion, which needs no plan.
    let Some(mut planned) = Object::of(&request.proposed_new_state) else {
        return PlanResponse::new(request.proposed_new_state, request.prior_private);
    };
    let mut replace = Vec::new();
    match Object::of(&request.prior_state) {
        // A null input has a known null output, so that references to it need not wait for apply.
        None => {
            planned.id = unknown_id();
            planned.output = if planned.input.is_null() { planned.input.clone() } else { unknown_like(&planned.input) };
        }
        // Unknown triggers differ from any stored value and replace the object too, as in Terraform.
        Some(prior) if prior.triggers_replace != planned.triggers_replace => {
            replace.push(Path::root().attribute("triggers_replace"));
            planned.id = unknown_id();
            planned.output = if planned.input.is_null() { planned.input.clone() } else { unknown_like(&planned.input) };
        }
        Some(prior) if prior.input != planned.input => planned.output = unknown_like(&planned.input),
        // Nothing changed: the proposed state is returned without building another object, since large plans consist
        // mostly of these.
        Some(_) => return PlanResponse::new(request.proposed_new_state, request.prior_private),
    }
    let response = PlanResponse::new(planned.into_value(), request.prior_private);
    PlanResponse { requires_replace: replace, ..response }
}

fn unknown_id() -> Value {
    // Shared, because a plan may contain many thousands of objects.
    static UNKNOWN: LazyLock<Value> = LazyLock::new(|| Value::refined(Type::String, Refinement::NOT_NULL));
    UNKNOWN.clone()
}

fn unknown_like(input: &Value) -> Value {
    // Unknown although it will equal the input, with the type of the input: Terraform plans it the same way.
    Value::unknown(input.ty())
}

pub(crate) fn apply(request: ApplyRequest) -> ApplyResponse {
    let Some(mut object) = Object::of(&request.planned_state) else {
        return ApplyResponse::new(request.planned_state, request.planned_private);
    };
    // The output mirrors the input, which may have been unknown when the plan was made.
    if !object.output.is_known() {
        object.output = object.input.clone();
    }
    if !object.id.is_known() {
        // Formatted on the stack, without an intermediate string.
        let mut text = Uuid::encode_buffer();
        object.id = Value::string(&*generate_id().hyphenated().encode_lower(&mut text));
    }
    ApplyResponse::new(object.into_value(), request.planned_private)
}

pub(crate) fn import(request: ImportRequest) -> ImportResponse {
    let id = match &request.target {
        ImportTarget::Id(id) => Value::string(id),
        // The identity has the ID as its only attribute.
        ImportTarget::Identity(identity) => identity.attribute("id").unwrap_or(Value::NULL),
    };
    // Terraform returns an identity only for an import by identity.
    let identity = matches!(request.target, ImportTarget::Identity(_)).then(|| identity_of(&id));
    let object = Object { id, input: Value::NULL, output: Value::NULL, triggers_replace: Value::NULL };
    let imported = ImportedResource {
        type_name: request.type_name,
        state: object.into_value(),
        private: Arc::default(),
        identity,
    };
    ImportResponse { imported: vec![imported], ..ImportResponse::default() }
}

fn identity_of(id: &Value) -> Value {
    Value::object([("id", id.clone())])
}

pub(crate) fn upgrade(request: &UpgradeRequest) -> UpgradeResponse {
    match request.raw_state.decode(schema().block.implied_type()) {
        Ok(upgraded_state) => UpgradeResponse { upgraded_state, diagnostics: ProviderDiagnostics::new() },
        Err(problem) => {
            UpgradeResponse { upgraded_state: Value::NULL, diagnostics: unreadable(&problem.to_string()).into() }
        }
    }
}

pub(crate) fn upgrade_identity(request: &UpgradeIdentityRequest) -> UpgradeIdentityResponse {
    let ty = schema().identity_type().unwrap_or(Type::Dynamic);
    match json::from_json(request.raw_identity.as_bytes(), &ty) {
        Ok(upgraded_identity) => UpgradeIdentityResponse { upgraded_identity, diagnostics: ProviderDiagnostics::new() },
        Err(problem) => UpgradeIdentityResponse {
            upgraded_identity: Value::NULL,
            diagnostics: unreadable(&problem.to_string()).into(),
        },
    }
}

fn unreadable(problem: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Unreadable stored object",
        format!("The stored object is not a valid {TYPE_NAME} object: {problem}. Restore the state from a backup."),
    )
}

/// Converts objects of `null_resource`, whose `triggers` become `triggers_replace`.
pub(crate) fn move_state(request: MoveRequest) -> MoveResponse {
    let failed = |diagnostic: ProviderDiagnostic, private| MoveResponse {
        target_state: Value::NULL,
        target_private: private,
        target_identity: None,
        diagnostics: diagnostic.into(),
    };
    // The provider address is not compared: forks and mirrors of the null provider have others.
    if &*request.source_type_name != "null_resource" {
        let detail = format!(
            "Only null_resource objects can be moved to {TYPE_NAME}, not {} objects. Use a \"removed\" block and an \
             \"import\" block instead of the \"moved\" block.",
            request.source_type_name
        );
        return failed(ProviderDiagnostic::error("Unsupported move", detail), request.source_private);
    }
    let source = Type::object([("id", Type::String), ("triggers", Type::map(Type::String))]);
    let old = match request.source_state.decode(&source) {
        Ok(old) => old,
        Err(problem) => return failed(unreadable(&problem.to_string()), request.source_private),
    };
    let triggers = match old.attribute("triggers") {
        Some(triggers) => match triggers.kind() {
            // An object, because `triggers_replace` is dynamic and a configuration writes its braces as an object.
            Kind::Map(map) => Value::object(map.iter().map(|(name, value)| (name.clone(), value.clone()))),
            _ => Value::NULL,
        },
        None => Value::NULL,
    };
    let id = old.attribute("id").unwrap_or(Value::NULL);
    let object = Object { id, input: Value::NULL, output: Value::NULL, triggers_replace: triggers };
    MoveResponse {
        target_state: object.into_value(),
        target_private: request.source_private,
        target_identity: None,
        diagnostics: ProviderDiagnostics::new(),
    }
}

/// The number of IDs per request for random bytes.
const BATCH: usize = 256;

/// Random bytes for future IDs.
static UNUSED: Mutex<Vec<[u8; 16]>> = Mutex::new(Vec::new());

/// Generates a random UUID. A single system call provides the bytes for many, since plans create thousands of objects.
fn generate_id() -> Uuid {
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = unused.pop().or_else(|| {
        let mut bytes = [0; 16 * BATCH];
        getrandom::fill(&mut bytes).ok()?;
        unused.extend_from_slice(bytes.as_chunks().0);
        unused.pop()
    });
    // Without random bytes from the system the `uuid` crate reports the failure by panicking, as nothing sensible
    // remains.
    bytes.map_or_else(Uuid::new_v4, |bytes| Builder::from_random_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn object_ids_are_unique_random_uuids() {
        let made: HashSet<Uuid> = (0..3 * BATCH).map(|_| generate_id()).collect();
        assert_eq!(made.len(), 3 * BATCH);
        assert!(made.iter().all(|id| id.get_version_num() == 4));
    }
}
