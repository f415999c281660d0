//! The connection string of `pg`, completed by the environment variables of libpq.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host as ServerHost, SslMode};

use super::tls::TlsMode;
use crate::error::StoreError;
use crate::host::{Environment, Host};
use crate::schema::Settings;

/// Firewalls cut idle connections after some minutes.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// The server and the TLS settings of its connections.
pub(super) struct Target {
    pub config: Config,
    pub tls: TlsMode,
    /// The certificate authorities that the server's certificate is checked against; those of the system without a file.
    pub authorities: Option<PathBuf>,
    /// The client's certificate and private key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// Options of libpq that the driver does not know, taken out of the connection string.
#[derive(Default)]
struct SslOptions {
    mode: Option<String>,
    root_certificate: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

impl Target {
    /// Reads the argument `conn_str`; what it leaves out comes from variables such as `PGHOST`.
    pub fn new(settings: &Settings, host: &Host) -> Result<Self, StoreError> {
        let environment = &host.environment;
        let text = settings.text("conn_str").unwrap_or_default();
        let (text, mut ssl) = without_ssl_options(text);
        let mut config: Config = text.parse().map_err(|problem: tokio_postgres::Error| {
            // The text of the error does not repeat the connection string.
            invalid("conn_str", problem.to_string())
        })?;
        complete(&mut config, environment, host)?;
        ssl.mode = ssl.mode.or_else(|| environment.get("PGSSLMODE"));
        ssl.root_certificate = ssl.root_certificate.or_else(|| environment.get("PGSSLROOTCERT"));
        ssl.certificate = ssl.certificate.or_else(|| environment.get("PGSSLCERT"));
        ssl.key = ssl.key.or_else(|| environment.get("PGSSLKEY"));
        let authorities = ssl.root_certificate.filter(|path| path != "system").map(PathBuf::from);
        // Terraform's and OpenTofu's driver requires TLS unless told otherwise, and checks nothing without a root certificate.
        let tls = match ssl.mode.as_deref().unwrap_or("require") {
            "disable" => TlsMode::Off,
            "allow" | "prefer" => TlsMode::Preferred,
            "require" if authorities.is_none() => TlsMode::Unverified,
            "require" | "verify-ca" => TlsMode::VerifyAuthority,
            "verify-full" => TlsMode::VerifyFull,
            other => {
                let known = "disable, prefer, require, verify-ca or verify-full";
                return Err(invalid("conn_str", format!("sslmode must be {known}, not {other:?}")));
            }
        };
        config.ssl_mode(match tls {
            TlsMode::Off => SslMode::Disable,
            TlsMode::Preferred => SslMode::Prefer,
            _ => SslMode::Require,
        });
        config.keepalives(true).keepalives_idle(KEEPALIVE);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(KEEPALIVE);
        }
        let identity = ssl.certificate.zip(ssl.key).map(|(certificate, key)| (certificate.into(), key.into()));
        Ok(Self { config, tls, authorities, identity })
    }

    /// Returns the server and the database for messages, without user and password.
    pub fn shown(&self) -> String {
        let host = match self.config.get_hosts().first() {
            Some(ServerHost::Tcp(name)) => name.clone(),
            #[cfg(unix)]
            Some(ServerHost::Unix(path)) => path.display().to_string(),
            None => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        format!("postgres://{host}:{port}/{}", self.config.get_dbname().unwrap_or_default())
    }
}

fn invalid(argument: &str, reason: String) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason }
}

fn complete(config: &mut Config, environment: &Environment, host: &Host) -> Result<(), StoreError> {
    if config.get_hosts().is_empty() {
        config.host(environment.get("PGHOST").unwrap_or_else(|| "localhost".to_owned()));
    }
    if config.get_ports().is_empty()
        && let Some(port) = environment.get("PGPORT")
    {
        config.port(port.parse().map_err(|_| invalid("conn_str", "PGPORT is not a port number".to_owned()))?);
    }
    if config.get_user().is_none() {
        let user = environment.get("PGUSER").or_else(|| environment.get("USER"));
        // The home directory is named after the user on most systems.
        let home = || host.home.as_ref()?.file_name()?.to_str().map(str::to_owned);
        if let Some(user) = user.or_else(home) {
            config.user(user);
        }
    }
    if config.get_password().is_none()
        && let Some(password) = environment.get("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_dbname().is_none() {
        let name = environment.get("PGDATABASE").or_else(|| config.get_user().map(str::to_owned));
        if let Some(name) = name {
            config.dbname(name);
        }
    }
    if config.get_connect_timeout().is_none()
        && let Some(seconds) = environment.get("PGCONNECT_TIMEOUT").and_then(|text| text.parse().ok())
    {
        config.connect_timeout(Duration::from_secs(seconds));
    }
    Ok(())
}

