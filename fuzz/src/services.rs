//! Answers of servers: registries, discovery, and services that keep keys.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, OnceLock, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_address::ProviderAddress;
use groma_cloud::Environment;
use groma_encryption::{ArgumentValue, ArgumentValues, KeyServices, SERVICES};
use groma_install::answers::{self, ResponseContext};
use groma_install::http::Url;
use groma_install::providers::{Location, PackageMeta, Platform};
use groma_key_services::CloudKeyServices;

/// A server on loopback that answers every request with the same status and bytes, but token requests with a token.
struct Server {
    url: String,
    answer: Mutex<(u16, Vec<u8>)>,
    /// Held by the target that decides about answers.
    turn: Mutex<()>,
}

impl Server {
    /// Returns the one server of this process.
    fn running() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<Server>> = OnceLock::new();
        let start = || {
            let listener = TcpListener::bind("127.0.0.1:0").ok()?;
            let url = format!("http://{}", listener.local_addr().ok()?);
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    std::thread::spawn(move || serve(&stream));
                }
            });
            Some(Server { url, answer: Mutex::new((200, Vec::new())), turn: Mutex::default() })
        };
        SERVER.get_or_init(start).as_ref()
    }

    fn answer_with(&self, status: u16, body: &[u8]) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = (status, body.to_vec());
    }
}

