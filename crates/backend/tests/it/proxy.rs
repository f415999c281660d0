//! A proxy that breaks requests on purpose.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use super::web::{Request, response, serve};

/// The treatment of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server gets the request, and the client no answer.
    LostAnswer,
    /// The server gets nothing, and the client this answer.
    Answer(u16, &'static str),
}

type Rule = Box<dyn FnMut(&Request) -> Option<Fault> + Send>;

/// A proxy in front of a server on this machine. It sends one request after the other: the conditions of moto are checked and kept
/// in two steps, so that requests at the same time could overtake each other inside of it.
pub struct Proxy {
    pub port: u16,
    rule: Arc<Mutex<Rule>>,
}

impl Proxy {
    /// Starts a proxy that changes nothing yet.
    pub fn start(upstream: u16) -> Self {
        let rule: Arc<Mutex<Rule>> = Arc::new(Mutex::new(Box::new(|_: &Request| None)));
        let shared = Arc::clone(&rule);
        let turn = Mutex::new(());
        let port = serve(move |request| {
            let fault = (shared.lock().unwrap())(&request);
            let _turn = turn.lock().unwrap();
            match fault {
                Some(Fault::Answer(status, body)) => Some(response(status, body)),
                Some(Fault::LostAnswer) => forward(&request, upstream).and(None),
                None => forward(&request, upstream),
            }
        });
        Self { port, rule }
    }

    /// Breaks the requests for which `rule` returns a fault.
    pub fn break_if(&self, rule: impl FnMut(&Request) -> Option<Fault> + Send + 'static) {
        *self.rule.lock().unwrap() = Box::new(rule);
    }

    /// Breaks the next request with this method whose target contains `part`.
    pub fn break_next(&self, method: &'static str, part: &'static str, fault: Fault) {
        let mut fault = Some(fault);
        self.break_if(move |request| {
            let is_it = request.method == method && request.target.contains(part);
            if is_it { fault.take() } else { None }
        });
    }
}

/// Sends a request on and returns the answer.
pub fn forward(request: &Request, upstream: u16) -> Option<Vec<u8>> {
    let lines = request.headers.split_inclusive('\n');
    let headers: String = lines.filter(|line| !line.to_lowercase().starts_with("connection:")).collect();
    let head = format!("{} {} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n", request.method, request.target);
    let mut server = TcpStream::connect(("127.0.0.1", upstream)).ok()?;
    server.write_all(&[head.as_bytes(), &request.body].concat()).ok()?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok()?;
    Some(answer)
}
