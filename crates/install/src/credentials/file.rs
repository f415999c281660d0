//! The file in which `login` stores tokens: `credentials.tfrc.json`, a part of the CLI configuration.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{Token, normal_host};

/// The name of the file in the CLI configuration directory.
const NAME: &str = "credentials.tfrc.json";

/// The credentials file, which need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// Returns the file in a CLI configuration directory.
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(NAME) }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file has a token for `host`.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not a JSON object.
    pub fn has(&self, host: &str) -> io::Result<bool> {
        let content = self.read()?;
        let hosts = content.get("credentials").and_then(Value::as_object);
        Ok(hosts.is_some_and(|hosts| hosts.keys().any(|known| normal_host(known) == normal_host(host))))
    }

    /// Stores `token` for `host`. Keeps everything else in the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, or is not a JSON object.
    pub fn store(&self, host: &str, token: &Token) -> io::Result<()> {
        self.change(|hosts| {
            // The file may spell the host differently, and two entries for one host would contradict each other.
            hosts.retain(|known, _| normal_host(known) != normal_host(host));
            let entry = Map::from_iter([("token".to_owned(), Value::from(token.secret()))]);
            hosts.insert(normal_host(host), Value::Object(entry));
        })
    }

    /// Deletes the token of `host`.
    ///
    /// # Errors
    /// Fails like [`Self::store`].
    pub fn forget(&self, host: &str) -> io::Result<()> {
        self.change(|hosts| hosts.retain(|known, _| normal_host(known) != normal_host(host)))
    }

    fn read(&self) -> io::Result<Map<String, Value>> {
        match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                // The message of the parser may contain secrets of the file.
                self.not_valid(&format!("line {} is not what a JSON object has there", error.line()))
            }),
            // The first login creates the file.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Map::new()),
            Err(error) => Err(error),
        }
    }

    fn not_valid(&self, why: &str) -> io::Error {
        io::Error::new(ErrorKind::InvalidData, format!("{} is not valid: {why}", self.path.display()))
    }

    fn change(&self, change: impl FnOnce(&mut Map<String, Value>)) -> io::Result<()> {
        let mut content = self.read()?;
        let hosts = content.entry("credentials").or_insert_with(|| Value::Object(Map::new()));
        let hosts = hosts.as_object_mut().ok_or_else(|| self.not_valid("\"credentials\" is not an object"))?;
        change(hosts);
        let folder = self.path.parent().ok_or_else(|| io::Error::other("the file has no folder"))?;
        fs::create_dir_all(folder)?;
        // A temporary file is readable for its owner only, and keeps its mode under the new name.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, &content)?;
        file.flush()?;
        // The rename replaces the file at once, so that a killed run leaves the old tokens or the new ones.
        file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_entries_stay_and_the_file_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_folder(&folder.path().join("new"));
        file.store("B.example.com", &Token::new("one")).unwrap();
        fs::write(
            file.path(),
            r#"{"credentials":{"a.example.com":{"token":"aa","x":1},"B.example.com":{}},"other":2}"#,
        )
        .unwrap();
        file.store("b.example.com", &Token::new("two")).unwrap();
        assert!(file.has("B.EXAMPLE.com").unwrap());
        let text = fs::read_to_string(file.path()).unwrap();
        assert!(
            text.contains("\"x\": 1") && text.contains("\"other\": 2") && text.contains("\"token\": \"two\""),
            "{text}"
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        }
        file.forget("b.example.com").unwrap();
        assert!(!file.has("b.example.com").unwrap());
        assert!(file.has("a.example.com").unwrap());
    }

    #[test]
    fn invalid_credentials_file_is_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_folder(folder.path());
        for nonsense in ["nonsense", "\"s3cret\""] {
            fs::write(file.path(), nonsense).unwrap();
            let problem = file.store("a.example.com", &Token::new("x")).unwrap_err().to_string();
            assert!(problem.contains("is not valid") && !problem.contains("s3cret"), "{problem}");
            assert_eq!(fs::read_to_string(file.path()).unwrap(), nonsense);
        }
    }
}
