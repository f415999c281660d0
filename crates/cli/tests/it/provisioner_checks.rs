//! `validate` reports errors in provisioner blocks.

use crate::common::Folder;

#[test]
fn a_type_that_does_not_exist_is_reported_without_the_provider() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"null_resource\" \"a\" {\n  provisioner \"fil\" {}\n}\n");
    let said = folder.fails(&["validate"]);
    assert!(said.contains("Missing required provider"), "{said}");
    assert!(said.contains("Missing required provisioner plugin") && said.contains("main.tf line 2"), "{said}");
}

#[test]
fn file_provisioner_requires_source_or_content() {
    let folder = Folder::new();
    let block = |arguments: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  connection {{\n    host = \"h\"\n  }}\n  provisioner \"file\" {{{arguments}}}\n}}\n"
        )
    };
    let missing = "Must provide one of 'source' or 'content'";
    let said = folder.write("main.tf", &block("")).fails(&["validate"]);
    assert!(said.contains(missing) && said.contains("\"destination\" is required"), "{said}");
    // What seems to be missing has another name.
    let said = folder.write("main.tf", &block("\n    sorce = \"x\"\n  ")).fails(&["validate"]);
    assert!(!said.contains(missing) && said.contains("sorce"), "{said}");
}
