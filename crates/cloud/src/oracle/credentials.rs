//! Sources of Oracle Cloud credentials.

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_lc_rs::signature::RsaKeyPair;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_diagnostics::io_reason;

use crate::environment::Environment;
use crate::error::TokenError;
use crate::secret::Secret;

/// The settings of credentials. What is `None` comes from the profile of `~/.oci/config`.
#[derive(Clone, Debug, Default)]
pub struct OracleSettings {
    /// The method of authentication.
    pub authentication: OracleAuthentication,
    /// The OCID of the tenancy.
    pub tenancy: Option<String>,
    /// The OCID of the user.
    pub user: Option<String>,
    /// The fingerprint of the user's API key.
    pub fingerprint: Option<String>,
    /// The API key, as PEM text.
    pub private_key: Option<Secret>,
    /// A file with the API key.
    pub private_key_path: Option<String>,
    /// The region of requests.
    pub region: Option<String>,
    /// The profile; `DEFAULT` if it is `None`.
    pub profile: Option<String>,
    /// The environment variables of resource principals.
    pub environment: Environment,
}

/// A method of authentication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OracleAuthentication {
    /// The API key of a user.
    #[default]
    ApiKey,
    /// The token that `oci session authenticate` stores in a profile.
    SecurityToken,
    /// The token of a function or a job, in `OCI_RESOURCE_PRINCIPAL_RPST`.
    ResourcePrincipal,
}

/// Credentials of Oracle Cloud. Clones share the key.
#[derive(Clone)]
pub struct OracleCredentials {
    pub(super) key_id: Secret,
    pub(super) key: Arc<RsaKeyPair>,
    region: Option<String>,
}

impl std::fmt::Debug for OracleCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OracleCredentials(..)")
    }
}

impl OracleCredentials {
    /// Reads the credentials that the settings name.
    ///
    /// # Errors
    /// Fails if a value or a file is missing, or if the key cannot be used.
    pub fn new(settings: &OracleSettings) -> Result<Self, TokenError> {
        match settings.authentication {
            OracleAuthentication::ApiKey => api_key(settings),
            OracleAuthentication::SecurityToken => security_token(settings),
            OracleAuthentication::ResourcePrincipal => resource_principal(settings),
        }
    }

    /// Returns the region of the settings or the profile.
    pub fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }
}

fn api_key(settings: &OracleSettings) -> Result<OracleCredentials, TokenError> {
    let is_complete = settings.tenancy.is_some()
        && settings.user.is_some()
        && settings.fingerprint.is_some()
        && (settings.private_key.is_some() || settings.private_key_path.is_some());
    let entries = if is_complete { BTreeMap::new() } else { entries(settings)? };
    let value = |setting: &Option<String>, name: &str| {
        let value = setting.clone().or_else(|| entries.get(name).cloned());
        value.ok_or_else(|| TokenError::Missing(format!("the credentials of Oracle Cloud have no {name}")))
    };
    let tenancy = value(&settings.tenancy, "tenancy")?;
    let user = value(&settings.user, "user")?;
    let fingerprint = value(&settings.fingerprint, "fingerprint")?;
    let pem = match &settings.private_key {
        Some(key) => key.reveal().to_owned(),
        None => read(settings, &value(&settings.private_key_path, "key_file")?)?,
    };
    Ok(OracleCredentials {
        key_id: Secret::new(format!("{tenancy}/{user}/{fingerprint}")),
        key: key_pair(&pem)?,
        region: settings.region.clone().or_else(|| entries.get("region").cloned()),
    })
}

fn security_token(settings: &OracleSettings) -> Result<OracleCredentials, TokenError> {
    let entries = entries(settings)?;
    let file = |name: &str| {
        let path = entries.get(name).ok_or_else(|| {
            TokenError::Missing(format!("the profile has no {name}; run oci session authenticate, which writes one"))
        })?;
        read(settings, path)
    };
    Ok(OracleCredentials {
        key_id: Secret::new(format!("ST${}", file("security_token_file")?.trim())),
        key: key_pair(&file("key_file")?)?,
        region: settings.region.clone().or_else(|| entries.get("region").cloned()),
    })
}

