//! The backends `remote` and `cloud` against a double of the API of HCP Terraform.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_backend::{Expected, StoreError, WorkspaceSupport};
use groma_value::Value;
use serde_json::{Value as Json, json};

use super::store::{self, Store};
use super::web::{Request, response, serve};

#[derive(Default)]
struct Workspace {
    mode: String,
    tags: Vec<String>,
    project: Option<String>,
    lock: Option<String>,
    versions: Vec<Vec<u8>>,
}

/// The double: one organization.
#[derive(Default)]
struct Service {
    workspaces: BTreeMap<String, Workspace>,
    /// Whether states must be part of the request, as on older servers.
    is_old: bool,
    /// How many requests to unlock are refused, as after an upload.
    pending: usize,
    /// How many answers to created versions are lost.
    dropped_responses: usize,
}

#[derive(Clone)]
struct Double {
    port: u16,
    service: Arc<Mutex<Service>>,
}

impl Double {
    fn start() -> Self {
        let service = Arc::<Mutex<Service>>::default();
        let shared = Arc::clone(&service);
        let port = serve(move |request| {
            let mut service = shared.lock().unwrap();
            let (status, body) = service.answer(&request);
            if request.target.contains("/upload/") && service.dropped_responses > 0 {
                service.dropped_responses -= 1;
                return None;
            }
            Some(response(status, &body))
        });
        Self { port, service }
    }

