//! Rules for a history, alone and in comparison with Terraform.

use std::collections::{BTreeMap, BTreeSet};

use groma_scripted::cloud::{Event, Object, Operation, Outcome};

use super::generate::{Fault, Step};
use super::site::{Ended, Instance, Recorded};

/// The kind of a problem of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The cloud refused an operation that it did not refuse Terraform.
    Refused,
    /// An object was destroyed before a good one had taken its place.
    DestroyedEarly,
    /// A cycle where Terraform plans.
    Cycle,
    /// The run failed where Terraform's succeeds.
    Failed,
    /// Both succeeded, and the objects or the states differ.
    Differs,
    /// Both succeeded, and Groma did not keep an order that Terraform kept.
    Order,
}

/// The first thing that is wrong with a history.
#[derive(Clone, Debug)]
pub struct Difference {
    pub kind: Kind,
    pub step: usize,
    pub text: String,
}

/// How a comparison ended.
pub enum Compared {
    Same,
    /// Terraform did not go on; its refusal or error.
    TerraformFailed(String),
    Different(Difference),
}

/// Compares a history of Groma with Terraform's.
pub fn compare(steps: &[Step], ours: &[Option<Ended>], theirs: &[Option<Ended>]) -> Compared {
    for (at, step) in steps.iter().enumerate() {
        let Some(own) = &ours[at] else { continue };
        if let Some(text) = destroyed_early(step, own) {
            return Compared::Different(Difference { kind: Kind::DestroyedEarly, step: at, text });
        }
        let Some(other) = &theirs[at] else { continue };
        if step.fault.is_none() && other.is_cycle() {
            return Compared::TerraformFailed(other.errors.join("\n"));
        }
        let own_summary = comparable(&steps[..=at], own);
        let mut other_summary = comparable(&steps[..=at], other);
        if (0..=at).any(|at| has_orphan_created_first(&steps[at], theirs[at].as_ref())) {
            forget_inherited_from_orphans(&own_summary, &mut other_summary);
        }
        let summaries = (own_summary, other_summary);
        if let Some((kind, text)) = step_difference(step, own, other, summaries) {
            return Compared::Different(Difference { kind, step: at, text });
        }
        if step.fault.is_none() && other.code != 0 {
            let why = other.refusals().first().cloned().or_else(|| other.errors.first().cloned());
            return Compared::TerraformFailed(why.unwrap_or_default());
        }
    }
    Compared::Same
}

fn step_difference(
    step: &Step,
    ours: &Ended,
    theirs: &Ended,
    (own, other): (Vec<String>, Vec<String>),
) -> Option<(Kind, String)> {
    if !ours.refusals().is_empty() && theirs.refusals().is_empty() {
        return Some((Kind::Refused, ours.refusals().join("\n")));
    }
    if ours.is_cycle() && !theirs.is_cycle() {
        return Some((Kind::Cycle, ours.errors.join("\n")));
    }
    if step.fault.is_some() || theirs.code != 0 {
        return None;
    }
    if ours.code != 0 {
        return Some((Kind::Failed, ours.errors.join("\n")));
    }
    // With `-target` Terraform forgets inherited create_before_destroy, and so has no deposed object where Groma leaves one for the
    // next complete run, as docs/differences.md says.
    let is_partial = step.options.iter().any(|option| option.starts_with("-target"));
    let is_same = own == other || (is_partial && current_objects(ours) == current_objects(theirs));
    let differs = (!is_same).then(|| {
        let lines = |these: &[String], those: &[String], who: &str| -> String {
            only_in(these, those).into_iter().map(|line| format!("  {who}: {line}\n")).collect()
        };
        (Kind::Differs, lines(&own, &other, "Groma") + &lines(&other, &own, "Terraform"))
    });
    differs.or_else(|| {
        // After a kill the two begin with other objects, and so with other users of them.
        let pairs = if began_alike(ours, theirs) { out_of_order(ours, theirs) } else { Vec::new() };
        (!pairs.is_empty()).then(|| (Kind::Order, pairs.join(", ")))
    })
}

/// Returns the objects of a run without those that the state calls deposed.
fn current_objects(ended: &Ended) -> Vec<String> {
    let deposed: Vec<&String> = ended.after.values().flat_map(|instance| &instance.deposed).collect();
    let current = ended.objects.values().filter(|one| !deposed.contains(&&one.id));
    let mut lines: Vec<String> = current.map(object).collect();
    lines.sort_unstable();
    lines
}

/// Whether both programs found the same objects.
fn began_alike(ours: &Ended, theirs: &Ended) -> bool {
    objects(&ours.objects_before) == objects(&theirs.objects_before)
}

fn objects(objects: &BTreeMap<String, Object>) -> Vec<String> {
    let mut objects: Vec<String> = objects.values().map(object).collect();
    objects.sort_unstable();
    objects
}

