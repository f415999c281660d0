//! A proxy for programs that only know the real addresses of services: it ends TLS with its own certificate, and sends
//! requests to a server on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::proxy::forward;
use super::web::read;

/// A running proxy.
pub struct TlsProxy {
    pub port: u16,
}

impl TlsProxy {
    /// Starts a proxy for `host`, whose certificate is written to `certificate`.
    pub fn start(host: &str, upstream: u16, certificate: &Path) -> Self {
        let (config, pem) = self_signed(host);
        std::fs::write(certificate, pem).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let config = Arc::clone(&config);
                thread::spawn(move || serve(stream, config, upstream));
            }
        });
        Self { port }
    }
}

/// Makes a certificate for `host`, signed with its own key; returns the configuration of a server and the certificate.
pub fn self_signed(host: &str) -> (Arc<ServerConfig>, String) {
    let made = rcgen::generate_simple_self_signed([host.to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    (Arc::new(config), made.cert.pem())
}

fn serve(mut stream: TcpStream, config: Arc<ServerConfig>, upstream: u16) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim_end().is_empty() {
            break;
        }
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    let mut stream = StreamOwned::new(ServerConnection::new(config).ok()?, stream);
    let request = read(Read::by_ref(&mut stream))?;
    let answer = forward(&request, upstream)?;
    stream.write_all(&answer).ok()?;
    stream.conn.send_close_notify();
    stream.flush().ok()
}
