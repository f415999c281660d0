//! Who asks Azure: tokens of Entra ID, in the ways in which its tools get them.

use std::process::Command;
use std::time::Duration;

use groma_diagnostics::io_reason;
use serde_json::Value as Json;

use super::entra_certificate::Certificate;
use super::given::Given;
use super::network::{Network, NetworkRequest, asked, escaped, or_variable, text};
use super::output::output;

/// Where a machine of Azure asks for its token.
const MACHINE: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// How long the program of Azure may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What an identity of elsewhere is for.
const EXCHANGE: &str = "api://AzureADTokenExchange";

/// Who asks, as the arguments say.
#[derive(Debug)]
pub(super) struct Entra {
    given: Given,
    /// Whether the key is in hardware, which counts as another service.
    is_hardware: bool,
}

/// The addresses of a cloud.
struct Cloud {
    login: String,
    vaults: String,
    hardware: String,
}

impl Cloud {
    fn known(login: &str, vaults: &str, hardware: &str) -> Self {
        Self { login: login.to_owned(), vaults: vaults.to_owned(), hardware: hardware.to_owned() }
    }

    /// The cloud that the server `host` tells of: one that its owner runs.
    fn told_by(host: &str, network: &dyn Network) -> Result<Self, String> {
        let base = if host.contains("://") { host.to_owned() } else { format!("https://{host}") };
        let place = format!("{}/metadata/endpoints?api-version=2022-09-01", base.trim_end_matches('/'));
        let told = asked(network, &NetworkRequest::get(place))
            .map_err(|problem| format!("metadata_host {host:?} does not tell of a cloud: {problem}"))?;
        let suffix = |name: &str| text(&told["suffixes"], name).map(|suffix| format!("https://{suffix}"));
        let vaults = suffix("keyVaultDns")?;
        let hardware = suffix("mhsmDns").unwrap_or_else(|_| vaults.clone());
        Ok(Self { login: text(&told["authentication"], "loginEndpoint")?, vaults, hardware })
    }
}

impl Entra {
    /// For the vault at `host`.
    pub(super) fn new(given: &Given, host: &str) -> Self {
        Self { given: given.clone(), is_hardware: host.contains(".managedhsm.") }
    }

    /// A token: for a certificate, an identity of elsewhere, a secret, the identity of a workload or of the machine, or whoever is logged in to the program `az`,
    /// in this order.
    pub(super) fn token(&self, network: &dyn Network) -> Result<String, String> {
        let cloud = self.cloud(network)?;
        let resource = if self.is_hardware { &cloud.hardware } else { &cloud.vaults };
        let flag = |name: &str, variable: &str| {
            self.given.flag(name).unwrap_or_else(|| network.variable(variable).as_deref() == Some("true"))
        };
        let token_for = |proof: &dyn Fn(&str, &str) -> Result<Proof, String>| {
            self.token_of_client(network, &cloud, resource, proof)
        };
        if let Some(certificate) = Certificate::given(&self.given, network)? {
            return token_for(&|client, place| certificate.assertion(client, place).map(Proof::Assertion));
        }
        if flag("use_oidc", "ARM_USE_OIDC") {
            let identity = self.identity_of_elsewhere(network)?;
            return token_for(&|_, _| Ok(Proof::Assertion(identity.clone())));
        }
        let secret = self.value("client_secret", "ARM_CLIENT_SECRET", network)?;
        if let Some(secret) = secret {
            return token_for(&|_, _| Ok(Proof::Secret(secret.clone())));
        }
        if flag("use_aks_workload_identity", "ARM_USE_AKS_WORKLOAD_IDENTITY") {
            let path = network.variable("AZURE_FEDERATED_TOKEN_FILE");
            let identity = read(&path.ok_or("the environment variable AZURE_FEDERATED_TOKEN_FILE is not set")?)?;
            return token_for(&|_, _| Ok(Proof::Assertion(identity.clone())));
        }
        if flag("use_msi", "ARM_USE_MSI") {
            return self.token_of_machine(network, resource);
        }
        if self.given.flag("use_cli").unwrap_or(true) {
            return token_of_program(resource, self.tenant(network));
        }
        Err("there is no way to log in to Azure; set client_id and client_secret or client_certificate_path, use_oidc, use_msi or use_cli"
            .to_owned())
    }

    fn cloud(&self, network: &dyn Network) -> Result<Cloud, String> {
        let host =
            or_variable(self.given.text("metadata_host"), network, &["ARM_METADATA_HOSTNAME", "ARM_METADATA_HOST"]);
        if let Some(host) = host {
            return Cloud::told_by(&host, network);
        }
        let name = or_variable(self.given.text("environment"), network, &["ARM_ENVIRONMENT"]);
        match name.as_deref().unwrap_or("public") {
            "public" | "global" => Ok(Cloud::known(
                "https://login.microsoftonline.com",
                "https://vault.azure.net",
                "https://managedhsm.azure.net",
            )),
            "usgovernment" | "usgovernmentl4" => Ok(Cloud::known(
                "https://login.microsoftonline.us",
                "https://vault.usgovcloudapi.net",
                "https://managedhsm.usgovcloudapi.net",
            )),
            "china" => Ok(Cloud::known(
                "https://login.partner.microsoftonline.cn",
                "https://vault.azure.cn",
                "https://managedhsm.azure.cn",
            )),
            other => Err(format!("environment is \"public\", \"usgovernment\" or \"china\", not {other:?}")),
        }
    }

