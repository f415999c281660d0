//! The backend `kubernetes` against a double of the API, and against a real one if it is installed.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_backend::{Expected, HeldLock, StoreError};
use groma_value::{Type, Value};
use serde_json::{Value as Json, json};

use super::kubernetes_cluster::{ADMINISTRATOR, Cluster, MEMBER, Namespace};
use super::kubernetes_server::{KubernetesServer, NAMESPACE};
use super::store::{self, Store, has_one_winner, keeps_the_contract};

/// An API with one namespace.
pub enum Kubernetes {
    Double(KubernetesServer),
    Real(Namespace),
}

impl Kubernetes {
    /// Returns the double, and a new namespace of the real API if it is installed.
    pub fn all(namespace: &str) -> Vec<Self> {
        let real = Cluster::get().map(|cluster| Self::Real(cluster.namespace(namespace)));
        [Some(Self::Double(KubernetesServer::start())), real].into_iter().flatten().collect()
    }

    /// Opens a store with the rights that `forbid` left.
    fn open(&self, more: &[(&'static str, Value)]) -> Result<Store, StoreError> {
        let (namespace, host, token) = match self {
            Self::Double(server) => (NAMESPACE, format!("http://127.0.0.1:{}", server.port), "token"),
            Self::Real(namespace) => (&*namespace.name, namespace.cluster.url.clone(), MEMBER.0),
        };
        let mut given = vec![
            ("secret_suffix", Value::string("net")),
            ("namespace", Value::string(namespace)),
            ("host", Value::string(host)),
            ("token", Value::string(token)),
        ];
        if let Self::Real(namespace) = self {
            given.push(("cluster_ca_certificate", Value::string(&namespace.cluster.authorities)));
        }
        Store::open("kubernetes", &store::block(&given, more), &[])
    }

    pub fn namespace(&self) -> &str {
        match self {
            Self::Double(_) => NAMESPACE,
            Self::Real(namespace) => &namespace.name,
        }
    }

    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Double(server) => server.names(),
            Self::Real(namespace) => namespace.names(),
        }
    }

    /// Returns a kubeconfig file for a user with all rights.
    pub fn kubeconfig(&self) -> String {
        match self {
            Self::Double(server) => server.kubeconfig(),
            Self::Real(namespace) => namespace.cluster.kubeconfig(),
        }
    }

    fn object(&self, key: &str) -> Json {
        match self {
            Self::Double(server) => server.shared().objects[key].clone(),
            Self::Real(namespace) => namespace.object(key),
        }
    }

    fn replace(&self, key: &str, object: Json) {
        match self {
            Self::Double(server) => drop(server.shared().store(key.to_owned(), object)),
            Self::Real(namespace) => namespace.store(key, &object),
        }
    }

    /// Allows everything that states need, except for one verb on one resource.
    fn forbid(&self, forbidden: Option<(&'static str, &'static str)>) {
        match self {
            Self::Double(server) => server.shared().forbidden = forbidden,
            Self::Real(namespace) => {
                let verbs = |resource| {
                    let all = ["get", "list", "create", "update", "delete"].into_iter();
                    all.filter(|verb| forbidden != Some((*verb, resource))).collect::<Vec<_>>()
                };
                namespace.allow(&[("secrets", &verbs("secrets")), ("leases", &verbs("leases"))]);
            }
        }
    }
}

