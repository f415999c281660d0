//! The keys that AWS provides to workloads: to EC2 instances by the Instance Metadata Service (IMDS), and to ECS and EKS
//! containers by the container credential provider.

use std::net::IpAddr;
use std::time::Duration;

use groma_diagnostics::io_reason;
use serde_json::Value as Json;

use super::arguments::ArgumentValues;
use super::network::{AwsKeys, ConnectionOptions, Network, NetworkAnswer, NetworkRequest, or_variable, string};
use crate::error::KeyError;

const IMDS_IPV4: &str = "http://169.254.169.254";
const IMDS_IPV6: &str = "http://[fd00:ec2::254]";

/// The ECS agent, which `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` is relative to.
const ECS_AGENT: &str = "http://169.254.170.2";

/// The link-local addresses of the ECS and EKS agents, which are trusted without TLS.
const AGENTS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];

/// The deadline for local services. Outside of AWS nothing answers at these addresses, and users should not wait long.
const TIMEOUT: Duration = Duration::from_secs(2);

fn send(network: &dyn Network, request: &NetworkRequest) -> Result<NetworkAnswer, KeyError> {
    network.send(request, &ConnectionOptions { timeout: Some(TIMEOUT), ..ConnectionOptions::default() })
}

/// Returns the keys of the container's task or pod, or `None` if the environment names no container credentials.
pub(super) fn container_keys(network: &dyn Network) -> Option<Result<AwsKeys, KeyError>> {
    let relative = network.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map(|path| format!("{ECS_AGENT}{path}"));
    let url = relative.or_else(|| network.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"))?;
    let keys = request_container_keys(url, network);
    Some(keys.map_err(|error| error.context("cannot get the AWS keys of this container")))
}

fn request_container_keys(url: String, network: &dyn Network) -> Result<AwsKeys, KeyError> {
    if !is_confidential(&url) {
        return Err(KeyError::credentials(format!(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI must begin with https://, or name a loopback address or an agent of AWS, \
             not {url:?}"
        )));
    }
    let token = match network.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(path) => Some(std::fs::read_to_string(&path).map_err(|error| {
            KeyError::credentials(format!("cannot read the token file {path:?}: {}", io_reason(&error)))
        })?),
        None => network.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
    };
    let request = NetworkRequest::get(url);
    let request = match &token {
        Some(token) => request.with_header("authorization", token.trim()),
        None => request,
    };
    keys_in(&send(network, &request)?)
}

/// Whether keys may be requested from a URL: with TLS, or from a local address, which packets to never leave the machine.
fn is_confidential(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return url.starts_with("https://") };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or_default(),
    };
    // HTTP clients read "\\" as "/" and the part before "@" as a user name, so that the host would be another one.
    let is_plain = !authority.contains(['@', '\\']);
    let is_local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_plain && (is_local || AGENTS.contains(&host))
}

/// Returns the keys of the EC2 instance's role.
pub(super) fn instance_keys(arguments: &ArgumentValues, network: &dyn Network) -> Result<AwsKeys, KeyError> {
    let is_disabled = arguments.bool("skip_metadata_api_check");
    if is_disabled.unwrap_or_else(|| is_true(network, "AWS_EC2_METADATA_DISABLED")) {
        return Err(KeyError::credentials("the instance metadata service is disabled"));
    }
    let endpoint =
        or_variable(arguments.string("ec2_metadata_service_endpoint"), network, &["AWS_EC2_METADATA_SERVICE_ENDPOINT"]);
    let endpoint = endpoint.map_or_else(|| default_endpoint(arguments, network), Ok)?;
    request_instance_keys(endpoint.trim_end_matches('/'), network)
        .map_err(|error| error.context("cannot get the AWS keys of this instance"))
}

