//! The memory that large remote states take.

use std::process::{Child, Stdio};

use serde_json::{Value as Json, json};

use super::http_server::HttpServer;
use super::{Project, configuration};

/// The number of objects in the state, and the size of each.
const OBJECTS: usize = 2_000;
const TEXT: usize = 12_000;

fn state() -> Json {
    let filling = "x".repeat(TEXT);
    let instances: Vec<Json> = (0..OBJECTS)
        .map(|number| {
            let attributes = json!({ "id": number.to_string(), "input": { "value": filling, "type": "string" } });
            json!({ "index_key": number, "schema_version": 0, "attributes": attributes, "sensitive_attributes": [] })
        })
        .collect();
    let resource = json!({
        "mode": "managed", "type": "terraform_data", "name": "big",
        "provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": instances,
    });
    json!({
        "version": 4, "terraform_version": "1.15.5", "serial": 1, "lineage": "large", "outputs": {},
        "resources": [resource], "check_results": null,
    })
}

/// Returns the largest resident memory of a process in bytes, which it reports until it ends.
fn peak(child: &mut Child) -> u64 {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            assert!(peak > 0, "no memory was measured");
            return peak;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn peak_of(project: &Project, arguments: &[&str]) -> u64 {
    let mut command = project.command(arguments);
    peak(&mut command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// Reads the state, and reads and writes it. `base` is what the program takes without a state.
fn stays_small(project: &Project, size: u64, base: u64) {
    for arguments in [&["state", "pull"][..], &["state", "rm", "terraform_data.big[0]"]] {
        let taken = peak_of(project, arguments).saturating_sub(base);
        let times = taken as f64 / size as f64;
        assert!(times < 3.0, "{arguments:?} takes {times:.2} times the {size} bytes of the state");
    }
    assert_eq!(project.state()["resources"][0]["instances"].as_array().unwrap().len(), OBJECTS - 1);
}

#[test]
fn memory_stays_below_three_times_the_size_over_http() {
    let server = HttpServer::start();
    // Without them, the state is read again before it is written, and is in memory once more.
    server.shared().faults.has_etags = true;
    let project = Project::new(&configuration(&server.backend()));
    project.ok(&["init"]);
    let base = peak_of(&project, &["state", "pull"]);
    let bytes = serde_json::to_vec_pretty(&state()).unwrap();
    let size = bytes.len() as u64;
    server.shared().state = Some(bytes);
    stays_small(&project, size, base);
}
