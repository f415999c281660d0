//! The backend `http`.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::http_server::HttpServer;
use super::{Project, configuration, one_line, slow};

fn applied(server: &HttpServer) -> Project {
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project
}

fn holder() -> serde_json::Value {
    json!({"ID": "theirs", "Operation": "OperationTypeApply", "Info": "", "Who": "somebody@elsewhere", "Version": "1.15.5",
           "Created": "2026-11-28T00:51:41.3Z", "Path": ""})
}

#[test]
fn commands_that_print_a_state_read_it_once() {
    let server = HttpServer::start();
    let project = applied(&server);
    for command in [&["state", "pull"][..], &["state", "list"], &["show"], &["show", "-json"], &["output"]] {
        server.shared().requests.clear();
        project.ok(command);
        assert_eq!(server.shared().requests.len(), 1, "{command:?}: {:?}", server.shared().requests);
    }
}

#[test]
fn lifecycle_uses_only_the_server() {
    let server = HttpServer::start();
    let project = Project::new(&configuration(&server.backend()));
    assert!(project.fails(&["plan"]).contains("Initial configuration of the requested backend \"http\""));
    project.ok(&["init"]);
    let record: serde_json::Value = serde_json::from_str(&project.read(".terraform/terraform.tfstate")).unwrap();
    assert_eq!(record["backend"]["type"], "http");
    assert_eq!(record["backend"]["config"]["username"], serde_json::Value::Null);
    assert!(record["backend"]["config"].get("headers").is_none(), "Terraform's schema does not have it");
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(server.state()["serial"], 1);
    assert!(server.shared().lock.is_none());
    assert!(project.has_no_changes());
    assert_eq!(project.ok(&["output", "-raw", "value"]), "one");
    assert_eq!(project.ok(&["state", "list"]), "terraform_data.a\n");
    project.ok(&["apply", "-auto-approve", "-var=input=two"]);
    assert_eq!(server.state()["serial"], 2);
    let undo = project.ok(&["state", "mv", "terraform_data.a", "terraform_data.b"]);
    assert!(undo.contains("state push -force terraform.tfstate."), "{undo}");
    assert_eq!(server.state()["serial"], 3);
    project.ok(&["state", "mv", "terraform_data.b", "terraform_data.a"]);
    project.ok(&["destroy", "-auto-approve"]);
    assert_eq!(server.state()["resources"], json!([]));
    assert!(!project.path("terraform.tfstate").exists());
    assert!(!project.path("errored.tfstate").exists());
    let left = std::fs::read_dir(project.path(".terraform/state-journals")).into_iter().flatten().count();
    assert_eq!(left, 0, "no journal is left");
}

#[test]
fn pull_and_push_check_lineage_and_serial() {
    let server = HttpServer::start();
    let project = applied(&server);
    project.write("pulled", &project.ok(&["state", "pull"]));
    project.ok(&["apply", "-auto-approve", "-var=input=two"]);
    assert!(
        project
            .fails(&["state", "push", "pulled"])
            .contains("cannot import state with serial 1 over newer state with serial 2")
    );
    let mut other = project.state();
    other["lineage"] = json!("another");
    project.write("other", &other.to_string());
    assert!(project.fails(&["state", "push", "other"]).contains("over unrelated state with lineage"));
    project.ok(&["state", "push", "-force", "pulled"]);
    assert_eq!(project.ok(&["output", "-raw", "value"]), "one");
    assert_eq!(server.state()["serial"], 2);
}