fn serve(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut target = String::new();
        if reader.read_line(&mut target).ok()? == 0 {
            return None;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        reader.read_exact(&mut vec![0; length]).ok()?;
        let (status, body) = if target.contains("/token ") {
            (200, br#"{"access_token":"t"}"#.to_vec())
        } else {
            Server::running()?.answer.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        let head = format!("HTTP/1.1 {status} Answer\r\ncontent-length: {}\r\n\r\n", body.len());
        let mut writer = stream;
        writer.write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}

type Argument = (String, ArgumentValue);

fn text(name: &str, value: &str) -> Argument {
    (name.to_owned(), ArgumentValue::String(value.to_owned()))
}

fn number(name: &str, value: i64) -> Argument {
    (name.to_owned(), ArgumentValue::Number(value))
}

/// Returns the arguments with which each service is asked at once.
fn direct(kind: &str, url: &str) -> Vec<Argument> {
    match kind {
        "aws_kms" => vec![
            text("kms_key_id", "k"),
            text("key_spec", "AES_256"),
            text("region", "eu-west-1"),
            text("access_key", "A"),
            text("secret_key", "s"),
            number("max_retries", 0),
        ],
        "gcp_kms" => {
            let user = format!(
                r#"{{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r","token_uri":"{url}/token"}}"#
            );
            vec![text("kms_encryption_key", "k"), number("key_length", 32), text("credentials", &user)]
        }
        "azure_vault" => [azure(url), vec![text("client_secret", "s")]].concat(),
        _ => vec![text("key_name", "k"), text("token", "t"), text("address", url)],
    }
}

fn azure(url: &str) -> Vec<Argument> {
    vec![
        text("vault_uri", url),
        text("vault_key_name", "k"),
        text("tenant_id", "t"),
        text("client_id", "c"),
        number("key_length", 32),
    ]
}

/// Returns the arguments with which something else has to be asked or read first: a role, another identity provider, a
/// certificate.
fn indirect(bytes: &[u8], url: &str) -> [(&'static str, Vec<Argument>); 3] {
    let role = ArgumentValue::Object(ArgumentValues::from_iter([text("role_arn", "r")]));
    let role = [direct("aws_kms", url), vec![("assume_role".to_owned(), role)]].concat();
    let federation = format!(
        r#"{{"type":"external_account","audience":"a","subject_token_type":"t","token_url":"{url}/exchange",
        "credential_source":{{"url":"{url}/identity","format":{{"type":"json"}}}}}}"#
    );
    let google = vec![text("kms_encryption_key", "k"), number("key_length", 32), text("credentials", &federation)];
    let certificate = [azure(url), vec![text("client_certificate", &BASE64_STANDARD.encode(bytes))]].concat();
    [("aws_kms", role), ("gcp_kms", google), ("azure_vault", certificate)]
}

/// Every answer is a key or an error, all metadata leads to a key or to none; metadata of new keys can be stored.
pub fn key_services(bytes: &[u8]) {
    let Some(server) = Server::running() else { return };
    let _turn = server.turn.lock().unwrap_or_else(PoisonError::into_inner);
    let url = &server.url;
    let environment = Environment::default()
        .with("AWS_EC2_METADATA_DISABLED", "true")
        .with("AWS_ENDPOINT_URL", url)
        .with("AZURE_AUTHORITY_HOST", url)
        .with("GOOGLE_KMS_CUSTOM_ENDPOINT", url);
    let services = CloudKeyServices::new(environment);
    let cases: Vec<_> =
        SERVICES.map(|kind| (kind, direct(kind, url))).into_iter().chain(indirect(bytes, url)).collect();
    // Each case costs requests on a port, so an input is one case, which its length chooses.
    let count = cases.len();
    let status = if (bytes.len() / count).is_multiple_of(3) { 400 } else { 200 };
    let Some((kind, arguments)) = cases.into_iter().nth(bytes.len() % count) else { return };
    server.answer_with(status, bytes);
    let service = services.open(kind, &arguments.into_iter().collect());
    let service = service.unwrap_or_else(|problem| panic!("{kind}: {problem}"));
    let _ = service.recover(Some(bytes));
    let made = service.generate();
    assert!(status == 200 || made.is_err(), "{kind}");
    let Ok(made) = made else { return };
    assert!(made.metadata.starts_with(b"{") && made.metadata.ends_with(b"}"), "{kind}");
    let _ = service.recover(Some(&made.metadata));
}

fn asked() -> Option<&'static ResponseContext> {
    static ASKED: OnceLock<Option<ResponseContext>> = OnceLock::new();
    let made = || {
        Some(ResponseContext {
            url: Url::parse("https://registry.example.com/v1/providers/a/b/versions").ok()?,
            provider: ProviderAddress::default_for("example"),
            version: "1.2.3".parse().ok()?,
            platform: Platform::current(),
        })
    };
    ASKED.get_or_init(made).as_ref()
}

/// Every answer is read or refused. Whoever answers has several documents to say it with, a line with a form feed between them.
pub fn answers(bytes: &[u8]) {
    let Some(asked) = asked() else { return };
    let mut parts = bytes.split(|byte| *byte == b'\x0c');
    let mut part = || parts.next().unwrap_or_default();
    let (first, second, third) = (part(), part(), part());
    if let Ok(services) = asked.services(first) {
        for name in ["providers.v1", "modules.v1", "login.v1"] {
            let _ = services.url(name);
            let _ = services.object(name);
        }
    }
    let _ = asked.provider_versions(first);
    let _ = asked.mirror_versions(first);
    let _ = answers::module_versions(first);
    let _ = answers::oci_tags(first);
    for wanted in ["application/vnd.opentofu.provider-target", "application/vnd.opentofu.modulepkg"] {
        let _ = answers::oci_archive(first, wanted);
    }
    if let Some(place) = answers::oci_token_url(super::text(first)) {
        assert_eq!(place.scheme(), "https", "a password goes there");
    }
    // Registries have to name a signature for a package.
    assert!(asked.provider_package(first, second, third).is_err());
    asked.mirror_package(first).into_iter().for_each(|package| package_meta(&package));
    for package in [asked.module_package(first), asked.page_package(super::text(first))].into_iter().flatten() {
        assert!(!package.address.is_empty());
    }
    for (name, sum) in answers::sums(first).into_iter().flatten() {
        assert!(sum.len() == 64 && !name.contains('\n'));
    }
}

/// Nothing that a mirror says makes a name of a file that leads elsewhere.
fn package_meta(package: &PackageMeta) {
    if let Location::Download { filename, .. } = &package.location {
        assert!(!filename.contains('/'), "{filename}");
    }
}