/// Returns the lines of one list without those of another; a line may occur several times.
fn only_in<'a>(these: &'a [String], those: &'a [String]) -> Vec<&'a String> {
    let mut others: Vec<&String> = those.iter().collect();
    let is_new = |line: &&String| match others.iter().position(|other| other == line) {
        Some(at) => {
            others.swap_remove(at);
            false
        }
        None => true,
    };
    these.iter().filter(is_new).collect()
}

/// Returns what is compared of the objects and the state after the last of these steps.
///
/// With `-target` Terraform forgets inherited create_before_destroy, as docs/differences.md says; Groma does not.
pub fn comparable(steps: &[Step], ended: &Ended) -> Vec<String> {
    let mut lines = summary(ended);
    if steps.iter().any(|step| step.options.iter().any(|option| option.starts_with("-target"))) {
        lines.iter_mut().for_each(|line| *line = line.replace(FIRST, ""));
    }
    lines
}

/// How the summary says that the state records create_before_destroy.
const FIRST: &str = ", create before destroy";

/// Whether the state before a step has an object that the configuration lacks, recorded as created before destroyed.
fn has_orphan_created_first(step: &Step, ended: Option<&Ended>) -> bool {
    let declared = step.program.addresses();
    let before = ended.into_iter().flat_map(|ended| &ended.before);
    before.into_iter().any(|(address, instance)| instance.creates_before_destroy && !declared.contains(address))
}

/// Removes the record of create_before_destroy where Terraform has it and Groma has not.
///
/// Terraform lets orphans pass theirs on to what they depended on, in the record alone: it replaces those objects destroy first
/// all the same, as docs/differences.md says.
fn forget_inherited_from_orphans(ours: &[String], theirs: &mut [String]) {
    for line in theirs {
        let without = line.replace(FIRST, "");
        if ours.contains(&without) {
            *line = without;
        }
    }
}

/// Returns the objects and the state after a run, without the counters of identifiers: these count failed attempts too.
fn summary(ended: &Ended) -> Vec<String> {
    let mut objects = objects(&ended.objects);
    let state = ended.after.iter().map(|(address, instance)| {
        let label = |id: &String| without_counters(id);
        let current = instance.current.as_ref().map(label).unwrap_or_default();
        let first = if instance.creates_before_destroy { FIRST } else { "" };
        let tainted = if instance.is_tainted { ", tainted" } else { "" };
        let deposed: Vec<String> = instance.deposed.iter().map(label).collect();
        format!("state {address}: {current}{tainted}{first} {}", deposed.join(" "))
    });
    objects.extend(state);
    objects
}

fn object(object: &Object) -> String {
    let mut refs: Vec<String> = object.refs.iter().map(|id| without_counters(id)).collect();
    refs.sort_unstable();
    let text = |text: &Option<String>| text.as_deref().map(without_counters).unwrap_or_default();
    format!(
        "object {} value={} replace={} parent={} refs={}",
        object.name,
        text(&object.value),
        text(&object.replace),
        text(&object.parent),
        refs.join(",")
    )
}

fn without_counters(text: &str) -> String {
    let mut kept = String::new();
    let mut in_counter = false;
    for character in text.chars() {
        in_counter = character == '#' || (in_counter && character.is_ascii_digit());
        if !in_counter {
            kept.push(character);
        }
    }
    kept
}

/// Returns a deletion that came before a good object had taken the place of the deleted one.
pub fn destroyed_early(step: &Step, ended: &Ended) -> Option<String> {
    if !step.options.is_empty() {
        return None;
    }
    let wanted = step.program.addresses();
    for (address, instance) in ended.before.iter().filter(|(address, _)| wanted.contains(address)) {
        for id in kept_until_replaced(step, ended, address, instance) {
            if let Some(text) = early(step, ended, address, id) {
                return Some(text);
            }
        }
    }
    None
}

/// Returns the objects of an instance that must stay until a good one has taken their place: deposed ones, and a good
/// current one whose replacement is created first.
fn kept_until_replaced<'a>(step: &Step, ended: &Ended, address: &str, instance: &'a Instance) -> Vec<&'a String> {
    let declared = step.program.resources.iter().any(|one| {
        let is_own = address.split('[').next() == Some(one.address().as_str());
        is_own && one.create_before_destroy == Some(true)
    });
    let after = ended.after.get(address).is_none_or(|after| after.creates_before_destroy);
    let is_first = instance.creates_before_destroy && after && declared;
    let current = instance.current.iter().filter(|_| is_first && !instance.is_tainted);
    instance.deposed.iter().chain(current).collect()
}

