//! Thousands of expressions and what Terraform's console makes of them: `recorded.tsv`.
//!
//! A line is an expression and after a tab what the console prints for it, with `\n` for the ends of lines, or `error: ` and the summary of
//! the first error. The names are those of [`world`]. With `GROMA_UPDATE=1` the record is written anew. With `GROMA_TERRAFORM` it is held
//! against Terraform, with as many further generated expressions as `GROMA_CONFORM` says (500), from the seed `GROMA_SEED` (1), and as many
//! of odd text.
//! `GROMA_EVERY` takes one of so many of the record (1), for a machine that has little time.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end where something is missing")]

mod generate;
mod odd;
mod places;
mod promises;
mod purposes;
mod random;
mod systematic;
#[path = "../support/terraform.rs"]
mod terraform;
mod world;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use generate::Generator;
use groma_value::Value;
use odd::Odd;
use terraform::{Case, Ours, Terraform};
use world::World;

/// How many generated expressions are in the record, from a seed that the search does not use.
const RECORDED: (u64, usize) = (0, 1_500);

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn generated(seed: u64, count: usize) -> BTreeSet<String> {
    let mut generator = Generator::new(seed);
    let mut texts = BTreeSet::new();
    while texts.len() < count {
        texts.insert(generator.expression());
    }
    texts
}

fn generated_odd(seed: u64, count: usize) -> BTreeSet<String> {
    let mut odd = Odd::new(seed);
    let mut texts = BTreeSet::new();
    while texts.len() < count {
        texts.insert(odd.expression());
    }
    texts
}

fn answered(texts: impl IntoIterator<Item = String>) -> Vec<Case> {
    let world = World::new();
    texts.into_iter().map(|text| (text.clone(), world.answer(&text))).collect()
}

