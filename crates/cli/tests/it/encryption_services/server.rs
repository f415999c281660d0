//! A server on loopback that keeps keys as the services do: what it seals is turned around.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value as Json, json};

/// A request to the server.
#[derive(Clone, Debug)]
pub struct Request {
    /// With the address before it, where a proxy is asked.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Answers until the process ends.
pub struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                std::thread::spawn(move || serve(stream, &noted));
            }
        });
        Self { port, seen }
    }

    /// Its address, by a name that vaults may have.
    pub fn address(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Requests so far, grouped by the start of their paths.
    pub fn requests(&self, path: &str) -> Vec<Request> {
        self.seen.lock().unwrap().iter().filter(|request| request.path.starts_with(path)).cloned().collect()
    }
}

fn serve(stream: TcpStream, noted: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(&stream);
    while let Some(request) = read(&mut reader) {
        noted.lock().unwrap().push(request.clone());
        let (status, body) = match credentials(&request).or_else(|| of_machine(&request)) {
            Some((status, body)) => (status, body),
            None => {
                let (status, body) = answer(&request);
                (status, body.to_string())
            }
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nX-Aws-Ec2-Metadata-Token-Ttl-Seconds: 21600\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if (&stream).write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let mut request = Request { path: words.nth(1)?, headers: Vec::new(), body: String::new() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        request.headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut body = vec![0; request.header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}

/// A key for data, which is the same each time: nobody sees it.
const KEY: [u8; 32] = *b"0123456789abcdefghijklmnopqrstuv";

fn answer(request: &Request) -> (&'static str, Json) {
    let refused = |why: Json| ("400 Bad Request", why);
    let body = request.json();
    match (request.path.as_str(), request.header("x-amz-target")) {
        ("/v1/my/transit/datakey/plaintext/the-key", _) if request.header("x-vault-token") != "s.token" => {
            refused(json!({ "errors": ["permission denied"] }))
        }
        ("/v1/my/transit/datakey/plaintext/the-key", _) => {
            let sealed = format!("vault:v1:{}", turned(&BASE64_STANDARD.encode(KEY)));
            fine(
                json!({ "data": { "plaintext": BASE64_STANDARD.encode(KEY), "ciphertext": sealed, "key_version": 1 } }),
            )
        }
        ("/v1/my/transit/decrypt/the-key", _) => {
            match body["ciphertext"].as_str().and_then(|text| text.strip_prefix("vault:v1:")) {
                Some(sealed) => fine(json!({ "data": { "plaintext": turned(sealed) } })),
                None => refused(json!({ "errors": ["invalid ciphertext"] })),
            }
        }
        (_, "TrentService.GenerateDataKey") if body["KeyId"] == "alias/none" => {
            refused(json!({ "__type": "NotFoundException", "message": "Alias alias/none is not found." }))
        }
        (_, "TrentService.GenerateDataKey") => fine(json!({
            "KeyId": body["KeyId"],
            "Plaintext": BASE64_STANDARD.encode(KEY),
            "CiphertextBlob": BASE64_STANDARD.encode(turned("the sealed key")),
        })),
        (_, "TrentService.Decrypt") => {
            let right = body["CiphertextBlob"] == BASE64_STANDARD.encode(turned("the sealed key"))
                && [&json!("mine"), &Json::Null].contains(&&body["EncryptionContext"]["Application"]);
            match right {
                true => fine(json!({ "KeyId": body["KeyId"], "Plaintext": BASE64_STANDARD.encode(KEY) })),
                false => refused(json!({ "__type": "InvalidCiphertextException" })),
            }
        }
        ("/google/projects/p/key:encrypt", _) => {
            fine(json!({ "name": "k", "ciphertext": turned_bytes(&body["plaintext"], &BASE64_STANDARD) }))
        }
        ("/google/projects/p/key:decrypt", _) => {
            fine(json!({ "plaintext": turned_bytes(&body["ciphertext"], &BASE64_STANDARD) }))
        }
        ("/google/sts", _)
            if ["subject_token=from+elsewhere", "subject_token=from%20elsewhere", "AWS4-HMAC-SHA256"]
                .iter()
                .any(|known| request.body.contains(known)) =>
        {
            fine(json!({ "access_token": "an exchanged token" }))
        }
        ("/google/impersonate", _) => fine(json!({ "accessToken": "a token for Google" })),
        ("/identity", _) => fine(json!({ "word": "from elsewhere" })),
        ("/metadata/endpoints?api-version=2022-09-01", _) => {
            let login = format!("http://{}/", request.header("host"));
            fine(json!({
                "authentication": { "loginEndpoint": login },
                "suffixes": { "keyVaultDns": "vault.azure.example", "mhsmDns": "hsm.azure.example" },
            }))
        }
        ("/google/token", _) => fine(json!({ "access_token": "a token for Google", "expires_in": 3599 })),
        ("/tenant/oauth2/v2.0/token", _) => fine(json!({ "access_token": "a token for Azure" })),
        (path, _) if path.starts_with("/keys/the-key/encrypt?api-version=") => {
            let kid = "https://localhost/keys/the-key/version7";
            fine(json!({ "kid": kid, "value": turned_bytes(&body["value"], &BASE64_URL_SAFE_NO_PAD) }))
        }
        (path, _) if path.starts_with("/keys/the-key/version7/decrypt?api-version=") => {
            fine(json!({ "value": turned_bytes(&body["value"], &BASE64_URL_SAFE_NO_PAD) }))
        }
        _ => ("404 Not Found", json!({ "error": { "message": "there is nothing here" } })),
    }
}

/// Answers of the Security Token Service.
fn credentials(request: &Request) -> Option<(&'static str, String)> {
    let action = request.body.strip_prefix("Action=")?.split('&').next()?;
    let keys = |id: &str| {
        format!(
            "<{action}Response><{action}Result><Credentials><AccessKeyId>{id}</AccessKeyId>\
             <SecretAccessKey>lent</SecretAccessKey><SessionToken>session {id}</SessionToken>\
             <Expiration>2199-01-01T00:00:00Z</Expiration></Credentials></{action}Result></{action}Response>"
        )
    };
    Some(match action {
        _ if request.body.contains("RoleArn=forbidden") => (
            "403 Forbidden",
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not &amp; never authorized</Message></Error></ErrorResponse>".to_owned(),
        ),
        "AssumeRole" => ("200 OK", keys("ROLE")),
        "AssumeRoleWithWebIdentity" => ("200 OK", keys("WEB")),
        "GetCallerIdentity" => ("200 OK", "<R><Arn>arn:aws:iam::111122223333:user/me</Arn><Account>111122223333</Account></R>".to_owned()),
        _ => return None,
    })
}

/// What machines and containers of AWS are reported.
fn of_machine(request: &Request) -> Option<(&'static str, String)> {
    let keys = |id: &str| {
        let keys = json!({
            "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": id, "SecretAccessKey": "hush",
            "Token": format!("session {id}"), "LastUpdated": "2020-01-01T00:00:00Z", "Expiration": "2199-01-01T00:00:00Z",
        });
        Some(("200 OK", keys.to_string()))
    };
    let may = request.header("x-aws-ec2-metadata-token") == "machine-token";
    match request.path.as_str() {
        "/latest/api/token" if !request.header("x-aws-ec2-metadata-token-ttl-seconds").is_empty() => {
            Some(("200 OK", "machine-token".to_owned()))
        }
        "/latest/meta-data/iam/security-credentials/" if may => Some(("200 OK", "the-role\n".to_owned())),
        "/latest/meta-data/iam/security-credentials/the-role" if may => keys("MACHINE"),
        "/latest/meta-data/placement/region" if may => Some(("200 OK", "us-west-2".to_owned())),
        path if path.starts_with("/latest/") && !may => Some(("401 Unauthorized", String::new())),
        "/container" if request.header("authorization") == "may" => keys("CONTAINER"),
        "/container" => Some(("403 Forbidden", json!({ "code": "x", "message": "not this one" }).to_string())),
        _ => None,
    }
}

fn fine(body: Json) -> (&'static str, Json) {
    ("200 OK", body)
}

fn turned(text: &str) -> String {
    text.chars().rev().collect()
}

fn turned_bytes(text: &Json, alphabet: &impl Engine) -> String {
    let mut bytes = alphabet.decode(text.as_str().unwrap_or_default()).unwrap_or_default();
    bytes.reverse();
    alphabet.encode(bytes)
}
