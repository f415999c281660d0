//! Input and surroundings that are wrong: each time a clear error with advice, exit code 1, and nothing lost.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value as Json;

use crate::common::{Folder, Ran};

const ONE: &str = "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n";
const STATE: &str = "terraform.tfstate";

fn folder(configuration: &str) -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", configuration);
    folder
}

/// With a state of one object.
fn built() -> Folder {
    let folder = folder(ONE);
    folder.ok(&["apply", "-auto-approve"]);
    folder
}

/// An error of this summary and with this advice, and no panic.
fn refuses(folder: &Folder, arguments: &[&str], summary: &str, advice: &str) {
    says(&folder.run(arguments), arguments, summary, advice);
}

fn says(ran: &Ran, arguments: &[&str], summary: &str, advice: &str) {
    let text = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ran.code, 1, "{arguments:?}\n{}{}", ran.out, ran.err);
    assert!(ran.err.contains(&format!("Error: {summary}")), "{arguments:?}: no {summary:?} in\n{}", ran.err);
    assert!(text.contains(advice), "{arguments:?}: no {advice:?} in\n{}", ran.err);
    assert!(!text.contains("panicked"), "{}", ran.err);
}

/// All that is in the folder, with its contents.
fn everything(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap_or_default()))
        .collect();
    files.sort();
    files
}

const COMMANDS: [&[&str]; 7] = [
    &["plan"],
    &["apply", "-auto-approve"],
    &["destroy", "-auto-approve"],
    &["plan", "-refresh-only"],
    &["state", "list"],
    &["show"],
    &["output"],
];

#[test]
fn a_state_that_cannot_be_read_is_left_alone() {
    let cases: [(&[u8], &str, &str); 5] = [
        (b"{\"version\": 4, \"terraf", "Unsupported state file format", "Restore the file from its backup"),
        (b"\xff\xfe\0garbage", "Unsupported state file format", "Restore the file from its backup"),
        (b"[]", "Unsupported state file format", ""),
        (
            b"{\"version\": 5, \"serial\": 1, \"lineage\": \"x\"}",
            "Unsupported state file format",
            "Use a newer release",
        ),
        (b"{\"version\": 4, \"serial\": -1, \"resources\": 7}", "Invalid state file format", "Restore the file"),
    ];
    for (text, summary, advice) in cases {
        let folder = folder(ONE);
        std::fs::write(folder.path(STATE), text).unwrap();
        let before = everything(&folder);
        for arguments in COMMANDS {
            refuses(&folder, arguments, summary, advice);
            assert_eq!(everything(&folder), before, "{arguments:?}");
        }
    }
}

#[test]
fn every_part_of_a_state_is_a_state_or_an_error() {
    let whole = built().read(STATE);
    let folder = folder(ONE);
    for end in (1..whole.trim_end().len()).step_by(53) {
        folder.write(STATE, &whole[..end]);
        refuses(&folder, &["plan"], "", "Restore the file from its backup");
        assert_eq!(folder.read(STATE), whole[..end]);
    }
}

#[test]
fn an_empty_file_is_an_empty_state() {
    let folder = folder(ONE);
    folder.write(STATE, "");
    assert!(folder.ok(&["plan"]).contains("Plan: 1 to add, 0 to change, 0 to destroy."));
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
}

#[test]
fn a_plan_goes_with_the_state_it_was_made_of() {
    let folder = built();
    folder.ok(&["plan", "-destroy", "-out=p"]);
    let before = folder.read(STATE);

    let mut other: Json = serde_json::from_str(&before).unwrap();
    other["lineage"] = "11111111-2222-3333-4444-555555555555".into();
    folder.write(STATE, &other.to_string());
    refuses(&folder, &["apply", "p"], "Saved plan does not match the given state", "make a new plan");
    assert_eq!(folder.read(STATE), other.to_string());

    // Used once, it is stale: what it was made of is gone.
    folder.write(STATE, &before);
    folder.ok(&["apply", "p"]);
    let after = folder.read(STATE);
    refuses(&folder, &["apply", "p"], "Saved plan is stale", "make a new plan");
    assert_eq!(folder.read(STATE), after);
}

