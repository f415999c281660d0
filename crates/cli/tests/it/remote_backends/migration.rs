//! `init` between backends: states, workspaces and records.

use serde_json::Value as Json;

use super::consul_server::ConsulServer;
use super::http_server::HttpServer;
use super::{Project, configuration, one_line};

fn lineage(state: &Json) -> (String, u64) {
    (state["lineage"].as_str().unwrap().to_owned(), state["serial"].as_u64().unwrap())
}

/// A project with local states of the workspaces `default` and `blue`, each with its lineage and serial. `blue` is selected.
struct LocalStates {
    project: Project,
    default: (String, u64),
    blue: (String, u64),
}

impl LocalStates {
    fn new() -> Self {
        let project = Project::new(&configuration(""));
        project.ok(&["init"]);
        project.ok(&["apply", "-auto-approve"]);
        let default = lineage(&project.state());
        project.ok(&["workspace", "new", "blue"]);
        project.ok(&["apply", "-auto-approve", "-var=input=two"]);
        let blue = lineage(&project.state());
        Self { project, default, blue }
    }
}

#[test]
fn local_states_move_to_a_remote_backend_and_back_with_all_workspaces() {
    let server = ConsulServer::start();
    let LocalStates { project, default, blue } = LocalStates::new();

    project.write("main.tf", &configuration(&server.backend("p", "")));
    assert!(project.fails(&["plan"]).contains("Initial configuration of the requested backend \"consul\""));
    assert!(project.fails(&["init", "-input=false"]).contains("Can't ask approval for state migration"));
    let ran = project.answer(&["init"], "no\n");
    assert!(ran.code == 1 && ran.text.contains("Migration aborted by user"), "{}", ran.text);
    let ran = project.answer(&["init"], "yes\n");
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert_eq!(server.keys(), ["p", "p-env:blue"]);
    assert_eq!(lineage(&project.state()), blue, "lineage and serial are kept");
    project.ok(&["workspace", "select", "default"]);
    assert_eq!(lineage(&project.state()), default);
    assert!(!project.path("terraform.tfstate").exists(), "nothing is left that a run without the block would use");

    project.write("main.tf", &configuration(""));
    assert!(project.fails(&["init"]).contains("Backend configuration changed"));
    project.ok(&["init", "-migrate-state", "-force-copy"]);
    assert_eq!(lineage(&project.state()), default);
    assert_eq!(server.keys(), ["p", "p-env:blue"], "the old states stay");
    project.ok(&["workspace", "select", "blue"]);
    assert_eq!(lineage(&project.state()), blue);
}

#[test]
fn failed_migration_leaves_all_local_states() {
    let server = ConsulServer::start();
    let LocalStates { project, default, blue } = LocalStates::new();
    project.write("main.tf", &configuration(&server.backend("p", "")));
    server.shared().store("p-env:blue", b"garbage".to_vec());
    let reported = one_line(&project.fails(&["init", "-force-copy"]));
    assert!(reported.contains("The workspace \"blue\" was not migrated."), "{reported}");
    assert!(reported.contains("Already copied to the new backend: \"default\"."), "{reported}");
    assert!(reported.contains("No workspaces in the source state have been modified"), "{reported}");
    assert!(project.path("terraform.tfstate").exists(), "the source is unchanged");
    project.write("main.tf", &configuration(""));
    assert_eq!(lineage(&project.state()), blue);
    project.ok(&["workspace", "select", "default"]);
    assert_eq!(lineage(&project.state()), default);

    project.write("main.tf", &configuration(&server.backend("p", "")));
    server.shared().entries.remove("p-env:blue");
    project.ok(&["init", "-force-copy"]);
    assert_eq!(server.keys(), ["p", "p-env:blue"]);
    assert_eq!(lineage(&project.state()), default);
    for file in ["terraform.tfstate", "terraform.tfstate.d/blue/terraform.tfstate"] {
        assert!(!project.path(file).exists(), "{file} is retired after the complete migration");
    }
}

#[test]
fn states_move_between_remote_backends() {
    let (consul, http) = (ConsulServer::start(), HttpServer::start());
    let project = Project::new(&configuration(&consul.backend("p", "")));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["workspace", "new", "blue"]);
    project.ok(&["apply", "-auto-approve", "-var=input=blue"]);
    let blue = lineage(&project.state());
    project.write("main.tf", &configuration(&http.backend()));
    assert!(project.fails(&["plan"]).contains("Backend type changed from \"consul\" to \"http\""));
    // Only the current workspace has room in the new backend.
    let ran = project.answer(&["init", "-migrate-state"], "yes\n");
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert_eq!(lineage(&http.state()), blue);
    assert_eq!(project.ok(&["output", "-raw", "value"]), "blue");

    let other = HttpServer::start();
    project.write("main.tf", &configuration(&other.backend()));
    project.ok(&["init", "-reconfigure"]);
    assert!(other.shared().state.is_none(), "-reconfigure copies nothing");
    project.write("main.tf", &configuration(&http.backend()));
    project.ok(&["init", "-migrate-state", "-force-copy"]);
    assert_eq!(lineage(&http.state()), blue);
}

#[test]
fn partial_configuration_is_kept_in_the_record() {
    let server = ConsulServer::start();
    let block = format!("  backend \"consul\" {{\n    address = \"{}\"\n    scheme = \"http\"\n  }}", server.address);
    let project = Project::new(&configuration(&block));
    project.write("more.hcl", "path = \"partial\"\ngzip = true\n");
    project.ok(&["init", "-backend-config=more.hcl"]);
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(server.keys(), ["partial"]);
    project.ok(&["init"]);
    assert!(project.has_no_changes());
    let record: Json = serde_json::from_str(&project.read(".terraform/terraform.tfstate")).unwrap();
    assert_eq!(
        (&record["backend"]["config"]["path"], &record["backend"]["config"]["gzip"]),
        (&"partial".into(), &true.into())
    );
    assert!(
        project.fails(&["init", "-backend-config=path=other"]).contains("path was \"partial\", and is now \"other\"")
    );

    let Some(theirs) = Project::of_terraform(&configuration(&block)) else { return };
    std::fs::create_dir(theirs.path(".terraform")).unwrap();
    theirs.write(".terraform/terraform.tfstate", &project.read(".terraform/terraform.tfstate"));
    assert!(theirs.has_no_changes(), "Terraform accepts the record with its hash");
    theirs.write("more.hcl", "path = \"partial\"\n");
    theirs.ok(&["init", "-reconfigure", "-backend-config=more.hcl"]);
    project.write(".terraform/terraform.tfstate", &theirs.read(".terraform/terraform.tfstate"));
    assert!(project.has_no_changes(), "Groma accepts the record of Terraform");
}

#[test]
fn missing_workspace_is_replaced_at_init() {
    let server = ConsulServer::start();
    let project = Project::new(&configuration(&server.backend("p", "")));
    std::fs::create_dir(project.path(".terraform")).unwrap();
    project.write(".terraform/environment", "gone");
    let said = project.ok(&["init", "-input=false"]);
    assert!(said.contains("Switched to \"default\""), "{said}");
    project.ok(&["workspace", "new", "blue"]);
    project.write(".terraform/environment", "gone");
    let reported = project.fails(&["init", "-input=false"]);
    assert!(reported.contains("Currently selected workspace \"gone\" does not exist"), "{reported}");
    let ran = project.answer(&["init"], "2\n");
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert_eq!(project.ok(&["workspace", "show"]), "blue\n");
}
