//! The backend block: initialization, changes and state migration.

use std::time::{Duration, Instant};

use crate::common::{Folder, kill, start, until_said};

const OBJECT: &str = "resource \"terraform_data\" \"a\" {\n}\n";

fn block(arguments: &str) -> String {
    format!("{OBJECT}terraform {{\n  backend \"local\" {{\n    {arguments}\n  }}\n}}\n")
}

fn at(file: &str) -> String {
    block(&format!("path = \"{file}\""))
}

/// A folder whose state is in `a.tfstate`, as the block says, which says `b.tfstate` now.
fn moved_on() -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", &at("a.tfstate"));
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &at("b.tfstate"));
    folder
}

fn answered(folder: &Folder, arguments: &[&str], answer: &str) -> String {
    let ran = folder.run_with_input(arguments, answer);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.out
}

fn has_no_changes(folder: &Folder) -> bool {
    folder.run(&["plan", "-detailed-exitcode"]).code == 0
}

#[test]
fn init_records_the_backend_in_terraforms_format() {
    let folder = Folder::new();
    folder.write("main.tf", &at("a.tfstate"));
    let reported = folder.fails(&["plan", "-no-color"]);
    assert!(reported.contains("Backend initialization required, please run \"terraform init\""), "{reported}");
    assert!(folder.ok(&["init"]).contains("Successfully configured the backend \"local\"!"));
    let record: serde_json::Value = serde_json::from_str(&folder.read(".terraform/terraform.tfstate")).unwrap();
    let config = serde_json::json!({"path": "a.tfstate", "workspace_dir": null});
    assert_eq!(record["version"], 3);
    // Terraform reads this record, and takes another hash for a changed block.
    assert_eq!(record["backend"], serde_json::json!({"type": "local", "config": config, "hash": 2_985_648_108_u32}));
    folder.ok(&["apply", "-auto-approve"]);
    // A second init finds nothing to do, and does not claim that it did.
    assert!(!folder.ok(&["init"]).contains("Successfully configured"), "it is configured already");
}

#[test]
fn changed_backend_path_requires_init() {
    let folder = moved_on();
    let commands: [&[&str]; 8] = [
        &["plan"],
        &["apply", "-auto-approve"],
        &["destroy", "-auto-approve"],
        &["state", "list"],
        &["output"],
        &["show"],
        &["workspace", "list"],
        &["providers"],
    ];
    for command in commands {
        let reported = folder.fails(command);
        assert!(reported.contains("Backend configuration block has changed"), "{command:?}: {reported}");
        assert!(reported.replace('\n', " ").contains("path was \"a.tfstate\", and is now \"b.tfstate\""), "{reported}");
    }
    // No command began a state at the new place.
    assert!(!folder.path("b.tfstate").exists());
    // What needs no state needs no backend either.
    folder.ok(&["validate"]);
    folder.write("main.tf", &at("a.tfstate"));
    assert!(has_no_changes(&folder), "what was changed by mistake is changed back");
}

#[test]
fn init_asks_before_migrating_the_state() {
    let folder = moved_on();
    let reported = folder.fails(&["init"]);
    assert!(
        reported.contains("Error: Backend configuration changed") && reported.contains("-migrate-state"),
        "{reported}"
    );
    let reported = folder.fails(&["init", "-migrate-state"]);
    assert!(reported.contains("Error asking for state migration action"), "{reported}");
    let reported = folder.fails(&["init", "-migrate-state", "-input=false"]);
    assert!(reported.contains("interactive input is disabled"), "{reported}");
    // A migration without an answer leaves everything as it was, so that it can be asked for again.
    assert!(folder.fails(&["plan"]).contains("has changed"), "nothing is settled yet");

    let out = answered(&folder, &["init", "-migrate-state"], "yes\n");
    assert!(out.contains("Do you want to copy existing state to the new backend?"), "{out}");
    assert_eq!(out.matches("is built in to Terraform").count(), 2, "of the configuration and of the state: {out}");
    assert_eq!(folder.read("a.tfstate"), folder.read("b.tfstate"));
    assert!(has_no_changes(&folder));
}