#[test]
fn files_that_are_no_plans() {
    let folder = folder(ONE);
    folder.ok(&["plan", "-out=p"]);
    let plan = std::fs::read(folder.path("p")).unwrap();
    std::fs::write(folder.path("half"), &plan[..plan.len() / 2]).unwrap();
    folder.write("empty", "").write("text", "no plan");
    for name in ["half", "empty", "text", "missing", "."] {
        for arguments in [&["apply", name][..], &["show", name]] {
            let ran = folder.run(arguments);
            says(&ran, arguments, "", "");
            assert!(!folder.path(STATE).exists(), "{arguments:?}");
        }
    }
}

/// Another process that holds the lock of the state, as Terraform takes it: a record lock on the file.
struct Holder(Child);

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_locked_state_is_waited_for_as_long_as_asked() {
    let folder = folder(
        "terraform {\n  required_providers {\n    awscc = { source = \"hashicorp/awscc\" }\n  }\n}\n\
         provider \"awscc\" {\n  emulator = { delay = \"3s\" }\n}\nresource \"awscc_sqs_queue\" \"slow\" {}\n",
    );
    let mut command = folder.command(&["apply", "-auto-approve"]);
    let holder = Holder(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    while !folder.path(".terraform.tfstate.lock.info").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["destroy", "-auto-approve", "-lock-timeout=100ms"]]
    {
        refuses(&folder, arguments, "Error acquiring the state lock", "-lock-timeout=60s");
    }
    folder.ok(&["apply", "-auto-approve", "-lock-timeout=20s"]);
    drop(holder);
    assert_eq!(folder.ok(&["emulator", "list", "AWS::SQS::Queue"]).lines().count(), 1);
}

/// A record lock that a program other than this one holds.
#[test]
fn a_record_lock_of_another_program_is_respected() {
    let folder = built();
    let script = "import fcntl, time\nfile = open('terraform.tfstate', 'r+')\nfcntl.lockf(file, fcntl.LOCK_EX)\n\
                  open('held', 'w').close()\ntime.sleep(30)\n";
    let spawned = Command::new("python3").args(["-c", script]).current_dir(folder.path("")).spawn();
    let Ok(child) = spawned else {
        println!("skipped: no python3 to hold a lock with");
        return;
    };
    let holder = Holder(child);
    while !folder.path("held").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let before = folder.read(STATE);
    refuses(&folder, &["destroy", "-auto-approve"], "Error acquiring the state lock", "another process is using");
    assert_eq!(folder.read(STATE), before);
    assert_eq!(folder.run(&["plan", "-lock=false", "-detailed-exitcode"]).code, 0);
    drop(holder);
    folder.ok(&["destroy", "-auto-approve"]);
}

