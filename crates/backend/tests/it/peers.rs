//! Terraform and OpenTofu on the states and locks of the stores, if `GROMA_TERRAFORM` and `GROMA_TOFU` name them.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use groma_backend::{Expected, Product, StoreError, record_hash, registry};
use groma_value::Value;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::kubernetes::Kubernetes;
use super::oss_server::OssServer;
use super::s3::{Moto, block};
use super::store::Store;
use super::tls_proxy::TlsProxy;
use super::{azurerm, gcs, oci, oss, store};

/// Both programs.
const ALL: [Product; 2] = [Product::Terraform, Product::OpenTofu];

/// A working directory of a program that shares states with Groma.
struct Peer {
    product: Product,
    program: PathBuf,
    directory: TempDir,
    variables: Vec<(String, String)>,
}

impl Peer {
    /// Creates a directory for each of the products that a variable names.
    fn of(products: &[Product], backend: &str, resources: &str) -> Vec<Self> {
        products.iter().filter_map(|product| Self::new(*product, backend, resources)).collect()
    }

    fn new(product: Product, backend: &str, resources: &str) -> Option<Self> {
        let variable = match product {
            Product::Terraform => "GROMA_TERRAFORM",
            Product::OpenTofu => "GROMA_TOFU",
        };
        let Some(program) = std::env::var_os(variable).filter(|path| !path.is_empty()) else {
            eprintln!("skipped: {variable} does not name {product:?} to share states with");
            return None;
        };
        let (program, directory) = (PathBuf::from(program), tempfile::tempdir().unwrap());
        let peer = Self { product, program, directory, variables: Vec::new() };
        peer.configure(backend, resources);
        Some(peer)
    }

