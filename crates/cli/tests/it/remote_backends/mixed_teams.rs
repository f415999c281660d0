//! Teams that mix Groma with Terraform and with OpenTofu on one state: they take turns and race, if `GROMA_TERRAFORM` and `GROMA_TOFU` name
//! these programs. All stores of this file are in both of them.

use std::thread;
use std::time::{Duration, Instant};

use super::blob_servers::{self, Served};
use super::http_server::HttpServer;
use super::postgres::Server;
use super::s3::Moto;
use super::{Peer, Project, STARTED, configuration, one_line, slow};

/// The rounds of two racing applies.
const RACES: usize = 6;

/// Whether the store has workspaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Workspaces {
    Many,
    One,
}

/// A working directory of each program, with the same backend.
struct Team {
    ours: Project,
    theirs: Project,
    block: String,
}

impl Team {
    fn new(peer: Peer, block: &str, variables: &[(&str, String)]) -> Option<Self> {
        let with =
            |project: Project| variables.iter().fold(project, |project, (name, value)| project.with(name, value));
        let theirs = with(peer.project(&configuration(block))?);
        let ours = with(Project::new(&configuration(block)));
        Some(Self { ours, theirs, block: block.to_owned() })
    }

    fn both(&self) -> [(&Project, &Project); 2] {
        [(&self.ours, &self.theirs), (&self.theirs, &self.ours)]
    }

    /// States both ways: each program finds nothing to do after the other one.
    fn takes_turns(&self) {
        self.ours.ok(&["init", "-input=false"]);
        self.ours.ok(&["apply", "-auto-approve", "-input=false"]);
        self.theirs.ok(&["init", "-input=false"]);
        assert!(self.theirs.has_no_changes(), "the peer reads what Groma wrote");
        for (number, (writer, reader)) in self.both().into_iter().cycle().take(4).enumerate() {
            let value = format!("turn-{number}");
            writer.ok(&["apply", "-auto-approve", "-input=false", &format!("-var=input={value}")]);
            assert_eq!(reader.ok(&["output", "-raw", "value"]), value);
            let planned = reader.run(&["plan", "-detailed-exitcode", "-input=false", &format!("-var=input={value}")]);
            assert_eq!(planned.code, 0, "{}", planned.text);
        }
        let (first, second) = (self.ours.state(), self.theirs.state());
        assert_eq!((&first["lineage"], &first["serial"]), (&second["lineage"], &second["serial"]));
    }

    /// Workspaces both ways: made by one program, used and deleted by the other.
    fn shares_workspaces(&self) {
        for (number, (maker, user)) in self.both().into_iter().enumerate() {
            let name = format!("w{number}");
            maker.ok(&["workspace", "new", &name]);
            maker.ok(&["apply", "-auto-approve", "-input=false"]);
            assert!(user.ok(&["workspace", "list"]).contains(&name));
            user.ok(&["workspace", "select", &name]);
            assert!(user.has_no_changes());
            user.ok(&["destroy", "-auto-approve", "-input=false"]);
            for project in [user, maker] {
                project.ok(&["workspace", "select", "default"]);
            }
            user.ok(&["workspace", "delete", &name]);
            assert!(!maker.ok(&["workspace", "list"]).contains(&name));
        }
    }

    /// Locks exclude both ways: at once, with the holder's name, and with waiting.
    fn excludes(&self) {
        for (holder, other) in self.both() {
            holder.write("main.tf", &slow(&self.block, 6));
            let _ = std::fs::remove_file(holder.path(STARTED));
            let mut child = holder.start(&["apply", "-auto-approve", "-input=false"]);
            let begin = Instant::now();
            while !holder.path(STARTED).exists() {
                assert!(begin.elapsed() < Duration::from_secs(120), "the provisioner never begins");
                assert!(child.try_wait().unwrap().is_none(), "the run has ended");
                thread::sleep(Duration::from_millis(50));
            }
            let reported = other.fails(&["plan", "-input=false"]);
            assert!(reported.contains("Error acquiring the state lock"), "{reported}");
            // The value tells the two applies apart, whichever was first.
            let waited = other.run(&["apply", "-auto-approve", "-input=false", "-lock-timeout=120s"]);
            assert_eq!(waited.code, 0, "{}", one_line(&waited.text));
            let ran = Project::ran(child.wait_with_output().unwrap());
            assert_eq!(ran.code, 0, "{}", ran.text);
            holder.write("main.tf", &configuration(&self.block));
            holder.ok(&["apply", "-auto-approve", "-input=false"]);
            assert!(other.has_no_changes());
        }
    }

