//! Starting a plugin.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStdout, Command};

use super::connection::{self, Connection, Ending};
use super::error::{LaunchError, LaunchProblem, not_started, other_machine};
use super::guard;
use super::handshake::{self, Handshake};
use super::log::{LogSink, wanted_of};
use super::process::{LastWords, Lines, Process, drain};
use super::tls::Identity;

/// What to start, and how.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What to call it in the log.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What is added to our environment, which it inherits.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder it starts in; ours without one.
    pub folder: Option<PathBuf>,
    /// Whether both sides are to authenticate themselves.
    pub tls: Tls,
    /// How long it may take until it is ready.
    pub start_timeout: Duration,
}

/// Whether both sides of a connection are to authenticate themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Each shows a certificate made for this connection, and accepts the other's only.
    #[default]
    Mutual,
    /// The plugin is not asked for TLS (`TF_DISABLE_PLUGIN_TLS`).
    Off,
}

impl Launch {
    /// Starts `program` as Terraform does: without arguments, with mutual TLS, with a minute to get ready.
    pub fn new(name: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            tls: Tls::Mutual,
            start_timeout: Duration::from_secs(60),
        }
    }

    fn command(&self, identity: &Identity, log: &dyn LogSink) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env(handshake::COOKIE_NAME, handshake::COOKIE_VALUE)
            .env(handshake::VERSIONS, "5,6")
            .envs(handshake::PORTS)
            .env_remove(handshake::MULTIPLEX)
            .env_remove(handshake::CLIENT_CERTIFICATE)
            .envs(log_levels(&self.name, log))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // An interrupt from the keyboard is for us; the plugin is told by a call.
            .process_group(0)
            .kill_on_drop(true);
        if self.tls == Tls::Mutual {
            command.env(handshake::CLIENT_CERTIFICATE, identity.pem());
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    fn error(&self, problem: LaunchProblem, last_words: LastWords) -> LaunchError {
        LaunchError { program: self.program.clone(), problem, last_words }
    }
}

/// The variables for the least level of the plugin's log lines, where the user has not set them.
fn log_levels(name: &str, log: &dyn LogSink) -> impl Iterator<Item = (String, &'static str)> {
    let wanted = wanted_of(name, log.least());
    let variables = wanted.into_iter().flat_map(|(names, level)| names.map(|name| (name, level)));
    variables.filter(|(name, _)| std::env::var_os(name).is_none())
}

/// Starts a plugin and connects to it.
///
/// # Errors
///
/// The plugin could not be started or reached; it is no longer running then.
pub async fn launch(launch: &Launch, log: Arc<dyn LogSink>) -> Result<Connection, LaunchError> {
    let unheard = |problem| launch.error(problem, LastWords::default());
    let identity = Identity::new().map_err(|error| unheard(LaunchProblem::Unreachable(error.to_string())))?;
    guard::ready();
    let mut child =
        launch.command(&identity, &*log).spawn().map_err(|error| unheard(not_started(&launch.program, &error)))?;
    let stdout = child.stdout.take();
    let process = Process::new(child, &launch.name, &log);

    let ready = tokio::time::timeout(launch.start_timeout, connect(launch, &process, stdout, &identity, &log)).await;
    let problem = match ready.unwrap_or(Err(LaunchProblem::TimedOut(launch.start_timeout))) {
        Ok((handshake, channel)) => {
            connection::follow_output(channel.clone(), launch.name.clone(), log);
            return Ok(Connection::new(channel, handshake.protocol, Some(process), Ending::Ours));
        }
        Err(problem) => problem,
    };
    let last_words = match problem {
        LaunchProblem::Exited => process.last_words().await,
        _ => process.words_so_far(),
    };
    process.kill().await;
    Err(launch.error(problem, last_words))
}

async fn connect(
    launch: &Launch,
    process: &Process,
    stdout: Option<ChildStdout>,
    identity: &Identity,
    log: &Arc<dyn LogSink>,
) -> Result<(Handshake, tonic::transport::Channel), LaunchProblem> {
    let exited = || match other_machine(&launch.program) {
        Some(which) => LaunchProblem::WrongMachine(which),
        None => LaunchProblem::Exited,
    };
    let mut lines = Lines::new(stdout.ok_or_else(exited)?);
    let Some(line) = lines.next().await else { return Err(after_silence(process, exited).await) };
    let handshake = Handshake::parse(&line).map_err(|error| LaunchProblem::Handshake(error.to_string()))?;
    tokio::spawn(drain(lines, launch.name.clone(), Arc::clone(log)));

    let tls = match &handshake.certificate {
        Some(certificate) => {
            Some(identity.client(certificate.clone()).map_err(|error| LaunchProblem::Unreachable(error.to_string()))?)
        }
        None => None,
    };
    let opened = connection::open(handshake.address.clone(), tls);
    tokio::select! {
        channel = opened => Ok((handshake, channel.map_err(LaunchProblem::Unreachable)?)),
        () = process.ended() => Err(LaunchProblem::Exited),
    }
}

/// The standard output ended without a word. Most often the process has ended too; else it is waited for until time is up.
async fn after_silence(process: &Process, exited: impl Fn() -> LaunchProblem) -> LaunchProblem {
    process.ended().await;
    exited()
}
