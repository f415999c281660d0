//! `connection`: how a provisioner reaches a machine.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use groma_provider::{Attribute, Block, NestedBlock};
use groma_value::{Type, Value};
use thiserror::Error;

use super::arguments::Arguments;

const TEXTS: [&str; 21] = [
    "type",
    "user",
    "password",
    "host",
    "timeout",
    "script_path",
    "target_platform",
    "private_key",
    "certificate",
    "host_key",
    "agent_identity",
    "proxy_scheme",
    "proxy_host",
    "proxy_user_name",
    "proxy_user_password",
    "bastion_host",
    "bastion_user",
    "bastion_password",
    "bastion_private_key",
    "bastion_certificate",
    "bastion_host_key",
];
const NUMBERS: [&str; 3] = ["port", "proxy_port", "bastion_port"];
const TRUTHS: [&str; 4] = ["agent", "https", "insecure", "use_ntlm"];

/// The arguments of the block.
pub(super) fn schema() -> &'static Arc<Block> {
    static SCHEMA: LazyLock<Arc<Block>> = LazyLock::new(|| {
        let texts = TEXTS.iter().chain(&["cacert"]).map(|name| (*name, Attribute::optional(Type::String)));
        let numbers = NUMBERS.iter().map(|name| (*name, Attribute::optional(Type::Number)));
        let truths = TRUTHS.iter().map(|name| (*name, Attribute::optional(Type::Bool)));
        Arc::new(Block::new(texts.chain(numbers).chain(truths), Vec::<(&str, NestedBlock)>::new()))
    });
    &SCHEMA
}

/// The address and the user of a connection.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: Option<String>,
    /// The key itself, not its file.
    pub(super) private_key: Option<String>,
    pub(super) certificate: Option<String>,
    /// The only key that the machine may have, or that of the authority which signs it.
    pub(super) host_key: Option<String>,
}

/// Whether keys of an agent are offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    Ignored,
    Asked,
    /// Only this key of it.
    AskedFor(String),
}

/// A connection over SSH.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) target: Endpoint,
    /// A machine on the way.
    pub(super) bastion: Option<Endpoint>,
    pub(super) agent: Agent,
    /// The time limit for connecting.
    pub(super) timeout: Duration,
    /// The remote path for scripts.
    pub(super) script_path: String,
}

/// The reason why a connection cannot be made as its blocks say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum ConnectionError {
    #[error(
        "No connection is configured. Add a \"connection\" block with the argument \"host\" to the provisioner or \
         its resource."
    )]
    NoBlock,
    #[error("The argument \"host\" of the connection is empty. Set it to the host name or address of the machine.")]
    NoHost,
    #[error("The argument {0:?} of the connection is not a valid port. Use a number from 1 to 65535.")]
    Port(String),
    #[error(
        "Groma supports SSH connections only, not WinRM. Install OpenSSH, which is an optional feature of Windows, \
         and set the connection type to \"ssh\"."
    )]
    WinRm,
    #[error("The connection type {0:?} does not exist. Omit it, or set it to \"ssh\".")]
    UnknownType(String),
    #[error("Scripts require a machine with a POSIX shell: target_platform must be \"unix\".")]
    Platform,
    #[error(
        "Groma connects to machines directly or through a bastion host, not through a proxy. Use bastion_host \
         instead of proxy_host."
    )]
    Proxy,
    #[error("The connection timeout {0:?} is not a valid duration. Use a value such as \"30s\" or \"5m\".")]
    Timeout(String),
}

