//! The default registry host of providers and modules without one in their source.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use groma_address::{DEFAULT_PROVIDER_HOST, OPENTOFU_PROVIDER_HOST};

use crate::settings::Settings;

/// The registry of provider sources that name none: OpenTofu's where OpenTofu has worked before, unless a setting decides.
pub(super) fn default_registry(settings: &Settings) -> String {
    if let Some(host) = &settings.registry {
        return host.clone();
    }
    let has_worked = [".terraform.lock.hcl", "terraform.tfstate"]
        .iter()
        .any(|file| begins_with_mention(Path::new(file), OPENTOFU_PROVIDER_HOST));
    if has_worked { OPENTOFU_PROVIDER_HOST.to_owned() } else { DEFAULT_PROVIDER_HOST.to_owned() }
}

/// Whether the beginning of a file holds `text`; of a large state the beginning is enough.
fn begins_with_mention(file: &Path, text: &str) -> bool {
    const BEGINNING: u64 = 1 << 18;
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    read.is_ok() && bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
