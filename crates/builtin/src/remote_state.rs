//! `terraform_remote_state`: reads the outputs of another configuration from its backend, without a lock. It never writes there, not
//! even a missing workspace or table.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use groma_address::{DeprecationOrigin, ResourceInstance};
use groma_backend::{Argument, ArgumentError, BackendSchema, ConnectError, Host, RemoteBackend, registry};
use groma_diagnostics::io_reason;
use groma_encryption::{Encryption, RemoteEncryption, is_sealed};
use groma_provider::{
    Answer, Attribute, Block, Description, Name, NestedBlock, ProviderDiagnostic, ProviderDiagnostics, ReadDataRequest,
    ReadDataResponse, Schema,
};
use groma_state::{OutputValue, StateError};
use groma_value::{Deprecation, Marks, ObjectView, Path, Type, Value, convert};

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

pub(crate) fn read<'a>(
    request: ReadDataRequest,
    remote: &RemoteEncryption,
    host: &Host,
) -> Answer<'a, ReadDataResponse> {
    let (config, address) = (request.config, request.address);
    // Chosen by the address of the data source: `remote_state_data_sources` has a block for each.
    let encryption = remote.of(&address.as_ref().map(ToString::to_string).unwrap_or_default()).cloned();
    let backend = text(&config, "backend").unwrap_or_default();
    // Local files are read here and at once; all other backends need requests.
    if matches!(&*backend, "local" | "_local") {
        let content = read_file(&config);
        return Answer::ready(answered(config, content, encryption.as_deref(), address.as_ref()));
    }
    let (store, workspace) = match connected(&backend, &config, host) {
        Ok(connected) => connected,
        Err(problems) => {
            return Answer::ready(ReadDataResponse { state: config, deferred: None, diagnostics: problems });
        }
    };
    Answer::pending(async move {
        let location = store.location(&workspace);
        let content = match store.read_async(&workspace).await {
            // A lock on a new state may leave an empty object, which is no state yet.
            Ok(Some(found)) if !groma_state::file::is_blank(&found.bytes) => Ok((found.bytes, location)),
            Ok(_) => Err(missing(&location)),
            Err(problem) => Err(ProviderDiagnostic::error(problem.summary(), problem.detail())),
        };
        answered(config, content, encryption.as_deref(), address.as_ref())
    })
}

/// Creates the backend that the settings of the data source describe, and returns it with the workspace.
fn connected(backend: &str, config: &Value, host: &Host) -> Result<(RemoteBackend, String), ProviderDiagnostics> {
    let at = |argument: &str, detail: String| {
        ProviderDiagnostic::error("Invalid backend configuration", detail).at(Path::root().attribute(argument))
    };
    let Some(ty) = registry::find(backend) else {
        let detail = format!(
            "States of the backend {backend:?} cannot be read. Pass the values as input variables, or publish them where another data \
             source can read them."
        );
        return Err(at("backend", detail).into());
    };
    // Settings may come from sensitive variables; the backend only gets plain values.
    let settings = config.attribute("config").unwrap_or(Value::NULL).unmark_deep().0;
    let all = |problems: Vec<ArgumentError>| -> ProviderDiagnostics {
        problems.iter().map(|problem| at("config", problem.to_string())).collect()
    };
    let settings = (ty.schema)().conform(&settings).map_err(all)?;
    let store = RemoteBackend::connect(ty, settings, host).map_err(|problem| match problem {
        ConnectError::Arguments(problems) => all(problems),
        ConnectError::Store(problem) => at("config", problem.detail()).into(),
    })?;
    let given = text(config, "workspace").filter(|name| !name.is_empty());
    let workspace = given.or_else(|| store.default_workspace()).unwrap_or_else(|| "default".to_owned());
    // Checked here, because such a backend would silently read its only state.
    if !store.supports_workspace(&workspace) {
        return Err(at("workspace", store.no_workspace(&workspace).detail()).into());
    }
    Ok((store, workspace))
}

/// Returns the response with the outputs of a state whose content and location were read.
fn answered(
    config: Value,
    content: Result<(Vec<u8>, String), ProviderDiagnostic>,
    encryption: Option<&Encryption>,
    address: Option<&ResourceInstance>,
) -> ReadDataResponse {
    let outputs = content.and_then(|(content, location)| outputs(&config, content, &location, encryption, address));
    let (state, diagnostics) = match outputs {
        Ok(outputs) => (with_outputs(&config, outputs), ProviderDiagnostics::new()),
        Err(problem) => (config, problem.into()),
    };
    ReadDataResponse { state, deferred: None, diagnostics }
}

fn with_outputs(config: &Value, outputs: Value) -> Value {
    let attributes = config.as_object().into_iter().flat_map(|object| object.iter());
    // All other attributes equal the configuration, which the contract for data sources demands.
    let filled = attributes
        .map(|(name, value)| (name.clone(), if &**name == "outputs" { outputs.clone() } else { value.clone() }));
    Value::object(filled.collect::<Vec<_>>())
}

