//! HTTP servers on loopback that stand for services, and record what they are asked.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it; a test that fails may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as the double received it.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// The answer of a double.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

pub fn ok(body: impl Into<String>) -> Answer {
    status(200, body)
}

pub fn status(status: u16, body: impl Into<String>) -> Answer {
    Answer { status, headers: Vec::new(), body: body.into() }
}

impl Answer {
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The access key ID in the signature.
    pub fn key_id(&self) -> Option<&str> {
        self.header("authorization")?.split_once("Credential=")?.1.split('/').next()
    }
}

/// A running double.
pub struct Double {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Double {
    /// Starts a server that answers with `handler`, which also gets the number of the request, from 0.
    pub fn start(handler: impl Fn(&Received, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        let handler = Arc::new(handler);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, handler) = (kept.clone(), handler.clone());
                // A thread for each connection, because clients keep their connections open.
                std::thread::spawn(move || serve(stream.unwrap(), &kept, &*handler));
            }
        });
        Self { url, received }
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Received>>, handler: &(impl Fn(&Received, usize) -> Answer + ?Sized)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let mut words = line.split_whitespace();
        let (method, target) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let mut received = Received { method, target, headers, body: String::new() };
        let length = received.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        received.body = String::from_utf8_lossy(&body).into_owned();
        // Recorded before the handler runs, so that tests see a request whose handling panics.
        let number = {
            let mut kept = kept.lock().unwrap();
            kept.push(received.clone());
            kept.len() - 1
        };
        let answer = handler(&received, number);
        let mut head = format!("HTTP/1.1 {} Answer\r\ncontent-length: {}\r\n", answer.status, answer.body.len());
        for (name, value) in &answer.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if stream.write_all(format!("{head}\r\n{}", answer.body).as_bytes()).is_err() {
            return;
        }
    }
}