    /// Two applies at the same time: none is lost, and the serial rises with each.
    fn races(&self) {
        for round in 0..RACES {
            let before = self.ours.state()["serial"].as_u64().unwrap();
            let values = [format!("ours-{round}"), format!("theirs-{round}")];
            let arguments = |value: &String| {
                let value = format!("-var=input={value}");
                ["apply", "-auto-approve", "-input=false", "-lock-timeout=120s", &value].map(str::to_owned)
            };
            let start =
                |project: &Project, value| project.start(&arguments(value).each_ref().map(|argument| &**argument));
            let (ours, theirs) = (start(&self.ours, &values[0]), start(&self.theirs, &values[1]));
            let ran = Project::ran(ours.wait_with_output().unwrap());
            assert_eq!(ran.code, 0, "{}", one_line(&ran.text));
            let mut ran = Project::ran(theirs.wait_with_output().unwrap());
            // The peers do not wait for a lock whose info is not readable yet, or not any more. They have changed nothing.
            if ran.code == 1 && ran.text.contains("Error acquiring the state lock") {
                ran = self.theirs.run(&arguments(&values[1]).each_ref().map(|argument| &**argument));
            }
            assert_eq!(ran.code, 0, "{}", one_line(&ran.text));
            let state = self.ours.state();
            assert_eq!(state["serial"].as_u64(), Some(before + 2), "both applies have written");
            let value = state["outputs"]["value"]["value"].as_str().unwrap();
            assert!(values.iter().any(|known| known == value), "{value}");
            assert_eq!(self.theirs.ok(&["output", "-raw", "value"]), value);
        }
    }

    fn runs_together(&self, workspaces: Workspaces) {
        self.takes_turns();
        if workspaces == Workspaces::Many {
            self.shares_workspaces();
        }
        self.excludes();
        self.races();
    }
}

/// Runs one team with each peer. The state of the first team is where the second one begins.
fn teams_on(block: &str, variables: &[(&str, String)], workspaces: Workspaces) {
    for team in Peer::ALL.into_iter().filter_map(|peer| Team::new(peer, block, variables)) {
        team.runs_together(workspaces);
    }
}

fn teams_on_server(served: Option<Served>) {
    if let Some(served) = served {
        teams_on(&served.block, &served.variables, Workspaces::Many);
    }
}

#[test]
fn mixed_teams_on_s3() {
    let Some(moto) = Moto::start() else { return };
    for (key, locks) in [("file", "use_lockfile = true"), ("table", "dynamodb_table = \"locks\"")] {
        teams_on(&moto.backend(&format!("team/{key}.tfstate"), locks), &[], Workspaces::Many);
    }
}

#[test]
fn mixed_teams_on_pg() {
    let Some(server) = Server::start() else { return };
    teams_on(&server.backend("team"), &[], Workspaces::Many);
}

#[test]
fn mixed_teams_on_gcs() {
    teams_on_server(blob_servers::gcs());
}

#[test]
fn mixed_teams_on_azurerm() {
    teams_on_server(blob_servers::azurerm());
}

#[test]
fn mixed_teams_on_consul() {
    teams_on_server(blob_servers::consul());
}

#[test]
fn mixed_teams_on_kubernetes() {
    teams_on_server(Some(blob_servers::kubernetes()));
    teams_on_server(blob_servers::kubernetes_cluster("teams"));
}

#[test]
fn mixed_teams_on_http() {
    let server = HttpServer::start();
    teams_on(&server.backend(), &[], Workspaces::One);
}
