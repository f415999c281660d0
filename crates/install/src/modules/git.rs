//! Module packages in Git repositories, cloned with the installed `git` and its configuration.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_private_file::PrivateFile;
use reqwest::Url;

use super::FetchError;
use super::address::shown;

/// The Git options in the query of a module source address.
#[derive(Debug, Default)]
struct CloneOptions {
    reference: Option<String>,
    depth: Option<u32>,
    key: Option<String>,
}

/// Clones the repository at `address` into `target`, which must not exist yet.
pub(super) fn clone(address: &str, target: &Path) -> Result<(), FetchError> {
    let (url, options) = split_options(address)?;
    let key = options.key.as_deref().map(key_file).transpose()?;
    // The user's command may select a proxy or a configuration, so a key is added to it instead of replacing it.
    let own = std::env::var("GIT_SSH_COMMAND").ok();
    let git = Git { command: key.as_ref().map(|file| with_key(own.as_deref(), file.path())) };
    let target_text = target.to_string_lossy();
    let depth = options.depth.map(|depth| depth.to_string());
    let mut arguments = vec!["clone"];
    if let Some(depth) = &depth {
        arguments.extend(["--depth", depth]);
        // A shallow clone has the history of one branch or tag only, which must be named when cloning.
        if let Some(reference) = &options.reference {
            arguments.extend(["--branch", reference]);
        }
    }
    // After "--" a URL that begins with a dash is no option.
    arguments.extend(["--", &url, &target_text]);
    let cloned = git.run(&arguments, None);
    cloned.map_err(|error| match (error, &depth, &options.reference) {
        (FetchError::Other(problem), Some(_), Some(_)) => {
            FetchError::Other(format!("{problem}\n\nWith \"depth\", \"ref\" must be the name of a branch or of a tag"))
        }
        (error, _, _) => error,
    })?;
    if let (None, Some(reference)) = (&depth, &options.reference) {
        let commit = git.resolve(reference, target)?;
        git.run(&["-c", "advice.detachedHead=false", "checkout", "--detach", &commit], Some(target))?;
    }
    // Submodules are fetched as by go-getter; without any, the command would only cost time.
    if target.join(".gitmodules").exists() {
        let mut arguments = vec!["submodule", "update", "--init", "--recursive"];
        if let Some(depth) = &depth {
            arguments.extend(["--depth", depth]);
        }
        git.run(&arguments, Some(target))?;
    }
    Ok(())
}

/// Splits a module source address into the URL for Git and our own query arguments.
fn split_options(address: &str) -> Result<(String, CloneOptions), FetchError> {
    let mut url = Url::parse(address)
        .map_err(|error| FetchError::Other(format!("{:?} is not a valid repository URL: {error}", shown(address))))?;
    let mut options = CloneOptions::default();
    let mut rest = Vec::new();
    // The first of repeated options is used, as in go-getter.
    let mut known = HashSet::new();
    for (name, value) in url.query_pairs() {
        match &*name {
            "ref" | "depth" | "sshkey" if !known.insert(name.clone()) => {}
            // The option has no effect, because a clone is never an archive.
            "archive" if value == "false" => {}
            "ref" if value.starts_with('-') => {
                return Err(FetchError::Other(format!("the reference {value:?} would be an option to git")));
            }
            "ref" => options.reference = Some(value.into_owned()).filter(|text| !text.is_empty()),
            "depth" => options.depth = value.parse().ok().filter(|depth| *depth > 0),
            "sshkey" => options.key = Some(value.into_owned()).filter(|key| !key.is_empty()),
            _ => rest.push((name.into_owned(), value.into_owned())),
        }
    }
    url.set_query(None);
    if !rest.is_empty() {
        url.query_pairs_mut().extend_pairs(rest);
    }
    Ok((url.to_string(), options))
}

