//! `init` with packages of a folder: what it installs, locks and says.
#![allow(clippy::unwrap_used)] // a test may fail where it is surprised

use std::path::Path;
use std::process::{Command, Output};

const TOOL: &str = "mirror/example.com/acme/tool";

/// A folder with a mirror that has unpacked packages of these versions, and a configuration that asks for `constraint`.
fn folder(versions: &[&str], constraint: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for version in versions {
        let package = folder.path().join(TOOL).join(version).join(platform());
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join(format!("terraform-provider-tool_v{version}")), version).unwrap();
    }
    let rc =
        format!("provider_installation {{ filesystem_mirror {{ path = \"{}/mirror\" }} }}\n", folder.path().display());
    std::fs::write(folder.path().join("rc"), rc).unwrap();
    configure(folder.path(), constraint);
    folder
}

fn platform() -> String {
    groma_install::providers::Platform::current().to_string()
}

fn configure(folder: &Path, constraint: &str) {
    let text = format!(
        "terraform {{\n  required_providers {{\n    tool = {{ source = \"example.com/acme/tool\", version = \"{constraint}\" }}\n  }}\n}}\n"
    );
    std::fs::write(folder.join("main.tf"), text).unwrap();
}

fn groma(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_groma"))
        .args(arguments)
        .current_dir(folder)
        .env("TF_CLI_CONFIG_FILE", folder.join("rc"))
        .env("HOME", folder)
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    // Texts wrap where the terminal ends.
    (status.code().unwrap_or(-1), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn the_newest_version_that_is_allowed_is_installed_and_locked() {
    let folder = folder(&["1.0.0", "1.2.0", "1.3.0-beta1", "2.0.0"], "~> 1.0");
    let (code, text) = groma(folder.path(), &["init"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("- Finding example.com/acme/tool versions matching \"~> 1.0\"..."), "{text}");
    assert!(text.contains("- Installed example.com/acme/tool v1.2.0 (unauthenticated)"), "{text}");
    assert!(text.contains("has created a lock file .terraform.lock.hcl"), "{text}");
    assert!(text.contains("Warning: Incomplete lock file information for providers"), "{text}");
    let lock = std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap();
    assert!(lock.contains("  version     = \"1.2.0\"\n  constraints = \"~> 1.0\"\n  hashes = [\n    \"h1:"), "{lock}");
    let (_, text) = groma(folder.path(), &["init"]);
    assert!(
        text.contains("- Reusing previous version of example.com/acme/tool from the dependency lock file"),
        "{text}"
    );
    assert!(text.contains("- Using previously-installed example.com/acme/tool v1.2.0"), "{text}");
}

#[test]
fn a_changed_constraint_needs_an_upgrade() {
    let folder = folder(&["1.0.0", "1.2.0"], "1.2.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    configure(folder.path(), "1.0.0");
    let (code, text) = groma(folder.path(), &["init"]);
    assert_eq!(code, 1);
    assert!(text.contains("Error: Failed to query available provider packages"), "{text}");
    assert!(
        text.contains("locked provider example.com/acme/tool 1.2.0 does not match configured version constraint 1.0.0"),
        "{text}"
    );
    let (code, text) = groma(folder.path(), &["plan"]);
    assert_eq!(code, 1);
    assert!(text.contains("Error: Inconsistent dependency lock file"), "{text}");
    let (code, text) = groma(folder.path(), &["init", "-upgrade"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("has made some changes to the provider dependency selections"), "{text}");
}

#[test]
fn a_package_that_is_missing_or_changed_does_not_run() {
    let folder = folder(&["1.0.0"], "1.0.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    let program = folder.path().join(TOOL).join("1.0.0").join(platform()).join("terraform-provider-tool_v1.0.0");
    std::fs::write(program, "changed").unwrap();
    let (code, text) = groma(folder.path(), &["plan"]);
    assert_eq!(code, 1);
    assert!(text.contains("Error: Required plugins are not installed"), "{text}");
    assert!(text.contains("does not match any of the checksums recorded in the dependency lock file"), "{text}");
    let (_, text) = groma(folder.path(), &["init"]);
    assert!(text.contains("doesn't match any of the checksums previously recorded"), "{text}");
    std::fs::remove_dir_all(folder.path().join(".terraform")).unwrap();
    let (_, text) = groma(folder.path(), &["plan"]);
    assert!(
        text.contains("there is no package for example.com/acme/tool 1.0.0 cached in .terraform/providers"),
        "{text}"
    );
}

#[test]
fn a_read_only_lock_file_stays_as_it_is() {
    let folder = folder(&["1.0.0"], "1.0.0");
    let (code, text) = groma(folder.path(), &["init", "-lockfile=readonly"]);
    assert_eq!(code, 1);
    assert!(text.contains("Error: Provider dependency changes detected"), "{text}");
    assert!(!folder.path().join(".terraform.lock.hcl").exists());
}
