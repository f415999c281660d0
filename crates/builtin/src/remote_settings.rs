//! Checks of `terraform_remote_state` before its state is read: backend, settings, defaults.

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{ObjectView, Path, Type, Value, convert};

/// A backend with the settings that can be checked without connecting to it.
struct Backend {
    name: &'static str,
    required: &'static [&'static str],
    /// All supported settings, if the list is known here.
    settings: Option<&'static [&'static str]>,
}

const fn with_required(name: &'static str, required: &'static [&'static str]) -> Backend {
    Backend { name, required, settings: None }
}

const fn with_settings(name: &'static str, settings: &'static [&'static str]) -> Backend {
    Backend { name, required: &[], settings: Some(settings) }
}

const BACKENDS: [Backend; 14] = [
    with_required("azurerm", &["container_name", "key"]),
    with_settings("cloud", &["hostname", "organization", "token", "workspaces"]),
    with_required("consul", &["path"]),
    with_required("cos", &["bucket", "region"]),
    with_required("gcs", &["bucket"]),
    with_required("http", &[]),
    with_required("inmem", &[]),
    with_required("kubernetes", &["secret_suffix"]),
    with_settings("local", &["path", "workspace_dir"]),
    with_required("oci", &["bucket", "namespace"]),
    with_required("oss", &["bucket"]),
    with_settings(
        "pg",
        &["conn_str", "schema_name", "skip_index_creation", "skip_schema_creation", "skip_table_creation"],
    ),
    with_settings("remote", &["hostname", "organization", "token", "workspaces"]),
    with_required("s3", &["bucket", "key"]),
];

/// Checks the arguments of the data source as far as they are known.
pub(crate) fn check(config: &Value) -> ProviderDiagnostics {
    let mut problems = ProviderDiagnostics::new();
    problems.extend(backend_problem(config));
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

fn backend_problem(config: &Value) -> Option<ProviderDiagnostic> {
    const SUMMARY: &str = "Invalid backend configuration";
    let name = config.attribute("backend")?.unmark().0;
    let name = name.as_str()?;
    let Some(backend) = BACKENDS.iter().find(|backend| backend.name == name) else {
        let names: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
        let detail = format!("Unsupported backend {name:?}. The supported backends are {}.", names.join(", "));
        return Some(error(SUMMARY, detail, "backend"));
    };
    let settings = config.attribute("config").unwrap_or(Value::NULL).unmark().0;
    let problem = match settings.as_object() {
        Some(object) => settings_problem(backend, &object),
        None if settings.is_null() => backend.required.first().map(|missing| missing_setting(missing)),
        None if may_be_object(&settings) => None,
        None => Some("an object is required".to_owned()),
    };
    match problem {
        Some(problem) => {
            Some(error(SUMMARY, format!("Invalid settings for the backend {name:?}: {problem}."), "config"))
        }
        None => empty_path(backend, &settings),
    }
}

fn missing_setting(name: &str) -> String {
    format!("the setting {name:?} is missing")
}

fn settings_problem(backend: &Backend, given: &ObjectView<'_>) -> Option<String> {
    if let Some(known) = backend.settings
        && let Some((name, _)) = given.iter().find(|(name, _)| !known.contains(&&***name))
    {
        return Some(format!("unsupported setting {name:?}; the supported settings are {}", known.join(", ")));
    }
    if let Some(missing) = backend.required.iter().find(|name| given.get(name).is_none_or(Value::is_null)) {
        return Some(missing_setting(missing));
    }
    // The only settings of the listed backends that are not strings.
    let is_text = |name: &&str| !matches!(*name, "workspaces") && !name.starts_with("skip_");
    let mut texts = backend.settings.unwrap_or(backend.required).iter().copied().filter(is_text);
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