/// Decodes a Base64 private key (`?sshkey=`) into a temporary file for ssh.
fn key_file(encoded: &str) -> Result<PrivateFile, FetchError> {
    // The decoding of the query turns the plus signs of an unescaped key into spaces.
    let encoded = encoded.replace(' ', "+");
    let key = STANDARD
        .decode(encoded.trim_end())
        .map_err(|_| FetchError::Other("the argument sshkey is not in base64".to_owned()))?;
    PrivateFile::new(&key).map_err(FetchError::file("cannot store the ssh key"))
}

/// Builds the ssh command for a private key. `GIT_SSH` may name any program, which supports at most `-i`.
fn with_key(own: Option<&str>, file: &Path) -> String {
    match own.filter(|own| !own.trim().is_empty()) {
        Some(own) => format!("{own} -i {}", file.display()),
        None => format!("ssh -i {} -o IdentitiesOnly=yes", file.display()),
    }
}

struct Git {
    /// The ssh command, if the address has a private key.
    command: Option<String>,
}

/// Variables that make Git work on another repository than the one in its working directory. Git sets them for hooks,
/// so they are present whenever a hook runs us. Variables with settings, such as `GIT_CONFIG_COUNT`, may hold
/// credentials and stay.
const REPOSITORY_VARIABLES: [&str; 9] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
];

impl Git {
    /// Returns the commit that `reference` names in the fresh clone at `repository`.
    ///
    /// `git checkout` itself would prefer a file of that name, and knows the branches of the server by their plain
    /// names only: `?ref=branch^` would fail. The order of the candidates is that of `git checkout`.
    fn resolve(&self, reference: &str, repository: &Path) -> Result<String, FetchError> {
        for candidate in
            ["refs/heads/", "", "refs/remotes/origin/"].map(|prefix| format!("{prefix}{reference}^{{commit}}"))
        {
            let output = self.output(&["rev-parse", "--verify", "--quiet", &candidate], Some(repository))?;
            if output.status.success() {
                return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
            }
        }
        Err(FetchError::Other(format!(
            "the repository has no branch, tag or commit {reference:?}: check the \"ref\" argument of the source address"
        )))
    }

    fn run(&self, arguments: &[&str], directory: Option<&Path>) -> Result<(), FetchError> {
        let output = self.output(arguments, directory)?;
        if output.status.success() {
            return Ok(());
        }
        let code = output.status.code().map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        let said = String::from_utf8_lossy(&output.stderr);
        Err(FetchError::Other(format!("git exited with {code}:\n{}", said.trim_end())))
    }

    /// Runs Git with `arguments` in `directory`, and returns its output whether it succeeds or not.
    fn output(&self, arguments: &[&str], directory: Option<&Path>) -> Result<Output, FetchError> {
        let mut command = Command::new("git");
        command.args(arguments).stdin(Stdio::null());
        REPOSITORY_VARIABLES.iter().for_each(|name| _ = command.env_remove(name));
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        if let Some(ssh) = &self.command {
            command.env("GIT_SSH_COMMAND", ssh);
        }
        command.output().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => FetchError::Other("git must be installed and on the PATH".to_owned()),
            _ => FetchError::File { what: "cannot start git".to_owned(), source: error },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_added_to_the_ssh_command_of_the_environment() {
        let key = Path::new("/tmp/key");
        assert_eq!(with_key(Some("ssh -F other"), key), "ssh -F other -i /tmp/key");
        for none in [None, Some(" ")] {
            assert_eq!(with_key(none, key), "ssh -i /tmp/key -o IdentitiesOnly=yes");
        }
    }

    #[test]
    fn git_options_are_removed_from_the_query() {
        let (url, options) = split_options("https://example.com/x.git?ref=v1&depth=2&a=b").unwrap();
        assert_eq!(url, "https://example.com/x.git?a=b");
        assert_eq!(options.reference.as_deref(), Some("v1"));
        assert_eq!(options.depth, Some(2));
        assert!(split_options("https://example.com/x.git?ref=--upload-pack%3Dx").is_err());
        let (url, options) = split_options("https://example.com/x.git?ref=v1&ref=v2&archive=false").unwrap();
        assert_eq!((url.as_str(), options.reference.as_deref()), ("https://example.com/x.git", Some("v1")));
    }
}