/// Takes the TLS options out of a connection string: a URL, or `key=value` pairs.
fn without_ssl_options(text: &str) -> (String, SslOptions) {
    let mut options = SslOptions::default();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        let Some((base, query)) = text.split_once('?') else { return (text.to_owned(), options) };
        let kept: Vec<&str> = query
            .split('&')
            .filter(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                !options.take(name, &percent_decoded(value))
            })
            .collect();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        return (format!("{base}{query}"), options);
    }
    let mut kept = Vec::new();
    for pair in pairs(text) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !options.take(name.trim(), value.trim().trim_matches('\'')) {
            kept.push(pair);
        }
    }
    (kept.join(" "), options)
}

impl SslOptions {
    /// Takes an option that the driver does not know; returns whether it is one.
    fn take(&mut self, name: &str, value: &str) -> bool {
        let slot = match name {
            "sslmode" => &mut self.mode,
            "sslrootcert" => &mut self.root_certificate,
            "sslcert" => &mut self.certificate,
            "sslkey" => &mut self.key,
            // Lib/pq knows these; they have no equivalent here and no effect on what is stored.
            "fallback_application_name" | "sslinline" | "sslsni" | "binary_parameters" => return true,
            _ => return false,
        };
        *slot = Some(value.to_owned()).filter(|value| !value.is_empty());
        true
    }
}

/// Splits `key=value` pairs at spaces outside of quotes.
fn pairs(text: &str) -> Vec<&str> {
    let (mut pairs, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (index, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\'' => is_quoted = !is_quoted,
            ' ' | '\t' | '\n' if !is_quoted => {
                pairs.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    pairs.push(&text[start..]);
    pairs.retain(|pair| !pair.trim().is_empty());
    pairs
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while let Some(&byte) = bytes.get(index) {
        let code = text.get(index + 1..index + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(|_| byte == b'%') {
            Some(code) => {
                decoded.push(code);
                index += 3;
            }
            None => {
                decoded.push(byte);
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use groma_value::Value;

    use super::*;

    fn target(conn_str: &str, variables: &[(&'static str, &str)]) -> Result<Target, StoreError> {
        let environment = Environment::of(variables.iter().copied());
        let schema = super::super::schema();
        let config = schema.conform(&Value::object([("conn_str", Value::string(conn_str))])).unwrap();
        let settings = schema.resolve(&config, &environment).unwrap();
        Target::new(&settings, &Host { environment, ..Host::default() })
    }

    #[test]
    fn both_forms_of_connection_strings_are_read() {
        let url =
            target("postgres://u:p@h:1/d?sslmode=verify-full&sslrootcert=%2Fca.pem&application_name=x", &[]).unwrap();
        assert_eq!(url.shown(), "postgres://h:1/d");
        assert_eq!((url.tls, url.authorities.as_deref()), (TlsMode::VerifyFull, Some("/ca.pem".as_ref())));
        assert_eq!(url.config.get_application_name(), Some("x"));
        let pairs = target("host=h password='a b' sslmode=disable dbname=d", &[]).unwrap();
        assert_eq!((pairs.tls, pairs.config.get_password()), (TlsMode::Off, Some(&b"a b"[..])));
    }

    #[test]
    fn variables_complete_the_connection_string() {
        let variables =
            [("PGHOST", "h"), ("PGPORT", "7"), ("PGUSER", "u"), ("PGPASSWORD", "p"), ("PGSSLMODE", "disable")];
        let target = target("", &variables).unwrap();
        assert_eq!(target.shown(), "postgres://h:7/u");
        assert_eq!((target.tls, target.config.get_password()), (TlsMode::Off, Some(&b"p"[..])));
    }

    #[test]
    fn tls_is_required_by_default_and_unknown_modes_are_refused() {
        assert_eq!(target("host=h", &[]).unwrap().tls, TlsMode::Unverified);
        assert_eq!(target("host=h sslrootcert=/ca", &[]).unwrap().tls, TlsMode::VerifyAuthority);
        assert!(matches!(target("host=h sslmode=often", &[]), Err(StoreError::InvalidArgument { .. })));
        assert!(matches!(target("nonsense", &[]), Err(StoreError::InvalidArgument { .. })));
    }
}