#[test]
fn files_and_flags_that_are_not_there() {
    let folder = folder(ONE);
    refuses(&folder, &["plan", "-var-file=nope.tfvars"], "Failed to read variables file", "nope.tfvars does not exist");
    refuses(&folder, &["plan", "-out=no/such/p"], "Failed to write plan file", "not saved in no/such/p");
    refuses(&folder, &["plan", "-nosuch"], "Failed to parse command-line flags", "plan -help");
    refuses(&folder, &["plan", "-parallelism=x"], "Failed to parse command-line flags", "invalid value \"x\"");
    refuses(&folder, &["plan", "-target=a b"], "Invalid target", "");
    refuses(&folder, &["plan", "-replace=nothing"], "Invalid force-replace address", "");
    refuses(&folder, &["plan", "-var", "x"], "", "");
    refuses(&folder, &["plan", "-var", "x=1"], "Value for undeclared variable", "add a variable block");
    refuses(&folder, &["plan", "-out=no/such/folder/p"], "", "No such file or directory");
    let ran = folder.run(&["-chdir=nope", "plan"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("nope"), "{}", ran.err);
    folder.write("bad.tfvars", "x = [1,\n");
    refuses(&folder, &["plan", "-var-file=bad.tfvars"], "", "bad.tfvars line");
    folder.write("terraform.tfvars", "\"unfinished");
    refuses(&folder, &["plan"], "", "terraform.tfvars line 1");
    assert!(!folder.path(STATE).exists());
}

/// As Terraform 1.15 says it: exit code and summary.
#[test]
fn command_lines_that_are_wrong() {
    let folder = built();
    let before = everything(&folder);
    let cases: [(&[&str], &str); 42] = [
        (&["plna"], "Did you mean \"plan\"?"),
        (&["aply"], "Did you mean \"apply\"?"),
        (&["foo"], "Did you mean \"fmt\"?"),
        (&["plan", "extra"], "Error: Too many command line arguments"),
        (&["apply", "a", "b"], "Error: Too many command line arguments"),
        (&["show", "a", "b"], "Error: Too many command line arguments"),
        (&["output", "a", "b"], "Error: Unexpected argument"),
        (&["plan", "-nosuch"], "Error: Failed to parse command-line flags"),
        (&["state", "list", "-nosuch"], "Error: Failed to parse command-line flags"),
        (&["plan", "-out"], "Error: Failed to parse command-line flags"),
        (&["plan", "-parallelism=x"], "Error: Failed to parse command-line flags"),
        (&["plan", "-parallelism=-1"], "Error: Invalid parallelism value"),
        (&["plan", "-refresh=maybe"], "Error: Failed to parse command-line flags"),
        (&["plan", "-lock-timeout=5"], "Error: Failed to parse command-line flags"),
        (&["plan", "-target=foo"], "Error: Invalid target \"foo\""),
        (&["plan", "-target="], "Error: Invalid target \"\""),
        (&["plan", "-target=terraform_data.a[0"], "Error: Invalid target \"terraform_data.a[0\""),
        (&["plan", "-target=var.x"], "Error: Invalid target \"var.x\""),
        (&["plan", "-target=resource.x"], "Error: Invalid target \"resource.x\""),
        (&["plan", "-replace=local.x"], "Error: Invalid force-replace address \"local.x\""),
        (&["init", "-cloud", "-backend=false"], "Error: Invalid init options"),
        (&["refresh", "extra"], "Error: Too many command line arguments"),
        (&["plan", "-replace=foo"], "Error: Invalid force-replace address \"foo\""),
        (&["plan", "-replace=terraform_data"], "Error: Invalid force-replace address \"terraform_data\""),
        (&["plan", "-replace=module.x"], "Error: Invalid force-replace address \"module.x\""),
        (&["plan", "-replace=data.x.y"], "Error: Invalid force-replace address \"data.x.y\""),
        (&["plan", "-destroy", "-refresh-only"], "Error: Incompatible plan mode options"),
        (&["plan", "-refresh-only", "-refresh=false"], "Error: Incompatible refresh options"),
        (&["plan", "-invoke=action.a.b", "-replace=terraform_data.a"], "Error: Unsupported plan mode"),
        (&["plan", "-var", "=1"], "Error: Value for undeclared variable"),
        (&["plan", "-var", "a b=1"], "Error: Value for undeclared variable"),
        (&["apply", "nofile"], "Error: Failed to load \"nofile\" as a plan file"),
        (&["apply", "main.tf"], "Error: Failed to load \"main.tf\" as a plan file"),
        (&["show", "main.tf"], "Error: Failed to read the given file as a state or plan file"),
        (&["show", "nofile"], "Error: Failed to read the given file as a state or plan file"),
        (&["-chdir=nope", "plan"], "Error handling -chdir option: chdir nope: "),
        (&["-chdir", "plan"], "Invalid -chdir option: "),
        (&["-no-color", "plan"], "If it is one of \"plan\", put it after that word."),
        (&["state", "rm", "terraform_data.none"], "Error: Invalid target address"),
        (&["taint", "terraform_data.none"], "Error: No such resource instance"),
        (&["import", "terraform_data.a"], "Error: Wrong number of arguments"),
        (&["workspace", "delete", "default"], "Workspace \"default\" is your active workspace"),
    ];
    for (arguments, summary) in cases {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}\n{}{}", ran.out, ran.err);
        assert!(ran.err.contains(summary), "{arguments:?}: no {summary:?} in\n{}", ran.err);
        assert_eq!(ran.out, "", "{arguments:?}: errors go to standard error");
    }
    for group in ["state", "workspace", "metadata"] {
        let ran = folder.run(&[group]);
        assert_eq!((ran.code, &*ran.err), (1, ""), "{group}: nothing was asked for");
        assert!(ran.out.contains("Usage: groma"), "{group}: {}", ran.out);
    }
    let ran = folder.run(&["-nope"]);
    assert_eq!((ran.code, &*ran.out), (127, ""), "nothing says what is to be done");
    assert!(ran.err.contains("There is no option \"-nope\" before the command."), "{}", ran.err);
    assert_eq!(everything(&folder), before);
}

