//! Connections to plugin processes: launch, attachment, handshake, TLS, plugin output, shutdown.

mod attach;
mod connection;
mod error;
pub(crate) mod handshake;
mod launch;
mod log;
mod process;
mod short_rsa;
pub(crate) mod tls;

pub use attach::{Reattach, ReattachError, attach, parse_reattach};

pub(crate) use connection::Stream;
pub use connection::{Connection, Endpoint};
pub use error::{LaunchError, LaunchProblem};
pub use launch::{Launch, Tls, launch};
pub use log::{LogLevel, LogSink, NoLog};
pub use process::ExitInfo;