fn record() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conform/recorded.tsv");
    if std::env::var_os("GROMA_UPDATE").is_some() {
        let mut texts: BTreeSet<String> = systematic::expressions().into_iter().collect();
        texts.extend(generated(RECORDED.0, RECORDED.1));
        let line = |(text, answer): Case| format!("{text}\t{}\n", answer.replace('\\', "\\\\").replace('\n', "\\n"));
        let lines: Vec<String> = answered(texts).into_iter().map(line).collect();
        std::fs::write(&path, lines.concat()).unwrap();
    }
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn expressions_are_what_is_recorded() {
    let record = record();
    let world = World::new();
    let mut wrong = String::new();
    for line in record.lines() {
        let (text, wanted) = line.split_once('\t').unwrap();
        let got = world.answer(text).replace('\\', "\\\\").replace('\n', "\\n");
        if got != wanted {
            writeln!(wrong, "{text}\n  wanted {wanted}\n  got    {got}").unwrap();
        }
    }
    assert!(record.lines().count() > 5_000);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn terraform_says_the_same() {
    let fill = |folder: &Path| std::fs::write(folder.join("main.tf"), world::configuration()).unwrap();
    let Some(terraform) = Terraform::find(&["console", "-plan"], fill) else { return };
    let recorded = record();
    let every = number("GROMA_EVERY", 1);
    let part = recorded.lines().step_by(every).filter_map(|line| Some(line.split_once('\t')?.0.to_owned()));
    let mut texts: BTreeSet<String> = part.collect();
    let (seed, count) = (number("GROMA_SEED", 1) as u64, number("GROMA_CONFORM", 500));
    texts.extend(generated(seed, count));
    texts.extend(generated_odd(seed, count));
    let cases = answered(texts);
    let world = World::new();
    let mut wrong = String::new();
    let (mut meant, mut different) = (0, 0);
    for ((text, ours), theirs) in cases.iter().zip(terraform.differing(World::new, &cases)) {
        let Some(theirs) = theirs else { continue };
        if let Some(matter) = purposes::meant(&world, (text, ours), &theirs) {
            assert!(matter.is_empty() || purposes::is_documented(matter), "not in docs/differences.md: {matter}");
            meant += 1;
        } else {
            different += 1;
            writeln!(wrong, "{text}\n  ours   {ours}\n  theirs {theirs}").unwrap();
        }
    }
    let failing = cases.iter().filter(|(_, ours)| ours.starts_with("error: ")).count();
    let same = cases.len() - meant - different;
    println!(
        "\ncompared: {} expressions, {same} the same, {different} different, {meant} different on purpose; {failing} are mistakes",
        cases.len()
    );
    assert!(wrong.is_empty(), "{wrong}");
}

/// A difference is passed over for what Terraform says, not for what the expression names.
#[test]
fn only_what_is_documented_is_passed_over() {
    let matters = purposes::ROWS.iter().map(|row| row.matter).chain(purposes::EXACT.iter().map(|(matter, _)| *matter));
    for matter in matters.chain([purposes::NO_TYPE]) {
        assert!(purposes::is_documented(matter), "not in docs/differences.md: {matter}");
    }
    let world = World::new();
    let meant = |text: &str, theirs: &str| purposes::meant(&world, (text, &world.answer(text)), theirs);
    let unknown = "(known after apply)";
    for (text, theirs) in [
        ("local.s_part == null", "(sensitive value)"),
        ("{ a = var.fleeting } != null", "(ephemeral value)"),
        ("[{ a = var.fleeting } != null]", "[\n  (ephemeral value),\n]"),
        ("type(flatten({ id = local.later.id }))", "tuple([\n    string,\n])"),
        ("flatten(local.u_text)", unknown),
        ("\"a${local.u_list}b\"", unknown),
        ("local.u_list[-1]", unknown),
        ("{ for x in local.u_items : x => 1 }", unknown),
        ("matchkeys(local.ids, local.ids, local.u_some)", "tolist([])"),
        (
            "formatlist(\"%s=%s\", local.u_some, [\"a\", \"b\", \"c\"])",
            "tolist([\n  \"x=a\",\n  (known after apply),\n  (known after apply),\n])",
        ),
        ("[toset([sensitive(null), \"s\"]), 1][1]", "1"),
        ("toset([sensitive(null), \"s\"])", "toset([\n  \"s\",\n  tostring(null),\n])"),
        ("issensitive(try({}.zz, local.s_unknown))", unknown),
        ("cidrsubnets(\"0.0.0.0/0\", 2)", "error: Invalid function argument"),
    ] {
        assert!(meant(text, theirs).is_some() || world.answer(text) == theirs, "{text}");
    }
    for (text, theirs) in [
        ("local.s_part == null", "true"),
        ("[var.fleeting][0] == null", "false"),
        ("local.s_text == null", "true"),
        ("flatten(local.u_text)", "[]"),
        ("flatten(\"a\")", unknown),
        ("\"a${local.names}b\"", unknown),
        ("local.names[-1]", unknown),
        ("{ for x in local.rows : x => 1 }", unknown),
        ("matchkeys(local.ids, local.ids, local.u_some)", "tolist([\n  \"x\",\n])"),
        ("length(local.u_set)", "2"),
        ("upper(local.s_unknown)", "error: Invalid function argument"),
        ("cidrsubnets(\"10.0.0.0/8\", 2)", "error: Invalid function argument"),
    ] {
        assert_eq!(meant(text, theirs), None, "{text}");
    }
}

/// Evaluates while something is unknown, and again when it is known: what was said before has to be true then.
#[test]
fn what_is_said_of_unknown_values_comes_true() {
    let planned = World::new();
    let later: Vec<World> = [("b-1", "5"), ("x", "true"), ("", "[1, 2]"), ("a,b", "\"x\"")]
        .map(|(id, output)| World::with(&Value::string(id), &Value::string(output)))
        .into();
    let mut texts = generated(number("GROMA_SEED", 2) as u64, 3_000);
    texts.extend(systematic::expressions().into_iter().filter(|text| !text.starts_with("type(")));
    let mut wrong = String::new();
    let mut compared = 0;
    for text in texts.iter().filter(|text| text.contains("u_") || text.contains("s_unknown") || text.contains("later"))
    {
        let Some(promised) = planned.value(text) else { continue };
        for world in &later {
            let Some(real) = world.value(text) else { continue };
            compared += 1;
            if !promises::kept(&promised, &real) && !is_said_too_early(text, &promised, &real) {
                writeln!(wrong, "{text}\n  said {promised:?}\n  then {real:?}").unwrap();
            }
        }
    }
    assert!(compared > 5_000, "{compared}");
    assert!(wrong.is_empty(), "{wrong}");
}

/// What the languages themselves say too early: the order of a set with unknown elements, and types that are not known yet.
fn is_said_too_early(text: &str, promised: &Value, real: &Value) -> bool {
    text.contains("u_set")
        || text.contains("toset([{ a =")
        || (text.contains("u_any") && text.contains("coalesce"))
        || text.contains("tolist([try(local.u_text")
        || (promised.is_null() && real.is_null())
}
