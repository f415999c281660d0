//! Provisioners of each type, from their arguments to their end.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, io_reason};
use groma_provider::Block;
use groma_value::Value;

use super::Failure;
use super::arguments::Arguments;
use super::connection::{self, Connection};
use super::file::{self, Copy};
use super::local_exec::{self, LocalExec};
use super::remote_exec::{self, RemoteExec};
use super::runner::{Interruption, Runner};

/// A type of provisioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs a command on this machine.
    LocalExec,
    /// Runs scripts over a connection.
    RemoteExec,
    /// Copies a file or a directory over a connection.
    File,
}

impl Kind {
    /// The names that configurations use.
    pub const NAMES: [&str; 3] = ["local-exec", "remote-exec", "file"];

    /// Returns the type with this name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "local-exec" => Some(Self::LocalExec),
            "remote-exec" => Some(Self::RemoteExec),
            "file" => Some(Self::File),
            _ => None,
        }
    }

    /// Returns the schema of the arguments.
    pub fn schema(self) -> &'static Arc<Block> {
        match self {
            Self::LocalExec => local_exec::schema(),
            Self::RemoteExec => remote_exec::schema(),
            Self::File => file::schema(),
        }
    }

    /// Returns the problem with arguments that conform to the schema; `None` for valid or unknown arguments.
    pub fn problem(self, arguments: &Value) -> Option<Diagnostic> {
        match self {
            Self::LocalExec => None,
            Self::RemoteExec => remote_exec::problem(&Arguments::new(arguments)),
            Self::File => file::problem(&Arguments::new(arguments)),
        }
    }

    /// Whether it needs a connection.
    pub fn is_remote(self) -> bool {
        self != Self::LocalExec
    }
}

/// Returns the schema of `connection` blocks.
pub fn connection_schema() -> &'static Arc<Block> {
    connection::schema()
}

/// The reason why the arguments of `connection` blocks are no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConnection {
    /// A sentence for people.
    pub reason: String,
}

/// A provisioner whose arguments are known.
pub struct Task(Work);

enum Work {
    LocalExec(LocalExec),
    RemoteExec(RemoteExec, Connection),
    File(Copy, Connection),
}

impl Task {
    /// A provisioner with these arguments. Of several `connection` blocks the later ones win; `local-exec` needs none.
    ///
    /// # Errors
    ///
    /// The blocks make no connection.
    pub fn new(kind: Kind, arguments: &Value, connections: &[Value]) -> Result<Self, InvalidConnection> {
        let arguments = Arguments::new(arguments);
        let connection =
            || Connection::new(connections).map_err(|error| InvalidConnection { reason: error.to_string() });
        Ok(Self(match kind {
            Kind::LocalExec => Work::LocalExec(LocalExec::new(&arguments)),
            Kind::RemoteExec => Work::RemoteExec(RemoteExec::new(&arguments), connection()?),
            Kind::File => Work::File(Copy::new(&arguments), connection()?),
        }))
    }

    /// Runs it on a thread of its own; `output` gets each line that it prints. It does not begin once the run is to stop.
    ///
    /// # Errors
    ///
    /// It failed, was interrupted, or could not begin.
    pub async fn run(
        self,
        interruption: Arc<dyn Interruption>,
        output: impl Fn(&str) + Send + 'static,
    ) -> Result<(), Failure> {
        const SUMMARY: &str = "Provisioner error";
        let runner = Runner::new(interruption);
        if runner.is_stopped() {
            return Err(Failure::new(SUMMARY, "The run was interrupted before the provisioner began."));
        }
        match runner.drive(move |runner| self.0.run(runner, &output)).await {
            Ok(Some(ended)) => ended,
            Ok(None) => Err(Failure::new(SUMMARY, "The provisioner's thread ended without a result.")),
            Err(error) => Err(Failure::new(SUMMARY, no_thread(&error))),
        }
    }
}

impl Work {
    fn run(&self, runner: &Runner, output: &dyn Fn(&str)) -> Result<(), Failure> {
        match self {
            Self::LocalExec(command) => command.run(runner, output),
            Self::RemoteExec(scripts, connection) => scripts.run(connection, runner, output),
            Self::File(copy, connection) => copy.run(connection, runner),
        }
    }
}

fn no_thread(error: &std::io::Error) -> String {
    format!(
        "Cannot start a thread for the provisioner: {}. Raise the limit on processes and threads (ulimit -u), or \
         end other programs.",
        io_reason(error)
    )
}
