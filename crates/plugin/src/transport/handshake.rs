//! The handshake between a plugin and its host: environment variables for the plugin, and the line that the plugin
//! prints to standard output in response (plugin-protocol 2).

use std::fmt;
use std::path::PathBuf;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::connection::Endpoint;
use crate::Protocol;

/// The variable that tells an executable that a plugin host started it.
pub(crate) const COOKIE_NAME: &str = "TF_PLUGIN_MAGIC_COOKIE";
/// The value of [`COOKIE_NAME`]; the same in Terraform and OpenTofu.
pub(crate) const COOKIE_VALUE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// The protocol versions of the host, separated by commas, in any order.
pub(crate) const VERSIONS: &str = "PLUGIN_PROTOCOL_VERSIONS";
/// The host's certificate in PEM, for mutual TLS.
pub(crate) const CLIENT_CERTIFICATE: &str = "PLUGIN_CLIENT_CERT";
/// Set if the host supports broker multiplexing; the handshake line then has a seventh field.
pub(crate) const MULTIPLEX: &str = "PLUGIN_MULTIPLEX_GRPC";
/// The port range for plugins that listen on TCP.
pub(crate) const PORTS: [(&str, &str); 2] = [("PLUGIN_MIN_PORT", "10000"), ("PLUGIN_MAX_PORT", "25000")];

/// The version of the handshake itself.
const CORE_VERSION: &str = "1";
/// The minimum length of the certificate field; go-plugin ignores shorter values.
const MIN_CERTIFICATE: usize = 50;
/// The maximum number of characters of an invalid line in messages.
const MAX_SHOWN: usize = 200;

/// Go plugins omit the base64 padding of certificates; other implementations do not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The content of a handshake line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    /// The protocol version that the plugin selected.
    pub protocol: Protocol,
    /// The address that the plugin listens on.
    pub address: Endpoint,
    /// The plugin's certificate in DER, for TLS.
    pub certificate: Option<Vec<u8>>,
}

/// The reason why a handshake line is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeError {
    /// The line is something other than a handshake.
    NotAHandshake(String),
    /// The handshake version is unsupported.
    CoreVersion(String),
    /// The protocol version is unsupported.
    ProtocolVersion(String),
    /// The plugin does not use gRPC.
    Transport(String),
    /// The type of network is unsupported.
    Network(String),
    /// The certificate cannot be decoded.
    Certificate(String),
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAHandshake(line) => write!(
                f,
                "It printed \"{line}\" instead of the plugin handshake. It may not be a provider plugin, or may have been built for another platform"
            ),
            Self::CoreVersion(version) => {
                write!(f, "It uses plugin handshake version {version}; only version {CORE_VERSION} is supported")
            }
            Self::ProtocolVersion(version) => write!(
                f,
                "It uses plugin protocol version {version}; only versions 5 and 6 are supported. Select a provider version that supports one of them"
            ),
            Self::Transport(transport) => {
                write!(
                    f,
                    "It uses the transport \"{transport}\"; only \"grpc\" is supported, which all providers since Terraform 0.12 use"
                )
            }
            Self::Network(network) => {
                write!(
                    f,
                    "It listens on the unsupported network \"{network}\"; only \"unix\" and \"tcp\" are supported"
                )
            }
            Self::Certificate(problem) => write!(f, "Its handshake contains an invalid certificate: {problem}"),
        }
    }
}

impl Handshake {
    /// Parses a handshake line, with or without the line end.
    pub fn parse(line: &str) -> Result<Self, HandshakeError> {
        let parts: Vec<&str> = line.trim().split('|').collect();
        let [core, version, network, address, rest @ ..] = parts.as_slice() else {
            return Err(HandshakeError::NotAHandshake(shown(line)));
        };
        // Output that merely contains bars is not a handshake, so it is shown to the user instead.
        if core.parse::<u32>().is_err() || version.parse::<u32>().is_err() {
            return Err(HandshakeError::NotAHandshake(shown(line)));
        }
        if *core != CORE_VERSION {
            return Err(HandshakeError::CoreVersion(shown(core)));
        }
        let protocol = version.parse().ok().and_then(Protocol::from_number);
        let protocol = protocol.ok_or_else(|| HandshakeError::ProtocolVersion(shown(version)))?;
        // Plugins that predate the transport field use net/rpc.
        let transport = rest.first().copied().unwrap_or("netrpc");
        if transport != "grpc" {
            return Err(HandshakeError::Transport(shown(transport)));
        }
        let address = match *network {
            "unix" => Endpoint::Unix(PathBuf::from(address)),
            "tcp" => Endpoint::Tcp((*address).to_owned()),
            other => return Err(HandshakeError::Network(shown(other))),
        };
        let certificate = match rest.get(1) {
            // Go plugins without TLS leave the field empty or write a short placeholder.
            Some(text) if text.len() > MIN_CERTIFICATE => {
                Some(BASE64.decode(text).map_err(|problem| HandshakeError::Certificate(problem.to_string()))?)
            }
            _ => None,
        };
        Ok(Self { protocol, address, certificate })
    }