    /// What is given, in the environment, or in the file that either of them names.
    fn value(&self, name: &str, variable: &str, network: &dyn Network) -> Result<Option<String>, String> {
        if let Some(value) = or_variable(self.given.text(name), network, &[variable]) {
            return Ok(Some(value));
        }
        let path = self.given.text(&format!("{name}_file_path"));
        or_variable(path, network, &[&format!("{variable}_FILE_PATH")]).map(|path| read(&path)).transpose()
    }

    fn tenant(&self, network: &dyn Network) -> Option<String> {
        or_variable(self.given.text("tenant_id"), network, &["ARM_TENANT_ID", "AZURE_TENANT_ID"])
    }

    /// The token of an application that proves who it is with `proof`, for its name and the place that is asked.
    fn token_of_client(
        &self,
        network: &dyn Network,
        cloud: &Cloud,
        resource: &str,
        proof: &dyn Fn(&str, &str) -> Result<Proof, String>,
    ) -> Result<String, String> {
        let lacking = |name: &str| format!("\"{name}\" has to be given to log in to Azure");
        let tenant = self.tenant(network).ok_or_else(|| lacking("tenant_id"))?;
        let client = self.value("client_id", "ARM_CLIENT_ID", network)?;
        let client = client.or_else(|| network.variable("AZURE_CLIENT_ID")).ok_or_else(|| lacking("client_id"))?;
        let scope = format!("{resource}/.default");
        let fields = [("grant_type", "client_credentials"), ("client_id", &client), ("scope", &scope)];
        let login = network.variable("AZURE_AUTHORITY_HOST").unwrap_or_else(|| cloud.login.clone());
        let place = format!("{}/{}/oauth2/v2.0/token", login.trim_end_matches('/'), escaped(&tenant));
        let proof = proof(&client, &place)?;
        let request = NetworkRequest::form(place, &[&fields[..], &proof.fields()].concat());
        text(&asked(network, &request)?, "access_token")
    }

    /// The token by which somebody else says who this is: given, in a file, or asked for where a pipeline says.
    fn identity_of_elsewhere(&self, network: &dyn Network) -> Result<String, String> {
        if let Some(token) = self.value("oidc_token", "ARM_OIDC_TOKEN", network)? {
            return Ok(token);
        }
        let named = |name: &str, variables: &[&str]| or_variable(self.given.text(name), network, variables);
        let place = named("oidc_request_url", &["ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL"]);
        let token = named("oidc_request_token", &["ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"]);
        let (Some(place), Some(token)) = (place, token) else {
            return Err("use_oidc needs an oidc_token, an oidc_token_file_path, or an oidc_request_url with an oidc_request_token".to_owned());
        };
        let mark = if place.contains('?') { '&' } else { '?' };
        let request = NetworkRequest::get(format!("{place}{mark}audience={}", escaped(EXCHANGE)));
        text(&asked(network, &request.by(&token))?, "value")
    }

    fn token_of_machine(&self, network: &dyn Network, resource: &str) -> Result<String, String> {
        let place = or_variable(self.given.text("msi_endpoint"), network, &["ARM_MSI_ENDPOINT"]);
        let client = self.value("client_id", "ARM_CLIENT_ID", network)?;
        let client = client.map_or_else(String::new, |client| format!("&client_id={}", escaped(&client)));
        let place = place.unwrap_or_else(|| MACHINE.to_owned());
        let place = format!("{place}?api-version=2018-02-01&resource={}{client}", escaped(resource));
        text(&asked(network, &NetworkRequest::get(place).with("metadata", "true"))?, "access_token")
    }
}

/// How an application proves who it is.
enum Proof {
    /// With what only it knows.
    Secret(String),
    /// With a word, of its own or of whoever knows it.
    Assertion(String),
}

impl Proof {
    /// The fields of a form that tell it.
    fn fields(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Secret(secret) => vec![("client_secret", secret)],
            Self::Assertion(word) => vec![
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", word),
            ],
        }
    }
}

fn read(path: &str) -> Result<String, String> {
    let content = std::fs::read_to_string(path)
        .map_err(|problem| format!("the file {path:?} cannot be read: {problem}", problem = io_reason(&problem)))?;
    Ok(content.trim().to_owned())
}

/// The token of whoever is logged in to the program of Azure.
fn token_of_program(resource: &str, tenant: Option<String>) -> Result<String, String> {
    let mut command = Command::new("az");
    command.args(["account", "get-access-token", "--output", "json", "--resource", resource]);
    if let Some(tenant) = tenant {
        command.args(["--tenant", &tenant]);
    }
    let advice = "give the arguments that log in to Azure, or run az login";
    let printed = output(command, PATIENCE).map_err(|problem| format!("Azure gives no token: {problem}; {advice}"))?;
    let answer: Json = serde_json::from_slice(&printed).map_err(|_| "the program az answered no JSON".to_owned())?;
    text(&answer, "accessToken")
}
