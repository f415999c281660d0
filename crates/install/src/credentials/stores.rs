//! Credentials for object stores and container registries, from the environment and from the files of their own tools.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_cloud::aws::{AwsClient, AwsError, AwsKeys, AwsSettings};
use groma_cloud::google::{GoogleCredentials, GoogleSettings};
use groma_cloud::{Environment, TokenError};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Token;

/// The sources of credentials. Files are read when an object is requested.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    environment: HashMap<String, String>,
    home: Option<PathBuf>,
}

impl Stores {
    /// Creates the sources from environment variables and the home directory.
    pub fn new(environment: impl IntoIterator<Item = (String, String)>, home: Option<PathBuf>) -> Self {
        Self { environment: environment.into_iter().collect(), home }
    }

    /// Returns the credentials for Google Cloud Storage. An emulator gets only a token that the environment holds.
    pub(crate) fn google(&self) -> Option<Result<GoogleCredentials, TokenError>> {
        // Real credentials must not be sent to an emulator.
        if self.google_address().is_some() && self.variable("GOOGLE_OAUTH_ACCESS_TOKEN").is_none() {
            return None;
        }
        let scopes = vec!["https://www.googleapis.com/auth/devstorage.read_only".to_owned()];
        Some(GoogleCredentials::new(GoogleSettings {
            scopes,
            environment: self.environment(),
            ..GoogleSettings::default()
        }))
    }

    /// Returns an alternative endpoint of Google Cloud Storage: `STORAGE_EMULATOR_HOST`.
    pub(crate) fn google_address(&self) -> Option<String> {
        let host = self.variable("STORAGE_EMULATOR_HOST")?;
        Some(if host.contains("://") { host.to_owned() } else { format!("http://{host}") })
    }

    /// Returns a client of AWS with these keys, or with those of `profile`. Without either, the credential chain of AWS
    /// decides.
    ///
    /// # Errors
    /// Fails if a proxy or a certificate bundle of the environment cannot be used.
    pub(crate) fn aws(
        &self,
        keys: Option<AwsKeys>,
        profile: Option<String>,
        region: &str,
    ) -> Result<AwsClient, AwsError> {
        let region = Some(region.to_owned());
        AwsClient::new(AwsSettings { keys, profile, region, environment: self.environment(), ..AwsSettings::default() })
    }

    /// Returns the environment for clients of clouds.
    fn environment(&self) -> Environment {
        let environment: Environment = self.environment.clone().into_iter().collect();
        match &self.home {
            Some(home) => environment.with("HOME", home.to_string_lossy()),
            None => environment,
        }
    }

    /// Returns the login for the repository `name` of a container registry, from the configuration file of Docker or
    /// of other container tools.
    pub(crate) fn container(&self, registry: &str, name: &str) -> Option<Login> {
        let below_home = |path: &str| self.home.as_deref().map(|home| home.join(path));
        let below = |variable: &str, path: &str| self.variable(variable).map(|folder| PathBuf::from(folder).join(path));
        // The file of Docker's own variable first, then those of other container tools, then Docker's default.
        let files = [
            below("DOCKER_CONFIG", "config.json"),
            below("XDG_RUNTIME_DIR", "containers/auth.json"),
            below("XDG_CONFIG_HOME", "containers/auth.json").or_else(|| below_home(".config/containers/auth.json")),
            below_home(".docker/config.json"),
        ];
        files.into_iter().flatten().find_map(|path| in_file(&path, registry, name))
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}

/// A login at a registry.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Login {
    /// A user name and a password.
    Password(String, Token),
    /// An identity token, which the registry's token server exchanges for an access token.
    Identity(Token),
}

impl Login {
    /// Returns the value of the `authorization` header for a user name and a password.
    pub(crate) fn basic(&self) -> Option<String> {
        match self {
            Self::Password(name, password) => {
                Some(format!("Basic {}", STANDARD.encode(format!("{name}:{}", password.secret()))))
            }
            Self::Identity(_) => None,
        }
    }
}

/// The user name with which helpers mark an identity token.
const IDENTITY: &str = "<token>";

/// The output of a credential helper.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperOutput {
    username: String,
    secret: String,
}

/// A Docker configuration file.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    auths: Map<String, Value>,
    cred_helpers: Map<String, Value>,
    creds_store: Option<String>,
}