#[test]
fn held_lock_is_reported_awaited_and_force_unlocked() {
    let server = HttpServer::start();
    let project = applied(&server);
    server.shared().lock = Some(holder());
    let reported = project.fails(&["plan"]);
    for part in
        ["Error acquiring the state lock", "ID: theirs", "Who: somebody@elsewhere", "2026-11-28 00:51:41.3 +0000 UTC"]
    {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    project.ok(&["plan", "-lock=false"]);
    let other = server.clone();
    let release = thread::spawn(move || {
        thread::sleep(Duration::from_millis(1500));
        other.shared().lock = None;
    });
    let begin = Instant::now();
    let said = project.ok(&["plan", "-lock-timeout=20s"]);
    assert!(begin.elapsed() > Duration::from_secs(1));
    assert!(said.contains("Acquiring state lock"), "{said}");
    release.join().unwrap();

    server.shared().lock = Some(holder());
    assert!(project.fails(&["force-unlock", "-force", "ours"]).contains("Failed to unlock state"));
    assert!(server.shared().lock.is_some());
    let ran = project.answer(&["force-unlock", "theirs"], "no\n");
    assert_eq!(ran.code, 1, "{}", ran.text);
    let ran = project.answer(&["force-unlock", "theirs"], "yes\n");
    assert!(ran.text.contains("state has been successfully unlocked!"), "{}", ran.text);
    assert!(server.shared().lock.is_none());
}

#[test]
fn failed_write_keeps_the_results_for_the_next_run() {
    let server = HttpServer::start();
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    server.shared().faults.write_status = Some(507);
    let reported = project.fails(&["apply", "-auto-approve"]);
    assert!(reported.contains("Failed to save state") && reported.contains("no writing today"), "{reported}");
    assert!(project.read("errored.tfstate").contains("terraform_data"));
    let journals: Vec<_> = std::fs::read_dir(project.path(".terraform/state-journals")).unwrap().flatten().collect();
    let folder = journals[0].file_name().into_string().unwrap();
    let journal = format!(".terraform/state-journals/{folder}/.terraform.tfstate.journal");
    let words = one_line(&reported);
    assert!(words.contains(&format!("The journal {journal} has all results too")), "{words}");
    assert!(words.contains("groma state push errored.tfstate"), "{words}");
    assert!(server.shared().lock.is_none(), "the lock is released all the same");
    server.shared().faults.write_status = None;
    project.ok(&["plan"]);
    assert_eq!(server.state()["resources"][0]["name"], "a", "the next run has recovered the object");
    assert!(project.has_no_changes());
}

#[test]
fn errored_state_can_be_pushed_without_the_journal() {
    let server = HttpServer::start();
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    server.shared().faults.write_status = Some(507);
    project.fails(&["apply", "-auto-approve"]);
    server.shared().faults.write_status = None;
    std::fs::remove_dir_all(project.path(".terraform/state-journals")).unwrap();
    project.ok(&["state", "push", "errored.tfstate"]);
    assert!(project.has_no_changes());
}

#[test]
fn reconfigure_warns_about_results_that_it_leaves_behind() {
    let (server, other) = (HttpServer::start(), HttpServer::start());
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    server.shared().faults.write_status = Some(507);
    project.fails(&["apply", "-auto-approve"]);
    server.shared().faults.write_status = None;
    const WARNING: &str = "Results of a run are left behind with the previous backend";
    assert!(!project.ok(&["init", "-reconfigure"]).contains(WARNING), "the backend is the same");
    project.write("main.tf", &configuration(&other.backend()));
    let said = one_line(&project.ok(&["init", "-reconfigure"]));
    assert!(said.contains(WARNING) && said.contains("groma state push errored.tfstate"), "{said}");
    project.write("main.tf", &configuration(&server.backend()));
    assert!(!project.ok(&["init", "-reconfigure"]).contains(WARNING), "the other backend has no journal");
    project.ok(&["apply", "-auto-approve"]);
    project.write("main.tf", &configuration(&other.backend()));
    assert!(!project.ok(&["init", "-reconfigure"]).contains(WARNING), "nothing is left");
}

#[test]
fn concurrent_write_is_not_overwritten() {
    for has_etags in [true, false] {
        let server = HttpServer::start();
        server.shared().faults.has_etags = has_etags;
        let project = Project::new(&slow(&server.backend(), 3));
        project.ok(&["init"]);
        project.write("input.tf", "resource \"terraform_data\" \"early\" {}\n");
        project.ok(&["apply", "-auto-approve", "-target=terraform_data.early"]);
        let running = project.start(&["apply", "-auto-approve"]);
        let begin = Instant::now();
        while server.shared().lock.is_none() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(1000));
        server.shared().overwrite(|state| state["serial"] = json!(77));
        let ran = Project::ran(running.wait_with_output().unwrap());
        assert_eq!(ran.code, 1, "{}", ran.text);
        assert!(one_line(&ran.text).contains("The state was changed by another run"), "{}", ran.text);
        assert_eq!(server.state()["serial"], 77);
        assert!(project.path("errored.tfstate").exists());
        // The journal of the run is merged into the state of the other program.
        project.ok(&["plan"]);
        assert_eq!((&server.state()["serial"], server.state()["resources"].as_array().unwrap().len()), (&json!(78), 3));
    }
}

