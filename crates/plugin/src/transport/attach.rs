//! Attaching to running plugins through `TF_REATTACH_PROVIDERS`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use groma_address::{DEFAULT_PROVIDER_HOST, ProviderAddress};
use groma_diagnostics::json_reason;
use serde::Deserialize;

use super::connection::{self, Connection, Endpoint, Fate, OpenError};
use super::error::{LaunchError, LaunchProblem};
use super::log::LogSink;
use super::process::ExitInfo;
use crate::Protocol;

/// The timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A plugin that is already running, for example in a debugger or inside a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reattach {
    /// The protocol version that it serves.
    pub protocol: Protocol,
    /// Its process ID, for messages.
    pub pid: u32,
    /// Whether it keeps running after the run.
    pub test: bool,
    /// The address that it listens on, without TLS.
    pub address: Endpoint,
}

/// An error in the value of `TF_REATTACH_PROVIDERS`.
#[derive(Debug, thiserror::Error)]
pub enum ReattachError {
    /// The value is not JSON of the expected structure.
    #[error("{}", json_reason(.0))]
    Json(#[from] serde_json::Error),
    /// A key is not a provider source address.
    #[error("\"{0}\" is not a provider source address such as registry.terraform.io/hashicorp/random")]
    Address(String),
    /// The plugin does not use gRPC.
    #[error("{provider}: unsupported protocol \"{protocol}\"; must be \"grpc\"")]
    Transport {
        /// The key of the entry.
        provider: String,
        /// The value of `Protocol`, such as `netrpc`.
        protocol: String,
    },
    /// The plugin uses an unsupported protocol version.
    #[error("{provider}: unsupported plugin protocol version {version}; must be 5 or 6")]
    Version {
        /// The key of the entry.
        provider: String,
        /// The value of `ProtocolVersion`.
        version: u32,
    },
    /// The plugin listens on an unsupported type of network.
    #[error("{provider}: unsupported network \"{network}\"; must be \"unix\" or \"tcp\"")]
    Network {
        /// The key of the entry.
        provider: String,
        /// The value of `Network`, such as `pipe`.
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

/// Parses the value of `TF_REATTACH_PROVIDERS`; an empty value contains no plugins.
///
/// # Errors
///
/// The first invalid entry.
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
    // Plugins that predate the field use version 5.
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

/// Connects to a running plugin, which appears as `name` in the log.
///
/// # Errors
///
/// The plugin does not listen at the given address.
pub async fn attach(reattach: &Reattach, name: &str, log: Arc<dyn LogSink>) -> Result<Connection, LaunchError> {
    let opened = tokio::time::timeout(CONNECT_TIMEOUT, connection::open(reattach.address.clone(), None)).await;
    let channel = opened.unwrap_or(Err(OpenError::TooLate)).map_err(|why| {
        let why = format!("{why}. Check that its process {} is still running", reattach.pid);
        LaunchError {
            program: PathBuf::from(format!("{name} (TF_REATTACH_PROVIDERS)")),
            problem: LaunchProblem::Unreachable(why),
            exit_info: ExitInfo::default(),
        }
    })?;
    // The standard streams of an attached process belong to its own terminal, so only the gRPC stream remains.
    connection::follow_output(channel.clone(), name.to_owned(), log);
    // Acceptance tests serve the provider from the test process itself, which must survive.
    let fate = if reattach.test { Fate::Survives } else { Fate::AskedToEnd };
    Ok(Connection::new(channel, reattach.protocol, None, fate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocol_version_defaults_to_5() {
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
    fn reattach_errors_name_the_invalid_entry() {
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
