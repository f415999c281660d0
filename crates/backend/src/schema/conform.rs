//! Conversion of given arguments to a schema.

use groma_diagnostics::did_you_mean;
use groma_value::{Kind, Value, convert, json};
use thiserror::Error;

use super::argument::{Argument, ArgumentKind, BackendSchema, Nesting, Product};

/// An argument that does not fit the schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArgumentError {
    /// The schema has no argument of this name.
    #[error("An argument named {name:?} is not expected here.{hint}")]
    Unknown {
        /// The name, with the names of enclosing objects: `assume_role.role`.
        name: String,
        /// A similar name, as a sentence after a space; empty without one.
        hint: String,
    },
    /// The value has another type.
    #[error("Inappropriate value for {name:?}: {reason}.")]
    WrongType {
        /// The name of the argument.
        name: String,
        /// The difference.
        reason: String,
    },
    /// A required argument has no value.
    #[error("The attribute {name:?} is required by the backend.{advice}")]
    Missing {
        /// The name of the argument.
        name: String,
        /// The environment variables that could set it, as a sentence after a space; empty without any.
        advice: String,
    },
    /// An environment variable has a value of another type.
    #[error("The environment variable {variable} is not a {expected}.")]
    Environment {
        /// The name of the variable.
        variable: &'static str,
        /// The expected type.
        expected: String,
    },
}

impl ArgumentError {
    /// Returns the name of the top-level argument that the error concerns.
    pub fn argument(&self) -> Option<&str> {
        match self {
            Self::Unknown { name, .. } | Self::WrongType { name, .. } | Self::Missing { name, .. } => {
                name.split('.').next()
            }
            Self::Environment { .. } => None,
        }
    }
}

impl BackendSchema {
    /// Converts an object of given arguments to the types of the schema, with null for each one that is missing. A block
    /// may be given as an object.
    ///
    /// # Errors
    /// All arguments that are unknown or of another type.
    pub fn conform(&self, given: &Value) -> Result<Value, Vec<ArgumentError>> {
        let mut problems = Vec::new();
        let value = object(self.arguments(), given, "", &mut problems);
        if problems.is_empty() { Ok(value) } else { Err(problems) }
    }

    /// Reads the recorded configuration of a working directory.
    ///
    /// # Errors
    /// The recorded arguments do not fit the schema.
    pub fn from_record(&self, config: &serde_json::Value) -> Result<Value, Vec<ArgumentError>> {
        let decoded = json::decode(config.to_string().as_bytes()).map_err(|problem| {
            vec![ArgumentError::WrongType { name: "config".to_owned(), reason: problem.to_string() }]
        })?;
        self.conform(&decoded)
    }

    /// Returns the configuration as `product` records it: each argument of its schema, null where nothing is set; `None`
    /// if an argument is set that its schema does not have.
    pub fn to_record(&self, config: &Value, product: Product) -> Option<serde_json::Value> {
        record(self.arguments(), config, product)
    }
}

fn record(arguments: &[Argument], value: &Value, product: Product) -> Option<serde_json::Value> {
    let mut members = serde_json::Map::new();
    for argument in arguments {
        let value = value.attribute(argument.name).unwrap_or(Value::NULL);
        if !argument.is_in(product) {
            if value != argument.empty() && !value.is_null() {
                return None;
            }
            continue;
        }
        let written = match (&argument.kind, value.kind()) {
            (ArgumentKind::Object(attributes) | ArgumentKind::Block(_, attributes), Kind::Object(_)) => {
                record(attributes, &value, product)?
            }
            (ArgumentKind::Block(_, attributes), Kind::List(elements) | Kind::Set(elements)) => {
                let elements = elements.iter().map(|element| record(attributes, element, product));
                serde_json::Value::Array(elements.collect::<Option<_>>()?)
            }
            _ => serde_json::from_str(&json::encode(&value).ok()?).ok()?,
        };
        let written = match written {
            serde_json::Value::Null if argument.is_list_in(product) => serde_json::Value::Array(Vec::new()),
            one if argument.is_list_in(product) => serde_json::Value::Array(vec![one]),
            one => one,
        };
        members.insert(argument.name.to_owned(), written);
    }
    Some(serde_json::Value::Object(members))
}

fn object(arguments: &[Argument], given: &Value, prefix: &str, problems: &mut Vec<ArgumentError>) -> Value {
    let named = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    let names: Vec<_> = match given.kind() {
        Kind::Object(object) => object.iter().map(|(name, _)| name.clone()).collect(),
        Kind::Map(map) => map.keys().to_vec(),
        _ => Vec::new(),
    };
    for name in names.iter().filter(|name| !arguments.iter().any(|argument| argument.name == &***name)) {
        let hint = did_you_mean(name, arguments.iter().map(|argument| argument.name));
        problems.push(ArgumentError::Unknown { name: named(name), hint });
    }
    let values = arguments.iter().map(|argument| {
        let value = member(given, argument.name).unwrap_or(Value::NULL);
        (argument.name, converted(argument, &value, named(argument.name), problems))
    });
    Value::object(values.collect::<Vec<_>>())
}

fn member(given: &Value, name: &str) -> Option<Value> {
    match given.kind() {
        Kind::Map(map) => map.get(name).cloned(),
        _ => given.attribute(name),
    }
}

fn converted(argument: &Argument, value: &Value, name: String, problems: &mut Vec<ArgumentError>) -> Value {
    if value.is_null() {
        return argument.empty();
    }
    if matches!(value.kind(), Kind::Unknown(_)) {
        // Settings of data sources may be unknown while the configuration is validated.
        return Value::unknown(argument.ty());
    }
    let (ArgumentKind::Object(attributes) | ArgumentKind::Block(_, attributes)) = &argument.kind else {
        return convert::convert(value, &argument.ty()).unwrap_or_else(|problem| {
            problems.push(ArgumentError::WrongType { name, reason: problem.message.to_string() });
            argument.empty()
        });
    };
    let elements = match value.kind() {
        Kind::Object(_) | Kind::Map(_) => vec![object(attributes, value, &name, problems)],
        Kind::List(elements) | Kind::Set(elements) | Kind::Tuple(elements) => {
            elements.iter().map(|element| object(attributes, element, &name, problems)).collect()
        }
        _ => {
            problems.push(ArgumentError::WrongType { name, reason: "an object is required".to_owned() });
            return argument.empty();
        }
    };
    let single = matches!(
        argument.kind,
        ArgumentKind::Object(_) | ArgumentKind::Block(Nesting::Single | Nesting::SingleInTerraform, _)
    );
    if elements.len() > 1 {
        problems.push(ArgumentError::WrongType { name, reason: "only one object is allowed".to_owned() });
        return argument.empty();
    }
    match (&argument.kind, elements) {
        (_, elements) if single => elements.into_iter().next().unwrap_or_else(|| argument.empty()),
        (ArgumentKind::Block(Nesting::List, _), elements) if !elements.is_empty() => {
            Value::list(elements[0].ty(), elements)
        }
        (_, elements) if !elements.is_empty() => Value::set(elements[0].ty(), elements),
        _ => argument.empty(),
    }
}
