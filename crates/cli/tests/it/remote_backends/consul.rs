//! The backend `consul`.

use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::consul_server::ConsulServer;
use super::{Project, configuration, one_line, slow, until};

#[test]
fn lifecycle_uses_only_keys_below_the_path() {
    let server = ConsulServer::start();
    let project = Project::new(&configuration(&server.backend("team/state", "")));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    assert!(project.has_no_changes());
    assert_eq!(server.keys(), ["team/state"], "neither locks nor chunks remain");
    assert!(server.shared().sessions.is_empty());
    project.ok(&["workspace", "new", "blue"]);
    assert_eq!(server.keys(), ["team/state", "team/state-env:blue"]);
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(project.ok(&["workspace", "list"]), "  default\n* blue\n\n");
    project.ok(&["destroy", "-auto-approve"]);
    project.ok(&["workspace", "select", "default"]);
    project.ok(&["workspace", "delete", "blue"]);
    assert_eq!(server.keys(), ["team/state"]);
}

#[test]
fn large_states_are_stored_in_chunks_that_are_replaced_and_removed() {
    for gzip in ["gzip = false", "gzip = true"] {
        let server = ConsulServer::start();
        let project = Project::new(&configuration(&server.backend("big", gzip)));
        // Random text stays large when it is compressed.
        let large = "resource \"terraform_data\" \"many\" {\n  count = 20000\n}\n";
        project.write("more.tf", large);
        project.ok(&["init"]);
        project.ok(&["apply", "-auto-approve"]);
        let list: Json = serde_json::from_slice(&server.shared().entries["big"].value).unwrap();
        let first = list["current-hash"].as_str().unwrap().to_owned();
        let chunks = list["chunks"].as_array().unwrap().len();
        assert!(chunks > usize::from(gzip.contains("false")), "{list}");
        assert!(server.keys().contains(&format!("big/tfstate.{first}/0")));
        project.ok(&["apply", "-auto-approve", "-var=input=two", "-refresh=false"]);
        assert!(!server.keys().iter().any(|key| key.contains(&first)), "the old chunks are removed");
        project.write("more.tf", "");
        project.ok(&["apply", "-auto-approve", "-refresh=false"]);
        assert_eq!(server.keys(), ["big"]);
        let first_byte = server.shared().entries["big"].value[0];
        assert_eq!(first_byte == 0x1f, gzip.contains("true"));
    }
}

#[test]
fn lock_has_info_and_ends_with_its_session() {
    let server = ConsulServer::start();
    let project = Project::new(&slow(&server.backend("p", ""), 30));
    project.ok(&["init"]);
    let mut child = project.start(&["apply", "-auto-approve"]);
    until("the lock has its info", || server.keys().contains(&"p/.lockinfo".to_owned()));
    let info: Json = serde_json::from_slice(&server.shared().entries["p/.lockinfo"].value).unwrap();
    let id = info["ID"].as_str().unwrap().to_owned();
    assert_eq!((&info["Info"], &info["Path"]), (&json!(format!("consul session: {id}")), &json!("p")));
    let reported = project.fails(&["plan"]);
    assert!(reported.contains("Error acquiring the state lock") && reported.contains(&id), "{reported}");
    assert!(project.fails(&["force-unlock", "-force", "other"]).contains("does not match the existing lock"));
    child.kill().unwrap();
    child.wait().unwrap();
    // Consul ends the session of a killed run after its lifetime.
    server.shared().end_session(&id);
    project.ok(&["plan"]);
    assert!(project.fails(&["force-unlock", "-force", &id]).contains("is not locked"));
}