    /// Formats the line without its end. `multiplex` is the reply to the host's multiplexing request.
    pub fn line(&self, multiplex: Multiplex) -> String {
        let certificate = self.certificate.as_ref().map(|der| BASE64.encode(der)).unwrap_or_default();
        let multiplex = match multiplex {
            Multiplex::NotRequested => "",
            Multiplex::Refused => "|false",
        };
        format!("{CORE_VERSION}|{}|{}|grpc|{certificate}{multiplex}", self.protocol, self.address)
    }
}

/// The reply to the host's request for broker multiplexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multiplex {
    /// No reply, since a host that did not ask would not understand one.
    NotRequested,
    /// Multiplexing is refused: every broker connection is separate.
    Refused,
}

/// Truncates arbitrary text for a message, escaped to a single line.
pub(crate) fn shown(text: &str) -> String {
    let text = text.trim_end();
    let mut start: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_default).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        start.push_str("...");
    }
    start.replace("\\'", "'").replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(line: &str) -> String {
        Handshake::parse(line).unwrap_err().to_string()
    }

    #[test]
    fn plugin_on_a_socket_without_tls() {
        let found = Handshake::parse("1|5|unix|/tmp/plugin123|grpc|\n").unwrap();
        assert_eq!(found.protocol, Protocol::V5);
        assert_eq!(found.address, Endpoint::Unix("/tmp/plugin123".into()));
        assert_eq!(found.certificate, None);
    }

    #[test]
    fn handshake_on_tcp_has_certificate_and_multiplex_field() {
        let der = vec![0x30; 70];
        let line = format!("1|6|tcp|127.0.0.1:10001|grpc|{}|true", BASE64.encode(&der));
        let found = Handshake::parse(&line).unwrap();
        assert_eq!(found.address, Endpoint::Tcp("127.0.0.1:10001".into()));
        assert_eq!(found.certificate, Some(der));
    }

    #[test]
    fn handshake_errors_name_the_invalid_field() {
        assert!(problem("hello world").contains("\"hello world\""));
        assert!(problem("a|b|c|d").contains("not be a provider plugin"));
        assert!(problem("2|5|unix|/x|grpc|").contains("plugin handshake version 2"));
        assert!(problem("1|4|unix|/x|grpc|").contains("plugin protocol version 4"));
        assert!(problem("1|5|unix|/x").contains("netrpc"));
        assert!(problem("1|5|pipe|/x|grpc|").contains("\"pipe\""));
        assert!(problem(&format!("1|5|unix|/x|grpc|{}", "!".repeat(60))).contains("certificate"));
    }

    #[test]
    fn invalid_line_is_truncated_and_escaped() {
        let text = problem(&format!("\u{1b}[31m{}", "x".repeat(1000)));
        assert!(!text.contains('\u{1b}') && text.len() < 600, "{text}");
    }

    proptest! {
        #[test]
        fn handshake_line_round_trips(
            v6: bool, tcp: bool, der in proptest::option::of(proptest::collection::vec(any::<u8>(), 60..200)), asked: bool
        ) {
            let handshake = Handshake {
                protocol: if v6 { Protocol::V6 } else { Protocol::V5 },
                address: if tcp { Endpoint::Tcp("127.0.0.1:99".into()) } else { Endpoint::Unix("/tmp/s".into()) },
                certificate: der,
            };
            let multiplex = if asked { Multiplex::Refused } else { Multiplex::NotRequested };
            prop_assert_eq!(Handshake::parse(&handshake.line(multiplex)).unwrap(), handshake);
        }

        #[test]
        fn no_line_makes_the_parser_panic(line in "\\PC*|[0-9|a-z/.]{0,80}") {
            let _ = Handshake::parse(&line);
        }
    }
}
