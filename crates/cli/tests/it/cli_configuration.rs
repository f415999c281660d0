//! CLI configuration files: lookup, also without `HOME` as under cron and systemd, and error reporting.

#[cfg(unix)]
use nix::unistd::{Uid, User};

use crate::common::Folder;

const HEADING: &str = "There are some problems with the CLI configuration:\n";

#[test]
fn missing_named_file_is_a_warning() {
    let folder = Folder::new();
    let mut command = folder.command(&["version"]);
    let output = command.env("TF_CLI_CONFIG_FILE", "/no/such/file.tfrc").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        format!(
            "{HEADING}\nWarning: Unable to open CLI configuration file\n\nThe CLI configuration file at \"/no/such/file.tfrc\" does not exist.\n"
        )
    );
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("Terraform v"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn invalid_cli_configuration_is_reported_on_stderr() {
    for (text, problem) in [
        ("provider_installation { magic {} }", "Error: Invalid provider_installation method block"),
        ("plugin_cache_dir = \"/no/such\"", "Error: The specified plugin cache dir /no/such cannot be opened"),
        ("credentials \"a b\" { token = \"x\" }", "Error: The credentials \"a b\" block has an invalid hostname"),
        ("host \"a b\" { services = {} }", "Error: The host \"a b\" block has an invalid hostname"),
        ("provider_installation {\n", "Error: Error parsing"),
    ] {
        let folder = Folder::new();
        folder.write("rc", text);
        let folder = folder.with("TF_CLI_CONFIG_FILE", "rc");
        let ran = folder.run(&["validate", "-json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.starts_with(HEADING) && ran.err.contains(problem), "{}", ran.err);
        assert!(ran.err.contains("As a result of the above problems, Terraform may not behave as intended."));
        assert!(ran.out.starts_with('{'), "the command's own output is not touched: {}", ran.out);
    }
}

#[test]
fn relative_path_is_relative_to_the_initial_directory() {
    let folder = Folder::new();
    folder.write("rc", "disable_checkpoint = true\n").write("sub/main.tf", "");
    let ran = folder.with("TF_CLI_CONFIG_FILE", "rc").run(&["-chdir=sub", "validate"]);
    assert_eq!(ran.err, "");
}

#[test]
fn file_in_the_home_directory_is_optional() {
    assert_eq!(Folder::new().run(&["version"]).err, "");
}

#[cfg(unix)]
fn output_without_variables(folder: &Folder, arguments: &[&str]) -> String {
    let mut command = folder.command(arguments);
    for name in ["HOME", "USER", "LOGNAME", "USERNAME"] {
        command.env_remove(name);
    }
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn home_directory_comes_from_the_user_database() {
    let Some(user) = User::from_uid(Uid::current()).unwrap() else { return };
    let folder = Folder::new();
    folder.write("main.tf", "output \"home\" {\n  value = pathexpand(\"~/x\")\n}\n");
    let planned = output_without_variables(&folder, &["plan"]);
    assert!(planned.contains(&format!("\"{}\"", user.dir.join("x").display())), "{planned}");
}

#[cfg(unix)]
#[test]
fn locks_name_the_user_of_the_user_database() {
    let Some(user) = User::from_uid(Uid::current()).unwrap() else { return };
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"cp .terraform.tfstate.lock.info seen\"\n  }\n}\n",
    );
    output_without_variables(&folder, &["apply", "-auto-approve"]);
    let seen = folder.read("seen");
    assert!(seen.contains(&format!("\"Who\":\"{}@", user.name)), "{seen}");
}
