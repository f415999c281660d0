//! Operations whose provider exits before it responds.

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};

use super::{APPLY, NOTED, die, flowing, folder};
use crate::common::Folder;

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
    assert!(reported.contains("import it or delete it; otherwise it is created twice"), "{reported}");
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

/// What a provider has to say of each object.
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
