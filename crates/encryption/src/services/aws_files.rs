//! The files in which the tools of AWS keep profiles.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::network::AwsKeys;

/// What the files say, which later ones say instead of earlier ones.
pub struct AwsFiles {
    credentials: Vec<String>,
    profiles: Vec<String>,
}

/// What the files say of one profile. It is never shown: there are secrets in it.
#[derive(Default)]
pub struct AwsProfile(BTreeMap<String, String>);

impl fmt::Debug for AwsFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsFiles").finish_non_exhaustive()
    }
}

impl fmt::Debug for AwsProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl AwsFiles {
    /// Reads the files with keys and those with profiles; those that cannot be read say nothing.
    pub fn read(credentials: &[PathBuf], profiles: &[PathBuf]) -> Self {
        let texts = |paths: &[PathBuf]| paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        Self { credentials: texts(credentials), profiles: texts(profiles) }
    }

    /// The profile of that name, if a file has it. What a file with keys says counts more.
    pub fn profile(&self, name: &str) -> Option<AwsProfile> {
        let mut found: Option<AwsProfile> = None;
        let sections = [format!("profile {name}"), name.to_owned()];
        // Only the profile that is meant where none is named has a section without the word.
        let of_profiles = if name == "default" { &sections[..] } else { &sections[..1] };
        let meant = self.profiles.iter().map(|text| (text, of_profiles));
        for (text, sections) in meant.chain(self.credentials.iter().map(|text| (text, &sections[1..]))) {
            if let Some(values) = section(text, sections) {
                found.get_or_insert_default().0.extend(values);
            }
        }
        found
    }
}

impl AwsProfile {
    /// What it says under a name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Its keys, if it has some.
    pub fn keys(&self) -> Option<AwsKeys> {
        let value = |name: &str| self.value(name).map(str::to_owned);
        let (id, secret) = (value("aws_access_key_id")?, value("aws_secret_access_key")?);
        Some(AwsKeys { id, secret, session: value("aws_session_token") })
    }
}

/// What a file of sections says in those of these names; nothing if it has none of them.
fn section(text: &str, names: &[String]) -> Option<BTreeMap<String, String>> {
    let mut values = None;
    let mut is_meant = false;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        if let Some(found) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            is_meant = names.iter().any(|name| found.split_whitespace().eq(name.split_whitespace()));
            if is_meant {
                values.get_or_insert_with(BTreeMap::new);
            }
        } else if let (Some((name, value)), true, Some(values)) = (line.split_once('='), is_meant, &mut values) {
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
    fn keys_count_more_than_profiles_and_later_files_more_than_earlier_ones() {
        let files = AwsFiles {
            profiles: vec!["[profile a]\nregion = r # there\naws_access_key_id=P\n\n[b]\nregion = no\n".to_owned()],
            credentials: vec![
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
