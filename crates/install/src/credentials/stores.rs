//! Credentials for object stores and container registries, from the environment and from the files of their own tools.

use std::collections::HashMap;
use std::path::PathBuf;

use groma_cloud::aws::{AwsClient, AwsError, AwsKeys, AwsSettings};
use groma_cloud::google::{GoogleCredentials, GoogleSettings};
use groma_cloud::{Environment, TokenError};

use super::{Login, containers};

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
        let files = [
            below("DOCKER_CONFIG", "config.json"),
            below("XDG_RUNTIME_DIR", "containers/auth.json"),
            below("XDG_CONFIG_HOME", "containers/auth.json").or_else(|| below_home(".config/containers/auth.json")),
            below_home(".docker/config.json"),
        ];
        files.into_iter().flatten().find_map(|path| containers::in_file(&path, registry, name))
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}
