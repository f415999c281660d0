//! Configurations in which all is right but for one mutation: `native.txt` and `json.txt` call `module.txt`, and something in the first is lost,
//! doubled, misspelt or another. One mistake is reported, and nothing that only follows from it.
//!
//! What `validate` says of some mutations is recorded in `recorded.txt`, written anew with `GROMA_UPDATE=1`. With `GROMA_TERRAFORM`,
//! `GROMA_SLIPS` of each syntax (25) from the seed `GROMA_SEED` (1) are looked at by Terraform too: both take it, or both refuse it and
//! have a summary in common, beside which we tell nothing that Terraform does not, or at most as much.

mod intended;
mod mutation;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::common::Folder;
use crate::common::cases::{assert_recorded, line, summary_in};
use crate::common::normalization::terraform;
use crate::common::random::setting;
use mutation::{Mutation, Syntax};

/// Those in the record.
const RECORDED: std::ops::Range<u64> = 0..120;

/// The module is in place.
const MANIFEST: &str = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"}]}"#;

/// The output of a program.
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
fn said(program: &Path, mutation: &Mutation) -> Option<Said> {
    let folder = Folder::for_program(program);
    folder.write("m/main.tf", include_str!("module.txt")).write(".terraform/modules/modules.json", MANIFEST);
    folder.write(mutation.syntax.file(), &mutation.text);
    let ran = folder.run(&["validate", "-json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).ok()?;
    let errors = document["diagnostics"].as_array()?.iter().filter(|problem| problem["severity"] == "error");
    Some(Said { code: ran.code, errors: errors.map(line).collect() })
}

/// The output of this program.
fn ours(mutation: &Mutation) -> Said {
    said(Path::new(env!("CARGO_BIN_EXE_groma")), mutation).unwrap()
}

#[test]
fn mutations_match_record() {
    let mut lines = String::new();
    for syntax in [Syntax::Native, Syntax::Json] {
        assert_eq!(ours(&Mutation::none(syntax)).code, 0, "{syntax:?}");
        for seed in RECORDED {
            let mutation = Mutation::generated(syntax, seed);
            let said = ours(&mutation);
            writeln!(lines, "{syntax:?} {seed}: {}", mutation.name).unwrap();
            said.errors.iter().for_each(|error| writeln!(lines, "  {error}").unwrap());
        }
    }
    assert_recorded("mutations/recorded.txt", &lines);
}

#[test]
fn mutations_match_terraform() {
    let Some(program) = terraform() else { return };
    let (mut wrong, mut same, mut different, mut intended) = (String::new(), 0, 0, 0);
    let (first, count) = (setting("GROMA_SEED", 1) * 1_000_000, setting("GROMA_SLIPS", 25));
    for syntax in [Syntax::Native, Syntax::Json] {
        for seed in first..first + count {
            let mutation = Mutation::generated(syntax, seed);
            let ours = ours(&mutation);
            // Some crash it.
            let Some(theirs) = said(&program, &mutation) else { continue };
            if is_same(&theirs, &ours) {
                same += 1;
                continue;
            }
            if intended::is_meant(&mutation.name, &theirs.errors, &ours.errors) {
                intended += 1;
                continue;
            }
            different += 1;
            let reported = format!("{} {:#?}, not {} {:#?}", ours.code, ours.errors, theirs.code, theirs.errors);
            println!("{syntax:?} {seed}: {}\n{reported}", mutation.name);
            writeln!(wrong, "##### {syntax:?} {seed}: {}\n{reported}", mutation.name).unwrap();
        }
    }
    let compared = same + different + intended;
    println!(
        "\ncompared: {compared} mutations, {same} the same, {different} different, {intended} different on purpose"
    );
    assert!(wrong.is_empty(), "{wrong}");
}

/// Whether both take it, or refuse it for a reason in common, beside which there is none that only we have; or not more than they have.
fn is_same(theirs: &Said, ours: &Said) -> bool {
    let (their_reasons, our_reasons) = (theirs.summaries(), ours.summaries());
    let is_no_more = ours.errors.len() <= theirs.errors.len() && !our_reasons.is_disjoint(&their_reasons);
    theirs.code == ours.code && (our_reasons.is_subset(&their_reasons) || is_no_more)
}