#[test]
fn state_is_persisted_during_the_run() {
    let server = HttpServer::start();
    let project = Project::new(&slow(&server.backend(), 6)).with("TF_STATE_PERSIST_INTERVAL", "1");
    project.ok(&["init"]);
    let running = project.start(&["apply", "-auto-approve"]);
    let begin = Instant::now();
    while server.shared().state.is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(20));
    }
    assert!(server.shared().lock.is_some(), "the run still goes on");
    assert_eq!((&server.state()["serial"], &server.state()["resources"][0]["name"]), (&json!(1), &json!("first")));
    let ran = Project::ran(running.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(server.state()["serial"].as_u64().unwrap() > 1);
    assert!(project.has_no_changes());
}

#[test]
fn killed_run_creates_nothing_twice() {
    const QUEUES: &str = "terraform {\nBACKEND\n  required_providers {\n    awscc = { source = \"hashicorp/awscc\" }\n  }\n}\n\
        provider \"awscc\" {\n  region   = \"eu-central-1\"\n  emulator = { delay = \"300ms\" }\n}\n\
        resource \"awscc_sqs_queue\" \"it\" {\n  count = 12\n}\n";
    let server = HttpServer::start();
    let project = Project::new(&QUEUES.replace("BACKEND", &server.backend()));
    project.ok(&["init"]);
    let made = || project.run(&["emulator", "list"]).text.lines().filter(|line| line.contains("sqs")).count();
    let mut child = project.start(&["apply", "-auto-approve", "-parallelism=3"]);
    let begin = Instant::now();
    while made() < 5 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(server.shared().state.is_none(), "nothing has reached the server yet");
    let id = server.shared().lock.as_ref().unwrap()["ID"].as_str().unwrap().to_owned();
    project.ok(&["force-unlock", "-force", &id]);
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(server.state()["resources"][0]["instances"].as_array().unwrap().len(), 12);
    project.ok(&["destroy", "-auto-approve"]);
    assert_eq!(made(), 0, "every object was known");
}

#[test]
fn encrypted_state_is_sealed_on_the_server() {
    const ENCRYPTION: &str = "  encryption {\n    key_provider \"pbkdf2\" \"k\" {\n      passphrase = \"correct horse battery staple\"\n    \
        }\n    method \"aes_gcm\" \"m\" {\n      keys = key_provider.pbkdf2.k\n    }\n    state {\n      method = method.aes_gcm.m\n    }\n  }\n";
    let server = HttpServer::start();
    let project = Project::new(&configuration(&format!("{}\n{ENCRYPTION}", server.backend())));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let stored = server.state();
    assert!(stored["encrypted_data"].is_string() && stored.get("resources").is_none(), "{stored}");
    assert_eq!((&stored["serial"], stored["lineage"].is_string()), (&json!(1), true));
    assert!(project.has_no_changes());
    assert_eq!(project.state()["resources"][0]["name"], "a");
    let plain = Project::new(&configuration(&server.backend()));
    plain.run(&["init"]);
    assert!(plain.fails(&["plan"]).contains("encrypt"), "{}", plain.run(&["plan"]).text);
}

#[test]
fn repeated_lock_request_recognizes_its_own_lock() {
    let server = HttpServer::start();
    let block = server.backend().replace("retry_max = 0", "retry_max = 2");
    let project = Project::new(&configuration(&block));
    project.ok(&["init"]);
    server.shared().faults.dropped_locks = 1;
    project.ok(&["apply", "-auto-approve"]);
    assert!(server.shared().lock.is_none());
}

#[test]
fn lock_that_cannot_be_released_is_an_error() {
    let server = HttpServer::start();
    let project = applied(&server);
    server.shared().faults.keeps_lock = true;
    let reported = project.fails(&["apply", "-auto-approve", "-var=input=two"]);
    assert!(reported.contains("Error releasing the state lock") && reported.contains("force-unlock"), "{reported}");
    assert_eq!(server.state()["serial"], 2, "the state is written");
}

#[test]
fn rejections_name_the_cause_and_leave_nothing_behind() {
    let server = HttpServer::start();
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    for (status, part) in
        [(401, "username and password"), (403, "Access to the state denied"), (500, "no reading today")]
    {
        server.shared().faults.read_status = Some(status);
        let reported = project.fails(&["apply", "-auto-approve"]);
        assert!(reported.contains(part), "{status}: {reported}");
    }
    server.shared().faults.read_status = None;
    server.shared().state = Some(b"{\"version\": 4, \"resources\": [".to_vec());
    assert!(project.fails(&["plan"]).contains("/state"));
    assert!(project.fails(&["workspace", "list"]).contains("orkspaces not supported"));
    assert!(project.fails(&["workspace", "new", "x"]).contains("only the state of the workspace \"default\""));
    assert!(server.shared().lock.is_none());
}