#[test]
fn state_may_stay_in_the_previous_backend() {
    for (arguments, answer) in [(&["init", "-reconfigure"][..], ""), (&["init", "-migrate-state"], "no\n")] {
        let folder = moved_on();
        answered(&folder, arguments, answer);
        assert!(!folder.path("b.tfstate").exists(), "{arguments:?}");
        // The new place has no state, so the object would be created there again.
        assert!(folder.ok(&["plan"]).contains("1 to add"), "{arguments:?}");
    }
}

#[test]
fn migration_overwrites_existing_state_only_with_consent() {
    let folder = moved_on();
    folder.ok(&["init", "-reconfigure"]);
    folder.ok(&["apply", "-auto-approve"]);
    let (first, second) = (folder.read("a.tfstate"), folder.read("b.tfstate"));
    folder.write("main.tf", &at("a.tfstate"));
    let out = answered(&folder, &["init", "-migrate-state"], "no\n");
    assert!(out.contains("Both backends have a state"), "{out}");
    // The refused migration did not write at the target.
    assert_eq!(folder.read("a.tfstate"), first);
    folder.write("main.tf", &at("b.tfstate"));
    answered(&folder, &["init", "-migrate-state"], "yes\n");
    assert_eq!(folder.read("b.tfstate"), first);
    // What the migration replaced is still there, in the backup of its target.
    assert_eq!(folder.read("b.tfstate.backup"), second);
}

#[test]
fn first_backend_block_migrates_the_state() {
    let folder = Folder::new();
    folder.write("main.tf", OBJECT);
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &at("kept/a.tfstate"));
    assert!(folder.fails(&["plan"]).contains("Backend initialization required"));
    folder.ok(&["init", "-force-copy"]);
    assert!(has_no_changes(&folder));
    // The old state file is emptied by a migration, so that nobody goes on with it by accident.
    assert!(!folder.path("terraform.tfstate").exists() && folder.path("terraform.tfstate.backup").exists());

    folder.write("main.tf", OBJECT);
    assert!(folder.fails(&["plan"]).contains("Unsetting the previously set backend \"local\""));
    let out = answered(&folder, &["init", "-migrate-state"], "yes\n");
    assert!(out.contains("Successfully unset the backend \"local\"."), "{out}");
    assert!(has_no_changes(&folder));
}

/// Kills an apply of two objects, of which the second one is still in its provisioner, once `is_time` says so.
fn killed_run(is_time: impl Fn(&Folder) -> bool) -> Folder {
    let folder = Folder::new();
    let slow = "resource \"terraform_data\" \"slow\" {\n  depends_on = [terraform_data.a]\n  provisioner \"local-exec\" {\n    \
                command = \"exec sleep 10\"\n  }\n}\n";
    folder.write("main.tf", &format!("resource \"terraform_data\" \"a\" {{\n}}\n{slow}"));
    let run = start(&folder, &[]);
    until_said(&folder, "Provisioning with", 1);
    let began = Instant::now();
    // The journal gets each change at once, the state file only at times: a run may be killed with either ahead.
    while !is_time(&folder) {
        assert!(began.elapsed() < Duration::from_secs(15), "the state file never had what was waited for");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill(run);
    assert!(folder.path(JOURNAL).exists());
    folder
}

const JOURNAL: &str = ".terraform.tfstate.journal";

#[test]
fn migration_includes_journal_of_killed_run() {
    let in_file = |object: &'static str| move |folder: &Folder| has_object(folder, object);
    // No object in the state file yet, the first one, and both.
    for folder in [killed_run(|_| true), killed_run(in_file("\"a\"")), killed_run(in_file("\"slow\""))] {
        folder.write("main.tf", &at("kept/a.tfstate"));
        folder.ok(&["init", "-force-copy", "-lock=false"]);
        assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\nterraform_data.slow\n");
        assert!(!folder.path("terraform.tfstate").exists(), "the state has moved");
        assert!(!folder.path(JOURNAL).exists(), "a journal without its state file would bring the objects back");
    }
}

/// Whether the state file, which may be half written, names an object.
fn has_object(folder: &Folder, name: &str) -> bool {
    let file = folder.path("terraform.tfstate");
    std::fs::read_to_string(file).is_ok_and(|state| state.contains(&format!("\"name\": {name}")))
}

#[test]
fn all_workspaces_are_migrated() {
    let folder = moved_on();
    folder.ok(&["init", "-reconfigure"]);
    folder.ok(&["workspace", "new", "blue"]);
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &block("path = \"b.tfstate\"\n    workspace_dir = \"places\""));
    let ran = folder.run_with_input(&["init", "-migrate-state"], "no\n");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("Migration aborted by user."), "{}", ran.err);
    let out = answered(&folder, &["init", "-migrate-state"], "yes\n");
    // There are two workspaces with states, so the question is about all.
    assert!(out.contains("Do you want to migrate all workspaces to \"local\"?"), "{out}");
    assert!(has_no_changes(&folder));
    assert!(folder.path("places/blue/terraform.tfstate").exists());
}

