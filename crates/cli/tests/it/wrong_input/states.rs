//! States and plans that are wrong, or that somebody else holds.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value as Json;

use super::*;
use crate::common::serving::KillOnDrop;

#[test]
fn unreadable_state_is_left_unchanged() {
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
fn every_truncated_state_is_valid_or_an_error() {
    let whole = built().read(STATE);
    let folder = folder(ONE);
    for end in (1..whole.trim_end().len()).step_by(53) {
        folder.write(STATE, &whole[..end]);
        refuses(&folder, &["plan"], "", "Restore the file from its backup");
        assert_eq!(folder.read(STATE), whole[..end]);
    }
}

#[test]
fn empty_file_is_an_empty_state() {
    let folder = folder(ONE);
    folder.write(STATE, "");
    assert!(folder.ok(&["plan"]).contains("Plan: 1 to add, 0 to change, 0 to destroy."));
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
}

#[test]
fn saved_plan_requires_its_state() {
    let folder = built();
    folder.ok(&["plan", "-destroy", "-out=p"]);
    let before = folder.read(STATE);

    let mut other: Json = serde_json::from_str(&before).unwrap();
    other["lineage"] = "11111111-2222-3333-4444-555555555555".into();
    folder.write(STATE, &other.to_string());
    refuses(&folder, &["apply", "p"], "Saved plan does not match the given state", "Create a new plan");
    assert_eq!(folder.read(STATE), other.to_string());

    // Used once, it is stale: what it was made of is gone.
    folder.write(STATE, &before);
    folder.ok(&["apply", "p"]);
    let after = folder.read(STATE);
    refuses(&folder, &["apply", "p"], "Saved plan is stale", "Create a new plan");
    assert_eq!(folder.read(STATE), after);
}

#[test]
fn invalid_plan_files() {
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

#[test]
fn lock_timeout_is_respected() {
    let folder = folder(
        "terraform {\n  required_providers {\n    awscc = { source = \"hashicorp/awscc\" }\n  }\n}\n\
         provider \"awscc\" {\n  emulator = { delay = \"3s\" }\n}\nresource \"awscc_sqs_queue\" \"slow\" {}\n",
    );
    let mut command = folder.command(&["apply", "-auto-approve"]);
    // It holds the lock of the state as Terraform takes it: a record lock on the file.
    let holder = KillOnDrop(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
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
fn record_lock_of_another_program_is_respected() {
    let folder = built();
    let script = "import fcntl, time\nfile = open('terraform.tfstate', 'r+')\nfcntl.lockf(file, fcntl.LOCK_EX)\n\
                  open('held', 'w').close()\ntime.sleep(30)\n";
    let spawned = Command::new("python3").args(["-c", script]).current_dir(folder.path("")).spawn();
    let Ok(child) = spawned else {
        println!("skipped: no python3 to hold a lock with");
        return;
    };
    let holder = KillOnDrop(child);
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

/// No state can keep an infinite number: it must not be reported as recorded when it is not.
#[test]
fn infinite_numbers_are_rejected_in_stored_values() {
    let summary = "Infinite number not allowed";
    for configuration in [
        "output \"a\" {\n  value = 1 / 0\n}\n",
        "output \"a\" {\n  value = { b = [1, -1 / 0] }\n}\n",
        "resource \"terraform_data\" \"a\" {\n  input = [1 / length([])]\n}\n",
    ] {
        let folder = folder(configuration);
        for arguments in [&["plan"][..], &["apply", "-auto-approve"]] {
            refuses(&folder, arguments, summary, "divisor is zero");
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
fn state_changing_commands_check_variable_values() {
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
