//! The testing kit on the tutorial's provider: steps over every transport, and the fuzzer (FW-23).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use groma_framework_testing::{Options, Project, Transport, audit};
use groma_plugin::Protocol;
use groma_provider::Provider;
use groma_value::Value;

fn provider() -> Arc<dyn Provider> {
    Arc::new(terraform_provider_files::provider().build().unwrap())
}

fn file(folder: &Path, arguments: &str) -> String {
    format!("provider \"files\" {{ folder = {folder:?} }}\nresource \"files_file\" \"a\" {{\n{arguments}\n}}\n")
}

#[test]
fn fw_23_test_steps_run_in_process_and_over_both_protocols() {
    for transport in [Transport::InProcess, Transport::Protocol(Protocol::V5), Transport::Protocol(Protocol::V6)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut project = Project::new("example/files", provider, transport).unwrap();
        project.configure(&file(path, "name = \"a\"\ncontent = \"one\""));
        let planned = project.plan().unwrap();
        assert_eq!(planned.actions(), ["files_file.a: create"]);
        let object = planned.planned("files_file.a").unwrap();
        assert!(!object.attribute("size").unwrap().is_known());
        assert_eq!(object.attribute("read_only"), Some(Value::FALSE));
        project.apply_plan(planned).unwrap();
        assert_eq!(project.attribute("files_file.a", "size"), Some(Value::number(3)));
        assert!(project.plan().unwrap().actions().is_empty());

        project.configure(&file(path, "name = \"a\"\ncontent = \"three\""));
        assert_eq!(project.apply().unwrap(), ["files_file.a: update"]);
        project.configure(&file(path, "name = \"b\"\ncontent = \"three\""));
        let planned = project.plan().unwrap();
        assert_eq!(planned.replaced_because_of("files_file.a"), [".name"]);
        assert_eq!(project.apply_plan(planned).unwrap(), ["files_file.a: delete then create"]);
        assert!(!path.join("a").exists() && path.join("b").exists());

        project.forget("files_file.a").unwrap();
        assert!(project.object("files_file.a").is_none());
        project.import("files_file.a", "b").unwrap();
        assert!(project.plan().unwrap().actions().is_empty());
        assert!(project.import("files_file.a", "b").err().unwrap().say("already"));
        project.forget("files_file.a").unwrap();
        // The file does not exist, so there is nothing to import.
        assert!(project.import("files_file.a", "nowhere").is_err());
        project.import("files_file.a", "b").unwrap();

        project.configure(&file(path, "name = \"a/b\"\ncontent = \"x\""));
        assert!(project.plan().err().unwrap().say("is no name of a file"));
        project.configure(&file(path, "name = \"b\"\ncontent = \"three\""));
        assert_eq!(project.destroy().unwrap(), ["files_file.a: delete"]);
        assert!(!path.join("b").exists());
    }
}

#[test]
fn fw_23_tutorial_provider_passes_the_audit() {
    let folder = tempfile::tempdir().unwrap();
    let started = provider();
    let block = started.schema().unwrap().config.block.clone();
    let config = block.object(vec![Value::string(folder.path().to_string_lossy())]);
    let options = Options { provider_config: Some(config), configurations: 40, ..Options::default() };
    let report = audit(&|| Ok(provider()), &options, &mut |_| ()).unwrap();
    assert!(!report.has_errors(), "{report}");
    // Most generated configurations must be valid, or the audit would have tested nothing.
    assert!(report.types[0].lived > 20, "{report}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "audited objects are deleted");
}
