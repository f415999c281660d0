//! Provisioners that refer to other instances of their own resource.

use groma_address::InstanceKey;
use groma_config::{Connection, Module, ProvisionerWhen, Resource};
use groma_hcl::{Body, Traversal};
use groma_lang::{Binding, for_each_traversal, instance_key};
use groma_plan::Step;

use super::Builder;

/// The instances of its own resource that a creation-time provisioner refers to.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// A fixed set of instances, by key.
    Instances(Vec<InstanceKey>),
    /// All, or one that is named by an expression.
    All,
}

/// Orders the creation of an instance after those that its provisioners refer to. These edges may form a cycle.
pub(super) fn after_own(builder: &mut Builder<'_>, config: &Module, resource: u32, made: &[(InstanceKey, u32)]) {
    let block = config.resources.get_index(resource as usize).map(|(_, block)| block);
    let Some(wanted) = block.and_then(|block| wanted(config, resource, block)) else { return };
    // Only creations run provisioners, so only they can wait for each other.
    let creates = |step: u32| matches!(builder.steps[step as usize], Step::Create(_));
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
        builder.edges.require([(last, first)]);
        builder.edges.require(circling.windows(2).map(|pair| (pair[0], pair[1])));
    }
    // An existing instance that is only updated can be waited for without a cycle.
    all_after(builder, &circling, &awaited);
    all_after(builder, &others, &awaited);
    all_after(builder, &others, &circling);
}

fn all_after(builder: &mut Builder<'_>, later: &[u32], first: &[u32]) {
    if !later.is_empty() && !first.is_empty() {
        let gate = builder.join(first);
        builder.edges.require(later.iter().map(|step| (gate, *step)));
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
            // A reference without a literal key means all instances.
            (Some(Wanted::All), _) | (_, None) => Wanted::All,
            (Some(Wanted::Instances(mut keys)), Some(key)) => {
                keys.push(key);
                Wanted::Instances(keys)
            }
            (None, Some(key)) => Wanted::Instances(vec![key]),
        });
    };
    // Connections can refer to other instances as well.
    let own = running.iter().flat_map(|one| std::iter::once(&one.body).chain(one.connection.as_ref().map(body)));
    for body in own.chain(block.connection.as_ref().map(body)) {
        body.for_each_expression(&mut |expression| for_each_traversal(expression, &mut note));
    }
    found
}

fn body(connection: &Connection) -> &Body {
    &connection.body
}