#[test]
fn backend_config_flags_complete_the_block() {
    let folder = Folder::new();
    folder.write("main.tf", &block(""));
    folder.write("place.hcl", "path = \"one.tfstate\"\n");
    folder.ok(&["init", "-backend-config=place.hcl"]);
    folder.ok(&["apply", "-auto-approve"]);
    assert!(folder.path("one.tfstate").exists());
    folder.ok(&["init"]);
    assert!(has_no_changes(&folder), "init without them keeps what was recorded");
    // Another value is a change of the backend, as if it stood in the block.
    assert!(folder.fails(&["init", "-backend-config=path=two.tfstate"]).contains("Backend configuration changed"));
    folder.ok(&["init", "-backend-config=path=two.tfstate", "-force-copy"]);
    assert!(has_no_changes(&folder));

    for (option, problem) in [
        ("-backend-config=nope=1", "Invalid backend configuration argument"),
        ("-backend-config=absent", "Failed to read file"),
    ] {
        assert!(folder.fails(&["init", option]).contains(problem), "{option}");
    }
    folder.write("main.tf", OBJECT);
    let out = folder.ok(&["init", "-reconfigure"]);
    assert!(!out.contains("Missing backend configuration"), "{out}");
    // Without a block, options for it have no effect, which is a warning.
    assert!(folder.ok(&["init", "-backend-config=path=x"]).contains("Missing backend configuration"));
}

#[test]
fn saved_plan_stores_its_backend() {
    let folder = Folder::new();
    folder.write("main.tf", &at("a.tfstate"));
    folder.ok(&["init"]);
    folder.ok(&["plan", "-out=p"]);
    folder.write("main.tf", &at("b.tfstate"));
    folder.ok(&["init", "-reconfigure"]);
    folder.ok(&["apply", "p"]);
    // The plan was made for the first state, wherever the block points now.
    assert!(folder.path("a.tfstate").exists() && !folder.path("b.tfstate").exists());
}

#[test]
fn init_without_backend_accepts_any_backend() {
    let folder = Folder::new();
    // A backend that this configuration could not use without its settings.
    folder.write("main.tf", "terraform {\n  backend \"s3\" {\n  }\n}\n");
    folder.ok(&["init", "-backend=false"]);
    folder.ok(&["validate"]);
}

