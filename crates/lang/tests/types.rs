//! Types and what they make of values: `tests/types/*.txt`.
//!
//! After `> ` stand a type, ` <- ` and a value; the lines up to the next empty one are the value converted to the type
//! as the console prints it, `error: unsuitable value`, or `error: ` and the summary of the first error in the type.
//! The results were recorded from Terraform 1.15.

#![allow(clippy::unwrap_used, reason = "tests end where something is missing")]

use std::fmt::Write as _;
use std::path::Path;

use groma_diagnostics::{Diagnostics, Sources};
use groma_lang::{console, evaluate_constant, type_constraint};

fn converted(ty: &str, value: &str) -> String {
    let sources = Sources::new();
    let parse = |text: &str| groma_hcl::parse_expression(&sources.add("x", text).unwrap()).0;
    let (constraint, problems) = type_constraint(&parse(ty));
    if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
        return format!("error: {}", problem.summary);
    }
    let mut diagnostics = Diagnostics::new();
    let value = evaluate_constant(&parse(value), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    match constraint.convert(&value) {
        Ok(value) => console::format(&value),
        Err(_) => "error: unsuitable value".to_owned(),
    }
}

#[test]
fn values_take_the_types_and_defaults_of_their_variables() {
    let mut wrong = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/types")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for case in text.split("\n\n").filter_map(|case| case.trim().strip_prefix("> ")) {
            let (head, wanted) = case.split_once('\n').unwrap();
            let (ty, value) = head.split_once(" <- ").unwrap();
            let got = converted(ty, value);
            count += 1;
            if got != wanted {
                writeln!(wrong, "{head}\nwanted {wanted}\ngot {got}\n").unwrap();
            }
        }
    }
    assert!(count > 40, "{count}");
    assert!(wrong.is_empty(), "{wrong}");
}
