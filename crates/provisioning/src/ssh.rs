//! A session on another machine, by the program `ssh` of this one.
//!
//! One `ssh` logs in and stays (the master); every command and every file goes through it by a socket, so that logging in
//! happens once. No settings of the user are read: the blocks say everything.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use groma_diagnostics::io_reason;
use groma_private_file::PrivateFile;
use tempfile::TempDir;
use thiserror::Error;

use super::connection::{Agent, Connection, Endpoint};
use super::runner::Runner;
use super::scp::Sender;

/// Tell the helper below what to answer; a program's environment is seen by its user only.
const SECRET: &str = "GROMA_SSH_SECRET";
const BASTION_SECRET: &str = "GROMA_SSH_BASTION_SECRET";

/// The reason why no connection was made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum SshError {
    #[error("Cannot prepare the connection: {0}.")]
    NotPrepared(String),
    #[error("Cannot start the program \"ssh\": {0}.")]
    NotStarted(String),
    /// The state of the program `ssh` is unknown.
    #[error("{0}")]
    NotWatched(String),
    #[error("The run was interrupted while connecting.")]
    Interrupted,
    /// No attempt succeeded; holds what the last one printed.
    #[error("timeout - last error: {0}")]
    Timeout(String),
}

/// A machine that one is logged in to, until this is dropped.
pub(super) struct Session<'r> {
    runner: &'r Runner,
    files: Files,
    target: Endpoint,
    master: Child,
}

impl<'r> Session<'r> {
    /// Logs in, again and again until it works or the time is over.
    ///
    /// # Errors
    ///
    /// What was wrong last, for people.
    pub(super) fn open(connection: &Connection, runner: &'r Runner) -> Result<Self, SshError> {
        let files = Files::new(connection).map_err(|problem| SshError::NotPrepared(io_reason(&problem)))?;
        let end = Instant::now() + connection.timeout;
        let mut pause = Duration::from_millis(500);
        loop {
            let problem = match log_in(connection, &files, end, runner)? {
                // The login stays open as a master connection that all later commands share.
                Ok(master) => return Ok(Self { runner, target: connection.target.clone(), files, master }),
                Err(problem) => problem,
            };
            if Instant::now() + pause >= end {
                return Err(SshError::Timeout(problem));
            }
            let resume = Instant::now() + pause;
            // In short steps, so that a request to stop is noticed.
            while Instant::now() < resume {
                check_stop(runner)?;
                std::thread::sleep(Duration::from_millis(50));
            }
            pause = (pause * 2).min(Duration::from_secs(20));
        }
    }

    /// Runs a command there; `tell` gets every line that it prints.
    ///
    /// # Errors
    ///
    /// The program `ssh` cannot be started, or the run was asked to stop.
    pub(super) fn run(&self, command: &str, tell: &mut dyn FnMut(&str)) -> io::Result<ExitStatus> {
        self.runner.lines(self.command(command), tell)
    }

