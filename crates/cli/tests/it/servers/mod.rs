//! The program against servers on loopback, which speak TLS with a certificate of their own authority: login, and mirrors that fail,
//! are slow or redirect.

mod login;
mod mirror;
mod oci;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request of a browser or of the program.
#[derive(Clone, Debug)]
pub struct Request {
    pub path: String,
    pub host: String,
    pub token: Option<String>,
    pub body: String,
}

/// An answer: a status, further header lines, a body of which the last bytes may be missing.
pub struct Answer {
    pub status: &'static str,
    pub headers: Vec<String>,
    pub body: Vec<u8>,
    pub missing: usize,
}

impl Answer {
    pub fn json(body: &str) -> Self {
        Self {
            status: "200 OK",
            headers: vec!["Content-Type: application/json".to_owned()],
            body: body.into(),
            missing: 0,
        }
    }

    pub fn bytes(body: Vec<u8>) -> Self {
        Self { status: "200 OK", headers: Vec::new(), body, missing: 0 }
    }

    pub fn status(status: &'static str) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), missing: 0 }
    }
}

type Handler = dyn Fn(&Request) -> Answer + Send + Sync;

/// Answers until the process ends.
pub struct Server {
    port: u16,
    authority: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub fn start(handler: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let (config, authority) = tls();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (noted, handler, config): (_, Arc<Handler>, _) = (Arc::clone(&seen), Arc::new(handler), Arc::new(config));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, handler, config) = (Arc::clone(&noted), Arc::clone(&handler), Arc::clone(&config));
                std::thread::spawn(move || serve(stream, config, &noted, &*handler));
            }
        });
        Self { port, authority, seen }
    }

    /// The host's name with its port.
    pub fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// Writes the authority's certificate.
    pub fn write_authority(&self, path: &Path) {
        std::fs::write(path, &self.authority).unwrap();
    }

    /// The requests for a path.
    pub fn requests(&self, path: &str) -> Vec<Request> {
        self.seen.lock().unwrap().iter().filter(|request| request.path == path).cloned().collect()
    }
}

fn tls() -> (ServerConfig, String) {
    let key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = authority.self_signed(&key).unwrap().pem();
    let own = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&own, &Issuer::new(authority, key)).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let private = PrivateKeyDer::try_from(own.serialize_der()).unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], private).unwrap();
    (config, pem)
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, noted: &Mutex<Vec<Request>>, handler: &Handler) {
    let mut tls = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    // A client that does not trust the certificate closes the connection.
    let Some(request) = read(&mut tls) else { return };
    noted.lock().unwrap().push(request.clone());
    let answer = handler(&request);
    let headers: String = answer.headers.iter().map(|line| format!("{line}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        answer.status,
        answer.body.len() + answer.missing
    );
    let _ = tls.write_all(head.as_bytes()).and_then(|()| tls.write_all(&answer.body)).and_then(|()| tls.flush());
    tls.conn.send_close_notify();
    let _ = tls.flush();
}

fn read(tls: &mut StreamOwned<ServerConnection, TcpStream>) -> Option<Request> {
    let mut reader = BufReader::new(tls);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let target = first.split(' ').nth(1)?.to_owned();
    let mut request =
        Request { path: target.split('?').next()?.to_owned(), host: String::new(), token: None, body: String::new() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match &name.to_ascii_lowercase()[..] {
            "content-length" => length = value.parse().ok()?,
            "host" => request.host = value.to_owned(),
            "authorization" => request.token = value.strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}
