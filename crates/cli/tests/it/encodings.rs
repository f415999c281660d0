//! Files and file names that are not valid UTF-8.

use std::path::PathBuf;

use crate::common::Folder;

fn write_bytes(folder: &Folder, name: &str, bytes: &[u8]) {
    std::fs::write(folder.path(name), bytes).unwrap();
}

#[test]
fn comments_in_other_encodings_are_accepted() {
    let folder = Folder::new();
    write_bytes(
        &folder,
        "main.tf",
        // Latin-1 in every kind of comment.
        b"# caf\xe9\nvariable \"x\" {} /* \xfc */\noutput \"x\" {\n  value = var.x // \xff\n}\n",
    );
    write_bytes(&folder, "terraform.tfvars", b"# caf\xe9\nx = \"a\"\n");
    write_bytes(&folder, ".terraform.lock.hcl", b"# caf\xe9\n");
    folder.ok(&["init"]);
    folder.ok(&["validate"]);
    // Bytes in comments do not make a file unformatted.
    assert_eq!(folder.ok(&["fmt", "-check"]), "");
    let planned = folder.ok(&["plan", "-out=plan"]);
    assert!(planned.contains("+ x = \"a\""), "{planned}");
    assert!(folder.ok(&["apply", "plan"]).contains("x = \"a\""));
}

#[test]
fn bytes_in_strings_are_errors_with_file_line_and_byte() {
    let folder = Folder::new();
    folder.write("main.tf", "variable \"x\" {}\noutput \"x\" {\n  value = file(\"x.txt\")\n}\n");
    write_bytes(&folder, "x.txt", b"one\ntwo \xe9\n");
    // Strings must be UTF-8: a value with replaced bytes would reach providers.
    let said = folder.fails(&["plan", "-var", "x=1"]);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("contents of \"x.txt\" are not valid UTF-8 (byte 0xE9 on line 2)"), "{said}");
    write_bytes(&folder, "terraform.tfvars", b"\nx = \"caf\xe9\"\n");
    for arguments in [&["plan"][..], &["validate"], &["fmt"]] {
        let said = folder.run(arguments).err;
        assert!(said.contains("Invalid character encoding") && said.contains("terraform.tfvars line 2"), "{said}");
        assert!(said.contains("0xE9"), "{said}");
    }
}

#[test]
fn bytes_in_json_become_replacement_characters() {
    let folder = Folder::new();
    write_bytes(&folder, "main.tf.json", b"{\"output\": {\"x\": {\"value\": \"caf\xe9\"}}}");
    // Go's JSON decoder replaces invalid bytes as well.
    assert!(folder.ok(&["plan"]).contains("+ x = \"caf\u{fffd}\""));
}

#[test]
fn fmt_keeps_the_bytes_of_comments() {
    let folder = Folder::new();
    write_bytes(&folder, "main.tf", b"# caf\xe9\nlocals {\n a=1 # \xe9\n}\n");
    // The formatter changes the line without touching the comment.
    assert_eq!(folder.ok(&["fmt"]), "main.tf\n");
    assert_eq!(std::fs::read(folder.path("main.tf")).unwrap(), b"# caf\xe9\nlocals {\n  a = 1 # \xe9\n}\n");
}

#[cfg(unix)]
fn latin1_name(folder: &Folder, bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    folder.path("").join(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(unix)]
#[test]
fn files_with_non_utf8_names_are_read() {
    let folder = Folder::new();
    // Both names look the same where bytes are replaced.
    for (name, output) in [(&b"caf\xe9.tf"[..], "one"), (b"caf\xe8.tf", "two")] {
        std::fs::write(latin1_name(&folder, name), format!("output \"{output}\" {{\n value=1\n}}\n")).unwrap();
    }
    // An automatic variable file with such a name is read as well, and its undeclared variable is reported.
    std::fs::write(latin1_name(&folder, b"\xe9.auto.tfvars"), "undeclared = 1\n").unwrap();
    let listed = folder.command(&["fmt"]).output().unwrap();
    assert!(listed.stdout.ends_with(b"caf\xe9.tf\n"), "{listed:?}");
    let laid_out = std::fs::read_to_string(latin1_name(&folder, b"caf\xe9.tf")).unwrap();
    assert_eq!(laid_out, "output \"one\" {\n  value = 1\n}\n");
    let planned = folder.run(&["plan", "-out=plan"]);
    assert!(planned.out.contains("+ one = 1") && planned.out.contains("+ two = 1"), "{planned:?}");
    assert!(
        planned.err.contains("Value for undeclared variable") || planned.out.contains("Value for undeclared variable")
    );
    let applied = folder.ok(&["apply", "plan"]);
    assert!(applied.contains("one = 1") && applied.contains("two = 1"), "{applied}");
}
