//! Providers in processes of their own that go wrong, under the whole program. This program is its own provider: started as
//! a plugin it serves the resource type `trouble_thing`, whose objects do what their name says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod blocks;
mod cloud;
#[path = "../it/common/mod.rs"]
mod common;
mod deferred_actions;
mod secrets;
mod unanswered_calls;

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::Folder;
use common::interrupt;
use groma_provider::{
    ApplyResponse, Attribute, Block, IdentityAttribute, IdentityImport, IdentitySchema, NestedBlock, PlanResponse,
    Provider, ReadRequest, ReadResponse, Schema,
};
use groma_scripted::{EphemeralScript, ResourceScript, Scripted};
use groma_value::{Type, Value};

const ADDRESS: &str = "registry.terraform.io/example/trouble";

/// Names the file that gets the process numbers of plugins.
const NOTED: &str = "TROUBLE_NOTED";
/// The misbehavior of the plugin, if any.
const BEHAVIOR_VARIABLE: &str = "TROUBLE_BEHAVIOR";

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    ("crash_during_apply_is_reported_and_created_objects_are_saved", dies_amid_apply),
    ("operation_of_a_crashed_provider_is_named_and_others_are_reported_once", unanswered_calls::named),
    ("replacement_without_an_answer_keeps_the_old_object_and_the_open_creation", unanswered_calls::replacement),
    ("update_without_an_answer_is_named_and_planned_again", unanswered_calls::update),
    ("warnings_of_plan_and_apply_about_many_instances_are_reported_once", unanswered_calls::warnings),
    ("panic_during_apply_does_not_stop_other_objects", panics_amid_apply),
    ("crash_during_plan_is_reported", dies_amid_plan),
    ("second_interrupt_ends_a_hanging_provider", hangs_until_interrupted),
    ("fw_22_interrupt_asks_providers_to_stop_and_saves_their_objects", unanswered_calls::asked),
    ("second_interrupt_ends_a_provider_that_never_answers", unanswered_calls::never_answers),
    ("failed_schema_call_is_reported_once", unanswered_calls::speechless),
    ("provider_is_stopped_while_the_plan_is_shown", ends_early),
    ("killed_run_leaves_no_provider_process_and_no_unknown_object", killed),
    ("program_that_is_no_plugin_is_reported", no_plugin),
    ("garbage_after_the_handshake_is_reported", nonsense),
    ("documents_contain_identities_of_objects_and_replacements", identities),
    ("pl_45_deferred_actions_are_reported_and_defer_their_dependents", deferred_actions::actions),
    ("development_override_warnings_are_not_in_documents", development_builds),
    ("errors_in_unused_provider_blocks_are_warnings", blocks::unused_providers),
    ("schemas_of_all_kinds_of_types_are_printed", blocks::schemas),
    ("plan_document_omits_ephemeral_resources", blocks::ephemeral_resources),
    ("plugin_provider_destroys_objects_after_their_users", cloud::in_order),
    ("run_killed_during_an_update_keeps_the_order_of_destruction", cloud::killed),
    ("no_command_prints_or_stores_secrets", secrets::nowhere),
    ("limit_on_file_sizes_stops_a_run_before_a_call_and_loses_nothing", cloud::limited_files),
    ("wrong_arguments_of_actions_and_lifecycles_are_reported", blocks::wrong_arguments),
];

