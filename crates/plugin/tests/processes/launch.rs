//! Launches of working plugins and of other programs.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use groma_plugin::transport::{
    Connection, Launch, LaunchError, LaunchProblem, LogLevel, LogSink, NoLog, Reattach, Tls, attach, launch,
};
use groma_plugin::{Protocol, server};

use crate::{Test, demo};

pub const TESTS: &[Test] = &[
    ("launch::both_versions_with_and_without_tls", both_versions_with_and_without_tls),
    ("launch::start_errors_name_the_cause", start_errors_name_the_cause),
    ("launch::non_plugin_errors_include_its_output", non_plugin_errors_include_its_output),
    ("launch::hanging_plugin_is_killed_after_timeout", hanging_plugin_is_killed_after_timeout),
    ("launch::log_lines_keep_their_level", log_lines_keep_their_level),
    ("launch::attached_plugins_keep_running", attached_plugins_keep_running),
    ("launch::missing_threads_are_an_error_with_advice", without_threads),
];

/// Runs `test` on a new runtime.
pub fn on_runtime<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test)
}

/// Launch parameters for this program as a plugin.
pub fn demo_launch() -> Launch {
    Launch::new("demo", std::env::current_exe().unwrap())
}

/// Whether the process group `group` still has a running member.
pub fn is_running(pid: u32) -> bool {
    // A zombie has exited.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}

pub fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn failed(launched: &Launch) -> LaunchError {
    on_runtime(launch(launched, Arc::new(NoLog))).unwrap_err()
}

async fn is_healthy(connection: &Connection) -> bool {
    let mut client = groma_plugin::proto::health::health_client::HealthClient::new(connection.channel());
    let request = groma_plugin::proto::health::HealthCheckRequest { service: "plugin".to_owned() };
    client.check(request).await.unwrap().into_inner().status == 1
}

fn both_versions_with_and_without_tls() {
    for (versions, protocol) in [("5", Protocol::V5), ("6,5", Protocol::V6)] {
        for tls in [Tls::Mutual, Tls::Off] {
            on_runtime(async {
                let environment = vec![("PLUGIN_PROTOCOL_VERSIONS".into(), versions.into())];
                let launched = Launch { tls, environment, ..demo_launch() };
                let connection = launch(&launched, Arc::new(NoLog)).await.unwrap();
                assert_eq!(connection.protocol(), protocol);
                assert!(is_healthy(&connection).await);
                let start = Instant::now();
                connection.shutdown().await;
                assert!(start.elapsed() < Duration::from_millis(1500), "shutdown took {:?}", start.elapsed());
                assert_eq!(connection.exit_info().await.exit.as_deref(), Some("exit status 0"));
            });
        }
    }
}

fn start_errors_name_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let missing = failed(&Launch::new("x", folder.path().join("none")));
    assert!(missing.to_string().contains("no such file"), "{missing}");

    let plain = folder.path().join("plain");
    std::fs::write(&plain, "text").unwrap();
    assert!(failed(&Launch::new("x", &plain)).to_string().contains("not executable"));

    // The ELF header of an executable for s390x.
    let mut header = b"\x7fELF\x02\x02\x01\0\0\0\0\0\0\0\0\0\0\x02\0\x16".to_vec();
    header.extend([0; 200]);
    let other = folder.path().join("other");
    std::fs::write(&other, header).unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = failed(&Launch::new("x", &other));
    assert!(matches!(&error.problem, LaunchProblem::WrongPlatform(which) if which.contains("s390x")), "{error}");

    let orphan = folder.path().join("orphan");
    std::fs::write(&orphan, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&orphan, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(failed(&Launch::new("x", &orphan)).to_string().contains("interpreter"));
}

fn non_plugin_errors_include_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let of = |text: &str| failed(&Launch::new("x", script(folder.path(), "plugin", text)));

    let error = of("echo 'cannot find my settings' >&2; exit 3");
    assert_eq!(error.problem, LaunchProblem::Exited);
    assert_eq!(error.exit_info.exit.as_deref(), Some("exit status 3"));
    assert!(error.to_string().contains("cannot find my settings"), "{error}");

    let error = of("kill -SEGV $$");
    assert!(error.exit_info.exit.as_deref().is_some_and(|exit| exit.contains("SIGSEGV")), "{error}");

    assert!(of("echo hello; sleep 60").to_string().contains("\"hello\""));
    assert!(of("echo '1|4|unix|/x|grpc|'; sleep 60").to_string().contains("version 4"));
    // A valid handshake whose address does not exist.
    assert!(of("echo '1|5|unix|/no/such/socket|grpc|'; sleep 60").to_string().contains("Cannot connect to"));
    // Binary output without a line end must not be read without limit.
    assert!(of("head -c 1000000 /dev/zero").to_string().contains("be a provider plugin"));
}