fn early(step: &Step, ended: &Ended, address: &str, id: &str) -> Option<String> {
    let is_deletion = |event: &Event| event.operation == Operation::Delete && event.object == id;
    let begun = ended.events.iter().position(|event| is_deletion(event) && event.outcome == Outcome::Begun)?;
    if !ended.events.iter().any(|event| is_deletion(event) && event.outcome == Outcome::Done) {
        return None;
    }
    let killed = matches!(step.fault, Some(Fault::Killed { .. }));
    match successor(&ended.after, address) {
        // The journal knows what the state does not know yet.
        None if killed => None,
        None => Some(format!("{id} of {address} is destroyed, and no good object has taken its place")),
        Some(new) => {
            let created = |event: &Event| event.operation == Operation::Create && event.object == *new;
            let created = ended.events.iter().position(|event| created(event) && event.outcome == Outcome::Done);
            let is_early = created.is_some_and(|created| created > begun);
            is_early.then(|| format!("{id} of {address} is destroyed before {new} is created"))
        }
    }
}

fn successor<'a>(after: &'a Recorded, address: &str) -> Option<&'a String> {
    after.get(address).filter(|instance| !instance.is_tainted)?.current.as_ref()
}

/// Whether Groma's side of a history can show a difference of that kind, whatever Terraform does.
pub fn may_show(kind: Kind, steps: &[Step], ours: &[Option<Ended>]) -> bool {
    let mut ended = steps.iter().zip(ours).filter_map(|(step, ended)| Some((step, ended.as_ref()?)));
    ended.any(|(step, ended)| match kind {
        Kind::Refused => !ended.refusals().is_empty(),
        Kind::DestroyedEarly => destroyed_early(step, ended).is_some(),
        Kind::Cycle => ended.is_cycle(),
        Kind::Failed => ended.code != 0,
        Kind::Differs | Kind::Order => true,
    })
}

/// Counts kinds.
pub type Counts = BTreeMap<Kind, usize>;

/// Two operations, by kind and name of the object, and that the first ended before the second began.
type Pair = ((Operation, String), (Operation, String));

/// Returns the pairs that Terraform has in order and Groma has not.
///
/// Three orders of Terraform's are none of these pairs, for Groma has better ones: it updates users before it destroys
/// what goes for good (OD-06), creates a new object before it destroys the users of the old one where the object is
/// created first, and does not let an object that goes for good wait for changes of what it uses.
pub fn out_of_order(ours: &Ended, theirs: &Ended) -> Vec<String> {
    let (before, after) = (uses(&theirs.objects_before), uses(&theirs.objects));
    // An object and its successor have one name: a pair that is in order for one and not for the other does not count.
    let ordered = &pairs(theirs, is_before) - &pairs(theirs, is_after);
    let broken = &pairs(ours, is_after) - &pairs(ours, is_before);
    let counts = |((first, one), (second, other)): &&Pair| {
        let used = after.contains(&(other.clone(), one.clone()));
        let user = before.contains(&(one.clone(), other.clone()));
        match (*first, *second) {
            (Operation::Delete, Operation::Delete | Operation::Update) => user,
            (Operation::Create | Operation::Update, Operation::Delete) => user,
            (Operation::Create | Operation::Update, Operation::Create | Operation::Update) => used,
            _ => false,
        }
    };
    let text =
        |((first, one), (second, other)): &Pair| format!("{} {one} before {} {other}", first.as_str(), second.as_str());
    ordered.intersection(&broken).filter(counts).map(text).collect()
}

fn is_before(end: usize, begin: usize) -> bool {
    end < begin
}

fn is_after(end: usize, begin: usize) -> bool {
    end > begin
}

/// Returns the pairs of operations for which `holds` for the end of the first and the begin of the second.
fn pairs(ended: &Ended, holds: fn(usize, usize) -> bool) -> BTreeSet<Pair> {
    let events = &ended.events;
    let done = events.iter().enumerate().filter(|(_, event)| event.outcome == Outcome::Done);
    let operations: Vec<(usize, usize, &Event)> = done
        .filter_map(|(end, event)| {
            let begin = events.iter().position(|other| other.number == event.number)?;
            Some((begin, end, event))
        })
        .collect();
    let name = |event: &Event| (event.operation, event.name().to_owned());
    let mut pairs = BTreeSet::new();
    for (_, end, first) in &operations {
        let others =
            operations.iter().filter(|(begin, _, second)| second.number != first.number && holds(*end, *begin));
        pairs.extend(others.map(|(_, _, second)| (name(first), name(second))));
    }
    pairs
}

/// Returns which names use which.
fn uses(objects: &BTreeMap<String, Object>) -> BTreeSet<(String, String)> {
    let pairs = objects.values().flat_map(|user| objects.values().map(move |used| (user, used)));
    let uses = pairs.filter(|(user, used)| user.id != used.id && mentions(user, &used.id));
    uses.map(|(user, used)| (user.name.clone(), used.name.clone())).collect()
}

fn mentions(user: &Object, id: &str) -> bool {
    let in_value = user.value.iter().flat_map(|value| value.split(' ')).any(|word| word == id);
    in_value || user.references().any(|used| used == id)
}
