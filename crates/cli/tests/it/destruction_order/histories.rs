//! Generated histories: beside Terraform with `GROMA_TERRAFORM`, and a fixed set that was recorded from Terraform.
//!
//! `GROMA_HISTORIES` is how many histories run beside Terraform (5), from the seed `GROMA_SEED` (1). `GROMA_UPDATE=1`
//! records the fixed set anew, from Terraform.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::compare::{Compared, Counts, Difference, comparable, compare, destroyed_early, may_show};
use super::generate::{Step, history};
use super::minimize::{minimize, text};
use super::site::Site;
use super::site::{Ended, carry_out};
use crate::common::normalization::{first_difference, terraform};
use crate::common::random::setting;

/// The histories in the record.
const RECORDED: std::ops::Range<u64> = 5000..5024;
const THREADS: usize = 3;

#[test]
fn histories_match_terraform() {
    let Some(program) = terraform() else { return };
    let (first, count) = (setting("GROMA_SEED", 1), setting("GROMA_HISTORIES", 5));
    // The lock protects counters and keeps the lines of a history together.
    let found = Mutex::new((Counts::new(), 0_u64));
    in_parallel(first..first + count, |seed| {
        let steps = history(seed);
        let compared = compared(&steps, seed, &program);
        let mut found = found.lock().unwrap();
        match compared {
            Compared::Same => println!("seed {seed}: same, {} steps", steps.len()),
            Compared::TerraformFailed(why) => {
                found.1 += 1;
                println!("seed {seed}: Terraform fails: {why}");
            }
            Compared::Different(difference) => {
                println!("seed {seed}: {:?} in step {}: {}", difference.kind, difference.step, difference.text);
                *found.0.entry(difference.kind).or_default() += 1;
                // Minimizing takes long, and other threads need the lock.
                drop(found);
                report(seed, &steps, &difference, &program);
            }
        }
    });
    let (counts, failed) = found.into_inner().unwrap();
    let different: usize = counts.values().sum();
    let same = count - failed - different as u64;
    println!(
        "\ncompared: {count} histories, {same} the same, {different} different, {failed} ended by an error of Terraform"
    );
    assert!(counts.is_empty(), "{counts:?}: the output above says which seeds");
}

fn compared(steps: &[Step], seed: u64, program: &Path) -> Compared {
    let ours = carry_out(steps, &Site::groma(), seed);
    let theirs = carry_out(steps, &Site::terraform(program), seed);
    compare(steps, &ours, &theirs)
}

/// Prints a difference, minimized, with the operations of both programs, or as it is with `GROMA_MINIMIZE=0`.
fn report(seed: u64, steps: &[Step], difference: &Difference, program: &Path) {
    let shows = |steps: &[Step]| {
        // Both programs repeat the history for each smaller candidate.
        let ours = carry_out(steps, &Site::groma(), seed);
        // Terraform takes longer, and need not be asked where Groma does nothing wrong.
        may_show(difference.kind, steps, &ours) && {
            let theirs = carry_out(steps, &Site::terraform(program), seed);
            matches!(compare(steps, &ours, &theirs), Compared::Different(other) if other.kind == difference.kind)
        }
    };
    // Later steps cannot have caused the difference.
    let steps = steps[..=difference.step].to_vec();
    let smaller = if setting("GROMA_MINIMIZE", 1) == 0 { steps } else { minimize(steps, shows) };
    let ours = carry_out(&smaller, &Site::groma(), seed);
    let theirs = carry_out(&smaller, &Site::terraform(program), seed);
    let mut report = format!("##### seed {seed}: {:?}, minimized\n{}", difference.kind, text(&smaller));
    if let Compared::Different(difference) = compare(&smaller, &ours, &theirs) {
        writeln!(report, "step {}: {}", difference.step, difference.text).unwrap();
        for (name, ended) in [("Groma", &ours[difference.step]), ("Terraform", &theirs[difference.step])] {
            let Some(ended) = ended else { continue };
            writeln!(report, "--- {name}: exit {} {:?}\n{}", ended.code, ended.errors, ended.log()).unwrap();
        }
    }
    println!("{report}");
}

