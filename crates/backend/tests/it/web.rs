//! HTTP requests, for servers of the tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

/// A received request.
pub struct Request {
    pub method: String,
    /// The path with the query, as it was sent.
    pub target: String,
    /// The lines of the headers.
    pub headers: String,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Serves connections on a free port for the rest of the test; returns the port. Without an answer, the connection is
/// closed as if the network had failed.
pub fn serve(answer: impl Fn(Request) -> Option<Vec<u8>> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let bytes = read(&stream).and_then(|request| answer(request));
                if let Some(bytes) = bytes {
                    let _ = stream.write_all(&bytes);
                }
            });
        }
    });
    port
}

/// Returns the bytes of a response.
pub fn response(status: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n");
    format!("{head}Connection: close\r\n\r\n{body}").into_bytes()
}

/// Reads a request.
pub fn read(stream: impl Read) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = String::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim_end().is_empty() {
            break;
        }
        headers.push_str(&header);
    }
    let mut request = Request { method, target, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

/// Decodes the percent signs of a query.
pub fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digits: String = if byte == b'%' { rest.by_ref().take(2).map(char::from).collect() } else { String::new() };
        bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(byte));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
