//! `cloud` blocks. Their store is tested in the crate `groma-backend`, with a double of the service.

use super::Project;

fn project(arguments: &str) -> Project {
    Project::new(&format!("terraform {{\n  cloud {{\n    {arguments}\n  }}\n}}\n"))
}

#[test]
fn options_of_state_backends_are_refused() {
    let project = project("organization = \"acme\"\n    workspaces {\n      name = \"net\"\n    }");
    for option in ["-reconfigure", "-migrate-state", "-force-copy"] {
        let reported = project.fails(&["init", option]);
        assert!(reported.contains("Invalid command-line option"), "{option}: {reported}");
        assert!(reported.contains(option), "{reported}");
    }
}

#[test]
fn missing_settings_are_named_with_their_variables() {
    let reported = project("hostname = \"127.0.0.1:1\"").fails(&["init", "-input=false"]);
    assert!(reported.contains("TF_CLOUD_ORGANIZATION"), "{reported}");
    assert!(reported.contains("cloud block"), "{reported}");
    let reported = project("organization = \"acme\"").fails(&["init", "-input=false"]);
    assert!(reported.contains("TF_WORKSPACE"), "{reported}");
}

#[test]
fn cloud_is_not_a_backend_label() {
    let reported = Project::new("terraform {\n  backend \"cloud\" {}\n}\n").fails(&["init"]);
    assert!(reported.contains("There is no backend type \"cloud\""), "{reported}");
}
