//! A web server on loopback with fixed answers.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a path is answered with.
pub struct Answer {
    headers: Vec<(&'static str, &'static str)>,
    body: Vec<u8>,
}

impl Answer {
    pub fn ok(body: Vec<u8>) -> Self {
        Self { headers: Vec::new(), body }
    }

    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// Answers until the process ends.
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    headers: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(answers: Vec<(&'static str, Answer)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let answers: HashMap<_, _> = answers.into_iter().collect();
        let seen = Arc::clone(&requests);
        let headers = Arc::new(Mutex::new(Vec::new()));
        let observed = Arc::clone(&headers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &answers, &seen, &observed);
            }
        });
        Self { address, requests, headers }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The lines of all requests that say who asks.
    pub fn credentials(&self) -> Vec<String> {
        self.headers.lock().unwrap().clone()
    }

    /// The paths that were asked for.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    stream: TcpStream,
    answers: &HashMap<&str, Answer>,
    seen: &Mutex<Vec<String>>,
    observed: &Mutex<Vec<String>>,
) {
    let mut lines = BufReader::new(&stream).lines();
    let Some(Ok(first)) = lines.next() else { return };
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        // The headers that identify the client.
        if ["authorization:", "x-amz-"].iter().any(|name| line.to_lowercase().starts_with(name)) {
            observed.lock().unwrap().push(line);
        }
    }
    let target = first.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default();
    seen.lock().unwrap().push(path.to_owned());
    let mut text = match answers.get(path) {
        Some(_) => "HTTP/1.1 200 OK\r\n".to_owned(),
        None => "HTTP/1.1 404 Not Found\r\n".to_owned(),
    };
    let body = answers.get(path).map(|answer| &*answer.body).unwrap_or_default();
    for (name, value) in answers.get(path).map(|answer| &*answer.headers).unwrap_or_default() {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    // One request per connection keeps the server simple.
    text.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len()));
    let mut stream = &stream;
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.write_all(body));
}