/// Reads the configured state file; returns its content and its path.
fn read_file(config: &Value) -> Result<(Vec<u8>, String), ProviderDiagnostic> {
    let path = location(config);
    let shown = path.display().to_string();
    match std::fs::read(&path) {
        // The holder of a lock leaves an empty file if no state was written yet.
        Ok(content) if content.is_empty() => Err(missing(&shown)),
        Ok(content) => Ok((content, shown)),
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => Err(missing(&shown)),
        Err(problem) => {
            let detail = format!("Cannot read the state file {shown}: {}.", io_reason(&problem));
            Err(ProviderDiagnostic::error("Error loading state", detail))
        }
    }
}

/// Returns the outputs of a stored state, completed with the defaults. `address` identifies the data source in marks.
fn outputs(
    config: &Value,
    content: Vec<u8>,
    location: &str,
    encryption: Option<&Encryption>,
    address: Option<&ResourceInstance>,
) -> Result<Value, ProviderDiagnostic> {
    let content = opened(content, encryption, location)?;
    let mut outputs: BTreeMap<Name, Value> = BTreeMap::new();
    let defaults = config.attribute("defaults").unwrap_or(Value::NULL);
    // Defaults first, so that outputs of the state override them.
    if let Some(defaults) = defaults.as_object() {
        outputs.extend(defaults.iter().map(|(name, value)| (Name::from(&**name), value.clone())));
    }
    let stored = stored(&content, address).map_err(|problem| {
        let detail = format!("{location} is not a valid state. {}", problem.detail);
        ProviderDiagnostic::error(problem.summary, detail)
    })?;
    outputs.extend(stored);
    Ok(Value::object(outputs.into_iter().collect::<Vec<_>>()))
}

/// Decrypts the content according to the `encryption` block of this configuration.
fn opened(content: Vec<u8>, encryption: Option<&Encryption>, location: &str) -> Result<Vec<u8>, ProviderDiagnostic> {
    let Some(encryption) = encryption else {
        if is_sealed(&content) {
            let detail = format!(
                "{location} is encrypted. Configure its decryption under remote_state_data_sources in the encryption block, with a \
                 \"default\" block or a block for this data source."
            );
            return Err(ProviderDiagnostic::error("Error loading state", detail));
        }
        return Ok(content);
    };
    let opened = encryption
        .open(&content, "state")
        .map_err(|problem| ProviderDiagnostic::error(problem.summary, format!("{location}: {}", problem.detail)))?;
    Ok(opened.content)
}

fn missing(location: &str) -> ProviderDiagnostic {
    let detail = format!("No state exists at {location}. Apply the configuration that creates it first.");
    ProviderDiagnostic::error("Unable to find remote state", detail).at(Path::root().attribute("workspace"))
}

/// Returns the path of the state file, as the local backend determines it.
fn location(config: &Value) -> PathBuf {
    let settings = config.attribute("config").unwrap_or(Value::NULL);
    let workspace = text(config, "workspace").filter(|name| !matches!(&**name, "" | "default"));
    match workspace {
        None => PathBuf::from(text(&settings, "path").unwrap_or_else(|| "terraform.tfstate".to_owned())),
        Some(name) => {
            // The directory layout of the local backend; `path` applies to the default workspace only.
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
                // The mark lets a warning name the output and the data source at each use (Terraform 1.15).
                let origin = DeprecationOrigin::RemoteOutput { data: address.cloned(), name: name.clone() };
                output.value.with_marks(&Marks::deprecated(Deprecation { message, origin }))
            }
            None => output.value,
        };
        (name, value)
    };
    Ok(outputs.map(marked).collect())
}

/// A backend with the settings that can be checked without connecting to it.
struct Backend {
    name: String,
    /// The settings without which a backend cannot be read.
    required: Vec<&'static str>,
    /// All supported settings, if the list is known here.
    settings: Option<Vec<&'static str>>,
    /// The argument schema; `None` for the local backend, and for backends whose states cannot be read.
    schema: Option<&'static BackendSchema>,
}

/// The backends of the language whose schemas are not in the registry.
const OTHERS: [(&str, &[&str]); 10] = [
    ("azurerm", &["container_name", "key"]),
    ("cloud", &[]),
    ("cos", &["bucket", "region"]),
    ("gcs", &["bucket"]),
    ("kubernetes", &["secret_suffix"]),
    ("local", &[]),
    ("oci", &["bucket", "namespace"]),
    ("oss", &["bucket"]),
    ("remote", &[]),
    ("s3", &["bucket", "key"]),
];

