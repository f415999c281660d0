//! Servers of object stores, Consul and Kubernetes, if they are installed, and a double of Kubernetes, with the helpers of the tests of `groma-backend`.

// The helpers are those of another crate, which uses more of them.
#[allow(dead_code)]
#[path = "../../../../backend/tests/it/kubernetes_cluster.rs"]
mod kubernetes_cluster;
#[path = "../../../../backend/tests/it/kubernetes_protobuf.rs"]
mod kubernetes_protobuf;
#[allow(dead_code)]
#[path = "../../../../backend/tests/it/kubernetes_server.rs"]
mod kubernetes_server;
#[allow(dead_code)]
#[path = "../../../../backend/tests/it/proxy.rs"]
mod proxy;
#[allow(dead_code)]
#[path = "../../../../backend/tests/it/server.rs"]
mod server;
#[path = "../../../../backend/tests/it/tls_proxy.rs"]
mod tls_proxy;
#[allow(dead_code)]
#[path = "../../../../backend/tests/it/web.rs"]
mod web;

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use groma_cloud::api::{ApiClient, ApiRequest};
use groma_cloud::azure::StorageKey;
use groma_cloud::background;
use groma_cloud::http::{ConnectionSettings, Method};
use kubernetes_cluster::Cluster;
use kubernetes_server::{KubernetesServer, NAMESPACE};
use rustls::ServerConnection;
use serde_json::{Value as Json, json};
pub use server::Server;
use server::free_port;
use tempfile::TempDir;
use tls_proxy::TlsProxy;

const ACCOUNT: &str = "acmestates";
const KEY: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNA==";