/// Reads the login for the repository `name` of `registry` from the file at `path`. A missing or unreadable file has
/// none.
pub(super) fn in_file(path: &Path, registry: &str, name: &str) -> Option<Login> {
    let document: Document = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    written(&document.auths, registry, name).or_else(|| {
        let special = document.cred_helpers.get(registry).and_then(Value::as_str);
        // A helper for one registry precedes the general one.
        helper(special.or(document.creds_store.as_deref())?, registry)
    })
}

/// Returns the most specific entry: for the repository, for one of its parent paths, or for the registry.
fn written(auths: &Map<String, Value>, registry: &str, name: &str) -> Option<Login> {
    let mut scope = format!("{registry}/{name}");
    loop {
        // Docker has also written keys with a scheme and the version of the API.
        let old = [format!("https://{scope}"), format!("https://{scope}/v1/"), format!("https://{scope}/v2/")];
        let entry = auths.get(&scope).or_else(|| old.iter().find_map(|key| auths.get(key)));
        if let Some(login) = entry.and_then(decoded) {
            return Some(login);
        }
        let (above, _) = scope.rsplit_once('/')?;
        scope.truncate(above.len());
    }
}

fn decoded(entry: &Value) -> Option<Login> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    // Such an entry also has a user name and password, which are useless without the token.
    if let Some(token) = text("identitytoken") {
        return Some(Login::Identity(Token::new(token)));
    }
    if let Some(bytes) = text("auth").and_then(|encoded| STANDARD.decode(encoded.trim()).ok()) {
        let plain = String::from_utf8(bytes).ok()?;
        let (name, password) = plain.split_once(':')?;
        return Some(Login::Password(name.to_owned(), Token::new(password)));
    }
    Some(Login::Password(text("username")?.to_owned(), Token::new(text("password")?)))
}

/// Runs `docker-credential-NAME` for the registry.
fn helper(name: &str, registry: &str) -> Option<Login> {
    // The name becomes part of a program's path, so it must not contain separators.
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return None;
    }
    let mut command = Command::new(format!("docker-credential-{name}"));
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // A helper that does not read its input has no credentials.
    let _ = child.stdin.take()?.write_all(registry.as_bytes());
    let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
    let helper_output: HelperOutput = serde_json::from_slice(&output.stdout).ok()?;
    let secret = Token::new(helper_output.secret);
    Some(if helper_output.username == IDENTITY {
        Login::Identity(secret)
    } else {
        Login::Password(helper_output.username, secret)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, registry: &str, name: &str) -> Option<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let login = in_file(file.path(), registry, name)?;
        Some(match login {
            Login::Password(name, password) => format!("{name}:{}", password.secret()),
            Login::Identity(token) => format!("identity {}", token.secret()),
        })
    }

    #[test]
    fn most_specific_login_is_used() {
        // a:b, c:d:e and f:g
        let text = r#"{"auths": {"example.com": {"auth": "YTpi"}, "example.com/team/x": {"auth": "YzpkOmU="},
            "https://old.example.com/v1/": {"auth": "Zjpn"}, "plain.example.com": {"username": "u", "password": "p"},
            "token.example.com": {"auth": "YTo=", "identitytoken": "i"},
            "broken.example.com": {"auth": "%%"}, "empty.example.com": {}}}"#;
        assert_eq!(found(text, "example.com", "other/x").as_deref(), Some("a:b"));
        assert_eq!(found(text, "example.com", "team/x/y").as_deref(), Some("c:d:e"));
        assert_eq!(found(text, "old.example.com", "x").as_deref(), Some("f:g"));
        assert_eq!(found(text, "plain.example.com", "x").as_deref(), Some("u:p"));
        assert_eq!(found(text, "token.example.com", "x").as_deref(), Some("identity i"));
        for none in ["broken.example.com", "empty.example.com", "other.com"] {
            assert_eq!(found(text, none, "x"), None, "{none}");
        }
        assert_eq!(found("{", "example.com", "x"), None);
        assert_eq!(found(r#"{"credsStore": "../evil"}"#, "example.com", "x"), None);
        assert_eq!(found(r#"{"credHelpers": {"example.com": "that-is-not-there"}}"#, "example.com", "x"), None);
    }
}
