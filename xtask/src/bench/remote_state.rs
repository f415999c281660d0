//! Measurement of a large remote state: read, and read and written, over the backend `http`.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::measure::{Cost, measure};
use super::table::seconds;

/// The size of the state.
const BYTES: usize = 100_000_000;

/// The size of the text in each object.
const TEXT: usize = 12_000;

/// Measures commands that read the state, and that write it, too; returns a line for each.
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
    Ok(lines)
}

fn once(groma: &Path, state: &[u8], arguments: &[&str]) -> Result<Cost, String> {
    let failed = |error: std::io::Error| format!("cannot serve a state: {error}");
    let folder = tempfile::tempdir().map_err(failed)?;
    // A server for each run, because a write changes the state.
    let port = serve(state.to_vec()).map_err(failed)?;
    let configuration =
        format!("terraform {{\n  backend \"http\" {{\n    address = \"http://127.0.0.1:{port}/\"\n  }}\n}}\n");
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

/// Serves a state that can be read and replaced, until the program ends.
fn serve(state: Vec<u8>) -> std::io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let stored = Arc::new(Mutex::new(state));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let stored = Arc::clone(&stored);
            // A client that is gone needs no answer.
            thread::spawn(move || drop(answer(stream, &stored)));
        }
    });
    Ok(port)
}

fn answer(mut stream: TcpStream, stored: &Mutex<Vec<u8>>) -> std::io::Result<()> {
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
    let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
    let answer: &[u8] = if first.starts_with("GET") {
        &stored
    } else {
        *stored = body;
        &[]
    };
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len())?;
    stream.write_all(answer)
}
