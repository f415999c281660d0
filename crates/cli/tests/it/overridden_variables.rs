//! Variable values without effect or with invalid bytes are never dropped silently.

use crate::common::Folder;

const VARIABLES: &str = r#"
variable "text" {
  default = "from the default"
}

variable "number" {
  type    = number
  default = 5
}

variable "secret" {
  default   = "hidden default"
  sensitive = true
}

resource "terraform_data" "it" {
  input = var.text
}
"#;

/// A text without the line breaks that fit it to the terminal.
fn flowing(text: &str) -> String {
    // Messages are wrapped at the terminal's width, which may split what is searched for.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A folder with a plan of `options`.
fn planned(options: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", VARIABLES);
    folder.ok(&[&["plan", "-out=plan"], options].concat());
    folder
}

fn is_applied(folder: &Folder) -> bool {
    folder.path("terraform.tfstate").exists()
}

#[test]
fn variables_that_a_saved_plan_ignores_are_rejected() {
    let cases: [(&[&str], &[&str], &str); 4] = [
        (&["-var=text=1"], &["-var=text=9"], "var.text = \"1\", but -var sets it to \"9\""),
        // The plan used the default: a value that differs from it would be ignored as well.
        (&[], &["-var=text=9"], "var.text = \"from the default\", but -var sets it to \"9\""),
        (&["-var=text=1"], &["-var-file=other.tfvars"], "but -var-file=other.tfvars sets it to \"9\""),
        // The given text is no number, and is shown as it was given.
        (&[], &["-var=number=six"], "var.number = 5, but -var sets it to \"six\""),
    ];
    for (planning, applying, expected) in cases {
        let folder = planned(planning);
        folder.write("other.tfvars", "text = \"9\"\n");
        let reported = flowing(&folder.fails(&[&["apply"], applying, &["plan"]].concat()));
        assert!(reported.contains("Can't change variable when applying a saved plan"), "{reported}");
        assert!(reported.contains(expected), "{reported}");
        assert!(!is_applied(&folder));
    }
}

#[test]
fn variables_equal_to_those_of_the_saved_plan_are_accepted() {
    let cases: [(&[&str], &[&str]); 3] = [
        (&["-var=text=1"], &["-var=text=1"]),
        // Values are compared after their conversion to the variable's type.
        (&["-var=number=5"], &["-var=number=5.0"]),
        (&[], &["-var=text=from the default"]),
    ];
    for (planning, applying) in cases {
        let folder = planned(planning);
        let reported = folder.ok(&[&["apply"], applying, &["plan"]].concat());
        assert!(!reported.contains("Warning"), "{reported}");
    }
}

#[test]
fn environment_variables_that_a_saved_plan_ignores_are_warned_about() {
    // Unlike options, an environment variable may be set for other commands, so it is no error.
    let folder = planned(&["-var=text=1"]);
    let reported =
        flowing(&folder.also_for(env!("CARGO_BIN_EXE_groma").as_ref()).with("TF_VAR_text", "9").ok(&["apply", "plan"]));
    assert!(reported.contains("Warning: Ignoring variable when applying a saved plan"), "{reported}");
    assert!(
        reported.contains("var.text = \"1\", but the environment variable TF_VAR_text sets it to \"9\""),
        "{reported}"
    );
    // The planned value was applied, as the warning said.
    assert!(folder.read("terraform.tfstate").contains("\"1\""));
    let same = planned(&["-var=text=1"]).with("TF_VAR_text", "1").with("TF_VAR_number", "5");
    assert!(!same.ok(&["apply", "plan"]).contains("Warning"));
}

#[test]
fn automatic_variable_files_may_differ_from_the_saved_plan() {
    let folder = planned(&["-var=text=1"]);
    // Nobody chose this file for the apply; it was as likely written after the plan for the next one.
    folder.write("terraform.tfvars", "text = \"9\"\n");
    assert!(!folder.ok(&["apply", "plan"]).contains("Warning"));
}

#[test]
fn values_of_sensitive_variables_are_not_shown() {
    let folder = planned(&["-var=secret=s3cret-one"]);
    let reported = folder.fails(&["apply", "-var=secret=s3cret-two", "plan"]);
    assert!(reported.contains("(sensitive value)") && !reported.contains("s3cret"), "{reported}");
}

#[cfg(unix)]
mod bytes {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    /// What the program says, with an environment variable and arguments that are not valid UTF-8.
    fn reported(folder: &Folder, arguments: &[&str], variable: (&str, &[u8]), more: &[&[u8]]) -> (bool, String) {
        let mut command = folder.command(arguments);
        command.env(variable.0, OsStr::from_bytes(variable.1)).args(more.iter().map(|word| OsStr::from_bytes(word)));
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), flowing(&String::from_utf8_lossy(&text)))
    }

    #[test]
    fn environment_values_that_are_not_utf_8_are_rejected() {
        let folder = Folder::new();
        folder.write("main.tf", VARIABLES);
        // The value may be a secret: the message names the variable only.
        let (_, text) = reported(&folder, &["plan"], ("TF_VAR_text", b"s3cret\xff"), &[]);
        assert!(text.contains("The value of the environment variable TF_VAR_text is not valid UTF-8"), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
        for name in ["TF_CLI_ARGS", "TF_CLI_ARGS_plan", "TF_WORKSPACE", "TF_REATTACH_PROVIDERS"] {
            let (is_good, text) = reported(&folder, &["plan"], (name, b"\xff"), &[]);
            assert!(!is_good && text.contains(&format!("The value of {name} is not valid UTF-8")), "{text}");
        }
        // A variable of the environment that the configuration does not declare is never read.
        let (is_good, text) = reported(&folder, &["plan"], ("TF_VAR_other", b"\xff"), &[]);
        assert!(is_good, "{text}");
    }

    #[test]
    fn data_directory_need_not_be_utf_8() {
        let folder = Folder::new();
        folder.write("main.tf", VARIABLES);
        let (is_good, text) = reported(&folder, &["workspace", "new", "blue"], ("TF_DATA_DIR", b"data\xff"), &[]);
        assert!(is_good, "{text}");
        assert!(folder.path("").join(OsStr::from_bytes(b"data\xff")).join("environment").exists());
        let (_, text) = reported(&folder, &["workspace", "show"], ("TF_DATA_DIR", b"data\xff"), &[]);
        assert_eq!(text, "blue");
    }

    #[test]
    fn argument_that_is_not_utf_8_is_named() {
        let folder = Folder::new();
        folder.write("main.tf", VARIABLES);
        let (is_good, text) = reported(&folder, &["plan"], ("X", b""), &[b"-var", b"text=s3cret\xff"]);
        assert!(!is_good && text.contains("the value of -var for the variable \"text\" is not valid UTF-8"), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
    }

    #[test]
    fn answer_that_is_not_utf_8_is_rejected() {
        use std::io::Write;
        let folder = Folder::new();
        folder.write("main.tf", "variable \"asked\" {}\n");
        let mut child = folder.command(&["plan"]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"a\xff\n").unwrap();
        let output = child.wait_with_output().unwrap();
        let text = flowing(&String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("The value for var.asked is not valid UTF-8"), "{text}");
    }
}