#[test]
fn force_unlock_ends_the_session_and_removes_the_keys() {
    let server = ConsulServer::start();
    let project = Project::new(&slow(&server.backend("p", ""), 30));
    project.ok(&["init"]);
    let mut child = project.start(&["apply", "-auto-approve"]);
    until("the lock has its info", || server.keys().contains(&"p/.lockinfo".to_owned()));
    let id = server.shared().sessions[0].clone();
    project.ok(&["force-unlock", "-force", &id]);
    assert!(server.keys().iter().all(|key| !key.contains(".lock")), "{:?}", server.keys());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn write_after_another_program_is_refused() {
    let server = ConsulServer::start();
    let project = Project::new(&slow(&server.backend("p", ""), 3));
    project.ok(&["init"]);
    let child = project.start(&["apply", "-auto-approve"]);
    until("the lock has its info", || server.keys().contains(&"p/.lockinfo".to_owned()));
    thread::sleep(Duration::from_secs(1));
    let theirs = json!({"version": 4, "terraform_version": "1.15.5", "serial": 5, "lineage": "theirs", "outputs": {}, "resources": []});
    server.shared().store("p", theirs.to_string().into_bytes());
    let ran = Project::ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 1, "{}", ran.text);
    assert!(one_line(&ran.text).contains("The state was changed by another run"), "{}", ran.text);
    let stored: Json = serde_json::from_slice(&server.shared().entries["p"].value).unwrap();
    assert_eq!(stored["lineage"], "theirs");
}

#[test]
fn missing_permissions_are_named_with_rules() {
    let server = ConsulServer::start();
    let locked = Project::new(&configuration(&server.backend("p", "")));
    let unlocked = Project::new(&configuration(&server.backend("p", "lock = false")));
    let cases: [(&str, &Project, &[&str]); 4] = [
        ("key:read on \"p\"", &locked, &["plan"]),
        ("session:write on the node of the agent", &locked, &["plan"]),
        ("key:write on \"p/.lock\"", &locked, &["plan"]),
        // The refused operation of a transaction is no conflict with another run.
        ("key:write on \"p\"", &unlocked, &["apply", "-auto-approve"]),
    ];
    for (permission, project, command) in cases {
        project.ok(&["init"]);
        server.shared().forbidden = permission.split(' ').next();
        let reported = project.fails(command);
        assert!(reported.contains("Access to the state denied"), "{reported}");
        assert!(reported.contains(&format!("The missing permission is {permission}.")), "{reported}");
        assert!(reported.contains("key_prefix \"p\" { policy = \"write\" }"), "{reported}");
        server.shared().forbidden = None;
    }
    assert!(!server.keys().contains(&"p".to_owned()), "nothing was written");
    unlocked.ok(&["apply", "-auto-approve"]);
    assert!(locked.has_no_changes());
}

#[test]
fn damaged_chunks_are_named() {
    let server = ConsulServer::start();
    let project = Project::new(&configuration(&server.backend("p", "")));
    project.ok(&["init"]);
    let list = json!({"current-hash": "0", "chunks": ["p/tfstate.0/0"]}).to_string().into_bytes();
    server.shared().store("p", list);
    let reported = project.fails(&["plan"]);
    assert!(reported.contains("a chunk of the state is missing"), "{reported}");
    server.shared().store("p/tfstate.0/0", b"{}".to_vec());
    let reported = project.fails(&["plan"]);
    assert!(reported.contains("does not match the expected hash"), "{reported}");
}

#[test]
fn terraform_and_groma_share_states_workspaces_and_locks() {
    let server = ConsulServer::start();
    let block = server.backend("shared", "gzip = true");
    let Some(theirs) = Project::of_terraform(&configuration(&block)) else { return };
    let ours = Project::new(&configuration(&block));
    ours.ok(&["init"]);
    ours.ok(&["apply", "-auto-approve"]);
    theirs.ok(&["init"]);
    assert!(theirs.has_no_changes(), "Terraform reads what Groma wrote");
    theirs.ok(&["apply", "-auto-approve", "-var=input=two"]);
    assert_eq!(ours.ok(&["output", "-raw", "value"]), "two");
    theirs.ok(&["workspace", "new", "green"]);
    let list = ours.ok(&["workspace", "list"]);
    assert!(list.contains("green"), "{list}");
    theirs.ok(&["workspace", "select", "default"]);
    for (holder, other) in [(&ours, &theirs), (&theirs, &ours)] {
        holder.write("main.tf", &slow(&block, 6));
        let child = holder.start(&["apply", "-auto-approve"]);
        until("the lock is taken", || server.keys().contains(&"shared/.lockinfo".to_owned()));
        let reported = other.fails(&["plan", "-input=false"]);
        assert!(reported.contains("Error acquiring the state lock"), "{reported}");
        let ran = Project::ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.text);
        holder.write("main.tf", &configuration(&block));
        holder.ok(&["apply", "-auto-approve"]);
    }
}