    /// Sets environment variables for all commands.
    fn with(mut self, variables: &[(&str, &String)]) -> Self {
        self.variables.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())));
        self
    }

    fn configure(&self, backend: &str, resources: &str) {
        let text = format!("terraform {{\n{backend}\n}}\n{resources}\n");
        std::fs::write(self.directory.path().join("main.tf"), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.directory.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.directory.path());
        command.env("CHECKPOINT_DISABLE", "1").envs(self.variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command; returns its exit code and its output on one line.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.command(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let words = text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        (output.status.code().unwrap_or(-1), words)
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let (code, text) = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {text}");
        text
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }
}

const SMALL: &str = "output \"value\" {\n  value = \"theirs\"\n}";
const SLOW: &str =
    "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" {\n    command = \"sleep 6\"\n  }\n}";

/// Returns a state as Groma would write it.
fn state(lineage: &str, serial: u64, value: &str) -> Vec<u8> {
    let outputs = json!({ "value": { "value": value, "type": "string" } });
    let state = json!({
        "version": 4, "terraform_version": "1.15.5", "serial": serial, "lineage": lineage, "outputs": outputs,
        "resources": [], "check_results": null,
    });
    state.to_string().into_bytes()
}

/// States, workspaces and locks both ways.
fn shares(store: &Store, backend: &str) {
    for peer in Peer::of(&ALL, backend, SMALL) {
        shares_with(&peer, store, backend);
    }
}

fn shares_with(peer: &Peer, store: &Store, backend: &str) {
    peer.ok(&["init", "-input=false"]);
    record_has_the_same_hash(peer);
    peer.ok(&["apply", "-auto-approve", "-input=false"]);
    let theirs = store.read("default").unwrap().unwrap();
    let document: Json = serde_json::from_slice(&theirs.bytes).unwrap();
    assert_eq!(document["outputs"]["value"]["value"], "theirs");
    let lineage = document["lineage"].as_str().unwrap();
    let held = store.lock("default").unwrap();
    let current = store.read("default").unwrap().unwrap();
    let expected = Expected::Version(current.version);
    store.write("default", &state(lineage, 10, "ours"), expected, Some(&held)).unwrap();
    let (code, text) = peer.run(&["plan", "-input=false"]);
    assert!(code == 1 && text.contains("Error acquiring the state lock") && text.contains("tester@here"), "{text}");
    assert!(text.contains(&held.id), "the peer shows the ID that releases the lock: {text}");
    store.unlock("default", &held.id).unwrap();
    assert_eq!(peer.ok(&["output", "-raw", "value"]), "ours");
    workspaces_are_shared(store, peer);
    locks_exclude(store, peer, backend);
}

/// The record of the working directory: the arguments of the schema, and the hash of the block.
fn record_has_the_same_hash(peer: &Peer) {
    let record = std::fs::read(peer.directory.path().join(".terraform/terraform.tfstate")).unwrap();
    let record: Json = serde_json::from_slice(&record).unwrap();
    let (ty, recorded) = (record["backend"]["type"].as_str().unwrap(), &record["backend"]["config"]);
    let schema = (registry::find(ty).unwrap().schema)();
    let config = schema.from_record(recorded).unwrap();
    assert_eq!(&schema.to_record(&config, peer.product).unwrap(), recorded);
    let hash = record_hash(ty, schema, &config, peer.product);
    assert_eq!(Some(u64::from(hash)), record["backend"]["hash"].as_u64());
}

fn workspaces_are_shared(store: &Store, peer: &Peer) {
    peer.ok(&["workspace", "new", "green"]);
    assert!(store.workspaces().unwrap().contains(&"green".to_owned()));
    assert!(store.read("green").unwrap().is_some());
    let held = store.lock("red").unwrap();
    let expected = match store.read("red").unwrap() {
        Some(found) => Expected::Version(found.version),
        None => Expected::Absent,
    };
    store.write("red", &state("c0ffee", 1, "red"), expected, Some(&held)).unwrap();
    store.unlock("red", &held.id).unwrap();
    peer.ok(&["workspace", "select", "red"]);
    assert_eq!(peer.ok(&["output", "-raw", "value"]), "red");
    peer.ok(&["workspace", "select", "default"]);
    store.delete("red", None).unwrap();
    assert!(!peer.ok(&["workspace", "list"]).contains("red"));
    peer.ok(&["workspace", "delete", "green"]);
    assert_eq!(store.workspaces().unwrap().iter().filter(|name| *name != "default").count(), 0);
}

fn locks_exclude(store: &Store, peer: &Peer, backend: &str) {
    // The peer releases the lock of a run that is gone.
    let held = store.lock("default").unwrap();
    peer.ok(&["force-unlock", "-force", &held.id]);
    assert!(matches!(store.unlock("default", &held.id), Err(StoreError::NotLocked { .. })));
    peer.configure(backend, SLOW);
    let mut child = peer.start(&["apply", "-auto-approve", "-input=false"]);
    let begin = Instant::now();
    let holder = loop {
        assert!(begin.elapsed() < Duration::from_secs(60), "the lock of the peer is never seen");
        match store.lock("default") {
            Err(StoreError::Locked { holder: Some(holder), .. }) if holder.operation == "OperationTypeApply" => {
                break holder;
            }
            Err(StoreError::Locked { .. }) => {}
            Ok(held) => store.unlock("default", &held.id).unwrap(),
            Err(problem) => panic!("{problem:?}"),
        }
        if child.try_wait().unwrap().is_some() {
            // This test held the lock when the peer tried.
            child = peer.start(&["apply", "-auto-approve", "-input=false"]);
        }
        thread::sleep(Duration::from_millis(150));
    };
    // A lock that the peer holds is released by the ID that it wrote.
    store.unlock("default", &holder.id).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn peers_share_the_states_and_locks_of_s3() {
    let Some(moto) = Moto::start() else { return };
    let cases = [
        ("tf-file", "use_lockfile = true"),
        ("tf-table", "dynamodb_table = \"tf-table\""),
        ("tf-both", "use_lockfile = true\n    dynamodb_table = \"tf-both\""),
    ];
    for (bucket, locks) in cases {
        moto.make_bucket(bucket);
        moto.make_table(bucket);
        let url = format!("http://127.0.0.1:{}", moto.port);
        let backend = format!(
            "  backend \"s3\" {{\n    bucket = \"{bucket}\"\n    key = \"team/a.tfstate\"\n    region = \"us-east-1\"\n    \
             access_key = \"AKIAIOSFODNN7EXAMPLE\"\n    secret_key = \"secret\"\n    use_path_style = true\n    \
             skip_metadata_api_check = true\n    {locks}\n    \
             endpoints = {{ s3 = \"{url}\", dynamodb = \"{url}\", sts = \"{url}\", iam = \"{url}\" }}\n  }}"
        );
        let mut arguments = Vec::new();
        if locks.contains("use_lockfile") {
            arguments.push(("use_lockfile", Value::bool(true)));
        }
        if locks.contains("dynamodb_table") {
            arguments.push(("dynamodb_table", Value::string(bucket)));
        }
        let store = Store::open("s3", &block(moto.port, bucket, &arguments), &[]).unwrap();
        shares(&store, &backend);
    }
}

#[test]
fn peers_share_the_states_and_locks_of_gcs() {
    let Some(port) = gcs::server() else { return };
    gcs::make_bucket(port, "tf");
    let url = format!("http://127.0.0.1:{port}/storage/v1/");
    let backend = format!(
        "  backend \"gcs\" {{\n    bucket = \"tf\"\n    prefix = \"team/net\"\n    access_token = \"token\"\n    \
         storage_custom_endpoint = \"{url}\"\n  }}"
    );
    let given = [
        ("bucket", Value::string("tf")),
        ("prefix", Value::string("team/net")),
        ("access_token", Value::string("token")),
        ("storage_custom_endpoint", Value::string(url)),
    ];
    let store = Store::open("gcs", &store::block(&given, &[]), &[]).unwrap();
    shares(&store, &backend);
}

#[test]
fn peers_share_the_states_and_locks_of_kubernetes() {
    for kubernetes in Kubernetes::all("peers") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, kubernetes.kubeconfig()).unwrap();
        let (path, namespace) = (path.display().to_string(), kubernetes.namespace());
        let backend = format!(
            "  backend \"kubernetes\" {{\n    secret_suffix = \"net\"\n    namespace = \"{namespace}\"\n    config_path = \"{path}\"\n  }}"
        );
        let given = [
            ("secret_suffix", Value::string("net")),
            ("namespace", Value::string(namespace)),
            ("config_path", Value::string(&path)),
        ];
        let store = Store::open("kubernetes", &store::block(&given, &[]), &[]).unwrap();
        shares(&store, &backend);
        reads_a_split_state(&store, &backend, &kubernetes);
    }
}

/// A state that one secret cannot hold.
fn reads_a_split_state(store: &Store, backend: &str, kubernetes: &Kubernetes) {
    // OpenTofu stores a state in one secret, and reads only that.
    let Some(peer) = Peer::new(Product::Terraform, backend, SMALL) else { return };
    let mut seed = 5_u32;
    let digit = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("{:02x}", seed >> 24)
    };
    let large: String = std::iter::repeat_with(digit).take(1_500_000).collect();
    store.write("default", &state("c0ffee", 1, &large), Expected::Any, None).unwrap();
    assert!(kubernetes.names().contains(&"secrets/tfstate-default-net-part-1".to_owned()), "{:?}", kubernetes.names());
    peer.ok(&["init", "-input=false"]);
    assert!(peer.ok(&["output", "-raw", "value"]) == large, "the peer reads another state");
    peer.ok(&["apply", "-auto-approve", "-input=false"]);
    assert!(!kubernetes.names().contains(&"secrets/tfstate-default-net-part-1".to_owned()));
    let found: Json = serde_json::from_slice(&store.read("default").unwrap().unwrap().bytes).unwrap();
    assert_eq!(found["outputs"]["value"]["value"], "theirs");
}

