//! The OAuth settings that a host declares.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::discovery::{ServiceError, Services};
use crate::http::Url;

/// The identifier of the service.
const SERVICE: &str = "login.v1";

/// Ports that are taken where the host names none.
const PORTS: RangeInclusive<u16> = 1024..=65535;

/// The OAuth settings of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OauthClient {
    /// The client identifier of this program.
    pub id: String,
    /// The authorization endpoint, which a user opens.
    pub authorize: Url,
    /// The token endpoint, which redeems the code.
    pub token: Url,
    /// The ports for the redirect.
    pub ports: RangeInclusive<u16>,
    /// The scopes of the token.
    pub scopes: Vec<String>,
}

impl OauthClient {
    /// The client that the host describes; none where it does not offer the service.
    ///
    /// # Errors
    /// The description is wrong, or wants a way of logging in that is not known here.
    pub fn of(services: &Services) -> Result<Option<Self>, ServiceError> {
        let object = match services.object(SERVICE) {
            Ok(object) => object,
            Err(ServiceError::NotOffered { .. }) => return Ok(None),
            Err(problem) => return Err(problem),
        };
        let wrong = |reason: &str| services.invalid(SERVICE, reason);
        let grants = texts(object, "grant_types");
        if grants.as_ref().is_some_and(|grants| !grants.iter().any(|grant| grant == "authz_code")) {
            return Err(wrong("of its grant_types none is known here: \"authz_code\" is expected"));
        }
        let text = |name: &str| {
            let value = object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            value.ok_or_else(|| wrong(&format!("it has no {name:?}")))
        };
        Ok(Some(Self {
            id: text("client")?.to_owned(),
            authorize: services.join(SERVICE, text("authz")?)?,
            token: services.join(SERVICE, text("token")?)?,
            ports: ports(object)
                .ok_or_else(|| wrong("its \"ports\" must be two ports from 1024 on, the lower one first"))?,
            scopes: texts(object, "scopes").unwrap_or_default(),
        }))
    }
}

fn texts(object: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    let list = object.get(name)?.as_array()?;
    Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn ports(object: &Map<String, Value>) -> Option<RangeInclusive<u16>> {
    let Some(ports) = object.get("ports") else { return Some(PORTS) };
    let port = |value: &Value| value.as_u64().and_then(|port| u16::try_from(port).ok());
    match ports.as_array().map(Vec::as_slice) {
        Some([low, high]) => Some(port(low)?..=port(high)?).filter(|ports| !ports.is_empty() && *ports.start() >= 1024),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Result<Option<OauthClient>, ServiceError> {
        OauthClient::of(&Services::of("example.com", serde_json::from_str(json).unwrap()).unwrap())
    }

    #[test]
    fn addresses_are_seen_from_the_host() {
        let client = of(r#"{"login.v1": {"client": "cli", "authz": "/a", "token": "t", "ports": [10000, 10010]}}"#);
        let client = client.unwrap().unwrap();
        assert_eq!(client.authorize.as_str(), "https://example.com/a");
        assert_eq!(client.ports, 10000..=10010);
    }

    #[test]
    fn wrong_descriptions_are_told_and_missing_ones_are_none() {
        assert_eq!(of("{}"), Ok(None));
        for (json, word) in [
            (r#"{"login.v1": {"authz": "/a", "token": "/t"}}"#, "client"),
            (r#"{"login.v1": {"client": "c", "authz": "/a", "token": "/t", "ports": [80, 90]}}"#, "ports"),
            (
                r#"{"login.v1": {"client": "c", "authz": "/a", "token": "/t", "grant_types": ["password"]}}"#,
                "grant_types",
            ),
        ] {
            assert!(of(json).unwrap_err().to_string().contains(word), "{json}");
        }
    }
}
