//! The backend `consul` with tokens of a real Consul that lack one permission at a time.

use groma_cloud::api::{ApiClient, ApiRequest};
use groma_cloud::background;
use groma_cloud::http::{ConnectionSettings, Method};
use serde_json::{Value as Json, json};

use super::blob_servers::{Server, consul_agent, send};
use super::{Project, configuration, until};

/// The token that may do everything.
const MANAGEMENT: &str = "6b2f6c9e-3a54-4a59-8c35-9e4b7a3d1c02";

/// The rules that states need.
const KEYS: &str = "key_prefix \"team/state\" { policy = \"write\" }";
const SESSIONS: &str = "session_prefix \"\" { policy = \"write\" }";

/// An agent that denies by default, and a token with one policy.
struct Consul {
    server: Server,
    policy: String,
    token: String,
}

impl Consul {
    fn start() -> Option<Self> {
        let tokens = format!("tokens {{ initial_management = \"{MANAGEMENT}\" }}");
        let server = consul_agent(Some(&format!("acl {{ enabled = true default_policy = \"deny\" {tokens} }}")))?;
        // The token exists a moment after the agent listens.
        until("the management token exists", || is_answered(&server, "acl/token/self"));
        let policy = put(&server, "acl/policy", &json!({ "Name": "states", "Rules": "" }));
        let policy = policy["ID"].as_str().unwrap().to_owned();
        let token = put(&server, "acl/token", &json!({ "Policies": [{ "ID": policy }] }));
        let token = token["SecretID"].as_str().unwrap().to_owned();
        Some(Self { server, policy, token })
    }

    /// Replaces the rules of the token.
    fn allow(&self, rules: &[&str]) {
        let policy = json!({ "ID": self.policy, "Name": "states", "Rules": rules.join("\n") });
        put(&self.server, &format!("acl/policy/{}", self.policy), &policy);
    }

    fn project(&self, more: &str) -> Project {
        Project::new(&configuration(&format!(
            "  backend \"consul\" {{\n    address = \"127.0.0.1:{}\"\n    scheme = \"http\"\n    path = \"team/state\"\n    \
             access_token = \"{}\"\n    {more}\n  }}",
            self.server.port, self.token
        )))
    }
}

fn request(server: &Server, method: Method, path: &str) -> ApiRequest {
    let url = format!("http://127.0.0.1:{}/v1/{path}", server.port);
    ApiRequest::new(method, url).with_header("X-Consul-Token", MANAGEMENT)
}

fn is_answered(server: &Server, path: &str) -> bool {
    let request = request(server, Method::GET, path);
    let api = ApiClient::new(ConnectionSettings::default(), groma_cloud::Environment::default()).unwrap();
    let answer = background::block_on(async move { api.send(&request).await }).unwrap();
    answer.is_ok_and(|answer| answer.status.is_success())
}

fn put(server: &Server, path: &str, body: &Json) -> Json {
    send(request(server, Method::PUT, path).with_body(body.to_string()))
}

#[test]
fn each_missing_permission_is_named_with_the_rules_that_states_need() {
    let Some(consul) = Consul::start() else { return };
    let (locked, unlocked) = (consul.project(""), consul.project("lock = false"));
    let readable = "key_prefix \"team/state\" { policy = \"read\" }";
    let apply: &[&str] = &["apply", "-auto-approve"];
    let cases: [(&str, &[&str], &Project, &[&str]); 5] = [
        ("key:read on \"team/state\"", &[SESSIONS], &unlocked, &["plan"]),
        ("session:write on the node of the agent", &[KEYS], &locked, &["plan"]),
        ("key:write on \"team/state/.lock\"", &[readable, SESSIONS], &locked, &["plan"]),
        // A transaction reports its refused operations as a conflict.
        ("key:write on \"team/state\"", &[readable, SESSIONS], &unlocked, apply),
        ("key:write on \"team/state\"", &[KEYS, "key \"team/state\" { policy = \"read\" }", SESSIONS], &locked, apply),
    ];
    for (permission, rules, project, command) in cases {
        consul.allow(&[KEYS, SESSIONS]);
        project.ok(&["init"]);
        consul.allow(rules);
        let reported = project.fails(command);
        assert!(reported.contains("Access to the state denied"), "{reported}");
        assert!(reported.contains(&format!("The missing permission is {permission}.")), "{reported}");
        assert!(reported.contains(KEYS) && reported.contains(SESSIONS), "{reported}");
    }
    consul.allow(&[KEYS, SESSIONS]);
    locked.ok(apply);
    // The other project has the journal of its refused apply.
    let third = consul.project("");
    third.ok(&["init"]);
    assert!(third.has_no_changes());
}