fn main() -> ExitCode {
    if std::env::var_os("TF_PLUGIN_MAGIC_COOKIE").is_some() {
        return plugin();
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let mut failed = 0;
    for (name, test) in TESTS.iter().filter(|(name, _)| wanted.is_none_or(|wanted| name.contains(wanted.as_str()))) {
        let ok = catch_unwind(AssertUnwindSafe(test)).is_ok();
        failed += usize::from(!ok);
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
    }
    println!("test result: {}. {failed} failed", if failed == 0 { "ok" } else { "FAILED" });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn plugin() -> ExitCode {
    if let Some(file) = std::env::var_os(NOTED) {
        let mut noted = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(noted, "{}", std::process::id()).unwrap();
    }
    match std::env::var(BEHAVIOR_VARIABLE).as_deref() {
        Ok("nonsense") => write_garbage(),
        Ok("mute") => unanswered_calls::listen_only(),
        Ok(cloud::BEHAVIOR) => {
            let store = groma_scripted::cloud::Store::at("store");
            groma_plugin::serve(
                "registry.terraform.io/example/cloud",
                Arc::new(groma_scripted::cloud::Cloud::new("cloud", store)),
            )
        }
        Ok(secrets::BEHAVIOR) => groma_plugin::serve(ADDRESS, Arc::new(secrets::provider())),
        Ok("speechless") => groma_plugin::serve(ADDRESS, Arc::new(unanswered_calls::Speechless)),
        _ => groma_plugin::serve(ADDRESS, provider()),
    }
}

/// Says where it listens, and answers with what is no HTTP.
fn write_garbage() -> ! {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    println!("1|6|tcp|{}|grpc|", listener.local_addr().unwrap());
    loop {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 1024];
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(&[0x7f; 4096]);
    }
}

fn provider() -> Arc<dyn Provider> {
    let attributes = [
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::required(Type::String)),
        ("after", Attribute::optional(Type::String)),
    ];
    let schema = Schema::new(Block::new(attributes, [] as [(&str, NestedBlock); 0]));
    let resource = ResourceScript::new(schema)
        .on_read(|request, _| still_there(request))
        .on_plan(|request, good| {
            if named(&request.config, "dies in plan") {
                die();
            }
            if named(&request.config, "warns") {
                return PlanResponse { diagnostics: unanswered_calls::warning(), ..good() };
            }
            good()
        })
        .on_apply(|request, good| {
            if named(&request.config, "dies") {
                die();
            }
            if named(&request.config, "dies once") {
                unanswered_calls::die_once();
            }
            if named(&request.config, "panics") {
                panic!("the thing panics");
            }
            if named(&request.config, "hangs") {
                std::thread::sleep(Duration::from_secs(3600));
            }
            if named(&request.config, "waits to be stopped") {
                unanswered_calls::wait();
            }
            good()
        });
    let token = Schema::new(Block::new([("id", Attribute::computed(Type::String))], [] as [(&str, NestedBlock); 0]));
    let provider = Scripted::new("trouble").resource("trouble_thing", resource).resource("trouble_person", person());
    let provider = provider.ephemeral("trouble_token", EphemeralScript::new(token));
    unanswered_calls::served(provider.action("trouble_note", deferred_actions::note()))
}

/// A provider that is started anew finds what an earlier one made.
fn still_there(request: &ReadRequest) -> ReadResponse {
    ReadResponse::unchanged(request.clone())
}

/// A type whose objects are told by their names.
fn person() -> ResourceScript {
    let attributes = [
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::required(Type::String)),
        ("town", Attribute::optional(Type::String)),
    ];
    let name = IdentityAttribute { ty: Type::String, import: IdentityImport::Required, description: String::new() };
    let identity = IdentitySchema { version: 3, attributes: [("name".into(), name)].into_iter().collect() };
    let schema = Schema::new(Block::new(attributes, [] as [(&str, NestedBlock); 0])).identified_by(identity);
    let identified = |object: &Value| Some(Value::object([("name", object.attribute("name")?)]));
    ResourceScript::new(schema)
        .on_read(|request, _| {
            let there = still_there(request);
            let is_missing =
                request.current_state.attribute("town").is_some_and(|town| town.as_str() == Some("nowhere"));
            if is_missing { ReadResponse { new_state: Value::NULL, ..there } } else { there }
        })
        .on_plan(move |request, good| {
            let is_there = !request.prior_state.is_null() && !request.config.is_null();
            PlanResponse { planned_identity: identified(&request.config).filter(|_| is_there), ..good() }
        })
        .on_apply(move |_, good| {
            let response = good();
            ApplyResponse { new_identity: response.new_state.as_ref().and_then(identified), ..response }
        })
}

