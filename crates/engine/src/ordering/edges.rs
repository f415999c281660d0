//! The edges of the execution graph while it is built, and which of them yield where they contradict each other.

use std::collections::{HashMap, HashSet};

use groma_plan::{Adjacency, Edge};

use super::components::strong_components;

/// The strength of an edge, the strongest first. An edge yields where edges of its own strength and stronger ones close a cycle with
/// it (OD-12). The edges that remain form no cycle, unless the `Required` edges alone do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// The configuration demands it: references, provider configurations, the two halves of a replacement (OD-01, OD-03, OD-10,
    /// OD-11).
    Required,
    /// Dependents are destroyed before what they depend on (OD-02, OD-10). Yields where the provider that has to destroy the
    /// dependent is configured with what is replaced (OD-10).
    DependentsDestroyedFirst,
    /// An object that an earlier run left behind outlives the creation of a healthy one (OD-07), and an action before a change
    /// precedes its destruction, or one after it follows it (OD-11).
    ReplacementFirst,
    /// An object that is created before it is destroyed outlives the changes of its users (OD-04, OD-05, OD-07).
    UsersFirst,
    /// Data is read after the instances that its dependencies have lost are gone.
    ReadAfterDestroy,
    /// Any other object outlives the updates of its users (OD-06).
    UpdatesFirst,
    /// An object is updated after those of its users that are destroyed (OD-03); where these are created before they are destroyed,
    /// it is changed before.
    AroundUpdates,
}

impl Strength {
    const ALL: [Self; 7] = [
        Self::Required,
        Self::DependentsDestroyedFirst,
        Self::ReplacementFirst,
        Self::UsersFirst,
        Self::ReadAfterDestroy,
        Self::UpdatesFirst,
        Self::AroundUpdates,
    ];
}

/// The edges by strength.
#[derive(Debug, Default)]
pub(super) struct Edges {
    by_strength: [Vec<Edge>; Strength::ALL.len()],
}

impl Edges {
    /// Adds an edge: `dependent` waits for `required`.
    pub(super) fn add(&mut self, strength: Strength, required: u32, dependent: u32) {
        self.by_strength[strength as usize].push((required, dependent));
    }

    /// Adds edges that never yield.
    pub(super) fn require(&mut self, edges: impl IntoIterator<Item = Edge>) {
        self.by_strength[Strength::Required as usize].extend(edges);
    }

