//! Runs without `HOME` and `USER`, as under cron and systemd.

#![cfg(unix)]

use std::process::Command;

use nix::unistd::{Uid, User};

use crate::common::Folder;

fn output_without_variables(folder: &Folder, arguments: &[&str]) -> String {
    let mut command: Command = folder.command(arguments);
    for name in ["HOME", "USER", "LOGNAME", "USERNAME"] {
        command.env_remove(name);
    }
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn the_home_directory_comes_from_the_user_database() {
    let Some(user) = User::from_uid(Uid::current()).unwrap() else { return };
    let folder = Folder::new();
    folder.write("main.tf", "output \"home\" {\n  value = pathexpand(\"~/x\")\n}\n");
    let planned = output_without_variables(&folder, &["plan"]);
    assert!(planned.contains(&format!("\"{}\"", user.dir.join("x").display())), "{planned}");
}

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
