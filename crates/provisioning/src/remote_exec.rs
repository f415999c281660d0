//! `remote-exec`: scripts on another machine.

use std::sync::{Arc, LazyLock};

use groma_diagnostics::{Diagnostic, io_reason};
use groma_provider::{Attribute, Block, NestedBlock};
use groma_value::Type;

use super::Failure;
use super::arguments::Arguments;
use super::connection::{Agent, Connection};
use super::file::send_text;
use super::runner::Runner;
use super::ssh::{Session, quoted_path};

const SUMMARY: &str = "remote-exec provisioner error";

/// The arguments of the block.
pub(super) fn schema() -> &'static Arc<Block> {
    static SCHEMA: LazyLock<Arc<Block>> = LazyLock::new(|| {
        let attributes = [
            ("inline", Attribute::optional(Type::list(Type::String))),
            ("script", Attribute::optional(Type::String)),
            ("scripts", Attribute::optional(Type::list(Type::String))),
        ];
        Arc::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
    });
    &SCHEMA
}

/// Checks the arguments of the provisioner.
pub(super) fn problem(arguments: &Arguments) -> Option<Diagnostic> {
    let set = ["inline", "script", "scripts"].into_iter().filter(|name| arguments.has(name)).count();
    (set != 1).then(|| {
        Diagnostic::error(
            "Invalid remote-exec provisioner configuration",
            "Set exactly one of \"inline\" (script lines), \"script\" (the path of a script) and \"scripts\" \
             (several paths).",
        )
    })
}

enum Script {
    Lines(Vec<String>),
    Path(String),
}

/// Scripts that run one after the other.
pub(super) struct RemoteExec {
    scripts: Vec<Script>,
    secret: Option<&'static str>,
}

impl RemoteExec {
    pub(super) fn new(arguments: &Arguments) -> Self {
        let scripts = if arguments.has("inline") {
            vec![Script::Lines(arguments.texts("inline"))]
        } else {
            arguments.text("script").into_iter().chain(arguments.texts("scripts")).map(Script::Path).collect()
        };
        Self { scripts, secret: arguments.secret }
    }

    pub(super) fn run(&self, connection: &Connection, runner: &Runner, output: &dyn Fn(&str)) -> Result<(), Failure> {
        let output = |line: &str| output(self.secret.unwrap_or(line));
        // All scripts are read before the connection is made, so that a missing file costs no login.
        let texts = self.scripts.iter().map(Script::text).collect::<Result<Vec<_>, _>>()?;
        announce(connection, &output);
        let session =
            Session::open(connection, runner).map_err(|problem| Failure::new(SUMMARY, problem.to_string()))?;
        output("Connected!");
        texts.iter().try_for_each(|text| run_script(&session, connection, text, &output))
    }
}

impl Script {
    fn text(&self) -> Result<String, Failure> {
        let text = match self {
            Self::Lines(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
            Self::Path(path) => std::fs::read_to_string(path).map_err(|problem| {
                Failure::new(
                    SUMMARY,
                    format!("Failed to open script '{path}': {problem}", problem = io_reason(&problem)),
                )
            })?,
        };
        // Without an interpreter line the machine's login shell would decide how the script runs.
        Ok(if text.starts_with("#!") { text } else { format!("#!/bin/sh\n{text}") })
    }
}

fn announce(connection: &Connection, output: &dyn Fn(&str)) {
    let lines = |endpoint: &super::connection::Endpoint| {
        output(&format!("  Host: {}", endpoint.host));
        output(&format!("  User: {}", endpoint.user));
        output(&format!("  Password: {}", endpoint.password.is_some()));
        output(&format!("  Private key: {}", endpoint.private_key.is_some()));
        output(&format!("  Certificate: {}", endpoint.certificate.is_some()));
    };
    output("Connecting to remote host via SSH...");
    lines(&connection.target);
    output(&format!("  SSH Agent: {}", connection.agent != Agent::Ignored));
    output(&format!("  Checking Host Key: {}", connection.target.host_key.is_some()));
    output("  Target Platform: unix");
    if let Some(bastion) = &connection.bastion {
        output("Using configured bastion host...");
        lines(bastion);
        output(&format!("  Checking Host Key: {}", bastion.host_key.is_some()));
    }
}

fn run_script(
    session: &Session<'_>,
    connection: &Connection,
    text: &str,
    output: &dyn Fn(&str),
) -> Result<(), Failure> {
    let script = connection.script_path.replace("%RAND%", &random_digits());
    send_text(session, &script, text, 0o700).map_err(|problem| {
        // The upload is a step of its own, so that a full disk on the machine is not mistaken for a failing script.
        Failure::new(SUMMARY, format!("Failed to upload script: {problem}", problem = io_reason(&problem)))
    })?;
    let path = quoted_path(&script);
    // The umask of the machine may have removed the permission, so it is set again.
    let ran = session.run(&format!("chmod 0700 {path} && exec {path}"), &mut |line| output(line));
    // Scripts may hold what nobody else should read.
    let _ = session.run(&format!("rm -f {path}"), &mut |_| {});
    match ran {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let ending = status.code().map_or("Process was killed by a signal".to_owned(), |code| match code {
                // The program `ssh` ends with 255 as well if the connection is lost.
                255 => "Process exited with status 255, or the connection was lost".to_owned(),
                code => format!("Process exited with status {code}"),
            });
            Err(Failure::new(SUMMARY, format!("error executing \"{script}\": {ending}")))
        }
        Err(problem) => Err(Failure::new(
            SUMMARY,
            format!("error executing \"{script}\": {problem}", problem = io_reason(&problem)),
        )),
    }
}

/// Digits that make a name nobody else has.
fn random_digits() -> String {
    use std::hash::{BuildHasher, Hasher};
    (std::collections::hash_map::RandomState::new().build_hasher().finish() >> 33).to_string()
}
