//! Kubeconfig files: contexts, clusters and users.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_cloud::Secret;
use groma_diagnostics::{did_you_mean, io_reason};
use serde_json::Value as Json;

use super::cluster::{Authentication, Cluster};
use super::exec::ExecCommand;
use super::yaml;
use crate::error::StoreError;

/// The names that select parts of the files.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection<'a> {
    pub context: Option<&'a str>,
    pub user: Option<&'a str>,
    pub cluster: Option<&'a str>,
}

/// The content of several files. The first one that has a name decides what it means.
#[derive(Default)]
pub(super) struct Kubeconfig {
    current: Option<String>,
    contexts: Vec<Named>,
    clusters: Vec<Named>,
    users: Vec<Named>,
}

/// An entry of a list, with the folder that its relative paths begin at.
struct Named {
    name: String,
    content: Json,
    folder: PathBuf,
}

impl Kubeconfig {
    /// Reads files and merges them; earlier files precede later ones.
    ///
    /// # Errors
    /// A file cannot be read, or is no YAML.
    pub fn read(paths: &[PathBuf]) -> Result<Self, StoreError> {
        let mut config = Self::default();
        for path in paths {
            let failed = |reason: String| StoreError::InvalidArgument {
                argument: "config_path".to_owned(),
                reason: format!("the kubeconfig file {} cannot be used: {reason}", path.display()),
            };
            let text = std::fs::read_to_string(path).map_err(|problem| failed(io_reason(&problem)))?;
            let document = yaml::read(&text).map_err(|problem| failed(problem.to_string()))?;
            config.add(&document, path.parent().unwrap_or(Path::new("")));
        }
        Ok(config)
    }

    fn add(&mut self, document: &Json, folder: &Path) {
        self.current = self.current.take().or_else(|| text(document, "current-context"));
        let lists = [
            (&mut self.contexts, "contexts", "context"),
            (&mut self.clusters, "clusters", "cluster"),
            (&mut self.users, "users", "user"),
        ];
        for (list, key, inner) in lists {
            for entry in document[key].as_array().into_iter().flatten() {
                let Some(name) = text(entry, "name") else { continue };
                if list.iter().all(|known| known.name != name) {
                    list.push(Named { name, content: entry[inner].clone(), folder: folder.to_owned() });
                }
            }
        }
    }

    /// Returns the selected cluster with the credentials of its user.
    ///
    /// # Errors
    /// A selected name does not exist, or a file that it names cannot be read.
    pub fn cluster(&self, selection: &Selection<'_>) -> Result<Cluster, StoreError> {
        let context = match selection.context.or(self.current.as_deref()) {
            Some(name) => Some(find(&self.contexts, name, "config_context", "context")?),
            None => None,
        };
        let of_context = |key: &str| context.and_then(|context| text(&context.content, key));
        let mut cluster = Cluster::default();
        if let Some(name) = selection.cluster.map(str::to_owned).or_else(|| of_context("cluster")) {
            add_cluster(&mut cluster, find(&self.clusters, &name, "config_context_cluster", "cluster")?)?;
        }
        if let Some(name) = selection.user.map(str::to_owned).or_else(|| of_context("user")) {
            add_user(&mut cluster, find(&self.users, &name, "config_context_auth_info", "user")?)?;
        }
        Ok(cluster)
    }
}

fn find<'a>(list: &'a [Named], name: &str, argument: &str, kind: &str) -> Result<&'a Named, StoreError> {
    list.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let hint = did_you_mean(name, list.iter().map(|entry| entry.name.as_str()));
        let reason = match list.iter().map(|entry| format!("{:?}", entry.name)).collect::<Vec<_>>() {
            names if names.is_empty() => format!("the kubeconfig has no {kind} {name:?}, and no other one either"),
            names => format!("the kubeconfig has no {kind} {name:?}, only {}{hint}", names.join(", ")),
        };
        StoreError::InvalidArgument { argument: argument.to_owned(), reason }
    })
}

fn add_cluster(cluster: &mut Cluster, entry: &Named) -> Result<(), StoreError> {
    if text(&entry.content, "tls-server-name").is_some() {
        return Err(StoreError::Unsupported {
            operation: format!("\"tls-server-name\" of the cluster {:?} is", entry.name),
            advice: "Name the host of the certificate in \"server\".".to_owned(),
        });
    }
    cluster.server = text(&entry.content, "server");
    cluster.authorities = bytes(entry, "certificate-authority")?;
    cluster.is_insecure = text(&entry.content, "insecure-skip-tls-verify").as_deref() == Some("true");
    cluster.proxy = text(&entry.content, "proxy-url");
    Ok(())
}

