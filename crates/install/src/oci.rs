//! Packages in OCI registries: repositories whose tags lead to manifests, whose layers are archives.

use std::fs::File;
use std::io::{Read, Seek};

use groma_diagnostics::{io_reason, json_reason};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::credentials::{Login, Stores};
use crate::discovery::Discovery;
use crate::hex;
use crate::http::{Http, HttpError, Response, StatusCode, Url, without_secrets};

/// The maximum size of a manifest in bytes.
const LARGEST_DOCUMENT: u64 = 4 << 20;

/// The supported media types of manifests.
const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json";

/// An OCI repository: `example.com/path/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    registry: String,
    name: String,
}

impl std::fmt::Display for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)
    }
}

/// The reason why a request to a registry failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OciError {
    /// The repository, tag or blob does not exist.
    #[error("{0} does not exist")]
    NotFound(String),
    /// The request failed before a complete response arrived.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The registry answered with an error status.
    #[error("{0} answered {1}")]
    Status(String, StatusCode),
    /// The response is invalid.
    #[error("{0} {1}")]
    Document(String, String),
}

/// A client for registries.
pub(crate) struct Registry<'a> {
    http: &'a Http,
    stores: &'a Stores,
}

/// The tag list of a repository.
#[derive(Deserialize)]
pub(crate) struct Tags {
    pub(crate) tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct TokenResponse {
    token: Option<String>,
    access_token: Option<String>,
}

impl Repository {
    /// Parses `HOST/NAME`, where the host may have a port and the name several segments.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (registry, name) = text.split_once('/')?;
        let is_name = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
        };
        let is_good = !registry.is_empty() && name.split('/').all(is_name) && !name.contains("..");
        is_good.then(|| Self { registry: registry.to_owned(), name: name.to_owned() })
    }

    fn url(&self, what: &str) -> Result<Url, OciError> {
        let text = format!("https://{}/v2/{}/{what}", self.registry, self.name);
        Url::parse(&text).map_err(|error| OciError::Document(text, format!("is not a valid URL: {error}")))
    }
}

impl<'a> Registry<'a> {
    /// Creates a client that sends requests with the client of `discovery`, and the logins of container tools.
    pub(crate) fn new(discovery: &'a Discovery) -> Self {
        Self { http: discovery.http(), stores: discovery.credentials().stores() }
    }

    /// Lists all tags of a repository.
    pub(crate) async fn tags(&self, repository: &Repository) -> Result<Vec<String>, OciError> {
        let url = repository.url("tags/list")?;
        let answer = self.get(repository, &url, "application/json").await?;
        let tags: Tags = parsed(&url, &answer.body)?;
        Ok(tags.tags.unwrap_or_default())
    }

    /// Requests the manifest of a tag or digest.
    pub(crate) async fn manifest(&self, repository: &Repository, reference: &str) -> Result<Manifest, OciError> {
        let url = repository.url(&format!("manifests/{reference}"))?;
        let answer = self.get(repository, &url, ACCEPTED).await?;
        // A digest identifies the content, so the registry need not be trusted.
        if let Some(wanted) = reference.strip_prefix("sha256:") {
            let found = hex(&Sha256::digest(&answer.body));
            if found != wanted {
                return Err(OciError::Document(url.to_string(), format!("has the digest sha256:{found}")));
            }
        }
        parsed(&url, &answer.body)
    }

