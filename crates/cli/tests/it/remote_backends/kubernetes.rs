//! The backend `kubernetes` with a role that lacks one permission at a time.

use super::blob_servers::kubernetes_double;
use super::{Project, configuration};

#[test]
fn missing_permissions_are_named_and_nothing_is_lost() {
    let (served, server) = kubernetes_double();
    let project = Project::new(&configuration(&served.block));
    project.ok(&["init"]);
    let apply: &[&str] = &["apply", "-auto-approve", "-var=input=two"];
    let cases: [(&'static str, &'static str, &[&str]); 7] = [
        ("create", "leases", &["plan"]),
        ("create", "secrets", apply),
        ("get", "secrets", &["plan"]),
        ("get", "leases", &["plan"]),
        ("update", "leases", &["plan"]),
        ("update", "secrets", &["apply", "-auto-approve", "-replace=terraform_data.a"]),
        ("list", "secrets", &["workspace", "list"]),
    ];
    for (verb, resource, command) in cases {
        server.shared().forbidden = Some((verb, resource));
        let reported = project.fails(command);
        assert!(reported.contains("Access to the state denied"), "{reported}");
        assert!(reported.contains(&format!("The missing permission is {verb} {resource}.")), "{reported}");
        assert!(reported.contains("kubectl create role terraform-state"), "{reported}");
        server.shared().forbidden = None;
        project.ok(command);
    }
    project.ok(apply);
    assert_eq!(project.ok(&["output", "-raw", "value"]), "two");
}
