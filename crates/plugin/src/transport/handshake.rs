//! The handshake between a plugin and whoever starts it: what the environment says to the plugin, and the line that the
//! plugin answers with on its standard output (plugin-protocol 2).

use std::fmt;
use std::path::PathBuf;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::endpoint::Endpoint;
use crate::Protocol;

/// The variable that tells a plugin that it was started as one.
pub(crate) const COOKIE_NAME: &str = "TF_PLUGIN_MAGIC_COOKIE";
/// Its value.
pub(crate) const COOKIE_VALUE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// The versions that the host speaks, with commas, in any order.
pub(crate) const VERSIONS: &str = "PLUGIN_PROTOCOL_VERSIONS";
/// The host's certificate in PEM, when both sides are to authenticate themselves.
pub(crate) const CLIENT_CERTIFICATE: &str = "PLUGIN_CLIENT_CERT";
/// Set when the host can use one connection for everything; then the handshake has a seventh part.
pub(crate) const MULTIPLEX: &str = "PLUGIN_MULTIPLEX_GRPC";
/// The range of ports for plugins that listen on TCP.
pub(crate) const PORTS: [(&str, &str); 2] = [("PLUGIN_MIN_PORT", "10000"), ("PLUGIN_MAX_PORT", "25000")];

/// The version of the handshake itself.
const CORE_VERSION: &str = "1";
/// Shorter sixth parts are no certificate.
const LEAST_CERTIFICATE: usize = 50;
/// How much of a strange line goes into a message.
const SHOWN: usize = 200;

/// Go's plugins write certificates without padding; others with.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a plugin says about itself when it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    /// The version it chose.
    pub protocol: Protocol,
    /// Where it listens.
    pub address: Endpoint,
    /// Its certificate (DER), when it wants TLS.
    pub certificate: Option<Vec<u8>>,
}

/// What is wrong with a handshake line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeError {
    /// It is something else.
    NotAHandshake(String),
    /// It is one of another generation of plugins.
    CoreVersion(String),
    /// The plugin speaks versions that we do not.
    ProtocolVersion(String),
    /// The plugin does not speak gRPC.
    Transport(String),
    /// It listens on a kind of network that we do not know.
    Network(String),
    /// Its certificate cannot be read.
    Certificate(String),
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAHandshake(line) => write!(
                f,
                "It wrote this where a plugin says how to reach it: \"{line}\". It may not be a provider plugin, or may have been built for something else"
            ),
            Self::CoreVersion(version) => {
                write!(f, "It uses version {version} of the plugin handshake; only version {CORE_VERSION} is known")
            }
            Self::ProtocolVersion(version) => write!(
                f,
                "It speaks version {version} of the plugin protocol; versions 5 and 6 are supported. Choose a version of the provider that has one of them"
            ),
            Self::Transport(transport) => {
                write!(
                    f,
                    "It wants to be reached with \"{transport}\"; only \"grpc\" is supported, which all providers since Terraform 0.12 have"
                )
            }
            Self::Network(network) => {
                write!(f, "It listens on the network \"{network}\"; \"unix\" and \"tcp\" are known")
            }
            Self::Certificate(problem) => write!(f, "The certificate in its handshake cannot be read: {problem}"),
        }
    }
}