#[test]
fn arguments_come_from_block_flags_and_environment() {
    let server = HttpServer::start();
    let project = Project::new(&configuration("  backend \"http\" {}"));
    assert!(project.fails(&["init", "-input=false"]).contains("The attribute \"address\" is required by the backend"));
    assert!(project.fails(&["init", "-backend-config=adress=x"]).contains("Did you mean \"address\"?"));
    assert!(project.fails(&["init", "-backend-config=address=ftp://x"]).contains("must be http or https"));
    let address = format!("address=http://{}/state", server.address);
    project.ok(&["init", &format!("-backend-config={address}")]);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["init"]);
    assert_eq!(server.state()["serial"], 1);
    let by_environment = Project::new(&configuration("  backend \"http\" {}"))
        .with("TF_HTTP_ADDRESS", &format!("http://{}/state", server.address));
    by_environment.ok(&["init"]);
    assert!(by_environment.has_no_changes());
    let asked = Project::new(&configuration("  backend \"http\" {}"));
    let ran = asked.answer(&["init"], &format!("http://{}/state\n", server.address));
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(asked.has_no_changes());
}

#[test]
fn saved_plan_carries_its_backend() {
    let server = HttpServer::start();
    let project = applied(&server);
    project.ok(&["plan", "-out=plan", "-var=input=two"]);
    project.ok(&["apply", "plan"]);
    assert_eq!(project.ok(&["output", "-raw", "value"]), "two");
    project.ok(&["plan", "-out=plan", "-var=input=three"]);
    server.shared().overwrite(|state| state["serial"] = json!(9));
    assert!(project.fails(&["apply", "plan"]).contains("Saved plan is stale"));
}

#[test]
fn reading_remote_state_creates_nothing() {
    let server = HttpServer::start();
    let reader = Project::new(&format!(
        "data \"terraform_remote_state\" \"it\" {{\n  backend = \"http\"\n  config = {{\n    address = \"http://{}/state\"\n  \
         }}\n}}\noutput \"read\" {{\n  value = data.terraform_remote_state.it.outputs.value\n}}\n",
        server.address
    ));
    reader.ok(&["init"]);
    assert!(reader.fails(&["plan"]).contains("Unable to find remote state"));
    assert_eq!(server.shared().requests, ["GET"]);
    applied(&server);
    reader.ok(&["apply", "-auto-approve"]);
    assert_eq!(reader.ok(&["output", "-raw", "read"]), "one");
    server.shared().faults.read_status = Some(403);
    assert!(reader.fails(&["plan"]).contains("Access to the state denied"));
}

#[test]
fn terraform_and_groma_share_state_record_and_lock() {
    let server = HttpServer::start();
    let Some(theirs) = Project::of_terraform(&configuration(&server.backend())) else { return };
    let ours = applied(&server);
    theirs.ok(&["init"]);
    assert!(theirs.has_no_changes(), "Terraform reads what Groma wrote");
    theirs.ok(&["apply", "-auto-approve", "-var=input=two"]);
    assert_eq!(server.state()["serial"], 2);
    assert_eq!(ours.ok(&["output", "-raw", "value"]), "two");
    // Each takes over the record of the other.
    let record = |project: &Project| -> serde_json::Value {
        serde_json::from_str(&project.read(".terraform/terraform.tfstate")).unwrap()
    };
    assert_eq!(record(&ours)["backend"], record(&theirs)["backend"]);

    let lock = |project: &Project, more: &[&str]| {
        project.write("main.tf", &slow(&server.backend(), 4));
        let running = project.start(&[&["apply", "-auto-approve"], more].concat());
        let begin = Instant::now();
        while server.shared().lock.is_none() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(20));
        }
        running
    };
    let running = lock(&ours, &[]);
    let reported = theirs.fails(&["plan"]);
    assert!(
        reported.contains("Error acquiring the state lock") && reported.contains("OperationTypeApply"),
        "{reported}"
    );
    assert_eq!(Project::ran(running.wait_with_output().unwrap()).code, 0);
    let running = lock(&theirs, &["-replace=terraform_data.slow"]);
    let reported = ours.fails(&["plan"]);
    assert!(
        reported.contains("Error acquiring the state lock") && reported.contains("OperationTypeApply"),
        "{reported}"
    );
    ours.ok(&["plan", "-lock-timeout=60s"]);
    assert_eq!(Project::ran(running.wait_with_output().unwrap()).code, 0);
}
