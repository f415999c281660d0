//! Tokens of the backends `remote` and `cloud`: from the CLI configuration, the environment and credentials helpers.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use super::Project;
use super::web::{Reply, serve};

/// A host that accepts no token; returns its name, and the tokens that it gets.
fn host() -> (String, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let noted = Arc::clone(&seen);
    let address = serve(move |request| {
        if request.path == "/.well-known/terraform.json" {
            return Reply::new(200, r#"{"tfe.v2":"/api/v2/"}"#);
        }
        noted.lock().unwrap().push(request.header("authorization").unwrap_or_default().to_owned());
        Reply::new(401, r#"{"errors":[{"status":"401","title":"unauthorized"}]}"#)
    });
    (address, seen)
}

fn project(host: &str, kind: &str) -> Project {
    let arguments =
        format!("hostname = {host:?}\n    organization = \"acme\"\n    workspaces {{\n      name = \"net\"\n    }}");
    let block = if kind == "cloud" { "cloud".to_owned() } else { format!("backend {kind:?}") };
    Project::new(&format!("terraform {{\n  {block} {{\n    {arguments}\n  }}\n}}\n"))
}

/// Runs `init`, which the host refuses; returns the message and the token that the host got.
fn refused(project: &Project, seen: &Mutex<Vec<String>>) -> (String, Option<String>) {
    seen.lock().unwrap().clear();
    let reported = project.fails(&["init", "-input=false"]);
    let seen = seen.lock().unwrap();
    (reported, seen.first().and_then(|header| header.strip_prefix("Bearer ")).map(str::to_owned))
}

#[test]
fn tokens_come_from_cli_configuration_environment_and_helper() {
    let (host, seen) = host();
    for kind in ["remote", "cloud"] {
        let project = project(&host, kind);
        let (reported, token) = refused(&project, &seen);
        assert_eq!(token, None, "{reported}");
        assert!(reported.contains("no token is configured") && reported.contains("login"), "{reported}");

        std::fs::create_dir_all(project.path(".terraform.d/plugins")).unwrap();
        let helper = project.path(".terraform.d/plugins/terraform-credentials-vault");
        std::fs::write(&helper, "#!/bin/sh\necho '{\"token\":\"of-helper\"}'\n").unwrap();
        std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755)).unwrap();
        project.write(".terraformrc", "credentials_helper \"vault\" {\n  args = []\n}\n");
        assert_eq!(refused(&project, &seen).1.as_deref(), Some("of-helper"));

        let stored = format!(r#"{{"credentials":{{{host:?}:{{"token":"of-login"}}}}}}"#);
        project.write(".terraform.d/credentials.tfrc.json", &stored);
        assert_eq!(refused(&project, &seen).1.as_deref(), Some("of-login"));
        std::fs::remove_file(project.path(".terraform.d/credentials.tfrc.json")).unwrap();

        project.write(".terraformrc", &format!("credentials {host:?} {{\n  token = \"of-block\"\n}}\n"));
        assert_eq!(refused(&project, &seen).1.as_deref(), Some("of-block"));

        let project = project.with(&format!("TF_TOKEN_{}", host.replace('.', "_")), "of-variable");
        assert_eq!(refused(&project, &seen).1.as_deref(), Some("of-variable"));
    }
}

#[test]
fn failing_and_missing_helpers_are_reported() {
    let (host, seen) = host();
    let project = project(&host, "remote");
    project.write(".terraformrc", "credentials_helper \"vault\" {\n  args = []\n}\n");
    let (reported, token) = refused(&project, &seen);
    assert!(token.is_none() && reported.contains("terraform-credentials-vault"), "{reported}");

    std::fs::create_dir_all(project.path(".terraform.d/plugins")).unwrap();
    let helper = project.path(".terraform.d/plugins/terraform-credentials-vault");
    std::fs::write(&helper, "#!/bin/sh\necho 'the vault is sealed' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (reported, token) = refused(&project, &seen);
    assert!(token.is_none() && reported.contains("the vault is sealed"), "{reported}");
}
