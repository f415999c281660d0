//! The backend `s3` with a user whose policy lacks one action at a time, on a moto that checks policies.

use groma_cloud::api::{ApiClient, ApiRequest};
use groma_cloud::aws::{Addressing, AwsRequest};
use groma_cloud::background;
use groma_cloud::http::{ConnectionSettings, Method};
use serde_json::json;

use super::s3::Moto;
use super::{Project, configuration};

/// The actions that states and both kinds of locks need.
const ACTIONS: [&str; 7] = [
    "s3:GetObject",
    "s3:PutObject",
    "s3:DeleteObject",
    "s3:ListBucket",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:DeleteItem",
];

/// A user of moto with an inline policy.
struct User {
    moto: Moto,
    keys: [String; 2],
}

impl User {
    fn create() -> Option<Self> {
        let mut user = Self { moto: Moto::start()?, keys: Default::default() };
        user.ask("CreateUser", &[]);
        let document = user.ask("CreateAccessKey", &[]);
        let element = |name: &str| {
            let (_, rest) = document.split_once(&format!("<{name}>")).unwrap();
            rest.split('<').next().unwrap().to_owned()
        };
        user.keys = [element("AccessKeyId"), element("SecretAccessKey")];
        user.forbid(None);
        user.can_list_folders().then_some(user)
    }

    /// Whether moto verifies the signature of a query with a slash. Before version 5.2.4, it decodes the query first.
    fn can_list_folders(&self) -> bool {
        let client = self.moto.client_with_keys(self.keys.each_ref().map(String::as_str));
        let request = AwsRequest::s3(Method::GET, "ListObjectsV2", "states", "", Addressing::Path);
        let request = request.with_query("list-type", "2").with_query("prefix", "work/");
        let is_refused = client.send_blocking(request).is_err();
        if is_refused {
            eprintln!("skipped: this version of moto refuses valid signatures (pip install \"moto[server]>=5.2.4\")");
        }
        !is_refused
    }

    /// Calls an operation of IAM on the user.
    fn ask(&self, operation: &str, more: &[(&str, &str)]) -> String {
        let fixed = [("Action", operation), ("Version", "2010-05-08"), ("UserName", "member")];
        let fields: Vec<(&str, &str)> = fixed.iter().chain(more).copied().collect();
        // moto finds the service in the header, and does not check the signature of this request.
        let authorization =
            "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x";
        let request = ApiRequest::form(format!("{}/", self.moto.url), &fields);
        sent(request.with_header("Authorization", authorization))
    }

    /// Allows all actions but one.
    fn forbid(&self, forbidden: Option<&str>) {
        self.check_policies("inf");
        let actions: Vec<&str> = ACTIONS.into_iter().filter(|action| Some(*action) != forbidden).collect();
        let statement = json!({ "Effect": "Allow", "Action": actions, "Resource": "*" });
        let document = json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string();
        self.ask("PutUserPolicy", &[("PolicyName", "states"), ("PolicyDocument", &document)]);
        self.check_policies("0");
    }

    /// Lets moto check policies after a number of requests.
    fn check_policies(&self, after: &str) {
        let url = format!("{}/moto-api/reset-auth", self.moto.url);
        sent(ApiRequest::new(Method::POST, url).with_body(after.to_owned()));
    }

    fn project(&self, key: &str, more: &str) -> Project {
        let keys = self.keys.each_ref().map(String::as_str);
        Project::new(&configuration(&self.moto.backend_with_keys(keys, key, more)))
    }
}

fn sent(request: ApiRequest) -> String {
    let api = ApiClient::new(ConnectionSettings::default(), groma_cloud::Environment::default()).unwrap();
    let answer = background::block_on(async move { api.send(&request).await }).unwrap().unwrap();
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(answer.status.is_success(), "{text}");
    text
}

#[test]
fn each_missing_action_is_named_with_its_object() {
    let Some(user) = User::create() else { return };
    let file = user.project("file.tfstate", "use_lockfile = true\n    workspace_key_prefix = \"work\"");
    let table = user.project("table.tfstate", "dynamodb_table = \"locks\"");
    for project in [&file, &table] {
        project.ok(&["init"]);
        project.ok(&["apply", "-auto-approve"]);
    }
    let cases: [(&str, &str, &Project, &[&str]); 6] = [
        ("s3:GetObject", "arn:aws:s3:::states/file.tfstate", &file, &["plan"]),
        ("s3:PutObject", "arn:aws:s3:::states/file.tfstate.tflock", &file, &["plan"]),
        ("s3:ListBucket", "arn:aws:s3:::states", &file, &["workspace", "list"]),
        ("dynamodb:PutItem", "the table locks", &table, &["plan"]),
        ("dynamodb:GetItem", "the table locks", &table, &["plan"]),
        ("s3:PutObject", "arn:aws:s3:::states/table.tfstate", &table, &["apply", "-auto-approve", "-var=input=two"]),
    ];
    for (action, resource, project, command) in cases {
        user.forbid(Some(action));
        let reported = project.fails(command);
        assert!(reported.contains("Access to the state denied"), "{action}: {reported}");
        assert!(reported.contains(&format!("The missing permission is {action}.")), "{reported}");
        assert!(reported.contains(&format!("allow {action} on {resource}")), "{reported}");
        user.forbid(None);
        // A lock that could not be deleted, because it could not be read, is released by force.
        if let Some((_, id)) = reported.split_once("force-unlock ") {
            project.ok(&["force-unlock", "-force", id.split(' ').next().unwrap()]);
        }
        project.ok(command);
    }
    assert!(file.has_no_changes());
    assert_eq!(table.ok(&["output", "-raw", "value"]), "two");
}

#[test]
fn locks_that_cannot_be_deleted_are_reported_and_released_by_force() {
    let Some(user) = User::create() else { return };
    let cases = [("s3:DeleteObject", "use_lockfile = true"), ("dynamodb:DeleteItem", "dynamodb_table = \"locks\"")];
    for (action, locks) in cases {
        let project = user.project(&format!("{}.tfstate", action.replace(':', "-")), locks);
        project.ok(&["init"]);
        user.forbid(Some(action));
        let reported = project.fails(&["apply", "-auto-approve"]);
        assert!(reported.contains(&format!("The missing permission is {action}.")), "{reported}");
        assert_eq!(project.ok(&["output", "-raw", "value"]), "one", "the state was written before");
        user.forbid(None);
        let locked = project.fails(&["plan"]);
        let id = locked.split("ID: ").nth(1).unwrap().split_whitespace().next().unwrap();
        assert!(reported.contains(&format!("force-unlock {id}")), "{reported}");
        project.ok(&["force-unlock", "-force", id]);
        assert!(project.has_no_changes());
    }
}
