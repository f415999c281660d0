//! Profiles of the file `~/.oci/config`.

use std::collections::BTreeMap;

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
    fn default_profile_completes_the_others() {
        let text = "# comment\n[DEFAULT]\nuser = u\nregion=r1\n\n[TEAM]\n region = r2 \nkey_file=/k=y\n";
        let team = profile(text, "TEAM").unwrap();
        let entry = |name: &str| team.get(name).map(String::as_str);
        assert_eq!((entry("user"), entry("region"), entry("key_file")), (Some("u"), Some("r2"), Some("/k=y")));
        assert!(profile(text, "OTHER").is_none() && profile("user=u", "DEFAULT").is_none());
    }
}
