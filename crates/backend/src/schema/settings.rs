//! Resolved settings: configuration over environment variables over defaults.

use groma_value::{Kind, Type, Value, convert};

use super::argument::{Argument, ArgumentKind, BackendSchema};
use super::conform::ArgumentError;
use crate::host::Environment;

/// The source of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The backend block, `-backend-config`, or the settings of a data source.
    Configuration,
    /// This environment variable.
    Environment(&'static str),
    /// The default of the schema.
    Default,
    /// Nothing sets it.
    Unset,
}

/// The settings of a backend, or of an object in them, with environment variables and defaults filled in.
#[derive(Clone, Debug)]
pub struct Settings {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: &'static str,
    value: Value,
    origin: Origin,
    nested: Vec<Settings>,
}

impl BackendSchema {
    /// Completes a configuration with environment variables and defaults.
    ///
    /// # Errors
    /// All required arguments without a value, and environment variables of another type.
    pub fn resolve(&self, config: &Value, environment: &Environment) -> Result<Settings, Vec<ArgumentError>> {
        let mut problems = Vec::new();
        let settings = resolve(self.arguments(), config, "", environment, &mut problems);
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }
}

fn resolve(
    arguments: &[Argument],
    config: &Value,
    prefix: &str,
    environment: &Environment,
    problems: &mut Vec<ArgumentError>,
) -> Settings {
    let entries = arguments.iter().map(|argument| {
        let path = if prefix.is_empty() { argument.name.to_owned() } else { format!("{prefix}.{}", argument.name) };
        let value = config.attribute(argument.name).unwrap_or(Value::NULL);
        entry(argument, value, path, environment, problems)
    });
    Settings { entries: entries.collect() }
}

fn entry(
    argument: &Argument,
    value: Value,
    path: String,
    environment: &Environment,
    problems: &mut Vec<ArgumentError>,
) -> Entry {
    let name = argument.name;
    let nested = match (&argument.kind, value.kind()) {
        (ArgumentKind::Value(_), _) => Vec::new(),
        (ArgumentKind::Object(attributes) | ArgumentKind::Block(_, attributes), Kind::List(all) | Kind::Set(all)) => {
            all.iter().map(|one| resolve(attributes, one, &path, environment, problems)).collect()
        }
        (ArgumentKind::Object(attributes) | ArgumentKind::Block(_, attributes), Kind::Object(_)) => {
            vec![resolve(attributes, &value, &path, environment, problems)]
        }
        // Some stores read the attributes of a missing object from the environment.
        (ArgumentKind::Object(attributes), _)
            if attributes.iter().any(|one| environment.first(one.environment).is_some()) =>
        {
            // Problems are dropped: without an object in the configuration, none of its attributes is required.
            vec![resolve(attributes, &Value::NULL, &path, environment, &mut Vec::new())]
        }
        _ => Vec::new(),
    };
    if !is_unset(&value) || !nested.is_empty() {
        return Entry { name, value, origin: Origin::Configuration, nested };
    }
    if let ArgumentKind::Value(ty) = &argument.kind {
        if let Some((variable, text)) = environment.first(argument.environment) {
            match from_text(&text, ty) {
                Some(value) => return Entry { name, value, origin: Origin::Environment(variable), nested },
                None => problems.push(ArgumentError::Environment { variable, expected: ty.friendly_name() }),
            }
        } else if let Some(value) = argument.default.and_then(|default| from_text(default, ty)) {
            return Entry { name, value, origin: Origin::Default, nested };
        } else if argument.is_required() {
            problems.push(ArgumentError::Missing { name: path, advice: advice(argument) });
        }
    } else if argument.is_required() {
        problems.push(ArgumentError::Missing { name: path, advice: String::new() });
    }
    // An empty string that nothing replaces stays visible, so that a store can refuse it.
    Entry { name, value, origin: Origin::Unset, nested }
}

fn advice(argument: &Argument) -> String {
    match argument.environment {
        [] => String::new(),
        names => format!(" It can also be set with the environment variable {}.", names.join(" or ")),
    }
}

fn is_unset(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

/// Converts the text of an environment variable. Booleans have the spellings that Go accepts.
fn from_text(text: &str, ty: &Type) -> Option<Value> {
    if *ty != Type::Bool {
        return convert::convert(&Value::string(text), ty).ok();
    }
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(Value::bool(true)),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(Value::bool(false)),
        _ => None,
    }
}