    /// Downloads the blob of `descriptor`, up to `limit` bytes, and verifies its size and digest.
    pub(crate) async fn blob(
        &self,
        repository: &Repository,
        descriptor: &Descriptor,
        target: &mut File,
        limit: u64,
    ) -> Result<(), OciError> {
        let url = repository.url(&format!("blobs/{}", descriptor.digest))?;
        let wrong = |what: String| OciError::Document(url.to_string(), what);
        let wanted = descriptor.sha256().ok_or_else(|| wrong("has a digest other than SHA-256".to_owned()))?;
        if descriptor.size > limit {
            return Err(HttpError::TooLarge { url: without_secrets(&url), limit }.into());
        }
        // Anonymous first: public repositories need no login, and the refusal names the token server.
        let mut answer = self.http.download(&url, None, &[], target, descriptor.size).await?;
        if answer.status == StatusCode::UNAUTHORIZED {
            let authorization = self.authorization(repository, &answer).await?;
            let headers: Vec<_> = authorization.iter().map(|value| ("authorization", value.as_str())).collect();
            answer = self.http.download(&url, None, &headers, target, descriptor.size).await?;
        }
        checked(&url, &answer)?;
        let unreadable = |error: std::io::Error| wrong(format!("cannot be stored: {error}", error = io_reason(&error)));
        target.rewind().map_err(unreadable)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match target.read(&mut buffer).map_err(unreadable)? {
                0 => break,
                count => hasher.update(buffer.get(..count).unwrap_or_default()),
            }
        }
        let found = hex(&hasher.finalize());
        if found != wanted {
            return Err(wrong(format!("has the digest sha256:{found}, which is not what its manifest says")));
        }
        target.rewind().map_err(unreadable)
    }

    async fn get(&self, repository: &Repository, url: &Url, accept: &str) -> Result<Response, OciError> {
        let mut headers = vec![("accept", accept)];
        let mut answer = self.http.get_with(url, None, &headers, LARGEST_DOCUMENT).await?;
        if answer.status == StatusCode::UNAUTHORIZED {
            let authorization = self.authorization(repository, &answer).await?;
            headers.extend(authorization.iter().map(|value| ("authorization", value.as_str())));
            answer = self.http.get_with(url, None, &headers, LARGEST_DOCUMENT).await?;
        }
        checked(url, &answer)?;
        Ok(answer)
    }

    /// Returns the `authorization` header for a challenge: a token from the named server, or the login itself.
    async fn authorization(&self, repository: &Repository, refusal: &Response) -> Result<Option<String>, OciError> {
        let login = self.stores.container(&repository.registry, &repository.name);
        let basic = login.as_ref().and_then(Login::basic);
        let challenge = refusal.header("www-authenticate").unwrap_or_default();
        // A password must not be sent without encryption.
        if parameters_of(challenge, "Basic").is_some() && refusal.url.scheme() == "https" {
            return Ok(basic);
        }
        let Some(server) = TokenServer::of(challenge) else { return Ok(None) };
        let url = server.url();
        let answer = match &login {
            Some(Login::Identity(identity)) => {
                self.http.post_form(&server.realm, &server.exchange(identity.secret()), LARGEST_DOCUMENT).await?
            }
            _ => {
                let headers: Vec<_> = basic.iter().map(|value| ("authorization", value.as_str())).collect();
                self.http.get_with(&url, None, &headers, LARGEST_DOCUMENT).await?
            }
        };
        checked(&url, &answer)?;
        let token_response: TokenResponse = parsed(&url, &answer.body)?;
        // Servers use either name.
        Ok(token_response.token.or(token_response.access_token).map(|token| format!("Bearer {token}")))
    }
}

/// Returns the parameters of a challenge with this scheme; scheme names are case-insensitive.
fn parameters_of<'a>(challenge: &'a str, scheme: &str) -> Option<&'a str> {
    let (named, parameters) = challenge.split_once(' ').unwrap_or((challenge, ""));
    named.eq_ignore_ascii_case(scheme).then_some(parameters)
}

/// A token server and the parameters for it.
pub(crate) struct TokenServer {
    realm: Url,
    asked: Vec<(&'static str, String)>,
}

impl TokenServer {
    /// Parses `Bearer realm="…",service="…",scope="…"`. The realm must use HTTPS.
    pub(crate) fn of(challenge: &str) -> Option<Self> {
        let parameters = parameters_of(challenge, "Bearer")?;
        let value = |name: &str| {
            let (_, rest) = parameters.split_once(&format!("{name}=\""))?;
            rest.split_once('"').map(|(value, _)| value)
        };
        let realm = Url::parse(value("realm")?).ok().filter(|url| url.scheme() == "https")?;
        let asked = ["service", "scope"].into_iter().filter_map(|name| Some((name, value(name)?.to_owned())));
        Some(Self { realm, asked: asked.collect() })
    }

    /// Builds the token request with a user name and password, or an anonymous one.
    pub(crate) fn url(&self) -> Url {
        let mut url = self.realm.clone();
        url.query_pairs_mut().extend_pairs(&self.asked);
        url
    }

