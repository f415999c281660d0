//! The cluster of a backend: its address, its certificate authorities, and the credentials for it.

use std::path::{Path, PathBuf};

use groma_cloud::Secret;

use super::exec::ExecCommand;
use super::kubeconfig::{Kubeconfig, Selection};
use crate::error::StoreError;
use crate::host::Host;
use crate::schema::Settings;

/// The folder in which a pod finds its credentials.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A cluster with credentials.
#[derive(Default)]
pub(super) struct Cluster {
    pub server: Option<String>,
    /// The certificate authorities, as PEM text; those of the system if `None`.
    pub authorities: Option<Vec<u8>>,
    pub is_insecure: bool,
    pub certificate: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
    pub proxy: Option<String>,
    pub authentication: Authentication,
}

/// The credentials besides a client certificate.
#[derive(Default)]
pub(super) enum Authentication {
    #[default]
    None,
    Token(Secret),
    /// A file with a token that others renew.
    TokenFile(PathBuf),
    Password(String, Secret),
    Exec(ExecCommand),
}

impl Cluster {
    /// Returns the cluster that the arguments describe: that of the kubeconfig or of the pod, with the arguments over it.
    pub fn new(settings: &Settings, host: &Host) -> Result<Self, StoreError> {
        let home = |path: &str| host.environment.for_clouds().expand_home(path);
        let paths = kubeconfig_paths(settings, host).iter().map(|path| home(path)).collect::<Vec<_>>();
        let mut cluster = if settings.flag("in_cluster_config") {
            Self::of_pod(host, Path::new(SERVICE_ACCOUNT))?
        } else if !paths.is_empty() {
            let selection = Selection {
                context: settings.text("config_context"),
                user: settings.text("config_context_auth_info"),
                cluster: settings.text("config_context_cluster"),
            };
            Kubeconfig::read(&paths)?.cluster(&selection)?
        } else {
            Self::default()
        };
        cluster.add(settings)?;
        if cluster.server.is_none() {
            cluster.server = host.environment.get("KUBERNETES_MASTER");
        }
        Ok(cluster)
    }

    /// Returns the cluster that this pod runs in.
    fn of_pod(host: &Host, folder: &Path) -> Result<Self, StoreError> {
        let variable = |name: &str| host.environment.get(name);
        let Some((address, port)) = variable("KUBERNETES_SERVICE_HOST").zip(variable("KUBERNETES_SERVICE_PORT")) else {
            return Err(StoreError::InvalidArgument {
                argument: "in_cluster_config".to_owned(),
                reason: "this is no pod of a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"
                    .to_owned(),
            });
        };
        // IPv6 addresses have brackets in a URL.
        let address = if address.contains(':') { format!("[{address}]") } else { address };
        Ok(Self {
            server: Some(format!("https://{address}:{port}")),
            // Without the file, the authorities of the system are used.
            authorities: std::fs::read(folder.join("ca.crt")).ok(),
            authentication: Authentication::TokenFile(folder.join("token")),
            ..Self::default()
        })
    }

    /// Lays the arguments over the configuration.
    fn add(&mut self, settings: &Settings) -> Result<(), StoreError> {
        let text = |name: &str| settings.text(name).map(str::to_owned);
        let pem = |name: &str| settings.text(name).map(|pem| pem.as_bytes().to_vec());
        self.server = text("host").or(self.server.take());
        self.proxy = text("proxy_url").or(self.proxy.take());
        self.authorities = pem("cluster_ca_certificate").or(self.authorities.take());
        self.is_insecure |= settings.flag("insecure");
        if self.is_insecure && settings.text("cluster_ca_certificate").is_some() {
            return Err(StoreError::InvalidArgument {
                argument: "insecure".to_owned(),
                reason: "it excludes \"cluster_ca_certificate\"".to_owned(),
            });
        }
        self.certificate = pem("client_certificate").or(self.certificate.take());
        self.key = pem("client_key").or(self.key.take());
        if let Some(token) = settings.text("token") {
            self.authentication = Authentication::Token(Secret::new(token));
        } else if let Some((name, password)) = text("username").zip(text("password")) {
            self.authentication = Authentication::Password(name, Secret::new(password));
        } else if let Some(exec) = settings.object("exec") {
            self.authentication = Authentication::Exec(ExecCommand {
                api_version: exec.required("api_version").to_owned(),
                command: exec.required("command").to_owned(),
                arguments: exec.texts("args"),
                variables: exec.map("env"),
                hint: None,
            });
        }
        Ok(())
    }
}

fn kubeconfig_paths(settings: &Settings, host: &Host) -> Vec<String> {
    let listed = settings.texts("config_paths");
    if !listed.is_empty() {
        return listed;
    }
    if let Some(path) = settings.text("config_path") {
        return vec![path.to_owned()];
    }
    let separator = if cfg!(windows) { ';' } else { ':' };
    let variable = host.environment.get("KUBE_CONFIG_PATHS").unwrap_or_default();
    variable.split(separator).filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Environment;

    #[test]
    fn pods_find_their_cluster() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.crt"), "pem").unwrap();
        let variables = [("KUBERNETES_SERVICE_HOST", "fd00::1"), ("KUBERNETES_SERVICE_PORT", "443")];
        let host = Host { environment: Environment::of(variables), ..Host::default() };
        let cluster = Cluster::of_pod(&host, folder.path()).unwrap();
        assert_eq!(cluster.server.as_deref(), Some("https://[fd00::1]:443"));
        assert!(matches!(cluster.authentication, Authentication::TokenFile(path) if path.ends_with("token")));
        assert!(Cluster::of_pod(&Host::default(), folder.path()).is_err());
    }
}
