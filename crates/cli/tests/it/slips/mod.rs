//! Configurations in which all is right but for one slip: `native.txt` and `json.txt` call `module.txt`, and something in the first is lost,
//! doubled, misspelt or another. One mistake is told, and nothing that only follows from it.
//!
//! What `validate` says of some slips is recorded in `recorded.txt`, written anew with `GROMA_UPDATE=1`. With `GROMA_TERRAFORM`,
//! `GROMA_SLIPS` of each syntax (25) from the seed `GROMA_SEED` (1) are looked at by Terraform too: both take it, or both refuse it and
//! have a summary in common, beside which we tell nothing that Terraform does not, or at most as much.

mod meant;
mod slip;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::common::Folder;
use crate::common::cases::{line, summary_in};
use crate::common::even::terraform;
use crate::common::random::number;
use crate::common::record::assert_recorded;
use slip::{Slip, Syntax};

/// Those in the record.
const RECORDED: std::ops::Range<u64> = 0..120;

/// The module is in place.
const MANIFEST: &str = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"}]}"#;

/// What a program says.
struct Said {
    code: i32,
    /// Severity, place and summary of each error.
    errors: BTreeSet<String>,
}

impl Said {
    fn summaries(&self) -> BTreeSet<&str> {
        self.errors.iter().filter_map(|error| summary_in(error)).collect()
    }
}

/// Nothing where the program has no answer.
fn said(program: &Path, slip: &Slip) -> Option<Said> {
    let folder = Folder::for_program(program);
    folder.write("m/main.tf", include_str!("module.txt")).write(".terraform/modules/modules.json", MANIFEST);
    folder.write(slip.syntax.file(), &slip.text);
    let ran = folder.run(&["validate", "-json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).ok()?;
    let errors = document["diagnostics"].as_array()?.iter().filter(|problem| problem["severity"] == "error");
    Some(Said { code: ran.code, errors: errors.map(line).collect() })
}

/// What this program says.
fn ours(slip: &Slip) -> Said {
    said(Path::new(env!("CARGO_BIN_EXE_groma")), slip).unwrap()
}

#[test]
fn slips_are_told_as_recorded() {
    let mut lines = String::new();
    for syntax in [Syntax::Native, Syntax::Json] {
        assert_eq!(ours(&Slip::none(syntax)).code, 0, "{syntax:?}");
        for seed in RECORDED {
            let slip = Slip::made_up(syntax, seed);
            let said = ours(&slip);
            writeln!(lines, "{syntax:?} {seed}: {}", slip.name).unwrap();
            said.errors.iter().for_each(|error| writeln!(lines, "  {error}").unwrap());
        }
    }
    assert_recorded("slips/recorded.txt", &lines);
}

#[test]
fn slips_are_told_as_by_terraform() {
    let Some(program) = terraform() else { return };
    let (mut wrong, mut same, mut different, mut meant) = (String::new(), 0, 0, 0);
    let (first, count) = (number("GROMA_SEED", 1) * 1_000_000, number("GROMA_SLIPS", 25));
    for syntax in [Syntax::Native, Syntax::Json] {
        for seed in first..first + count {
            let slip = Slip::made_up(syntax, seed);
            let ours = ours(&slip);
            // Some crash it.
            let Some(theirs) = said(&program, &slip) else { continue };
            if is_same(&theirs, &ours) {
                same += 1;
                continue;
            }
            if meant::is_meant(&slip.name, &theirs.errors, &ours.errors) {
                meant += 1;
                continue;
            }
            different += 1;
            let told = format!("{} {:#?}, not {} {:#?}", ours.code, ours.errors, theirs.code, theirs.errors);
            println!("{syntax:?} {seed}: {}\n{told}", slip.name);
            writeln!(wrong, "##### {syntax:?} {seed}: {}\n{told}", slip.name).unwrap();
        }
    }
    let compared = same + different + meant;
    println!("\ncompared: {compared} slips, {same} the same, {different} different, {meant} different on purpose");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Whether both take it, or refuse it for a reason in common, beside which there is none that only we have; or not more than they have.
fn is_same(theirs: &Said, ours: &Said) -> bool {
    let (their_reasons, our_reasons) = (theirs.summaries(), ours.summaries());
    let is_no_more = ours.errors.len() <= theirs.errors.len() && !our_reasons.is_disjoint(&their_reasons);
    theirs.code == ours.code && (our_reasons.is_subset(&their_reasons) || is_no_more)
}