    /// Sends files by `send` to a receiving `scp` there, which is given `flags` and a place.
    ///
    /// # Errors
    ///
    /// Either side refuses, or the connection is lost.
    pub(super) fn send(
        &self,
        flags: &str,
        target: &str,
        send: impl FnOnce(&mut Sender<ChildStdin, ChildStdout>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut command = self.command(&format!("scp {flags} {}", quoted_path(target)));
        // The error stream is dropped, because scp reports errors within its protocol.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut scp = self.runner.start(command)?;
        let ends = scp.child.stdin.take().zip(scp.child.stdout.take());
        let sent = match ends {
            Some((to, from)) => Sender::new(to, from).and_then(|mut sender| send(&mut sender)),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        // Waited for before the result is examined, so that no process is left behind.
        let status = scp.wait()?;
        match sent {
            Ok(()) if !status.success() => Err(io::Error::other(format!("scp there ended with {status}"))),
            sent => sent,
        }
    }

    fn command(&self, remote: &str) -> Command {
        let mut command = Command::new("ssh");
        command.args(["-F", "none", "-T", "-o", "ControlMaster=no", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR"]);
        // Without the master connection it must not log in a second time.
        command.args(["-o", "ProxyCommand=exit 255"]);
        command.arg("-S").arg(self.files.socket()).arg("-l").arg(&self.target.user);
        command.arg("--").arg(&self.target.host).arg(remote);
        command
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // It holds nothing but the connection.
        let _ = self.master.kill();
        let _ = self.master.wait();
    }
}

fn check_stop(runner: &Runner) -> Result<(), SshError> {
    if runner.is_stopped() { Err(SshError::Interrupted) } else { Ok(()) }
}

/// One attempt. The outer error ends all attempts.
fn log_in(
    connection: &Connection,
    files: &Files,
    end: Instant,
    runner: &Runner,
) -> Result<Result<Child, String>, SshError> {
    check_stop(runner)?;
    let said = files.folder.path().join("said");
    let mut master = files
        .master(connection, end.saturating_duration_since(Instant::now()), &said)
        .and_then(|mut command| command.spawn())
        .map_err(|problem| SshError::NotStarted(io_reason(&problem)))?;
    loop {
        // The socket comes into being when the login has worked.
        if files.socket().exists() {
            return Ok(Ok(master));
        }
        let ended = master.try_wait().map_err(|problem| SshError::NotWatched(io_reason(&problem)))?;
        // Tested once for each round, so that the request and the end are seen in the same order.
        let stopped = check_stop(runner);
        if ended.is_none() && stopped.is_ok() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        }
        let _ = master.kill();
        // Without waiting the killed process would stay as a zombie.
        let _ = master.wait();
        stopped?;
        let words = fs::read_to_string(&said).unwrap_or_default();
        let last = words.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no answer").to_owned();
        let target = format!("{}@{}:{}", connection.target.user, connection.target.host, connection.target.port);
        return Ok(Err(format!("{target}: {last}")));
    }
}

/// The files that `ssh` reads. Keys are in memory only, as a run that is killed leaves the folder behind; the folder has nothing secret.
struct Files {
    /// The certificates, the keys of known hosts, the scripts and the socket.
    folder: TempDir,
    /// The private keys, by the name of the machine they are for.
    keys: Vec<(&'static str, PrivateFile)>,
}

impl Files {
    fn new(connection: &Connection) -> io::Result<Self> {
        // Sockets need short paths.
        let mut files = Self { folder: tempfile::Builder::new().prefix("ssh").tempdir()?, keys: Vec::new() };
        files.endpoint("target", &connection.target)?;
        files.write("answer", &format!("#!/bin/sh\nprintf '%s\\n' \"${SECRET}\"\n"), 0o700)?;
        if let Some(bastion) = &connection.bastion {
            files.endpoint("bastion", bastion)?;
            let arguments: Vec<String> =
                files.arguments("bastion", bastion, &connection.agent).iter().map(|word| quoted(word)).collect();
            let script = format!(
                // The bastion reads its password from another variable, since both logins use the same helper.
                "#!/bin/sh\n{SECRET}=\"${BASTION_SECRET}\"; export {SECRET}\nexec ssh {} -W \"[$1]:$2\" -- {}\n",
                arguments.join(" "),
                quoted(&bastion.host)
            );
            files.write("jump", &script, 0o700)?;
        }
        Ok(files)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn endpoint(&mut self, name: &'static str, endpoint: &Endpoint) -> io::Result<()> {
        if let Some(key) = &endpoint.private_key {
            // A key without a line break at its end is refused by ssh, and is what heredocs and trimspace make.
            self.keys.push((name, PrivateFile::new(format!("{}\n", key.trim_end()).as_bytes())?));
        }
        if let Some(certificate) = &endpoint.certificate {
            self.write(&format!("{name}.cert"), &format!("{}\n", certificate.trim_end()), 0o600)?;
        }
        if let Some(key) = &endpoint.host_key {
            let key = key.trim();
            // The key may be that of the machine or of an authority that signs it.
            self.write(&format!("{name}.known"), &format!("* {key}\n@cert-authority * {key}\n"), 0o600)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str, mode: u32) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        options.open(self.folder.path().join(name))?.write_all(text.as_bytes())
    }

    /// Returns the login arguments for one host, without the host name.
    fn arguments(&self, name: &str, endpoint: &Endpoint, agent: &Agent) -> Vec<String> {
        let mut arguments: Vec<String> = ["-F", "none", "-T"].map(str::to_owned).to_vec();
        arguments.extend(["-l".to_owned(), endpoint.user.clone(), "-p".to_owned(), endpoint.port.to_string()]);
        let mut option = |text: String| arguments.extend(["-o".to_owned(), text]);
        option("LogLevel=ERROR".to_owned());
        option("ConnectionAttempts=1".to_owned());
        // A lost connection is noticed within seconds instead of minutes.
        option("ServerAliveInterval=2".to_owned());
        option("NumberOfPasswordPrompts=1".to_owned());
        option("GlobalKnownHostsFile=/dev/null".to_owned());
        match &endpoint.host_key {
            Some(_) => {
                option("StrictHostKeyChecking=yes".to_owned());
                option(format!("UserKnownHostsFile={}", self.path(&format!("{name}.known"))));
            }
            None => {
                // Terraform does not check host keys unless one is given.
                option("StrictHostKeyChecking=no".to_owned());
                option("UserKnownHostsFile=/dev/null".to_owned());
            }
        }
        match self.keys.iter().find(|(machine, _)| *machine == name) {
            Some((_, key)) => option(format!("IdentityFile={}", key.path().display())),
            None => option("IdentityFile=none".to_owned()),
        }
        if endpoint.certificate.is_some() {
            option(format!("CertificateFile={}", self.path(&format!("{name}.cert"))));
        }
        match agent {
            Agent::Ignored => option("IdentityAgent=none".to_owned()),
            Agent::Asked => {}
            Agent::AskedFor(identity) => {
                option("IdentitiesOnly=yes".to_owned());
                option(format!("IdentityFile={identity}"));
            }
        }
        if endpoint.password.is_none() {
            // Without a password ssh must not ask for one.
            option("BatchMode=yes".to_owned());
        }
        arguments
    }

    /// The `ssh` that logs in and stays; what it says is in the file `said`.
    fn master(&self, connection: &Connection, within: Duration, said: &Path) -> io::Result<Command> {
        let target = &connection.target;
        let mut command = Command::new("ssh");
        command.args(self.arguments("target", target, &connection.agent));
        command.args(["-N", "-M", "-S"]).arg(self.socket());
        command.args(["-o", &format!("ConnectTimeout={}", within.as_secs().max(1))]);
        if connection.bastion.is_some() {
            command.args(["-o", &format!("ProxyCommand=/bin/sh {} %h %p", quoted(&self.path("jump")))]);
        }
        command.arg("--").arg(&target.host);
        command.env("SSH_ASKPASS", self.path("answer")).env("SSH_ASKPASS_REQUIRE", "force");
        command.env_remove("DISPLAY").env(SECRET, target.password.as_deref().unwrap_or_default());
        let of_bastion = connection.bastion.as_ref().and_then(|bastion| bastion.password.as_deref());
        command.env(BASTION_SECRET, of_bastion.unwrap_or_default());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(said)?);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(command)
    }
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A path as one word of a shell; a home folder at its beginning keeps its meaning.
pub(super) fn quoted_path(path: &str) -> String {
    match path.split_once('/') {
        Some((home, rest)) if home.starts_with('~') && home.chars().skip(1).all(|c| c.is_ascii_alphanumeric()) => {
            format!("{home}/{}", quoted(rest))
        }
        _ if path == "~" => path.to_owned(),
        _ => quoted(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_one_word_and_homes_stay_homes() {
        assert_eq!(quoted_path("/tmp/a b"), "'/tmp/a b'");
        assert_eq!(quoted_path("~/a'b"), "~/'a'\\''b'");
        assert_eq!(quoted_path("~$(x)/y"), "'~$(x)/y'");
    }
}