/// A backend block with the variables that its programs need, while the server runs.
pub struct Served {
    pub block: String,
    pub variables: Vec<(&'static str, String)>,
    _server: Option<Server>,
    _directory: Option<TempDir>,
}

/// Sends a request that succeeds; returns the JSON of the answer.
pub fn send(request: ApiRequest) -> Json {
    let api = ApiClient::new(ConnectionSettings::default(), groma_cloud::Environment::default()).unwrap();
    let answer = background::block_on(async move { api.send(&request).await }).unwrap().unwrap();
    assert!(answer.status.is_success(), "{answer:?}");
    serde_json::from_slice(&answer.body).unwrap_or_default()
}

/// Starts a server of Cloud Storage with a bucket.
pub fn gcs() -> Option<Served> {
    let server = Server::start("fake-gcs-server", &[], |port| {
        let (host, port) = (format!("127.0.0.1:{port}"), port.to_string());
        let arguments =
            ["-scheme", "http", "-backend", "memory", "-host", "127.0.0.1", "-port", &port, "-public-host", &host];
        arguments.map(str::to_owned).to_vec()
    });
    let Some(server) = server else {
        eprintln!("skipped: fake-gcs-server is not installed (go install github.com/fsouza/fake-gcs-server@latest)");
        return None;
    };
    let url = format!("http://127.0.0.1:{}/storage/v1/", server.port);
    send(ApiRequest::json(Method::POST, format!("{url}b"), &json!({ "name": "states" })));
    let block = format!(
        "  backend \"gcs\" {{\n    bucket = \"states\"\n    prefix = \"team\"\n    access_token = \"token\"\n    \
         storage_custom_endpoint = \"{url}\"\n  }}"
    );
    Some(Served { block, variables: Vec::new(), _server: Some(server), _directory: None })
}

/// Starts a server of Azure's blobs with a container, behind a proxy with the certificate of the real host.
pub fn azurerm() -> Option<Served> {
    let accounts = format!("{ACCOUNT}:{KEY}");
    let server = Server::start("azurite-blob", &[("AZURITE_ACCOUNTS", &accounts)], |port| {
        let port = port.to_string();
        let fixed = ["--disableTelemetry", "--skipApiVersionCheck", "--inMemoryPersistence", "--silent"];
        let address = ["--blobHost", "127.0.0.1", "--blobPort", &port];
        fixed.iter().chain(&address).map(|argument| (*argument).to_owned()).collect()
    });
    let Some(server) = server else {
        eprintln!("skipped: azurite-blob is not installed (npm install -g azurite)");
        return None;
    };
    let url = format!("http://127.0.0.1:{}/{ACCOUNT}/states?restype=container", server.port);
    let request = ApiRequest::new(Method::PUT, url).with_header("x-ms-version", "2023-11-03");
    send(StorageKey::new(ACCOUNT, KEY).unwrap().sign(request, SystemTime::now()).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let certificate = directory.path().join("ca.pem");
    let proxy = TlsProxy::start(&format!("{ACCOUNT}.blob.core.windows.net"), server.port, &certificate);
    let variables = vec![
        ("HTTPS_PROXY", format!("http://127.0.0.1:{}", proxy.port)),
        ("SSL_CERT_FILE", certificate.display().to_string()),
    ];
    let block = format!(
        "  backend \"azurerm\" {{\n    storage_account_name = \"{ACCOUNT}\"\n    container_name = \"states\"\n    key = \"team.tfstate\"\n    \
         access_key = \"{KEY}\"\n  }}"
    );
    Some(Served { block, variables, _server: Some(server), _directory: Some(directory) })
}

/// Starts Consul.
pub fn consul() -> Option<Served> {
    let server = consul_agent(None)?;
    let block = format!(
        "  backend \"consul\" {{\n    address = \"127.0.0.1:{}\"\n    scheme = \"http\"\n    path = \"team/state\"\n  }}",
        server.port
    );
    Some(Served { block, variables: Vec::new(), _server: Some(server), _directory: None })
}

/// Starts an agent of Consul (1.14 or later), with more configuration.
pub fn consul_agent(configuration: Option<&str>) -> Option<Server> {
    let server = Server::start("consul", &[], |port| {
        let port = format!("-http-port={port}");
        let closed = ["-dns-port=-1", "-grpc-port=-1", "-grpc-tls-port=-1", "-serf-wan-port=-1"];
        let fixed = ["agent", "-dev", "-client=127.0.0.1", "-bind=127.0.0.1", &port];
        // The usual ports, which cannot be closed, may be those of the agent of another test.
        let own = ["server", "serf-lan"].map(|name| format!("-{name}-port={}", free_port()));
        let more = configuration.map(|text| format!("-hcl={text}"));
        fixed.iter().chain(&closed).map(|argument| (*argument).to_owned()).chain(own).chain(more).collect()
    });
    if server.is_none() {
        eprintln!("skipped: consul is not on PATH");
    }
    server
}

/// Starts a double of Kubernetes.
pub fn kubernetes() -> Served {
    kubernetes_double().0
}

/// Starts a double of Kubernetes, which the test changes.
pub fn kubernetes_double() -> (Served, KubernetesServer) {
    let server = KubernetesServer::start();
    (of_kubeconfig(&server.kubeconfig(), NAMESPACE), server)
}

/// Creates a namespace in a real Kubernetes, which the first call starts.
pub fn kubernetes_cluster(namespace: &str) -> Option<Served> {
    let cluster = Cluster::get()?;
    Some(of_kubeconfig(&cluster.kubeconfig(), &cluster.namespace(namespace).name))
}

fn of_kubeconfig(kubeconfig: &str, namespace: &str) -> Served {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    std::fs::write(&path, kubeconfig).unwrap();
    let block = format!(
        "  backend \"kubernetes\" {{\n    secret_suffix = \"team\"\n    namespace = \"{namespace}\"\n    config_path = \"{}\"\n  }}",
        path.display()
    );
    Served { block, variables: Vec::new(), _server: None, _directory: Some(directory) }
}

/// Serves TLS with a certificate that nobody trusts; returns the port.
pub fn untrusted() -> u16 {
    let (config, _) = tls_proxy::self_signed("127.0.0.1");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            // The client ends the handshake.
            let _ = connection.complete_io(&mut stream);
        }
    });
    port
}
