//! Measures reading, writing and the journal: `cargo run --release -p groma-state --example measure_state [INSTANCES]`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_address::{ProviderAddress, ProviderConfig, Resource, ResourceInstance};
use groma_state::{
    AttributesJson, Begin, Dependencies, LocalStore, LockRequest, Locking, ObjectRecord, ObjectStatus, Operation,
    Outcome, State, StatePaths, file,
};

fn main() {
    let instances: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let provider = ProviderConfig::default_in_root(ProviderAddress::builtin_terraform());
    let dependencies =
        Dependencies::new(["a.b", "module.network.aws_vpc.main"].map(|text| text.parse().expect("an address")));
    let object = |number: usize| {
        let mut object = ObjectRecord::new(
            0,
            AttributesJson::new(format!(
                r#"{{"id":"0f6a1c7e-{number:08}","input":{{"value":{{"name":"n{number}","tags":{{"a":"b","c":"d"}}}},"type":["object",{{"name":"string","tags":["map","string"]}}]}},"output":{{"value":"{number}","type":"string"}},"triggers_replace":null}}"#
            )),
        );
        object.dependencies = dependencies.clone();
        Arc::new(object)
    };
    let address = |number: usize| -> ResourceInstance {
        ResourceInstance::in_root(Resource::managed("terraform_data", format!("r{number}")), Default::default())
    };

    let mut state = State::new("1.15.5");
    timed("make records", instances, || {
        for number in 0..instances {
            state.insert(&address(number), None, &provider, object(number));
        }
    });
    let bytes = timed("write to memory", instances, || file::write(&state));
    println!("  {:.1} MB", bytes.len() as f64 / 1e6);
    let read = timed("read from memory", instances, || file::read(&bytes).expect("a state"));
    assert_eq!(read.len(), instances);
    drop(read);

    let directory = tempfile::tempdir().expect("a folder");
    let paths = StatePaths::of_workspace(directory.path(), "default");
    let locking = Locking::On(LockRequest {
        operation: "measure".into(),
        info: String::new(),
        who: "nobody".into(),
        version: "0".into(),
        timeout: Duration::ZERO,
    });
    let open = || LocalStore::open(paths.clone(), "1.15.5", &locking, &|| true).expect("a store");
    let (mut store, _) = open();
    timed("save the first state (journal, file, syncs)", instances, || store.save(&mut state).expect("saved"));
    let journal = store.begin_run(&mut state).expect("a journal");
    timed("journal: begin and finished", instances, || {
        for number in 0..instances {
            let address = address(number);
            let before = object(number);
            let begin = Begin {
                address: address.clone(),
                deposed: None,
                operation: Operation::Update,
                provider: provider.clone(),
                request: None,
                dependencies: dependencies.clone(),
                create_before_destroy: false,
                is_kept: false,
                status: ObjectStatus::Ready,
            };
            journal.begin(&begin).expect("noted");
            let outcome = Outcome::Present(object(number + instances));
            journal.finished(&address, None, &provider, Some(&before), outcome).expect("noted");
        }
    });
    drop((store, journal));
    let (mut store, opened) = timed("open: fold the journal in and save", instances, open);
    let mut state = opened.state.expect("a state");
    assert!(opened.in_flight.is_empty());
    timed("save without a change", instances, || store.save(&mut state).expect("saved"));
    drop(store);
    timed("open without a journal", instances, open);
}

fn timed<T>(what: &str, instances: usize, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let elapsed = start.elapsed();
    let each = elapsed.as_secs_f64() * 1e6 / instances as f64;
    let memory = memory_now().map(|megabytes| format!(", {megabytes:.0} MB in memory")).unwrap_or_default();
    println!("{what}: {:.3} s, {each:.2} µs each, {:.0} a second{memory}", elapsed.as_secs_f64(), 1e6 / each);
    result
}

/// What the process holds in memory, where the system tells.
fn memory_now() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1e3)
}
