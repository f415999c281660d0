//! Order of move statements: `a -> b` before `b -> c`, and a resource before the module that contains it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use groma_address::{AbsResource, ModulePath, Resource, ResourceInstance, Target};
use groma_diagnostics::{Diagnostic, Diagnostics};

use super::statement::Statement;

/// Sorts the statements so that each chain is applied from its beginning. A cycle is an error; then the result is empty.
pub(super) fn order(all: Vec<Statement>, diagnostics: &mut Diagnostics) -> Vec<Statement> {
    let followers = followers(&all);
    let mut waiting = vec![0_usize; all.len()];
    followers.iter().flatten().for_each(|follower| waiting[*follower] += 1);
    // A heap of positions, so that independent statements keep the order of the configuration.
    let mut ready: BinaryHeap<_> = (0..all.len()).filter(|at| waiting[*at] == 0).map(Reverse).collect();
    let mut ordered = Vec::with_capacity(all.len());
    while let Some(Reverse(at)) = ready.pop() {
        ordered.push(all[at].clone());
        for follower in &followers[at] {
            waiting[*follower] -= 1;
            if waiting[*follower] == 0 {
                ready.push(Reverse(*follower));
            }
        }
    }
    // Statements that never became ready wait for each other.
    let left: Vec<&Statement> =
        all.iter().zip(&waiting).filter_map(|(one, count)| (*count > 0).then_some(one)).collect();
    if let Some(first) = left.first() {
        diagnostics.push(cycle(&left).at(first.span));
        return Vec::new();
    }
    ordered
}

fn cycle(statements: &[&Statement]) -> Diagnostic {
    let list: Vec<String> = statements.iter().map(|one| format!("  - {} -> {}", one.from, one.to)).collect();
    let detail = format!("These move statements form a cycle, so no final address exists:\n{}", list.join("\n"));
    Diagnostic::error("Cyclic dependency in move statements", detail)
}

/// Returns, for each statement, the indices of those that must come after it: they move its result, or a container of its source.
fn followers(all: &[Statement]) -> Vec<Vec<usize>> {
    let mut sources = SourceIndex::default();
    all.iter().enumerate().for_each(|(at, statement)| sources.add(at, statement));
    let of = |(at, statement): (usize, &Statement)| {
        let next = sources.near(statement).filter(|other| statement.leads_to(&all[*other]));
        // The part moves first, because the move of the whole would change its address.
        let wider = sources.around(statement).filter(|other| statement.moves_part_of(&all[*other]));
        // A statement may overlap with itself, but must not wait for itself.
        next.chain(wider).filter(|other| *other != at).collect()
    };
    all.iter().enumerate().map(of).collect()
}

/// Statements by source address, so that each is compared only with those whose addresses may overlap with its own.
#[derive(Default)]
struct SourceIndex<'a> {
    /// Statements that move an address, by module and address.
    at: HashMap<(&'a ModulePath, String), Vec<usize>>,
    /// Statements that move something inside an address.
    below: HashMap<(&'a ModulePath, String), Vec<usize>>,
}

impl<'a> SourceIndex<'a> {
    fn add(&mut self, at: usize, statement: &'a Statement) {
        let mut addresses = addresses(&statement.from);
        let last = addresses.pop().unwrap_or_default();
        self.at.entry((&statement.module, last)).or_default().push(at);
        for address in addresses {
            self.below.entry((&statement.module, address)).or_default().push(at);
        }
    }

    /// Iterates over statements whose source may contain the source of `statement`.
    fn around(&self, statement: &'a Statement) -> impl Iterator<Item = usize> {
        let addresses = addresses(&statement.from).into_iter();
        addresses.filter_map(|address| self.at.get(&(&statement.module, address))).flatten().copied()
    }

    /// Iterates over statements that may affect objects that `statement` has moved.
    fn near(&self, statement: &'a Statement) -> impl Iterator<Item = usize> {
        let addresses = addresses(&statement.to);
        let below = addresses.last().and_then(|last| self.below.get(&(&statement.module, last.clone())));
        let above = addresses.into_iter().filter_map(|address| self.at.get(&(&statement.module, address)));
        above.chain(below).flatten().copied()
    }
}

/// Returns the names from the outermost module to the target. Keys of modules are omitted, because a call may refer to
/// all of its instances.
fn addresses(target: &Target) -> Vec<String> {
    let (module, resource, key) = match target {
        Target::Module(module) => (module, None, None),
        Target::Resource(AbsResource { module, resource }) => (module, Some(resource), None),
        Target::Instance(ResourceInstance { module, resource, key }) => (module, Some(resource), Some(key)),
    };
    let steps = module.steps().iter().map(|step| format!("module.{}.", step.name));
    let parts = steps.chain(resource.map(Resource::to_string)).chain(key.map(|key| format!(" {key}")));
    let mut text = String::new();
    let longer = |part: String| {
        text.push_str(&part);
        text.clone()
    };
    parts.map(longer).collect()
}