#[test]
fn foreign_or_damaged_backend_record_is_reported() {
    let folder = moved_on();
    let record = ".terraform/terraform.tfstate";
    // A backend that an old Terraform had, and that cannot be read to migrate from it.
    folder
        .write(record, "{\"version\":3,\"backend\":{\"type\":\"swift\",\"config\":{\"container\":\"b\"},\"hash\":1}}");
    assert!(folder.fails(&["plan"]).contains("Backend type changed from \"swift\" to \"local\""));
    let reported = folder.fails(&["init", "-migrate-state"]).replace('\n', " ");
    assert!(reported.contains("Unsupported backend type") && reported.contains("state pull"), "{reported}");
    for damaged in
        ["", "{", "{\"version\":9}", "[]", "{\"version\":3,\"backend\":{\"type\":\"local\",\"config\":{\"path\":[1]}}}"]
    {
        folder.write(record, damaged);
        // An unreadable record must not pass for a missing one: the state might be taken for new.
        let reported = folder.fails(&["plan"]);
        assert!(reported.contains("Failed to load the backend state file"), "{damaged}: {reported}");
        assert!(folder.fails(&["init"]).replace('\n', " ").contains("init -reconfigure"), "{damaged}");
    }
    folder.ok(&["init", "-reconfigure"]);
    folder.ok(&["plan"]);
}

#[test]
fn json_output_does_not_prompt() {
    let folder = moved_on();
    let messages = folder.run(&["init", "-json", "-migrate-state"]);
    assert_eq!(messages.code, 1);
    assert!(messages.out.contains("The -migrate-state and -json options are mutually-exclusive"), "{}", messages.out);
    let reported = folder.ok(&["init", "-json", "-force-copy"]);
    assert!(reported.contains("\"message_code\":\"backend_reconfigure\""), "{reported}");
    assert!(has_no_changes(&folder));
}

#[test]
fn init_suggests_next_steps_except_in_automation() {
    let codes = |folder: &Folder, arguments: &[&str]| -> Vec<String> {
        let reported = folder.ok(arguments);
        let messages = reported.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        messages.filter_map(|message| message["message_code"].as_str().map(str::to_owned)).collect()
    };
    let folder = Folder::new();
    folder.write("module/main.tf", "locals {}\n");
    folder.write("empty/.keep", "");
    let all = [
        "copying_configuration_message",
        "initializing_provider_plugin_from_config_message",
        "initializing_backend_message",
        "output_init_success_message",
        "output_init_success_cli_message",
    ];
    std::fs::remove_file(folder.path("empty/.keep")).unwrap();
    assert_eq!(codes(&folder, &["-chdir=empty", "init", "-json", "-from-module=../module"]), all);
    let folder = folder.with("TF_IN_AUTOMATION", "1");
    // The directory is no longer empty, so nothing is copied; and no advice is for a person.
    assert_eq!(codes(&folder, &["-chdir=empty", "init", "-json"]), all[1..4]);
    assert!(!folder.ok(&["-chdir=empty", "init"]).contains(" plan"));
}

#[test]
fn unsupported_backend_has_terraforms_summary() {
    let folder = Folder::new();
    folder.write("main.tf", "terraform {\n  backend \"nope\" {}\n}\n");
    for command in [&["validate"][..], &["init"]] {
        assert!(folder.fails(command).contains("Error: Unsupported backend type"), "{command:?}");
    }
    for command in [&["plan"][..], &["apply"], &["state", "list"], &["output"], &["graph"], &["workspace", "list"]] {
        assert!(folder.fails(command).contains("Error: Invalid backend type"), "{command:?}");
    }
}

#[test]
fn backend_without_persistence_warns_at_init() {
    let folder = Folder::new();
    folder.write("main.tf", &format!("{OBJECT}terraform {{\n  backend \"inmem\" {{}}\n}}\n"));
    assert!(folder.ok(&["init"]).contains("The state will be lost at the end of each command"));
    folder.ok(&["apply", "-auto-approve"]);
    // Each command begins with an empty state.
    assert!(!has_no_changes(&folder));
    assert!(!folder.path("terraform.tfstate").exists());
}
