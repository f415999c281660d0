//! What can be told of a `terraform_remote_state` before its state is read: the backend, its settings, the defaults.

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{ObjectView, Path, Type, Value, convert};

/// A backend of the language, as far as its settings can be checked without it.
struct Backend {
    name: &'static str,
    required: &'static [&'static str],
    /// All settings that there are, where that is known here.
    settings: Option<&'static [&'static str]>,
}

const fn needs(name: &'static str, required: &'static [&'static str]) -> Backend {
    Backend { name, required, settings: None }
}

const fn takes(name: &'static str, settings: &'static [&'static str]) -> Backend {
    Backend { name, required: &[], settings: Some(settings) }
}

const BACKENDS: [Backend; 14] = [
    needs("azurerm", &["container_name", "key"]),
    takes("cloud", &["hostname", "organization", "token", "workspaces"]),
    needs("consul", &["path"]),
    needs("cos", &["bucket", "region"]),
    needs("gcs", &["bucket"]),
    needs("http", &[]),
    needs("inmem", &[]),
    needs("kubernetes", &["secret_suffix"]),
    takes("local", &["path", "workspace_dir"]),
    needs("oci", &["bucket", "namespace"]),
    needs("oss", &["bucket"]),
    takes("pg", &["conn_str", "schema_name", "skip_index_creation", "skip_schema_creation", "skip_table_creation"]),
    takes("remote", &["hostname", "organization", "token", "workspaces"]),
    needs("s3", &["bucket", "key"]),
];

/// What is wrong with the arguments of the data source, as far as they are known.
pub(crate) fn check(config: &Value) -> ProviderDiagnostics {
    let mut problems = ProviderDiagnostics::new();
    problems.extend(backend_problem(config));
    let defaults = config.attribute("defaults").unwrap_or(Value::NULL).unmark().0;
    if !may_be_object(&defaults) {
        let detail = "The defaults are an object: the names of outputs, and a value for each.";
        problems.extend([error("Invalid default values", detail.to_owned(), "defaults")]);
    }
    problems
}

/// Whether it is an object, a map, null, or one of them once it is known.
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
        let detail = format!("There is no backend {name:?}. The backends are {}.", names.join(", "));
        return Some(error(SUMMARY, detail, "backend"));
    };
    let settings = config.attribute("config").unwrap_or(Value::NULL).unmark().0;
    let problem = match settings.as_object() {
        Some(object) => settings_problem(backend, &object),
        None if settings.is_null() => backend.required.first().map(|missing| lacks(missing)),
        None if may_be_object(&settings) => None,
        None => Some("an object is needed".to_owned()),
    };
    match problem {
        Some(problem) => {
            Some(error(SUMMARY, format!("The settings do not fit the backend {name:?}: {problem}."), "config"))
        }
        None => empty_path(backend, &settings),
    }
}

fn lacks(name: &str) -> String {
    format!("the setting {name:?} is missing")
}

fn settings_problem(backend: &Backend, given: &ObjectView<'_>) -> Option<String> {
    if let Some(known) = backend.settings
        && let Some((name, _)) = given.iter().find(|(name, _)| !known.contains(&&***name))
    {
        return Some(format!("there is no setting {name:?}; there are {}", known.join(", ")));
    }
    if let Some(missing) = backend.required.iter().find(|name| given.get(name).is_none_or(Value::is_null)) {
        return Some(lacks(missing));
    }
    let is_text = |name: &&str| !matches!(*name, "workspaces") && !name.starts_with("skip_");
    let mut texts = backend.settings.unwrap_or(backend.required).iter().copied().filter(is_text);
    texts.find_map(|name| {
        let value = given.get(name)?;
        convert::convert(value, &Type::String).err().map(|problem| format!("{name}: {}", problem.message))
    })
}

/// The state of the local backend is in a file, which has a name.
fn empty_path(backend: &Backend, settings: &Value) -> Option<ProviderDiagnostic> {
    let path = settings.attribute("path")?;
    (backend.name == "local" && path.as_str() == Some("")).then(|| {
        let detail = "The path is empty. Leave it out for terraform.tfstate, or name the file of the state.";
        ProviderDiagnostic::error("Invalid local state file path", detail)
    })
}
