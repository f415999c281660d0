//! Configurations that are wrong.

use serde_json::Value as Json;

use super::*;

#[test]
fn unknown_block_type_is_underlined() {
    for (block, context) in [
        ("resource \"terraform_dat\" \"x\" {}\n", "resource \"terraform_dat\" \"x\""),
        ("data \"terraform_data\" \"x\" {}\n", "data \"terraform_data\" \"x\""),
        ("ephemeral \"terraform_data\" \"x\" {}\n", "ephemeral \"terraform_data\" \"x\""),
        ("action \"terraform_data\" \"x\" {}\n", "action \"terraform_data\" \"x\""),
    ] {
        let folder = Folder::new();
        folder.write("main.tf", block);
        let reported: Json = serde_json::from_str(&folder.run(&["validate", "-json"]).out).unwrap();
        let snippet = &reported["diagnostics"][0]["snippet"];
        let at = |name: &str| usize::try_from(snippet[name].as_u64().unwrap()).unwrap();
        let marked = &block[at("highlight_start_offset")..at("highlight_end_offset")];
        assert_eq!((marked, &snippet["context"]), (block.split(' ').nth(1).unwrap(), &context.into()), "{reported}");
    }
}

/// As Terraform 1.15, also where the message or the condition names other things.
#[test]
fn invalid_module_argument_is_reported_at_the_call() {
    let folder = Folder::new();
    folder.write("main.tf", "module \"m\" {\n  source = \"./m\"\n  name   = \"a\"\n  size   = 1\n}\n");
    folder.write(
        "m/main.tf",
        "variable \"name\" {}\nvariable \"size\" {\n  validation {\n    condition     = var.size > 1\n    \
         error_message = \"${var.name} is too small.\"\n  }\n}\n",
    );
    let reported = folder.fails(&["plan"]);
    assert!(
        reported.contains("on main.tf line 4, in module \"m\":") && reported.contains("a is too small."),
        "{reported}"
    );
}

#[test]
fn file_that_is_not_utf_8() {
    let folder = Folder::new();
    std::fs::write(folder.path("main.tf"), b"resource \"terraform_data\" \"a\" {\n  input = \"\xff\xfe\"\n}\n")
        .unwrap();
    for command in ["validate", "plan", "apply", "destroy", "init"] {
        refuses(&folder, &[command], "Invalid character encoding", "main.tf line 2");
    }
    let odd: [&[u8]; 6] = [b"\0\0\0", b"\xef\xbb\xbf{", b"}}}}", b"<<EOF\n", b"\"${\"${\"${", b"a = \xe2\x82"];
    for text in odd {
        std::fs::write(folder.path("main.tf"), text).unwrap();
        refuses(&folder, &["plan"], "", "main.tf line");
    }
}

#[test]
fn utf_16_file_is_one_error() {
    let folder = Folder::new();
    let text = "resource \"terraform_data\" \"a\" {}\n".encode_utf16();
    let bytes: Vec<u8> = [0xfeff].into_iter().chain(text).flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.path("main.tf"), bytes).unwrap();
    let said = folder.fails(&["plan"]);
    assert_eq!(said.matches("Error: ").count(), 1, "{said}");
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("Save the file with UTF-8 encoding"), "{said}");
}

#[test]
fn a_directory_without_configuration() {
    let folder = Folder::new();
    refuses(&folder, &["plan"], "No configuration files", "Change to the directory of the configuration");
    refuses(&folder, &["apply"], "No configuration files", "Change to the directory of the configuration");
    assert_eq!(everything(&folder), []);
    assert!(folder.ok(&["destroy", "-auto-approve"]).contains("Destroy complete! Resources: 0 destroyed."));

    // What is in a state is not destroyed because its configuration is not there.
    let built = built();
    std::fs::remove_file(built.path("main.tf")).unwrap();
    let before = everything(&built);
    refuses(&built, &["apply", "-auto-approve"], "No configuration files", "destroy");
    assert_eq!(everything(&built), before);
    built.ok(&["destroy", "-auto-approve"]);
    assert_eq!(built.ok(&["state", "list"]), "");
}

#[test]
fn missing_providers_and_backends() {
    let unknown = folder("resource \"nosuch_thing\" \"x\" {}\n");
    for command in ["plan", "validate", "init"] {
        let ran = unknown.run(&[command]);
        assert_eq!(ran.code, 1, "{command}: {}", ran.err);
        assert!(ran.err.contains("hashicorp/nosuch"), "{command}: {}", ran.err);
    }

    // Named before anything is read or written: the broken state is not looked at.
    for (backend, name) in [
        ("backend \"s3\" {}", "s3"),
        ("backend \"nosuch\" {}", "nosuch"),
        ("cloud {\n    organization = \"o\"\n  }", "cloud"),
    ] {
        let folder = folder(&format!("{ONE}terraform {{\n  {backend}\n}}\n"));
        folder.write(STATE, "{broken");
        let before = everything(&folder);
        for arguments in COMMANDS.into_iter().chain([&["init"][..]]) {
            let ran = folder.run(arguments);
            assert_eq!(ran.code, 1, "{arguments:?}");
            assert!(ran.err.contains(name), "{arguments:?}\n{}", ran.err);
            assert!(!ran.err.contains("Unsupported state file format"), "{arguments:?}\n{}", ran.err);
            assert_eq!(everything(&folder), before, "{arguments:?}");
        }
    }
}

#[test]
fn one_run_reports_all_independent_errors() {
    let folder = folder(
        r#"
resource "terraform_data" "one" {
  input = upper([1])
}
resource "terraform_data" "two" {
  inpt = 1
}
resource "terraform_data" "three" {
  output = 1
}
locals {
  four = 1 + "x"
}
output "five" {
  value = var.nope
}
resource "terraform_data" "six" {
  count = upper({})
}
resource "terraform_data" "seven" {
  input = terraform_data.eight.id
}
output "nothing" {
  value = "${local.four} ${terraform_data.two.id} ${terraform_data.one.output.x}"
}
output "eight" {
  value = terraform_data.one.id.x
}
"#,
    );
    let said = folder.run(&["validate", "-json"]).out;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let reported: Vec<(u64, &str)> = said["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| (problem["range"]["start"]["line"].as_u64().unwrap(), problem["summary"].as_str().unwrap()))
        .collect();
    let wanted = [
        (3, "Invalid function argument"),
        (6, "Unsupported argument"),
        (9, "\"output\" attribute is read-only"),
        (12, "Invalid operand"),
        (15, "Reference to undeclared input variable"),
        (18, "Invalid function argument"),
        (21, "Reference to undeclared resource"),
        (27, "Unsupported attribute"),
    ];
    assert_eq!(reported, wanted);
}

#[test]
fn commands_without_evaluation_ignore_invalid_references() {
    let folder = folder(ONE);
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("wrong.tf", "output \"o\" {\n  value = terraform_data.nowhere.id\n}\n");
    for words in [
        &["init"][..],
        &["get"],
        &["show"],
        &["output"],
        &["state", "list"],
        &["state", "pull"],
        &["providers"],
        &["providers", "schema", "-json"],
        &["modules"],
        &["workspace", "list"],
    ] {
        folder.ok(words);
    }
    for words in [&["validate"][..], &["plan"], &["apply", "-auto-approve"]] {
        assert!(folder.fails(words).contains("Reference to undeclared resource"), "{words:?}");
    }
}
