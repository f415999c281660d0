//! Providers that do not respond, exit before they respond, or are asked to stop.

use std::process::Command;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use groma_provider::{Provider, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, TypeNames};
use groma_scripted::Scripted;

use super::{APPLY, NOTED, die, flowing, folder};
use crate::common::Folder;
use crate::{BEHAVIOR_VARIABLE, interrupt, nobody_is_left, until_second};

/// Ends the process the first time.
pub fn die_once() {
    let mark = format!("{}.died", std::env::var(NOTED).unwrap());
    if std::fs::File::create_new(mark).is_ok() {
        die();
    }
}

/// A folder with `count` things, of which the provider dies of the one at `position`.
fn many(count: usize, position: usize) -> Folder {
    let folder = folder("good");
    let text = folder.read("main.tf");
    let head = text.split("resource").next().unwrap();
    folder.write(
        "main.tf",
        &format!(
            "{head}resource \"trouble_thing\" \"many\" {{\n  count = {count}\n  name  = count.index == {position} ? \"dies once\" : \
             \"good\"\n}}\n"
        ),
    );
    folder
}

/// In turn, so that it is known which operations have not begun.
const ONE_BY_ONE: &[&str] = &["apply", "-auto-approve", "-no-color", "-parallelism=1"];

pub fn named() {
    let folder = many(40, 5);
    let reported = flowing(&folder.fails(ONE_BY_ONE));
    assert_eq!(reported.matches("Error: Plugin did not respond").count(), 2, "{reported}");
    assert!(reported.contains("during the call ApplyResourceChange: exit status 3"), "{reported}");
    assert!(reported.contains("It is unknown whether trouble_thing.many[5] was created"), "{reported}");
    assert!(reported.contains("import or delete it; otherwise the next apply creates a second one"), "{reported}");
    assert!(reported.contains("34 operations were not started"), "{reported}");
    assert!(reported.contains("- trouble_thing.many[6] (create)") && reported.contains("- and 24 more"), "{reported}");
    assert_eq!(folder.ok(&["state", "list"]).lines().count(), 5);
    // Every command says so until an apply has dealt with it.
    for _ in 0..2 {
        let reported = flowing(&folder.ok(&["plan", "-no-color"]));
        assert!(reported.contains("Unfinished operations of an interrupted run"), "{reported}");
        assert!(reported.contains("- trouble_thing.many[5] (create)"), "{reported}");
    }
    let ran = folder.run(APPLY);
    let reported = flowing(&format!("{}{}", ran.out, ran.err));
    assert!(reported.contains("while trouble_thing.many[5] was being created"), "{reported}");
    assert!(reported.contains("35 added, 0 changed, 0 destroyed"), "{reported}");
    assert!(!flowing(&folder.ok(&["plan"])).contains("interrupted run"));
}

pub fn replacement() {
    let folder = many(2, 9);
    let text = folder.read("main.tf");
    let first = text.replace("  name ", "  lifecycle {\n    create_before_destroy = true\n  }\n  name ");
    folder.write("main.tf", &first);
    folder.ok(APPLY);
    folder.write("main.tf", &first.replace("count.index == 9", "count.index == 1"));
    let reported = flowing(&folder.fails(&[ONE_BY_ONE, &["-replace=trouble_thing.many[1]"]].concat()));
    assert!(reported.contains("It is unknown whether trouble_thing.many[1] was created"), "{reported}");
    // The object that was to be replaced is there as before, and the creation is not forgotten over it.
    assert_eq!(folder.ok(&["state", "list"]), "trouble_thing.many[0]\ntrouble_thing.many[1]\n");
    assert!(!folder.read("terraform.tfstate").contains("deposed"));
    let reported = flowing(&folder.ok(&["plan", "-no-color"]));
    assert!(reported.contains("- trouble_thing.many[1] (create)"), "{reported}");
}

