//! Launching plugin processes, up to the completed handshake.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStdout, Command};

use super::connection::{self, Connection, Fate};
use super::error::{LaunchError, LaunchProblem, foreign_platform, not_started};
use super::handshake::{self, Handshake};
use super::log::{LogSink, log_variables};

use super::process::{self, ExitInfo, Lines, Process, drain};
use super::tls::Identity;

/// The parameters of a plugin launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The name in the log.
    pub name: String,
    /// The path of the executable.
    pub program: PathBuf,
    /// Command-line arguments; usually none.
    pub arguments: Vec<OsString>,
    /// Environment variables in addition to the inherited ones.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory; that of this process by default.
    pub folder: Option<PathBuf>,
    /// Whether the connection uses mutual TLS.
    pub tls: Tls,
    /// The timeout for the handshake and the connection.
    pub start_timeout: Duration,
}

/// The authentication of the two sides of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Mutual TLS: each side creates a certificate for the connection, and accepts only the other's.
    #[default]
    Mutual,
    /// No TLS, as `TF_DISABLE_PLUGIN_TLS` requests.
    Off,
}

impl Launch {
    /// Creates launch parameters like Terraform's: no arguments, mutual TLS, a timeout of one minute.
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
            // Groma itself may have been started by a host that sets these variables.
            .env_remove(handshake::MULTIPLEX)
            .env_remove(handshake::CLIENT_CERTIFICATE)
            // Before the caller's own variables, which may set other levels.
            .envs(log_levels(&self.name, log))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Terminal interrupts are for this process only; the plugin is asked to stop by a call instead.
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

    fn error(&self, problem: LaunchProblem, exit_info: ExitInfo) -> LaunchError {
        LaunchError { program: self.program.clone(), problem, exit_info }
    }
}

/// Returns environment variables that set the log level of the plugin, unless the user has set them.
fn log_levels(name: &str, log: &dyn LogSink) -> impl Iterator<Item = (String, &'static str)> {
    let variables = log_variables(name, log.least());
    let variables = variables.into_iter().flat_map(|(names, level)| names.map(|name| (name, level)));
    variables.filter(|(name, _)| std::env::var_os(name).is_none())
}

/// Launches a plugin and connects to it.
///
/// # Errors
///
/// The plugin could not be started or connected to. It is no longer running then.
pub async fn launch(launch: &Launch, log: Arc<dyn LogSink>) -> Result<Connection, LaunchError> {
    let before_start = |problem| launch.error(problem, ExitInfo::default());
    let identity = Identity::new().map_err(|error| before_start(LaunchProblem::Unreachable(error.to_string())))?;
    process::start_guard_once();
    let mut child =
        launch.command(&identity, &*log).spawn().map_err(|error| before_start(not_started(&launch.program, &error)))?;
    let stdout = child.stdout.take();
    let process = Process::new(child, &launch.name, &log);

    // One timeout for handshake and connection, because a plugin may hang in either.
    let ready = tokio::time::timeout(launch.start_timeout, connect(launch, &process, stdout, &identity, &log)).await;
    let problem = match ready.unwrap_or(Err(LaunchProblem::TimedOut(launch.start_timeout))) {
        Ok((handshake, channel)) => {
            connection::follow_output(channel.clone(), launch.name.clone(), log);
            return Ok(Connection::new(channel, handshake.protocol, Some(process), Fate::Owned));
        }
        Err(problem) => problem,
    };
    let exit_info = match problem {
        // Only an exiting process is worth waiting for; a hanging one is killed first.
        LaunchProblem::Exited => process.exit_info().await,
        _ => process.exit_info_now(),
    };
    process.kill().await;
    Err(launch.error(problem, exit_info))
}

async fn connect(
    launch: &Launch,
    process: &Process,
    stdout: Option<ChildStdout>,
    identity: &Identity,
    log: &Arc<dyn LogSink>,
) -> Result<(Handshake, tonic::transport::Channel), LaunchProblem> {
    // Under an emulator the program starts and fails at once; its header explains why.
    let exited = || match foreign_platform(&launch.program) {
        Some(which) => LaunchProblem::WrongPlatform(which),
        None => LaunchProblem::Exited,
    };
    let mut lines = Lines::new(stdout.ok_or_else(exited)?);
    let Some(line) = lines.next().await else { return Err(closed_stdout(process, exited).await) };
    let handshake = Handshake::parse(&line).map_err(|error| LaunchProblem::Handshake(error.to_string()))?;
    // Unread output would block the plugin once the pipe is full.
    tokio::spawn(drain(lines, launch.name.clone(), Arc::clone(log)));

    let tls = match &handshake.certificate {
        Some(certificate) => {
            Some(identity.client(certificate.clone()).map_err(|error| LaunchProblem::Unreachable(error.to_string()))?)
        }
        None => None,
    };
    let opened = connection::open(handshake.address.clone(), tls);
    tokio::select! {
        channel = opened => Ok((handshake, channel.map_err(|error| LaunchProblem::Unreachable(error.to_string()))?)),
        // Otherwise a plugin that exits after the handshake would be reported as an unreachable socket.
        () = process.ended() => Err(LaunchProblem::Exited),
    }
}

/// Handles a standard output that ends without a handshake: usually the process is exiting; otherwise the timeout ends
/// this wait.
async fn closed_stdout(process: &Process, exited: impl Fn() -> LaunchProblem) -> LaunchProblem {
    process.ended().await;
    exited()
}