    /// Builds the token request with an identity token: a form.
    fn exchange<'a>(&'a self, identity: &'a str) -> Vec<(&'a str, &'a str)> {
        let own = [("grant_type", "refresh_token"), ("client_id", "groma"), ("refresh_token", identity)];
        own.into_iter().chain(self.asked.iter().map(|(name, value)| (*name, value.as_str()))).collect()
    }
}

fn checked(url: &Url, answer: &Response) -> Result<(), OciError> {
    match answer.status {
        status if status.is_success() => Ok(()),
        StatusCode::NOT_FOUND => Err(OciError::NotFound(without_secrets(url))),
        status => Err(OciError::Status(without_secrets(url), status)),
    }
}

fn parsed<T: serde::de::DeserializeOwned>(url: &Url, body: &[u8]) -> Result<T, OciError> {
    let problem = |error: serde_json::Error| {
        OciError::Document(without_secrets(url), format!("is not valid: {error}", error = json_reason(&error)))
    };
    serde_json::from_slice(body).map_err(problem)
}

/// The media type of archive layers.
const ARCHIVE: &str = "archive/zip";

/// A manifest, or an index of manifests.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    /// The kind of artifact that the document describes; empty if it has none.
    #[serde(default)]
    pub artifact_type: String,
    /// The layers of a manifest.
    #[serde(default)]
    pub layers: Vec<Descriptor>,
    /// The manifests of an index.
    #[serde(default)]
    pub manifests: Vec<Descriptor>,
}

/// A reference to another document or blob.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// The media type of the content.
    pub media_type: String,
    /// The artifact type of the content.
    #[serde(default)]
    pub artifact_type: String,
    /// The digest of the content: `sha256:` and hexadecimal digits.
    pub digest: String,
    /// The size of the content in bytes.
    pub size: u64,
    /// The platform that the content is for.
    pub platform: Option<OciPlatform>,
}

/// A platform, as indexes describe it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OciPlatform {
    /// The operating system, in Go's spelling.
    pub os: String,
    /// The processor architecture, in Go's spelling.
    pub architecture: String,
}

/// The reason why a manifest is not that of an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("it holds {found:?} where {wanted:?} is expected")]
    WrongType { found: String, wanted: String },
    #[error("it needs one layer of the type {ARCHIVE:?}")]
    NotOneArchive,
}

impl Manifest {
    /// Returns the only archive of an artifact of type `wanted`.
    ///
    /// # Errors
    /// Fails if the artifact has another type, no archive, or several.
    pub(crate) fn archive(&self, wanted: &str) -> Result<&Descriptor, ManifestError> {
        if self.artifact_type != wanted {
            return Err(ManifestError::WrongType { found: self.artifact_type.clone(), wanted: wanted.to_owned() });
        }
        let mut archives = self.layers.iter().filter(|layer| layer.media_type == ARCHIVE);
        match (archives.next(), archives.next()) {
            (Some(archive), None) => Ok(archive),
            _ => Err(ManifestError::NotOneArchive),
        }
    }
}

impl Descriptor {
    /// Returns the hexadecimal digits of a canonical SHA-256 digest.
    pub(crate) fn sha256(&self) -> Option<&str> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        self.digest.strip_prefix("sha256:").filter(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_have_a_registry_and_a_name() {
        assert!(Repository::parse("example.com:5000/a/b-c").is_some());
        for wrong in ["example.com", "example.com/", "example.com/A", "example.com/../x", "/x", "h/a//b"] {
            assert_eq!(Repository::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn challenge_names_the_token_server() {
        let url = |challenge: &str| TokenServer::of(challenge).map(|server| server.url().to_string());
        let challenge = r#"Bearer realm="https://auth.example.com/token",service="r",scope="repository:a:pull""#;
        let expected = "https://auth.example.com/token?service=r&scope=repository%3Aa%3Apull";
        assert_eq!(url(challenge).as_deref(), Some(expected));
        assert_eq!(url(r#"Bearer realm="http://auth.example.com/token""#), None);
        assert_eq!(url("Basic realm=\"x\""), None);
        assert!(url(r#"bearer realm="https://auth.example.com/token""#).is_some());
        assert_eq!(parameters_of("BASIC realm=\"x\"", "Basic"), Some("realm=\"x\""));
        assert_eq!(parameters_of("Basically", "Basic"), None);
    }
}
