//! Damaged states and locks, tables with the wrong columns, and untrusted certificates: each gives an error with advice and
//! exit code 1, and nothing is changed.

use serde_json::json;

use super::http_server::HttpServer;
use super::postgres::Server;
use super::s3::Moto;
use super::{Project, configuration, one_line};

/// Contents that are no state of this program, each with a part of the message.
const DAMAGED: [(&str, &str); 4] = [
    ("{\"version\": 4, \"serial\": 1, \"lineage\": \"a\", \"resou", "truncated"),
    ("not a state", "state"),
    ("[1, 2]", "state"),
    ("{\"version\": 99, \"serial\": 1, \"lineage\": \"a\", \"outputs\": {}, \"resources\": []}", "99"),
];

const COMMANDS: [&[&str]; 5] = [
    &["plan", "-input=false"],
    &["apply", "-auto-approve", "-input=false"],
    &["state", "rm", "terraform_data.a"],
    &["state", "pull"],
    &["output"],
];

#[test]
fn damaged_and_newer_states_are_refused_and_kept() {
    let server = HttpServer::start();
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    for (content, part) in DAMAGED {
        server.shared().state = Some(content.into());
        for command in COMMANDS {
            let reported = project.fails(command);
            assert!(reported.contains(part) && reported.contains("http://"), "{command:?} {content}: {reported}");
            assert!(!reported.contains(".backup"), "a server has no such file: {reported}");
            assert_eq!(server.shared().state.as_deref(), Some(content.as_bytes()), "{command:?}");
            assert!(server.shared().lock.is_none(), "{command:?} leaves a lock");
        }
        assert!(!project.path("errored.tfstate").exists());
    }
}

#[test]
fn state_of_another_lineage_is_not_overwritten() {
    let server = HttpServer::start();
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let mut other = project.state();
    other["lineage"] = json!("another");
    project.write("other.tfstate", &other.to_string());
    let reported = project.fails(&["state", "push", "other.tfstate"]);
    assert!(reported.contains("unrelated state with lineage"), "{reported}");
    assert!(project.has_no_changes());
}

#[test]
fn lock_without_info_is_explained_and_can_be_forced_open() {
    let Some(moto) = Moto::start() else { return };
    let project = Project::new(&configuration(&moto.backend("held.tfstate", "use_lockfile = true")));
    project.ok(&["init"]);
    for content in [json!({}), json!("text"), json!([])] {
        moto.put("held.tfstate.tflock", &content);
        let reported = project.fails(&["apply", "-auto-approve"]);
        assert!(reported.contains("Error acquiring the state lock"), "{reported}");
        project.ok(&["force-unlock", "-force", "unknown"]);
        project.ok(&["plan"]);
    }
}

#[test]
fn http_lock_without_info_is_explained() {
    let server = HttpServer::start();
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    for info in [json!(null), json!("garbage"), json!({})] {
        server.shared().lock = Some(info.clone());
        let reported = one_line(&project.fails(&["plan"]));
        assert!(reported.contains("release it with force-unlock unknown."), "{info}: {reported}");
        assert!(!reported.contains("ID="), "{info}: {reported}");
    }
}

#[test]
fn emptied_row_is_no_missing_state() {
    let Some(server) = Server::start() else { return };
    let project = Project::new(&configuration(&server.backend("emptied")));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    if server.execute("UPDATE emptied.states SET data = ''").is_none() {
        return;
    }
    let reported = one_line(&project.fails(&["plan"]));
    assert!(reported.contains("Invalid state data") && reported.contains("is empty"), "{reported}");
    server.execute("DELETE FROM emptied.states").unwrap();
    project.ok(&["plan"]);
}

#[test]
fn tables_without_the_right_columns_are_named() {
    let Some(server) = Server::start() else { return };
    let tables = [
        ("missing", "id bigint"),
        ("integers", "id bigint, name int UNIQUE, data text"),
        ("bytes", "id bigint, name text UNIQUE, data bytea"),
        ("keyless", "id bigint, name text, data text"),
    ];
    for (schema, columns) in tables {
        let statements = format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.states ({columns})");
        if server.execute(&statements).is_none() {
            return;
        }
        let project = Project::new(&configuration(&server.backend(schema)));
        // The first command that uses the table says so; not each of them uses all columns.
        let first = [&["init"][..], &["apply", "-auto-approve"]];
        let ran = first.into_iter().map(|command| project.run(command)).find(|ran| ran.code != 0);
        let ran = ran.expect("the table is used as if it were one of states");
        let reported = one_line(&ran.text);
        assert_eq!(ran.code, 1, "{reported}");
        assert!(reported.contains("id bigint, name text UNIQUE and data text"), "{schema}: {reported}");
    }
}

#[test]
fn untrusted_certificates_are_not_retried() {
    let certified = super::blob_servers::untrusted();
    let block = format!("  backend \"http\" {{\n    address = \"https://127.0.0.1:{}/state\"\n  }}", certified);
    let project = Project::new(&configuration(&block));
    let begin = std::time::Instant::now();
    let reported = project.fails(&["init"]);
    assert!(reported.contains("certificate"), "{reported}");
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "certificates do not become valid");
}
