//! The arguments of the backend `remote`, and the token of its host.

use std::sync::LazyLock;

use groma_cloud::Secret;
use groma_value::Type;
use serde_json::Value as Json;

use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Argument, BackendSchema, Nesting, Settings};

/// The host of HCP Terraform.
const DEFAULT_HOST: &str = "app.terraform.io";

/// Returns the argument schema.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name| Argument::optional(name, Type::String);
        BackendSchema::new([
            text("hostname").default(DEFAULT_HOST),
            Argument::required("organization", Type::String),
            text("token").sensitive(),
            Argument::block("workspaces", Nesting::Single, [text("name"), text("prefix")]),
        ])
    });
    &SCHEMA
}

/// The names of the workspaces in the organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// One workspace, which is `default` here.
    Single(String),
    /// All workspaces with this prefix, which is left out here.
    Prefix(String),
}

impl Naming {
    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        let object = settings.object("workspaces");
        let name = |name: &str| object.and_then(|object| object.text(name)).map(str::to_owned);
        match (name("name"), name("prefix")) {
            (Some(name), None) => Ok(Self::Single(name)),
            (None, Some(prefix)) => Ok(Self::Prefix(prefix)),
            (Some(_), Some(_)) => Err(invalid("workspaces", "\"name\" excludes \"prefix\"; set one of them")),
            (None, None) => {
                let reason = "it must have \"name\", for one workspace, or \"prefix\", for all workspaces whose names begin with it";
                Err(invalid("workspaces", reason))
            }
        }
    }
}

/// Returns the token for a host: of the argument, of `TF_TOKEN_HOST`, or the one that `login` has stored.
pub(super) fn token(settings: &Settings, host: &Host, hostname: &str) -> Option<Secret> {
    if let Some(token) = settings.text("token") {
        return Some(Secret::new(token));
    }
    // Variables have no dots and hyphens in their names.
    let name = hostname.replace('-', "__").replace(['.', ':'], "_");
    if let Some(token) = host.environment.get(&format!("TF_TOKEN_{name}")) {
        return Some(Secret::new(token));
    }
    let file = host.home.as_ref()?.join(".terraform.d/credentials.tfrc.json");
    let document: Json = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    document["credentials"][hostname]["token"].as_str().map(Secret::new)
}

fn invalid(argument: &str, reason: &str) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use groma_value::Value;

    use super::*;
    use crate::host::Environment;

    #[test]
    fn token_is_that_of_the_argument_the_variable_or_the_login() {
        let home = tempfile::tempdir().unwrap();
        let settings = |token: Option<&str>| {
            let given = [("organization", Some("o")), ("token", token)];
            let given = given.into_iter().filter_map(|(name, value)| Some((name, Value::string(value?))));
            let config = schema().conform(&Value::object(given)).unwrap();
            schema().resolve(&config, &Environment::default()).unwrap()
        };
        let host = |variables: &[(&str, &str)]| Host {
            environment: Environment::of(variables.iter().copied()),
            home: Some(home.path().to_owned()),
            ..Host::default()
        };
        let found = |token, variables: &[(&str, &str)]| {
            self::token(&settings(token), &host(variables), "tfe.a-b.example").map(|token| token.reveal().to_owned())
        };
        assert_eq!(found(None, &[]), None);
        std::fs::create_dir(home.path().join(".terraform.d")).unwrap();
        let stored = r#"{"credentials":{"tfe.a-b.example":{"token":"stored"}}}"#;
        std::fs::write(home.path().join(".terraform.d/credentials.tfrc.json"), stored).unwrap();
        assert_eq!(found(None, &[]).as_deref(), Some("stored"));
        let variable = [("TF_TOKEN_tfe_a__b_example", "variable")];
        assert_eq!(found(None, &variable).as_deref(), Some("variable"));
        assert_eq!(found(Some("given"), &variable).as_deref(), Some("given"));
    }
}
