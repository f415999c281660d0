//! Provisioners that refer to other instances of their own resource.

use groma_address::InstanceKey;
use groma_config::{Connection, Module, ProvisionerWhen, Resource};
use groma_hcl::{Body, Traversal};
use groma_lang::{Binding, for_each_traversal, instance_key};

use super::super::Step;
use super::Builder;

/// The instances of its own resource that a creation-time provisioner refers to.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// A fixed set of instances, by key.
    Instances(Vec<InstanceKey>),
    /// All, or one that is named by an expression.
    All,
}

impl Builder<'_> {
    /// Orders the creation of an instance after those that its provisioners refer to. These edges may form a cycle.
    pub(super) fn after_own(&mut self, config: &Module, resource: u32, made: &[(InstanceKey, u32)]) {
        let block = config.resources.get_index(resource as usize).map(|(_, block)| block);
        let Some(wanted) = block.and_then(|block| wanted(config, resource, block)) else { return };
        let creates = |step: u32| matches!(self.steps[step as usize], Step::Create(_));
        let is_wanted = |key: &InstanceKey| match &wanted {
            Wanted::Instances(keys) => keys.contains(key),
            Wanted::All => true,
        };
        let (awaited, others): (Vec<_>, Vec<_>) = made.iter().partition(|(key, _)| is_wanted(key));
        let (circling, awaited): (Vec<u32>, Vec<u32>) =
            awaited.into_iter().map(|(_, step)| *step).partition(|step| creates(*step));
        let others: Vec<u32> = others.into_iter().map(|(_, step)| *step).filter(|step| creates(*step)).collect();
        // Each of these waits for all of them, which takes no more than a ring to say.
        if let [first, .., last] = circling[..] {
            self.edges.require([(last, first)]);
            self.edges.require(circling.windows(2).map(|pair| (pair[0], pair[1])));
        }
        self.all_after(&circling, &awaited);
        self.all_after(&others, &awaited);
        self.all_after(&others, &circling);
    }

    fn all_after(&mut self, later: &[u32], first: &[u32]) {
        if !later.is_empty() && !first.is_empty() {
            let gate = self.join(first);
            self.edges.require(later.iter().map(|step| (gate, *step)));
        }
    }
}

fn wanted(config: &Module, resource: u32, block: &Resource) -> Option<Wanted> {
    let running: Vec<_> = block.provisioners.iter().filter(|one| one.when == ProvisionerWhen::Create).collect();
    if running.is_empty() {
        return None;
    }
    let mut found = None;
    let mut note = |traversal: &Traversal| {
        let Some(binding @ (Binding::Resource(at) | Binding::PrefixedResource(at))) = config.binding(traversal) else {
            return;
        };
        if at != resource {
            return;
        }
        found = Some(match (found.take(), binding.index(traversal).and_then(instance_key)) {
            (Some(Wanted::All), _) | (_, None) => Wanted::All,
            (Some(Wanted::Instances(mut keys)), Some(key)) => {
                keys.push(key);
                Wanted::Instances(keys)
            }
            (None, Some(key)) => Wanted::Instances(vec![key]),
        });
    };
    let own = running.iter().flat_map(|one| std::iter::once(&one.body).chain(one.connection.as_ref().map(body)));
    for body in own.chain(block.connection.as_ref().map(body)) {
        body.for_each_expression(&mut |expression| for_each_traversal(expression, &mut note));
    }
    found
}

fn body(connection: &Connection) -> &Body {
    &connection.body
}
