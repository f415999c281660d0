//! Credentials helpers: programs that store tokens and speak JSON over their standard streams.

use std::path::PathBuf;
use std::process::Stdio;

use groma_diagnostics::io_reason;
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::Token;

/// The `credentials_helper` of the CLI configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    /// The name in the CLI configuration.
    pub name: String,
    /// The path of `terraform-credentials-NAME`.
    pub program: PathBuf,
    /// Arguments that precede the command.
    pub arguments: Vec<String>,
}

/// The failure of a credentials helper.
#[derive(Debug, thiserror::Error)]
#[error("the credentials helper {name:?} failed: {reason}")]
pub struct HelperError {
    /// The name in the CLI configuration.
    pub name: String,
    /// The problem, with the standard error of the program.
    pub reason: String,
}

impl Helper {
    /// Requests the token of `host`.
    ///
    /// # Errors
    /// Fails if the program cannot be started, fails, or prints invalid JSON.
    pub async fn get(&self, host: &str) -> Result<Option<Token>, HelperError> {
        let output = self.run("get", host, None).await?;
        let answer: Map<String, Value> = serde_json::from_slice(&output)
            .map_err(|_| self.error("its response to \"get\" is not a JSON object".to_owned()))?;
        // An object without a token means that the helper has none for the host.
        Ok(answer.get("token").and_then(Value::as_str).map(Token::new))
    }

    /// Stores the token of `host`.
    ///
    /// # Errors
    /// Fails like [`Self::get`].
    pub async fn store(&self, host: &str, token: &Token) -> Result<(), HelperError> {
        let mut object = Map::new();
        object.insert("token".to_owned(), Value::from(token.secret()));
        self.run("store", host, Some(Value::Object(object).to_string())).await.map(drop)
    }

    /// Deletes the token of `host`.
    ///
    /// # Errors
    /// Fails like [`Self::get`].
    pub async fn forget(&self, host: &str) -> Result<(), HelperError> {
        self.run("forget", host, None).await.map(drop)
    }

    async fn run(&self, command: &str, host: &str, input: Option<String>) -> Result<Vec<u8>, HelperError> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .args([command, host])
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                self.error(format!("{} does not start: {error}", self.program.display(), error = io_reason(&error)))
            })?;
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            // If a program does not read its input, its exit code is the better error.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        let output = child.wait_with_output().await.map_err(|error| self.error(io_reason(&error)))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let words = String::from_utf8_lossy(&output.stderr);
        let words = words.trim();
        let reason =
            if words.is_empty() { format!("\"{command}\" ended with {}", output.status) } else { words.to_owned() };
        Err(self.error(reason))
    }

    fn error(&self, reason: String) -> HelperError {
        HelperError { name: self.name.clone(), reason }
    }
}
