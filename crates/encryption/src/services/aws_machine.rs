//! The keys that AWS lends to where a program runs: to a machine with a role, or to a container of a task.

use std::net::IpAddr;
use std::time::Duration;

use groma_diagnostics::io_reason;
use serde_json::Value as Json;

use super::given::Given;
use super::network::{AwsKeys, Network, NetworkAnswer, NetworkRequest, Way, or_variable, refusal, text};

/// Where a machine asks for what is known of it.
const MACHINE: &str = "http://169.254.169.254";
const MACHINE_SIX: &str = "http://[fd00:ec2::254]";

/// Where the container of a task asks.
const CONTAINER: &str = "http://169.254.170.2";

/// Who may be asked for the keys of a container in clear, other than the machine itself: the agents of AWS.
const AGENTS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];

/// Nobody is far away here; where nobody answers, this is no machine of AWS.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is lent, or why nothing is.
type Lent = Result<AwsKeys, String>;

fn ask(network: &dyn Network, request: &NetworkRequest) -> Result<NetworkAnswer, String> {
    network.send(request, &Way { patience: Some(PATIENCE), ..Way::default() })
}

/// The keys of the container's task; nothing if the environment does not say that this is one.
pub(super) fn of_container(network: &dyn Network) -> Option<Lent> {
    let relative = network.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map(|path| format!("{CONTAINER}{path}"));
    let place = relative.or_else(|| network.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"))?;
    Some(lent_to_container(place, network).map_err(|problem| format!("the container gets no keys of AWS: {problem}")))
}

fn lent_to_container(place: String, network: &dyn Network) -> Lent {
    if !is_safe(&place) {
        return Err(format!(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI has to begin with https://, or to lead to this machine or to an agent of AWS, not to {place:?}"
        ));
    }
    let token = match network.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(path) => {
            let content = std::fs::read_to_string(&path);
            Some(content.map_err(|problem| {
                format!("the file {path:?} with the token cannot be read: {problem}", problem = io_reason(&problem))
            })?)
        }
        None => network.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
    };
    let request = NetworkRequest::get(place);
    let request = match &token {
        Some(token) => request.with("authorization", token.trim()),
        None => request,
    };
    keys_in(&ask(network, &request)?)
}

/// Whether keys may be asked for at an address: nobody on the way is to read them.
fn is_safe(place: &str) -> bool {
    let Some(rest) = place.strip_prefix("http://") else { return place.starts_with("https://") };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or_default(),
    };
    // The client reads a backslash as a slash, and what is before an at sign as a name.
    let is_plain = !authority.contains(['@', '\\']);
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_plain && (is_here || AGENTS.contains(&host))
}

/// The keys of the machine's role.
pub(super) fn of_machine(given: &Given, network: &dyn Network) -> Lent {
    let is_off = given.flag("skip_metadata_api_check");
    let is_off = is_off.unwrap_or_else(|| is_true(network, "AWS_EC2_METADATA_DISABLED"));
    if is_off {
        return Err("the machine is not to be asked for its role".to_owned());
    }
    let place =
        or_variable(given.text("ec2_metadata_service_endpoint"), network, &["AWS_EC2_METADATA_SERVICE_ENDPOINT"]);
    let place = place.map_or_else(|| usual_place(given, network), Ok)?;
    lent_to_machine(place.trim_end_matches('/'), network)
        .map_err(|problem| format!("the machine has no role at AWS: {problem}"))
}

fn is_true(network: &dyn Network, name: &str) -> bool {
    network.variable(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

fn usual_place(given: &Given, network: &dyn Network) -> Result<String, String> {
    let mode = or_variable(
        given.text("ec2_metadata_service_endpoint_mode"),
        network,
        &["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"],
    );
    match mode {
        None => Ok(MACHINE.to_owned()),
        Some(mode) if mode.eq_ignore_ascii_case("IPv4") => Ok(MACHINE.to_owned()),
        Some(mode) if mode.eq_ignore_ascii_case("IPv6") => Ok(MACHINE_SIX.to_owned()),
        Some(other) => Err(format!("ec2_metadata_service_endpoint_mode is \"IPv4\" or \"IPv6\", not {other:?}")),
    }
}

fn lent_to_machine(place: &str, network: &dyn Network) -> Lent {
    let token = token_of_machine(format!("{place}/latest/api/token"), network)?;
    let get = |place: String| ask(network, &metadata_request(place, token.as_deref()));
    let roles = format!("{place}/latest/meta-data/iam/security-credentials/");
    let role = told(&get(roles.clone())?)?;
    let role = role.lines().next().map(str::trim).filter(|role| !role.is_empty()).ok_or("none is named")?;
    keys_in(&get(format!("{roles}{role}"))?)
}

/// The token with which the machine is asked; none where it is an old one that wants none.
fn token_of_machine(place: String, network: &dyn Network) -> Result<Option<String>, String> {
    let answer = ask(network, &token_request(place))?;
    if [403, 404, 405].contains(&answer.status) && !is_true(network, "AWS_EC2_METADATA_V1_DISABLED") {
        return Ok(None);
    }
    told(&answer).map(|token| Some(token.trim().to_owned()))
}

/// Asks a machine for a token, which is good for five minutes.
pub(super) fn token_request(place: String) -> NetworkRequest {
    let request = NetworkRequest { method: "PUT", url: place, headers: Vec::new(), body: Vec::new() };
    request.with("x-aws-ec2-metadata-token-ttl-seconds", "300")
}

/// Asks a machine for what is known of it, with the token where it wants one.
pub(super) fn metadata_request(place: String, token: Option<&str>) -> NetworkRequest {
    let request = NetworkRequest::get(place);
    match token {
        Some(token) => request.with("x-aws-ec2-metadata-token", token),
        None => request,
    }
}

/// The text of an answer.
fn told(answer: &NetworkAnswer) -> Result<String, String> {
    if answer.status != 200 {
        return Err(refusal(answer.status, None));
    }
    String::from_utf8(answer.body.clone()).map_err(|_| "the answer is no text".to_owned())
}

/// The keys in an answer. It is not shown: it holds secrets.
pub(super) fn keys_in(answer: &NetworkAnswer) -> Lent {
    let document = serde_json::from_slice::<Json>(&answer.body).unwrap_or_default();
    if answer.status != 200 {
        return Err(refusal(answer.status, document["message"].as_str()));
    }
    if let Some(code) = document["Code"].as_str().filter(|code| *code != "Success") {
        return Err(refusal(answer.status, document["Message"].as_str().or(Some(code))));
    }
    let session = document["Token"].as_str().map(str::to_owned);
    Ok(AwsKeys { id: text(&document, "AccessKeyId")?, secret: text(&document, "SecretAccessKey")?, session })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_containers_are_asked_for_where_nobody_listens() {
        for safe in ["https://x.example/a", "http://localhost:8/x", "http://127.1.2.3/", "http://[::1]:80/x"] {
            assert!(is_safe(safe), "{safe}");
        }
        assert!(is_safe("http://169.254.170.23/v1/credentials") && is_safe("http://[fd00:ec2::23]/v1"));
        for open in
            ["http://x.example/", "http://localhost@x.example/", "ftp://localhost/", "http://127.0.0.1.example/"]
        {
            assert!(!is_safe(open), "{open}");
        }
        assert!(!is_safe("http://localhost\\@x.example/") && !is_safe("http://[::1]@x.example/"));
    }
}
