//! Expressions at the positions that take one, each pair planned and applied over a state that an apply has left: `positions.txt` with `@`
//! where the expression goes, `expressions.txt`, and the `estate.txt` around them, in which some things stay as they are and some change.
//!
//! What this program makes of some pairs is recorded in `recorded.txt`, written anew with `GROMA_UPDATE=1`. With `GROMA_TERRAFORM`,
//! `GROMA_PLACES` pairs (40) from the seed `GROMA_SEED` (1) are led by Terraform too: both take it, plan the same and leave the same
//! state, or both refuse it, and have a summary in common. With `GROMA_PAIRS`, all pairs whose names contain it are.

mod estate;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use estate::{Ended, Estate, Last, Outcome};
use serde_json::Value as Json;

use crate::common::cases::{assert_documented, assert_recorded, files, summary_in};
use crate::common::normalization::{first_difference, terraform};
use crate::common::random::{Random, setting};
use crate::generated_configurations::kit::Kit;

/// Each such pair is in the record.
const RECORDED: usize = 101;

/// An expression at a position.
struct Pair {
    /// Both, as they are named in records.
    name: String,
    files: Vec<(&'static str, String)>,
    last: Last,
}

fn pairs() -> Vec<Pair> {
    let expressions: Vec<&str> = include_str!("expressions.txt").lines().collect();
    let mut pairs = Vec::new();
    for position in include_str!("positions.txt").split("=====\n") {
        let (name, text) = position.split_once('\n').unwrap();
        // Nobody answers at the other end of a connection.
        let last = if text.contains("connection {") { Last::Plan } else { Last::Apply };
        for expression in &expressions {
            let files = files(text, "p.tf").into_iter();
            let files = files.map(|(path, text)| (path, text.replace('@', &written_in(path, expression)))).collect();
            pairs.push(Pair { name: format!("{name} :: {expression}"), files, last });
        }
    }
    pairs
}

/// The expression as it is written in a file of that name: in those of the JSON syntax it stands in a string.
fn written_in(path: &str, expression: &str) -> String {
    match path.ends_with(".json") {
        true => {
            let quoted = serde_json::json!(expression).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        }
        false => expression.to_owned(),
    }
}

#[test]
fn expressions_at_all_positions_match_record() {
    let kit = Kit::new();
    let estate = Estate::applied_by(Path::new(env!("CARGO_BIN_EXE_groma")), &kit);
    let mut lines = String::new();
    for pair in pairs().iter().step_by(RECORDED) {
        writeln!(lines, "{}", pair.name).unwrap();
        estate
            .with(&pair.files, pair.last)
            .in_short()
            .into_iter()
            .for_each(|line| writeln!(lines, "  {line}").unwrap());
    }
    assert_recorded("expression_positions/recorded.txt", &lines);
}

#[test]
fn expressions_at_all_positions_match_terraform() {
    let Some(program) = terraform() else { return };
    let pairs = pairs();
    let chosen = match std::env::var("GROMA_PAIRS") {
        Ok(part) => pairs.iter().filter(|pair| pair.name.contains(&part)).collect(),
        Err(_) => some_of(&pairs),
    };
    let kit = Kit::new();
    let ours = Estate::applied_by(Path::new(env!("CARGO_BIN_EXE_groma")), &kit);
    let theirs = Estate::applied_by(&program, &kit);
    let (mut wrong, mut different, mut intended) = (String::new(), 0, 0);
    let count = chosen.len();
    for (done, pair) in chosen.into_iter().enumerate() {
        let (theirs, ours) = (theirs.with(&pair.files, pair.last), ours.with(&pair.files, pair.last));
        match difference(&theirs, &ours) {
            Found::OtherVerdict(_) if is_verdict_meant(&pair.name) => intended += 1,
            Found::OtherWords(_) if are_words_meant(&pair.name) => intended += 1,
            Found::OtherVerdict(difference) | Found::OtherResult(difference) | Found::OtherWords(difference) => {
                different += 1;
                println!("{}\n{difference}", pair.name);
                writeln!(wrong, "##### {}\n{difference}", pair.name).unwrap();
            }
            Found::Nothing => {}
        }
        println!("progress: {} of {count} pairs", done + 1);
    }
    let same = count - intended - different;
    println!("\ncompared: {count} pairs, {same} the same, {different} different, {intended} different on purpose");
    assert!(wrong.is_empty(), "{wrong}");
}

/// As many as are asked for, by chance.
fn some_of(pairs: &[Pair]) -> Vec<&Pair> {
    let mut random = Random::new(setting("GROMA_SEED", 1));
    (0..setting("GROMA_PLACES", 40)).map(|_| random.one_of(pairs).unwrap()).collect()
}

/// The differences.
enum Found {
    Nothing,
    /// Both refuse it, for reasons that have no summary in common.
    OtherWords(String),
    /// One takes what the other refuses.
    OtherVerdict(String),
    /// Another plan, or another state.
    OtherResult(String),
}

fn difference(theirs: &Outcome, ours: &Outcome) -> Found {
    match ended_otherwise(&theirs.planned, &ours.planned) {
        // It has crashed.
        _ if theirs.planned.code > 2 => Found::Nothing,
        Found::Nothing if theirs.plan != ours.plan => Found::OtherResult(in_json(&theirs.plan, &ours.plan)),
        Found::Nothing => match (&theirs.applied, &ours.applied) {
            (Some((their, state)), Some((our, our_state))) => match ended_otherwise(their, our) {
                Found::Nothing if state != our_state => Found::OtherResult(first_difference(state, our_state)),
                found => found,
            },
            _ => Found::Nothing,
        },
        found => found,
    }
}

fn in_json(theirs: &Option<Json>, ours: &Option<Json>) -> String {
    let pretty = |plan: &Option<Json>| plan.as_ref().map_or_else(String::new, |plan| format!("{plan:#}"));
    first_difference(&pretty(theirs), &pretty(ours))
}

fn ended_otherwise(theirs: &Ended, ours: &Ended) -> Found {
    let reported = || first_difference(&theirs.lines().join("\n"), &ours.lines().join("\n"));
    // Some problems are at no position with one of the two.
    let summaries = |problems: &[String]| -> HashSet<String> {
        problems.iter().filter_map(|line| summary_in(line)).map(str::to_owned).collect()
    };
    let has_common = || !summaries(&theirs.problems).is_disjoint(&summaries(&ours.problems));
    if theirs.code != ours.code {
        Found::OtherVerdict(reported())
    } else if theirs.code != 0 && !has_common() {
        Found::OtherWords(reported())
    } else {
        Found::Nothing
    }
}

/// Where the name of a pair has all of these parts, and what its row of docs/differences.md begins with.
const MEANT: &[(&[&str], &str)] = &[
    (&["data argument ::"], "settings of `terraform_remote_state`"),
    (&["data config ::"], "settings of `terraform_remote_state`"),
    (&["data defaults ::"], "settings of `terraform_remote_state`"),
    (&["check data ::"], "settings of `terraform_remote_state`"),
    (&["replace_triggered_by ::"], "`replace_triggered_by` with a resource that has no instances"),
    (&["moved "], "`moved` from a resource to a data source"),
    (&["import for_each ::"], "keys in `to` of an `import` block"),
    (&[":: 1 / 0"], "infinite numbers"),
    (&["module.m.old"], "an unknown value whose type can never fit"),
    (&["many[2].output"], "an unknown value whose type can never fit"),
    (&["sensitive(terraform_data.one.output)"], "a sensitive unknown argument of"),
];

/// The same where both refuse it, and have no summary in common.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (&["provider::terraform::encode_expr"], "functions that a provider does not have, in conditions"),
    (&["provider::nope::f"], "functions that a provider does not have, in conditions"),
    (&["moved ", ":: data."], "`moved` from a resource to a data source"),
    (&["moved ", ":: kit_thing."], "a `moved` or `removed` block whose object is still declared"),
    (&["resource provider ::"], "`provider` with the alias of a provider that is not declared anywhere"),
    (&["json provider ::"], "`provider` with the alias of a provider that is not declared anywhere"),
    (&[":: 1 / 0"], "infinite numbers"),
    (&["json error message ::"], "a validation rule that fails with an error message"),
    (
        &["check ::", ":: -var.v"],
        "`each` and `count` in the arguments of a module call that has neither, mistakes in the assertions",
    ),
    (
        &["check ::", ":: var.nothing + 1"],
        "`each` and `count` in the arguments of a module call that has neither, mistakes in the assertions",
    ),
    (&["variable error message ::"], "a validation rule that fails with an error message"),
    (&[":: [for i in var.secret : i]"], "outputs made by `for` of a sensitive value"),
    (&[":: [for i in [3, 1, 2] : i if i > var.step]"], "a variable in a `for` expression"),
];

/// Whether it is intended that a pair is taken by one of the two alone. The reason is on the page.
pub fn is_verdict_meant(pair: &str) -> bool {
    is_among(MEANT, pair)
}

/// Whether it is intended that a pair is refused in other words. The reason is on the page.
pub fn are_words_meant(pair: &str) -> bool {
    is_among(OTHER_WORDS, pair)
}

fn is_among(intended: &[(&[&str], &str)], pair: &str) -> bool {
    intended.iter().any(|(parts, matter)| {
        assert_documented(matter);
        parts.iter().all(|part| pair.contains(part))
    })
}