fn named(config: &Value, name: &str) -> bool {
    config.attribute("name").is_some_and(|value| value.as_str().is_some_and(|text| text == name))
}

fn die() -> ! {
    eprintln!("panic: the disk of the trouble service is full");
    std::process::exit(3)
}

/// A folder whose provider is this program, with a good thing, a `second` one, and a good one after that.
fn folder(second: &str) -> Folder {
    let folder = Folder::new();
    let program = folder.path("plugins/terraform-provider-trouble");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), &program).unwrap();
    with_plugins(folder, second)
}

fn with_plugins(folder: Folder, second: &str) -> Folder {
    let settings = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example/trouble\" = {:?}\n  }}\n  direct {{}}\n}}\n",
        folder.path("plugins")
    );
    folder.write("cli.tfrc", &settings).write(
        "main.tf",
        &format!(
            "terraform {{\n  required_providers {{\n    trouble = {{ source = \"example/trouble\" }}\n  }}\n}}\n\
             resource \"trouble_thing\" \"first\" {{\n  name = \"good\"\n}}\n\
             resource \"trouble_thing\" \"second\" {{\n  name  = \"{second}\"\n  after = trouble_thing.first.id\n}}\n\
             resource \"trouble_thing\" \"third\" {{\n  name  = \"good\"\n  after = trouble_thing.second.id\n}}\n"
        ),
    );
    let settings = folder.path("cli.tfrc").display().to_string();
    let noted = folder.path("noted").display().to_string();
    folder.with("TF_CLI_CONFIG_FILE", &settings).with(NOTED, &noted).with("NO_COLOR", "1")
}