    /// The edges that remain when those that contradict stronger ones have yielded, sorted and each once.
    ///
    /// `steps` is the number of steps. `provider_of` has the step that configures the provider for each step that destroys an
    /// object, where there is one.
    pub(super) fn resolve(self, steps: usize, provider_of: &HashMap<u32, u32>) -> Vec<Edge> {
        let [required, weaker @ ..] = self.by_strength;
        let mut edges = required;
        // Plans without destructions have only required edges.
        if weaker.iter().any(|level| !level.is_empty()) {
            let end = edges.len();
            weaker.iter().for_each(|level| edges.extend(level));
            // Nearly every plan is free of contradictions: this check is then the only cost.
            if !is_acyclic(steps, &edges) {
                edges.truncate(end);
                yielding(steps, &mut edges, weaker, provider_of);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

/// Adds the weaker edges to `accepted`, one strength after the other, without those that would close a cycle.
fn yielding(
    steps: usize,
    accepted: &mut Vec<Edge>,
    weaker: [Vec<Edge>; Strength::ALL.len() - 1],
    provider_of: &HashMap<u32, u32>,
) {
    for (strength, mut level) in Strength::ALL.into_iter().skip(1).zip(weaker) {
        if level.is_empty() {
            continue;
        }
        // Before the general rule, which would drop all edges of the cycle instead of the few that have to yield.
        if strength == Strength::DependentsDestroyedFirst {
            yield_to_providers(steps, accepted, &mut level, provider_of);
        }
        // Edges of equal strength yield together, so the result does not depend on their order.
        let with_level: Vec<Edge> = accepted.iter().chain(&level).copied().collect();
        let component = strong_components(steps, &with_level);
        level.retain(|(required, dependent)| component[*required as usize] != component[*dependent as usize]);
        accepted.extend(level);
    }
}

/// Drops the edges by which an object would have to be destroyed before something that its own provider is waiting for (OD-10).
///
/// Precisely these: the objects of such a provider keep their order among each other, which they would lose if all edges of the
/// cycle yielded.
fn yield_to_providers(steps: usize, required: &[Edge], level: &mut Vec<Edge>, provider_of: &HashMap<u32, u32>) {
    let providers: HashSet<u32> = level.iter().filter_map(|(first, _)| provider_of.get(first)).copied().collect();
    // Reversed, to find everything that the configuration of a provider waits for.
    let requirements = Adjacency::new(steps, required.iter().map(|(first, then)| (*then, *first)));
    let awaited: HashMap<u32, HashSet<u32>> =
        providers.into_iter().map(|provider| (provider, requirements.reachable(provider))).collect();
    level.retain(|(first, then)| {
        let awaited = provider_of.get(first).and_then(|provider| awaited.get(provider));
        awaited.is_none_or(|awaited| !awaited.contains(then))
    });
}

fn is_acyclic(steps: usize, edges: &[Edge]) -> bool {
    !Adjacency::new(steps, edges.iter().copied()).behind_cycles().contains(&true)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::{Edges, Strength, is_acyclic};
    use groma_plan::Edge;

    fn resolved(steps: usize, edges: &[(Strength, u32, u32)]) -> Vec<Edge> {
        let mut all = Edges::default();
        edges.iter().for_each(|(strength, required, dependent)| all.add(*strength, *required, *dependent));
        all.resolve(steps, &HashMap::new())
    }

    #[test]
    fn od_12_the_weaker_edge_of_a_cycle_yields() {
        let edges = [(Strength::Required, 0, 1), (Strength::UsersFirst, 1, 2), (Strength::UpdatesFirst, 2, 0)];
        assert_eq!(resolved(3, &edges), [(0, 1), (1, 2)]);
    }

    #[test]
    fn od_12_edges_outside_of_the_cycle_stay_whatever_their_strength() {
        let edges = [
            (Strength::Required, 0, 1),
            (Strength::UpdatesFirst, 1, 0),
            (Strength::UpdatesFirst, 2, 0),
            (Strength::UpdatesFirst, 1, 3),
        ];
        assert_eq!(resolved(4, &edges), [(0, 1), (1, 3), (2, 0)]);
    }

    #[test]
    fn od_10_objects_of_a_provider_keep_their_order_where_one_of_their_edges_yields() {
        // 0 destroys and 1 creates the cluster; 2 configures the provider; 3 and 4 destroy objects of it, 4 before 3.
        let mut all = Edges::default();
        all.require([(0, 1), (1, 2), (2, 3), (2, 4)]);
        all.add(Strength::DependentsDestroyedFirst, 3, 0);
        all.add(Strength::DependentsDestroyedFirst, 4, 0);
        all.add(Strength::DependentsDestroyedFirst, 4, 3);
        let edges = all.resolve(5, &HashMap::from([(3, 2), (4, 2)]));
        assert_eq!(edges, [(0, 1), (1, 2), (2, 3), (2, 4), (4, 3)]);
    }

    fn strength() -> impl Strategy<Value = Strength> {
        prop::sample::select(&Strength::ALL[1..])
    }

    proptest! {
        #[test]
        fn od_12_the_graph_has_all_required_edges_and_no_cycle(
            required in prop::collection::vec((0_u32..12, 0_u32..12), 0..20),
            weaker in prop::collection::vec((strength(), 0_u32..12, 0_u32..12), 0..40),
        ) {
            // Required edges only lead forward, so that they cannot form a cycle themselves.
            let required: Vec<Edge> = required.into_iter().filter(|(first, then)| first < then).collect();
            let mut all = Edges::default();
            all.require(required.iter().copied());
            weaker.iter().filter(|(_, first, then)| first != then).for_each(|(strength, first, then)| all.add(*strength, *first, *then));
            let resolved = all.resolve(12, &HashMap::new());
            prop_assert!(is_acyclic(12, &resolved));
            prop_assert!(required.iter().all(|edge| resolved.contains(edge)));
        }

        #[test]
        fn od_12_nothing_yields_where_there_is_no_cycle(
            edges in prop::collection::vec((strength(), 0_u32..12, 0_u32..12), 0..40),
        ) {
            let forward: Vec<_> = edges.into_iter().filter(|(_, first, then)| first < then).collect();
            let mut expected: Vec<Edge> = forward.iter().map(|(_, first, then)| (*first, *then)).collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(resolved(12, &forward), expected);
        }
    }
}