impl Connection {
    /// The connection that the block of a resource and the block of a provisioner ask for; the latter wins.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for people.
    pub(super) fn new(blocks: &[Value]) -> Result<Self, ConnectionError> {
        if blocks.is_empty() {
            return Err(ConnectionError::NoBlock);
        }
        // Reversed, so that the block of the provisioner is asked before that of the resource.
        let blocks: Vec<Arguments> = blocks.iter().rev().map(Arguments::new).collect();
        let text = |name: &str| blocks.iter().find_map(|block| block.filled(name));
        refuse(&text, &blocks)?;
        let host = text("host").ok_or(ConnectionError::NoHost)?;
        let port = |name: &str| match blocks.iter().map(|block| block.value(name)).find(|value| !value.is_null()) {
            None => Ok(None),
            Some(port) => match port.as_number().and_then(|port| u16::try_from(port.to_u64()?).ok()) {
                // Port zero means that none was set, as in Terraform.
                Some(0) => Ok(None),
                Some(port) => Ok(Some(port)),
                None => Err(ConnectionError::Port(name.to_owned())),
            },
        };
        let target = Endpoint {
            host: bare(&host),
            port: port("port")?.unwrap_or(22),
            user: text("user").unwrap_or_else(|| "root".to_owned()),
            password: text("password"),
            private_key: text("private_key"),
            certificate: text("certificate"),
            host_key: text("host_key"),
        };
        // An invalid port is an error even without a bastion host that would use it.
        let bastion_port = port("bastion_port")?;
        let bastion = text("bastion_host").map(|host| Endpoint {
            host: bare(&host),
            // The bastion inherits whatever its own arguments do not set, as in Terraform.
            port: bastion_port.unwrap_or(target.port),
            user: text("bastion_user").unwrap_or_else(|| target.user.clone()),
            password: text("bastion_password").or_else(|| target.password.clone()),
            private_key: text("bastion_private_key").or_else(|| target.private_key.clone()),
            certificate: text("bastion_certificate").or_else(|| target.certificate.clone()),
            host_key: text("bastion_host_key"),
        });
        let agent = match (blocks.iter().find_map(|block| block.truth("agent")), text("agent_identity")) {
            (Some(false), _) => Agent::Ignored,
            (_, Some(identity)) => Agent::AskedFor(identity),
            (_, None) => Agent::Asked,
        };
        Ok(Self {
            target,
            bastion,
            agent,
            timeout: text("timeout").map_or(Ok(Duration::from_mins(5)), |text| timeout(&text))?,
            // Terraform's path, which scripts on the machine may rely on.
            script_path: text("script_path").unwrap_or_else(|| "/tmp/terraform_%RAND%.sh".to_owned()),
        })
    }
}

/// Returns an IPv6 address without enclosing brackets.
fn bare(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

/// Refuses unsupported settings of a connection.
fn refuse(text: &dyn Fn(&str) -> Option<String>, blocks: &[Arguments]) -> Result<(), ConnectionError> {
    match text("type").as_deref() {
        None | Some("ssh") => {}
        Some("winrm") => {
            return Err(ConnectionError::WinRm);
        }
        Some(other) => return Err(ConnectionError::UnknownType(other.to_owned())),
    }
    if text("target_platform").is_some_and(|platform| platform != "unix") {
        return Err(ConnectionError::Platform);
    }
    // A proxy is refused in any block: ignoring it would connect in a way that the user did not ask for.
    if blocks.iter().any(|block| block.filled("proxy_host").is_some()) {
        return Err(ConnectionError::Proxy);
    }
    Ok(())
}

fn timeout(text: &str) -> Result<Duration, ConnectionError> {
    groma_duration::parse_unsigned(text).ok_or_else(|| ConnectionError::Timeout(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(arguments: &[(&str, &str)]) -> Value {
        Value::object(arguments.iter().map(|(name, value)| (*name, Value::string(*value))))
    }

    #[test]
    fn the_block_of_the_provisioner_wins_argument_by_argument() {
        let of_resource = block(&[("host", "a"), ("user", "anna"), ("timeout", "90s")]);
        let connection = Connection::new(&[of_resource, block(&[("host", "b")])]).unwrap();
        assert_eq!((&*connection.target.host, &*connection.target.user), ("b", "anna"));
        assert_eq!((connection.target.port, connection.timeout), (22, Duration::from_secs(90)));
    }

    #[test]
    fn bastion_inherits_the_settings_of_the_connection() {
        let connection =
            Connection::new(&[block(&[("host", "a"), ("user", "anna"), ("password", "p"), ("bastion_host", "b")])]);
        let bastion = connection.unwrap().bastion.unwrap();
        assert_eq!((&*bastion.host, &*bastion.user, bastion.password.as_deref()), ("b", "anna", Some("p")));
    }

    #[test]
    fn addresses_may_stand_in_brackets() {
        let connection = Connection::new(&[block(&[("host", "[::1]"), ("bastion_host", "[fe80::2]")])]).unwrap();
        let bastion = connection.bastion.unwrap();
        assert_eq!((&*connection.target.host, &*bastion.host), ("::1", "fe80::2"));
    }

    #[test]
    fn unsupported_connections_suggest_an_alternative() {
        let refused = [
            (block(&[("host", "a"), ("type", "winrm")]), "OpenSSH"),
            (block(&[("host", "a"), ("type", "telnet")]), "\"ssh\""),
            (block(&[("host", "")]), "address of the machine"),
            (block(&[("host", "a"), ("timeout", "soon")]), "\"5m\""),
            (block(&[("host", "a"), ("proxy_host", "p")]), "bastion_host"),
            (block(&[("host", "a"), ("target_platform", "windows")]), "unix"),
            (Value::object([("host", Value::string("a")), ("port", Value::number(70_000_i64))]), "65535"),
        ];
        for (arguments, words) in refused {
            let problem = Connection::new(&[arguments]).unwrap_err();
            assert!(problem.to_string().contains(words), "{problem}");
        }
    }
}