impl Handshake {
    /// Reads the line, with or without its end.
    pub fn parse(line: &str) -> Result<Self, HandshakeError> {
        let parts: Vec<&str> = line.trim().split('|').collect();
        let [core, version, network, address, rest @ ..] = parts.as_slice() else {
            return Err(HandshakeError::NotAHandshake(shown(line)));
        };
        if core.parse::<u32>().is_err() || version.parse::<u32>().is_err() {
            return Err(HandshakeError::NotAHandshake(shown(line)));
        }
        if *core != CORE_VERSION {
            return Err(HandshakeError::CoreVersion(shown(core)));
        }
        let protocol = version.parse().ok().and_then(Protocol::from_number);
        let protocol = protocol.ok_or_else(|| HandshakeError::ProtocolVersion(shown(version)))?;
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
            Some(text) if text.len() > LEAST_CERTIFICATE => {
                Some(BASE64.decode(text).map_err(|problem| HandshakeError::Certificate(problem.to_string()))?)
            }
            _ => None,
        };
        Ok(Self { protocol, address, certificate })
    }

    /// The line, without its end. `multiplex` is whether the host asked for one connection for everything.
    pub fn line(&self, multiplex: Multiplex) -> String {
        let certificate = self.certificate.as_ref().map(|der| BASE64.encode(der)).unwrap_or_default();
        let multiplex = match multiplex {
            Multiplex::NotAsked => "",
            Multiplex::Refused => "|false",
        };
        format!("{CORE_VERSION}|{}|{}|grpc|{certificate}{multiplex}", self.protocol, self.address)
    }
}

/// What the handshake says about using one connection for everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multiplex {
    /// The host did not ask, and would not understand an answer.
    NotAsked,
    /// The host asked; each broker connection is one of its own here.
    Refused,
}

/// The start of a text that may be anything, on one line.
pub(crate) fn shown(text: &str) -> String {
    let text = text.trim_end();
    let mut start: String = text.chars().take(SHOWN).flat_map(char::escape_default).collect();
    if text.chars().nth(SHOWN).is_some() {
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
    fn a_plugin_on_a_socket_without_tls() {
        let found = Handshake::parse("1|5|unix|/tmp/plugin123|grpc|\n").unwrap();
        assert_eq!(found.protocol, Protocol::V5);
        assert_eq!(found.address, Endpoint::Unix("/tmp/plugin123".into()));
        assert_eq!(found.certificate, None);
    }

    #[test]
    fn a_plugin_on_tcp_with_a_certificate_and_a_seventh_part() {
        let der = vec![0x30; 70];
        let line = format!("1|6|tcp|127.0.0.1:10001|grpc|{}|true", BASE64.encode(&der));
        let found = Handshake::parse(&line).unwrap();
        assert_eq!(found.address, Endpoint::Tcp("127.0.0.1:10001".into()));
        assert_eq!(found.certificate, Some(der));
    }

    #[test]
    fn each_mistake_says_what_it_is() {
        assert!(problem("hello world").contains("\"hello world\""));
        assert!(problem("a|b|c|d").contains("not be a provider plugin"));
        assert!(problem("2|5|unix|/x|grpc|").contains("version 2 of the plugin handshake"));
        assert!(problem("1|4|unix|/x|grpc|").contains("version 4 of the plugin protocol"));
        assert!(problem("1|5|unix|/x").contains("netrpc"));
        assert!(problem("1|5|pipe|/x|grpc|").contains("\"pipe\""));
        assert!(problem(&format!("1|5|unix|/x|grpc|{}", "!".repeat(60))).contains("certificate"));
    }

    #[test]
    fn a_strange_line_is_shown_in_part_and_without_control_characters() {
        let text = problem(&format!("\u{1b}[31m{}", "x".repeat(1000)));
        assert!(!text.contains('\u{1b}') && text.len() < 600, "{text}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            v6: bool, tcp: bool, der in proptest::option::of(proptest::collection::vec(any::<u8>(), 60..200)), asked: bool
        ) {
            let handshake = Handshake {
                protocol: if v6 { Protocol::V6 } else { Protocol::V5 },
                address: if tcp { Endpoint::Tcp("127.0.0.1:99".into()) } else { Endpoint::Unix("/tmp/s".into()) },
                certificate: der,
            };
            let multiplex = if asked { Multiplex::Refused } else { Multiplex::NotAsked };
            prop_assert_eq!(Handshake::parse(&handshake.line(multiplex)).unwrap(), handshake);
        }

        #[test]
        fn no_line_makes_the_parser_panic(line in "\\PC*|[0-9|a-z/.]{0,80}") {
            let _ = Handshake::parse(&line);
        }
    }
}