impl Settings {
    fn entry(&self, name: &str) -> Option<&Entry> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        // A wrong name is a defect of the store, which its tests find; a release build treats it as unset.
        debug_assert!(found.is_some(), "the schema has no argument {name}");
        found
    }

    /// Returns a string; `None` if it is unset or empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.entry(name)?.value.as_str().filter(|text| !text.is_empty())
    }

    /// Whether a string is set to nothing: `name = ""`.
    pub fn is_empty_text(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| entry.value.as_str() == Some(""))
    }

    /// Returns a required string, which [`BackendSchema::resolve`] has checked; empty otherwise.
    pub fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// Whether a bool is true.
    pub fn flag(&self, name: &str) -> bool {
        self.entry(name).and_then(|entry| entry.value.as_bool()).unwrap_or_default()
    }

    /// Returns a whole number that is not negative; `None` if it is unset or something else.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.entry(name)?.value.as_number()?.to_u64()
    }

    /// Returns the strings of a list or set; empty if it is unset.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let entry = self.entry(name);
        let elements = entry.map(|entry| entry.value.elements().map(|(_, value)| value).collect::<Vec<_>>());
        elements.unwrap_or_default().iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }

    /// Returns the entries of a map of strings, sorted by key; empty if it is unset.
    pub fn map(&self, name: &str) -> Vec<(String, String)> {
        let Some(map) = self.entry(name).and_then(|entry| entry.value.as_map()) else { return Vec::new() };
        map.iter().filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned()))).collect()
    }

    /// Returns a value of any type; `None` if it is unset.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.entry(name).map(|entry| &entry.value).filter(|value| !value.is_null())
    }

    /// Returns the settings of a nested object or block.
    pub fn object(&self, name: &str) -> Option<&Settings> {
        self.entry(name)?.nested.first()
    }

    /// Returns the source of a setting.
    pub fn origin(&self, name: &str) -> Origin {
        self.entry(name).map_or(Origin::Unset, |entry| entry.origin)
    }

    /// Whether something sets the argument: the configuration or the environment.
    pub fn is_set(&self, name: &str) -> bool {
        matches!(self.origin(name), Origin::Configuration | Origin::Environment(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> BackendSchema {
        BackendSchema::new([
            Argument::required("address", Type::String).env(&["X_ADDRESS"]),
            Argument::optional("retries", Type::Number).env(&["X_RETRIES"]).default("2"),
            Argument::optional("insecure", Type::Bool).env(&["X_INSECURE"]),
            Argument::object("role", [Argument::required("arn", Type::String).env(&["X_ARN"])]),
        ])
    }

    fn resolved(config: Value, variables: &[(&'static str, &str)]) -> Result<Settings, Vec<ArgumentError>> {
        let environment = Environment::of(variables.iter().copied());
        schema().conform(&config).and_then(|config| schema().resolve(&config, &environment))
    }

    #[test]
    fn configuration_precedes_environment_precedes_default() {
        let given = Value::object([("address", Value::string("a")), ("retries", Value::string("7"))]);
        let settings = resolved(given, &[("X_ADDRESS", "b"), ("X_RETRIES", "5"), ("X_INSECURE", "T")]).unwrap();
        assert_eq!(settings.text("address"), Some("a"));
        assert_eq!(settings.number("retries"), Some(7));
        assert!(settings.flag("insecure"));
        assert_eq!(settings.origin("insecure"), Origin::Environment("X_INSECURE"));
        let settings = resolved(Value::object([("address", Value::string(""))]), &[("X_ADDRESS", "b")]).unwrap();
        assert_eq!((settings.text("address"), settings.number("retries")), (Some("b"), Some(2)));
    }

    #[test]
    fn missing_unknown_and_mistyped_arguments_are_errors() {
        let none: [(&str, Value); 0] = [];
        let missing = resolved(Value::object(none), &[("X_INSECURE", "maybe")]).unwrap_err();
        assert!(matches!(&missing[0], ArgumentError::Missing { name, .. } if name == "address"), "{missing:?}");
        assert!(matches!(&missing[1], ArgumentError::Environment { variable: "X_INSECURE", .. }), "{missing:?}");
        let role = Value::object([("arm", Value::string("x"))]);
        let given = Value::object([("retries", Value::string("many")), ("role", role)]);
        let problems = resolved(given, &[]).unwrap_err();
        assert!(matches!(&problems[0], ArgumentError::WrongType { name, .. } if name == "retries"), "{problems:?}");
        assert!(matches!(&problems[1], ArgumentError::Unknown { name, .. } if name == "role.arm"), "{problems:?}");
    }

    #[test]
    fn nested_objects_read_the_environment() {
        let given = Value::object([("address", Value::string("a"))]);
        assert!(resolved(given.clone(), &[]).unwrap().object("role").is_none());
        let settings = resolved(given, &[("X_ARN", "arn")]).unwrap();
        assert_eq!(settings.object("role").unwrap().text("arn"), Some("arn"));
    }
}