#[test]
fn recorded_histories_match_terraform() {
    if std::env::var_os("GROMA_UPDATE").is_some() {
        let program = terraform().expect("the record is made from Terraform");
        let lines = Mutex::new(BTreeMap::new());
        in_parallel(RECORDED, |seed| {
            let ended = carry_out(&history(seed), &Site::terraform(&program), seed);
            // All steps are recorded: the comparison uses as many as Terraform completed.
            lines.lock().unwrap().insert(seed, lines_of(seed, &ended, usize::MAX));
        });
        let text: String = lines.into_inner().unwrap().into_values().flatten().map(|line| line + "\n").collect();
        std::fs::write(record(), text).unwrap();
    }
    let text = std::fs::read_to_string(record()).unwrap();
    let wrong = Mutex::new(Vec::new());
    in_parallel(RECORDED, |seed| {
        let expected = recorded(&text, seed);
        let steps = history(seed);
        let ended = carry_out(&steps, &Site::groma(), seed);
        // Terraform may have failed in a later step, which then has no record.
        let count = expected.iter().filter(|line| line.starts_with("  step ")).count();
        let found = lines_of(seed, &ended, count);
        let mut wrong = wrong.lock().unwrap();
        if found != expected {
            wrong.push(first_difference(&expected.join("\n"), &found.join("\n")));
        }
        // The order is checked as well, which the record does not contain.
        let early = steps.iter().zip(&ended).filter_map(|(step, ended)| destroyed_early(step, ended.as_ref()?));
        wrong.extend(early.map(|text| format!("history {seed}: {text}")));
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Terraform has no `-exclude`, so the same history without it is the measure: what was excluded is made up for by the next run.
#[test]
fn exclude_delays_changes_and_keeps_the_order() {
    let wrong = Mutex::new(Vec::new());
    in_parallel(EXCLUDED, |seed| {
        // Faults and partial runs would mix their own delays with those of -exclude.
        let steps: Vec<Step> =
            history(seed).into_iter().filter(|step| step.fault.is_none() && step.options.is_empty()).collect();
        let plain = carry_out(&steps, &Site::groma(), seed);
        let ended = carry_out(&with_excluded_runs(&steps), &Site::groma(), seed);
        let mut wrong = wrong.lock().unwrap();
        // Each step became two: one that excludes an instance, and the whole one.
        for (at, (step, pair)) in steps.iter().zip(ended.chunks(2)).enumerate() {
            let (Some(plain), [Some(excluding), Some(whole)]) = (&plain[at], pair) else { continue };
            if plain.code != 0 {
                // Later steps depend on how far the failed one got, so they are not compared.
                break;
            }
            // A user that is excluded keeps its reference, so the cloud may refuse to delete what it refers to. Nothing else may fail.
            if excluding.code != 0 && excluding.refusals().is_empty() {
                wrong.push(format!("history {seed}, step {at} with an exclusion: {:?}", excluding.errors));
            }
            let refusals = whole.refusals();
            wrong.extend(refusals.iter().map(|refusal| format!("history {seed}, step {at}: {refusal}")));
            wrong.extend(destroyed_early(step, whole).map(|text| format!("history {seed}, step {at}: {text}")));
            if whole.code != 0 {
                wrong.push(format!("history {seed}, step {at}: {:?}", whole.errors));
                break;
            }
            let (expected, found) = (comparable(&steps[..=at], plain), comparable(&steps[..=at], whole));
            // After the complete run nothing of the exclusion may remain.
            if expected != found {
                wrong.push(format!("history {seed}, {}", first_difference(&expected.join("\n"), &found.join("\n"))));
                break;
            }
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The histories that are carried out with `-exclude`.
const EXCLUDED: std::ops::Range<u64> = 6000..6012;

/// Returns the steps, each of them first with an instance excluded.
fn with_excluded_runs(steps: &[Step]) -> Vec<Step> {
    let mut all = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        // Moved blocks are refused where they lead to what is excluded.
        let is_moved = !step.program.statements.is_empty();
        let addresses = if is_moved { Vec::new() } else { step.program.addresses() };
        // A prime factor spreads the choice over the instances without another random source.
        let options = addresses.get(at * 7 % addresses.len().max(1)).map(|address| format!("-exclude={address}"));
        all.push(Step { options: options.into_iter().collect(), ..step.clone() });
        all.push(step.clone());
    }
    all
}

fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/destruction_order/histories.txt")
}

/// Returns the lines of a history in the record.
fn recorded(text: &str, seed: u64) -> Vec<String> {
    let title = format!("history {seed}");
    let lines = text.lines().skip_while(|line| *line != title);
    let rest = lines.clone().skip(1).take_while(|line| line.starts_with(' '));
    lines.take(1).chain(rest).map(str::to_owned).collect()
}

/// Returns what a history came to, up to so many steps or the first that fails without a fault. What a faulty step
/// leaves depends on the order of independent operations; the step after it repeats it.
fn lines_of(seed: u64, ended: &[Option<Ended>], count: usize) -> Vec<String> {
    let steps = history(seed);
    let mut lines = vec![format!("history {seed}")];
    for (at, (step, ended)) in steps.iter().zip(ended).enumerate().take(count) {
        match ended {
            Some(ended) if step.fault.is_none() && ended.code == 0 => {
                lines.push(format!("  step {at}"));
                let summary = comparable(&steps[..=at], ended);
                lines.extend(summary.into_iter().map(|line| format!("    {line}")));
            }
            Some(ended) if step.fault.is_none() => {
                // While recording, the failing step is left out, so that the record ends before it.
                let fails = ended.errors.iter().map(|error| format!("    {error}"));
                if count < usize::MAX {
                    lines.push(format!("  step {at}"));
                    lines.extend(fails);
                }
                break;
            }
            _ => lines.push(format!("  step {at} with a fault")),
        }
    }
    lines
}

fn in_parallel(seeds: std::ops::Range<u64>, work: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(seeds.start);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    // Relaxed is enough: the numbers only have to be different.
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    work(seed);
                }
            });
        }
    });
}