#[test]
fn of_a_block_whose_type_there_is_not_the_type_is_marked() {
    for (block, context) in [
        ("resource \"terraform_dat\" \"x\" {}\n", "resource \"terraform_dat\" \"x\""),
        ("data \"terraform_data\" \"x\" {}\n", "data \"terraform_data\" \"x\""),
        ("ephemeral \"terraform_data\" \"x\" {}\n", "ephemeral \"terraform_data\" \"x\""),
        ("action \"terraform_data\" \"x\" {}\n", "action \"terraform_data\" \"x\""),
    ] {
        let folder = Folder::new();
        folder.write("main.tf", block);
        let told: Json = serde_json::from_str(&folder.run(&["validate", "-json"]).out).unwrap();
        let snippet = &told["diagnostics"][0]["snippet"];
        let at = |name: &str| usize::try_from(snippet[name].as_u64().unwrap()).unwrap();
        let marked = &block[at("highlight_start_offset")..at("highlight_end_offset")];
        assert_eq!((marked, &snippet["context"]), (block.split(' ').nth(1).unwrap(), &context.into()), "{told}");
    }
}

/// As Terraform 1.15, also where the message or the condition names other things.
#[test]
fn a_value_that_a_module_refuses_is_told_where_it_is_given() {
    let folder = Folder::new();
    folder.write("main.tf", "module \"m\" {\n  source = \"./m\"\n  name   = \"a\"\n  size   = 1\n}\n");
    folder.write(
        "m/main.tf",
        "variable \"name\" {}\nvariable \"size\" {\n  validation {\n    condition     = var.size > 1\n    \
         error_message = \"${var.name} is too small.\"\n  }\n}\n",
    );
    let told = folder.fails(&["plan"]);
    assert!(told.contains("on main.tf line 4, in module \"m\":") && told.contains("a is too small."), "{told}");
}