fn hanging_plugin_is_killed_after_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let noted = folder.path().join("pid");
    // The child of a wrapper script is killed with it.
    let plugin = script(folder.path(), "plugin", &format!("sleep 600 & echo $! > {}; wait", noted.display()));
    let launched = Launch { start_timeout: Duration::from_millis(300), ..Launch::new("x", plugin) };
    let error = failed(&launched);
    assert!(error.to_string().contains("not ready within 0.3 seconds"), "{error}");
    let child: u32 = std::fs::read_to_string(noted).unwrap().trim().parse().unwrap();
    let start = Instant::now();
    while is_running(child) && start.elapsed() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!is_running(child));
}

#[derive(Default)]
struct Lines(Mutex<Vec<(LogLevel, String)>>);

impl LogSink for Lines {
    fn log(&self, level: LogLevel, provider: &str, line: &str) {
        assert_eq!(provider, "x");
        self.0.lock().unwrap().push((level, line.to_owned()));
    }

    fn least(&self) -> Option<LogLevel> {
        Some(LogLevel::Trace)
    }
}

fn log_lines_keep_their_level() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"echo '{"@level":"warn","@message":"careful","n":1}' >&2; echo '[INFO] plain' >&2; exit 1"#;
    let lines = Arc::new(Lines::default());
    let launched = Launch::new("x", script(folder.path(), "plugin", text));
    on_runtime(launch(&launched, Arc::clone(&lines) as Arc<dyn LogSink>)).unwrap_err();
    let lines = lines.0.lock().unwrap();
    assert_eq!(*lines, [(LogLevel::Warn, "careful n=1".to_owned()), (LogLevel::Info, "plain".to_owned())]);
}

fn attached_plugins_keep_running() {
    on_runtime(async {
        let folder = tempfile::tempdir().unwrap();
        let served =
            server::serve_below(folder.path(), demo::provider(Protocol::V6, demo::Asking::Optional), Protocol::V6)
                .unwrap();
        let reattach = Reattach { protocol: Protocol::V6, pid: 1, test: true, address: served.endpoint() };
        for _ in 0..2 {
            let connection = attach(&reattach, "demo", Arc::new(NoLog)).await.unwrap();
            assert!(is_healthy(&connection).await);
            connection.shutdown().await;
        }
        // Outside of test mode the plugin is asked to end, as Terraform does.
        let asked_to_end = Reattach { test: false, ..reattach.clone() };
        attach(&asked_to_end, "demo", Arc::new(NoLog)).await.unwrap().shutdown().await;
        served.stop().await.unwrap();
        let error = attach(&reattach, "demo", Arc::new(NoLog)).await.unwrap_err();
        assert!(error.to_string().contains("TF_REATTACH_PROVIDERS"), "{error}");
    });
}

/// The limit does not hold for the superuser, who can become somebody else.
fn without_threads() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("plugin");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [folder.path(), &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut limited = std::process::Command::new("setpriv");
    limited.args(["--reuid=65534", "--clear-groups", "prlimit", "--nproc=1"]).arg(&program).arg("-debug");
    let Ok(ran) = limited.output() else { return println!("skipped: no setpriv") };
    let said = String::from_utf8_lossy(&ran.stderr);
    if said.contains("setpriv:") {
        return println!("skipped: no other user");
    }
    assert!(said.contains("cannot start threads") && said.contains("ulimit -u"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