#[test]
fn peers_share_the_states_and_locks_of_azurerm() {
    let Some(port) = azurerm::server() else { return };
    azurerm::make_container(port, "tf-states");
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("ca.pem");
    let account = azurerm::ACCOUNT;
    let proxy = TlsProxy::start(&format!("{account}.blob.core.windows.net"), port, &certificate);
    let backend = format!(
        "  backend \"azurerm\" {{\n    storage_account_name = \"{account}\"\n    container_name = \"tf-states\"\n    \
         key = \"team/a.tfstate\"\n    access_key = \"{}\"\n  }}",
        azurerm::KEY
    );
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let certificate = certificate.display().to_string();
    let variables = &[("HTTPS_PROXY", &address), ("SSL_CERT_FILE", &certificate)];
    let store = azurerm::open(port, "tf-states", &[]).unwrap();
    for peer in Peer::of(&ALL, &backend, SMALL) {
        shares_with(&peer.with(variables), &store, &backend);
    }
}

#[test]
fn peers_share_the_states_and_locks_of_oci() {
    let double = oci::Double::with_pages_of(1000);
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("ca.pem"), folder.path().join("key.pem"));
    std::fs::write(&key, oci::private_key()).unwrap();
    let proxy = TlsProxy::start("objectstorage.eu-frankfurt-1.oraclecloud.com", double.port, &certificate);
    let backend = format!(
        "  backend \"oci\" {{\n    bucket = \"states\"\n    namespace = \"ns\"\n    key = \"team/a.tfstate\"\n    region = \"eu-frankfurt-1\"\n    \
         tenancy_ocid = \"tenancy\"\n    user_ocid = \"user\"\n    fingerprint = \"finger\"\n    private_key_path = \"{}\"\n  }}",
        key.display()
    );
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let certificate = certificate.display().to_string();
    let variables = &[("HTTPS_PROXY", &address), ("SSL_CERT_FILE", &certificate)];
    // OpenTofu has no backend "oci".
    if let Some(peer) = Peer::new(Product::Terraform, &backend, SMALL) {
        shares_with(&peer.with(variables), &double.open(&[]).unwrap(), &backend);
    }
}

#[test]
fn peers_share_the_states_and_locks_of_oss() {
    let server = OssServer::start();
    let url = server.url();
    let backend = format!(
        "  backend \"oss\" {{\n    bucket = \"states\"\n    prefix = \"team\"\n    region = \"cn-hangzhou\"\n    access_key = \"id\"\n    \
         secret_key = \"key\"\n    endpoint = \"{url}\"\n    tablestore_endpoint = \"{url}\"\n    \
         tablestore_table = \"locks\"\n  }}"
    );
    shares(&oss::open(&server, &[]).unwrap(), &backend);
}
