//! Measurement of remote states over the backend `http`: a large one, read and written, and one of many objects over a slow store.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::measure::{Cost, measure};
use super::table::seconds;

/// The size of the state.
const BYTES: usize = 100_000_000;

/// The size of the text in each object.
const TEXT: usize = 12_000;

/// The number of objects in a state over a slow store.
const OBJECTS: usize = 1_000;

/// The time until that store answers a request.
const LATENCY: Duration = Duration::from_millis(30);

/// Measures commands that read a state, and that write it, too; returns a line for each.
///
/// # Errors
///
/// A command fails, or the server cannot be started.
pub fn lines(groma: &Path, runs: usize) -> Result<Vec<String>, String> {
    let state = state();
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let size = state.len() as f64;
    let mut lines = Vec::new();
    for (name, arguments) in
        [("state pull", &["state", "pull"][..]), ("state rm", &["state", "rm", "-no-color", "terraform_data.big[0]"])]
    {
        // The least cost is that of the run that other programs have disturbed least.
        let mut cost = once(groma, &state, arguments)?;
        for _ in 1..runs {
            cost = cost.min(once(groma, &state, arguments)?);
        }
        lines.push(format!(
            "`{name}` of a remote state of {:.0} MB: {} s, CPU {} s, peak {:.0} MB, {:.1} times the size",
            size / 1e6,
            seconds(cost.wall),
            seconds(cost.cpu),
            cost.peak / 1e6,
            cost.peak / size
        ));
    }
    lines.extend(slow_store(groma)?);
    Ok(lines)
}

/// Measures runs over a store that answers late, and counts their requests.
fn slow_store(groma: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("cannot serve a state: {error}");
    let folder = tempfile::tempdir().map_err(failed)?;
    let store = Store::serve(Vec::new(), LATENCY).map_err(failed)?;
    let address = format!("http://127.0.0.1:{}", store.port);
    let backend = format!(
        "terraform {{\n  backend \"http\" {{\n    address        = \"{address}/\"\n    lock_address   = \"{address}/lock\"\n    \
         unlock_address = \"{address}/lock\"\n  }}\n}}\n"
    );
    let resources = format!("resource \"terraform_data\" \"it\" {{\n  count = {OBJECTS}\n  input = count.index\n}}\n");
    let configure = |text: String| std::fs::write(folder.path().join("main.tf"), text).map_err(failed);
    let run = |arguments: &[&str]| measure(groma, arguments, folder.path());
    configure(resources.clone())?;
    run(&["init", "-input=false"])?;
    let (apply, plan) = (run(&["apply", "-auto-approve"])?, run(&["plan"])?);
    for file in ["terraform.tfstate", ".terraform.lock.hcl"] {
        // Without a state there is nothing to migrate. There may be no lock file.
        let _ = std::fs::remove_file(folder.path().join(file));
    }
    configure(format!("{backend}{resources}"))?;
    run(&["init", "-input=false"])?;
    let line = |name: &str, local: Cost, arguments: &[&str]| {
        store.take_requests();
        let remote = run(arguments)?;
        Ok::<_, String>(format!(
            "`{name}` of {OBJECTS} objects over a store that answers after {} ms: {} s, {} s with a local state, {} requests",
            LATENCY.as_millis(),
            seconds(remote.wall),
            seconds(local.wall),
            store.take_requests()
        ))
    };
    let apply = line("apply", apply, &["apply", "-auto-approve"])?;
    let plan = line("plan", plan, &["plan"])?;
    Ok(vec![apply, plan])
}

fn once(groma: &Path, state: &[u8], arguments: &[&str]) -> Result<Cost, String> {
    let failed = |error: std::io::Error| format!("cannot serve a state: {error}");
    let folder = tempfile::tempdir().map_err(failed)?;
    // A server for each run, because a write changes the state.
    let store = Store::serve(state.to_vec(), Duration::ZERO).map_err(failed)?;
    let configuration =
        format!("terraform {{\n  backend \"http\" {{\n    address = \"http://127.0.0.1:{}/\"\n  }}\n}}\n", store.port);
    std::fs::write(folder.path().join("main.tf"), configuration).map_err(failed)?;
    measure(groma, &["init", "-input=false", "-no-color"], folder.path())?;
    measure(groma, arguments, folder.path())
}

fn state() -> Vec<u8> {
    let mut text = String::from(
        "{\n  \"version\": 4,\n  \"terraform_version\": \"1.15.5\",\n  \"serial\": 1,\n  \"lineage\": \"large\",\n  \"outputs\": {},\n  \
         \"resources\": [\n    {\n      \"mode\": \"managed\",\n      \"type\": \"terraform_data\",\n      \"name\": \"big\",\n      \
         \"provider\": \"provider[\\\"terraform.io/builtin/terraform\\\"]\",\n      \"instances\": [",
    );
    let filling = "x".repeat(TEXT);
    for number in 0..BYTES / TEXT {
        let comma = if number == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{comma}\n        {{\n          \"index_key\": {number},\n          \"schema_version\": 0,\n          \"attributes\": {{\n            \
             \"id\": \"{number}\",\n            \"input\": {{\n              \"value\": \"{filling}\",\n              \"type\": \
             \"string\"\n            }}\n          }},\n          \"sensitive_attributes\": []\n        }}"
        );
    }
    text.push_str("\n      ]\n    }\n  ],\n  \"check_results\": null\n}\n");
    text.into_bytes()
}

/// A server of one state, until the program ends.
struct Store {
    port: u16,
    content: Arc<Content>,
}

struct Content {
    state: Mutex<Vec<u8>>,
    requests: AtomicUsize,
    latency: Duration,
}

impl Store {
    fn serve(state: Vec<u8>, latency: Duration) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let content = Arc::new(Content { state: Mutex::new(state), requests: AtomicUsize::new(0), latency });
        let served = Arc::clone(&content);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let content = Arc::clone(&served);
                // A client that is gone needs no answer.
                thread::spawn(move || drop(content.answer(stream)));
            }
        });
        Ok(Self { port, content })
    }

    /// Returns the number of requests since the last call.
    fn take_requests(&self) -> usize {
        self.content.requests.swap(0, Ordering::Relaxed)
    }
}

impl Content {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut first = String::new();
        reader.read_line(&mut first)?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        thread::sleep(self.latency);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (status, answer): (&str, &[u8]) = match first.split(' ').next() {
            Some("GET") if state.is_empty() => ("404 Not Found", &[]),
            Some("GET") => ("200 OK", &state),
            Some("POST") => {
                *state = body;
                ("200 OK", &[])
            }
            _ => ("200 OK", &[]),
        };
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len())?;
        stream.write_all(answer)
    }
}
