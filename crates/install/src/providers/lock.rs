//! Writing of the dependency lock file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_config::LockFile;
use groma_config::version::{Constraints, Version};

use super::constraints::constraints_text;

/// The name of the file.
pub const LOCK_FILE: &str = ".terraform.lock.hcl";

const HEADER: &str =
    "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";

/// The content of the dependency lock file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locks {
    /// The locks by provider, in the order of the file.
    pub providers: BTreeMap<ProviderAddress, Lock>,
}

/// The lock of one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// The version that later runs use until it is upgraded.
    pub version: Version,
    /// The constraints at the time of selection.
    pub constraints: Constraints,
    /// The hashes of which a package must have one: in the order of the file that they were read from, otherwise
    /// sorted.
    pub hashes: Vec<Arc<str>>,
}

impl Lock {
    /// Adds hashes in sorted order, each once.
    pub fn add_hashes(&mut self, hashes: impl IntoIterator<Item = Arc<str>>) {
        self.hashes.extend(hashes);
        self.hashes.sort_unstable();
        // Sources repeat hashes that the lock file has already.
        self.hashes.dedup();
    }
}

impl From<&LockFile> for Locks {
    fn from(file: &LockFile) -> Self {
        let providers = file.providers.iter().map(|(address, locked)| {
            let (version, constraints) = (locked.version.clone(), locked.constraints.clone());
            (address.clone(), Lock { version, constraints, hashes: locked.hashes.clone() })
        });
        Self { providers: providers.collect() }
    }
}

impl Locks {
    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = HEADER.to_owned();
        for (address, lock) in &self.providers {
            let constraints = constraints_text(&lock.constraints);
            // The formatter aligns the equals signs of adjacent lines.
            let (name, constraints) = match &constraints[..] {
                "" => ("version", String::new()),
                some => ("version    ", format!("  constraints = \"{some}\"\n")),
            };
            text.push_str(&format!("\nprovider \"{address}\" {{\n  {name} = \"{}\"\n{constraints}", lock.version));
            if !lock.hashes.is_empty() {
                text.push_str("  hashes = [\n");
                let mut hashes = lock.hashes.clone();
                hashes.sort_unstable();
                hashes.iter().for_each(|hash| text.push_str(&format!("    \"{hash}\",\n")));
                text.push_str("  ]\n");
            }
            text.push_str("}\n");
        }
        text
    }

    /// Writes the file into `folder` atomically.
    ///
    /// # Errors
    /// Fails if the directory cannot be written to.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        // In the same directory, as a rename cannot cross file systems.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(self.text().as_bytes())?;
        allow_reading(file.as_file())?;
        file.persist(folder.join(LOCK_FILE)).map(drop).map_err(|error| error.error)
    }
}

/// Temporary files are private; this one is shared, so it gets the default permissions.
#[cfg(unix)]
fn allow_reading(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_file_layout_matches_terraform() {
        // The hashes are made up: only the layout counts.
        let lock = |constraints: &str| Lock {
            version: Version::new(1, 2, 0),
            constraints: if constraints.is_empty() { Constraints::default() } else { constraints.parse().unwrap() },
            hashes: vec!["h1:a=".into(), "zh:00".into()],
        };
        let providers = [("one", lock("")), ("two", lock("~> 1.0, < 2.0"))];
        let providers = providers.map(|(name, lock)| (ProviderAddress::default_for(name), lock));
        insta::assert_snapshot!(Locks { providers: providers.into() }.text(), @r#"
        # This file is maintained automatically by "terraform init".
        # Manual edits may be lost in future updates.

        provider "registry.terraform.io/hashicorp/one" {
          version = "1.2.0"
          hashes = [
            "h1:a=",
            "zh:00",
          ]
        }

        provider "registry.terraform.io/hashicorp/two" {
          version     = "1.2.0"
          constraints = "~> 1.0, < 2.0.0"
          hashes = [
            "h1:a=",
            "zh:00",
          ]
        }
        "#);
    }
}
