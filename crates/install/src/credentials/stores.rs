//! Credentials for object stores and container registries: from the environment and the files of their own tools.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use groma_encryption::AwsFiles;

use super::{Login, Token, containers};

/// The sources of credentials, read when an object is requested.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    environment: HashMap<String, String>,
    home: Option<PathBuf>,
}

/// The keys of an account at AWS, or at a service that speaks as S3 does.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsKeys {
    /// The name of the key.
    pub id: String,
    /// The secret access key.
    pub secret: Token,
    /// The session token of a temporary key.
    pub session: Option<Token>,
}

impl AwsKeys {
    pub(crate) fn new(id: String, secret: String, session: Option<String>) -> Self {
        Self { id, secret: Token::new(secret), session: session.map(Token::new) }
    }
}

impl fmt::Debug for AwsKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AwsKeys({})", self.id)
    }
}

impl Stores {
    /// Looks into `environment` and below `home`.
    pub fn new(environment: impl IntoIterator<Item = (String, String)>, home: Option<PathBuf>) -> Self {
        Self { environment: environment.into_iter().collect(), home }
    }

    /// The token for Cloud Storage: `GOOGLE_OAUTH_ACCESS_TOKEN`.
    pub(crate) fn google(&self) -> Option<Token> {
        self.variable("GOOGLE_OAUTH_ACCESS_TOKEN").map(Token::new)
    }

    /// Another address of Cloud Storage: `STORAGE_EMULATOR_HOST`.
    pub(crate) fn google_address(&self) -> Option<String> {
        let host = self.variable("STORAGE_EMULATOR_HOST")?;
        Some(if host.contains("://") { host.to_owned() } else { format!("http://{host}") })
    }

    /// The keys of `profile`; without one those of the environment, then those of the profile that it names.
    pub fn aws(&self, profile: Option<&str>) -> Option<AwsKeys> {
        if profile.is_none()
            && let (Some(id), Some(secret)) =
                (self.variable("AWS_ACCESS_KEY_ID"), self.variable("AWS_SECRET_ACCESS_KEY"))
        {
            let session = self.variable("AWS_SESSION_TOKEN").map(str::to_owned);
            return Some(AwsKeys::new(id.to_owned(), secret.to_owned(), session));
        }
        let profile = profile.or_else(|| self.variable("AWS_PROFILE")).unwrap_or("default");
        let file = |named_by: &str, name: &str| -> Vec<PathBuf> {
            let path = self.variable(named_by).map(PathBuf::from);
            path.or_else(|| self.home.as_deref().map(|home| home.join(".aws").join(name))).into_iter().collect()
        };
        let files =
            AwsFiles::read(&file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), &file("AWS_CONFIG_FILE", "config"));
        let keys = files.profile(profile)?.keys()?;
        Some(AwsKeys::new(keys.id, keys.secret, keys.session))
    }

    /// The login for the repository `name` of a container registry: from the file that `DOCKER_CONFIG` names the folder of, and from those
    /// where the tools for containers keep theirs.
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn stores(variables: &[(&str, &str)], home: Option<&Path>) -> Stores {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Stores::new(variables, home.map(Path::to_owned))
    }

    #[test]
    fn keys_come_from_the_environment_or_from_a_profile() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".aws");
        std::fs::create_dir(&folder).unwrap();
        let credentials = "[default]\naws_access_key_id = D\naws_secret_access_key=d\n# no\n[ci]\naws_access_key_id = C\n\
                           aws_secret_access_key = c=\naws_session_token = t\n";
        std::fs::write(folder.join("credentials"), credentials).unwrap();
        std::fs::write(folder.join("config"), "[profile old]\naws_access_key_id=O\naws_secret_access_key=o\n").unwrap();
        let found = |variables: &[(&str, &str)], profile: Option<&str>| {
            let keys = stores(variables, Some(home.path())).aws(profile)?;
            Some((keys.id, keys.secret.secret().to_owned(), keys.session.map(|token| token.secret().to_owned())))
        };
        let keys = |id: &str, secret: &str, session: Option<&str>| {
            Some((id.to_owned(), secret.to_owned(), session.map(str::to_owned)))
        };
        assert_eq!(found(&[], None), keys("D", "d", None));
        assert_eq!(found(&[("AWS_PROFILE", "ci")], None), keys("C", "c=", Some("t")));
        let given = [("AWS_ACCESS_KEY_ID", "E"), ("AWS_SECRET_ACCESS_KEY", "e"), ("AWS_PROFILE", "ci")];
        assert_eq!(found(&given, None), keys("E", "e", None));
        assert_eq!(found(&given, Some("old")), keys("O", "o", None));
        assert_eq!(found(&[], Some("nowhere")), None);
        assert_eq!(stores(&[], None).aws(None), None);
    }

    #[test]
    fn secrets_are_in_no_text() {
        let keys = AwsKeys::new("A".to_owned(), "hush".to_owned(), Some("hush".to_owned()));
        assert!(!format!("{keys:?}").contains("hush"));
    }
}
