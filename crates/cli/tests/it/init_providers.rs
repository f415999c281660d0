//! `init` with a filesystem mirror: installation, lock file and messages.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

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

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groma"));
    command.args(arguments).current_dir(folder);
    command.env("TF_CLI_CONFIG_FILE", folder.join("rc")).env("HOME", folder).env("GROMA_PERSONA", "terraform");
    command
}

fn groma(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } = command(folder, arguments).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    // Texts wrap where the terminal ends.
    (status.code().unwrap_or(-1), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn newest_allowed_version_is_installed_and_locked() {
    let folder = folder(&["1.0.0", "1.2.0", "1.3.0-beta1", "2.0.0"], "~> 1.0");
    let (code, text) = groma(folder.path(), &["init"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("- Finding example.com/acme/tool versions matching \"~> 1.0\"..."), "{text}");
    assert!(text.contains("- Installed example.com/acme/tool v1.2.0 (unauthenticated)"), "{text}");
    assert!(text.contains("has created a lock file .terraform.lock.hcl"), "{text}");
    assert!(text.contains("Warning: Incomplete lock file information for providers"), "{text}");
    let lock = std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap();
    assert!(lock.contains("  version     = \"1.2.0\"\n  constraints = \"~> 1.0\"\n  hashes = [\n    \"h1:"), "{lock}");
    assert!(groma(folder.path(), &["version"]).1.ends_with("+ provider example.com/acme/tool v1.2.0"));
    assert!(groma(folder.path(), &["version", "-json"]).1.contains("{ \"example.com/acme/tool\": \"1.2.0\" }"));
    let (_, text) = groma(folder.path(), &["init"]);
    assert!(
        text.contains("- Reusing previous version of example.com/acme/tool from the dependency lock file"),
        "{text}"
    );
    assert!(text.contains("- Using previously-installed example.com/acme/tool v1.2.0"), "{text}");
}

#[test]
fn changed_constraint_requires_upgrade() {
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
    let (_, text) = groma(folder.path(), &["validate"]);
    assert!(!text.contains("Inconsistent"), "what is locked does to check with: {text}");
    let (code, text) = groma(folder.path(), &["init", "-upgrade"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("has made some changes to the provider dependency selections"), "{text}");
}

#[test]
fn missing_or_modified_package_is_rejected() {
    let folder = folder(&["1.0.0"], "1.0.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    let (_, text) = groma(folder.path(), &["providers", "schema", "-json"]);
    assert!(
        text.contains("tool failed to return its schemas: - error: "),
        "it is no program, and that is reported: {text}"
    );
    let program = folder.path().join(TOOL).join("1.0.0").join(platform()).join("terraform-provider-tool_v1.0.0");
    std::fs::write(program, "changed").unwrap();
    let (code, text) = groma(folder.path(), &["plan"]);
    assert_eq!(code, 1);
    assert!(text.contains("Error: Required plugins are not installed"), "{text}");
    assert!(text.contains("does not match any of the checksums recorded in the dependency lock file"), "{text}");
    let (_, text) = groma(folder.path(), &["providers", "schema", "-json"]);
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
fn package_with_a_wrong_checksum_is_not_reported_as_missing() {
    let folder = folder(&["1.0.0"], "1.0.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    let lock = std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap();
    let recorded = lock.split('"').find(|word| word.starts_with("h1:")).unwrap().to_owned();
    let program = folder.path().join(TOOL).join("1.0.0").join(platform()).join("terraform-provider-tool_v1.0.0");
    std::fs::write(program, "changed").unwrap();
    for command in ["validate", "plan", "init"] {
        let (code, text) = groma(folder.path(), &[command]);
        assert_eq!(code, 1, "{text}");
        assert!(!text.contains("no package of it") && !text.contains("Missing required provider"), "{text}");
        assert!(text.contains("match any of the checksums"), "{command}: {text}");
        assert!(text.contains(&recorded) && text.matches("h1:").count() >= 2, "the two are named: {command}: {text}");
        assert!(text.contains("the package was replaced at its source: find out why before you trust it"), "{text}");
        assert!(text.contains("Only then delete the provider's block in .terraform.lock.hcl"), "{text}");
    }
    std::fs::remove_dir_all(folder.path().join(".terraform")).unwrap();
    let (_, text) = groma(folder.path(), &["validate"]);
    assert!(
        text.contains("Missing required provider") && text.contains("To install it, run: terraform init"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn link_to_a_removed_cache_is_named() {
    let folder = folder(&["1.0.0"], "1.0.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    std::fs::remove_dir_all(folder.path().join("mirror")).unwrap();
    let (_, text) = groma(folder.path(), &["plan"]);
    assert!(text.contains("the link there leads to") && text.contains("which does not exist"), "{text}");
}

#[test]
fn mirror_error_names_available_platforms() {
    let folder = folder(&["1.0.0"], "1.0.0");
    let version = folder.path().join(TOOL).join("1.0.0");
    std::fs::rename(version.join(platform()), version.join("plan9_mips")).unwrap();
    let (code, text) = groma(folder.path(), &["init"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("has packages of example.com/acme/tool for plan9_mips, and none for"), "{text}");
    std::fs::write(
        folder.path().join(TOOL).join("terraform-provider-tool_1.1.0_plan9_arm.zip"),
        "an archive for another platform",
    )
    .unwrap();
    let (_, text) = groma(folder.path(), &["init"]);
    assert!(text.contains("for plan9_arm, plan9_mips, and none for"), "{text}");
}

#[test]
fn modified_package_with_unchanged_size_and_time_is_rejected() {
    let folder = folder(&["1.0.0"], "1.0.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    // So long ago must a change be before a command notes what the package hashes to, for the next one.
    std::thread::sleep(Duration::from_millis(2100));
    let run = || groma(folder.path(), &["plan"]).1;
    for _ in 0..2 {
        assert!(!run().contains("does not match any of the checksums"));
    }
    let program = folder.path().join(TOOL).join("1.0.0").join(platform()).join("terraform-provider-tool_v1.0.0");
    let before = std::fs::metadata(&program).unwrap();
    std::fs::write(&program, "9.9.9").unwrap();
    File::options().append(true).open(&program).unwrap().set_modified(before.modified().unwrap()).unwrap();
    let now = std::fs::metadata(&program).unwrap();
    assert_eq!((now.len(), now.modified().unwrap()), (before.len(), before.modified().unwrap()));
    assert!(run().contains("does not match any of the checksums recorded in the dependency lock file"));
}

/// Writes a lock file with these hashes.
fn lock(folder: &Path, hashes: &[&str], more: &str) {
    let hashes: String = hashes.iter().map(|hash| format!("    {hash:?},\n")).collect();
    let text = format!(
        "provider \"example.com/acme/tool\" {{\n  version     = \"1.0.0\"\n  constraints = \"1.0.0\"\n  hashes = [\n{hashes}  ]\n}}\n{more}"
    );
    std::fs::write(folder.join(".terraform.lock.hcl"), text).unwrap();
}

#[test]
fn unpacked_package_is_accepted_despite_archive_hashes() {
    let folder = folder(&["1.0.0"], "1.0.0");
    let zip = format!("zh:{}", "0".repeat(64));
    lock(folder.path(), &[&zip], "");
    let (code, text) = groma(folder.path(), &["init"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("Incomplete lock file information"), "{text}");
    let locked = std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap();
    assert!(locked.contains(&zip) && locked.contains("\"h1:"), "{locked}");
    assert_eq!(groma(folder.path(), &["plan"]).0, 0);
    // A hash of a kind that it has is another matter.
    std::fs::remove_dir_all(folder.path().join(".terraform")).unwrap();
    lock(folder.path(), &[&zip, "h1:AAAAUDvmiJcijsvfXpiLCz0lXIBSsEJjMxljt7hxMhw="], "");
    let (code, text) = groma(folder.path(), &["init"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("doesn't match any of the checksums previously recorded"), "{text}");
}

#[test]
fn warns_about_checksums_of_one_platform() {
    for hashes in [&["h2:to-come"][..], &["h2:to-come", "h3:too"]] {
        let folder = folder(&["1.0.0"], "1.0.0");
        lock(folder.path(), hashes, "");
        let (code, text) = groma(folder.path(), &["init"]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("Incomplete lock file information"), "{text}");
    }
}

#[test]
fn module_locks_of_future_versions_are_preserved() {
    let folder = folder(&["1.0.0"], "1.0.0");
    lock(folder.path(), &["h2:to-come"], "module \"m\" {\n  version = \"1.0.0\"\n}\n");
    let (code, text) = groma(folder.path(), &["init"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("Warning: Dependency locks for modules are not yet supported on .terraform.lock.hcl line 8"),
        "{text}"
    );
}

#[test]
fn invalid_reattach_variable_stops_init() {
    let folder = folder(&["1.0.0"], "1.0.0");
    for wrong in ["x", "[]", r#"{"example.com/acme/tool": {}}"#, r#"{"a/b/c/d": {}}"#] {
        let ran = command(folder.path(), &["init"]).env("TF_REATTACH_PROVIDERS", wrong).output().unwrap();
        let text = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && text.contains("Error: Invalid TF_REATTACH_PROVIDERS"), "{wrong}: {text}");
        assert!(!folder.path().join(".terraform/providers").exists(), "{wrong}");
    }
}

#[test]
fn reports_lock_file_errors_if_a_provider_is_missing() {
    let folder = folder(&["1.0.0"], "1.0.0");
    let lock = "provider \"acme/tool\" {\n  version = \"1.0.0\"\n}\n";
    std::fs::write(folder.path().join(".terraform.lock.hcl"), lock).unwrap();
    for command in ["plan", "init"] {
        let (code, text) = groma(folder.path(), &[command]);
        assert!(code == 1 && text.contains("Error: Non-normalized provider source address"), "{text}");
        assert!(text.contains("registry.terraform.io/acme/tool"), "{text}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap(), lock);
}

#[test]
fn readonly_lock_file_is_unchanged() {
    let folder = folder(&["1.0.0"], "1.0.0");
    let (code, text) = groma(folder.path(), &["init", "-lockfile=readonly"]);
    assert_eq!(code, 1);
    assert!(text.contains("Error: Provider dependency changes detected"), "{text}");
    assert!(!folder.path().join(".terraform.lock.hcl").exists());
}

#[test]
fn readonly_lock_file_may_lack_hashes_or_have_other_constraints() {
    let folder = folder(&["1.0.0"], "1.0.0");
    for locked in ["constraints = \">= 0.9.0\"", "hashes = [\"zh:00\", \"h2:00\"]"] {
        let text = format!("provider \"example.com/acme/tool\" {{\n  version = \"1.0.0\"\n  {locked}\n}}\n");
        std::fs::write(folder.path().join(".terraform.lock.hcl"), &text).unwrap();
        let (code, reported) = groma(folder.path(), &["init", "-lockfile=readonly"]);
        assert!(code == 0 && reported.contains("Warning: Provider lock file not updated"), "{reported}");
        assert_eq!(std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap(), text);
    }
}

#[test]
fn hashes_of_unknown_schemes_are_kept_with_their_version() {
    let folder = folder(&["1.0.0"], "1.0.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    let path = folder.path().join(".terraform.lock.hcl");
    let written = std::fs::read_to_string(&path).unwrap();
    let hashes = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("    \""));
        lines.map(|line| line.trim().chars().skip(1).take(3).collect()).collect()
    };
    std::fs::write(&path, written.replace("hashes = [\n", "hashes = [\n    \"zz:1\",\n    \"h2:1\",\n")).unwrap();
    // They are sorted, as all are.
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    assert_eq!(hashes(&std::fs::read_to_string(&path).unwrap()), ["h1:", "h2:", "zz:"]);
    // Nothing says that what is installed anew would have them.
    std::fs::remove_dir_all(folder.path().join(".terraform")).unwrap();
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
}

#[test]
fn compatible_constraint_does_not_change_the_lock_file() {
    let folder = folder(&["1.0.0", "1.2.0"], "~> 1.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    let written = std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap();
    configure(folder.path(), ">= 1.1.0");
    for arguments in [&["init", "-lockfile=readonly"][..], &["init"], &["init", "-upgrade"]] {
        let (code, text) = groma(folder.path(), arguments);
        assert_eq!(code, 0, "{text}");
        assert_eq!(std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap(), written);
    }
    // It is written down by who asks for the lock file.
    let (code, text) = groma(folder.path(), &["providers", "lock", "-fs-mirror=mirror"]);
    assert_eq!(code, 0, "{text}");
    let lock = std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap();
    assert!(lock.contains("  constraints = \">= 1.1.0\"\n"), "{lock}");
}

#[test]
fn providers_of_the_state_alone_are_installed() {
    let folder = folder(&["1.0.0"], "1.0.0");
    std::fs::write(folder.path().join("main.tf"), "").unwrap();
    let state = r#"{"version":4,"terraform_version":"1.15.5","serial":1,"lineage":"x","outputs":{},"resources":[{"mode":"managed","type":"tool_thing","name":"b","provider":"provider[\"example.com/acme/tool\"]","instances":[]}],"check_results":null}"#;
    std::fs::write(folder.path().join("terraform.tfstate"), state).unwrap();
    let (code, text) = groma(folder.path(), &["init"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains(
            "Initializing provider plugins found in the state... - Finding latest version of example.com/acme/tool..."
        ),
        "{text}"
    );
    let lock = std::fs::read_to_string(folder.path().join(".terraform.lock.hcl")).unwrap();
    assert!(lock.contains("provider \"example.com/acme/tool\""), "{lock}");
    let (_, text) = groma(folder.path(), &["init"]);
    assert!(
        text.contains("- Reusing previous version of example.com/acme/tool - Using previously-installed"),
        "{text}"
    );
    configure(folder.path(), "1.0.0");
    let (_, text) = groma(folder.path(), &["init"]);
    assert!(text.contains("from the dependency lock file"), "{text}");
    assert!(
        text.contains("found in the state... - Reusing previous version of example.com/acme/tool - Using"),
        "{text}"
    );
}

#[test]
fn archive_hashes_do_not_verify_a_directory() {
    let folder = folder(&["1.0.0"], "1.0.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    let path = folder.path().join(".terraform.lock.hcl");
    let lock = std::fs::read_to_string(&path).unwrap();
    let lines = lock.lines().map(|line| if line.contains("h1:") { "    \"zh:00\"," } else { line });
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let (code, text) = groma(folder.path(), &["plan"]);
    assert_eq!(code, 1);
    assert!(text.contains("does not match any of the checksums recorded in the dependency lock file"), "{text}");
}

#[test]
fn lock_uses_the_shared_cache_if_allowed() {
    let folder = folder(&["1.0.0"], "1.0.0");
    assert_eq!(groma(folder.path(), &["init"]).0, 0);
    let below = Path::new("1.0.0").join(platform());
    let program = folder.path().join(TOOL).join(&below).join("terraform-provider-tool_v1.0.0");
    let cached = folder.path().join("cache/example.com/acme/tool").join(&below);
    std::fs::create_dir_all(&cached).unwrap();
    std::fs::copy(&program, cached.join("terraform-provider-tool_v1.0.0")).unwrap();
    let rc = format!("plugin_cache_dir = \"{}/cache\"\n", folder.path().display());
    std::fs::write(folder.path().join("rc"), rc).unwrap();
    // Since then the mirror has another build.
    std::fs::write(program, "another").unwrap();
    let (code, text) = groma(folder.path(), &["providers", "lock", "-fs-mirror=mirror", "-enable-plugin-cache"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("(verified checksum)") && text.contains("found no need for changes"), "{text}");
    let (code, text) = groma(folder.path(), &["providers", "lock", "-fs-mirror=mirror"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Additional checksums for this platform are now tracked"), "{text}");
}

#[test]
fn init_from_module_copies_a_module() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    std::fs::create_dir_all(source.join("inner")).unwrap();
    std::fs::write(source.join("main.tf"), "module \"i\" {\n  source = \"./inner\"\n}\n").unwrap();
    std::fs::write(source.join("inner/main.tf"), "output \"o\" {\n  value = 1\n}\n").unwrap();
    std::fs::write(folder.path().join("rc"), "").unwrap();
    let here = folder.path().join("here");
    std::fs::create_dir(&here).unwrap();
    std::fs::write(here.join("rc"), "").unwrap();
    let (code, text) = groma(&here, &["init", "-from-module=../source"]);
    assert_eq!(code, 1);
    assert!(text.contains("Error: Can't populate non-empty directory"), "{text}");
    std::fs::remove_file(here.join("rc")).unwrap();
    for address in ["../source".to_owned(), format!("{}//inner", source.display())] {
        let run = || {
            let output = Command::new(env!("CARGO_BIN_EXE_groma"))
                .args(["init", &format!("-from-module={address}")])
                .current_dir(&here)
                .env_remove("TF_CLI_CONFIG_FILE")
                .env("HOME", folder.path())
                .output()
                .unwrap();
            (
                output.status.success(),
                String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
            )
        };
        let (is_good, text) = run();
        assert!(is_good && text.contains("Copying configuration from"), "{text}");
        assert!(here.join("main.tf").exists());
        let (is_good, text) = run();
        assert!(!is_good && text.contains("Error: The working directory already contains files"), "{text}");
        std::fs::remove_dir_all(&here).unwrap();
        std::fs::create_dir(&here).unwrap();
    }
}

#[test]
fn empty_directory_needs_no_providers() {
    let folder = tempfile::tempdir().unwrap();
    let (code, text) = groma(folder.path(), &["init"]);
    assert!(code == 0 && text.contains("initialized in an empty directory!"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let (code, text) = groma(folder.path(), &["init", "-migrate-state", "-reconfigure"]);
    assert!(code == 1 && text.contains("Invalid init options"), "{text}");
}

#[test]
fn only_required_providers_can_be_locked() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.tf"), "").unwrap();
    let (code, text) = groma(folder.path(), &["providers", "lock", "acme/nosuch"]);
    assert!(code == 1 && text.contains("Invalid provider argument"), "{text}");
}

#[test]
fn all_unavailable_packages_are_reported() {
    let folder = folder(&["1.0.0"], "1.0.0");
    let text = |name: &str| format!("    {name} = {{ source = \"example.com/acme/{name}\" }}\n");
    let required = ["gone", "lost", "tool"].map(text).concat();
    let text = format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n");
    std::fs::write(folder.path().join("main.tf"), text).unwrap();
    let (code, text) = groma(folder.path(), &["providers", "lock", "-fs-mirror=mirror"]);
    assert!(code == 1 && text.matches("Could not retrieve providers for locking").count() == 1, "{text}");
    assert!(text.contains("- example.com/acme/gone: ") && text.contains("- example.com/acme/lost: "), "{text}");
    assert!(
        text.contains("Retrieved example.com/acme/tool") && !folder.path().join(".terraform.lock.hcl").exists(),
        "{text}"
    );
    let (code, text) = groma(folder.path(), &["providers", "mirror", "copy"]);
    assert!(code == 1 && text.matches("Provider not available").count() == 3, "{text}");
    assert!(text.contains("acme/gone for") && text.contains("acme/lost for"), "{text}");
}

#[test]
fn builtin_namespace_has_one_provider_without_versions() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rc"), "").unwrap();
    let with = |entry: &str| {
        let text = format!("terraform {{\n  required_providers {{\n    terraform = {{ {entry} }}\n  }}\n}}\n");
        std::fs::write(folder.path().join("main.tf"), text).unwrap();
        groma(folder.path(), &["init"])
    };
    let (code, text) = with("source = \"terraform.io/builtin/other\"");
    assert!(code == 1 && text.contains("Invalid dependency on built-in provider"), "{text}");
    assert!(groma(folder.path(), &["validate"]).1.contains("Missing required provider"));
    let (code, text) = with("version = \">= 1.0\"");
    assert!(code == 1 && text.contains("no version of its own. Remove the version constraint >= 1.0"), "{text}");
    assert_eq!(with("source = \"terraform.io/builtin/terraform\"").0, 0);
}

/// Git sets `GIT_DIR` for hooks, and a hook may run `init`: the repository of the hook must stay as it is.
#[test]
fn git_source_ignores_the_repository_of_a_calling_hook() {
    let folder = tempfile::tempdir().unwrap();
    let git = |repository: &str, arguments: &[&str]| {
        let path = folder.path().join(repository);
        std::fs::create_dir_all(&path).unwrap();
        let identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
        let ran = Command::new("git").args(identity).args(arguments).current_dir(path).output().ok()?;
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        Some(String::from_utf8(ran.stdout).unwrap())
    };
    for repository in ["module", "hook"] {
        if git(repository, &["init", "-q", "-b", "main"]).is_none() {
            println!("skipped: no git");
            return;
        }
        std::fs::write(folder.path().join(repository).join("main.tf"), format!("# {repository}\n")).unwrap();
        git(repository, &["add", "-A"]).unwrap();
        git(repository, &["commit", "-qm", "all"]).unwrap();
        git(repository, &["tag", "v1"]).unwrap();
    }
    let source = format!("git::file://{}/module?ref=v1", folder.path().display());
    let use_folder = folder.path().join("use");
    std::fs::create_dir(&use_folder).unwrap();
    std::fs::write(use_folder.join("main.tf"), format!("module \"m\" {{\n  source = \"{source}\"\n}}\n")).unwrap();
    std::fs::write(use_folder.join("rc"), "").unwrap();
    let hook = folder.path().join("hook/.git");
    let ran = command(&use_folder, &["init"]).env("GIT_DIR", &hook).env("GIT_INDEX_FILE", hook.join("index")).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(std::fs::read_to_string(use_folder.join(".terraform/modules/m/main.tf")).unwrap(), "# module\n");
    assert_eq!(git("hook", &["branch", "--show-current"]).unwrap(), "main\n");
}

#[test]
fn init_removes_cached_schemas() {
    let folder = folder(&["1.0.0"], "1.0.0");
    let cached = folder.path().join(".terraform/schemas/h1-forged.2");
    for arguments in [&["init"][..], &["init", "-upgrade"]] {
        std::fs::create_dir_all(cached.parent().unwrap()).unwrap();
        std::fs::write(&cached, "forged").unwrap();
        let (code, text) = groma(folder.path(), arguments);
        assert_eq!(code, 0, "{text}");
        assert!(!cached.exists(), "{arguments:?}");
    }
}
