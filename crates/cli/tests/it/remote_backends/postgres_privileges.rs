//! The backend `pg` with a role that lacks one privilege at a time.

use serde_json::Value as Json;

use super::postgres::Server;
use super::{Project, configuration};

/// The role under test.
const ROLE: &str = "member";

/// Returns a server with a state of its superuser, and the project of a role that has all privileges that states need.
fn shared() -> Option<(Server, Project)> {
    let server = Server::start()?;
    let owner = Project::new(&configuration(&server.backend("states")));
    owner.ok(&["init"]);
    owner.ok(&["state", "sharing", "enable"]);
    owner.ok(&["state", "sharing", "disable"]);
    owner.ok(&["apply", "-auto-approve"]);
    server.execute(&format!("CREATE ROLE {ROLE} LOGIN"))?;
    let everything = format!(
        "GRANT USAGE ON SCHEMA states TO {ROLE}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA states TO {ROLE}; \
         GRANT USAGE ON SEQUENCE public.global_states_id_seq TO {ROLE}"
    );
    server.execute(&everything)?;
    let member = Project::new(&configuration(&server.backend_of(ROLE, "postgres", "states")));
    member.ok(&["init"]);
    member.ok(&["workspace", "new", "other"]);
    member.ok(&["workspace", "select", "default"]);
    Some((server, member))
}

/// Runs a command that lacks a privilege; it names the privilege, and the statement by which it succeeds.
#[track_caller]
fn refused(server: &Server, database: &str, project: &Project, privilege: &str, command: &[&str]) {
    let reported = project.fails(command);
    assert!(reported.contains("Access to the state denied"), "{reported}");
    assert!(reported.contains(&format!("The missing permission is {privilege}.")), "{reported}");
    let grant = format!("GRANT {privilege} TO \"{ROLE}\";");
    assert!(reported.contains(&grant), "{reported}");
    server.execute_in(database, &grant);
}

#[test]
fn each_missing_privilege_is_named_with_its_object_and_can_be_granted() {
    let Some((server, member)) = shared() else { return };
    let (table, sharing) = ("TABLE \"states\".\"states\"", "TABLE \"states\".\"states_groma_sharing\"");
    let cases: [(&str, &str, &[&str]); 8] = [
        ("USAGE", "SCHEMA \"states\"", &["plan"]),
        ("SELECT", table, &["plan"]),
        ("SELECT", table, &["workspace", "list"]),
        ("SELECT", sharing, &["state", "sharing", "show"]),
        ("INSERT", table, &["workspace", "new", "first"]),
        ("USAGE", "SEQUENCE \"public\".\"global_states_id_seq\"", &["workspace", "new", "second"]),
        ("DELETE", table, &["workspace", "delete", "other"]),
        ("UPDATE", sharing, &["state", "sharing", "enable"]),
    ];
    for (privilege, object, command) in cases {
        server.execute(&format!("REVOKE {privilege} ON {object} FROM {ROLE}"));
        refused(&server, "postgres", &member, &format!("{privilege} ON {object}"), command);
        member.ok(command);
        member.ok(&["workspace", "select", "default"]);
    }
}

#[test]
fn results_of_a_run_survive_a_missing_privilege() {
    let Some((server, member)) = shared() else { return };
    let before = member.state();
    let privilege = "UPDATE ON TABLE \"states\".\"states\"";
    server.execute(&format!("REVOKE {privilege} FROM {ROLE}"));
    let apply = ["apply", "-auto-approve", "-var=input=two", "-replace=terraform_data.a"];
    refused(&server, "postgres", &member, privilege, &apply);
    assert_eq!(member.state()["serial"], before["serial"], "the state in the database is as it was");
    let saved: Json = serde_json::from_str(&member.read("errored.tfstate")).unwrap();
    // The next run takes over what the refused one has done.
    assert!(!member.has_no_changes(), "the value of the input differs");
    let after = member.state();
    let id = |state: &Json| state["resources"][0]["instances"][0]["attributes"]["id"].clone();
    assert_eq!(id(&after), id(&saved));
    assert_ne!(id(&after), id(&before));
    assert_eq!(after["outputs"]["value"]["value"], "two");
}

#[test]
fn privileges_for_new_states_are_named_one_after_the_other() {
    let Some((server, _)) = shared() else { return };
    server.execute("CREATE DATABASE fresh");
    server.execute_in(
        "fresh",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC; REVOKE CONNECT ON DATABASE fresh FROM PUBLIC",
    );
    let member = Project::new(&configuration(&server.backend_of(ROLE, "fresh", "new")));
    refused(&server, "fresh", &member, "CONNECT ON DATABASE \"fresh\"", &["init"]);
    member.ok(&["init"]);
    refused(&server, "fresh", &member, "CREATE ON DATABASE \"fresh\"", &["apply", "-auto-approve"]);
    refused(&server, "fresh", &member, "CREATE ON SCHEMA \"public\"", &["apply", "-auto-approve"]);
    member.ok(&["apply", "-auto-approve"]);
    server.execute_in("fresh", "CREATE SCHEMA existing");
    let member = Project::new(&configuration(&server.backend_of(ROLE, "fresh", "existing")));
    refused(&server, "fresh", &member, "USAGE ON SCHEMA \"existing\"", &["init"]);
    member.ok(&["init"]);
    refused(&server, "fresh", &member, "CREATE ON SCHEMA \"existing\"", &["apply", "-auto-approve"]);
    member.ok(&["apply", "-auto-approve"]);
}
