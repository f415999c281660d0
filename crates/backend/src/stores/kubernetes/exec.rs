//! Credentials that a program prints.

use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use groma_cloud::Secret;
use groma_diagnostics::io_reason;
use serde_json::{Value as Json, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::error::StoreError;

/// A program that prints an `ExecCredential`.
#[derive(Clone)]
pub(super) struct ExecCommand {
    pub api_version: String,
    pub command: String,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// The advice of the kubeconfig for a missing program.
    pub hint: Option<String>,
}

/// The credentials that a program has printed.
#[derive(Clone)]
pub(super) struct ExecCredential {
    pub token: Option<Secret>,
    /// The certificate and the private key, as PEM text.
    pub identity: Option<Secret>,
    expires: Option<SystemTime>,
}

impl ExecCredential {
    /// Whether the credentials are valid for a while yet.
    pub fn is_fresh(&self) -> bool {
        const RENEW_BEFORE: Duration = Duration::from_secs(60);
        self.expires.is_none_or(|expires| expires > SystemTime::now() + RENEW_BEFORE)
    }
}

impl ExecCommand {
    /// Runs the program and reads the credentials from its standard output.
    ///
    /// # Errors
    /// The program cannot be run, fails, or prints something else.
    pub async fn run(&self) -> Result<ExecCredential, StoreError> {
        let mut command = Command::new(&self.command);
        let info = json!({
            "apiVersion": self.api_version, "kind": "ExecCredential", "spec": { "interactive": false },
        });
        command.args(&self.arguments).env("KUBERNETES_EXEC_INFO", info.to_string());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = tokio::task::spawn_blocking(move || command.output()).await;
        let output = match ran {
            Ok(Ok(output)) => output,
            Ok(Err(problem)) => return Err(self.failed(&io_reason(&problem))),
            Err(_) => return Err(self.failed("it was aborted")),
        };
        if !output.status.success() {
            // Programs print their reasons to standard error, and credentials to standard output.
            let text = String::from_utf8_lossy(&output.stderr);
            let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(self.failed(&format!("{}: {line}", output.status)));
        }
        let printed: Json = serde_json::from_slice(&output.stdout).unwrap_or_default();
        self.credential(&printed["status"])
    }

    fn credential(&self, status: &Json) -> Result<ExecCredential, StoreError> {
        let text = |name: &str| status[name].as_str().filter(|text| !text.is_empty());
        let identity = text("clientCertificateData").zip(text("clientKeyData"));
        let token = text("token").map(Secret::new);
        if token.is_none() && identity.is_none() {
            return Err(self.failed("it printed neither a token nor a certificate"));
        }
        let expires = text("expirationTimestamp").and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
        Ok(ExecCredential {
            token,
            identity: identity.map(|(certificate, key)| Secret::new(format!("{certificate}\n{key}"))),
            expires: expires.map(SystemTime::from),
        })
    }

    fn failed(&self, reason: &str) -> StoreError {
        StoreError::Unauthenticated {
            service: "the Kubernetes API".to_owned(),
            reason: format!("the program {:?} for credentials failed: {reason}", self.command),
            advice: self.hint.clone().unwrap_or_else(|| {
                "Run the program yourself to see why, and check the exec block or the user in the kubeconfig."
                    .to_owned()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<ExecCredential, StoreError> {
        let command = ExecCommand {
            api_version: "client.authentication.k8s.io/v1".to_owned(),
            command: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            variables: vec![("NAME".to_owned(), "value".to_owned())],
            hint: None,
        };
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(command.run())
    }

    #[test]
    fn credentials_are_read_from_standard_output() {
        let script = r#"echo "$KUBERNETES_EXEC_INFO" | grep -q ExecCredential && echo "{\"status\":{\"token\":\"$NAME\",\"expirationTimestamp\":\"2999-01-01T00:00:00Z\"}}""#;
        let credential = shell(script).unwrap();
        assert_eq!(credential.token.as_ref().map(Secret::reveal), Some("value"));
        assert!(credential.is_fresh());
        let old = r#"echo '{"status":{"token":"t","expirationTimestamp":"2001-01-01T00:00:00Z"}}'"#;
        assert!(!shell(old).unwrap().is_fresh());
    }

    #[test]
    fn failures_name_the_program_and_its_reason() {
        let problem = shell("echo first >&2; echo not logged in >&2; exit 3").err().unwrap();
        assert!(problem.to_string().contains("not logged in"), "{problem}");
        let problem = shell("echo '{\"token\": \"secret\"}'").err().unwrap();
        assert!(problem.to_string().contains("neither a token") && !problem.to_string().contains("secret"));
    }
}
