//! Arguments and environment variables of `consul`.

use std::sync::LazyLock;

use groma_value::Type;
use reqwest::Url;

use super::api::{Api, Credentials};
use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Argument, BackendSchema, Settings};
use crate::stores::requests::{self, TlsArguments, TlsSettings, Verification};

pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name| Argument::optional(name, Type::String);
        BackendSchema::new([
            Argument::required("path", Type::String),
            text("access_token").env(&["CONSUL_HTTP_TOKEN"]).sensitive(),
            text("address").env(&["CONSUL_HTTP_ADDR"]),
            text("scheme"),
            text("datacenter"),
            text("http_auth").env(&["CONSUL_HTTP_AUTH"]).sensitive(),
            Argument::optional("gzip", Type::Bool).default("false"),
            Argument::optional("lock", Type::Bool).default("true"),
            text("ca_file").env(&["CONSUL_CACERT"]),
            text("cert_file").env(&["CONSUL_CLIENT_CERT"]),
            text("key_file").env(&["CONSUL_CLIENT_KEY"]),
        ])
    });
    &SCHEMA
}

/// Creates the client of the server that the settings name.
pub(super) fn api(settings: &Settings, host: &Host) -> Result<Api, StoreError> {
    let environment = &host.environment;
    let tls = TlsSettings {
        authorities: file(settings, "ca_file")?,
        identity: identity(settings)?,
        verification: match environment.get("CONSUL_HTTP_SSL_VERIFY").as_deref().map(is_true) {
            Some(false) => Verification::Skipped,
            _ => Verification::Required,
        },
    };
    let arguments = TlsArguments { authorities: "ca_file", identity: "cert_file" };
    let token = match settings.text("access_token") {
        Some(token) => Some(token.to_owned()),
        None => environment.get("CONSUL_HTTP_TOKEN_FILE").map(|path| token_file(&path)).transpose()?,
    };
    let auth = settings.text("http_auth").map(|auth| match auth.split_once(':') {
        Some((user, password)) => (user.to_owned(), Some(password.to_owned())),
        None => (auth.to_owned(), None),
    });
    let query = [
        ("dc", settings.text("datacenter").map(str::to_owned)),
        ("ns", environment.get("CONSUL_NAMESPACE")),
        ("partition", environment.get("CONSUL_PARTITION")),
    ];
    let query = query.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let client = requests::client(host, &tls, arguments)?;
    let path = settings.required("path").to_owned();
    Ok(Api::new(client, base(settings, host)?, Credentials { token, auth, path, query }))
}

fn base(settings: &Settings, host: &Host) -> Result<Url, StoreError> {
    let address = settings.text("address").unwrap_or("127.0.0.1:8500");
    let invalid = |reason: String| StoreError::InvalidArgument { argument: "address".to_owned(), reason };
    let (own, address) = match address.split_once("://") {
        Some(("unix", _)) => return Err(invalid("Unix sockets are not supported; use a TCP address".to_owned())),
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, address),
    };
    let by_environment = host.environment.get("CONSUL_HTTP_SSL").as_deref().is_some_and(is_true).then_some("https");
    let scheme = settings.text("scheme").or(own).or(by_environment).unwrap_or("http");
    if !matches!(scheme, "http" | "https") {
        let reason = format!("it must be http or https, not {scheme:?}");
        return Err(StoreError::InvalidArgument { argument: "scheme".to_owned(), reason });
    }
    Url::parse(&format!("{scheme}://{address}")).map_err(|problem| invalid(problem.to_string()))
}

fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "true" | "TRUE" | "True")
}

fn file(settings: &Settings, argument: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(path) = settings.text(argument) else { return Ok(None) };
    std::fs::read(path).map(Some).map_err(|problem| StoreError::InvalidArgument {
        argument: argument.to_owned(),
        reason: format!("{path} cannot be read: {}", groma_diagnostics::io_reason(&problem)),
    })
}

fn identity(settings: &Settings) -> Result<Option<Vec<u8>>, StoreError> {
    match (file(settings, "cert_file")?, file(settings, "key_file")?) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => Ok(Some([certificate, b"\n".to_vec(), key].concat())),
        (certificate, _) => Err(StoreError::InvalidArgument {
            argument: if certificate.is_some() { "key_file" } else { "cert_file" }.to_owned(),
            reason: "cert_file and key_file must be set together".to_owned(),
        }),
    }
}

fn token_file(path: &str) -> Result<String, StoreError> {
    let text = std::fs::read_to_string(path).map_err(|problem| StoreError::InvalidArgument {
        argument: "access_token".to_owned(),
        reason: format!(
            "the file {path} of CONSUL_HTTP_TOKEN_FILE cannot be read: {}",
            groma_diagnostics::io_reason(&problem)
        ),
    })?;
    Ok(text.trim().to_owned())
}
