//! The order of operations on objects of which one uses the other, beside Terraform's.

use std::collections::{BTreeMap, BTreeSet};

use groma_scripted::cloud::{Event, Object, Operation, Outcome};

use super::run::Ended;

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
