//! Servers that the tests start.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that ends with the test executable.
///
/// A shell waits for the end of its standard input, which the test executable holds, and ends the server then. So a server
/// can serve all tests, although nothing is dropped at the end of the executable.
pub struct Server {
    pub port: u16,
    _shell: Child,
}

impl Server {
    /// Starts a program and waits until it listens; `None` if it is not installed.
    pub fn start(
        program: &str,
        variables: &[(&str, &str)],
        arguments: impl FnOnce(u16) -> Vec<String>,
    ) -> Option<Self> {
        if !is_installed(program) {
            return None;
        }
        let port = free_port();
        // Asked to end, kube-apiserver would wait for etcd, which is gone by then.
        let script = "program=$1; shift; \"$program\" \"$@\" & server=$!; cat > /dev/null; kill -KILL $server";
        let mut shell = Command::new("sh")
            .args(["-c", script, "sh", program])
            .args(arguments(port))
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(120), "{program} does not start");
            assert!(shell.try_wait().unwrap().is_none(), "{program} ends at once");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(Self { port, _shell: shell })
    }
}

/// Returns a port that no server uses now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return std::path::Path::new(program).exists();
    }
    let found = Command::new("sh").args(["-c", "command -v \"$0\" > /dev/null", program]).status();
    found.is_ok_and(|status| status.success())
}