/// That all plugins that ever ran in the folder are gone, within a while.
fn nobody_is_left(folder: &Folder) {
    let start = Instant::now();
    let plugins: Vec<String> = folder.read("noted").lines().map(str::to_owned).collect();
    assert!(!plugins.is_empty());
    while plugins.iter().any(|pid| is_running(pid)) {
        assert!(start.elapsed() < Duration::from_secs(5), "a process was left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_running(pid: &str) -> bool {
    // A zombie has ended.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}

/// The warning about development builds is a part of the document of `validate`, and stands before no other.
fn development_builds() {
    let ran = folder("good").run(&["validate", "-json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["warning_count"], 1, "{}", ran.out);
    assert_eq!(document["diagnostics"][0]["summary"], "Provider development overrides are in effect");
    let planned = folder("good");
    assert!(planned.run(&["plan", "-out=p"]).out.contains("Provider development overrides are in effect"));
    let shown = planned.run(&["show", "-json", "p"]);
    assert!(serde_json::from_str::<serde_json::Value>(&shown.out).is_ok(), "{}", shown.out);
    assert_eq!(planned.run_with_input(&["console"], "1 + 1").out, "2\n");
}

const APPLY: &[&str] = &["apply", "-auto-approve"];

/// A text without the frame and the line breaks that fit it to the terminal.
fn flowing(text: &str) -> String {
    text.split_whitespace().filter(|word| !matches!(*word, "│" | "╷" | "╵")).collect::<Vec<_>>().join(" ")
}

fn dies_amid_apply() {
    let folder = folder("dies");
    let reported = flowing(&folder.fails(APPLY));
    assert!(reported.contains("Plugin did not respond"), "{reported}");
    assert!(reported.contains("exit status 3"), "{reported}");
    assert!(reported.contains("panic: the disk of the trouble service is full"), "{reported}");
    assert!(reported.contains("trouble_thing.second, on main.tf line 9, in resource"), "{reported}");
    assert_eq!(folder.ok(&["state", "list"]), "trouble_thing.first\n");
    nobody_is_left(&folder);

    // The provider is well again.
    folder.write("main.tf", &folder.read("main.tf").replace("dies", "lives"));
    let applied = folder.ok(APPLY);
    assert!(applied.contains("2 added, 0 changed, 0 destroyed"), "{applied}");
    nobody_is_left(&folder);
}

fn panics_amid_apply() {
    let folder = folder("panics");
    let reported = flowing(&folder.fails(APPLY));
    assert!(reported.contains("the thing panics"), "{reported}");
    assert_eq!(folder.ok(&["state", "list"]), "trouble_thing.first\n");
    nobody_is_left(&folder);
}

fn dies_amid_plan() {
    let folder = folder("dies in plan");
    let reported = flowing(&folder.fails(&["plan"]));
    assert!(reported.contains("during the call PlanResourceChange: exit status 3"), "{reported}");
    assert!(reported.contains("the disk of the trouble service is full"), "{reported}");
    nobody_is_left(&folder);
}

/// Starts an apply, and waits until the second thing is being made.
fn until_second(folder: &Folder) -> std::process::Child {
    let mut child = folder.command(APPLY).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&seen).contains("trouble_thing.second: Creating...") {
        let count = stdout.read(&mut buffer).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..count]);
    }
    child.stdout = Some(stdout);
    // The call is under way a moment after the line.
    std::thread::sleep(Duration::from_millis(300));
    child
}

fn hangs_until_interrupted() {
    let folder = folder("hangs");
    let child = until_second(&folder);
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(300));
    assert!(is_running(&child.id().to_string()));
    interrupt(&child);
    let start = Instant::now();
    let pid = child.id().to_string();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(6), "{pid} took {:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    nobody_is_left(&folder);
    assert!(folder.ok(&["state", "list"]).contains("trouble_thing.first\n"));
}

/// A plan that is longer than what a pipe takes, and nobody reads it.
fn ends_early() {
    let text = "text ".repeat(30);
    let folder = folder(&format!("${{join(\"\", [for number in range(1000) : \"{text}\"])}}"));
    let child = folder.command(&["plan"]).spawn().unwrap();
    let start = Instant::now();
    while folder.path("noted").metadata().map_or(true, |noted| noted.len() == 0) {
        assert!(start.elapsed() < Duration::from_secs(20), "the provider was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    nobody_is_left(&folder);
    assert!(is_running(&child.id().to_string()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.len() > 100_000, "{}", output.stdout.len());
}

fn killed() {
    let folder = folder("hangs");
    let mut child = until_second(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    nobody_is_left(&folder);
    folder.write("main.tf", &folder.read("main.tf").replace("hangs", "lives"));
    let planned = folder.run(&["plan"]);
    // Completed operations are known; the last one may or may not have created its object.
    let reported = flowing(&format!("{}{}", planned.out, planned.err));
    assert!(reported.contains("trouble_thing.second"), "{reported}");
    assert!(!reported.contains("# trouble_thing.first will be created"), "{reported}");
    assert!(folder.ok(&["state", "list"]).contains("trouble_thing.first\n"));
}

fn no_plugin() {
    for (text, said) in [
        ("echo 'I am no plugin'; sleep 60", "I am no plugin"),
        ("echo 'no licence found' >&2; exit 7", "no licence found"),
        ("echo '1|9|tcp|127.0.0.1:1|grpc|'; sleep 60", "plugin protocol version 9"),
    ] {
        let folder = Folder::new();
        folder.write("plugins/terraform-provider-trouble", &format!("#!/bin/sh\n{text}\n"));
        make_executable(&folder.path("plugins/terraform-provider-trouble"));
        let folder = with_plugins(folder, "good");
        let reported = flowing(&folder.fails(&["plan"]));
        assert!(reported.contains(said), "{reported}");
        assert!(reported.contains("registry.terraform.io/example/trouble"), "{reported}");
    }
}

fn make_executable(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn nonsense() {
    let folder = folder("good").with(BEHAVIOR_VARIABLE, "nonsense");
    let start = Instant::now();
    let reported = flowing(&folder.fails(&["plan"]));
    assert!(reported.contains("registry.terraform.io/example/trouble"), "{reported}");
    assert!(reported.starts_with("Error: "), "{reported}");
    assert!(start.elapsed() < Duration::from_secs(20));
    nobody_is_left(&folder);
}

fn identities() {
    let folder = folder("good");
    let person = |town: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    trouble = {{ source = \"example/trouble\" }}\n  }}\n}}\n\
             resource \"trouble_person\" \"anna\" {{\n  name = \"Anna\"\n  town = \"{town}\"\n}}\n"
        )
    };
    let document = |arguments: &[&str]| -> serde_json::Value { serde_json::from_str(&folder.ok(arguments)).unwrap() };
    let anna = serde_json::json!({ "name": "Anna" });

    folder.write("main.tf", &person("Ghent"));
    folder.ok(&["plan", "-out=made"]);
    let made = document(&["show", "-json", "made"]);
    assert!(made["resource_changes"][0]["change"].get("before_identity").is_none(), "{made}");
    folder.ok(&["apply", "made"]);
    let state = document(&["show", "-json"]);
    let object = &state["values"]["root_module"]["resources"][0];
    assert_eq!((&object["identity"], &object["identity_schema_version"]), (&anna, &3.into()), "{state}");

    folder.write("main.tf", &person("Bruges"));
    folder.ok(&["plan", "-out=moved"]);
    let moved = document(&["show", "-json", "moved"]);
    let change = &moved["resource_changes"][0]["change"];
    assert_eq!((&change["before_identity"], &change["after_identity"]), (&anna, &anna), "{moved}");
    assert_eq!(moved["planned_values"]["root_module"]["resources"][0]["identity"], anna, "{moved}");
    assert_eq!(moved["prior_state"]["values"]["root_module"]["resources"][0]["identity"], anna, "{moved}");

    folder.write("main.tf", &person("Ghent").replace("\"Anna\"", "\"Anne\""));
    folder.ok(&["plan", "-out=renamed"]);
    let renamed = document(&["show", "-json", "renamed"]);
    let (change, anne) = (&renamed["resource_changes"][0]["change"], serde_json::json!({ "name": "Anne" }));
    assert_eq!((&change["before_identity"], &change["after_identity"]), (&anna, &anne), "{renamed}");
    assert_eq!(renamed["planned_values"]["root_module"]["resources"][0]["identity"], anne, "{renamed}");

    // A tainted object may be half created, so its identity is not relied on.
    folder.write("main.tf", &person("Ghent"));
    folder.ok(&["taint", "trouble_person.anna"]);
    folder.ok(&["plan", "-out=anew"]);
    let replanned = document(&["show", "-json", "anew"]);
    let change = &replanned["resource_changes"][0]["change"];
    assert!(change.get("before_identity").is_none() && change.get("after_identity").is_none(), "{replanned}");
    folder.ok(&["plan", "-destroy", "-out=gone"]);
    let gone = document(&["show", "-json", "gone"]);
    assert_eq!(gone["resource_changes"][0]["change"]["before_identity"], anna, "{gone}");

    // A deleted object is reported with its former name, a changed one without.
    folder.ok(&["untaint", "trouble_person.anna"]);
    folder.write("main.tf", &person("nowhere"));
    folder.ok(&["apply", "-auto-approve"]);
    folder.ok(&["plan", "-out=lost"]);
    let missing = document(&["show", "-json", "lost"]);
    let change = &missing["resource_changes"][0]["change"];
    assert_eq!((&change["actions"], &change["before_identity"]), (&serde_json::json!(["create"]), &anna), "{missing}");
    assert!(missing["resource_drift"][0]["change"].get("before_identity").is_none(), "{missing}");
}