fn resource_principal(settings: &OracleSettings) -> Result<OracleCredentials, TokenError> {
    // Both variables hold the value itself or the path of a file.
    let content = |name: &str| {
        let value = settings.environment.get(name).ok_or_else(|| {
            TokenError::Missing(format!(
                "the environment variable {name} is not set: this is no resource with a principal"
            ))
        })?;
        if value.starts_with('/') { read(settings, value) } else { Ok(value.to_owned()) }
    };
    let region = settings.environment.get("OCI_RESOURCE_PRINCIPAL_REGION").map(str::to_owned);
    Ok(OracleCredentials {
        key_id: Secret::new(format!("ST${}", content("OCI_RESOURCE_PRINCIPAL_RPST")?.trim())),
        key: key_pair(&content("OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM")?)?,
        region: settings.region.clone().or(region),
    })
}

/// Reads the selected profile of the configuration file.
fn entries(settings: &OracleSettings) -> Result<BTreeMap<String, String>, TokenError> {
    let name = settings.profile.as_deref().unwrap_or("DEFAULT");
    let path = settings.environment.get("OCI_CONFIG_FILE").unwrap_or("~/.oci/config");
    let path = settings.environment.expand_home(path);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        TokenError::Missing(format!(
            "no Oracle Cloud credentials found: {} cannot be read: {}; run oci setup config, or set tenancy_ocid, user_ocid, fingerprint \
             and private_key_path",
            path.display(),
            io_reason(&error)
        ))
    })?;
    profile(&text, name)
        .ok_or_else(|| TokenError::setting(format!("the file {} has no profile {name:?}", path.display())))
}

fn read(settings: &OracleSettings, path: &str) -> Result<String, TokenError> {
    let path = settings.environment.expand_home(path);
    std::fs::read_to_string(&path)
        .map_err(|error| TokenError::credentials(format!("cannot read {}: {}", path.display(), io_reason(&error))))
}

/// Reads a private key in PEM form: PKCS #8 or PKCS #1.
fn key_pair(pem: &str) -> Result<Arc<RsaKeyPair>, TokenError> {
    if pem.contains("ENCRYPTED") {
        return Err(TokenError::credentials(
            "the API key is encrypted, which is not supported; decrypt it: openssl pkey -in key.pem -out plain.pem",
        ));
    }
    let unusable = || TokenError::credentials("the API key is not an RSA key in PEM form");
    // Oracle appends a label after the end of keys.
    let body = pem.split("-----").nth(2).ok_or_else(unusable)?;
    let base64: String = body.split_whitespace().collect();
    let der = BASE64_STANDARD.decode(base64).map_err(|_| unusable())?;
    let pair = RsaKeyPair::from_pkcs8(&der).or_else(|_| RsaKeyPair::from_der(&der));
    pair.map(Arc::new).map_err(|_| unusable())
}

/// Returns the entries of a profile; `None` if the file has no such profile. Entries of `DEFAULT` complete the others.
pub(super) fn profile(text: &str, name: &str) -> Option<BTreeMap<String, String>> {
    const DEFAULT: &str = "DEFAULT";
    let mut profiles: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut current = None;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            current = Some(section.trim().to_owned());
            profiles.entry(section.trim().to_owned()).or_default();
        } else if let (Some(section), Some((key, value))) = (&current, line.split_once('=')) {
            let entries = profiles.entry(section.clone()).or_default();
            entries.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    let found = profiles.get(name)?.clone();
    let mut entries = profiles.remove(DEFAULT).unwrap_or_default();
    entries.extend(found);
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_encrypted_keys_are_explained() {
        let nothing = OracleCredentials::new(&OracleSettings::default()).unwrap_err().to_string();
        assert!(nothing.contains("oci setup config"), "{nothing}");
        let settings = |key: &str| OracleSettings {
            tenancy: Some("t".to_owned()),
            user: Some("u".to_owned()),
            fingerprint: Some("f".to_owned()),
            private_key: Some(Secret::new(key)),
            ..OracleSettings::default()
        };
        let encrypted = OracleCredentials::new(&settings("-----BEGIN ENCRYPTED PRIVATE KEY-----\nx"));
        assert!(encrypted.unwrap_err().to_string().contains("openssl pkey"));
        let broken = OracleCredentials::new(&settings("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"));
        assert!(broken.unwrap_err().to_string().contains("not an RSA key"));
    }

    #[test]
    fn default_profile_completes_the_others() {
        let text = "# comment\n[DEFAULT]\nuser = u\nregion=r1\n\n[TEAM]\n region = r2 \nkey_file=/k=y\n";
        let team = profile(text, "TEAM").unwrap();
        let entry = |name: &str| team.get(name).map(String::as_str);
        assert_eq!((entry("user"), entry("region"), entry("key_file")), (Some("u"), Some("r2"), Some("/k=y")));
        assert!(profile(text, "OTHER").is_none() && profile("user=u", "DEFAULT").is_none());
    }
}
