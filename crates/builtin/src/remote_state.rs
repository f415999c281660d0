//! `terraform_remote_state`: the outputs of another configuration, read from its local state file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use groma_address::{DeprecationOrigin, ResourceInstance};
use groma_diagnostics::io_reason;
use groma_encryption::{Encryption, RemoteEncryption, is_sealed};
use groma_provider::{
    Attribute, Block, Description, Name, NestedBlock, ProviderDiagnostic, ProviderDiagnostics, ReadDataRequest,
    ReadDataResponse, Schema,
};
use groma_state::{OutputValue, StateError};
use groma_value::{Deprecation, Marks, Path, Type, Value, convert};

pub(crate) const TYPE_NAME: &str = "terraform_remote_state";

/// Returns the schema, equal to that of Terraform 1.15 except for the descriptions.
pub(crate) fn schema() -> &'static Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        let described = |attribute: Attribute, text: &str| attribute.described(Description::markdown(text));
        let block = Block::new(
            [
                (
                    "backend",
                    described(Attribute::required(Type::String), "The type of the backend that stores the state."),
                ),
                ("config", described(Attribute::optional(Type::Dynamic), "The settings of the backend, as an object.")),
                (
                    "defaults",
                    described(
                        Attribute::optional(Type::Dynamic),
                        "Values for outputs that the state does not contain.",
                    ),
                ),
                (
                    "outputs",
                    described(Attribute::computed(Type::Dynamic), "The outputs of the root module, as an object."),
                ),
                ("workspace", described(Attribute::optional(Type::String), "The workspace whose state is read.")),
            ],
            std::iter::empty::<(Name, NestedBlock)>(),
        );
        Arc::new(Schema::new(block))
    });
    &SCHEMA
}

pub(crate) fn read(request: ReadDataRequest, remote: &RemoteEncryption) -> ReadDataResponse {
    let address = request.address.as_ref();
    let encryption = remote.of(&address.map(ToString::to_string).unwrap_or_default());
    let (state, diagnostics) = match outputs(&request.config, encryption, address) {
        Ok(outputs) => (with_outputs(&request.config, outputs), ProviderDiagnostics::new()),
        Err(problem) => (request.config, problem.into()),
    };
    ReadDataResponse { state, deferred: None, diagnostics }
}

fn with_outputs(config: &Value, outputs: Value) -> Value {
    let attributes = config.as_object().into_iter().flat_map(|object| object.iter());
    let filled = attributes
        .map(|(name, value)| (name.clone(), if &**name == "outputs" { outputs.clone() } else { value.clone() }));
    Value::object(filled.collect::<Vec<_>>())
}

/// Reads the outputs of the configured state, completed with the defaults. `address` identifies the data source in
/// marks.
fn outputs(
    config: &Value,
    encryption: Option<&Encryption>,
    address: Option<&ResourceInstance>,
) -> Result<Value, ProviderDiagnostic> {
    let backend = text(config, "backend").unwrap_or_default();
    if backend != "local" {
        let detail = format!(
            "Only states of the \"local\" backend can be read, not of {backend:?}. Pass the values as input variables, or publish \
             them where another data source can read them."
        );
        return Err(
            ProviderDiagnostic::error("Invalid backend configuration", detail).at(Path::root().attribute("backend"))
        );
    }
    let path = location(config);
    let content = match std::fs::read(&path) {
        // The holder of a lock leaves an empty file if no state was written yet.
        Ok(content) if content.is_empty() => return Err(missing(&path)),
        Ok(content) => content,
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Err(missing(&path)),
        Err(problem) => return Err(unreadable(&path, &io_reason(&problem))),
    };
    let content = opened(content, encryption, &path)?;
    let mut outputs: BTreeMap<Name, Value> = BTreeMap::new();
    let defaults = config.attribute("defaults").unwrap_or(Value::NULL);
    // Defaults first, so that outputs of the state override them.
    if let Some(defaults) = defaults.as_object() {
        outputs.extend(defaults.iter().map(|(name, value)| (Name::from(&**name), value.clone())));
    }
    for (name, value) in stored(&content, address).map_err(|problem| no_state(&path, &problem))? {
        outputs.insert(name, value);
    }
    Ok(Value::object(outputs.into_iter().collect::<Vec<_>>()))
}

/// Decrypts the content, as the `encryption` block of this configuration says.
fn opened(
    content: Vec<u8>,
    encryption: Option<&Encryption>,
    path: &std::path::Path,
) -> Result<Vec<u8>, ProviderDiagnostic> {
    let Some(encryption) = encryption else {
        if is_sealed(&content) {
            let detail = format!(
                "{} is encrypted. Configure its decryption under remote_state_data_sources in the encryption block, with a \"default\" \
                 block or a block for this data source.",
                path.display()
            );
            return Err(ProviderDiagnostic::error("Error loading state", detail));
        }
        return Ok(content);
    };
    let opened = encryption.open(&content, "state").map_err(|problem| {
        ProviderDiagnostic::error(problem.summary, format!("{}: {}", path.display(), problem.detail))
    })?;
    Ok(opened.content)
}

fn missing(path: &std::path::Path) -> ProviderDiagnostic {
    let detail = format!("No state file exists at {}. Apply the configuration that creates it first.", path.display());
    ProviderDiagnostic::error("Unable to find remote state", detail).at(Path::root().attribute("workspace"))
}

fn unreadable(path: &std::path::Path, problem: &str) -> ProviderDiagnostic {
    let detail = format!("Cannot read the state file {}: {problem}.", path.display());
    ProviderDiagnostic::error("Error loading state", detail)
}

fn no_state(path: &std::path::Path, problem: &StateError) -> ProviderDiagnostic {
    let detail = format!("{} is not a valid state file. {}", path.display(), problem.detail);
    ProviderDiagnostic::error(problem.summary.clone(), detail)
}

/// Returns the path of the state file, as the local backend determines it.
fn location(config: &Value) -> PathBuf {
    let settings = config.attribute("config").unwrap_or(Value::NULL);
    let workspace = text(config, "workspace").filter(|name| !matches!(&**name, "" | "default"));
    match workspace {
        None => PathBuf::from(text(&settings, "path").unwrap_or_else(|| "terraform.tfstate".to_owned())),
        Some(name) => {
            let directory = text(&settings, "workspace_dir").unwrap_or_else(|| "terraform.tfstate.d".to_owned());
            PathBuf::from(directory).join(name).join("terraform.tfstate")
        }
    }
}

/// Returns an argument or setting as a string, converted from numbers and bools.
fn text(object: &Value, name: &str) -> Option<String> {
    convert::convert(&object.attribute(name)?, &Type::String).ok()?.as_str().map(str::to_owned)
}

/// Reads the outputs of a state file. Deprecated outputs get a mark that names their origin.
fn stored(content: &[u8], address: Option<&ResourceInstance>) -> Result<Vec<(Name, Value)>, StateError> {
    let outputs = groma_state::file::read(content)?.outputs.into_iter();
    let marked = |(name, output): (Name, OutputValue)| {
        let value = match output.deprecated {
            Some(message) => {
                let origin = DeprecationOrigin::RemoteOutput { data: address.cloned(), name: name.clone() };
                output.value.with_marks(&Marks::deprecated(Deprecation { message, origin }))
            }
            None => output.value,
        };
        (name, value)
    };
    Ok(outputs.map(marked).collect())
}
