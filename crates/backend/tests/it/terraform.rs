//! Real Terraform on the states and locks of the stores, if `GROMA_TERRAFORM` names it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use groma_backend::{Expected, Product, StoreError, record_hash, registry};
use groma_value::Value;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::kubernetes_server::{KubernetesServer, NAMESPACE};
use super::oss_server::OssServer;
use super::s3::{Moto, block};
use super::store::Store;
use super::tls_proxy::TlsProxy;
use super::{azurerm, gcs, oci, oss, store};

/// A working directory of Terraform.
struct Terraform {
    program: PathBuf,
    directory: TempDir,
    variables: Vec<(String, String)>,
}

impl Terraform {
    fn new(backend: &str, resources: &str) -> Option<Self> {
        let Some(program) = std::env::var_os("GROMA_TERRAFORM").filter(|path| !path.is_empty()) else {
            eprintln!("skipped: GROMA_TERRAFORM does not name a Terraform to compare with");
            return None;
        };
        let terraform =
            Self { program: PathBuf::from(program), directory: tempfile::tempdir().unwrap(), variables: Vec::new() };
        terraform.configure(backend, resources);
        Some(terraform)
    }

    /// Sets environment variables for all commands.
    fn with(mut self, variables: &[(&str, &str)]) -> Self {
        self.variables.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
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
    if let Some(terraform) = Terraform::new(backend, SMALL) {
        shares_with(&terraform, store, backend);
    }
}

fn shares_with(terraform: &Terraform, store: &Store, backend: &str) {
    terraform.ok(&["init", "-input=false"]);
    record_has_the_same_hash(terraform);
    terraform.ok(&["apply", "-auto-approve", "-input=false"]);
    let theirs = store.read("default").unwrap().unwrap();
    let document: Json = serde_json::from_slice(&theirs.bytes).unwrap();
    assert_eq!(document["outputs"]["value"]["value"], "theirs");
    let lineage = document["lineage"].as_str().unwrap();
    let held = store.lock("default").unwrap();
    let current = store.read("default").unwrap().unwrap();
    let expected = Expected::Version(current.version);
    store.write("default", &state(lineage, 10, "ours"), expected, Some(&held)).unwrap();
    let (code, text) = terraform.run(&["plan", "-input=false"]);
    assert!(code == 1 && text.contains("Error acquiring the state lock") && text.contains("tester@here"), "{text}");
    assert!(text.contains(&held.id), "Terraform shows the ID that releases the lock: {text}");
    store.unlock("default", &held.id).unwrap();
    assert_eq!(terraform.ok(&["output", "-raw", "value"]), "ours");
    workspaces_are_shared(store, terraform);
    locks_exclude(store, terraform, backend);
}

/// The record of the working directory: the arguments of the schema, and the hash of the block.
fn record_has_the_same_hash(terraform: &Terraform) {
    let record = std::fs::read(terraform.directory.path().join(".terraform/terraform.tfstate")).unwrap();
    let record: Json = serde_json::from_slice(&record).unwrap();
    let (ty, recorded) = (record["backend"]["type"].as_str().unwrap(), &record["backend"]["config"]);
    let schema = (registry::find(ty).unwrap().schema)();
    let config = schema.from_record(recorded).unwrap();
    assert_eq!(&schema.to_record(&config, Product::Terraform).unwrap(), recorded);
    let hash = record_hash(ty, schema, &config, Product::Terraform);
    assert_eq!(Some(u64::from(hash)), record["backend"]["hash"].as_u64());
}

fn workspaces_are_shared(store: &Store, terraform: &Terraform) {
    terraform.ok(&["workspace", "new", "green"]);
    assert!(store.workspaces().unwrap().contains(&"green".to_owned()));
    assert!(store.read("green").unwrap().is_some());
    let held = store.lock("red").unwrap();
    let expected = match store.read("red").unwrap() {
        Some(found) => Expected::Version(found.version),
        None => Expected::Absent,
    };
    store.write("red", &state("c0ffee", 1, "red"), expected, Some(&held)).unwrap();
    store.unlock("red", &held.id).unwrap();
    terraform.ok(&["workspace", "select", "red"]);
    assert_eq!(terraform.ok(&["output", "-raw", "value"]), "red");
    terraform.ok(&["workspace", "select", "default"]);
    store.delete("red", None).unwrap();
    assert!(!terraform.ok(&["workspace", "list"]).contains("red"));
    terraform.ok(&["workspace", "delete", "green"]);
    assert_eq!(store.workspaces().unwrap().iter().filter(|name| *name != "default").count(), 0);
}

fn locks_exclude(store: &Store, terraform: &Terraform, backend: &str) {
    // Terraform releases the lock of a run that is gone.
    let held = store.lock("default").unwrap();
    terraform.ok(&["force-unlock", "-force", &held.id]);
    assert!(matches!(store.unlock("default", &held.id), Err(StoreError::NotLocked { .. })));
    terraform.configure(backend, SLOW);
    let mut child = terraform.start(&["apply", "-auto-approve", "-input=false"]);
    let begin = Instant::now();
    let holder = loop {
        assert!(begin.elapsed() < Duration::from_secs(60), "the lock of Terraform is never seen");
        match store.lock("default") {
            Err(StoreError::Locked { holder: Some(holder), .. }) if holder.operation == "OperationTypeApply" => {
                break holder;
            }
            Err(StoreError::Locked { .. }) => {}
            Ok(held) => store.unlock("default", &held.id).unwrap(),
            Err(problem) => panic!("{problem:?}"),
        }
        if child.try_wait().unwrap().is_some() {
            // This test held the lock when Terraform tried.
            child = terraform.start(&["apply", "-auto-approve", "-input=false"]);
        }
        thread::sleep(Duration::from_millis(150));
    };
    // A lock that Terraform holds is released by the ID that it wrote.
    store.unlock("default", &holder.id).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn terraform_shares_the_states_and_locks_of_s3() {
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
fn terraform_shares_the_states_and_locks_of_gcs() {
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
fn terraform_shares_the_states_and_locks_of_kubernetes() {
    let server = KubernetesServer::start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\ncontexts:\n- name: here\n  context: {{cluster: c, user: u}}\nclusters:\n- \
         name: c\n  cluster: {{server: \"http://127.0.0.1:{}\"}}\nusers:\n- name: u\n  user: {{token: token}}\n",
        server.port
    );
    std::fs::write(&path, kubeconfig).unwrap();
    let path = path.display().to_string();
    let backend = format!(
        "  backend \"kubernetes\" {{\n    secret_suffix = \"net\"\n    namespace = \"{NAMESPACE}\"\n    config_path = \"{path}\"\n  }}"
    );
    let given = [
        ("secret_suffix", Value::string("net")),
        ("namespace", Value::string(NAMESPACE)),
        ("config_path", Value::string(&path)),
    ];
    let store = Store::open("kubernetes", &store::block(&given, &[]), &[]).unwrap();
    shares(&store, &backend);
    reads_a_split_state(&store, &backend, &server);
}

/// A state that one secret cannot hold.
fn reads_a_split_state(store: &Store, backend: &str, server: &KubernetesServer) {
    let Some(terraform) = Terraform::new(backend, SMALL) else { return };
    let mut seed = 5_u32;
    let digit = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("{:02x}", seed >> 24)
    };
    let large: String = std::iter::repeat_with(digit).take(1_500_000).collect();
    store.write("default", &state("c0ffee", 1, &large), Expected::Any, None).unwrap();
    assert!(server.names().contains(&"secrets/tfstate-default-net-part-1".to_owned()), "{:?}", server.names());
    terraform.ok(&["init", "-input=false"]);
    assert!(terraform.ok(&["output", "-raw", "value"]) == large, "Terraform reads another state");
    terraform.ok(&["apply", "-auto-approve", "-input=false"]);
    assert!(!server.names().contains(&"secrets/tfstate-default-net-part-1".to_owned()));
    let found: Json = serde_json::from_slice(&store.read("default").unwrap().unwrap().bytes).unwrap();
    assert_eq!(found["outputs"]["value"]["value"], "theirs");
}

#[test]
fn terraform_shares_the_states_and_locks_of_azurerm() {
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
    let Some(terraform) = Terraform::new(&backend, SMALL) else { return };
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let certificate = certificate.display().to_string();
    let terraform = terraform.with(&[("HTTPS_PROXY", &address), ("SSL_CERT_FILE", &certificate)]);
    let store = azurerm::open(port, "tf-states", &[]).unwrap();
    shares_with(&terraform, &store, &backend);
}

#[test]
fn terraform_shares_the_states_and_locks_of_oci() {
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
    let Some(terraform) = Terraform::new(&backend, SMALL) else { return };
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let certificate = certificate.display().to_string();
    let terraform = terraform.with(&[("HTTPS_PROXY", &address), ("SSL_CERT_FILE", &certificate)]);
    shares_with(&terraform, &double.open(&[]).unwrap(), &backend);
}

#[test]
fn terraform_shares_the_states_and_locks_of_oss() {
    let server = OssServer::start();
    let url = server.url();
    let backend = format!(
        "  backend \"oss\" {{\n    bucket = \"states\"\n    prefix = \"team\"\n    region = \"cn-hangzhou\"\n    access_key = \"id\"\n    \
         secret_key = \"key\"\n    endpoint = \"{url}\"\n    tablestore_endpoint = \"{url}\"\n    \
         tablestore_table = \"locks\"\n  }}"
    );
    shares(&oss::open(&server, &[]).unwrap(), &backend);
}