#[test]
fn mistakes_in_the_flags_are_told_as_messages_where_all_else_is() {
    let folder = built();
    for command in ["plan", "apply", "destroy", "refresh", "init"] {
        let ran = folder.run(&[command, "-json", "-nosuch"]);
        assert_eq!((ran.code, &*ran.err), (1, ""), "{command}");
        let kinds: Vec<String> = ran
            .out
            .lines()
            .map(|line| serde_json::from_str::<Json>(line).unwrap()["type"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, ["version", "diagnostic"], "{command}: {}", ran.out);
    }
}

#[test]
fn all_that_is_wrong_with_the_variables_is_told_at_once() {
    let folder = folder("variable \"a\" {}\nvariable \"b\" {}\n");
    let said = folder.fails(&["plan", "-input=false", "-var=c=1"]);
    assert_eq!(said.matches("Error: Value for undeclared variable").count(), 1, "{said}");
    assert_eq!(said.matches("Error: No value for required variable").count(), 2, "{said}");
}

#[test]
fn text_that_is_not_utf_8() {
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
fn a_file_in_utf_16_is_one_mistake() {
    let folder = Folder::new();
    let text = "resource \"terraform_data\" \"a\" {}\n".encode_utf16();
    let bytes: Vec<u8> = [0xfeff].into_iter().chain(text).flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.path("main.tf"), bytes).unwrap();
    let said = folder.fails(&["plan"]);
    assert_eq!(said.matches("Error: ").count(), 1, "{said}");
    assert!(said.contains("save it with this encoding"), "{said}");
}

#[test]
fn a_directory_without_configuration() {
    let folder = Folder::new();
    refuses(&folder, &["plan"], "No configuration files", "Change to the directory that has the configuration");
    refuses(&folder, &["apply"], "No configuration files", "Change to the directory that has the configuration");
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
fn variables_that_nobody_gives() {
    let folder = folder("variable \"need\" {}\noutput \"o\" {\n  value = var.need\n}\n");
    let summary = "No value for required variable";
    refuses(&folder, &["plan", "-input=false"], summary, "TF_VAR_need");
    refuses(&folder, &["apply", "-input=false", "-auto-approve"], summary, "TF_VAR_need");
    // The input ends at the question.
    refuses(&folder, &["plan"], summary, "TF_VAR_need");
    assert!(!folder.path(STATE).exists());
}

#[test]
fn approval_that_is_not_given() {
    for (build, arguments) in [(false, &["apply"][..]), (true, &["destroy"]), (true, &["apply", "-destroy"])] {
        let folder = if build { built() } else { folder(ONE) };
        let before = everything(&folder);
        refuses(&folder, arguments, "error asking for approval: EOF", "-auto-approve");
        for answer in ["no\n", "yes please\n", "\n", "\u{7}\u{0}\n"] {
            let ran = folder.run_with_input(arguments, answer);
            assert_eq!(ran.code, 1, "{answer:?}");
            assert!(ran.out.contains(" cancelled."), "{answer:?}\n{}", ran.out);
        }
        refuses(&folder, &[arguments, &["-input=false"]].concat(), "", "-auto-approve");
        assert_eq!(everything(&folder), before, "{arguments:?}");
    }
}

#[test]
fn providers_and_backends_that_are_not_there() {
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
fn a_full_disk_stops_the_run_and_loses_nothing() {
    let blocks = |n: usize| format!("resource \"terraform_data\" \"b{n}\" {{\n  input = \"{n}\"\n}}\n");
    let folder = folder(&(0..300).map(blocks).collect::<String>());
    // A file may grow to 20 kB, and what grows further is refused as on a full disk.
    let script = format!("ulimit -f 40; exec {} apply -auto-approve >said", env!("CARGO_BIN_EXE_groma"));
    let mut limited = Command::new("sh");
    limited.args(["-c", &script]).current_dir(folder.path("")).env("HOME", folder.path("home"));
    limited.env_remove("TF_CLI_CONFIG_FILE");
    let output = limited.stdin(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    let ran = Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::new(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    says(&ran, &["apply"], "Failed to write", "Make room on the disk, then run the command again");
    let times = ran.err.matches("Error: Failed to write").count();
    assert_eq!(times, 1, "each object that is left meets the full disk: that is told once\n{}", ran.err);

    let made = folder.read("said").matches(": Creation complete").count();
    let ran = folder.run(&["apply", "-auto-approve"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(folder.ok(&["state", "list"]).lines().count(), 300);
    let left: usize = ran.out.matches(": Creating...").count();
    assert!(made + left <= 300, "{made} were made before, {left} after");
    assert_eq!(folder.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn a_folder_that_cannot_be_written() {
    // To the superuser, permissions mean nothing: a folder in the place of the state file does.
    let folder = folder(ONE);
    std::fs::create_dir(folder.path(STATE)).unwrap();
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["state", "list"]] {
        refuses(&folder, arguments, "", "terraform.tfstate");
    }
    let built = built();
    std::fs::create_dir(built.path("p")).unwrap();
    refuses(&built, &["plan", "-out=p", "-destroy"], "", "Is a directory");
    assert_eq!(built.ok(&["state", "list"]), "terraform_data.a\n");
}

#[test]
fn one_run_tells_all_mistakes_that_do_not_follow_from_each_other() {
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
    let told: Vec<(u64, &str)> = said["diagnostics"]
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
    assert_eq!(told, wanted);
}

#[test]
fn who_evaluates_nothing_does_not_mind_what_expressions_name() {
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

/// No state can keep an infinite number: it must not be told as recorded when it is not.
#[test]
fn infinite_numbers_are_refused_where_the_state_would_keep_them() {
    let summary = "Infinite number not allowed";
    for configuration in [
        "output \"a\" {\n  value = 1 / 0\n}\n",
        "output \"a\" {\n  value = { b = [1, -1 / 0] }\n}\n",
        "resource \"terraform_data\" \"a\" {\n  input = [1 / length([])]\n}\n",
    ] {
        let folder = folder(configuration);
        for arguments in [&["plan"][..], &["apply", "-auto-approve"]] {
            refuses(&folder, arguments, summary, "is not zero");
        }
    }
    // Found while applying only; what was made by then is kept.
    let folder = folder(
        "resource \"terraform_data\" \"a\" {\n  input = 0\n}\nresource \"terraform_data\" \"b\" {\n  \
         input = 1 / terraform_data.a.output\n}\noutput \"c\" {\n  value = 1 / terraform_data.a.output\n}\n",
    );
    refuses(&folder, &["apply", "-auto-approve"], summary, "terraform_data.b");
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
    // Nothing keeps what a local value is.
    folder.write("main.tf", "locals {\n  a = 1 / 0\n}\noutput \"b\" {\n  value = local.a > 1\n}\n");
    folder.ok(&["apply", "-auto-approve"]);
}

#[test]
fn an_empty_name_of_a_file_or_an_output_is_none() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n\noutput \"o\" {\n  value = 1\n}\n");
    folder.ok(&["apply", "-auto-approve", ""]);
    assert_eq!(folder.ok(&["output", ""]), "o = 1\n");
    assert_eq!(folder.ok(&["show", ""]), folder.ok(&["show"]));
    assert!(folder.ok(&["validate", ""]).contains("Success!"));
    folder.write("main.tf", "locals {\na=1\n}\n");
    assert_eq!(folder.ok(&["fmt", ""]), "main.tf\n");
    folder.ok(&["destroy", "-auto-approve", "-destroy=false", ""]);
    folder.ok(&["init", "-cloud=false"]);
}

#[test]
fn what_is_wrong_with_the_mode_of_destroy_and_refresh_is_a_message_for_programs_too() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n");
    for (arguments, summary) in [
        (&["destroy", "-json", "-refresh-only", "-auto-approve"][..], "Invalid mode option"),
        (&["destroy", "-json", "-destroy", "-auto-approve"], "Invalid mode option"),
        (&["refresh", "-json", "extra"], "Too many command line arguments"),
    ] {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, &*ran.err), (1, ""), "{arguments:?}");
        assert!(ran.out.contains(&format!("\"summary\":\"{summary}\"")), "{arguments:?}\n{}", ran.out);
    }
}

#[test]
fn arguments_of_the_environment_that_cannot_be_read_are_told_with_their_variable() {
    let folder = Folder::new().with("TF_CLI_ARGS_plan", "\"-no-color");
    assert!(folder.fails(&["plan"]).contains("Error parsing extra CLI args from TF_CLI_ARGS_plan: "));
}

#[test]
fn commands_that_change_a_state_tell_what_is_wrong_with_the_values_of_variables() {
    let folder = built();
    let before = folder.read(STATE);
    let commands: [&[&str]; 6] = [
        &["state", "pull"],
        &["state", "rm", "terraform_data.a"],
        &["state", "mv", "terraform_data.a", "terraform_data.b"],
        &["state", "replace-provider", "-auto-approve", "a/b", "c/d"],
        &["state", "push", STATE],
        &["taint", "terraform_data.a"],
    ];
    let with = |command: &[&str], flag: &str| -> Vec<String> {
        let flags = command.len() - command.iter().rev().take_while(|word| word.contains(['.', '/'])).count();
        let (words, rest) = command.split_at(flags);
        words.iter().copied().chain([flag]).chain(rest.iter().copied()).map(str::to_owned).collect()
    };
    let refuses_with = |command: &[&str], flag: &str, summary: &str| {
        let arguments = with(command, flag);
        refuses(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), summary, "");
    };
    for command in commands {
        refuses_with(command, "-var=x=1", "Value for undeclared variable");
        refuses_with(command, "-var=x", "Invalid -var option");
        refuses_with(command, "-var-file=no.tfvars", "Failed to read variables file");
        refuses_with(command, "-var-file=", "Failed to read variables file");
    }
    // Those that only look have these flags from OpenTofu, which does not mind what is not declared.
    let commands: [&[&str]; 6] = [
        &["state", "list"],
        &["state", "show", "terraform_data.a"],
        &["output"],
        &["workspace", "list"],
        &["show"],
        &["untaint", "terraform_data.a"],
    ];
    for command in commands {
        refuses_with(command, "-var=x", "Invalid -var option");
        refuses_with(command, "-var-file=no.tfvars", "Failed to read variables file");
    }
    folder.ok(&["state", "list", "-var=x=1"]);
    folder.write("terraform.tfvars", "x = [");
    refuses(&folder, &["state", "rm", "terraform_data.a"], "Missing expression", "");
    folder.ok(&["state", "list"]);
    assert_eq!(folder.read(STATE), before);
}

#[test]
fn a_list_of_a_query_is_an_address_of_nothing_that_is_planned() {
    let folder = built();
    assert!(folder.ok(&["plan", "-target=list.a.b"]).contains("No changes."));
    refuses(&folder, &["plan", "-target=list.a"], "Invalid target \"list.a\"", "a resource type and a name");
    refuses(&folder, &["plan", "-replace=list.a.b"], "Invalid force-replace address", "Only managed resources");
    refuses(&folder, &["state", "rm", "list.a.b"], "Invalid target address", "No matching objects");
    refuses(&folder, &["state", "mv", "terraform_data.a", "list.a.b"], "Invalid state move request", "");
}