pub fn update() {
    let folder = many(2, 9);
    folder.ok(APPLY);
    folder.write("main.tf", &folder.read("main.tf").replace("count.index == 9", "count.index == 1"));
    let reported = flowing(&folder.fails(ONE_BY_ONE));
    assert!(reported.contains("It is unknown whether trouble_thing.many[1] was updated"), "{reported}");
    let reported = flowing(&folder.ok(&["plan", "-no-color"]));
    assert!(!reported.contains("interrupted run") && reported.contains("1 to change"), "{reported}");
}

/// The warning of the provider for each object.
pub fn warning() -> ProviderDiagnostics {
    ProviderDiagnostic::warning("Odd thing", "The thing is odd.").into()
}

pub fn warnings() {
    let folder = many(300, 0);
    folder.write("main.tf", &folder.read("main.tf").replace("dies once", "warns").replace(": \"good\"", ": \"warns\""));
    let reported = flowing(&folder.ok(&["apply", "-auto-approve", "-no-color"]));
    // Planning says it of each instance, and so does the final plan while it is applied.
    assert_eq!(reported.matches("Warning: Odd thing").count(), 1, "{reported}");
    assert!(reported.contains("(and 299 more similar warnings elsewhere)"), "{reported}");
}

/// Says where it listens, takes calls, and never answers.
pub fn listen_only() -> ! {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    println!("1|6|tcp|{}|grpc|", listener.local_addr().unwrap());
    let mut held = Vec::new();
    loop {
        held.push(listener.accept().unwrap());
    }
}

/// Cannot tell what it declares.
pub struct Speechless;

impl Provider for Speechless {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Err(ProviderDiagnostic::error("Speechless", "The words do not come.").into())
    }

    fn type_names(&self) -> TypeNames {
        TypeNames::default()
    }
}

pub fn never_answers() {
    let folder = folder("good").with(BEHAVIOR_VARIABLE, "mute");
    let child = folder.command(&["plan"]).spawn().unwrap();
    let start = Instant::now();
    while folder.path("noted").metadata().map_or(true, |noted| noted.len() == 0) {
        assert!(start.elapsed() < Duration::from_secs(20), "the provider was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(300));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    }
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(1));
    let reported = flowing(&String::from_utf8_lossy(&output.stderr));
    assert!(reported.contains("Request cancelled"), "{reported}");
    nobody_is_left(&folder);
}

pub fn speechless() {
    let folder = folder("good").with(BEHAVIOR_VARIABLE, "speechless");
    folder.write("function.tf", "output \"f\" {\n  value = provider::trouble::twice(1)\n}\n");
    let reported = folder.fails(&["validate"]);
    assert_eq!(reported.matches("Error: Speechless").count(), 1, "{reported}");
    assert!(reported.contains("The words do not come.") && !reported.contains("function"), "{reported}");
    // A configuration that only calls a function gets the same report.
    let required = "terraform {\n  required_providers {\n    trouble = { source = \"example/trouble\" }\n  }\n}\n";
    let alone = folder.write("main.tf", required).fails(&["validate"]);
    assert_eq!(alone.matches("Error: Speechless").count(), 1, "{alone}");
}

/// How long a provider may take to hear that it is to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// The provider of this process.
static SERVED: OnceLock<Weak<Scripted>> = OnceLock::new();

pub fn served(provider: Scripted) -> Arc<Scripted> {
    let provider = Arc::new(provider);
    let _ = SERVED.set(Arc::downgrade(&provider));
    provider
}

/// Returns when the provider was asked to stop, and later than anybody waits where it is not.
pub fn wait() {
    let begin = Instant::now();
    while begin.elapsed() < 2 * PATIENCE
        && SERVED.get().and_then(Weak::upgrade).is_some_and(|provider| !provider.is_stopped())
    {
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn asked() {
    let folder = folder("waits to be stopped");
    let child = until_second(&folder);
    // One interrupt is enough: the provider hears of it, and its answer still counts.
    interrupt(&child);
    let begin = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(folder.ok(&["state", "list"]), "trouble_thing.first\ntrouble_thing.second\n");
    assert!(!flowing(&String::from_utf8_lossy(&output.stderr)).contains("Request cancelled"));
    nobody_is_left(&folder);
}