fn add_user(cluster: &mut Cluster, entry: &Named) -> Result<(), StoreError> {
    let user = &entry.content;
    if !user["auth-provider"].is_null() {
        return Err(StoreError::Unsupported {
            operation: format!("\"auth-provider\" of the user {:?} is", entry.name),
            advice: "Kubernetes has removed it; use an exec plugin, such as kubelogin or gke-gcloud-auth-plugin."
                .to_owned(),
        });
    }
    cluster.certificate = bytes(entry, "client-certificate")?;
    cluster.key = bytes(entry, "client-key")?;
    let name_and_password = text(user, "username").zip(text(user, "password"));
    cluster.authentication = if let Some(path) = text(user, "tokenFile") {
        // Other programs renew the file, so it precedes a fixed token.
        Authentication::TokenFile(entry.folder.join(path))
    } else if let Some(token) = text(user, "token") {
        Authentication::Token(Secret::new(token))
    } else if let Some((name, password)) = name_and_password {
        Authentication::Password(name, Secret::new(password))
    } else if user["exec"].is_object() {
        Authentication::Exec(exec(entry))
    } else {
        Authentication::None
    };
    Ok(())
}

fn exec(entry: &Named) -> ExecCommand {
    let exec = &entry.content["exec"];
    let command = text(exec, "command").unwrap_or_default();
    // A path with a slash is relative to the file; a bare name is looked up in PATH.
    let is_relative_path = command.contains('/') && !command.starts_with('/');
    let command = if is_relative_path { entry.folder.join(&command).display().to_string() } else { command };
    let strings = |list: &Json| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let variables = exec["env"].as_array().into_iter().flatten();
    ExecCommand {
        api_version: text(exec, "apiVersion").unwrap_or_default(),
        command,
        arguments: strings(&exec["args"]),
        variables: variables.filter_map(|one| text(one, "name").zip(text(one, "value"))).collect(),
        hint: text(exec, "installHint"),
    }
}

fn text(object: &Json, name: &str) -> Option<String> {
    object[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the content of `NAME-data`, or of the file that `NAME` names.
fn bytes(entry: &Named, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let invalid = |reason: String| StoreError::InvalidArgument {
        argument: "config_path".to_owned(),
        reason: format!("{name} of {:?} in the kubeconfig cannot be used: {reason}", entry.name),
    };
    if let Some(encoded) = text(&entry.content, &format!("{name}-data")) {
        let decoded = STANDARD.decode(encoded.split_whitespace().collect::<String>());
        return decoded.map(Some).map_err(|_| invalid("it is not valid Base64".to_owned()));
    }
    let Some(path) = text(&entry.content, name) else { return Ok(None) };
    let path = entry.folder.join(path);
    let content = std::fs::read(&path);
    content.map(Some).map_err(|problem| invalid(format!("{}: {}", path.display(), io_reason(&problem))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "current-context: one\ncontexts:\n- name: one\n  context: {cluster: c, user: u}\nclusters:\n- name: c\n  cluster:\n    server: https://one:6443\n    certificate-authority: ca.crt\n    insecure-skip-tls-verify: true\n";
    const SECOND: &str = "current-context: two\ncontexts:\n- name: two\n  context: {cluster: c, user: v}\nusers:\n- name: u\n  user: {token: secret}\n- name: v\n  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, args: [a], env: [{name: N, value: V}]}\n";

    #[test]
    fn files_are_merged_and_selected() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        std::fs::write(&first, FIRST).unwrap();
        std::fs::write(&second, SECOND).unwrap();
        std::fs::write(folder.path().join("ca.crt"), "pem").unwrap();
        let config = Kubeconfig::read(&[first, second]).unwrap();
        let one = config.cluster(&Selection::default()).unwrap();
        assert_eq!((one.server.as_deref(), one.authorities.as_deref()), (Some("https://one:6443"), Some(&b"pem"[..])));
        assert!(
            one.is_insecure
                && matches!(&one.authentication, Authentication::Token(token) if token.reveal() == "secret")
        );
        let two = config.cluster(&Selection { context: Some("two"), ..Selection::default() }).unwrap();
        let Authentication::Exec(exec) = two.authentication else { panic!("not exec") };
        assert!(exec.command.ends_with("bin/login") && exec.command.starts_with('/'));
        assert_eq!((exec.arguments, exec.variables), (vec!["a".to_owned()], vec![("N".to_owned(), "V".to_owned())]));
        let wrong = config.cluster(&Selection { context: Some("tow"), ..Selection::default() }).err().unwrap();
        assert!(wrong.to_string().contains("only \"one\", \"two\""), "{wrong}");
        let missing = Kubeconfig::read(&[folder.path().join("none")]).err().unwrap();
        assert!(missing.to_string().contains("none"), "{missing}");
    }
}
