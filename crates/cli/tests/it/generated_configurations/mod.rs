//! Whole lives of configurations that nobody has written: a plan, its apply, a change, and so on. With `GROMA_TERRAFORM` each is led with
//! Terraform too, and everything that came of it is held against that: exit codes, summaries, plan documents, states. `GROMA_LIVES` is how
//! many (5), from the seed `GROMA_SEED` (1).
//!
//! What this program makes of some that it leads as Terraform does is recorded in short: `lifecycles.txt` and, for resources of a type with blocks,
//! `lifecycles_of_blocks.txt`, written anew with `GROMA_UPDATE=1`.

mod blocks;
mod change;
mod differences;
mod generate;
pub mod kit;
mod life;
pub mod normalize;
mod project;

use std::fmt::Write as _;

use crate::common::Folder;
use crate::common::cases::assert_recorded;
use crate::common::normalization::terraform;
use crate::common::random::setting;
use differences::Found;
use kit::Kit;
use life::{Step, lead, life};
use project::Types;

/// The life as text, for whom it is to be led by hand.
fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    for (at, step) in steps.iter().enumerate() {
        writeln!(text, "=== step {at}: {:?} plan {:?}", step.command, step.options).unwrap();
        for (name, content) in &step.files {
            writeln!(text, "--- {name}\n{content}").unwrap();
        }
    }
    text
}

/// The lives in the records. Terraform was asked about each.
const RECORDED: std::ops::Range<u64> = 1000..1040;

fn led_as_recorded(types: Types, record: &str, folder: impl Fn() -> Folder) {
    let mut lines = String::new();
    for seed in RECORDED {
        writeln!(lines, "life {seed}").unwrap();
        let steps = life(seed, types);
        let outcomes = lead(&steps, &folder());
        for (step, outcome) in steps.iter().zip(&outcomes) {
            let asked: Vec<&str> = step.command.iter().chain(&step.options).map(String::as_str).collect();
            writeln!(lines, "  {}", format!("plan {}", asked.join(" ")).trim_end()).unwrap();
            outcome.in_short().into_iter().for_each(|line| writeln!(lines, "    {line}").unwrap());
        }
    }
    assert_recorded(&format!("generated_configurations/{record}"), &lines);
}

#[test]
fn lifecycles_match_record() {
    led_as_recorded(Types::BuiltIn, "lifecycles.txt", Folder::new);
}

#[test]
fn block_lifecycles_match_record() {
    let kit = Kit::new();
    led_as_recorded(Types::WithBlocks, "lifecycles_of_blocks.txt", || kit.attached_in(Folder::new()));
}

#[test]
fn lifecycles_match_terraform() {
    led_as_terraform_leads_them(Types::BuiltIn, |folder| folder);
}

#[test]
fn block_lifecycles_match_terraform() {
    let kit = Kit::new();
    led_as_terraform_leads_them(Types::WithBlocks, |folder| kit.attached_in(folder));
}

fn led_as_terraform_leads_them(types: Types, prepared: impl Fn(Folder) -> Folder) {
    let Some(program) = terraform() else { return };
    let (first, count) = (setting("GROMA_SEED", 1), setting("GROMA_LIVES", 5));
    let mut wrong = String::new();
    let (mut steps_led, mut different, mut meant) = (0, 0, 0);
    for seed in first..first + count {
        let steps = life(seed, types);
        let ours = lead(&steps, &prepared(Folder::new()));
        let theirs = prepared(Folder::for_program(&program).with("TF_CLI_ARGS", "-no-color"));
        let theirs = lead(&steps, &theirs);
        steps_led += steps.len();
        match differences::first(&steps, theirs, ours) {
            Found::Nothing => {}
            Found::Meant => meant += 1,
            Found::Other(what) => {
                different += 1;
                println!("seed {seed}: {what}");
                writeln!(wrong, "##### seed {seed}\n{}\n{what}", text(&steps)).unwrap();
            }
        }
        println!("progress: {} of {count} lives, {different} different", seed - first + 1);
    }
    let same = count - different - meant;
    println!(
        "\ncompared: {count} lives of {steps_led} steps, {same} the same, {different} different, {meant} different on purpose"
    );
    assert!(wrong.is_empty(), "{wrong}");
}
