//! The plugin protocol: providers that run as processes of their own, and ours as such processes.
//!
//! The modules in their order; each uses only those before it:
//!
//! - [`protocol`]: which version is spoken, limits.
//! - `proto`: the messages and stubs of both versions. There is one set of message types, those of version 6; the stubs of
//!   version 5 share them, because on the wire the two differ in the schema messages and in the names of calls alone.
//! - `wire`: from messages to the types of `groma-provider` and back; client and server both use it.
//! - `transport`: a connection to a process, made by launching it or by attaching to a running one.
//! - `client`: a connection as a `groma_provider::Provider`.
//! - `server`: a `groma_provider::Provider` as a process that others connect to.
//!
//! # What `client` needs of `transport`
//!
//! ```text
//! pub struct Connection;                                   // Send + Sync; all its tasks run on the runtime it was made on
//! impl Connection {
//!     pub fn channel(&self) -> tonic::transport::Channel;  // cheap clone; the client sets message limits on its stubs
//!     pub fn protocol(&self) -> Protocol;
//!     pub async fn last_words(&self) -> LastWords;         // after a failed call: waits up to half a second for the process to end
//!     pub async fn shutdown(&self);                        // GRPCController.Shutdown, 2 s, kill; nothing for attached processes with Test = true
//! }                                                        // dropping it kills a launched process that is still there
//! pub struct LastWords { pub exit: Option<String> /* "exit status 2", "signal 9 (SIGKILL)"; None: still running */, pub stderr: String /* its last lines that are no logs, such as a panic */ }
//! pub struct Launch { pub program: PathBuf, pub arguments: Vec<OsString>, pub environment: Vec<(OsString, OsString)> /* added */, pub folder: Option<PathBuf>, pub tls: Tls::{Mutual, Off}, pub start_timeout: Duration }
//! pub trait LogSink: Send + Sync { fn log(&self, level: LogLevel, provider: &str /* as given */, line: &str); }
//! pub async fn launch(launch: &Launch, log: Arc<dyn LogSink>) -> Result<Connection, LaunchError>;
//! pub struct Reattach { pub protocol: Protocol, pub pid: u32, pub test: bool, pub address: Endpoint::{Unix(PathBuf), Tcp(String)} }
//! pub async fn attach(reattach: &Reattach) -> Result<Connection, LaunchError>;
//! pub fn parse_reattach(json: &str) -> Result<BTreeMap<ProviderAddress, Reattach>, ReattachError>;
//! ```
//!
//! `LaunchError` is an error for people: what was started, what happened, last words.

pub mod client;
pub mod proto;
pub mod protocol;
pub mod server;
pub mod transport;
pub mod wire;

pub use protocol::{MESSAGE_LIMIT, Protocol};
pub use server::serve;
