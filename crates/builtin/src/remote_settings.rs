//! Checks of `terraform_remote_state` before its state is read: backend, settings, defaults.

use groma_backend::{Argument, ArgumentError, BackendSchema, Host, registry};
use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{ObjectView, Path, Type, Value, convert};

/// A backend with the settings that can be checked without connecting to it.
struct Backend {
    name: String,
    /// The settings that must be given.
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
            let required = names().filter(|argument| argument.is_required());
            let required = required.filter(|argument| host.environment.first(argument.environment()).is_none());
            let settings = names().map(Argument::name).collect();
            return found(required.map(Argument::name).collect(), Some(settings), Some(schema));
        }
        let (_, required) = OTHERS.iter().find(|(known, _)| *known == name)?;
        let settings = match name {
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
    let name = config.attribute("backend")?.unmark().0;
    let name = name.as_str()?;
    // The peers' name for the local backend without the wrapper for remote runs.
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
    if let Some(missing) = backend.required.iter().find(|name| given.get(name).is_none_or(Value::is_null)) {
        return Some(missing_setting(missing));
    }
    if let Some(schema) = backend.schema {
        let given = given.iter().map(|(name, value)| (name.clone(), value.unmark_deep().0));
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