fn open(server: &KubernetesServer, more: &[(&'static str, Value)]) -> Result<Store, StoreError> {
    Kubernetes::Double(server.clone()).open(more)
}

fn unpacked(secret: &Json) -> Vec<u8> {
    let packed = STANDARD.decode(secret["data"]["tfstate"].as_str().unwrap()).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns text that stays large when it is compressed.
fn noise(length: usize) -> Vec<u8> {
    let mut seed = 7_u32;
    let byte = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    std::iter::repeat_with(byte).take(length).collect()
}

#[test]
fn states_and_locks_keep_the_contract() {
    for kubernetes in Kubernetes::all("contract") {
        kubernetes.forbid(None);
        let store = kubernetes.open(&[]).unwrap();
        keeps_the_contract(&store);
        store::exchanges_locks(&store, "default");
        store::keeps_journals(&store);
        assert_eq!(store.workspaces().unwrap(), ["default"]);
        assert_eq!(kubernetes.names(), ["leases/lock-tfstate-default-net", "secrets/tfstate-default-net"]);
        has_one_winner(&store, "default");
    }
}

#[test]
fn secrets_and_leases_are_those_of_the_peers() {
    for kubernetes in Kubernetes::all("objects") {
        kubernetes.forbid(None);
        let labels = Value::map(Type::String, [("team", Value::string("net"))]);
        let store = kubernetes.open(&[("labels", labels)]).unwrap();
        let held = store.lock("blue").unwrap();
        store.write("blue", b"{\"n\":1}", Expected::Absent, Some(&held)).unwrap();
        has_objects_of_peers(&kubernetes, &held);
        store.unlock("blue", &held.id).unwrap();
        let lease = kubernetes.object("leases/lock-tfstate-blue-net");
        assert_eq!(lease["spec"], json!({}));
        assert!(lease["metadata"]["annotations"].as_object().is_none_or(serde_json::Map::is_empty), "{lease}");
    }
}

fn has_objects_of_peers(kubernetes: &Kubernetes, held: &HeldLock) {
    let labels = json!({
        "tfstate": "true", "tfstateSecretSuffix": "net", "tfstateWorkspace": "blue",
        "app.kubernetes.io/managed-by": "terraform", "team": "net",
    });
    let secret = kubernetes.object("secrets/tfstate-blue-net");
    assert_eq!((&secret["metadata"]["labels"], &secret["type"]), (&labels, &json!("Opaque")));
    assert_eq!(secret["metadata"]["annotations"], json!({ "encoding": "gzip" }));
    assert_eq!(unpacked(&secret), b"{\"n\":1}");
    let lease = kubernetes.object("leases/lock-tfstate-blue-net");
    assert_eq!((&lease["metadata"]["labels"], &lease["spec"]["holderIdentity"]), (&labels, &json!(held.id)));
    let info = lease["metadata"]["annotations"]["app.terraform.io/lock-info"].as_str().unwrap();
    let info: Json = serde_json::from_str(info).unwrap();
    assert_eq!((&info["ID"], &info["Path"]), (&json!(held.id), &json!("")));
}

#[test]
fn large_states_are_split_into_parts_and_surplus_parts_deleted() {
    for kubernetes in Kubernetes::all("large") {
        kubernetes.forbid(None);
        let store = kubernetes.open(&[]).unwrap();
        let large = noise(2_300_000);
        let one = store.write("default", &large, Expected::Absent, None).unwrap();
        let parts =
            ["secrets/tfstate-default-net", "secrets/tfstate-default-net-part-1", "secrets/tfstate-default-net-part-2"];
        assert_eq!(kubernetes.names(), parts);
        let found = store.read("default").unwrap().unwrap();
        assert_eq!((found.bytes == large, &found.version), (true, &one));
        assert_eq!(store.workspaces().unwrap(), ["default"]);
        // A part that changes makes another version of the whole.
        let mut part = kubernetes.object(parts[2]);
        part["data"]["tfstate"] = json!("AAAA");
        kubernetes.replace(parts[2], part);
        assert!(matches!(store.read("default"), Err(StoreError::InvalidData { .. })));
        store.write("default", b"{}", Expected::Any, None).unwrap();
        assert_eq!(kubernetes.names(), parts[..1]);
        assert_eq!(store.read("default").unwrap().unwrap().bytes, b"{}");
    }
}

#[test]
fn secret_with_an_unsplit_large_state_is_read() {
    let server = KubernetesServer::start();
    let store = open(&server, &[]).unwrap();
    let large = noise(1_200_000);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&large).unwrap();
    let data = STANDARD.encode(encoder.finish().unwrap());
    let secret = json!({ "metadata": { "name": "tfstate-default-net" }, "data": { "tfstate": data } });
    server.shared().store("secrets/tfstate-default-net".to_owned(), secret);
    assert!(store.read("default").unwrap().unwrap().bytes == large);
}

#[test]
fn writes_and_locks_whose_responses_never_arrive_are_recognized() {
    let server = KubernetesServer::start();
    let store = open(&server, &[]).unwrap();
    server.shared().dropped_responses = 1;
    let held = store.lock("default").unwrap();
    server.shared().dropped_responses = 1;
    let one = store.write("default", b"{\"n\":1}", Expected::Absent, Some(&held)).unwrap();
    server.shared().dropped_responses = 1;
    let two = store.write("default", b"{\"n\":2}", Expected::Version(one), Some(&held)).unwrap();
    assert_eq!(store.read("default").unwrap().unwrap().version, two);
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn missing_permissions_are_named_with_advice() {
    for kubernetes in Kubernetes::all("permissions") {
        let denied = |verb, resource, attempt: &dyn Fn() -> StoreError| {
            kubernetes.forbid(Some((verb, resource)));
            let problem = attempt();
            let StoreError::AccessDenied { resource: object, permission, advice, .. } = &problem else {
                panic!("{verb} {resource}: {problem:?}")
            };
            assert_eq!(permission.as_deref(), Some(&*format!("{verb} {resource}")));
            let namespace = kubernetes.namespace();
            assert!(object.contains(resource) && object.contains(namespace), "{object}");
            assert!(advice.contains(&format!("kubectl create role terraform-state -n {namespace}")), "{advice}");
            kubernetes.forbid(None);
        };
        let store = kubernetes.open(&[]).unwrap();
        denied("get", "secrets", &|| store.read("default").unwrap_err());
        denied("create", "secrets", &|| store.write("default", b"{}", Expected::Absent, None).unwrap_err());
        let one = store.write("default", b"{}", Expected::Absent, None).unwrap();
        let second = Expected::Version(one);
        denied("update", "secrets", &|| store.write("default", b"[]", second.clone(), None).unwrap_err());
        denied("list", "secrets", &|| store.workspaces().unwrap_err());
        denied("delete", "secrets", &|| store.delete("default", None).unwrap_err());
        denied("get", "leases", &|| store.lock("default").unwrap_err());
        denied("create", "leases", &|| store.lock("default").unwrap_err());
        let held = store.lock("default").unwrap();
        denied("update", "leases", &|| store.unlock("default", &held.id).unwrap_err());
        denied("delete", "leases", &|| store.delete("default", Some(&held)).unwrap_err());
        // The refused deletion of the lease leaves a locked workspace without a state.
        store.unlock("default", &held.id).unwrap();
        assert_eq!(store.read("default").unwrap(), None);
    }
}

#[test]
fn missing_namespaces_and_wrong_tokens_are_named() {
    for kubernetes in Kubernetes::all("names") {
        kubernetes.forbid(None);
        let wrong = kubernetes.open(&[("token", Value::string("wrong"))]).unwrap();
        if let Kubernetes::Double(server) = &kubernetes {
            server.shared().tokens = vec!["token".to_owned(), ADMINISTRATOR.to_owned()];
        }
        assert!(matches!(wrong.read("default"), Err(StoreError::Unauthenticated { .. })));
        let missing = [("namespace", Value::string("none")), ("token", Value::string(ADMINISTRATOR))];
        let other_namespace = kubernetes.open(&missing).unwrap();
        assert_eq!(other_namespace.read("default").unwrap(), None);
        let problem = other_namespace.lock("default").unwrap_err();
        assert!(matches!(&problem, StoreError::NotFound { what, .. } if what.contains("\"none\"")), "{problem:?}");
        let numbered = kubernetes.open(&[("secret_suffix", Value::string("net-1"))]);
        assert!(matches!(numbered.err(), Some(StoreError::InvalidArgument { .. })));
    }
}

#[test]
fn kubeconfig_names_cluster_and_program_for_credentials() {
    let server = KubernetesServer::start();
    server.shared().tokens = vec!["second".to_owned()];
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("login");
    // The first token is rejected, as one that has ended early.
    let script = "#!/bin/sh\nif [ -e \"$0.used\" ]; then token=second; else token=first; touch \"$0.used\"; fi\necho \"{\\\"status\\\":{\\\"token\\\":\\\"$token\\\"}}\"\n";
    std::fs::write(&program, script).unwrap();
    let kubeconfig = format!(
        "current-context: here\ncontexts:\n- name: here\n  context: {{cluster: c, user: u}}\nclusters:\n- name: c\n  cluster: {{server: \"http://127.0.0.1:{}\"}}\nusers:\n- name: u\n  user:\n    exec: {{apiVersion: client.authentication.k8s.io/v1, command: sh, args: [\"{}\"]}}\n",
        server.port,
        program.display()
    );
    let path = folder.path().join("config");
    std::fs::write(&path, kubeconfig).unwrap();
    let given = [("secret_suffix", Value::string("net")), ("namespace", Value::string(NAMESPACE))];
    let path = path.display().to_string();
    let store = Store::open("kubernetes", &store::block(&given, &[]), &[("KUBE_CONFIG_PATHS", &path)]).unwrap();
    assert_eq!(store.read("default").unwrap(), None);
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
    let nothing = Store::open("kubernetes", &store::block(&given, &[]), &[]).err().unwrap();
    assert!(nothing.to_string().contains("KUBE_CONFIG_PATH"), "{nothing}");
}
