//! A real Kubernetes on loopback, if etcd and kube-apiserver are on PATH: the API with its rules for roles, and no nodes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::kubernetes_server::kubeconfig;
use super::server::Server;

/// The bearer token of a user who may do everything.
pub const ADMINISTRATOR: &str = "administrator-token";

/// The bearer token of a user without any role, and the name of that user.
pub const MEMBER: (&str, &str) = ("member-token", "member");

/// The servers of a cluster.
pub struct Cluster {
    pub url: String,
    /// The certificate of the API server, which has signed itself, as PEM text.
    pub authorities: String,
    port: u16,
    _servers: [Server; 2],
    _directory: TempDir,
}

impl Cluster {
    /// Returns the cluster of all tests of the executable. The first call starts it.
    pub fn get() -> Option<&'static Self> {
        static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
        let cluster = CLUSTER.get_or_init(Self::start).as_ref();
        if cluster.is_none() {
            eprintln!("skipped: etcd and kube-apiserver are not on PATH");
        }
        cluster
    }

    fn start() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let authorities = made.cert.pem();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write("certificate.pem", &authorities);
        write("key.pem", &made.signing_key.serialize_pem());
        write("tokens.csv", &format!("{ADMINISTRATOR},administrator,1,system:masters\n{},{},2\n", MEMBER.0, MEMBER.1));
        let etcd = Server::start("etcd", &[], |port| etcd_arguments(directory.path(), port))?;
        let api = Server::start("kube-apiserver", &[], |port| api_arguments(directory.path(), etcd.port, port))?;
        let (port, url) = (api.port, format!("https://127.0.0.1:{}", api.port));
        let cluster = Self { url, authorities, port, _servers: [api, etcd], _directory: directory };
        let begin = Instant::now();
        while cluster.request("GET", "/readyz", None).0 != 200 {
            assert!(begin.elapsed() < Duration::from_secs(120), "kube-apiserver is never ready");
            std::thread::sleep(Duration::from_millis(200));
        }
        Some(cluster)
    }

    /// Sends a request of the administrator; returns the status and the object of the answer.
    pub fn request(&self, method: &str, path: &str, body: Option<&Json>) -> (u16, Json) {
        let mut roots = RootCertStore::empty();
        roots.add(rustls::pki_types::CertificateDer::from_pem_slice(self.authorities.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let Ok(socket) = TcpStream::connect(("127.0.0.1", self.port)) else { return (0, Json::Null) };
        // A server that is starting accepts connections that it never answers.
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        let body = body.map(Json::to_string).unwrap_or_default();
        // Answers to this version are not sent in chunks.
        let head = format!(
            "{method} {path} HTTP/1.0\r\nAuthorization: Bearer {ADMINISTRATOR}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut answer = Vec::new();
        // A server that is starting resets connections, and one that is ready may end them without the last message of TLS.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.read_to_end(&mut answer).map(drop));
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Returns a kubeconfig file for the administrator.
    pub fn kubeconfig(&self) -> String {
        let cluster = json!({
            "server": self.url,
            "certificate-authority-data": STANDARD.encode(&self.authorities),
        });
        kubeconfig(&cluster, ADMINISTRATOR)
    }

    /// Creates a namespace.
    pub fn namespace(&'static self, name: &str) -> Namespace {
        let object = json!({ "metadata": { "name": name } });
        let (status, answer) = self.request("POST", "/api/v1/namespaces", Some(&object));
        assert_eq!(status, 201, "{answer}");
        Namespace { cluster: self, name: name.to_owned() }
    }
}

fn etcd_arguments(directory: &Path, port: u16) -> Vec<String> {
    let (data, url) = (directory.join("etcd").display().to_string(), format!("http://127.0.0.1:{port}"));
    let arguments = [
        "--data-dir",
        &data,
        "--listen-client-urls",
        &url,
        "--advertise-client-urls",
        &url,
        "--listen-peer-urls",
        "http://127.0.0.1:0",
        "--log-level",
        "error",
        "--unsafe-no-fsync",
    ];
    arguments.map(str::to_owned).to_vec()
}

fn api_arguments(directory: &Path, etcd: u16, port: u16) -> Vec<String> {
    let file = |name: &str| directory.join(name).display().to_string();
    let (key, certificate) = (file("key.pem"), file("certificate.pem"));
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        format!("--token-auth-file={}", file("tokens.csv")),
        format!("--cert-dir={}", file("certificates")),
        format!("--tls-cert-file={certificate}"),
        format!("--tls-private-key-file={key}"),
        // Nothing here has a service account, but the server does not start without a key for them.
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={certificate}"),
        format!("--service-account-signing-key-file={key}"),
    ]
}

/// A namespace of a cluster.
pub struct Namespace {
    pub cluster: &'static Cluster,
    pub name: String,
}

impl Namespace {
    /// Returns the names of all secrets and leases, as `KIND/NAME`.
    pub fn names(&self) -> Vec<String> {
        let of_kind = |kind: &str| {
            let (_, list) = self.cluster.request("GET", &self.path(kind, ""), None);
            let items = list["items"].as_array().cloned().unwrap_or_default();
            let name = |item: &Json| format!("{kind}/{}", item["metadata"]["name"].as_str().unwrap());
            items.iter().map(name).collect::<Vec<_>>()
        };
        let mut names: Vec<String> = ["leases", "secrets"].into_iter().flat_map(of_kind).collect();
        names.sort();
        names
    }

    /// Returns an object by `KIND/NAME`.
    pub fn object(&self, key: &str) -> Json {
        let (kind, name) = key.split_once('/').unwrap();
        let (status, object) = self.cluster.request("GET", &self.path(kind, name), None);
        assert_eq!(status, 200, "{object}");
        object
    }

    /// Replaces an object.
    pub fn store(&self, key: &str, object: &Json) {
        let (kind, name) = key.split_once('/').unwrap();
        let (status, answer) = self.cluster.request("PUT", &self.path(kind, name), Some(object));
        assert_eq!(status, 200, "{answer}");
    }

    /// Allows the member only these verbs, for each resource.
    pub fn allow(&self, rules: &[(&str, &[&str])]) {
        let rule = |(resource, verbs): &(&str, &[&str])| {
            let group = if *resource == "leases" { "coordination.k8s.io" } else { "" };
            json!({ "apiGroups": [group], "resources": [resource], "verbs": verbs })
        };
        let base = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}", self.name);
        let role = json!({ "metadata": { "name": "states" }, "rules": rules.iter().map(rule).collect::<Vec<_>>() });
        let binding = json!({
            "metadata": { "name": "states" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "states" },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": MEMBER.1 }],
        });
        for (kind, object) in [("roles", &role), ("rolebindings", &binding)] {
            self.cluster.request("DELETE", &format!("{base}/{kind}/states"), None);
            let (status, answer) = self.cluster.request("POST", &format!("{base}/{kind}"), Some(object));
            assert_eq!(status, 201, "{answer}");
        }
    }

    fn path(&self, kind: &str, name: &str) -> String {
        let group = if kind == "leases" { "/apis/coordination.k8s.io/v1" } else { "/api/v1" };
        let path = format!("{group}/namespaces/{}/{kind}", self.name);
        if name.is_empty() { path } else { format!("{path}/{name}") }
    }
}
