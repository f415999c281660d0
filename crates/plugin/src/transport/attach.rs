//! Attaching to plugins that run already: `TF_REATTACH_PROVIDERS`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use groma_address::{DEFAULT_PROVIDER_HOST, ProviderAddress};
use groma_diagnostics::json_reason;
use serde::Deserialize;

use super::connection::{self, Connection, Ending};
use super::endpoint::Endpoint;
use super::error::{LaunchError, LaunchProblem};
use super::log::LogSink;
use super::process::LastWords;
use crate::Protocol;

/// How long the plugin may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// A plugin that runs already, such as one under a debugger or inside a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reattach {
    /// The version of the protocol that it serves.
    pub protocol: Protocol,
    /// Its process.
    pub pid: u32,
    /// Whether it stays when the run is over.
    pub test: bool,
    /// Where it listens; there is no TLS.
    pub address: Endpoint,
}

/// The value of `TF_REATTACH_PROVIDERS` makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum ReattachError {
    /// It is not the JSON that it must be.
    #[error("{}", json_reason(.0))]
    Json(#[from] serde_json::Error),
    /// A key is no provider address.
    #[error("\"{0}\" is not a provider's source address, such as registry.terraform.io/hashicorp/random")]
    Address(String),
    /// A plugin does not speak gRPC.
    #[error("{provider}: the protocol \"{protocol}\" is not supported, only \"grpc\" is")]
    Transport {
        /// The provider.
        provider: String,
        /// What it says it speaks.
        protocol: String,
    },
    /// A plugin speaks a version that we do not.
    #[error("{provider}: version {version} of the plugin protocol is not supported, only 5 and 6 are")]
    Version {
        /// The provider.
        provider: String,
        /// The version.
        version: u32,
    },
    /// A plugin listens on a kind of network that we do not know.
    #[error("{provider}: the network \"{network}\" is not known, only \"unix\" and \"tcp\" are")]
    Network {
        /// The provider.
        provider: String,
        /// The network.
        network: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    protocol: String,
    #[serde(default)]
    protocol_version: u32,
    #[serde(default)]
    pid: u32,
    #[serde(default)]
    test: bool,
    addr: Addr,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Addr {
    network: String,
    string: String,
}

/// Reads the value of `TF_REATTACH_PROVIDERS`; an empty one names no plugins.
///
/// # Errors
///
/// The first thing in it that makes no sense.
pub fn parse_reattach(json: &str) -> Result<BTreeMap<ProviderAddress, Reattach>, ReattachError> {
    if json.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let entries: BTreeMap<String, Entry> = serde_json::from_str(json)?;
    entries
        .into_iter()
        .map(|(provider, entry)| {
            let address = ProviderAddress::parse(&provider, DEFAULT_PROVIDER_HOST)
                .map_err(|_| ReattachError::Address(provider.clone()))?;
            Ok((address, reattach(provider, entry)?))
        })
        .collect()
}

fn reattach(provider: String, entry: Entry) -> Result<Reattach, ReattachError> {
    if entry.protocol != "grpc" {
        return Err(ReattachError::Transport { provider, protocol: entry.protocol });
    }
    // Plugins from before the field was there speak version 5.
    let version = if entry.protocol_version == 0 { 5 } else { entry.protocol_version };
    let Some(protocol) = Protocol::from_number(version) else {
        return Err(ReattachError::Version { provider, version });
    };
    let address = match &*entry.addr.network {
        "unix" => Endpoint::Unix(PathBuf::from(entry.addr.string)),
        "tcp" => Endpoint::Tcp(entry.addr.string),
        _ => return Err(ReattachError::Network { provider, network: entry.addr.network }),
    };
    Ok(Reattach { protocol, pid: entry.pid, test: entry.test, address })
}

/// Connects to a plugin that runs already, called `name` in the log.
///
/// # Errors
///
/// It does not listen where it should.
pub async fn attach(reattach: &Reattach, name: &str, log: Arc<dyn LogSink>) -> Result<Connection, LaunchError> {
    let opened = tokio::time::timeout(PATIENCE, connection::open(reattach.address.clone(), None)).await;
    let channel = opened.unwrap_or_else(|_| Err("it does not accept the connection".to_owned())).map_err(|why| {
        let why = format!("{why}. It was to be process {}; is it still running?", reattach.pid);
        LaunchError {
            program: PathBuf::from(format!("{name} (TF_REATTACH_PROVIDERS)")),
            problem: LaunchProblem::Unreachable(why),
            last_words: LastWords::default(),
        }
    })?;
    connection::follow_output(channel.clone(), name.to_owned(), log);
    let ending = if reattach.test { Ending::GoesOn } else { Ending::Asked };
    Ok(Connection::new(channel, reattach.protocol, None, ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plugin_a_provider_with_version_5_by_default() {
        let found = parse_reattach(
            r#"{"registry.terraform.io/hashicorp/random": {"Protocol":"grpc","ProtocolVersion":6,"Pid":12,"Test":true,
                "Addr":{"Network":"unix","String":"/tmp/p"}},
               "example.com/a/b": {"Protocol":"grpc","Addr":{"Network":"tcp","String":"127.0.0.1:9"}}}"#,
        )
        .unwrap();
        let found: Vec<_> = found.into_values().collect();
        assert_eq!(found.len(), 2);
        assert!(found.contains(&Reattach {
            protocol: Protocol::V6,
            pid: 12,
            test: true,
            address: Endpoint::Unix("/tmp/p".into())
        }));
        assert!(found.contains(&Reattach {
            protocol: Protocol::V5,
            pid: 0,
            test: false,
            address: Endpoint::Tcp("127.0.0.1:9".into())
        }));
        assert!(parse_reattach(" ").unwrap().is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let problem = |json: &str| parse_reattach(json).unwrap_err().to_string();
        let with = |key: &str, protocol: &str, version: u32, network: &str| {
            problem(&format!(
                r#"{{"{key}":{{"Protocol":"{protocol}","ProtocolVersion":{version},"Addr":{{"Network":"{network}","String":"x"}}}}}}"#
            ))
        };
        assert!(problem("[").contains("its JSON does not have the expected structure"), "{}", problem("["));
        assert!(problem("x").contains("it is not valid JSON"), "{}", problem("x"));
        assert!(with("a/b/c/d/e", "grpc", 5, "unix").contains("a/b/c/d/e"));
        assert!(with("a/b", "netrpc", 5, "unix").contains("netrpc"));
        assert!(with("a/b", "grpc", 4, "unix").contains("version 4"));
        assert!(with("a/b", "grpc", 5, "pipe").contains("pipe"));
    }
}
