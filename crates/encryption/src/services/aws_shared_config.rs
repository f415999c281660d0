//! The shared configuration files of AWS tools: `~/.aws/config` and `~/.aws/credentials`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::network::AwsKeys;

/// The contents of the shared configuration files. Later files take precedence over earlier ones.
pub struct AwsSharedConfig {
    credentials_files: Vec<String>,
    config_files: Vec<String>,
}

/// The settings of one profile, with names in lower case. `Debug` prints names only, because values may be secrets.
#[derive(Default)]
pub struct AwsProfile(BTreeMap<String, String>);

impl fmt::Debug for AwsSharedConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsSharedConfig").finish_non_exhaustive()
    }
}

impl fmt::Debug for AwsProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl AwsSharedConfig {
    /// Reads credentials files and config files. Skips files that cannot be read, as the AWS SDKs do.
    pub fn read(credentials_files: &[PathBuf], config_files: &[PathBuf]) -> Self {
        let texts = |paths: &[PathBuf]| paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        Self { credentials_files: texts(credentials_files), config_files: texts(config_files) }
    }

    /// Returns the merged settings of a profile, or `None` if no file has it. Credentials files take precedence.
    pub fn profile(&self, name: &str) -> Option<AwsProfile> {
        let mut found: Option<AwsProfile> = None;
        let section_names = [format!("profile {name}"), name.to_owned()];
        // In config files, only the default profile may omit the word "profile". Credentials files never have it.
        let in_config = if name == "default" { &section_names[..] } else { &section_names[..1] };
        let config = self.config_files.iter().map(|text| (text, in_config));
        let credentials = self.credentials_files.iter().map(|text| (text, &section_names[1..]));
        for (text, section_names) in config.chain(credentials) {
            if let Some(values) = section(text, section_names) {
                found.get_or_insert_default().0.extend(values);
            }
        }
        found
    }
}

impl AwsProfile {
    /// Returns a setting that is not empty.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the static keys of the profile.
    pub fn keys(&self) -> Option<AwsKeys> {
        let value = |name: &str| self.value(name).map(str::to_owned);
        let (id, secret) = (value("aws_access_key_id")?, value("aws_secret_access_key")?);
        Some(AwsKeys { id, secret, session: value("aws_session_token") })
    }
}

/// Merges the sections of these names in an INI file. Returns `None` if it has none of them.
fn section(text: &str, names: &[String]) -> Option<BTreeMap<String, String>> {
    let mut values = None;
    let mut is_named = false;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            is_named = names.iter().any(|name| header.split_whitespace().eq(name.split_whitespace()));
            if is_named {
                values.get_or_insert_with(BTreeMap::new);
            }
        } else if let (Some((name, value)), true, Some(values)) = (line.split_once('='), is_named, &mut values) {
            // A comment after a value needs a space before it: secret keys may contain "#".
            let value = value.split(" #").next().unwrap_or_default().trim();
            values.insert(name.trim().to_ascii_lowercase(), value.to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_file_and_later_files_take_precedence() {
        let files = AwsSharedConfig {
            config_files: vec!["[profile a]\nregion = r # there\naws_access_key_id=P\n\n[b]\nregion = no\n".to_owned()],
            credentials_files: vec![
                "[a]\naws_access_key_id = K\nAWS_SECRET_ACCESS_KEY = k=\n".to_owned(),
                "[ a ]\naws_session_token=t\n".to_owned(),
            ],
        };
        let profile = files.profile("a").unwrap();
        let keys = profile.keys().unwrap();
        assert_eq!((&*keys.id, &*keys.secret, keys.session.as_deref()), ("K", "k=", Some("t")));
        assert_eq!(profile.value("region"), Some("r"));
        assert!(files.profile("b").is_none());
        assert!(!format!("{profile:?} {files:?}").contains("k="));
    }
}