fn is_true(network: &dyn Network, variable: &str) -> bool {
    network.variable(variable).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

fn default_endpoint(arguments: &ArgumentValues, network: &dyn Network) -> Result<String, KeyError> {
    let mode = or_variable(
        arguments.string("ec2_metadata_service_endpoint_mode"),
        network,
        &["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"],
    );
    match mode {
        None => Ok(IMDS_IPV4.to_owned()),
        Some(mode) if mode.eq_ignore_ascii_case("IPv4") => Ok(IMDS_IPV4.to_owned()),
        Some(mode) if mode.eq_ignore_ascii_case("IPv6") => Ok(IMDS_IPV6.to_owned()),
        Some(other) => Err(KeyError::argument(format!(
            "ec2_metadata_service_endpoint_mode must be \"IPv4\" or \"IPv6\", not {other:?}"
        ))),
    }
}

fn request_instance_keys(endpoint: &str, network: &dyn Network) -> Result<AwsKeys, KeyError> {
    let token = session_token(format!("{endpoint}/latest/api/token"), network)?;
    let get = |url: String| send(network, &metadata_request(url, token.as_deref()));
    let roles_url = format!("{endpoint}/latest/meta-data/iam/security-credentials/");
    let role = body_text(&get(roles_url.clone())?)?;
    let role = role.lines().next().map(str::trim).filter(|role| !role.is_empty());
    let role = role.ok_or_else(|| KeyError::credentials("the instance has no role"))?;
    keys_in(&get(format!("{roles_url}{role}"))?)
}

/// Requests a session token (IMDSv2). Returns `None` for a service that only speaks version 1, which needs no token.
fn session_token(url: String, network: &dyn Network) -> Result<Option<String>, KeyError> {
    let answer = send(network, &token_request(url))?;
    // The AWS SDKs fall back to version 1 for these statuses, unless the user forbids it.
    if [403, 404, 405].contains(&answer.status) && !is_true(network, "AWS_EC2_METADATA_V1_DISABLED") {
        return Ok(None);
    }
    body_text(&answer).map(|token| Some(token.trim().to_owned()))
}

/// Builds the request for a session token that is valid for five minutes.
pub(super) fn token_request(url: String) -> NetworkRequest {
    let request = NetworkRequest { method: "PUT", url, headers: Vec::new(), body: Vec::new() };
    request.with_header("x-aws-ec2-metadata-token-ttl-seconds", "300")
}

/// Builds a request for metadata, with the session token of IMDSv2.
pub(super) fn metadata_request(url: String, token: Option<&str>) -> NetworkRequest {
    let request = NetworkRequest::get(url);
    match token {
        Some(token) => request.with_header("x-aws-ec2-metadata-token", token),
        None => request,
    }
}

fn body_text(answer: &NetworkAnswer) -> Result<String, KeyError> {
    if answer.status != 200 {
        return Err(KeyError::rejected(answer.status, None));
    }
    String::from_utf8(answer.body.clone()).map_err(|_| KeyError::response("the response is not UTF-8 text"))
}

/// Reads the keys in a response of either service. Errors quote no more than its message, because it holds secrets.
pub(super) fn keys_in(answer: &NetworkAnswer) -> Result<AwsKeys, KeyError> {
    let document = serde_json::from_slice::<Json>(&answer.body).unwrap_or_default();
    if answer.status != 200 {
        return Err(KeyError::rejected(answer.status, document["message"].as_str()));
    }
    // IMDS reports some errors, for example a role without a trust policy, with status 200.
    if let Some(code) = document["Code"].as_str().filter(|code| *code != "Success") {
        return Err(KeyError::rejected(answer.status, document["Message"].as_str().or(Some(code))));
    }
    let session = document["Token"].as_str().map(str::to_owned);
    Ok(AwsKeys { id: string(&document, "AccessKeyId")?, secret: string(&document, "SecretAccessKey")?, session })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn container_credentials_url_must_be_https_or_local() {
        for safe in ["https://x.example/a", "http://localhost:8/x", "http://127.1.2.3/", "http://[::1]:80/x"] {
            assert!(is_confidential(safe), "{safe}");
        }
        assert!(is_confidential("http://169.254.170.23/v1/credentials") && is_confidential("http://[fd00:ec2::23]/v1"));
        for open in
            ["http://x.example/", "http://localhost@x.example/", "ftp://localhost/", "http://127.0.0.1.example/"]
        {
            assert!(!is_confidential(open), "{open}");
        }
        assert!(!is_confidential("http://localhost\\@x.example/") && !is_confidential("http://[::1]@x.example/"));
    }
}
