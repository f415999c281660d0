//! Calls through the client to a process, and the ways in which the process can end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_plugin::Protocol;
use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::transport::{Launch, NoLog, launch};
use groma_provider::{ApplyRequest, ApplyResponse, Provider};
use groma_value::{Type, Value};

use crate::launch::{demo_launch, is_running, on_runtime, script};
use crate::{ONLY_V5, Test, demo};

pub const TESTS: &[Test] = &[
    ("end::dropped_connection_leaves_no_process", dropped_connection_leaves_no_process),
    ("end::killed_host_leaves_no_process", killed_host_leaves_no_process),
    ("end::plugin_ignoring_shutdown_is_killed", plugin_ignoring_shutdown_is_killed),
    ("end::crash_during_apply_is_reported_for_the_object", crash_during_apply_is_reported_for_the_object),
    ("end::fw_22_a_stop_reaches_a_call_that_blocks_its_thread", a_stop_reaches_a_call),
    ("end::panic_during_apply_does_not_end_the_process", panic_during_apply_does_not_end_the_process),
];

/// Returns the child processes of `parent`.
fn children_of(parent: u32) -> Vec<u32> {
    let listing = std::fs::read_dir("/proc").unwrap();
    let pids = listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name of the program, in parentheses, may contain spaces; the fields after it may not.
        let mut rest = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(1);
        rest.next().and_then(|field| field.parse::<u32>().ok()) == Some(parent)
    })
    .collect()
}

/// Returns the running children of this process that execute `program`.
pub fn plugin_processes(program: &std::path::Path) -> Vec<u32> {
    // The system reports resolved paths, and the build directory may be a symbolic link.
    let program = program.canonicalize().unwrap();
    let mut children = children_of(std::process::id());
    children.retain(|pid| {
        std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program) && is_running(*pid)
    });
    children
}

fn gone(pid: u32, within: Duration) -> bool {
    let start = Instant::now();
    while is_running(pid) {
        if start.elapsed() > within {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

fn dropped_connection_leaves_no_process() {
    on_runtime(async {
        let connection = launch(&demo_launch(), Arc::new(NoLog)).await.unwrap();
        let children = plugin_processes(&std::env::current_exe().unwrap());
        assert_eq!(children.len(), 1);
        // Without a shutdown request, as after an error of the program.
        drop(connection);
        assert!(gone(children[0], Duration::from_secs(2)));
    });
}

fn plugin_ignoring_shutdown_is_killed() {
    on_runtime(async {
        let folder = tempfile::tempdir().unwrap();
        let demo = std::env::current_exe().unwrap();
        // The wrapper keeps running after the plugin has exited.
        let wrapper = script(folder.path(), "wrapper", &format!("trap '' TERM\n{}\nsleep 600", demo.display()));
        let connection = launch(&Launch::new("x", wrapper), Arc::new(NoLog)).await.unwrap();
        let start = Instant::now();
        connection.shutdown().await;
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
        assert_eq!(connection.exit_info().await.exit.as_deref(), Some("signal 9 (SIGKILL)"));
    });
}

fn killed_host_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let noted = folder.path().join("pid");
    let demo = std::env::current_exe().unwrap();
    // A wrapper script: the provider's own check of its parent would not notice the killed host.
    let plugin =
        script(folder.path(), "plugin", &format!("sleep 600 & echo $! > {}\nexec {}", noted.display(), demo.display()));
    // The host is another run of this program, which launches the wrapper and waits.
    let mut host = std::process::Command::new(&demo).arg("host_for_another_test").env(HOST, &plugin).spawn().unwrap();
    let start = Instant::now();
    while !noted.exists() && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Lets the host finish the handshake, so that it is killed while the plugin serves.
    std::thread::sleep(Duration::from_millis(300));
    let child: u32 = std::fs::read_to_string(&noted).unwrap().trim().parse().unwrap();
    assert!(is_running(child));
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(gone(child, Duration::from_secs(3)));
}

/// The plugin that the host of `killed_host_leaves_no_process` launches.
pub const HOST: &str = "GROMA_TEST_HOST_OF";

/// The host that will be killed.
pub fn host(plugin: std::ffi::OsString) {
    on_runtime(async {
        let _connection = launch(&Launch::new("x", plugin), Arc::new(NoLog)).await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
    });
}

/// Creates a `demo_thing` called `name` through the client.
pub fn create(plugin: &Plugin, name: &str) -> ApplyResponse {
    let schema = plugin.resource_schema("demo_thing").unwrap().unwrap();
    let object = |computed: fn(Type) -> Value| {
        let values = schema.block.slots().iter().map(|slot| match &*slot.name {
            "name" => Value::string(name),
            "id" => computed(Type::String),
            "secret_length" => computed(Type::Number),
            _ => slot.item.empty_value().clone(),
        });
        schema.block.object(values.collect())
    };
    let request = ApplyRequest {
        type_name: "demo_thing".into(),
        prior_state: schema.block.null_value(),
        planned_state: object(Value::unknown),
        config: object(Value::null),
        planned_private: Arc::from(&b"planned"[..]),
        ..ApplyRequest::default()
    };
    on_runtime(async { plugin.apply_resource(request).await })
}

fn started(protocol: Protocol) -> Plugin {
    let mut launch = demo_launch();
    if protocol == Protocol::V5 {
        launch.environment = vec![("PLUGIN_PROTOCOL_VERSIONS".into(), "5".into()), (ONLY_V5.into(), "1".into())];
    }
    let address = groma_address::ProviderAddress::parse(demo::ADDRESS, "registry.terraform.io").unwrap();
    Plugin::start(&PluginHost::new(), address, Start::Launch(launch), Arc::new(NoLog))
}

fn crash_during_apply_is_reported_for_the_object() {
    for protocol in [Protocol::V5, Protocol::V6] {
        let plugin = started(protocol);
        // The first call proves that the process works; the second one makes it abort.
        let good = create(&plugin, "good");
        assert!(good.diagnostics.is_empty(), "{:?}", good.diagnostics);
        let bad = create(&plugin, "crash");
        let text = format!("{:?}", bad.diagnostics);
        assert!(bad.diagnostics.has_errors() && text.contains("SIGABRT"), "{text}");
    }
}

fn panic_during_apply_does_not_end_the_process() {
    let plugin = started(Protocol::V6);
    let bad = create(&plugin, "panic");
    assert!(format!("{:?}", bad.diagnostics).contains("a provider's panic"), "{:?}", bad.diagnostics);
    assert!(create(&plugin, "good").diagnostics.is_empty());
}

fn a_stop_reaches_a_call() {
    for protocol in [Protocol::V5, Protocol::V6] {
        let plugin = started(protocol);
        assert!(create(&plugin, "good").diagnostics.is_empty());
        let start = Instant::now();
        std::thread::scope(|scope| {
            let blocked = scope.spawn(|| create(&plugin, "stop"));
            // Long enough for the call to reach the provider and block there.
            std::thread::sleep(Duration::from_millis(500));
            assert!(!blocked.is_finished());
            plugin.stop();
            assert!(blocked.join().unwrap().diagnostics.is_empty());
        });
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
