//! Which of the built-in providers give way to a package that somebody has chosen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use groma_address::{DEFAULT_PROVIDER_HOST, ProviderAddress};
use groma_config::{Configuration, DiskFiles, LockFile};
use groma_diagnostics::Sources;
use groma_hcl::{BodySchema, parse_file};

use super::context::Context;

/// The providers of which a package was chosen, with what has chosen it.
#[derive(Clone, Debug, Default)]
pub(super) struct Packages {
    chosen: HashMap<ProviderAddress, &'static str>,
}

impl Packages {
    /// A version constraint, an entry of the lock file, a development override or a running provider chooses a package.
    pub fn of(context: &Context, configuration: &Configuration) -> Self {
        let mut chosen = HashMap::new();
        for (address, requirement) in configuration.provider_requirements() {
            if !requirement.constraints.is_empty() {
                chosen.insert(address.clone(), "a version constraint");
            }
        }
        // What is wrong with a lock file matters to whoever installs packages.
        let (lock, _) = LockFile::read(&Sources::new(), &DiskFiles::new("."));
        chosen.extend(lock.providers.into_keys().map(|address| (address, "an entry of .terraform.lock.hcl")));
        chosen.extend(
            context.settings.reattached.iter().filter_map(|text| Some((address(text)?, "TF_REATTACH_PROVIDERS"))),
        );
        if let Some(file) = &context.settings.cli_configuration {
            chosen.extend(overrides(file).into_iter().map(|address| (address, "a development override")));
        }
        Self { chosen }
    }

    /// What has chosen a package for the provider, if anything has.
    pub fn reason(&self, address: &ProviderAddress) -> Option<&'static str> {
        self.chosen.get(address).copied()
    }
}

fn address(text: &str) -> Option<ProviderAddress> {
    ProviderAddress::parse(text, DEFAULT_PROVIDER_HOST).ok()
}

/// The providers under `provider_installation { dev_overrides { … } }` of a CLI configuration file.
fn overrides(file: &Path) -> Vec<ProviderAddress> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    let sources = Sources::new();
    let Some(source) = sources.add(PathBuf::from(file).to_string_lossy(), text) else { return Vec::new() };
    let (parsed, _) = parse_file(&source);
    let (outer, _, _) = parsed.body.partial_content(&BodySchema::new().block("provider_installation", &[]));
    let mut found = Vec::new();
    for installation in &outer.blocks {
        let (inner, _, _) = installation.body.partial_content(&BodySchema::new().block("dev_overrides", &[]));
        for block in &inner.blocks {
            let (entries, _) = block.body.attributes();
            found.extend(entries.iter().filter_map(|entry| address(&entry.name.name)));
        }
    }
    found
}
