//! `version`: prints the version, and those of the selected providers.

use std::path::Path;

use groma_diagnostics::Diagnostics;
use groma_install::providers::{LOCK_FILE, Locks, Platform};
use groma_provider::TERRAFORM_VERSION;
use serde_json::{Map, Value, json};

use super::context::Context;
use super::outcome::Outcome;
use super::packages::locks;
use crate::arguments::{Flag, Version};
use crate::settings::VERSION;
use crate::views::json::pretty;

pub(super) fn run(context: &mut Context, arguments: &Version) -> Outcome {
    // Errors in the lock file do not matter here; commands that need the file report them.
    let locks = match Path::new(LOCK_FILE).exists() {
        true => locks(context, &mut Diagnostics::new()),
        false => Locks::default(),
    };
    let text = if arguments.json.is_some_and(Flag::is_on) { json_text(&locks) } else { text(&locks) };
    context.streams.print(&text);
    Ok(0)
}

/// Returns the version as text. Wrappers parse its first two words, which name the supported language version.
fn text(locks: &Locks) -> String {
    let mut text = format!("Terraform v{TERRAFORM_VERSION} (Groma {VERSION})\non {}\n", Platform::current());
    for (address, lock) in &locks.providers {
        text.push_str(&format!("+ provider {address} v{}\n", lock.version));
    }
    text
}

fn json_text(locks: &Locks) -> String {
    let selections =
        locks.providers.iter().map(|(address, lock)| (address.to_string(), lock.version.to_string().into()));
    let selections: Map<String, Value> = selections.collect();
    let versions = json!({
        "terraform_version": TERRAFORM_VERSION,
        "groma_version": VERSION,
        "platform": Platform::current().to_string(),
        "provider_selections": selections,
        // Terraform reports newer releases here; this program does not ask for them.
        "terraform_outdated": false,
    });
    format!("{}\n", pretty(&versions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_starts_with_name_and_version() {
        let text = text(&Locks::default());
        let mut words = text.split_whitespace();
        assert_eq!(words.next(), Some("Terraform"));
        // The version of the supported language, which wrappers compare with their requirements.
        assert_eq!(words.next(), Some("v1.15.5"));
        assert!(text.lines().next().unwrap().contains("Groma"));
    }
}