impl Backend {
    fn find(name: &str, host: &Host) -> Option<Self> {
        let found = |required, settings, schema| Some(Self { name: name.to_owned(), required, settings, schema });
        if let Some(ty) = registry::find(name) {
            let schema = (ty.schema)();
            let names = || schema.arguments().iter();
            let required = names().filter(|argument| argument.is_required_by_configuration());
            // A setting from an environment variable may be missing in the configuration.
            let required = required.filter(|argument| host.environment.first(argument.environment()).is_none());
            let settings = names().map(Argument::name).collect();
            return found(required.map(Argument::name).collect(), Some(settings), Some(schema));
        }
        let (_, required) = OTHERS.iter().find(|(known, _)| *known == name)?;
        let settings = match name {
            // The other lists are not complete, so unknown settings of those backends are not reported.
            "local" => Some(vec!["path", "workspace_dir"]),
            "cloud" | "remote" => Some(vec!["hostname", "organization", "token", "workspaces"]),
            _ => None,
        };
        found(required.to_vec(), settings, None)
    }

    fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = registry::all().iter().map(|ty| ty.name).collect();
        names.extend(OTHERS.iter().map(|(name, _)| *name));
        names.sort_unstable();
        // A backend may be in both tables while its store is being written.
        names.dedup();
        names
    }
}

/// Checks the arguments of the data source as far as they are known.
pub(crate) fn check(config: &Value, host: &Host) -> ProviderDiagnostics {
    let mut problems = ProviderDiagnostics::new();
    problems.extend(backend_problem(config, host));
    let defaults = config.attribute("defaults").unwrap_or(Value::NULL).unmark().0;
    if !may_be_object(&defaults) {
        let detail = "The defaults must be an object with a value for each output name.";
        problems.extend([error("Invalid default values", detail.to_owned(), "defaults")]);
    }
    problems
}

/// Whether `value` is null, an object or a map, or may become one of these.
fn may_be_object(value: &Value) -> bool {
    value.is_null() || matches!(value.ty(), Type::Object(_) | Type::Map(_) | Type::Dynamic)
}

fn error(summary: &str, detail: String, argument: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(summary, detail).at(Path::root().attribute(argument))
}

fn backend_problem(config: &Value, host: &Host) -> Option<ProviderDiagnostic> {
    const SUMMARY: &str = "Invalid backend configuration";
    // An unknown name is checked when the data source is read.
    let name = config.attribute("backend")?.unmark().0;
    let name = name.as_str()?;
    // Terraform's and OpenTofu's name for the local backend without the wrapper for remote runs.
    let name = if name == "_local" { "local" } else { name };
    let Some(backend) = Backend::find(name, host) else {
        let names = Backend::names();
        let detail = format!("Unsupported backend {name:?}. The supported backends are {}.", names.join(", "));
        return Some(error(SUMMARY, detail, "backend"));
    };
    let settings = config.attribute("config").unwrap_or(Value::NULL).unmark().0;
    let problem = match settings.as_object() {
        Some(object) => settings_problem(&backend, &object),
        None if settings.is_null() => backend.required.first().map(|missing| missing_setting(missing)),
        // Unknown settings cannot be checked yet.
        None if may_be_object(&settings) => None,
        None => Some("an object is required".to_owned()),
    };
    match problem {
        Some(problem) => {
            Some(error(SUMMARY, format!("Invalid settings for the backend {name:?}: {problem}."), "config"))
        }
        None => empty_path(&backend, &settings),
    }
}

fn missing_setting(name: &str) -> String {
    format!("the setting {name:?} is missing")
}

fn settings_problem(backend: &Backend, given: &ObjectView<'_>) -> Option<String> {
    if let Some(known) = &backend.settings
        && let Some((name, _)) = given.iter().find(|(name, _)| !known.contains(&&***name))
    {
        return Some(format!("unsupported setting {name:?}; the supported settings are {}", known.join(", ")));
    }
    // Unknown values count as set.
    if let Some(missing) = backend.required.iter().find(|name| given.get(name).is_none_or(Value::is_null)) {
        return Some(missing_setting(missing));
    }
    if let Some(schema) = backend.schema {
        let given = given.iter().map(|(name, value)| (name.clone(), value.unmark_deep().0));
        // The first problem suffices: the message is about the argument `config` as a whole.
        let problems = schema.conform(&Value::object(given.collect::<Vec<_>>())).err()?;
        // Arguments that Terraform demands before it connects were checked above; reading demands the others.
        let invalid = problems.iter().find(|problem| !matches!(problem, ArgumentError::Missing { .. }));
        return invalid.map(|problem| problem.to_string().trim_end_matches('.').to_owned());
    }
    // The only setting of the other backends that is not a string.
    let mut texts = backend.settings.as_ref().unwrap_or(&backend.required).iter().filter(|name| **name != "workspaces");
    texts.find_map(|name| {
        let value = given.get(name)?;
        convert::convert(value, &Type::String).err().map(|problem| format!("{name}: {}", problem.message))
    })
}

/// Rejects an empty path of the local backend, as Terraform does.
fn empty_path(backend: &Backend, settings: &Value) -> Option<ProviderDiagnostic> {
    let path = settings.attribute("path")?;
    (backend.name == "local" && path.as_str() == Some("")).then(|| {
        let detail = "The path is empty. Omit it to use terraform.tfstate, or set it to the path of a state file.";
        ProviderDiagnostic::error("Invalid local state file path", detail)
    })
}