    fn service(&self) -> MutexGuard<'_, Service> {
        self.service.lock().unwrap()
    }

    fn open(&self, workspaces: (&'static str, &str), token: &str) -> Store {
        self.connect("remote", [(workspaces.0, Value::string(workspaces.1))], token)
    }

    /// Opens the backend of a cloud block.
    fn cloud(&self, workspaces: impl IntoIterator<Item = (&'static str, Value)>) -> Store {
        self.connect("cloud", workspaces, "good")
    }

    fn connect(&self, kind: &str, workspaces: impl IntoIterator<Item = (&'static str, Value)>, token: &str) -> Store {
        let given = [
            ("hostname", Value::string(format!("127.0.0.1:{}", self.port))),
            ("organization", Value::string("acme")),
            ("token", Value::string(token)),
            ("workspaces", Value::object(workspaces)),
        ];
        Store::open(kind, &store::block(&given, &[]), &[]).unwrap()
    }
}

impl Service {
    fn answer(&mut self, request: &Request) -> (u16, String) {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        if path == "/.well-known/terraform.json" {
            return (200, json!({ "tfe.v2": "/api/v2/" }).to_string());
        }
        if let Some(rest) = path.strip_prefix("/upload/") {
            let (name, number) = rest.split_once('/').unwrap();
            let versions = &mut self.workspaces.get_mut(name).unwrap().versions;
            versions[number.parse::<usize>().unwrap()].clone_from(&request.body);
            return (200, String::new());
        }
        if request.header("authorization") != Some("Bearer good") {
            return (401, json!({ "errors": [{ "status": "401", "title": "unauthorized" }] }).to_string());
        }
        let parts: Vec<&str> = path.strip_prefix("/api/v2/").unwrap().split('/').collect();
        let body: Json = serde_json::from_slice(&request.body).unwrap_or_default();
        let (status, document) = match (&*request.method, &parts[..]) {
            ("GET", ["organizations", "acme", "workspaces"]) => self.list(query),
            ("POST", ["organizations", "acme", "workspaces"]) => self.create(&body["data"]),
            ("GET", ["organizations", "acme", "projects"]) => {
                (200, json!({ "data": [{ "id": "prj-1", "attributes": { "name": "web" } }] }))
            }
            ("GET", ["organizations", "acme", "workspaces", name]) => self.show(name),
            ("DELETE", ["organizations", "acme", "workspaces", name]) => {
                (if self.workspaces.remove(*name).is_some() { 204 } else { 404 }, json!({}))
            }
            ("GET", ["workspaces", id, "current-state-version"]) => self.current(id),
            ("POST", ["workspaces", id, "state-versions"]) => self.version(id, &body["data"]["attributes"]),
            ("POST", ["workspaces", id, "actions", action]) => self.act(id, action, &body),
            ("GET", ["download", id, number]) => {
                let number: usize = number.parse().unwrap();
                let bytes = self.workspaces[*id].versions[number].clone();
                return (200, String::from_utf8(bytes).unwrap());
            }
            _ => (404, json!({ "errors": [{ "status": "404", "title": "not found" }] })),
        };
        (status, document.to_string())
    }

    fn create(&mut self, data: &Json) -> (u16, Json) {
        let (attributes, relationships) = (&data["attributes"], &data["relationships"]);
        let name = attributes["name"].as_str().unwrap().to_owned();
        let mode = attributes["execution-mode"].as_str().unwrap().to_owned();
        let names = attributes["tag-names"].as_array().into_iter().flatten();
        let names = names.map(|tag| tag.as_str().unwrap().to_owned());
        let pairs = relationships["tag-bindings"]["data"].as_array().into_iter().flatten();
        let pairs = pairs.map(|pair| {
            let text = |name: &str| pair["attributes"][name].as_str().unwrap();
            format!("{}={}", text("key"), text("value"))
        });
        let tags = names.chain(pairs).collect();
        let project = relationships["project"]["data"]["id"].as_str().map(str::to_owned);
        self.workspaces.insert(name.clone(), Workspace { mode, tags, project, ..Workspace::default() });
        (201, self.show(&name).1)
    }

    fn show(&self, name: &str) -> (u16, Json) {
        let Some(found) = self.workspaces.get(name) else { return (404, json!({})) };
        let attributes = json!({ "name": name, "execution-mode": found.mode, "locked": found.lock.is_some() });
        let holder = found.lock.as_ref().map(|_| json!({ "id": "user-1", "type": "users" }));
        let data =
            json!({ "id": name, "attributes": attributes, "relationships": { "locked-by": { "data": holder } } });
        (200, json!({ "data": data, "included": [{ "id": "user-1", "attributes": { "username": "ada" } }] }))
    }

    fn list(&self, query: &str) -> (u16, Json) {
        let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let is_found = |name: &str, workspace: &Workspace| {
            let has = |tag: &str| workspace.tags.iter().any(|known| known == tag);
            match (value("search%5Bname%5D"), value("search%5Btags%5D")) {
                (Some(part), _) => name.contains(part),
                (None, Some(tags)) => tags.split("%2C").all(has),
                (None, None) => {
                    let field = |name: &str| value(&format!("filter%5Btagged%5D%5B0%5D%5B{name}%5D")).unwrap();
                    has(&format!("{}={}", field("key"), field("value")))
                }
            }
        };
        let page: usize = query.split("page%5Bnumber%5D=").nth(1).unwrap().parse().unwrap();
        let found = self.workspaces.iter().filter(|(name, workspace)| is_found(name, workspace));
        let names: Vec<&String> = found.map(|(name, _)| name).collect();
        // Pages of one workspace each.
        let data: Vec<Json> =
            names.iter().skip(page - 1).take(1).map(|name| json!({ "attributes": { "name": name } })).collect();
        let next = (page < names.len()).then_some(page + 1);
        (200, json!({ "data": data, "meta": { "pagination": { "next-page": next } } }))
    }

    fn current(&self, id: &str) -> (u16, Json) {
        let count = self.workspaces[id].versions.len();
        if count == 0 {
            return (404, json!({}));
        }
        let url = format!("/api/v2/download/{id}/{}", count - 1);
        (200, json!({ "data": { "id": format!("sv-{count}"), "attributes": { "hosted-state-download-url": url } } }))
    }

    fn version(&mut self, id: &str, attributes: &Json) -> (u16, Json) {
        let is_old = self.is_old;
        let workspace = self.workspaces.get_mut(id).unwrap();
        let state = attributes["state"].as_str().map(|state| STANDARD.decode(state).unwrap());
        if is_old && state.is_none() {
            return (400, json!({ "errors": [{ "title": "param is missing" }] }));
        }
        let last = workspace.versions.last().map(|bytes| serde_json::from_slice::<Json>(bytes).unwrap());
        let is_newer = last.is_none_or(|last| last["serial"].as_u64() < attributes["serial"].as_u64());
        if workspace.lock.is_none() || !is_newer {
            return (409, json!({}));
        }
        workspace.versions.push(state.unwrap_or_default());
        let count = workspace.versions.len();
        let url = (!is_old).then(|| format!("/upload/{id}/{}", count - 1));
        (201, json!({ "data": { "id": format!("sv-{count}"), "attributes": { "hosted-state-upload-url": url } } }))
    }

    fn act(&mut self, id: &str, action: &str, body: &Json) -> (u16, Json) {
        if action == "unlock" && self.pending > 0 {
            self.pending -= 1;
            return (409, json!({}));
        }
        let lock = &mut self.workspaces.get_mut(id).unwrap().lock;
        match (action, lock.is_some()) {
            ("lock", false) => *lock = Some(body["reason"].as_str().unwrap().to_owned()),
            ("unlock" | "force-unlock", true) => *lock = None,
            _ => return (409, json!({})),
        }
        (200, json!({}))
    }
}

fn state(serial: u64) -> Vec<u8> {
    json!({ "version": 4, "serial": serial, "lineage": "l" }).to_string().into_bytes()
}

#[test]
fn one_workspace_keeps_states_and_locks() {
    let double = Double::start();
    let store = double.open(("name", "net"), "good");
    assert_eq!(store.0.workspace_support(), WorkspaceSupport::DefaultOnly);
    assert_eq!((store.read("default").unwrap(), store.workspaces().unwrap()), (None, vec![]));
    let held = store.lock("default").unwrap();
    assert_eq!(double.service().workspaces["net"].mode, "local", "the workspace is created for runs of this machine");
    let one = store.write("default", &state(1), Expected::Absent, Some(&held)).unwrap();
    let found = store.read("default").unwrap().unwrap();
    assert_eq!((found.bytes, &found.version), (state(1), &one));
    double.service().dropped_responses = 1;
    let two = store.write("default", &state(2), Expected::Version(one.clone()), Some(&held)).unwrap();
    let stale = store.write("default", &state(3), Expected::Version(one), Some(&held));
    assert!(matches!(stale, Err(StoreError::Conflict { found: Some(version), .. }) if version == two));
    double.service().pending = 2;
    store.unlock("default", &held.id).unwrap();
    assert!(matches!(store.unlock("default", &held.id), Err(StoreError::NotLocked { .. })));
    double.service().is_old = true;
    let held = store.lock("default").unwrap();
    store.write("default", &state(4), Expected::Any, Some(&held)).unwrap();
    assert_eq!(store.read("default").unwrap().unwrap().bytes, state(4));
    store.unlock("default", &held.id).unwrap();
    let unlocked = store.write("default", &state(5), Expected::Any, None).unwrap_err();
    assert!(unlocked.to_string().contains("not locked by this user"), "{unlocked}");
}

#[test]
fn locks_of_others_are_named_and_released_by_force() {
    let double = Double::start();
    let (ours, theirs) = (double.open(("name", "net"), "good"), double.open(("name", "net"), "good"));
    theirs.lock("default").unwrap();
    let problem = ours.lock("default").unwrap_err();
    assert!(problem.is_held_lock());
    let StoreError::Locked { holder: Some(holder), .. } = problem else { panic!() };
    assert_eq!((&*holder.id, &*holder.who), ("acme/net", "ada"));
    assert!(matches!(ours.unlock("default", "other"), Err(StoreError::LockIdMismatch { .. })));
    ours.unlock("default", "acme/net").unwrap();
    ours.lock("default").unwrap();
}

#[test]
fn workspaces_share_a_prefix() {
    let double = Double::start();
    let store = double.open(("prefix", "net-"), "good");
    assert_eq!(store.0.workspace_support(), WorkspaceSupport::ManyWithoutDefault);
    for name in ["blue", "red"] {
        let held = store.lock(name).unwrap();
        store.write(name, &state(1), Expected::Absent, Some(&held)).unwrap();
        store.unlock(name, &held.id).unwrap();
    }
    double.service().workspaces.insert("other-net-x".to_owned(), Workspace::default());
    assert_eq!(store.workspaces().unwrap(), ["blue", "red"]);
    let held = store.lock("red").unwrap();
    store.delete("red", Some(&held)).unwrap();
    store.unlock("red", &held.id).unwrap();
    assert_eq!(store.workspaces().unwrap(), ["blue"]);
    assert!(matches!(store.read("default"), Err(StoreError::Unsupported { .. })));
}

#[test]
fn remote_runs_and_wrong_tokens_are_refused_with_advice() {
    let double = Double::start();
    let workspace = Workspace { mode: "remote".to_owned(), versions: vec![state(1)], ..Workspace::default() };
    double.service().workspaces.insert("net".to_owned(), workspace);
    let store = double.open(("name", "net"), "good");
    assert_eq!(store.read("default").unwrap().unwrap().bytes, state(1), "states can be read");
    let problem = store.lock("default").unwrap_err();
    assert!(problem.detail().contains("execution mode of the workspace to Local"), "{}", problem.detail());
    let stranger = double.open(("name", "net"), "bad");
    let problem = stranger.read("default").unwrap_err();
    let StoreError::Unauthenticated { advice, .. } = &problem else { panic!("{problem:?}") };
    assert!(advice.contains("TF_TOKEN_127_0_0_1_"), "{advice}");
}

#[test]
fn cloud_block_names_one_workspace() {
    let double = Double::start();
    let store = double.cloud([("name", Value::string("net")), ("project", Value::string("web"))]);
    assert_eq!(store.0.workspace_support(), WorkspaceSupport::Only("net".to_owned()));
    assert_eq!(store.workspaces().unwrap(), [""; 0]);
    let held = store.lock("net").unwrap();
    store.write("net", &state(1), Expected::Absent, Some(&held)).unwrap();
    store.unlock("net", &held.id).unwrap();
    assert_eq!(store.workspaces().unwrap(), ["net"]);
    assert_eq!(double.service().workspaces["net"].project.as_deref(), Some("prj-1"));
    // Workspaces that exist stay in their project.
    let other_project = double.cloud([("name", Value::string("net")), ("project", Value::string("absent"))]);
    assert_eq!(other_project.read("net").unwrap().unwrap().bytes, state(1));
    let unknown = double.cloud([("name", Value::string("new")), ("project", Value::string("absent"))]);
    let problem = unknown.lock("new").unwrap_err();
    assert!(problem.to_string().contains("the project \"absent\""), "{problem}");
}

#[test]
fn cloud_block_selects_workspaces_by_tags() {
    let double = Double::start();
    let names = Value::tuple(vec![Value::string("app"), Value::string("eu-west")]);
    let pairs = Value::object([("team", Value::string("net"))]);
    for (tags, expected) in [(names, vec!["app", "eu-west"]), (pairs, vec!["team=net"])] {
        double.service().workspaces.clear();
        double.service().workspaces.insert("of-others".to_owned(), Workspace::default());
        let store = double.cloud([("tags", tags)]);
        assert_eq!(store.0.workspace_support(), WorkspaceSupport::ManyWithoutDefault);
        for name in ["blue", "red"] {
            let held = store.lock(name).unwrap();
            store.unlock(name, &held.id).unwrap();
        }
        assert_eq!(double.service().workspaces["red"].tags, expected);
        assert_eq!(store.workspaces().unwrap(), ["blue", "red"]);
    }
}

#[test]
fn cloud_block_without_workspaces_needs_the_variable() {
    let block = |workspaces: Option<Value>| {
        let given = [("organization", Value::string("acme"))];
        let more = workspaces.map(|workspaces| ("workspaces", workspaces));
        store::block(&given.into_iter().chain(more).collect::<Vec<_>>(), &[])
    };
    let open = |workspaces, variables: &[(&str, &str)]| Store::open("cloud", &block(workspaces), variables);
    let named = open(None, &[("TF_WORKSPACE", "net")]).unwrap();
    assert_eq!(named.0.workspace_support(), WorkspaceSupport::Only("net".to_owned()));
    let both = [("name", Value::string("a")), ("tags", Value::tuple(vec![Value::string("b")]))];
    for (workspaces, expected) in [
        (None, "TF_WORKSPACE"),
        (Some(Value::object(both)), "excludes"),
        (Some(Value::object([("tags", Value::tuple(vec![]))])), "must be a set of strings"),
        (Some(Value::object([("tags", Value::tuple(vec![Value::number(1)]))])), "must be a set of strings"),
    ] {
        let problem = open(workspaces, &[]).err().unwrap().to_string();
        assert!(problem.contains(expected), "{problem}");
    }
}
